//! From an interval to a word. All on the log scale, where both directions are alike.

use super::contrast::{AsBuiltSays, Verdict};
use crate::stats::interval::Interval;
use crate::stats::margin::Margin;

/// The rule of every verdict, the code's and the as-built one's.
///
/// Input: `estimate` and `interval` of ln(candidate / baseline).
/// Returns: `Equivalent` when the interval lies inside ±margin; `Faster`/`Slower` when it excludes 0 and the estimate
/// lies beyond ±margin; `Undecided` otherwise. The first two cannot both hold.
pub fn decide(estimate: f64, interval: Interval, margin: Margin) -> Verdict {
    if interval.inside(margin) {
        Verdict::Equivalent
    } else if interval.excludes_zero() && margin.is_exceeded_by_ln(estimate) {
        if estimate < 0.0 { Verdict::Faster } else { Verdict::Slower }
    } else {
        Verdict::Undecided
    }
}

/// An estimate with its interval and the word given to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecidedEstimate {
    /// ln(candidate / baseline).
    pub estimate: f64,
    /// Its interval.
    pub interval: Interval,
    /// The word.
    pub verdict: Verdict,
}

/// What the as-built comparison is worth beside the code's verdict; the table is in docs/methodology/verdicts.md.
///
/// Returns: `None` when the code's verdict is undecided, or when the as-built one is and its interval does not
/// rule the code effect out.
pub fn as_built_says(
    as_built: DecidedEstimate,
    code: DecidedEstimate,
    margin: Margin,
) -> Option<AsBuiltSays> {
    match (code.verdict, as_built.verdict) {
        (Verdict::Undecided, _) => None,
        (Verdict::Equivalent, Verdict::Equivalent) => Some(AsBuiltSays::Confirmed),
        (Verdict::Equivalent, Verdict::Faster | Verdict::Slower) => Some(AsBuiltSays::Ghost),
        (Verdict::Equivalent, Verdict::Undecided) => None,
        (_, Verdict::Equivalent) => Some(AsBuiltSays::Masked),
        (_, Verdict::Undecided) => as_built.interval.disjoint(&code.interval).then_some(AsBuiltSays::Masked),
        (said, seen) if said != seen => Some(AsBuiltSays::Reversed),
        _ => Some(size(as_built, code, margin)),
    }
}

