//! How the figures of `assay stat` read: counts, times and ranges of them.

use super::page::EventRow;
use assay_pure::words;

/// A row's figure: a time in milliseconds, else a whole count.
pub(super) fn figure(row: &EventRow, value: f64) -> String {
    if row.unit == "ns" { format!("{:.2} ms", value / 1e6) } else { whole(value) }
}

/// A count as a reader wants it: whole, with thousands set apart.
pub(super) fn whole(value: f64) -> String {
    words::count(value.round().max(0.0) as u64)
}

/// "low to high", or one of them where they print the same.
pub(super) fn span(low: String, high: String) -> String {
    if low == high { low } else { format!("{low} to {high}") }
}
