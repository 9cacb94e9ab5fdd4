//! pytest-benchmark's table.
//!
//! Method: below a head `Name (time in us)` with the names of the columns, a row's values are read from the right, without
//! the ratios in brackets beside them; the median is one value, without it the mean, without that the fastest.
//! Limits: tests of one name in several files cannot be told apart, and rows are sorted by time: they are left out, with a
//! note. Rows of runs that were saved earlier (`--benchmark-compare`) are passed over.

use crate::figures::printed::{PrintedNumber, lines};
use crate::figures::unit::nanoseconds_in;
use std::collections::{HashMap, HashSet};

/// Columns that a figure is taken from, the best first.
const FIGURES: [&str; 3] = ["Median", "Mean", "Min"];

/// Of what a table's rows consist.
struct TableHead {
    /// Nanoseconds of its unit.
    scale: f64,
    columns: usize,
    /// The column of the figure.
    figure: usize,
}

/// Whether there is the head of a table.
pub(super) fn is_in(text: &str) -> bool {
    lines(text).any(|line| head(&line).is_some())
}

/// Names and nanoseconds of all rows, and what is said of those that cannot be told apart.
pub(super) fn read(text: &str) -> (Vec<(String, f64)>, Vec<String>) {
    let (mut found, mut notes) = (Vec::new(), Vec::new());
    let mut known: Option<TableHead> = None;
    let mut rows: Vec<(String, f64)> = Vec::new();
    for line in lines(text) {
        match head(&line) {
            Some(next) => {
                found.extend(told_apart(std::mem::take(&mut rows), &mut notes));
                known = Some(next);
            }
            None => rows.extend(known.as_ref().and_then(|head| row(head, &line))),
        }
    }
    found.extend(told_apart(rows, &mut notes));
    (found, notes)
}

/// The rows of one table without namesakes.
fn told_apart(rows: Vec<(String, f64)>, notes: &mut Vec<String>) -> Vec<(String, f64)> {
    let mut times: HashMap<String, usize> = HashMap::new();
    for (name, _) in &rows {
        *times.entry(name.clone()).or_default() += 1;
    }
    let (alone, alike): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(name, _)| times[name] == 1);
    let mut told = HashSet::new();
    for (name, _) in alike {
        if !told.insert(name.clone()) {
            continue;
        }
        let note = format!(
            "{name}: left out, as several tests of the table have this name; --benchmark-name=long tells them apart."
        );
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    alone
}

fn head(line: &str) -> Option<TableHead> {
    let (unit, columns) = line.strip_prefix("Name (time in ")?.split_once(')')?;
    // `OPS (Mops/s)` is one column.
    let columns: Vec<&str> = columns.split_whitespace().filter(|word| !word.starts_with('(')).collect();
    let place = |name: &&str| columns.iter().position(|column| column == name);
    let figure = FIGURES.iter().find_map(place)?;
    Some(TableHead { scale: nanoseconds_in(unit)?, columns: columns.len(), figure })
}

fn row(head: &TableHead, line: &str) -> Option<(String, f64)> {
    let mut words: Vec<&str> = Vec::new();
    for word in line.split_whitespace() {
        let is_ratio = word.starts_with('(')
            && word.ends_with(')')
            && words.last().is_some_and(|last| PrintedNumber::read(last).is_some());
        if !is_ratio {
            words.push(word);
        }
    }
    let (name, values) = words.split_at_checked(words.len().checked_sub(head.columns)?)?;
    let (first, saved) = match name {
        [first @ .., last] if last.starts_with('(') && last.ends_with(')') => (first, *last != "(NOW)"),
        all => (all, false),
    };
    let value = PrintedNumber::read(values[head.figure])?.value * head.scale;
    (!first.is_empty() && !saved).then(|| (first.join(" "), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
------------------------------------ benchmark: 3 tests ------------------------------------
Name (time in us)            Min                 Max              Median            Outliers  OPS (Kops/s)            Rounds  Iterations
----------------------------------------------------------------------------------------------
test_sort[a b]            1.5000 (1.0)        9.9000 (2.0)      1,002.5000 (>1000.0)  3;14        0.6667 (1.0)     100000           1
test_old (0001_abc)       1.5000 (1.0)        9.9000 (2.0)      2.5000 (1.0)          3;14        0.6667 (1.0)     100000           1
test_old (NOW)            1.5000 (1.0)        9.9000 (2.0)      3.5000 (1.0)          3;14        0.6667 (1.0)     100000           1
----------------------------------------------------------------------------------------------

Legend:
  Outliers: 1 Standard Deviation from Mean; 1.5 IQR (InterQuartile Range) from 1st Quartile and 3rd Quartile.
";

    #[test]
    fn medians_are_read_from_the_right() {
        assert!(is_in(TABLE));
        let expected = [("test_sort[a b]".into(), 1_002_500.0), ("test_old".into(), 3_500.0)];
        assert_eq!(read(TABLE), (expected.to_vec(), vec![]));
    }

    #[test]
    fn namesakes_are_left_out() {
        let head = "Name (time in ns)   Min   Median\n";
        let (found, notes) =
            read(&format!("{head}test_a 1.0 2.0\ntest_b 1.0 3.0\ntest_a 1.0 4.0\n{head}test_b 1.0 5.0\n"));
        assert_eq!(found, [("test_b".into(), 3.0), ("test_b".into(), 5.0)]);
        assert!(notes.len() == 1 && notes[0].starts_with("test_a: left out"), "{notes:?}");
    }

    #[test]
    fn the_mean_stands_in_for_the_median() {
        let text = "Name (time in s)   Min   Mean\ntest_x   1.0   2.5\n";
        assert_eq!(read(text).0, [("test_x".into(), 2.5e9)]);
        for other in ["Name (time in s)   Rounds\n", "Name (time in apples)  Min\n", "Name   Min\n"] {
            assert!(!is_in(other), "{other}");
        }
        assert!(read("test_x   1.0   2.5\n").0.is_empty());
    }
}
