//! How alike are neighbours of a series, and how far do its values spread?
//!
//! Method: the lag-one autocorrelation φ of what is left when each stretch's mean is subtracted, corrected for its bias
//! (Kendall 1954: each mean takes (1 + 3φ)/n), drawn towards [`EXPECTED`] as if that had been seen in [`WEIGHT`] values, and
//! raised by what an estimate of so few values may be too low. A φ that is too low makes false alarms; one that is too
//! high only makes a step wait for another point.
//! Checked: by simulation at φ of 0 to 0.6, `tests/calibration/history.rs`.

/// What neighbouring campaigns are expected to share before any is seen.
const EXPECTED: f64 = 0.4;
/// The weight of that, in values.
const WEIGHT: f64 = 30.0;
/// How many standard errors are added.
const CAUTION: f64 = 1.0;
/// Series that are more alike wander; no finite history tells them from steps.
const MOST: f64 = 0.9;

/// The stretches between divisions.
fn stretches<'a>(values: &'a [f64], divisions: &[usize]) -> Vec<&'a [f64]> {
    let mut found = Vec::new();
    let mut from = 0;
    for at in divisions.iter().copied().chain([values.len()]) {
        found.push(&values[from..at]);
        from = at;
    }
    found.retain(|stretch| !stretch.is_empty());
    found
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The autocorrelation to be reckoned with.
///
/// Input: finite values, divisions ascending within them. Returns: from 0 to 0.9. Source: see above.
pub fn likeness(values: &[f64], divisions: &[usize]) -> f64 {
    let (mut together, mut alone, mut means) = (0.0, 0.0, 0.0);
    for stretch in stretches(values, divisions) {
        let centre = mean(stretch);
        means += 1.0;
        alone += stretch.iter().map(|value| (value - centre).powi(2)).sum::<f64>();
        together += stretch.windows(2).map(|pair| (pair[0] - centre) * (pair[1] - centre)).sum::<f64>();
    }
    let count = values.len() as f64;
    let seen = if alone > 0.0 { together / alone } else { 0.0 };
    let unbiased = (count * seen + means) / (count - 3.0 * means).max(1.0);
    let drawn = (count * unbiased + WEIGHT * EXPECTED) / (count + WEIGHT);
    (drawn + CAUTION / (count + WEIGHT).sqrt()).clamp(0.0, MOST)
}

/// The standard deviation around the stretches' means, and its degrees of freedom; none without any.
pub fn deviation(values: &[f64], divisions: &[usize]) -> Option<(f64, f64)> {
    let found = stretches(values, divisions);
    let degrees = values.len() as f64 - found.len() as f64;
    let squares: f64 = found
        .iter()
        .map(|stretch| stretch.iter().map(|value| (value - mean(stretch)).powi(2)).sum::<f64>())
        .sum();
    (degrees >= 1.0).then(|| ((squares / degrees).sqrt(), degrees))
}

/// By how much the variance of a mean of `count` neighbours exceeds that of independent values.
///
/// Returns: 1 + 2 Σ (1 − k/n) φ^k, at least 1.
pub fn inflation(likeness: f64, count: usize) -> f64 {
    let terms = (1..count).map(|lag| (1.0 - lag as f64 / count as f64) * likeness.powi(lag as i32));
    1.0 + 2.0 * terms.sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_alternates_is_less_alike_than_what_lasts() {
        let alternating: Vec<f64> = (0..60).map(|at| f64::from(at % 2)).collect();
        let lasting: Vec<f64> = (0..60).map(|at| f64::from(at / 10 % 2)).collect();
        assert!(likeness(&alternating, &[]) < 0.1);
        assert!(likeness(&lasting, &[]) > 0.6);
        // A step that is known is no likeness.
        let step: Vec<f64> = (0..60).map(|at| f64::from(at / 30) + f64::from(at % 2)).collect();
        assert!(likeness(&step, &[30]) < 0.1);
    }

    #[test]
    fn few_values_say_little() {
        let found = likeness(&[1.0, 2.0, 1.5, 1.2, 1.9, 1.4], &[3]);
        assert!((0.05..0.9).contains(&found), "{found}");
    }

    #[test]
    fn neighbours_that_are_alike_tell_less_of_their_mean() {
        // By hand: n = 3, φ = 0.5: 1 + 2 (2/3 · 0.5 + 1/3 · 0.25).
        assert!((inflation(0.5, 3) - (1.0 + 2.0 * (1.0 / 3.0 + 0.25 / 3.0))).abs() < 1e-12);
        assert_eq!(inflation(0.0, 9), 1.0);
        assert_eq!(deviation(&[1.0, 3.0, 5.0, 5.0], &[2]), Some((1.0, 2.0)));
        assert_eq!(deviation(&[1.0], &[]), None);
    }
}
