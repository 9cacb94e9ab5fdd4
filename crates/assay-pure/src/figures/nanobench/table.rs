//! nanobench's table, which every program prints unless it was told not to.
//!
//! Method: a head has the columns `ns/op`, `op/s`, `err%` in a row, in whatever unit, and `total` as the last before the
//! title; a row below it has a number in each of the first two and the name in backticks. Time and rate are the same
//! figure: the one with more digits is read, for `0.29 ns` alone would hide 3 %.
//! Limits: the median alone is printed, so one value per execution.
//! Source: nanobench.h 4.3 and 4.6, the function `showResult`.

use super::{NanobenchSeries, joined};
use crate::figures::printed::{PrintedNumber, finest, lines};
use crate::figures::unit::nanoseconds_in;

/// Where the columns are, and what they are.
struct TableHead {
    title: String,
    time_unit: String,
    unit: String,
    /// The column of the time; that of the rate is the next.
    time: usize,
    /// Columns before the name.
    columns: usize,
}

/// Whether there is the head of a table.
pub(super) fn is_in(text: &str) -> bool {
    lines(text).any(|line| head(&line).is_some())
}

/// The rows of all tables, and what is said of those that failed.
pub(super) fn read(text: &str) -> (Vec<NanobenchSeries>, Vec<String>) {
    let (mut found, mut notes) = (Vec::new(), Vec::new());
    let mut known: Option<TableHead> = None;
    for line in lines(text) {
        if let Some(next) = head(&line) {
            known = Some(next);
            continue;
        }
        let Some((head, row)) = known.as_ref().and_then(|head| Some((head, row(head, &line)?))) else {
            continue;
        };
        match row {
            Ok((name, value)) => found.push(NanobenchSeries {
                title: head.title.clone(),
                name,
                unit: head.unit.clone(),
                values: vec![value],
            }),
            Err(note) => notes.push(note),
        }
    }
    (joined(found), notes)
}

/// The cells of a line of a table; none of another line.
fn cells(line: &str) -> Option<impl Iterator<Item = &str>> {
    Some(line.strip_prefix('|')?.split('|').map(str::trim))
}

fn head(line: &str) -> Option<TableHead> {
    let cells: Vec<&str> = cells(line)?.collect();
    let error = cells.iter().position(|cell| *cell == "err%").filter(|at| *at >= 2)?;
    let columns = cells.iter().position(|cell| *cell == "total").filter(|at| *at > error)? + 1;
    let (time_unit, unit) = cells[error - 2].split_once('/')?;
    let rate = cells[error - 1].strip_suffix("/s")?;
    let title = cells.get(columns..)?.join("|");
    (rate == unit).then(|| TableHead {
        title,
        time_unit: time_unit.to_owned(),
        unit: unit.to_owned(),
        time: error - 2,
        columns,
    })
}

/// Name and nanoseconds of a row, or why it has none; nothing of a line that is no row.
fn row(head: &TableHead, line: &str) -> Option<Result<(String, f64), String>> {
    let cells: Vec<&str> = line.strip_prefix('|')?.splitn(head.columns + 1, '|').map(str::trim).collect();
    let described = cells.get(head.columns)?;
    let (name, rest) = code(described)?;
    if described.starts_with(":boom:") {
        let why = rest.trim().trim_start_matches('(').trim_end_matches(')');
        return Some(Err(format!("{name}: the benchmark failed: {why}.")));
    }
    let (time, rate) = (PrintedNumber::read(cells[head.time])?, PrintedNumber::read(cells[head.time + 1])?);
    let in_time = nanoseconds_in(&head.time_unit).map_or(f64::NAN, |scale| time.value * scale);
    // Nothing at all is a time of 0, which is left out with a note.
    let value = finest(&[(time, in_time), (rate, 1e9 / rate.value)]).unwrap_or(0.0);
    Some(Ok((name, value)))
}

/// What stands in backticks, where a backtick of the name is two, and what follows.
fn code(text: &str) -> Option<(String, &str)> {
    let (_, mut rest) = text.split_once('`')?;
    let mut name = String::new();
    loop {
        let (part, after) = rest.split_once('`')?;
        name.push_str(part);
        match after.strip_prefix('`') {
            Some(more) => {
                name.push('`');
                rest = more;
            }
            None => return Some((name, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
Warning, results might be unstable:
* CPU governor is 'powersave'

| relative |               ns/op |                op/s |    err% |     total | maps
|---------:|--------------------:|--------------------:|--------:|----------:|:-----
|   100.0% |               12.34 |       81,037,277.15 |    0.5% |      0.01 | `find`
|    50.0% |               24.68 |       40,518,638.57 |    6.1% |      0.02 | :wavy_dash: `a ``b`` c` (Unstable with ~9.0 iters. Increase `minEpochIterations` to e.g. 90)
|        - |                   - |                   - |       - |         - | :boom: `broken` (iterations overflow. Maybe your code got optimized away?)
printed by the program | 1 | 2 |

|             ms/byte |              byte/s |    err% |          ins/byte |     total | io
|--------------------:|--------------------:|--------:|------------------:|----------:|:---
|        2,500,000.00 |                0.40 |    0.0% |              1.00 |      0.01 | `slow`
|   coefficient |   err% | complexity
|--------------:|-------:|------------
|   9.78e-09    |  0.1%  | O(n)
";

    #[test]
    fn rows_are_read_by_the_column_with_more_digits() {
        assert!(is_in(TABLE));
        let (found, notes) = read(TABLE);
        let names: Vec<(&str, &str, &str)> = found
            .iter()
            .map(|series| (series.title.as_str(), series.name.as_str(), series.unit.as_str()))
            .collect();
        assert_eq!(names, [("maps", "find", "op"), ("maps", "a `b` c", "op"), ("io", "slow", "byte")]);
        assert_eq!(found[0].values, [1e9 / 81_037_277.15]);
        assert_eq!(found[2].values, [2_500_000.0 * 1e6]);
        let failed =
            "broken: the benchmark failed: iterations overflow. Maybe your code got optimized away?.";
        assert_eq!(notes, [failed]);
    }

    #[test]
    fn other_tables_are_none() {
        for text in [
            "| ns/op | op/s | err% |\n",
            "| ns/op | byte/s | err% | total | t\n",
            "| name | err% | total | t\n",
            "ns/op | op/s | err% | total | t\n",
        ] {
            assert!(!is_in(text), "{text}");
        }
        let without_head: Vec<&str> = TABLE.lines().skip(4).take(3).collect();
        assert!(read(&without_head.join("\n")).0.is_empty());
    }
}
