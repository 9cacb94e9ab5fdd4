//! Would the comparison script of Google Benchmark call two sets of repetitions different?
//!
//! Method: the U test of Mann and Whitney, two-sided, as scipy.stats.mannwhitneyu does it by itself: exact where one side
//! has at most 8 values and none are equal, else by the normal distribution with corrections for ties and continuity.
//! Limits: it takes repetitions for independent. Those of one process of one link share all that placement does, so it
//! answers another question than whether the code is slower: that is why it stands here.
//! Source: Mann and Whitney 1947; scipy 1.17.1; tools/gbench/report.py of Google Benchmark, which calls it from two
//! repetitions on, at 0.05 for each benchmark and each of its two clocks.
//! Checked: against scipy 1.17.1.

use statrs::function::erf::erfc;

/// Above this many values on both sides the normal distribution is used, as scipy does.
const EXACT_UP_TO: usize = 8;
/// The level at which the script marks a difference unless told otherwise.
pub const COMPARE_ALPHA: f64 = 0.05;
/// Repetitions on each side below which the script gives no p-value.
pub const COMPARE_LEAST: usize = 2;

/// The outcome of the test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UTest {
    /// U of the first side: pairs in which its value is larger, ties counted half.
    pub u: f64,
    /// Two-sided probability of a U at least this far from the middle if both sides are alike.
    pub p: f64,
}

/// The U test, two-sided.
///
/// Input: values of both sides in any unit, order irrelevant. Returns: U and p in [0, 1]; None where a side is empty or a value
/// is not a number. Cost: one sort; exact: at most 8 · (n + m)² · 8. Source and checks: see the module.
pub fn mann_whitney(first: &[f64], second: &[f64]) -> Option<UTest> {
    if first.is_empty() || second.is_empty() || first.iter().chain(second).any(|value| value.is_nan()) {
        return None;
    }
    let (rank_sum, ties) = ranks(first, second);
    let (n, m) = (first.len() as f64, second.len() as f64);
    let u = rank_sum - n * (n + 1.0) / 2.0;
    let farther = u.max(n * m - u);
    let tied = ties.iter().any(|&equal| equal > 1.0);
    let small = first.len().min(second.len()) <= EXACT_UP_TO;
    let upper = if small && !tied {
        exact_upper_tail(farther, first.len(), second.len())
    } else {
        normal_upper_tail(farther, n, m, &ties)
    };
    Some(UTest { u, p: (2.0 * upper).clamp(0.0, 1.0) })
}

/// Whether the script would mark a benchmark as different; None below the repetitions it takes.
pub fn compare_flags(first: &[f64], second: &[f64]) -> Option<bool> {
    if first.len().min(second.len()) < COMPARE_LEAST {
        return None;
    }
    mann_whitney(first, second).map(|test| test.p < COMPARE_ALPHA)
}

/// The sum of the first side's ranks, equal values sharing the mean of theirs, and how many are equal per value.
fn ranks(first: &[f64], second: &[f64]) -> (f64, Vec<f64>) {
    let of = |values: &[f64], mine: bool| values.iter().map(|&value| (value, mine)).collect::<Vec<_>>();
    let mut all = of(first, true);
    all.extend(of(second, false));
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (mut sum, mut ties, mut before) = (0.0, Vec::new(), 0.0);
    // total_cmp puts -0 before 0; they are equal here.
    for group in all.chunk_by(|one, other| one.0 == other.0) {
        let equal = group.len() as f64;
        let mine = group.iter().filter(|(_, mine)| *mine).count() as f64;
        sum += mine * (before + (equal + 1.0) / 2.0);
        before += equal;
        ties.push(equal);
    }
    (sum, ties)
}

/// P(U >= u): subsets of the ranks 1..n+m with that many elements, counted by the sum of their ranks.
fn exact_upper_tail(u: f64, n: usize, m: usize) -> f64 {
    let (few, all) = (n.min(m), n + m);
    let least = few * (few + 1) / 2;
    let largest = least + n * m;
    let mut counts = vec![vec![0.0f64; largest + 1]; few + 1];
    counts[0][0] = 1.0;
    for rank in 1..=all {
        for size in (1..=few.min(rank)).rev() {
            let (smaller, here) = counts.split_at_mut(size);
            for sum in rank..=largest {
                here[0][sum] += smaller[size - 1][sum - rank];
            }
        }
    }
    let of_u = &counts[few][least..];
    let total: f64 = of_u.iter().sum();
    of_u[u as usize..].iter().sum::<f64>() / total
}

