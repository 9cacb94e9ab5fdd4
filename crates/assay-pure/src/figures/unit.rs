//! What the numbers of a figure are.
//!
//! Method: every unit of time becomes nanoseconds, every rate the nanoseconds of one item, so ratios of figures are
//! ratios of times whatever was printed. A unit that is neither is kept by its name; less is taken to be better.

use std::fmt;

/// The unit of a figure's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds per something.
    Ns {
        /// `iteration`, `command`, or the item by the benchmark's own word.
        per: String,
    },
    /// Something else, by its printed name.
    Other(String),
}

impl Unit {
    /// Nanoseconds per `what`.
    pub fn ns_per(what: &str) -> Unit {
        Unit::Ns { per: what.to_owned() }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unit::Ns { per } => write!(f, "ns/{per}"),
            Unit::Other(name) => f.write_str(name),
        }
    }
}

/// Nanoseconds in a printed unit of time: `ps`, `ns`, `us` (also with the micro sign or a Greek mu), `ms`, `s`, `sec`,
/// `min`, `h`. None: it is no unit of time.
pub fn nanoseconds_in(unit: &str) -> Option<f64> {
    match unit {
        "ps" => Some(1e-3),
        "ns" | "nsec" => Some(1.0),
        // U+00B5, the micro sign, and U+03BC, the Greek letter: libraries print either.
        "us" | "usec" | "\u{b5}s" | "\u{3bc}s" => Some(1e3),
        "ms" | "msec" => Some(1e6),
        "s" | "sec" | "secs" | "second" | "seconds" => Some(1e9),
        "m" | "min" => Some(60e9),
        "h" => Some(3600e9),
        _ => None,
    }
}

/// The number and unit that a printed figure stands for: `2.5 us` is 2500 ns, `4 MB/s` is 250 ns per byte, `7 apples` is
/// left as it is.
///
/// Input: any number and the text behind it, without spaces around. Returns: the value in the unit beside it.
pub fn understood(value: f64, unit: &str) -> (f64, Unit) {
    let (amount, per) = unit.split_once('/').map_or((unit, None), |(amount, per)| (amount, Some(per)));
    if let Some(scale) = nanoseconds_in(amount) {
        let per = per.filter(|per| !per.is_empty()).unwrap_or("iteration");
        return (value * scale, Unit::ns_per(per));
    }
    if let Some(span) = per.and_then(nanoseconds_in) {
        let (factor, item) = counted(amount);
        return (span / (value * factor), Unit::ns_per(item));
    }
    (value, Unit::Other(unit.to_owned()))
}

/// How many of which item: `MB` is a million bytes, `Gelem` a billion `elem`, `ops` one `op`.
fn counted(amount: &str) -> (f64, &str) {
    for (prefix, factor) in [
        ("Ki", 1024.0),
        ("Mi", 1048576.0),
        ("Gi", 1073741824.0),
        ("K", 1e3),
        ("k", 1e3),
        ("M", 1e6),
        ("G", 1e9),
    ] {
        if let Some(item) = amount.strip_prefix(prefix) {
            return (factor, singular(item));
        }
    }
    (1.0, singular(amount))
}

fn singular(item: &str) -> &str {
    match item {
        "B" | "bytes" => "byte",
        "b" | "bits" => "bit",
        "" | "iterations" | "iter" => "iteration",
        "items" => "item",
        "ops" => "op",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_time_become_nanoseconds() {
        let cases = [("ps", 0.0025), ("ns", 2.5), ("us", 2500.0), ("\u{b5}s", 2500.0), ("\u{3bc}s", 2500.0)];
        for (unit, expected) in
            cases.into_iter().chain([("ms", 2.5e6), ("s", 2.5e9), ("min", 150e9), ("h", 9e12)])
        {
            let (value, what) = understood(2.5, unit);
            assert!((value / expected - 1.0).abs() < 1e-15, "{unit}: {value}");
            assert_eq!(what, Unit::ns_per("iteration"));
        }
        assert_eq!(understood(3.0, "ns/op"), (3.0, Unit::ns_per("op")));
    }

    #[test]
    fn rates_become_the_time_of_one_item() {
        assert_eq!(understood(4.0, "MB/s"), (250.0, Unit::ns_per("byte")));
        assert_eq!(understood(2.0, "ops/sec"), (5e8, Unit::ns_per("op")));
        assert_eq!(understood(1.0, "KiB/ms"), (1e6 / 1024.0, Unit::ns_per("byte")));
        assert_eq!(understood(5.0, "/s"), (2e8, Unit::ns_per("iteration")));
        assert_eq!(understood(1.0, "Gelem/s"), (1.0, Unit::ns_per("elem")));
    }

    #[test]
    fn what_is_no_time_keeps_its_name() {
        assert_eq!(understood(7.0, "apples"), (7.0, Unit::Other("apples".into())));
        assert_eq!(understood(7.0, "cycles/op"), (7.0, Unit::Other("cycles/op".into())));
        assert_eq!(Unit::ns_per("op").to_string(), "ns/op");
    }
}
