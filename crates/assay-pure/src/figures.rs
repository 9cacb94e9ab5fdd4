//! What do other people's benchmarks say? The outputs of benchmark libraries, as figures.
//!
//! Method: each format has a file of its own, a function from text to [`ExecutionFigures`]; which one fits is found from
//! what an execution left behind ([`Adapter::detect`]) or said by the user. Times become nanoseconds, rates become
//! nanoseconds per item, so in every figure less is faster. What a benchmark itself calls failed is a note, never a
//! number; an output without a single figure is an error that shows how the output begins.
//! Limits: a library that prints summaries alone (divan) gives one value per execution. Numbers that are not finite and
//! positive have no logarithm and are left out, with a note.
//! Checked by: outputs of the libraries themselves in `fixtures/adapters`; any bytes, in `fuzz/`.

mod adapter;
mod adapter_error;
pub mod bencher;
pub mod catch2;
mod clock;
pub mod compressor;
pub mod criterion;
pub mod divan;
mod error;
pub mod go;
pub mod google_benchmark;
pub mod hyperfine;
mod json;
pub mod libtest;
pub mod nanobench;
pub mod openssl_speed;
pub mod origin;
pub mod own_harness;
pub mod pattern;
pub mod perf_bench;
mod printed;
pub mod pytest_benchmark;
pub mod speedtest1;
mod unit;
pub mod xxhsum;

pub use adapter::{Adapter, library_names};
pub use adapter_error::AdapterError;
pub use clock::BenchmarkClock;
pub use error::FigureError;
pub use unit::Unit;

use regex::Regex;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// What one benchmark took in one execution of the command.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its name, unique in its reading.
    pub name: String,
    /// What the values are; less is faster in all of them.
    pub unit: Unit,
    /// Which clock the values are of.
    pub clock: BenchmarkClock,
    /// One per repetition, all finite and positive; never empty.
    pub values: Vec<f64>,
    /// The same repetitions on the clock that does not decide, where the library gives both.
    pub beside: Option<(BenchmarkClock, Vec<f64>)>,
}

/// All figures of one execution.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExecutionFigures {
    /// In the order of the output; names are unique.
    pub figures: Vec<Figure>,
    /// What the reader must know: benchmarks that failed, values left out. Whole sentences.
    pub notes: Vec<String>,
}

/// A file that an execution wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// Its path below the folder it was found in.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// What one execution of a benchmark command left behind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BenchmarkOutput {
    /// What it printed.
    pub stdout: String,
    /// What it printed on standard error.
    pub stderr: String,
    /// What was written to the file that `BENCHMARK_OUT` names: one JSON document per benchmark program.
    pub google_benchmark: String,
    /// The files below the folder that `CRITERION_HOME` names.
    pub criterion: Vec<Document>,
    /// Other JSON files that were written meanwhile.
    pub json: Vec<Document>,
    /// Time it took, nanoseconds.
    pub elapsed_ns: f64,
    /// CPU time of all its processes, nanoseconds.
    pub cpu_ns: f64,
}

impl BenchmarkOutput {
    /// What it printed, or what it printed on standard error where that is all.
    pub fn printed(&self) -> &str {
        if self.stdout.trim().is_empty() { &self.stderr } else { &self.stdout }
    }
}

/// Values of one key as its repetitions, in the order in which keys come first.
pub(crate) fn repetitions<K: Eq + Hash + Clone>(
    values: impl IntoIterator<Item = (K, f64)>,
) -> Vec<(K, Vec<f64>)> {
    let mut series: Vec<(K, Vec<f64>)> = Vec::new();
    let mut places = HashMap::new();
    for (key, value) in values {
        let place = *places.entry(key).or_insert_with_key(|key| {
            series.push((key.clone(), Vec::new()));
            series.len() - 1
        });
        series[place].1.push(value);
    }
    series
}

/// The names that stand for several full names.
pub(crate) fn ambiguous<'a>(named: impl Iterator<Item = (&'a str, &'a str)>) -> HashSet<&'a str> {
    let mut full_names: HashMap<&str, &str> = HashMap::new();
    named
        .filter_map(|(name, full)| (*full_names.entry(name).or_insert(full) != full).then_some(name))
        .collect()
}

/// Values of one name and their unit, in the order in which names come first: an output may have 100,000 of them.
#[derive(Debug, Default)]
pub(crate) struct NamedSeries {
    series: Vec<(String, Unit, Vec<f64>)>,
    places: HashMap<String, usize>,
}

impl NamedSeries {
    /// Adds a value.
    ///
    /// # Errors
    /// The name has another unit already: that one.
    pub(crate) fn add(&mut self, name: &str, unit: Unit, value: f64) -> Result<(), Unit> {
        let Some(place) = self.places.get(name) else {
            self.places.insert(name.to_owned(), self.series.len());
            self.series.push((name.to_owned(), unit, vec![value]));
            return Ok(());
        };
        let (_, known, values) = &mut self.series[*place];
        if *known != unit {
            return Err(known.clone());
        }
        values.push(value);
        Ok(())
    }

    /// All.
    pub(crate) fn all(self) -> Vec<(String, Unit, Vec<f64>)> {
        self.series
    }
}

