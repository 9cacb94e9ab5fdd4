//! Which cells a claim speaks of.

use crate::experiment::ClaimSpec;
use crate::experiment::matrix::CellName;
use crate::verdict::build::Side;
use crate::verdict::contrast::{ContrastVerdict, RatioInterval, Verdict};
use crate::verdict::counts::CellCounts;

/// True when the list is empty (every name) or holds the name.
pub(super) fn names(list: &[String], name: &str) -> bool {
    list.is_empty() || list.iter().any(|one| one == name)
}

/// True when the list is empty or one of its globs (`*` any text, `?` any character) matches the name.
pub(super) fn globs(list: &[String], name: &str) -> bool {
    list.is_empty() || list.iter().any(|glob| matches(glob.as_bytes(), name.as_bytes()))
}

fn matches(glob: &[u8], name: &[u8]) -> bool {
    match (glob.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            matches(rest, name) || name.split_first().is_some_and(|(_, shorter)| matches(glob, shorter))
        }
        (Some((b'?', rest)), Some((_, shorter))) => matches(rest, shorter),
        (Some((wanted, rest)), Some((found, shorter))) => wanted == found && matches(rest, shorter),
        _ => false,
    }
}

/// "short (gcc-12, O2)".
pub(super) fn place_of(cell: &CellCounts) -> String {
    format!("{} ({}, {})", cell.cell.input, cell.cell.compiler, cell.cell.flags)
}

/// One contrast as the claim puts it: candidate over baseline in the claim's own sense.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ClaimedContrast<'a> {
    pub(super) contrast: &'a ContrastVerdict,
    pub(super) verdict: Verdict,
    pub(super) code: Option<RatioInterval>,
    pub(super) as_built: Option<RatioInterval>,
}

/// The contrasts a claim speaks of; those measured the other way round are turned.
pub(super) fn contrasts<'a>(
    claim: &ClaimSpec,
    baseline: &str,
    all: &'a [ContrastVerdict],
) -> Vec<ClaimedContrast<'a>> {
    let (Some(candidate), Some(baseline)) = (claim.candidate.as_deref(), claim.baseline_variant(baseline))
    else {
        return Vec::new();
    };
    let pair = ClaimedPair { claim, candidate, baseline };
    all.iter()
        .filter(|found| names(&claim.inputs, &found.input))
        .filter_map(|found| {
            let between = found.between();
            let (left, right) = (between.cell(Side::Candidate), between.cell(Side::Baseline));
            if pair.is(left, right) {
                return Some(ClaimedContrast {
                    contrast: found,
                    verdict: found.verdict,
                    code: found.code,
                    as_built: found.as_built,
                });
            }
            pair.is(right, left).then(|| ClaimedContrast {
                contrast: found,
                verdict: turn(found.verdict),
                code: found.code.map(turn_ratio),
                as_built: found.as_built.map(turn_ratio),
            })
        })
        .collect()
}

/// Who a claim compares with whom.
struct ClaimedPair<'a> {
    claim: &'a ClaimSpec,
    candidate: &'a str,
    baseline: &'a str,
}

impl ClaimedPair<'_> {
    /// Are these two cells the claim's candidate and its baseline? What the claim does not say of the baseline's build is
    /// as the candidate's.
    fn is(&self, candidate: CellName<'_>, baseline: CellName<'_>) -> bool {
        let other = |asked: &Option<String>, own: &str, there: &str| match asked {
            Some(glob) => globs(std::slice::from_ref(glob), there),
            None => own == there,
        };
        candidate.variant == self.candidate
            && baseline.variant == self.baseline
            && globs(&self.claim.compilers, candidate.compiler)
            && globs(&self.claim.flags, candidate.flags)
            && other(&self.claim.baseline_compiler, candidate.compiler, baseline.compiler)
            && other(&self.claim.baseline_flags, candidate.flags, baseline.flags)
    }
}

fn turn(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Faster => Verdict::Slower,
        Verdict::Slower => Verdict::Faster,
        same => same,
    }
}

fn turn_ratio(found: RatioInterval) -> RatioInterval {
    RatioInterval { ratio: 1.0 / found.ratio, lower: 1.0 / found.upper, upper: 1.0 / found.lower }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turned_ratio_swaps_its_ends() {
        let turned = turn_ratio(RatioInterval { ratio: 1.25, lower: 1.0, upper: 2.0 });
        assert_eq!(turned, RatioInterval { ratio: 0.8, lower: 0.5, upper: 1.0 });
        assert_eq!(turn(Verdict::Faster), Verdict::Slower);
        assert_eq!(turn(Verdict::Equivalent), Verdict::Equivalent);
    }

    #[test]
    fn globs_match_as_in_a_shell() {
        let one = |glob: &str, name: &str| globs(&[glob.to_string()], name);
        assert!(one("gcc*", "gcc-12") && one("gcc*", "gcc") && one("*", "") && one("*-1?", "clang-16"));
        assert!(
            !one("gcc*", "clang-16") && !one("gcc", "gcc-12") && !one("gcc-1?", "gcc-1") && !one("", "gcc")
        );
        assert!(globs(&[], "anything") && names(&[], "anything"));
        assert!(!names(&["a".to_string()], "b"));
    }
}
