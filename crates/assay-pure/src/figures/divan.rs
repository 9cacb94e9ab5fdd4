//! divan's table.
//!
//! Method: a line whose cells are `fastest`, `slowest`, `median`, `mean`, `samples`, `iters` begins the table of one program;
//! in it a branch (`├─`, `╰─`) names a benchmark or a group, how far it is indented says below which. The median is the
//! one value of a benchmark. Names are joined from the program's on: `program/group/function/argument`.
//! Limits: the library prints no samples, so an execution is one repetition, in four digits: a step of 0.01 to 0.1 %. Lines
//! without a branch (throughput, allocations) belong to the benchmark above and are passed over.
//! Source: what divan 0.1.21 prints.
//! Checked by: its table in `fixtures/adapters`; others by hand.

use super::unit::nanoseconds_in;
use super::{BenchmarkClock, BenchmarkOutput, ExecutionFigures, FigureError, Unit};
use std::collections::BTreeMap;

/// How errors and `--adapter` name it.
pub const NAME: &str = "divan";
/// The heads of the columns behind the first, which also holds the names.
const HEADS: [&str; 5] = ["slowest", "median", "mean", "samples", "iters"];
/// Characters that one level of the tree is indented by.
const INDENT: usize = 3;

/// Whether divan printed a table.
pub fn is_in(output: &BenchmarkOutput) -> bool {
    output.stdout.lines().any(|line| program_of(&cells(line)).is_some())
}

/// Reads all tables that were printed.
///
/// # Errors
/// There is none, or a time in it cannot be read, or it names no benchmark that was executed.
pub fn read(output: &BenchmarkOutput) -> Result<ExecutionFigures, FigureError> {
    let mut series: Vec<(String, Vec<f64>)> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut path: Vec<String> = Vec::new();
    for line in output.stdout.lines() {
        let cells = cells(line);
        if let Some(program) = program_of(&cells) {
            path = vec![program];
            continue;
        }
        let Some((depth, label)) = branch(&cells[0]).filter(|_| !path.is_empty()) else { continue };
        path.truncate(depth + 1);
        let median = cells.get(2).map_or("", |cell| cell.trim());
        if cells.len() != HEADS.len() + 1 || median.is_empty() {
            path.push(label.to_owned());
            continue;
        }
        path.push(without_time(label).to_owned());
        let name = path.join("/");
        let value = time(median).ok_or_else(|| {
            FigureError::malformed(NAME, &name, "a median such as `1.25 ns`", format!("`{median}`"))
        })?;
        let place = *known.entry(name.clone()).or_insert(series.len());
        match series.get_mut(place) {
            Some((_, values)) => values.push(value),
            None => series.push((name, vec![value])),
        }
    }
    finish(series, &output.stdout)
}

fn finish(series: Vec<(String, Vec<f64>)>, stdout: &str) -> Result<ExecutionFigures, FigureError> {
    if series.is_empty() {
        let expected = "its table of fastest, slowest, median, mean with at least one benchmark";
        return Err(FigureError::nothing(NAME, expected, stdout));
    }
    let mut reading = ExecutionFigures::default();
    for (name, values) in series {
        reading.add(name, Unit::ns_per("iteration"), BenchmarkClock::Wall, &values, None);
    }
    reading.or_failed(NAME)
}

/// A line cut from the right at the bars between columns, so that those of the tree stay in the first cell.
fn cells(line: &str) -> Vec<String> {
    let plain = without_colours(line);
    let mut cells: Vec<String> = plain.rsplitn(HEADS.len() + 1, '│').map(str::to_owned).collect();
    cells.reverse();
    cells
}

/// Colours are not asked for, but a wrapper may.
fn without_colours(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, escaped)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest =
            escaped.find(|symbol: char| symbol.is_ascii_alphabetic()).map_or("", |end| &escaped[end + 1..]);
    }
    plain + rest
}

/// The program that a table is of, where the line is the table's first.
fn program_of(cells: &[String]) -> Option<String> {
    let heads = cells.len() == HEADS.len() + 1
        && cells[1..].iter().zip(HEADS).all(|(cell, head)| cell.trim() == head);
    let program = cells[0].trim_end().strip_suffix("fastest")?;
    heads.then(|| program.trim().to_owned())
}

