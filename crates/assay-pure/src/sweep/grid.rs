//! The points of a range.

use super::scale::Scale;

/// Figures that a value keeps where its place matters to the last: enough for any key.
const FIGURES: i32 = 6;
/// Figures of a value that could as well lie a little to the side: its name stays readable.
const SHORT: i32 = 4;

/// `points` values from `from` to `to`, both included, equally far apart on the scale; rising, each once.
///
/// Input: `from` < `to`, above 0 on a geometric scale; 2 points or more. Returns: fewer where whole numbers coincide.
pub fn between(from: f64, to: f64, points: u32, scale: Scale, whole: bool) -> Vec<f64> {
    let last = points.max(2) - 1;
    let (low, high) = (scale.place(from), scale.place(to));
    let values: Vec<f64> = (0..=last)
        .map(|index| match index {
            0 => from,
            _ if index == last => to,
            _ => short(scale.value(low + (high - low) * f64::from(index) / f64::from(last))),
        })
        .collect();
    distinct(&values, whole)
}

/// The values rising, each once, rounded where only whole numbers will do.
pub fn distinct(values: &[f64], whole: bool) -> Vec<f64> {
    let mut values: Vec<f64> =
        values.iter().map(|value| if whole { value.round() } else { *value }).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// A value rounded to six significant figures: 0.375 rather than 0.37500000000000006.
pub fn tidy(value: f64) -> f64 {
    to_figures(value, FIGURES)
}

/// A value rounded to four significant figures.
pub fn short(value: f64) -> f64 {
    to_figures(value, SHORT)
}

fn to_figures(value: f64, figures: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let digits = figures - 1 - value.abs().log10().floor() as i32;
    // By way of text, which rounds as a reader would.
    if digits >= 0 {
        format!("{value:.0$}", digits as usize).parse().unwrap_or(value)
    } else {
        let unit = 10f64.powi(-digits);
        (value / unit).round() * unit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_range_has_equal_differences() {
        assert_eq!(between(0.0, 1.0, 5, Scale::Linear, false), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(between(0.1, 0.7, 3, Scale::Linear, false), [0.1, 0.4, 0.7]);
    }

    #[test]
    fn a_geometric_range_has_equal_ratios() {
        assert_eq!(between(1.0, 1000.0, 4, Scale::Geometric, false), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(between(1000.0, 1e6, 3, Scale::Geometric, true), [1000.0, 31620.0, 1e6]);
    }

    #[test]
    fn whole_numbers_that_coincide_are_there_once() {
        assert_eq!(between(1.0, 4.0, 9, Scale::Geometric, true), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(distinct(&[7.0, 2.0, 7.2], true), [2.0, 7.0]);
    }

    #[test]
    fn a_value_keeps_six_figures() {
        assert_eq!(tidy(0.1 + 0.2), 0.3);
        assert_eq!(tidy(123_456_789.0), 123_457_000.0);
        assert_eq!(tidy(-0.001_234_567_8), -0.001_234_57);
        assert_eq!(tidy(0.0), 0.0);
        assert_eq!((short(0.123_456), short(123_456.0), short(0.1 + 0.2)), (0.1235, 123_500.0, 0.3));
    }
}
