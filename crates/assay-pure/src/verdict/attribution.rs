//! What speaks for a cause: the placement, code that is the same, noise, the build; each with its numbers.

use super::build::Side;
use super::cause::{Cause, CauseEvidence};
use super::contrast::{AsBuiltSays, RatioInterval};
use super::decide::DecidedEstimate;
use super::identity::CodeIdentity;
use super::observed::{ObservedContrast, PairAt};
use super::profile::{OffsetEffect, RotationTimes, offset_effects, predicted_placement, rotation_times};
use super::wording::{percent, span};
use crate::placement::layout::LINE_BYTES;
use crate::placement::same_loops::{ENTRY_STEP, SharedLoop};
use crate::stats::margin::Margin;
use crate::words::{fraction, list};

/// ln(as built) = ln(code) + ln(placement).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decomposition {
    /// ln of what the placement adds.
    pub log_placement: f64,
    /// |placement| / (|placement| + |code|); 0 when both are 0.
    pub share: f64,
}

/// Splits the as-built difference.
pub fn decompose(log_as_built: f64, log_code: f64) -> Decomposition {
    let log_placement = log_as_built - log_code;
    let whole = log_placement.abs() + log_code.abs();
    let share = if whole > 0.0 { log_placement.abs() / whole } else { 0.0 };
    Decomposition { log_placement, share }
}

/// The placement as a cause: when it adds more than the margin and more than noise, and other links come near it; or the
/// as-built word is wrong.
pub fn placement(
    contrast: &ObservedContrast,
    as_built: DecidedEstimate,
    code: DecidedEstimate,
    says: Option<AsBuiltSays>,
    margin: Margin,
) -> Option<CauseEvidence> {
    let split = decompose(as_built.estimate, code.estimate);
    let beyond_noise = as_built.interval.disjoint(&code.interval);
    let alone = out_of_range(contrast, as_built.estimate, code.estimate, margin);
    let notable = margin.is_exceeded_by_ln(split.log_placement) && beyond_noise && alone.is_none();
    let word_is_wrong = says.is_some_and(|says| says != AsBuiltSays::Confirmed);
    if !notable && !word_is_wrong {
        return None;
    }
    let mut evidence = format!(
        "as built {} = code {} and placement {}: the placement is {} of it",
        percent(as_built.estimate),
        percent(code.estimate),
        percent(split.log_placement),
        fraction(split.share)
    );
    if !beyond_noise {
        evidence.push_str("; the two intervals overlap, so part of this may be noise");
    }
    if let Some(offsets) = contrast.as_built.as_ref().and_then(|at| offset_evidence(contrast, at)) {
        evidence.push_str(&offsets);
    }
    if let Some(range) = alone {
        evidence.push_str(&format!(
            "; the {} other links allow a difference of {} to {}: something else may have slowed this one, so measure again",
            range.links,
            percent(range.least),
            percent(range.most)
        ));
    }
    Some(CauseEvidence { cause: Cause::Placement, share: Some(split.share), evidence })
}

/// What links can make of the difference, ln.
struct LinkRange {
    links: usize,
    least: f64,
    most: f64,
}

/// The range of the other links, where a difference as built lies far from it: what no place makes is hardly made by where the
/// code lies. The range holds the slowest place of one side together with the fastest of the other, even if no link had both; far is
/// beyond the margin and beyond half of its width.
fn out_of_range(contrast: &ObservedContrast, as_built: f64, code: f64, margin: Margin) -> Option<LinkRange> {
    /// Fewer may have missed a rare place.
    const ENOUGH: usize = 12;
    let effects = |side| -> Vec<f64> {
        let times = rotation_times(contrast, side);
        let of_rotation = |rotation: &RotationTimes| {
            let mean = rotation.mean_ns;
            rotation.by_offset.iter().map(|(_, ns)| (ns / mean).ln()).collect::<Vec<_>>()
        };
        times.iter().flat_map(of_rotation).collect()
    };
    let least_of = |effects: &[f64]| effects.iter().copied().fold(f64::INFINITY, f64::min);
    let most_of = |effects: &[f64]| effects.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (candidate, baseline) = (effects(Side::Candidate), effects(Side::Baseline));
    let links = candidate.len().min(baseline.len());
    let least = code + least_of(&candidate) - most_of(&baseline);
    let most = code + most_of(&candidate) - least_of(&baseline);
    let beyond = (as_built - most).max(least - as_built);
    let is_far = beyond > (most - least) / 2.0 && margin.is_exceeded_by_ln(beyond);
    (links >= ENOUGH && is_far).then_some(LinkRange { links, least, most })
}

