//! How few mispredictions a byte loop over a varint stream can have: arithmetic, not measurement.
//!
//! A loop that reads one byte, tests its high bit and goes on or stops executes one branch per byte. On a stream whose
//! lengths are independent, nothing seen before tells a predictor more than the length distribution does, so at byte k
//! the best it can do is to guess the likelier of "stop" and "go on", and it is wrong with probability
//! min(p_stop, 1 - p_stop). Summed over the bytes, weighted by how often each is reached, this is a floor for every
//! predictor ever built: a miss rate claimed below it is impossible on such a stream.
//!
//! Counted is the loop's own branch only. The branch of an outer loop over values is nearly always predicted; it adds
//! branches, not misses. The derivation is ours; checked against values worked out by hand in the tests.

/// The floor of mispredictions per value for independent lengths.
///
/// Input: `probabilities[k]` of an encoding of k + 1 bytes, each finite and not negative; counts or weights do as well,
/// since they are divided by their sum.
/// Returns mispredictions per value, 0 for an empty or all-zero slice.
/// Cost: one pass.
pub fn floor_from_probabilities(probabilities: &[f64]) -> f64 {
    per_value(probabilities, |stop, reach| stop.min(reach - stop))
}

/// Branches of the byte loop per value, which is bytes per value; a miss rate is misses over this.
///
/// Input and cost as for [`floor_from_probabilities`].
pub fn branches_from_probabilities(probabilities: &[f64]) -> f64 {
    per_value(probabilities, |_, reach| reach)
}

/// Sums a term of (values that stop at this byte, values that reach it) over the bytes, per value.
fn per_value(weights: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
    // Summed from the longest, so that what reaches a byte is never less than what stops there, whatever the rounding.
    let mut reach = 0.0;
    let mut sum = 0.0;
    for &stop in weights.iter().rev() {
        reach += stop;
        sum += term(stop, reach);
    }
    if reach > 0.0 { sum / reach } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 5e-4, "{found} is not {expected}");
    }

    #[test]
    fn reproduces_the_floors_worked_out_by_hand() {
        // 80/18/2, the 2 % split over 3, 4 and 5 bytes: .2 + .02 + min(1,2)/150 + min(1,1)/150 = .2333.
        near(floor_from_probabilities(&[0.8, 0.18, 0.02 / 3.0, 0.02 / 3.0, 0.02 / 3.0]), 0.2333);
        // Halves: .5 + .25 + .125 + .0625, the last byte always stops.
        near(floor_from_probabilities(&[0.5, 0.25, 0.125, 0.0625, 0.0625]), 0.9375);
        // A fifth each: .2 at bytes 1 to 4 (of 1, .8, .6, .4 that reach them).
        near(floor_from_probabilities(&[0.2; 5]), 0.8);
        // Log-uniform over 0..=32 bits: 8, 7, 7, 7, 4 of 33; reached by 33, 25, 18, 11, 4: (8 + 7 + 7 + 4) / 33.
        near(floor_from_probabilities(&[8.0, 7.0, 7.0, 7.0, 4.0]), 26.0 / 33.0);
        // Uniform over 32-bit values: all but 2^28 of 2^32 have 5 bytes, so at most 1/16 stop early.
        let uniform = [128.0, 16256.0, 2080768.0, 266338304.0, 4026531840.0];
        near(floor_from_probabilities(&uniform), 0.0625);
        near(floor_from_probabilities(&[0.0, 0.0, 1.0]), 0.0);
    }

    #[test]
    fn a_miss_rate_of_three_percent_on_80_18_2_is_impossible() {
        // .2333 misses over 1.24 branches: 18.8 % of the byte loop's branches.
        let shares = [0.8, 0.18, 0.02 / 3.0, 0.02 / 3.0, 0.02 / 3.0];
        near(branches_from_probabilities(&shares), 1.24);
        near(floor_from_probabilities(&shares) / branches_from_probabilities(&shares), 0.1882);
    }

    #[test]
    fn the_scale_of_the_weights_does_not_matter() {
        let weights = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0];
        for scale in [1e-12, 0.3, 1e12] {
            let scaled: Vec<f64> = weights.iter().map(|weight| weight * scale).collect();
            assert!((floor_from_probabilities(&scaled) - floor_from_probabilities(&weights)).abs() < 1e-12);
            assert!(
                (branches_from_probabilities(&scaled) - branches_from_probabilities(&weights)).abs() < 1e-12
            );
        }
    }

    #[test]
    fn nothing_has_no_misses() {
        assert_eq!(floor_from_probabilities(&[]), 0.0);
        assert_eq!(floor_from_probabilities(&[0.0, 0.0]), 0.0);
        assert_eq!(branches_from_probabilities(&[]), 0.0);
    }
}