/// Same word on both sides: is the size right?
fn size(as_built: DecidedEstimate, code: DecidedEstimate, margin: Margin) -> AsBuiltSays {
    let excess = as_built.estimate.abs() - code.estimate.abs();
    let wrong = excess.abs() > 0.5 * code.estimate.abs()
        && margin.is_exceeded_by_ln(excess)
        && as_built.interval.disjoint(&code.interval);
    match (wrong, excess > 0.0) {
        (false, _) => AsBuiltSays::Confirmed,
        (true, true) => AsBuiltSays::Inflated,
        (true, false) => AsBuiltSays::Deflated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARGIN: Margin = Margin::of(0.01);

    fn judged(lower: f64, estimate: f64, upper: f64) -> DecidedEstimate {
        let interval = Interval { lower, upper };
        DecidedEstimate { estimate, interval, verdict: decide(estimate, interval, MARGIN) }
    }

    #[test]
    fn refuses_a_winner_when_the_interval_spans_zero_or_the_estimate_is_within_the_margin() {
        assert_eq!(judged(-0.001, 0.02, 0.041).verdict, Verdict::Undecided);
        assert_eq!(judged(0.002, 0.009, 0.016).verdict, Verdict::Undecided);
        assert_eq!(judged(-0.016, -0.009, -0.002).verdict, Verdict::Undecided);
        assert_eq!(judged(0.0, 0.02, 0.04).verdict, Verdict::Undecided);
        assert_eq!(judged(0.001, MARGIN.ln(), 0.019).verdict, Verdict::Undecided);
    }

    #[test]
    fn names_the_winner_and_the_equal() {
        assert_eq!(judged(-0.04, -0.02, -0.001).verdict, Verdict::Faster);
        assert_eq!(judged(0.001, 0.02, 0.04).verdict, Verdict::Slower);
        assert_eq!(judged(-0.009, 0.0, 0.009).verdict, Verdict::Equivalent);
        // significant, but too small to matter
        assert_eq!(judged(0.002, 0.004, 0.006).verdict, Verdict::Equivalent);
        assert_eq!(judged(-MARGIN.ln(), 0.0, 0.009).verdict, Verdict::Undecided);
    }

    #[test]
    fn each_word_about_the_as_built_comparison_has_its_case() {
        let equal = judged(-0.004, 0.0, 0.004);
        let slower = judged(0.07, 0.08, 0.09);
        let unsure = judged(-0.02, 0.0, 0.02);
        let says = |as_built, code| as_built_says(as_built, code, MARGIN);
        assert_eq!(says(judged(0.19, 0.2, 0.21), equal), Some(AsBuiltSays::Ghost));
        assert_eq!(says(judged(-0.001, 0.001, 0.003), equal), Some(AsBuiltSays::Confirmed));
        assert_eq!(says(unsure, equal), None);
        assert_eq!(says(judged(0.07, 0.085, 0.10), slower), Some(AsBuiltSays::Confirmed));
        assert_eq!(says(judged(0.19, 0.2, 0.21), slower), Some(AsBuiltSays::Inflated));
        assert_eq!(says(judged(0.025, 0.03, 0.035), slower), Some(AsBuiltSays::Deflated));
        assert_eq!(says(judged(-0.05, -0.04, -0.03), slower), Some(AsBuiltSays::Reversed));
        assert_eq!(says(equal, slower), Some(AsBuiltSays::Masked));
        // too wide to be called equal, yet it rules the code effect out: an ordinary tool reports no difference
        assert_eq!(says(unsure, slower), Some(AsBuiltSays::Masked));
        assert_eq!(says(judged(-0.02, 0.04, 0.10), slower), None);
        assert_eq!(says(judged(0.19, 0.2, 0.21), unsure), None);
    }

    #[test]
    fn a_faster_code_gets_the_same_words() {
        let faster = judged(-0.09, -0.08, -0.07);
        let says = |as_built| as_built_says(as_built, faster, MARGIN);
        assert_eq!(says(judged(-0.21, -0.2, -0.19)), Some(AsBuiltSays::Inflated));
        assert_eq!(says(judged(-0.035, -0.03, -0.025)), Some(AsBuiltSays::Deflated));
        assert_eq!(says(judged(0.03, 0.04, 0.05)), Some(AsBuiltSays::Reversed));
    }

    #[test]
    fn a_faster_code_keeps_its_tolerance_of_a_half() {
        let faster = judged(-0.085, -0.08, -0.075);
        assert_eq!(
            as_built_says(judged(-0.115, -0.11, -0.105), faster, MARGIN),
            Some(AsBuiltSays::Confirmed)
        );
        assert_eq!(
            as_built_says(judged(-0.055, -0.05, -0.045), faster, MARGIN),
            Some(AsBuiltSays::Confirmed)
        );
    }

    #[test]
    fn a_wrong_size_must_exceed_a_half_the_margin_and_the_noise() {
        let small = judged(0.011, 0.012, 0.013);
        // 0.019 is 58 % more, but only 0.007 away: less than the margin
        assert_eq!(as_built_says(judged(0.018, 0.019, 0.020), small, MARGIN), Some(AsBuiltSays::Confirmed));
        let slower = judged(0.07, 0.08, 0.09);
        // 40 % more
        assert_eq!(as_built_says(judged(0.11, 0.112, 0.115), slower, MARGIN), Some(AsBuiltSays::Confirmed));
        // 60 % more, but the intervals meet
        assert_eq!(as_built_says(judged(0.085, 0.128, 0.17), slower, MARGIN), Some(AsBuiltSays::Confirmed));
        assert_eq!(as_built_says(judged(0.12, 0.128, 0.14), slower, MARGIN), Some(AsBuiltSays::Inflated));
    }
}
