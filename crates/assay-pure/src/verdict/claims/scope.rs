//! Which cells a claim speaks of.

use crate::experiment::ClaimSpec;
use crate::verdict::contrast::{ContrastVerdict, RatioInterval, Verdict};

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

/// One contrast as the claim puts it: candidate over baseline in the claim's own sense.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measured<'a> {
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
) -> Vec<Measured<'a>> {
    let Some(candidate) = claim.candidate.as_deref() else {
        return Vec::new();
    };
    let baseline = claim.baseline.as_deref().unwrap_or(baseline);
    all.iter()
        .filter(|found| names(&claim.inputs, &found.input) && globs(&claim.compilers, &found.compiler))
        .filter_map(|found| {
            let straight = found.candidate == candidate && found.baseline == baseline;
            let turned = found.candidate == baseline && found.baseline == candidate;
            match (straight, turned) {
                (true, _) => Some(Measured {
                    contrast: found,
                    verdict: found.verdict,
                    code: found.code,
                    as_built: found.as_built,
                }),
                (_, true) => Some(Measured {
                    contrast: found,
                    verdict: turn(found.verdict),
                    code: found.code.map(turn_ratio),
                    as_built: found.as_built.map(turn_ratio),
                }),
                _ => None,
            }
        })
        .collect()
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
