//! Intervals: of a mean by Student's t, of a median by order statistics.
//!
//! Limits: the mean's interval assumes that the observations are independent (rotations are: each is another shuffle)
//! and not too skewed; docs/methodology/calibration.md says how far that was tried. Checked: SciPy, and by properties.

use super::margin::Margin;
use super::{StatsError, student};

/// Two ends, in the unit of what they enclose.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Interval {
    /// The lower end.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
}

impl Interval {
    /// `centre` ± `half_width`.
    pub fn around(centre: f64, half_width: f64) -> Self {
        Interval { lower: centre - half_width, upper: centre + half_width }
    }

    /// True when no difference (0) lies outside.
    pub fn excludes_zero(&self) -> bool {
        self.lower > 0.0 || self.upper < 0.0
    }

    /// True when the whole interval lies strictly within the margin.
    pub fn inside(&self, margin: Margin) -> bool {
        self.lower > -margin.ln() && self.upper < margin.ln()
    }

    /// True when the two have no point in common.
    pub fn disjoint(&self, other: &Interval) -> bool {
        self.upper < other.lower || other.upper < self.lower
    }

    /// The distance from 0 of the nearer end; 0 when 0 lies inside.
    pub fn nearest_to_zero(&self) -> f64 {
        if self.excludes_zero() { self.lower.abs().min(self.upper.abs()) } else { 0.0 }
    }

    /// The distance from 0 of the farther end.
    pub fn farthest_from_zero(&self) -> f64 {
        self.lower.abs().max(self.upper.abs())
    }
}

/// The mean and the unbiased variance.
///
/// Input: any unit. Returns: (mean, variance in the unit squared); `None` with fewer than two values.
/// Checked: Student's sleep data (scipy.stats.ttest_1samp).
pub fn mean_and_variance(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    Some((mean, squares / (values.len() - 1) as f64))
}

/// `mean` ± t · `standard_error` at two-sided level `alpha`.
///
/// Errors: `ProbabilityOutOfRange`. Source: Student 1908. Checked: the same data.
pub fn t_interval(mean: f64, standard_error: f64, degrees: f64, alpha: f64) -> Result<Interval, StatsError> {
    let t = student::two_sided_quantile(alpha, degrees)?;
    Ok(Interval::around(mean, t * standard_error))
}

