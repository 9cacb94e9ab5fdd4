//! A loop that decodes varints or compares numbers, as a stream of branches before simulated predictors.
//!
//! The loop is the plainest there is: it reads a byte, goes on while the high bit is set, and then goes on to the next
//! value. So there are two branches: the first is taken once for each byte but the last of a value, the second always.
//! Decoders that unroll it ask the same question at other addresses. A loop that compares has one branch for the answer, and
//! the one that goes on to the next number.
//!
//! Checked: branches and outcomes counted by hand; a predictor that always says "not taken" misses what it must.

use crate::predict::{Tally, UnknownPredictor, Zoo};
use crate::trace::{Branch, BranchClass};

/// Where the branches of the loop lie; what their addresses are matters to no predictor as long as they differ.
const BYTE: (u64, u64) = (0x40_1010, 0x40_1000);
const VALUE: (u64, u64) = (0x40_1020, 0x40_1000);

/// What the branches of the loop ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchCondition {
    /// Whether another byte of the value follows; units are encoded lengths.
    Length,
    /// Whether a comparison is true; units are 2 where it is, else 1.
    Comparison,
}

/// Mispredictions per unit by predictor, then by block: the lengths are cut into `blocks` stretches of equal size, through
/// which predictors keep what they have learnt; what is left over at the end is walked through and not counted.
///
/// Input: units as the condition has them; at least one block and one unit for each.
///
/// # Errors
/// A name that no predictor has.
pub fn misses<S: AsRef<str>>(
    condition: BranchCondition,
    units: &[u8],
    predictors: &[S],
    blocks: usize,
) -> Result<Vec<Vec<f64>>, UnknownPredictor> {
    let mut zoo = Zoo::new(predictors)?;
    let size = units.len() / blocks;
    let mut found = vec![Vec::with_capacity(blocks); predictors.len()];
    let mut branches = Vec::new();
    for block in units.chunks_exact(size.max(1)).take(blocks) {
        let mut tally = Tally::new(predictors.len());
        for stretch in block.chunks(1 << 14) {
            branches.clear();
            match condition {
                BranchCondition::Length => stretch.iter().for_each(|&length| unit(length, &mut branches)),
                BranchCondition::Comparison => {
                    stretch.iter().for_each(|&answer| compared(answer, &mut branches))
                }
            }
            zoo.observe(&branches, &mut tally);
        }
        for (found, missed) in found.iter_mut().zip(tally.missed()) {
            found.push(missed as f64 / block.len() as f64);
        }
    }
    Ok(found)
}

/// Branches of the loop per unit: one per byte, one per value.
pub fn branches_per_unit(lengths: &[u8]) -> f64 {
    let bytes: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
    1.0 + bytes as f64 / lengths.len().max(1) as f64
}

/// The share of comparisons that are true.
pub fn true_share(answers: &[u8]) -> f64 {
    answers.iter().filter(|&&answer| answer == 2).count() as f64 / answers.len().max(1) as f64
}

/// The branches of one comparison.
fn compared(answer: u8, branches: &mut Vec<Branch>) {
    branches.push(Branch::new(BYTE.0, BYTE.1, 0, BranchClass::CONDITIONAL, answer == 2, 6));
    branches.push(Branch::new(VALUE.0, VALUE.1, 1, BranchClass::CONDITIONAL, true, 4));
}

/// The branches of one value.
fn unit(length: u8, branches: &mut Vec<Branch>) {
    for byte in 1..=length {
        branches.push(Branch::new(BYTE.0, BYTE.1, 0, BranchClass::CONDITIONAL, byte < length, 6));
    }
    branches.push(Branch::new(VALUE.0, VALUE.1, 1, BranchClass::CONDITIONAL, true, 4));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_but_the_last_goes_on() {
        let mut branches = Vec::new();
        unit(3, &mut branches);
        let taken: Vec<(u32, bool)> = branches.iter().map(|branch| (branch.site, branch.taken())).collect();
        assert_eq!(taken, [(0, true), (0, true), (0, false), (1, true)]);
        assert_eq!(branches_per_unit(&[3, 1]), 3.0);
    }

    #[test]
    fn a_comparison_is_one_branch_and_is_missed_where_it_is_false() {
        let found = misses(BranchCondition::Comparison, &[1, 2, 1, 1, 2, 2], &["always-taken"], 2);
        assert_eq!(found.expect("a known predictor"), [vec![2.0 / 3.0, 1.0 / 3.0]]);
        assert_eq!((true_share(&[1, 2, 2, 1, 1]), true_share(&[])), (0.4, 0.0));
    }

    #[test]
    fn a_static_rule_misses_what_it_must() {
        // Always taken: it is wrong once per value, at the last byte.
        let found = misses(BranchCondition::Length, &[1, 2, 5, 10, 1, 1], &["always-taken"], 2)
            .expect("a known predictor");
        assert_eq!(found, [vec![1.0, 1.0]]);
    }

    #[test]
    fn one_length_is_learnt_and_unknown_names_are_refused() {
        let found = misses(BranchCondition::Length, &[2; 40_000], &["zen4"], 4).expect("a known predictor");
        assert_eq!(found[0].len(), 4);
        assert_eq!(found[0][3], 0.0);
        assert!(misses(BranchCondition::Length, &[1], &["zen44"], 1).is_err());
    }

    #[test]
    fn what_is_left_over_is_not_counted() {
        let found =
            misses(BranchCondition::Length, &[1, 1, 1, 1, 1, 1, 1, 5], &["always-taken"], 3).expect("known");
        assert_eq!(found[0], [1.0; 3]);
    }
}
