//! Why a verdict is what it is, in plain sentences with their numbers.

use super::build::Side;
use super::cause::Cause;
use super::contrast::{AsBuiltSays, ContrastVerdict, Verdict};
use super::draft::Draft;
use super::identity::CodeIdentity;
use super::observed::ObservedContrast;
use super::options::VerdictOptions;
use super::profile::{offsets_visited, rotation_times, without_slowest_offset};
use super::wording::{more_or_less, percent, span};
use crate::words::{asked, confidence, count, fraction, list, sentence};

/// All reasons of one contrast; `controls` are the reasons of those controls that took the verdict back.
pub(super) fn of(
    contrast: &ObservedContrast,
    found: &ContrastVerdict,
    draft: &Draft,
    options: &VerdictOptions,
    controls: Vec<String>,
) -> Vec<String> {
    let mut reasons = if found.proven { vec![proven(contrast, found)] } else { Vec::new() };
    if !found.proven || draft.effect.is_ok() {
        reasons.push(code(found, draft, options));
    }
    let taken_back = !controls.is_empty();
    reasons.extend(controls);
    if found.verdict == Verdict::Undecided && !taken_back {
        reasons.push(need(found, draft, options));
    }
    reasons.extend(offsets(contrast));
    reasons.extend(as_built(found));
    // The twin control has said its reason already.
    let causes = found.causes.iter().filter(|cause| cause.cause != Cause::Noise);
    reasons.extend(causes.map(|cause| sentence(&cause.evidence)));
    reasons.dedup();
    reasons
}

/// What needs no samples.
fn proven(contrast: &ObservedContrast, found: &ContrastVerdict) -> String {
    let (candidate, baseline) = found.between().names();
    if let Some(CodeIdentity::SameExecution(_, executed)) = &contrast.identity {
        return format!(
            "On the whole input the loops of {candidate} and {baseline} execute the same {} instructions in the same order on the same addresses, so they are equivalent by proof. What either executes around its loops is at most {} of that.",
            count(executed.looped),
            fraction(executed.share())
        );
    }
    format!(
        "{candidate} and {baseline} are the same machine code on the same data, so they are equivalent by proof. The proof covers the functions, what they call and the data of the program that they refer to."
    )
}

/// What the rotations say.
fn code(found: &ContrastVerdict, draft: &Draft, options: &VerdictOptions) -> String {
    let margin = asked(options.margin.relative());
    let (Some(code), Ok(_)) = (&found.code, &draft.effect) else {
        let why = draft.effect.as_ref().err().map_or("no interval".to_string(), |error| error.to_string());
        return format!("The code effect is unknown: {why}.");
    };
    let estimate = more_or_less(code.ratio.ln());
    let (candidate, baseline) = found.between().names();
    let head = format!(
        "Over {} rotations ({} placements) {candidate} takes {estimate} than {baseline}, interval {} at {}",
        found.rotations,
        draft.observations.placements,
        span(code),
        confidence(found.confidence_level)
    );
    match draft.code.map(|judged| judged.verdict) {
        Some(Verdict::Equivalent) => format!("{head}: inside the minimum effect of {margin}."),
        Some(Verdict::Faster | Verdict::Slower) => {
            format!("{head}: it excludes 0 and the estimate is beyond the minimum effect of {margin}.")
        }
        _ if code.log_interval().excludes_zero() => {
            format!("{head}: it excludes 0, but the estimate is within the minimum effect of {margin}.")
        }
        _ => {
            format!("{head}: it neither excludes 0 nor fits inside the minimum effect of {margin}.")
        }
    }
}

/// What it would take.
fn need(found: &ContrastVerdict, draft: &Draft, options: &VerdictOptions) -> String {
    let Some(effect) = draft.effect.as_ref().ok() else {
        return "Measure at least three complete rotations.".to_string();
    };
    let spread = percent(effect.variance.sqrt());
    let spread = spread.trim_start_matches('+');
    let detectable = found.minimum_detectable_effect.map_or(String::new(), |least| {
        format!("effects of {} and more would be found four times in five", fraction(least))
    });
    match (found.rotations_needed, found.seconds_needed) {
        (Some(need), Some(seconds)) => format!(
            "One rotation spreads by {spread}; {detectable}. About {need} rotations in all would decide, {seconds:.0} s more."
        ),
        (Some(need), None) => {
            format!(
                "One rotation spreads by {spread}; {detectable}. About {need} rotations in all would decide."
            )
        }
        (None, _) => format!(
            "One rotation spreads by {spread}; {detectable}. The estimate lies so near the minimum effect of {} that no affordable number of rotations would decide.",
            asked(options.margin.relative())
        ),
    }
}

