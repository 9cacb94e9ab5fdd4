//! A regular expression of the user's over what was printed.
//!
//! Method: every match is one value of the benchmark that the group `name` names; matches of one name are repetitions. Without
//! a group `value`, every other group is a benchmark by its own name, `NAME/GROUP`, with its unit in `GROUP_unit`: one line may
//! print compression and decompression. A group that takes no part in a match has no value in it.
//! Standard error is looked at only where standard output has no match. `^` and `$` mean a line's ends, and a line that was
//! overwritten after a carriage return is its end.
//! Limits: a number may have a sign, a point, an exponent, and commas, apostrophes or underscores between digits, which are
//! dropped; a decimal comma is not understood.

use super::adapter_error::AdapterError;
use super::printed::lines;
use super::unit::understood;
use super::{BenchmarkClock, BenchmarkOutput, ExecutionFigures, FigureError, NamedSeries, Unit};
use regex::{Captures, Regex, RegexBuilder};
use std::borrow::Cow;

/// How errors name it.
pub const NAME: &str = "regex";
/// The name of what has none.
const NAMELESS: &str = "value";

/// The groups that are no values, and the end of the names of others.
const NAME_GROUP: &str = "name";
const UNIT_GROUP: &str = "unit";
const VALUE_GROUP: &str = "value";
const UNIT_OF: &str = "_unit";

/// An expression with the groups it needs.
#[derive(Clone, Debug)]
pub struct Pattern {
    expression: Regex,
    /// The groups that are values: `value`, or else others.
    values: Vec<String>,
}

impl Pattern {
    /// An expression with the group `value`, or groups by the names of benchmarks, and perhaps `name` and `unit` (ns without it).
    ///
    /// # Errors
    /// It is no regular expression, too large, or has no group for a value.
    pub fn new(expression: &str) -> Result<Pattern, AdapterError> {
        let built = RegexBuilder::new(expression).multi_line(true).size_limit(1 << 20).build();
        let expression = built.map_err(|error| AdapterError::Pattern {
            problem: format!("not a regular expression: {error}"),
        })?;
        let values = value_groups(&expression);
        if !values.is_empty() {
            return Ok(Pattern { expression, values });
        }
        let problem = format!(
            "the regular expression `{expression}` has no group named `value` for the number; write it as in \
             '(?<name>\\w+): +(?<value>[0-9.]+) (?<unit>ns|us|ms|s)', or, with several numbers in a line, as in \
             '(?<name>\\S+): (?<write>[0-9.]+), (?<read>[0-9.]+) (?<unit>MB/s)'"
        );
        Err(AdapterError::Pattern { problem })
    }

    /// The expression as it was given.
    pub fn expression(&self) -> &str {
        self.expression.as_str()
    }

    /// Reads all matches.
    ///
    /// # Errors
    /// There is no match, a value is no number, or one name has values of several units.
    pub fn read(&self, output: &BenchmarkOutput) -> Result<ExecutionFigures, FigureError> {
        let [stdout, stderr] = [&output.stdout, &output.stderr].map(|text| settled(text));
        let text = if self.expression.is_match(&stdout) { stdout } else { stderr };
        let mut series = NamedSeries::default();
        for found in self.expression.captures_iter(&text) {
            for group in &self.values {
                let Some((name, value, unit)) = one(&found, group)? else { continue };
                series.add(&name, unit.clone(), value).map_err(|known| {
                    let expected = format!("values in {known}, as before");
                    FigureError::malformed(NAME, &name, &expected, unit)
                })?;
            }
        }
        let series = series.all();
        if series.is_empty() {
            let shown = output.printed();
            // What is shown has no tabs, so that an expression made after it would not match again.
            let tabs =
                if shown.contains('\t') { "; tabs are shown as spaces, `\\s+` matches both" } else { "" };
            let expected = format!("a match of `{}` in what it prints{tabs}", self.expression);
            return Err(FigureError::nothing(NAME, &expected, shown));
        }
        let mut reading = ExecutionFigures::default();
        for (name, unit, values) in series {
            reading.add(name, unit, BenchmarkClock::Manual, &values, None);
        }
        reading.or_failed(NAME)
    }
}

/// `value`, or else all groups that are neither the name nor a unit.
fn value_groups(expression: &Regex) -> Vec<String> {
    let named = || expression.capture_names().flatten();
    if named().any(|group| group == VALUE_GROUP) {
        return vec![VALUE_GROUP.to_owned()];
    }
    let is_value = |group: &&str| ![NAME_GROUP, UNIT_GROUP].contains(group) && !group.ends_with(UNIT_OF);
    named().filter(is_value).map(str::to_owned).collect()
}

/// A text without what was overwritten in it.
fn settled(text: &str) -> Cow<'_, str> {
    if !text.contains('\r') {
        return Cow::Borrowed(text);
    }
    Cow::Owned(lines(text).collect::<Vec<_>>().join("\n"))
}