/// The interval of a median between two order statistics, and the confidence it really has.
///
/// Input: `values` independent, in any order; `alpha` two-sided. Returns: the narrowest symmetric pair of order
/// statistics with coverage of at least 1 - alpha, or the whole range where the values are too few for that, with
/// the coverage reached. `None` when empty. Source: the sign test turned round (binomial with p = 1/2).
/// Checked: scipy.stats.binom.cdf.
pub fn median_interval(values: &[f64], alpha: f64) -> Option<(Interval, f64)> {
    if values.is_empty() {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let mut cut = 0;
    let mut term = 0.5f64.powi(n as i32);
    let mut tail = term;
    let mut coverage = 1.0 - 2.0 * tail;
    for k in 1..n / 2 {
        term *= (n - k + 1) as f64 / k as f64;
        tail += term;
        if 2.0 * tail > alpha {
            break;
        }
        cut = k;
        coverage = 1.0 - 2.0 * tail;
    }
    Some((Interval { lower: sorted[cut], upper: sorted[n - 1 - cut] }, coverage.max(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLEEP: [f64; 10] = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];

    #[test]
    fn agrees_with_students_own_sleep_data() {
        // scipy: ttest_1samp(x, 0): mean 0.75, var 3.200556, 95 % interval -0.5297804 .. 2.0297804
        let (mean, variance) = mean_and_variance(&SLEEP).unwrap();
        assert!((mean - 0.75).abs() < 1e-12);
        assert!((variance - 3.200_555_556).abs() < 1e-8);
        let found = t_interval(mean, (variance / 10.0).sqrt(), 9.0, 0.05).unwrap();
        assert!((found.lower + 0.529_780_4).abs() < 1e-6, "{found:?}");
        assert!((found.upper - 2.029_780_4).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn an_interval_widens_with_confidence() {
        let widths: Vec<f64> = [0.5, 0.1, 0.05, 0.001]
            .iter()
            .map(|&alpha| t_interval(1.0, 0.2, 6.0, alpha).unwrap())
            .map(|interval| interval.upper - interval.lower)
            .collect();
        assert!(widths.windows(2).all(|pair| pair[0] < pair[1]), "{widths:?}");
    }

    #[test]
    fn the_medians_interval_takes_the_binomial_order_statistics() {
        // n = 8: ranks 1..8 cover 1-2/256 = 0.9921875; ranks 2..7 cover 0.9296875 (1 - 2 binom.cdf(1, 8, .5))
        let x = [8.0, 1.0, 7.0, 2.0, 6.0, 3.0, 5.0, 4.0];
        let (wide, coverage) = median_interval(&x, 0.05).unwrap();
        assert_eq!((wide.lower, wide.upper), (1.0, 8.0));
        assert!((coverage - 0.992_187_5).abs() < 1e-12);
        let (narrow, coverage) = median_interval(&x, 0.10).unwrap();
        assert_eq!((narrow.lower, narrow.upper), (2.0, 7.0));
        assert!((coverage - 0.929_687_5).abs() < 1e-12);
        // n = 15 at 0.05: ranks 4..12 (binom.cdf(3, 15, .5) = .0176), coverage 0.9648438
        let x: Vec<f64> = (1..=15).map(f64::from).collect();
        let (interval, coverage) = median_interval(&x, 0.05).unwrap();
        assert_eq!((interval.lower, interval.upper), (4.0, 12.0));
        assert!((coverage - 0.964_843_75).abs() < 1e-12);
    }

    #[test]
    fn too_few_values_give_their_range_and_say_what_it_covers() {
        let (interval, coverage) = median_interval(&[3.0, 1.0, 2.0], 0.05).unwrap();
        assert_eq!((interval.lower, interval.upper), (1.0, 3.0));
        assert!((coverage - 0.75).abs() < 1e-12);
        assert_eq!(median_interval(&[3.0], 0.05).unwrap().1, 0.0);
        assert_eq!(median_interval(&[], 0.05), None);
        assert_eq!(mean_and_variance(&[1.0]), None);
        assert_eq!(mean_and_variance(&[1.0, 3.0]), Some((2.0, 2.0)));
    }

    #[test]
    fn the_ends_decide_what_is_excluded_and_enclosed() {
        let i = |lower, upper| Interval { lower, upper };
        assert!(i(0.1, 0.2).excludes_zero() && i(-0.2, -0.1).excludes_zero());
        assert!(
            !i(-0.1, 0.2).excludes_zero() && !i(0.0, 0.2).excludes_zero() && !i(-0.2, 0.0).excludes_zero()
        );
        let margin = Margin::of(0.3);
        let end = margin.ln();
        assert!(i(-0.1, 0.2).inside(margin) && !i(-0.1, end).inside(margin) && !i(-end, 0.1).inside(margin));
        assert!(i(0.0, 1.0).disjoint(&i(1.1, 2.0)) && i(1.1, 2.0).disjoint(&i(0.0, 1.0)));
        assert!(!i(0.0, 1.0).disjoint(&i(1.0, 2.0)) && !i(1.0, 2.0).disjoint(&i(0.0, 1.0)));
        assert_eq!(i(-0.3, -0.1).nearest_to_zero(), 0.1);
        assert_eq!(i(0.1, 0.3).nearest_to_zero(), 0.1);
        assert_eq!(i(-0.1, 0.3).nearest_to_zero(), 0.0);
        assert_eq!(i(-0.4, 0.3).farthest_from_zero(), 0.4);
        assert_eq!(i(-0.2, 0.3).farthest_from_zero(), 0.3);
    }
}