/// What the rotations say of the as-built offsets.
fn offset_evidence(contrast: &ObservedContrast, at: &PairAt) -> Option<String> {
    let predicted = predicted_placement(contrast, at).filter(|_| contrast.has_entries())?;
    let (candidate, baseline) = contrast.between().names();
    Some(format!(
        "; as built {candidate} starts at offset {} of its 64-byte line and {baseline} at {}, and over the rotations these offsets alone make {}",
        at.candidate_offset % 64,
        at.baseline_offset % 64,
        percent(predicted)
    ))
}

/// Identical machine code as a cause of whatever was seen.
pub fn identical_code(contrast: &ObservedContrast) -> Option<CauseEvidence> {
    let (candidate, baseline) = contrast.between().names();
    let evidence = match contrast.identity.as_ref()? {
        CodeIdentity::Different | CodeIdentity::SameLoops(_) | CodeIdentity::SameExecution(..) => {
            return None;
        }
        CodeIdentity::SameCode => {
            let evidence = format!(
                "after relocation the machine code of {candidate} and {baseline} is the same: what differs between them is the data that they work on, placement or noise"
            );
            return Some(CauseEvidence { cause: Cause::IdenticalCode, share: None, evidence });
        }
        CodeIdentity::Copies | CodeIdentity::Proven => format!(
            "after relocation the machine code of {candidate} and {baseline}, what it calls and the data that it refers to are the same: any difference between them is placement or noise"
        ),
    };
    Some(CauseEvidence { cause: Cause::IdenticalCode, share: Some(1.0), evidence })
}

/// Loops that are the same in functions that differ: where they lie, and what that makes of the times.
///
/// Input: the contrast, ln of its code effect where there is one. The share is 1 where the loops cannot reach the same places and
/// the times of one side vary by place at least as much as the sides differ; else it is open.
pub fn same_loops(contrast: &ObservedContrast, effect: Option<f64>) -> Option<CauseEvidence> {
    let Some(CodeIdentity::SameLoops(loops) | CodeIdentity::SameExecution(loops, _)) = &contrast.identity
    else {
        return None;
    };
    let largest = loops.iter().max_by_key(|shared| shared.instructions)?;
    let (candidate, baseline) = contrast.between().names();
    let sides = [
        (&candidate, by_loop(contrast, Side::Candidate, largest.second)),
        (&baseline, by_loop(contrast, Side::Baseline, largest.first)),
    ];
    let spread = |places: &[(u64, f64)]| {
        let effects = || places.iter().map(|(_, effect)| *effect);
        effects().fold(0.0, f64::max) - effects().fold(0.0, f64::min)
    };
    let widest = sides.iter().map(|(_, places)| spread(places)).fold(0.0, f64::max);
    let apart = loops.iter().find(|shared| !shared.reaches_the_same(ENTRY_STEP));
    let explained = apart.is_some() && effect.is_some_and(|effect| effect.abs() <= widest);
    let mut evidence = format!(
        "{candidate} and {baseline} execute the same {}, and differ only in what is executed once a call",
        loops_named(loops)
    );
    if let Some(apart) = apart {
        evidence.push_str(&loop_placement(apart, [&candidate, &baseline], explained));
    }
    for (name, places) in &sides {
        let told: Vec<String> =
            places.iter().map(|(place, effect)| format!("{} at {place}", percent(*effect))).collect();
        evidence
            .push_str(&format!("; by where the loop of {name} lies in its 64-byte line: {}", list(&told)));
    }
    Some(CauseEvidence { cause: Cause::SameLoops, share: explained.then_some(1.0), evidence })
}

