//! Verdicts as they are shown.

use crate::campaign::judge::CampaignVerdicts;
use assay_pure::verdict;
use assay_report::page;

pub(crate) fn twin_of(twin: &verdict::TwinControl) -> page::PageTwinControl {
    let different =
        twin.contrasts.iter().filter(|contrast| contrast.verdict == verdict::TwinVerdict::Different);
    let worst = different
        .filter_map(|contrast| contrast.ratio)
        .max_by(|a, b| a.ratio.ln().abs().total_cmp(&b.ratio.ln().abs()));
    let ratio = worst.or(twin.ratio);
    page::PageTwinControl {
        verdict: twin.verdict,
        ratio: ratio.map(|ratio| ratio.ratio),
        lower: ratio.map(|ratio| ratio.lower),
        upper: ratio.map(|ratio| ratio.upper),
        note: Some(twin.statement.clone()),
    }
}

pub(crate) fn contrast(found: &verdict::ContrastVerdict) -> page::PageContrast {
    page::PageContrast {
        candidate: found.candidate.clone(),
        baseline: found.baseline.clone(),
        input: found.input.clone(),
        compiler: found.compiler.clone(),
        flags: found.flags.clone(),
        axis: found.between().axis(),
        against: found.against.clone(),
        as_built: found.as_built,
        code: found.code,
        placement_ratio: found.placement_ratio,
        verdict: found.verdict,
        proven: found.proven,
        as_built_says: found.as_built_says,
        causes: found.causes.clone(),
        modes: found.modes.clone(),
        reasons: found.reasons.clone(),
        rotations: found.rotations as u32,
        rotations_lost: found.rotations_lost as u32,
        rotations_needed: found.rotations_needed,
        seconds_needed: found.seconds_needed,
        minimum_detectable_effect: found.minimum_detectable_effect,
    }
}

pub(super) fn dependence(
    found: &verdict::InputDependence,
    judged: &CampaignVerdicts,
) -> Option<page::InputDependentContrast> {
    let flips = found.dependence?;
    let size = |input: &String| {
        let contrast = judged.judgement.contrasts.iter().find(|contrast| {
            &contrast.input == input
                && contrast.candidate == found.candidate
                && contrast.compiler == found.compiler
                && contrast.flags == found.flags
                && contrast.against == found.against
        });
        contrast.and_then(|contrast| contrast.code).map_or(0.0, |code| code.ratio.ln().abs())
    };
    let largest_first = |inputs: &[String]| {
        let mut sorted = inputs.to_vec();
        sorted.sort_by(|a, b| size(b).total_cmp(&size(a)));
        sorted
    };
    Some(page::InputDependentContrast {
        candidate: found.candidate.clone(),
        baseline: found.baseline.clone(),
        compiler: found.compiler.clone(),
        flags: found.flags.clone(),
        against: found.against.clone(),
        flips,
        favours_candidate: largest_first(&found.faster),
        favours_baseline: largest_first(&found.slower),
        note: found.statement.clone(),
    })
}
