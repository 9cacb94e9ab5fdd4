//! Where the middle of a few numbers lies, and how far they spread, without trusting the outliers.
//!
//! Method: order statistics. Limits: values must be finite (`f64::total_cmp` orders them; a NaN would sort last).
//! Checked: against NumPy and SciPy values, and by properties (permutation, shift, scale).

/// The quantile of `values` at `probability`, linear between order statistics.
///
/// Input: any order, finite; `probability` in [0, 1] (clamped). Returns: same unit as the values; `None` when empty.
/// Cost: linear. Source: Hyndman & Fan 1996, definition 7 (the default of R and NumPy).
/// Checked: numpy.quantile.
pub fn quantile(values: &[f64], probability: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let position = probability.clamp(0.0, 1.0) * last as f64;
    let below = position.floor() as usize;
    let (low, high) = neighbours(values, below);
    // Where the position is a whole number, what is above it has no weight.
    Some(low + (position - below as f64) * (high - low))
}

/// The middle value, or the mean of the two middle ones.
///
/// Input: any order, finite. Returns: same unit; `None` when empty. Cost: linear. Checked: by hand.
pub fn median(values: &[f64]) -> Option<f64> {
    let below = values.len().checked_sub(1)? / 2;
    let (low, high) = neighbours(values, below);
    Some(if values.len() % 2 == 1 { low } else { 0.5 * (low + high) })
}

/// The value at a place of the sorted order and the next one, itself where there is none. Selected, not sorted: pages take
/// medians of millions of samples.
fn neighbours(values: &[f64], place: usize) -> (f64, f64) {
    let mut values = values.to_vec();
    let (_, low, above) = values.select_nth_unstable_by(place, f64::total_cmp);
    let low = *low;
    (low, above.iter().copied().min_by(f64::total_cmp).unwrap_or(low))
}

/// The median absolute deviation from the median, not scaled to a standard deviation.
///
/// Input: any order, finite. Returns: same unit; `None` when empty. Checked: scipy.stats.median_abs_deviation.
pub fn mad(values: &[f64]) -> Option<f64> {
    let centre = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    median(&deviations)
}

/// What a MAD must be multiplied by to estimate the standard deviation of a normal distribution: 1 / Φ⁻¹(3/4).
pub const MAD_TO_SIGMA: f64 = 1.482_602_218_505_602;

/// The standard error of a median of `values`, if they were independent: 1.2533 · 1.4826 · MAD / √n.
///
/// Input: at least two values. Returns: same unit; 0 when fewer than two, or when more than half of them are equal.
/// Source: asymptotic efficiency 2/π of the median under a normal distribution. It is a floor under the error of a
/// location, never the error itself: samples of one visit are not independent.
pub fn median_standard_error(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let sigma = MAD_TO_SIGMA * mad(values).unwrap_or(0.0);
    (std::f64::consts::PI / 2.0).sqrt() * sigma / (values.len() as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_numpys_linear_definition() {
        // numpy.quantile([9,1,4,16,25], [0,.1,.25,.5,.9,1]) = 1, 2.2, 4, 9, 21.4, 25
        let x = [9.0, 1.0, 4.0, 16.0, 25.0];
        for (p, expected) in [(0.0, 1.0), (0.1, 2.2), (0.25, 4.0), (0.5, 9.0), (0.9, 21.4), (1.0, 25.0)] {
            assert!((quantile(&x, p).unwrap() - expected).abs() < 1e-12, "p={p}");
        }
        // numpy.quantile([3, 8, 1, 10], 0.3) = 2.8
        assert!((quantile(&[3.0, 8.0, 1.0, 10.0], 0.3).unwrap() - 2.8).abs() < 1e-12);
    }

    #[test]
    fn the_median_of_an_even_number_lies_halfway() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[5.0, 1.0, 3.0]), Some(3.0));
        assert_eq!(median(&[5.0, 1.0, 3.0, 9.0, 8.0]), Some(5.0));
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(median(&[]), None);
        assert_eq!(quantile(&[1.0, 2.0], 1.5), Some(2.0));
        assert_eq!(quantile(&[1.0, 2.0], -0.5), Some(1.0));
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(mad(&[]), None);
    }

    #[test]
    fn one_outlier_does_not_move_the_deviation() {
        // scipy.stats.median_abs_deviation([1,1,2,2,4,6,9]) = 1; with the 9 replaced by 9e9 still 1
        assert_eq!(mad(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), Some(1.0));
        assert_eq!(mad(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9e9]), Some(1.0));
    }

    #[test]
    fn the_error_of_a_median_matches_its_derivation() {
        // MAD of 1..=9 is 2: sqrt(pi/2) * 1.482602 * 2 / 3 = 1.2387775
        let x: Vec<f64> = (1..=9).map(f64::from).collect();
        assert!((median_standard_error(&x) - 1.238_777_5).abs() < 1e-6);
        assert_eq!(median_standard_error(&[1.0]), 0.0);
        assert!(median_standard_error(&[1.0, 2.0]) > 0.0);
    }

    #[test]
    fn order_does_not_matter_and_shift_and_scale_carry_through() {
        let x = [0.3, 7.0, 2.5, 9.1, 4.4, 1.2];
        let turned = [4.4, 9.1, 1.2, 0.3, 2.5, 7.0];
        let mapped: Vec<f64> = x.iter().map(|v| 3.0 * v - 2.0).collect();
        assert_eq!(median(&x), median(&turned));
        assert_eq!(mad(&x), mad(&turned));
        for p in [0.05, 0.37, 0.81] {
            assert_eq!(quantile(&x, p), quantile(&turned, p));
            let expected = 3.0 * quantile(&x, p).unwrap() - 2.0;
            assert!((quantile(&mapped, p).unwrap() - expected).abs() < 1e-12);
        }
        assert!((mad(&mapped).unwrap() - 3.0 * mad(&x).unwrap()).abs() < 1e-12);
    }
}
