//! Code that is the same on both sides: what follows for the verdict.
//!
//! Method: where both sides execute the same machine code on the same data, they are equivalent whatever was measured, and
//! no sample can make that surer. Their measured ratio is then a control of the campaign: beyond the minimum effect it
//! contradicts the proof, so that neither this contrast nor a smaller one of the same baseline is judged.
//! Limits: the proof covers machine code and data of the program, not files that it reads. Where the state that a variant
//! works on may differ (`SameCode`), nothing is proven and nothing contradicted: one function on a table in the cache and on one
//! that is not takes two times, and that may be the question.
//! Checked: tests of the judge; pairs of known truth (`fixtures/verdicts`).

use super::build::Side;
use super::contrast::{ContrastVerdict, RatioInterval, Verdict};
use super::identity::CodeIdentity;
use super::observed::ObservedContrast;
use super::wording::span;

/// A measured difference between two copies of the same code.
pub(super) struct Contradiction<'c> {
    contrast: &'c ObservedContrast,
    ratio: RatioInterval,
}

impl Contradiction<'_> {
    /// What the reader must know before anything else.
    pub(super) fn warning(&self) -> String {
        let (candidate, baseline) = self.contrast.between().names();
        format!(
            "{candidate} and {baseline} are the same machine code, yet measured {} apart on {}: do not trust smaller differences \
             of this campaign, and measure again on an unshared core.",
            span(&self.ratio),
            self.contrast.input
        )
    }

    fn concerns(&self, other: &ObservedContrast) -> bool {
        self.contrast.between().cell(Side::Baseline) == other.between().cell(Side::Baseline)
    }
}

/// The difference that the measurement shows between copies of the same code, if it does.
pub(super) fn contradiction<'c>(
    contrast: &'c ObservedContrast,
    found: &ContrastVerdict,
) -> Option<Contradiction<'c>> {
    let same = contrast.identity.as_ref().is_some_and(CodeIdentity::excludes_difference);
    let ratio = found.code.filter(|_| same && found.verdict.is_difference())?;
    Some(Contradiction { contrast, ratio })
}

/// Takes back the verdict of another contrast that the contradiction casts doubt on; returns the reason where it did.
pub(super) fn doubt(
    contrast: &ObservedContrast,
    found: &ContrastVerdict,
    contradictions: &[Contradiction<'_>],
) -> Option<String> {
    let reach = |known: &&Contradiction<'_>| known.ratio.log_interval().farthest_from_zero();
    let worst = contradictions
        .iter()
        .filter(|known| known.concerns(contrast))
        .max_by(|a, b| reach(a).total_cmp(&reach(b)))?;
    let clear = found.code.is_some_and(|code| code.log_interval().nearest_to_zero() > reach(&worst));
    if found.verdict == Verdict::Undecided || (found.verdict.is_difference() && clear) {
        return None;
    }
    Some(format!(
        "Two copies of the same machine code measured {} apart in this campaign: \"{}\" is not clearly larger than that error.",
        span(&worst.ratio),
        found.verdict.word()
    ))
}
