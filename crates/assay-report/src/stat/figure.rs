//! How the figures of `assay stat` read: counts, times, shares and ranges of them.

use super::page::{Ends, EventRow};
use crate::number;

/// A row's figure: a time in milliseconds, else a whole count.
pub(super) fn figure(row: &EventRow, value: f64) -> String {
    if row.unit == "ns" { format!("{:.2} ms", value / 1e6) } else { whole(value) }
}

/// A count as a reader wants it: whole, with thousands set apart.
pub(super) fn whole(value: f64) -> String {
    number::count(value.round().max(0.0) as u64)
}

/// A share as a percentage with three digits, and never "0.00 %" for what is not nothing.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", percent_digits(share))
}

fn percent_digits(share: f64) -> String {
    let value = share * 100.0;
    match value {
        _ if value == 0.0 => "0".to_owned(),
        _ if value < 0.000_5 => "< 0.001".to_owned(),
        _ if value < 0.995 => format!("{value:.3}"),
        _ if value < 9.995 => format!("{value:.2}"),
        _ => format!("{value:.1}"),
    }
}

/// A range of shares, or one where both ends print the same.
pub(super) fn percents(ends: Ends) -> String {
    span(percent_digits(ends.low), percent_digits(ends.high)) + " %"
}

/// "low to high", or one of them where they print the same.
pub(super) fn span(low: String, high: String) -> String {
    if low == high { low } else { format!("{low} to {high}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_keep_three_digits_and_are_not_rounded_to_nothing() {
        let cases = [
            (0.0, "0 %"),
            (0.000_001, "< 0.001 %"),
            (0.000_012_3, "0.001 %"),
            (0.004_321, "0.432 %"),
            (0.0432, "4.32 %"),
            (0.099_96, "10.0 %"),
            (0.4321, "43.2 %"),
            (1.0, "100.0 %"),
        ];
        for (share, text) in cases {
            assert_eq!(percent(share), text, "{share}");
        }
        assert_eq!(percents(Ends { low: 0.031, high: 0.0371 }), "3.10 to 3.71 %");
        assert_eq!(percents(Ends { low: 0.031, high: 0.031_001 }), "3.10 %");
    }
}