/// Loops of a function that was changed around them, as a cause of a comparison: where it is unknown how times vary with the place
/// of one function, the share is open. None where all begin at the same places in a line of some placement.
///
/// Input: the function's name; the loops, in the old function and in the new one; the names of the new and of the old build.
pub fn same_loops_of(function: &str, loops: &[SharedLoop], sides: [&str; 2]) -> Option<CauseEvidence> {
    let apart = loops.iter().find(|shared| !shared.reaches_the_same(ENTRY_STEP))?;
    let evidence = format!(
        "{function} was changed around the same {}, in what is executed once a call{}",
        loops_named(loops),
        loop_placement(apart, sides, false)
    );
    Some(CauseEvidence { cause: Cause::SameLoops, share: None, evidence })
}

/// "loop of 7 instructions".
fn loops_named(loops: &[SharedLoop]) -> String {
    match loops {
        [one] => format!("loop of {} instructions", one.instructions),
        several => format!("{} loops", several.len()),
    }
}

/// Where a loop begins in the candidate and in the baseline, and what evens that out.
fn loop_placement(apart: &SharedLoop, [candidate, baseline]: [&str; 2], explained: bool) -> String {
    format!(
        "; a loop begins {} bytes past a multiple of {ENTRY_STEP} in {candidate} and {} in {baseline}, wherever the functions lie: {} \
         loop alignment, which reordering functions cannot change; -falign-loops=64 places both alike",
        apart.second % ENTRY_STEP,
        apart.first % ENTRY_STEP,
        if explained { "the difference is" } else { "a part of the difference may be" }
    )
}

/// The effect of each place in a line on a loop that begins so many bytes behind the entry, by place.
fn by_loop(contrast: &ObservedContrast, side: Side, begins: u64) -> Vec<(u64, f64)> {
    let effects = offset_effects(&rotation_times(contrast, side));
    let of_loop = |effect: &OffsetEffect| ((effect.offset + begins) % LINE_BYTES, effect.log_effect);
    let mut places: Vec<(u64, f64)> = effects.iter().map(of_loop).collect();
    places.sort_by_key(|(place, _)| *place);
    places
}

/// Unoptimised code.
pub fn build(contrast: &ObservedContrast, unoptimised_flags: &[String]) -> Option<CauseEvidence> {
    let sides = [Side::Candidate, Side::Baseline].map(|side| contrast.between().cell(side).flags);
    let flags = sides.into_iter().find(|flags| unoptimised_flags.iter().any(|name| name == flags))?;
    Some(CauseEvidence {
        cause: Cause::Build,
        share: None,
        evidence: format!(
            "the flags \"{flags}\" compile without optimisation: this says nothing about an optimised build"
        ),
    })
}

/// A failed twin control.
pub fn noise(reason: &str, code: Option<RatioInterval>) -> CauseEvidence {
    let measured =
        code.map_or(String::new(), |code| format!(" The code effect measured was {}.", span(&code)));
    CauseEvidence { cause: Cause::Noise, share: None, evidence: format!("{reason}{measured}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_make_the_whole() {
        let split = decompose(0.2, 0.05);
        assert!((split.log_placement - 0.15).abs() < 1e-15);
        assert!((split.share - 0.75).abs() < 1e-12);
        let hidden = decompose(0.0, -0.08);
        assert!((hidden.share - 0.5).abs() < 1e-12);
        assert_eq!(decompose(0.0, 0.0).share, 0.0);
    }

    /// serde serializes a unit variant straight into a formatter.
    struct Name(Cause);

    impl std::fmt::Display for Name {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            serde::Serialize::serialize(&self.0, f)
        }
    }

    #[test]
    fn names_are_kebab_case_in_json() {
        let names = [Cause::IdenticalCode, Cause::CodegenDrift, Cause::Placement];
        assert_eq!(
            names.map(|cause| Name(cause).to_string()),
            ["identical-code", "codegen-drift", "placement"]
        );
    }
}