impl ExecutionFigures {
    /// Itself, or the error of an output none of whose benchmarks has a figure.
    pub(crate) fn or_failed(self, adapter: &'static str) -> Result<ExecutionFigures, FigureError> {
        if self.figures.is_empty() {
            return Err(FigureError::Failed { adapter, notes: self.notes });
        }
        Ok(self)
    }

    /// Adds a figure unless no value of it can be used; values that can't are left out, with a note.
    ///
    /// Input: `values` on the deciding clock, `beside` of the same length or none.
    pub(crate) fn add(
        &mut self,
        name: String,
        unit: Unit,
        clock: BenchmarkClock,
        values: &[f64],
        beside: Option<(BenchmarkClock, &[f64])>,
    ) {
        let usable: Vec<bool> = values.iter().map(|value| value.is_finite() && *value > 0.0).collect();
        let left_out = usable.iter().filter(|usable| !**usable).count();
        if left_out > 0 {
            let all = if left_out == values.len() { ", which leaves none" } else { "" };
            let first =
                values.iter().zip(&usable).find(|(_, usable)| !**usable).map_or(0.0, |(value, _)| *value);
            self.notes.push(format!(
                "{name}: {left_out} of {} values ignored because they are not above 0 (for example {first}){all}.",
                values.len()
            ));
        }
        let kept = |values: &[f64]| -> Vec<f64> {
            values.iter().zip(&usable).filter(|(_, usable)| **usable).map(|(value, _)| *value).collect()
        };
        let values = kept(values);
        if values.is_empty() {
            return;
        }
        let beside = beside.map(|(clock, others)| (clock, kept(others)));
        self.figures.push(Figure { name, unit, clock, values, beside });
    }

    /// Keeps the figures whose name the filter matches somewhere.
    ///
    /// # Errors
    /// None is left; the error lists the names there were.
    pub fn keep(mut self, filter: &Regex) -> Result<ExecutionFigures, FigureError> {
        let names: Vec<String> = self.figures.iter().map(|figure| figure.name.clone()).collect();
        self.figures.retain(|figure| filter.is_match(&figure.name));
        if self.figures.is_empty() {
            return Err(FigureError::FilteredOut { filter: filter.as_str().to_owned(), names });
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_without_a_logarithm_are_left_out_with_a_note() {
        let mut reading = ExecutionFigures::default();
        let beside = [5.0, 6.0, 7.0, 8.0];
        let values = [1.0, 0.0, f64::NAN, 2.0];
        reading.add(
            "a".into(),
            Unit::ns_per("op"),
            BenchmarkClock::Cpu,
            &values,
            Some((BenchmarkClock::Wall, &beside)),
        );
        assert_eq!(reading.figures[0].values, [1.0, 2.0]);
        assert_eq!(reading.figures[0].beside, Some((BenchmarkClock::Wall, vec![5.0, 8.0])));
        assert_eq!(reading.notes, ["a: 2 of 4 values ignored because they are not above 0 (for example 0)."]);
        reading.add("b".into(), Unit::ns_per("op"), BenchmarkClock::Cpu, &[-1.0], None);
        assert_eq!(reading.figures.len(), 1);
        assert!(reading.notes[1].ends_with("which leaves none."), "{:?}", reading.notes);
    }

    #[test]
    fn a_hundred_thousand_names_are_read_in_the_order_in_which_they_come() {
        let names = (0..200_000).map(|number| (format!("b{}", number % 100_000), f64::from(number)));
        let series = repetitions(names);
        assert_eq!((series.len(), &series[99_999].1), (100_000, &vec![99_999.0, 199_999.0]));
        assert!(series.iter().enumerate().all(|(number, (name, _))| *name == format!("b{number}")));
    }

    #[test]
    fn one_name_has_one_unit() {
        let mut series = NamedSeries::default();
        assert_eq!(series.add("a", Unit::ns_per("op"), 1.0), Ok(()));
        assert_eq!(series.add("b", Unit::ns_per("byte"), 2.0), Ok(()));
        assert_eq!(series.add("a", Unit::ns_per("byte"), 3.0), Err(Unit::ns_per("op")));
        assert_eq!(series.add("a", Unit::ns_per("op"), 4.0), Ok(()));
        assert_eq!(series.all()[0], ("a".into(), Unit::ns_per("op"), vec![1.0, 4.0]));
    }

    #[test]
    fn a_name_of_several_things_is_ambiguous() {
        let named = [("x", "a::x"), ("y", "a::y"), ("x", "b::x"), ("y", "a::y")];
        assert_eq!(ambiguous(named.into_iter()), HashSet::from(["x"]));
    }

    #[test]
    fn a_filter_that_leaves_nothing_says_what_there_was() {
        let mut reading = ExecutionFigures::default();
        for name in ["sum/64", "copy"] {
            reading.add(name.into(), Unit::ns_per("op"), BenchmarkClock::Cpu, &[1.0], None);
        }
        let kept = reading.clone().keep(&Regex::new("^sum/").unwrap()).unwrap();
        assert_eq!(kept.figures.iter().map(|figure| figure.name.as_str()).collect::<Vec<_>>(), ["sum/64"]);
        let error = reading.keep(&Regex::new("none").unwrap()).unwrap_err().to_string();
        assert!(error.contains("`none`") && error.contains("sum/64") && error.contains("copy"), "{error}");
    }
}