/// P(U >= u) by the normal distribution; everything equal has no spread and is no difference.
fn normal_upper_tail(u: f64, n: f64, m: f64, ties: &[f64]) -> f64 {
    let all = n + m;
    let tied: f64 = ties.iter().map(|equal| equal.powi(3) - equal).sum();
    let deviation = (n * m / 12.0 * (all + 1.0 - tied / (all * (all - 1.0)))).sqrt();
    let z = (u - n * m / 2.0 - 0.5) / deviation;
    0.5 * erfc(z / std::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(count: usize, step: f64, start: f64) -> Vec<f64> {
        (0..count).map(|number| number as f64 * step + start).collect()
    }

    #[test]
    fn agrees_with_scipy() {
        // To 9 digits, which is what the error function of statrs gives.
        // python3: scipy.stats.mannwhitneyu(a, b, alternative='two-sided'), scipy 1.17.1: statistic, pvalue
        let cases: [(Vec<f64>, Vec<f64>, f64, f64); 14] = [
            (vec![1.1, 2.2, 3.3], vec![4.4, 5.5, 6.6], 0.0, 0.1),
            (vec![1.1, 5.0, 3.3, 2.0], vec![4.4, 0.5, 6.6], 5.0, 0.8571428571428571),
            (vec![1.0, 2.0, 2.0, 3.0], vec![2.0, 4.0, 5.0], 2.0, 0.19908985214820463),
            (steps(9, 0.5, 0.0), steps(9, 0.5, 0.7), 28.0, 0.28931483238198774),
            (steps(9, 0.5, 0.0), steps(12, 0.5, 2.2), 10.0, 0.001992081015671852),
            (steps(10, 1.0, 1.0), steps(10, 1.0, 3.0), 32.0, 0.18455093943501133),
            (vec![1.0; 3], vec![1.0; 3], 4.5, 1.0),
            (vec![1.0], vec![2.0], 0.0, 1.0),
            (vec![1.0, 2.0], vec![3.0, 4.0], 0.0, 0.3333333333333333),
            (vec![5.0; 4], vec![5.0, 5.0, 5.0, 6.0], 6.0, 0.4532547047537364),
            (
                vec![3.1, 2.9, 3.0, 3.2, 2.8, 3.05, 2.95, 3.15, 3.25],
                vec![3.01, 3.11, 3.21, 3.31, 3.41, 3.06, 3.16, 3.26, 3.36],
                15.0,
                0.0272753837615853,
            ),
            (steps(8, 0.1, 0.0), steps(30, 0.1, 0.33), 10.0, 5.561975001703355e-06),
            (steps(20, 0.1, 0.0), steps(20, 1.0, 50.0), 0.0, 6.795615128173358e-08),
            (steps(8, 1.0, 1.0), steps(8, 1.0, 1.5), 28.0, 0.7209013209013208),
        ];
        for (first, second, u, p) in cases {
            let found = mann_whitney(&first, &second).unwrap();
            assert_eq!(found.u, u, "{first:?} {second:?}");
            assert!((found.p / p - 1.0).abs() < 1e-9, "{first:?} {second:?}: {} {p}", found.p);
            // The other way round: the same p, and the other pairs.
            let turned = mann_whitney(&second, &first).unwrap();
            assert!((turned.p / p - 1.0).abs() < 1e-9);
            assert_eq!(turned.u + u, (first.len() * second.len()) as f64);
        }
    }

    #[test]
    fn what_cannot_be_ranked_has_no_p() {
        assert_eq!(mann_whitney(&[], &[1.0]), None);
        assert_eq!(mann_whitney(&[1.0, f64::NAN], &[1.0]), None);
        assert_eq!(mann_whitney(&[0.0, 1.0], &[-0.0, 2.0]).unwrap().u, 1.5);
    }

    #[test]
    fn the_script_marks_at_its_level_and_from_two_repetitions_on() {
        assert_eq!(compare_flags(&[1.0], &[2.0, 3.0]), None);
        assert_eq!(compare_flags(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), Some(false));
        assert_eq!(compare_flags(&steps(4, 1.0, 0.0), &steps(4, 1.0, 9.0)), Some(true));
    }
}
