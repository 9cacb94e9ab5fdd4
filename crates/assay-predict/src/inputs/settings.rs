//! An input that is not drawn but said: numbers for a program that makes its own work.
//!
//! Some programs need no bytes but parameters: a rate of loss, the size of a window. As an input like any other they are
//! shared by all variants, named in reports, varied by a sweep, and read before the clock starts: `prepare` parses them.
//! The text is the interface: one line `name=value` each, sorted by name, the number of units among them. So other units
//! are other bytes, and an answer kept for one amount of work is never taken for that of another.
//!
//! Checked: the bytes written out by hand, and against Python's shortest `repr`.

use std::collections::BTreeMap;

/// The settings of one input, by name.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Settings {
    values: BTreeMap<String, f64>,
}

impl Settings {
    /// The name of the line that says how many units one call does.
    pub const UNITS: &str = "units";

    /// Settings of these names and values, finite numbers, for a call that does `units` units.
    ///
    /// Input: names without `=` and line breaks; of two values under one name the last counts.
    pub fn new(values: impl IntoIterator<Item = (String, f64)>, units: u64) -> Settings {
        let units = (Settings::UNITS.to_owned(), units as f64);
        Settings { values: values.into_iter().chain([units]).collect() }
    }

    /// The lines `name=value`, sorted by the bytes of their names; each number is the shortest decimal that reads back
    /// as the same double, without an exponent, whole ones without a point.
    pub fn bytes(&self) -> Vec<u8> {
        let line = |(name, value): (&String, &f64)| {
            // A zero has no sign here: programs that compare texts would tell them apart.
            let value = if *value == 0.0 { 0.0 } else { *value };
            format!("{name}={value}\n")
        };
        self.values.iter().map(line).collect::<String>().into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(values: &[(&str, f64)], units: u64) -> String {
        let values = values.iter().map(|&(name, value)| (name.to_owned(), value));
        String::from_utf8(Settings::new(values, units).bytes()).expect("a text")
    }

    #[test]
    fn writes_one_line_each_sorted_by_name() {
        assert_eq!(text(&[("window", 64.0), ("loss", 0.05)], 1000), "loss=0.05\nunits=1000\nwindow=64\n");
        assert_eq!(text(&[], 1), "units=1\n");
        // Capitals come before small letters, as their bytes do.
        assert_eq!(text(&[("a", 1.0), ("B", 2.0)], 3), "B=2\na=1\nunits=3\n");
    }

    #[test]
    fn writes_the_shortest_number_that_reads_back_the_same() {
        for (value, written) in [
            (0.1, "0.1"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e21, "1000000000000000000000"),
            (2.5e-7, "0.00000025"),
            (-3.0, "-3"),
            (-0.0, "0"),
            (1e9, "1000000000"),
        ] {
            assert_eq!(text(&[("x", value)], 1), format!("units=1\nx={written}\n"));
            assert_eq!(written.parse::<f64>(), Ok(value));
        }
    }
}