/// Sides that do not visit each offset equally often, or fewer offsets than there are phases.
fn offsets(contrast: &ObservedContrast) -> Vec<String> {
    let phases = contrast.rotations.iter().map(|rotation| rotation.phases.len()).max().unwrap_or(0);
    let sides = [Side::Candidate, Side::Baseline].map(|side| (side, contrast.between().name(side)));
    let said = sides.into_iter().flat_map(|(side, name)| {
        let visited = offsets_visited(&rotation_times(contrast, side));
        let names: Vec<String> = visited.offsets.iter().map(u64::to_string).collect();
        let uneven = (visited.uneven_rotations > 0).then(|| {
            format!(
                "In {} rotations {name} visits some offsets more often than others: the mean is not quite free of their effect.",
                visited.uneven_rotations
            )
        });
        let fewer = (!names.is_empty() && names.len() < phases && uneven.is_none()).then(|| {
            format!("{name} visits only offset {} of its 64-byte line: it is aligned, or it has no entry of its own.", list(&names))
        });
        [uneven, fewer]
    });
    said.flatten().collect()
}

/// What anybody else would have reported.
fn as_built(found: &ContrastVerdict) -> Option<String> {
    let ratio = found.as_built?;
    let estimate = more_or_less(ratio.ratio.ln());
    let head = format!("As built it takes {estimate}, interval {}", span(&ratio));
    Some(match found.as_built_says {
        Some(AsBuiltSays::Confirmed) => format!("{head}: confirmed."),
        Some(AsBuiltSays::Ghost) => {
            format!(
                "{head}: a ghost, an ordinary benchmark would report a difference that is not in the code."
            )
        }
        Some(AsBuiltSays::Inflated) => {
            format!("{head}: inflated, the code effect is smaller by more than a half of itself.")
        }
        Some(AsBuiltSays::Deflated) => {
            format!("{head}: deflated, the code effect is larger by more than half of it.")
        }
        Some(AsBuiltSays::Masked) => {
            format!("{head}: masked, an ordinary benchmark would miss a difference that is in the code.")
        }
        Some(AsBuiltSays::Reversed) => {
            format!("{head}: reversed, an ordinary benchmark would name the wrong one.")
        }
        None if found.verdict == Verdict::Undecided => {
            format!("{head}: it is not judged while the code effect is undecided.")
        }
        None => format!("{head}: too wide to be compared with the code effect."),
    })
}

/// Identical machine code cannot be faster than itself: a difference beyond the margin contradicts itself.
pub(super) fn identical_contradiction(
    contrast: &ObservedContrast,
    found: &ContrastVerdict,
) -> Option<String> {
    let same = contrast.identity.as_ref().is_some_and(CodeIdentity::excludes_difference);
    let contradicts = same && found.verdict.is_difference();
    contradicts.then(|| {
        format!(
            "The rotations call {} {} than {}, but both are the same machine code: the difference must be placement that the rotations did not even out, so no verdict is given.",
            found.between().name(Side::Candidate),
            found.verdict.word(),
            found.between().name(Side::Baseline)
        )
    })
}

/// A difference that turns its sign without the slowest place of each side is that place's, not the code's: a loop of one
/// side has a branch on a boundary there, and no placement of whole functions evens that out.
pub(super) fn sign_of_one_place(contrast: &ObservedContrast, found: &ContrastVerdict) -> Option<String> {
    let code = found.code.filter(|_| found.verdict.is_difference())?;
    let rest = without_slowest_offset(contrast)?;
    (rest * code.ratio.ln() < 0.0).then(|| {
        let (candidate, baseline) = found.between().names();
        format!(
            "Without each side's slowest offset {candidate} takes {} than {baseline}: the sign depends on one badly aligned loop, so no verdict is given. -falign-loops=64 shows the code alone.",
            more_or_less(rest)
        )
    })
}