/// What a group of a match stands for; none where it took no part.
fn one(found: &Captures<'_>, value: &str) -> Result<Option<(String, f64, Unit)>, FigureError> {
    let group = |name: &str| found.name(name).map_or("", |part| part.as_str().trim());
    // A tab between the words of a name would tear tables.
    let name = group(NAME_GROUP).split_whitespace().collect::<Vec<_>>().join(" ");
    let name = match (name.is_empty(), value) {
        (true, VALUE_GROUP) => NAMELESS.to_owned(),
        (false, VALUE_GROUP) => name,
        (true, group) => group.to_owned(),
        (false, group) => format!("{name}/{group}"),
    };
    if value != VALUE_GROUP && found.name(value).is_none() {
        return Ok(None);
    }
    let digits: String = group(value).chars().filter(|symbol| !matches!(symbol, ',' | '_' | '\'')).collect();
    let number: f64 = digits
        .parse()
        .map_err(|_| FigureError::malformed(NAME, &name, "a number", format!("`{}`", group(value))))?;
    let own = group(&format!("{value}{UNIT_OF}"));
    let (number, unit) = match if own.is_empty() { group(UNIT_GROUP) } else { own } {
        "" => (number, Unit::ns_per("iteration")),
        unit => understood(number, unit),
    };
    Ok(Some((name, number, unit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE: &str = r"^(?<name>\S+): (?<value>[-0-9.,e]+) ?(?<unit>\S*)$";

    fn read(expression: &str, stdout: &str, stderr: &str) -> Result<ExecutionFigures, FigureError> {
        let output =
            BenchmarkOutput { stdout: stdout.into(), stderr: stderr.into(), ..BenchmarkOutput::default() };
        Pattern::new(expression).expect("an expression").read(&output)
    }

    #[test]
    fn matches_of_one_name_are_repetitions() {
        let reading = read(THREE, "head\na: 1.5 us\nb: 2 MB/s\na: 1,600 ns\n", "").unwrap();
        assert_eq!(reading.figures.len(), 2);
        assert_eq!(reading.figures[0].values, [1500.0, 1600.0]);
        assert_eq!((reading.figures[1].values[0], &reading.figures[1].unit), (500.0, &Unit::ns_per("byte")));
    }

    #[test]
    fn several_groups_of_a_line_are_several_benchmarks() {
        let two = r"^(?<name>\w+): (?<compression>[0-9.]+) (?<unit>MB/s)(?:, (?<decompression>[0-9.]+) (?<decompression_unit>\S+))?$";
        let reading = read(two, "a: 100 MB/s, 2 ns\nb: 50 MB/s\na: 200 MB/s, 3 ns\n", "").unwrap();
        let found: Vec<(&str, &[f64], String)> = reading
            .figures
            .iter()
            .map(|figure| (figure.name.as_str(), &figure.values[..], figure.unit.to_string()))
            .collect();
        let expected = [
            ("a/compression", &[10.0, 5.0][..], "ns/byte".to_owned()),
            ("a/decompression", &[2.0, 3.0], "ns/iteration".to_owned()),
            ("b/compression", &[20.0], "ns/byte".to_owned()),
        ];
        assert_eq!(found, expected);
        let reading = read(r"(?<write>\d+) (?<read>\d+)", "7 8\n", "").unwrap();
        let names: Vec<&str> = reading.figures.iter().map(|figure| figure.name.as_str()).collect();
        assert_eq!(names, ["write", "read"]);
        let with_value = read(r"(?<value>\d+) (?<size>\d+)", "7 8\n", "").unwrap();
        assert_eq!((with_value.figures.len(), with_value.figures[0].name.as_str()), (1, "value"));
    }

    #[test]
    fn of_a_line_that_is_overwritten_the_end_counts() {
        let reading = read(r"^(?<value>\d+) ns", "100 ns\r200 ns\r300 ns\n", "").unwrap();
        assert_eq!(reading.figures[0].values, [300.0]);
    }

    #[test]
    fn the_words_of_a_name_are_apart_by_one_space() {
        let reading = read(r"^(?<name>\w+\t\w+)\t(?<value>\S+)", "plain\tencode\t7\n", "").unwrap();
        assert_eq!(reading.figures[0].name, "plain encode");
    }

    #[test]
    fn the_value_alone_is_enough_and_standard_error_is_looked_at_last() {
        let reading = read("took (?<value>[0-9]+)", "nothing here\n", "took 7\ntook 8\n").unwrap();
        assert_eq!(
            (reading.figures[0].name.as_str(), &reading.figures[0].values[..]),
            ("value", &[7.0, 8.0][..])
        );
        let reading = read("took (?<value>[0-9]+)", "took 5\n", "took 7\n").unwrap();
        assert_eq!(reading.figures[0].values, [5.0]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let error = Pattern::new("([0-9]+)").unwrap_err().to_string();
        assert!(error.contains("(?<value>") && error.contains("(?<write>"), "{error}");
        assert!(Pattern::new("(?<name>[a-z]+)(?<unit>ns)(?<x_unit>ns)").is_err());
        let error = read(THREE, "one\ntwo\n", "three\n").unwrap_err().to_string();
        assert!(error.contains("| one\n  | two"), "{error}");
        assert!(!error.contains("tabs"), "{error}");
        let error = read("a (?<value>1)", "a\t1\n", "").unwrap_err().to_string();
        assert!(error.contains("; tabs are shown as spaces, `\\s+` matches both"), "{error}");
        let error = read(THREE, "a: 1.2.3 ns\n", "").unwrap_err().to_string();
        assert!(error.contains("expected a number, found `1.2.3`"), "{error}");
        let error = read(THREE, "a: 1 ns\na: 2 apples\n", "").unwrap_err().to_string();
        assert!(error.contains("ns/iteration, as before, found apples"), "{error}");
        let error = read(THREE, "a: -1 ns\n", "").unwrap_err().to_string();
        assert!(error.contains("not above 0"), "{error}");
    }
}
