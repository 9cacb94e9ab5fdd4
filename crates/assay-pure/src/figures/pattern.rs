//! A regular expression of the user's over what was printed.
//!
//! Method: every match is one value of the benchmark that the group `name` names; matches of one name are repetitions.
//! Standard error is looked at only where standard output has no match. `^` and `$` mean a line's ends.
//! Limits: a number may have a sign, a point, an exponent, and commas, apostrophes or underscores between digits, which are
//! dropped; a decimal comma is not understood.

use super::adapter_error::AdapterError;
use super::unit::understood;
use super::{BenchmarkClock, ExecutionFigures, FigureError, Output, Unit};
use regex::{Captures, Regex, RegexBuilder};

/// How errors name it.
pub const NAME: &str = "regex";
/// The name of what has none.
const NAMELESS: &str = "value";

/// An expression with the groups it needs.
#[derive(Clone, Debug)]
pub struct Pattern {
    expression: Regex,
}

impl Pattern {
    /// An expression with the group `value`, and perhaps `name` and `unit` (ns without it).
    ///
    /// # Errors
    /// It is no regular expression, too large, or has no group `value`.
    pub fn new(expression: &str) -> Result<Pattern, AdapterError> {
        let built = RegexBuilder::new(expression).multi_line(true).size_limit(1 << 20).build();
        let expression = built.map_err(|error| AdapterError::Pattern {
            problem: format!("not a regular expression: {error}"),
        })?;
        if expression.capture_names().flatten().any(|group| group == "value") {
            return Ok(Pattern { expression });
        }
        let problem = format!(
            "the regular expression `{expression}` has no group named `value` for the number; write it as in \
             '(?<name>\\w+): +(?<value>[0-9.]+) (?<unit>ns|us|ms|s)'"
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
    pub fn read(&self, output: &Output) -> Result<ExecutionFigures, FigureError> {
        let text = if self.expression.is_match(&output.stdout) { &output.stdout } else { &output.stderr };
        let mut series: Vec<(String, Unit, Vec<f64>)> = Vec::new();
        for found in self.expression.captures_iter(text) {
            let (name, value, unit) = one(&found)?;
            match series.iter_mut().find(|(known, _, _)| *known == name) {
                None => series.push((name, unit, vec![value])),
                Some((_, known, values)) if *known == unit => values.push(value),
                Some((_, known, _)) => {
                    let expected = format!("values in {known}, as before");
                    return Err(FigureError::malformed(NAME, &name, &expected, unit));
                }
            }
        }
        if series.is_empty() {
            let shown = if output.stdout.trim().is_empty() { &output.stderr } else { &output.stdout };
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

fn one(found: &Captures<'_>) -> Result<(String, f64, Unit), FigureError> {
    let group = |name: &str| found.name(name).map_or("", |part| part.as_str().trim());
    // A tab between the words of a name would tear tables.
    let name = group("name").split_whitespace().collect::<Vec<_>>().join(" ");
    let name = if name.is_empty() { NAMELESS.to_owned() } else { name };
    let digits: String =
        group("value").chars().filter(|symbol| !matches!(symbol, ',' | '_' | '\'')).collect();
    let value: f64 = digits
        .parse()
        .map_err(|_| FigureError::malformed(NAME, &name, "a number", format!("`{}`", group("value"))))?;
    let (value, unit) = match group("unit") {
        "" => (value, Unit::ns_per("iteration")),
        unit => understood(value, unit),
    };
    Ok((name, value, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE: &str = r"^(?<name>\S+): (?<value>[-0-9.,e]+) ?(?<unit>\S*)$";

    fn read(expression: &str, stdout: &str, stderr: &str) -> Result<ExecutionFigures, FigureError> {
        let output = Output { stdout: stdout.into(), stderr: stderr.into(), ..Output::default() };
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
        assert!(error.contains("(?<value>"), "{error}");
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
