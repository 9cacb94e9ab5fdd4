//! How far can a share be trusted that was counted? The interval of a binomial share.
//!
//! Source: E. B. Wilson, JASA 22 (1927), 209-212. Limits: it covers 95 % on the average over shares, for some a little less.
//! Checked: against statsmodels.

/// The 0.975 quantile of the normal distribution: confidence 0.95.
const Z: f64 = 1.959_963_984_540_054;

/// The Wilson interval of a share, confidence 0.95.
///
/// Input: `part` of `total`, which is at least 1. Returns: the least and the most share, 0 to 1.
pub fn wilson(part: u64, total: u64) -> (f64, f64) {
    let (n, p) = (total as f64, part as f64 / total as f64);
    let z2 = Z * Z;
    let center = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    ((center - half).max(0.0), (center + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: statsmodels, proportion_confint(60, 100, method="wilson") and the same of 0.
    #[test]
    fn the_interval_is_wilsons() {
        let (low, high) = wilson(60, 100);
        assert!((low - 0.502_002_6).abs() < 1e-6 && (high - 0.690_598_7).abs() < 1e-6, "{low} {high}");
        let (low, high) = wilson(0, 100);
        assert!(low.abs() < 1e-12 && (high - 0.036_993_5).abs() < 1e-6, "{low} {high}");
    }

    #[test]
    fn a_share_and_its_rest_have_mirrored_intervals() {
        for part in 0..=64 {
            let ((low, high), (rest_low, rest_high)) = (wilson(part, 64), wilson(64 - part, 64));
            assert!((low + rest_high - 1.0).abs() < 1e-12 && (high + rest_low - 1.0).abs() < 1e-12, "{part}");
            assert!((0.0..=1.0).contains(&low) && (0.0..=1.0).contains(&high), "{part}: {low} {high}");
        }
    }
}
