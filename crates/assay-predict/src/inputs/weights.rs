//! Weights of encoded lengths turned by one number: the share of values longer than one byte.
//!
//! That share is what a branchy decoder's cost depends on most, so it is the key to sweep. Checked: by hand.

/// Weights of which the first, for values of one byte, has the share 1 - `share`, and the others keep their proportions.
///
/// Input: `weights` finite and not negative; `share` of 0 to 1.
/// Returns weights with the sum 1; `None` if `share` is above 0 and no weight but the first is. The numbers are part of an
/// input's bytes: each is `share * (weight / sum of the weights above one byte)`, the sum taken in order, in doubles.
pub fn with_multi_byte(weights: &[f64], share: f64) -> Option<Vec<f64>> {
    let longer = weights.get(1..).unwrap_or(&[]);
    let sum = longer.iter().fold(0.0, |sum, weight| sum + weight);
    if share == 0.0 {
        return Some(vec![1.0]);
    }
    let rescaled = longer.iter().map(|weight| share * (weight / sum));
    (sum > 0.0).then(|| std::iter::once(1.0 - share).chain(rescaled).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_the_share_and_keeps_the_proportions() {
        assert_eq!(with_multi_byte(&[80.0, 15.0, 5.0], 0.5), Some(vec![0.5, 0.375, 0.125]));
        assert_eq!(with_multi_byte(&[0.0, 0.0, 4.0], 0.25), Some(vec![0.75, 0.0, 0.25]));
        assert_eq!(with_multi_byte(&[9.0, 2.0, 2.0], 1.0), Some(vec![0.0, 0.5, 0.5]));
        assert_eq!(with_multi_byte(&[9.0, 2.0], 0.0), Some(vec![1.0]));
    }

    #[test]
    fn needs_a_longer_weight_for_longer_values() {
        for weights in [&[][..], &[3.0], &[3.0, 0.0]] {
            assert_eq!(with_multi_byte(weights, 0.1), None);
            assert_eq!(with_multi_byte(weights, 0.0), Some(vec![1.0]));
        }
    }
}
