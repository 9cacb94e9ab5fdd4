//! Verdicts as they are shown: the words of the page for those of the statistics.

use crate::campaign::judge::Judged;
use assay_pure::verdict;
use assay_report::page;

pub(crate) fn twin_of(twin: &verdict::TwinControl) -> page::TwinControl {
    let different = twin.groups.iter().filter(|group| group.verdict == verdict::TwinVerdict::Different);
    let worst = different
        .filter_map(|group| group.ratio)
        .max_by(|a, b| a.ratio.ln().abs().total_cmp(&b.ratio.ln().abs()));
    let ratio = worst.or(twin.ratio);
    page::TwinControl {
        verdict: match twin.verdict {
            verdict::TwinVerdict::Equivalent => page::TwinVerdict::Equivalent,
            verdict::TwinVerdict::Undecided => page::TwinVerdict::Undecided,
            verdict::TwinVerdict::Different => page::TwinVerdict::Different,
        },
        ratio: ratio.map(|ratio| ratio.ratio),
        lower: ratio.map(|ratio| ratio.lower),
        upper: ratio.map(|ratio| ratio.upper),
        note: Some(twin.statement.clone()),
    }
}

fn verdict_word(verdict: verdict::Verdict) -> page::Verdict {
    match verdict {
        verdict::Verdict::Faster => page::Verdict::Faster,
        verdict::Verdict::Slower => page::Verdict::Slower,
        verdict::Verdict::Equivalent => page::Verdict::Equivalent,
        verdict::Verdict::Inconclusive => page::Verdict::Inconclusive,
    }
}

pub(crate) fn contrast(found: &verdict::ContrastVerdict) -> page::Contrast {
    page::Contrast {
        candidate: found.candidate.clone(),
        baseline: found.baseline.clone(),
        input: found.input.clone(),
        compiler: found.compiler.clone(),
        flags: found.flags.clone(),
        axis: axis(found.between().axis()),
        against: found.against.as_ref().map(build),
        as_built: found.as_built.map(effect),
        code: found.code.map(effect),
        placement_ratio: found.placement_ratio,
        verdict: verdict_word(found.verdict),
        as_built_says: found.as_built_says.map(|says| match says {
            verdict::AsBuiltSays::Confirmed => page::AsBuiltSays::Confirmed,
            verdict::AsBuiltSays::Ghost => page::AsBuiltSays::Ghost,
            verdict::AsBuiltSays::Inflated => page::AsBuiltSays::Inflated,
            verdict::AsBuiltSays::Deflated => page::AsBuiltSays::Deflated,
            verdict::AsBuiltSays::Masked => page::AsBuiltSays::Masked,
            verdict::AsBuiltSays::Reversed => page::AsBuiltSays::Reversed,
        }),
        causes: found.causes.iter().map(cause).collect(),
        reasons: found.reasons.clone(),
        rotations: found.rotations as u32,
        rotations_needed: found.rotations_needed,
        seconds_needed: found.seconds_needed,
        minimum_detectable_effect: found.minimum_detectable_effect,
    }
}

pub(crate) fn cause(found: &verdict::cause::CauseEvidence) -> page::Cause {
    use verdict::cause::Cause;
    page::Cause {
        cause: match found.cause {
            Cause::Placement => page::CauseKind::Placement,
            Cause::IdenticalCode => page::CauseKind::IdenticalCode,
            Cause::Work => page::CauseKind::Work,
            Cause::Prediction => page::CauseKind::Prediction,
            Cause::Input => page::CauseKind::Input,
            Cause::Memory => page::CauseKind::Memory,
            Cause::CodegenDrift => page::CauseKind::CodegenDrift,
            Cause::Noise => page::CauseKind::Noise,
            Cause::Build => page::CauseKind::Build,
        },
        share: found.share,
        evidence: found.evidence.clone(),
    }
}

fn effect(ratio: verdict::RatioInterval) -> page::Effect {
    page::Effect { ratio: ratio.ratio, lower: ratio.lower, upper: ratio.upper }
}

/// An axis as shown.
pub fn axis(axis: assay_pure::experiment::Axis) -> page::Axis {
    use assay_pure::experiment::Axis;
    match axis {
        Axis::Variant => page::Axis::Variant,
        Axis::Compiler => page::Axis::Compiler,
        Axis::Flags => page::Axis::Flags,
    }
}

fn build(build: &verdict::Build) -> page::Build {
    page::Build { compiler: build.compiler.clone(), flags: build.flags.clone() }
}

pub(super) fn dependence(found: &verdict::InputDependence, judged: &Judged) -> Option<page::InputDependence> {
    let flips = match found.dependence {
        verdict::Dependence::Sign => page::Flips::Sign,
        verdict::Dependence::Size => page::Flips::Size,
        verdict::Dependence::None => return None,
    };
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
    Some(page::InputDependence {
        candidate: found.candidate.clone(),
        baseline: found.baseline.clone(),
        compiler: found.compiler.clone(),
        flags: found.flags.clone(),
        against: found.against.as_ref().map(build),
        flips,
        favours_candidate: largest_first(&found.faster),
        favours_baseline: largest_first(&found.slower),
        note: found.statement.clone(),
    })
}
