//! Many questions, several looks: how much confidence each interval must have so that the experiment as a whole keeps its own.
//!
//! Method: the error budget is split equally over the planned looks, and at each look by Holm over the contrasts.
//! Limits: valid under any dependence, hence a little conservative when looks share their data.
//! Checked: adjusted p-values by hand; the whole by simulation (tests/calibration.rs).

/// The level at which one contrast is judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HolmStep {
    /// Two-sided level of this contrast's interval.
    pub alpha: f64,
    /// No difference is rejected at that level, and so at every step before it.
    pub rejected: bool,
}

/// Holm's step-down procedure; steps come back in the order of the p-values given.
///
/// Input: two-sided p-values in [0, 1], family level `alpha`, and `most`, the largest level any one may have (pass
/// `alpha` for plain Holm). Returns: for the j-th smallest p (from 0) the level min(alpha / (m - j), most) as long as all smaller ones were rejected; the first one kept and all after it share that one's
/// level, so that every interval agrees with its decision. Cost: one sort. Source: Holm 1979.
/// Checked: adjusted p-values by hand.
pub fn holm(p_values: &[f64], alpha: f64, most: f64) -> Vec<HolmStep> {
    let count = p_values.len();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut steps = vec![HolmStep { alpha, rejected: false }; count];
    let mut kept_at = None;
    for (rank, &which) in order.iter().enumerate() {
        let level = kept_at.unwrap_or((alpha / (count - rank) as f64).min(most));
        let rejected = kept_at.is_none() && p_values[which] <= level;
        if !rejected {
            kept_at = Some(level);
        }
        steps[which] = HolmStep { alpha: level, rejected };
    }
    steps
}

/// To be called different no contrast spends more than this part of the family's budget, however few there are.
///
/// An experiment of one contrast would otherwise call identical code faster or slower in up to 1 of 20 campaigns where
/// the spread is larger than the minimum effect; the promise is 1 in 100.
pub const MOST_SHARE: f64 = 0.2;

/// The part of the error budget that one look may spend: an equal share of each planned look.
///
/// Input: `confidence` in (0, 1), `looks` planned (0 counts as 1). Returns: the family level of one look.
/// Source: Bonferroni over looks. An O'Brien-Fleming-like spending was tried and rejected, see docs/methodology/verdicts.md.
pub fn alpha_per_look(confidence: f64, looks: u32) -> f64 {
    (1.0 - confidence) / f64::from(looks.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_what_the_adjusted_p_values_reject() {
        // adjusted: the running maximum of (m - j) p = .04 .06 .06 .06
        let steps = holm(&[0.01, 0.02, 0.03, 0.04], 0.05, 0.05);
        let rejected: Vec<bool> = steps.iter().map(|step| step.rejected).collect();
        assert_eq!(rejected, [true, false, false, false]);
        // adjusted = .04 .004 .036 .04
        let steps = holm(&[0.04, 0.001, 0.012, 0.02], 0.05, 0.05);
        assert!(steps.iter().all(|step| step.rejected));
        let levels: Vec<f64> = steps.iter().map(|step| step.alpha).collect();
        for (found, expected) in levels.iter().zip([0.05, 0.0125, 0.05 / 3.0, 0.025]) {
            assert!((found - expected).abs() < 1e-15, "{levels:?}");
        }
    }

    #[test]
    fn nothing_after_the_first_kept_contrast_is_rejected() {
        // The last p lies under its own alpha / 1, but not under the level at which the ladder stopped.
        let steps = holm(&[0.03, 0.001, 0.04], 0.05, 0.05);
        assert!(steps[1].rejected && !steps[0].rejected && !steps[2].rejected);
        assert_eq!(steps[0].alpha, 0.025);
        assert_eq!(steps[2].alpha, 0.025);
    }

    #[test]
    fn order_does_not_matter() {
        let p = [0.2, 0.0004, 0.013, 0.6, 0.009];
        let forward = holm(&p, 0.05, 0.05);
        let turned: Vec<f64> = p.iter().rev().copied().collect();
        let backward = holm(&turned, 0.05, 0.05);
        assert!(forward.iter().eq(backward.iter().rev()));
    }

    #[test]
    fn one_contrast_keeps_the_whole_level_and_none_is_no_problem() {
        assert_eq!(holm(&[0.05], 0.05, 0.05), [HolmStep { alpha: 0.05, rejected: true }]);
        assert!(holm(&[], 0.05, 0.05).is_empty());
    }

    #[test]
    fn no_contrast_gets_more_than_its_most() {
        let steps = holm(&[0.001, 0.004, 0.02], 0.05, 0.01);
        let levels: Vec<f64> = steps.iter().map(|step| step.alpha).collect();
        assert_eq!(levels, [0.01, 0.01, 0.01]);
        let rejected: Vec<bool> = steps.iter().map(|step| step.rejected).collect();
        assert_eq!(rejected, [true, true, false]);
    }

    #[test]
    fn the_looks_share_the_budget() {
        assert!((5.0 * alpha_per_look(0.95, 5) - 0.05).abs() < 1e-15);
        assert_eq!(alpha_per_look(0.95, 0), alpha_per_look(0.95, 1));
    }
}
