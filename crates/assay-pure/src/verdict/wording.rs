//! Ratios and their logarithms as they are said in reasons.

use super::contrast::RatioInterval;
use crate::words::{fine_change, fine_span};

/// A log ratio as a signed percentage: "+8.9 %", "-0.42 %".
pub(super) fn percent(log_ratio: f64) -> String {
    fine_change(log_ratio.exp())
}

/// A log ratio as a comparison of times: "8.9 % more time", "0.42 % less time".
pub(super) fn more_or_less(log_ratio: f64) -> String {
    let word = if log_ratio < 0.0 { "less" } else { "more" };
    format!("{} {word} time", percent(log_ratio).trim_start_matches(['+', '-']))
}

/// An interval of ratios as percentages: "+8.4 % to +9.4 %".
pub(super) fn span(interval: &RatioInterval) -> String {
    fine_span(interval.lower, interval.upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_said_plainly() {
        assert_eq!(percent(1.089f64.ln()), "+8.9 %");
        assert_eq!(percent(0.9958f64.ln()), "-0.42 %");
        assert_eq!(more_or_less(1.089f64.ln()), "8.9 % more time");
        assert_eq!(more_or_less(0.9958f64.ln()), "0.42 % less time");
        assert_eq!(span(&RatioInterval { ratio: 1.0, lower: 0.99, upper: 1.02 }), "-1.0 % to +2.0 %");
    }
}