/// Levels above a branch, and what is written at it.
fn branch(cell: &str) -> Option<(usize, &str)> {
    let place = cell.find(['├', '╰'])?;
    let before = &cell[..place];
    if !before.chars().all(|symbol| symbol == ' ' || symbol == '│') {
        return None;
    }
    let label = cell[place..].trim_start_matches(['├', '╰', '─']).trim();
    (!label.is_empty()).then_some((before.chars().count() / INDENT, label))
}

/// What is left of `slice   5.2 ns` when its time is taken away.
fn without_time(label: &str) -> &str {
    let mut words = label.rsplitn(3, char::is_whitespace);
    let (unit, number) = (words.next(), words.next());
    match (words.next(), number.and_then(|number| number.parse::<f64>().ok()), unit.and_then(nanoseconds_in))
    {
        (Some(name), Some(_), Some(_)) => name.trim_end(),
        _ => label,
    }
}

fn time(cell: &str) -> Option<f64> {
    let (number, unit) = cell.split_once(char::is_whitespace)?;
    Some(number.parse::<f64>().ok()? * nanoseconds_in(unit.trim())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
Timer precision: 10 ns
math           fastest       │ slowest       │ median        │ mean          │ samples │ iters
├─ one         5.165 ns      │ 17.21 ns      │ 5.175 ns      │ 5.711 ns      │ 100     │ 25600
├─ slice                     │               │               │               │         │
│  ├─ 64       20.06 ns      │ 53.63 ns      │ 20.14 ns      │ 24.88 ns      │ 100     │ 12800
│  │           49 GB/s       │ 20.67 GB/s    │ 48.11 GB/s    │ 40.42 GB/s    │         │
│  ╰─ 100 000  10.23 µs      │ 259.1 µs      │ 10.26 µs      │ 15.84 µs      │ 100     │ 100
╰─ inner                     │               │               │               │         │
   ├─ skipped  (ignored)     │               │               │               │         │
   ╰─ zero                   │               │               │               │         │
      ╰─ u8    1.082 ms      │ 1.351 ms      │ 1.087 s       │ 1.106 ms      │ 100     │ 204800
";

    fn read_text(stdout: &str) -> Result<ExecutionFigures, FigureError> {
        read(&BenchmarkOutput { stdout: stdout.into(), ..BenchmarkOutput::default() })
    }

    #[test]
    fn medians_are_read_by_their_path() {
        let reading = read_text(TABLE).unwrap();
        let found: Vec<(&str, f64)> =
            reading.figures.iter().map(|figure| (figure.name.as_str(), figure.values[0])).collect();
        let expected = [
            ("math/one", 5.175),
            ("math/slice/64", 20.14),
            ("math/slice/100 000", 10260.0),
            ("math/inner/zero/u8", 1.087e9),
        ];
        assert_eq!(found, expected);
        assert!(is_in(&BenchmarkOutput { stdout: TABLE.into(), ..BenchmarkOutput::default() }));
    }

    #[test]
    fn several_tables_are_told_apart_and_one_twice_is_repeated() {
        let reading = read_text(&(TABLE.to_owned() + &TABLE.replace("math ", "more "))).unwrap();
        assert_eq!(reading.figures.len(), 8);
        assert_eq!(reading.figures[4].name, "more/one");
        assert_eq!(read_text(&TABLE.repeat(2)).unwrap().figures[0].values, [5.175, 5.175]);
    }

    #[test]
    fn colours_do_not_matter() {
        let coloured =
            TABLE.replace("one", "\u{1b}[1mone\u{1b}[0m").replace("5.175", "\u{1b}[32m5.175\u{1b}[0m");
        assert_eq!(read_text(&coloured).unwrap(), read_text(TABLE).unwrap());
    }

    #[test]
    fn what_is_no_table_is_shown() {
        let error = read_text("running 0 tests\n").unwrap_err().to_string();
        assert!(error.contains("fastest, slowest, median") && error.contains("| running 0 tests"), "{error}");
        let error = read_text(&TABLE.replace("5.175 ns", "5.175 lightyears")).unwrap_err().to_string();
        assert!(
            error.contains("math/one: expected a median such as `1.25 ns`, found `5.175 lightyears`"),
            "{error}"
        );
        let head = TABLE.lines().nth(1).unwrap();
        assert!(matches!(read_text(head), Err(FigureError::Nothing { .. })));
        let before_the_table = TABLE.lines().skip(2).collect::<Vec<_>>().join("\n");
        assert!(matches!(read_text(&before_the_table), Err(FigureError::Nothing { .. })));
    }
}
