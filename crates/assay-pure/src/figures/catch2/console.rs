//! The console reporter's tables.
//!
//! Method: below a head `benchmark name  samples  iterations`, a row ends in the samples, the iterations and the estimated
//! time; a long name is broken over several lines, of which it is the last. The line below it has the mean and its bounds.
//! With `--benchmark-no-analysis` the mean stands in the row. What stands between two rules above the table is the test case.

use super::CatchMean;
use crate::figures::printed::lines;
use crate::figures::unit::nanoseconds_in;

/// Where in the output a line is.
#[derive(Default)]
struct ConsoleReader {
    found: Vec<CatchMean>,
    /// The test case and its sections, one per line.
    test_case: Vec<String>,
    /// A rule has opened the name of a test case.
    in_title: bool,
    /// The columns of the table that it is in.
    table: Option<Columns>,
    /// The beginning of a name that is broken over lines.
    broken_name: Vec<String>,
    /// The benchmark whose mean comes next.
    awaited: Option<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum Columns {
    /// The mean is in the next line, with its bounds.
    Analysed,
    /// The mean is the last column.
    Plain,
}

/// Whether there is the head of a table.
pub(super) fn is_in(text: &str) -> bool {
    lines(text).any(|line| columns(&line).is_some())
}

/// All means.
pub(super) fn read(text: &str) -> Vec<CatchMean> {
    let mut reader = ConsoleReader::default();
    // The rule behind a head closes no table.
    let mut behind_head = false;
    for line in lines(text) {
        if let Some(columns) = columns(&line) {
            reader.table = Some(columns);
            behind_head = true;
        } else if is_rule(&line) {
            if !std::mem::take(&mut behind_head) {
                reader.rule();
            }
        } else if !behind_head {
            reader.line(&line);
        }
    }
    reader.found
}

fn columns(line: &str) -> Option<Columns> {
    let rest = line.strip_prefix("benchmark name ")?;
    let heads: Vec<&str> = rest.split_whitespace().collect();
    match heads[..] {
        ["samples", "iterations", "mean"] => Some(Columns::Plain),
        ["samples", "iterations", "estimated"] | ["samples", "iterations", "est", "run", "time"] => {
            Some(Columns::Analysed)
        }
        _ => None,
    }
}

fn is_rule(line: &str) -> bool {
    line.len() > 20 && line.bytes().all(|byte| byte == b'-')
}

impl ConsoleReader {
    fn rule(&mut self) {
        self.table = None;
        self.awaited = None;
        self.in_title = !self.in_title;
        if self.in_title {
            self.test_case.clear();
        }
    }

    fn line(&mut self, line: &str) {
        let Some(columns) = self.table else {
            if self.in_title {
                self.test_case.push(line.trim().to_owned());
            }
            return;
        };
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() {
            self.broken_name.clear();
        } else if let Some((name, _)) = line.split_once(" Benchmark failed (") {
            self.awaited = None;
            let name = self.name(name);
            self.put(name, None);
        } else if let Some((name, last)) = row(&words) {
            let name = self.name(&name);
            match columns {
                Columns::Plain => self.put(name, Some(last)),
                Columns::Analysed => self.awaited = Some(name),
            }
        } else if let ([mean, unit, _, _, _, _], Some(name)) = (&words[..], self.awaited.take()) {
            self.put(name, time(mean, unit));
        } else if line.ends_with(' ') {
            // A line of the table is filled up with spaces; what a program prints is not.
            self.broken_name.push(line.trim().to_owned());
        }
    }

    /// The whole name, of which this is the last line.
    fn name(&mut self, last: &str) -> String {
        let mut parts = std::mem::take(&mut self.broken_name);
        parts.push(last.trim().to_owned());
        parts.join(" ").trim().to_owned()
    }

    fn put(&mut self, name: String, ns: Option<f64>) {
        self.found.push(CatchMean { test_case: self.test_case.join("/"), name, ns });
    }
}

/// The name in a row of samples, iterations and a time, and that time.
fn row(words: &[&str]) -> Option<(String, f64)> {
    let [name @ .., samples, iterations, number, unit] = words else { return None };
    samples.parse::<u64>().ok()?;
    iterations.parse::<u64>().ok()?;
    Some((name.join(" "), time(number, unit)?))
}

fn time(number: &str, unit: &str) -> Option<f64> {
    Some(number.parse::<f64>().ok()? * nanoseconds_in(unit)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of a table, filled up as the library does.
    fn filled(text: &str) -> String {
        format!("{text:<79}\n")
    }

    fn printed(head: &str, rows: &[&str]) -> String {
        let rule = "-".repeat(79) + "\n";
        let rows: String = rows.iter().map(|row| filled(row)).collect();
        format!(
            "{rule}a case\n  a section\n{rule}a.cpp:8\n.....\n\n{}{}{}{rule}{rows}\n{rule}",
            filled(head),
            filled("      mean          low mean      high mean"),
            filled("      std dev       low std dev   high std dev"),
        )
    }

    const ANALYSED: &str = "benchmark name                       samples       iterations    est run time";

    #[test]
    fn the_mean_of_every_row_is_read() {
        let rows = [
            "sum                                             20           704    2.02752 ms ",
            "                                        139.749 ns    137.752 ns    142.988 ns ",
            "                                        5.73206 ns    3.54239 ns    9.27128 ns ",
            "",
            "a name that is too",
            "long 1 2 for it                                 20             1    2.68742 ms ",
            "                                         304.51 us    94.5798 us    1.13346 ms ",
            "                                        900.959 us    20.6619 us    1.79157 ms ",
            "",
            "throws                               Benchmark failed (no input) ",
        ];
        let mean = |name: &str, ns| CatchMean { test_case: "a case/a section".into(), name: name.into(), ns };
        let expected = [
            mean("sum", Some(139.749)),
            mean("a name that is too long 1 2 for it", Some(304_510.0)),
            mean("throws", None),
        ];
        assert_eq!(read(&printed(ANALYSED, &rows)), expected);
    }

    #[test]
    fn without_analysis_the_mean_is_in_the_row() {
        let head = "benchmark name                       samples       iterations          mean";
        let rows = ["sum                                             20           704    139.749 ns "];
        let found = read(&printed(head, &rows));
        assert_eq!((found.len(), found[0].ns), (1, Some(139.749)));
    }

    #[test]
    fn other_tables_are_none() {
        assert!(!is_in("benchmark name   samples   mean\n"));
        let rows = ["sum    20    704    2.02752 ms "];
        assert!(read(&printed(ANALYSED, &rows)).is_empty(), "the mean is missing");
        assert!(read(&printed("name    samples    iterations    estimated", &rows)).is_empty());
    }
}
