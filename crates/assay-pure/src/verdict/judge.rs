//! All contrasts of an experiment judged together: the error budget is one, and so is the twin control.
//!
//! Method: docs/methodology/verdicts.md. Phases, each a function that returns values: effects of all contrasts; their spreads
//! moderated by each other; levels by Holm within this look's share of the budget; a draft verdict per contrast; the
//! twin control and the rules of code that is the same take back what they do not bear out; then causes and reasons.

use super::attribution::{self, Decomposition};
use super::build::Side;
use super::contrast::{ContrastVerdict, RatioInterval, Verdict};
use super::decide::{DecidedEstimate, as_built_says};
use super::draft::{Draft, draft_all};
use super::identity::CodeIdentity;
use super::input_dependence::{InputDependence, input_cause, input_dependence};
use super::modes;
use super::observed::ObservedContrast;
use super::options::VerdictOptions;
use super::reasons;
use super::same_code::{self, Contradiction};
use super::twin::{TwinControl, TwinVerdict, downgrade, twin_control};
use crate::stats::StatsError;
use crate::stats::moderation::MIN_CONTRASTS;
use crate::stats::rotation::Effect;
use crate::words::{self, plural, sentence};

/// Rotations beyond which an answer is called out of reach.
pub const ROTATION_LIMIT: u32 = 10_000;
/// At the least this share of the rotations to come is thought to be complete, however many were lost.
const LEAST_COMPLETE: f64 = 0.05;

/// Pairs per placement below which it is noted: with four, two spoilt samples carry the median.
pub const FEW_PAIRS: usize = 8;

/// Above this part of disturbed samples the reader is told.
const MUCH_DISTURBED: f64 = 0.1;

/// Rounds below which it is told when there are too few contrasts to borrow from.
pub const FEW_ROUNDS: f64 = 4.0;

/// Everything said of one experiment.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Judgement {
    /// One per contrast, in the order given.
    pub contrasts: Vec<ContrastVerdict>,
    /// What is left where there is no difference.
    pub twin: TwinControl,
    /// Per candidate, compiler and flags: which inputs favour whom.
    pub input_dependence: Vec<InputDependence>,
    /// What changes what the reader should do; a failed twin control comes first of all.
    pub warnings: Vec<String>,
    /// What is true of the measurement and needs nothing done.
    pub notes: Vec<String>,
}

/// Judges all contrasts of an experiment.
///
/// Input: every contrast measured, with usable samples only; the options of this look. Returns: verdicts in the same
/// order, never an error: what cannot be said is `undecided` with a reason. Cost: O(samples · log) plus about a
/// millisecond per contrast. Source: docs/methodology/verdicts.md. Checked: tests/judge.rs, tests/calibration.rs.
pub fn judge(contrasts: &[ObservedContrast], options: &VerdictOptions) -> Judgement {
    let drafts = draft_all(contrasts, options);
    let observed = drafts.iter().map(|draft| &draft.observations);
    let twin = twin_control(contrasts.iter().zip(observed), options);
    let plain: Vec<ContrastVerdict> = contrasts
        .iter()
        .zip(&drafts)
        .map(|(contrast, draft)| without_controls(contrast, draft, options))
        .collect();
    let contradictions: Vec<Contradiction<'_>> = contrasts
        .iter()
        .zip(&plain)
        .filter_map(|(contrast, found)| same_code::contradiction(contrast, found))
        .collect();
    let controls = Controls { twin: &twin, contradictions: &contradictions };
    let mut verdicts: Vec<ContrastVerdict> = plain
        .into_iter()
        .zip(contrasts.iter().zip(&drafts))
        .map(|(found, (contrast, draft))| settle(found, contrast, draft, &controls, options))
        .collect();
    let (mut causes, mut dependence) = (Vec::new(), Vec::new());
    if options.over_inputs {
        causes = verdicts.iter().map(|found| input_cause(found, &verdicts, options.margin)).collect();
        dependence = input_dependence(&verdicts, options.margin);
    }
    for (found, cause) in verdicts.iter_mut().zip(causes) {
        found.reasons.extend(cause.as_ref().map(|cause| sentence(&cause.evidence)));
        found.causes.extend(cause);
    }
    let twin = twin.clone().beside(&verdicts);
    let any_difference = verdicts.iter().any(|found| found.verdict.is_difference());
    let (mut warnings, mut notes) = (warnings(contrasts, &controls, options), notes(&drafts, &twin));
    // An equivalence that a disturbed round helped to would be taken for one anyway; a difference would be acted on.
    if any_difference { &mut warnings } else { &mut notes }.extend(few_rounds(&drafts));
    Judgement { contrasts: verdicts, twin, input_dependence: dependence, warnings, notes }
}

/// What takes verdicts back.
struct Controls<'c> {
    twin: &'c TwinControl,
    contradictions: &'c [Contradiction<'c>],
}

/// The controls, the decomposition, the causes and the reasons of one contrast.
fn settle(
    mut found: ContrastVerdict,
    contrast: &ObservedContrast,
    draft: &Draft,
    controls: &Controls<'_>,
    options: &VerdictOptions,
) -> ContrastVerdict {
    let contradiction = reasons::identical_contradiction(contrast, &found);
    // What lies around the loops was counted, not timed: a measured difference stands.
    let is_refuted =
        matches!(contrast.identity, Some(CodeIdentity::SameExecution(..))) && found.verdict.is_difference();
    found.proven = contrast.is_proven() && contradiction.is_none() && !is_refuted;
    let noise = if found.proven {
        found.verdict = Verdict::Equivalent;
        None
    } else {
        let doubt = || same_code::doubt(contrast, &found, controls.contradictions);
        downgrade(&found, controls.twin).or_else(|| contradiction.is_none().then(doubt).flatten())
    };
    let one_place = reasons::sign_of_one_place(contrast, &found);
    if noise.is_some() || contradiction.is_some() || one_place.is_some() {
        found.verdict = Verdict::Undecided;
    }
    found.decided = found.verdict != Verdict::Undecided;
    let controlled = draft.code.map(|code| DecidedEstimate { verdict: found.verdict, ..code });
    if let (Some(as_built), Some(code)) = (draft.as_built, controlled) {
        found.as_built_says = as_built_says(as_built, code, options.margin);
        found.causes.extend(attribution::placement(
            contrast,
            as_built,
            code,
            found.as_built_says,
            options.margin,
        ));
    }
    found.causes.extend(attribution::identical_code(contrast));
    let same_loops = attribution::same_loops(contrast, found.code.map(|code| code.ratio.ln()));
    found.causes.extend(same_loops.filter(|_| found.verdict != Verdict::Equivalent));
    found.modes = modes::modes_of(contrast, options);
    let by_mode = found.modes.as_ref().map(|modes| modes::cause(contrast, modes, found.code, options));
    found.causes.extend(by_mode);
    found.causes.extend(noise.as_ref().map(|reason| attribution::noise(reason, found.code)));
    found.causes.extend(attribution::build(contrast, &options.unoptimised_flags));
    set_need(&mut found, draft, options);
    found.reasons = reasons::of(
        contrast,
        &found,
        draft,
        options,
        noise.into_iter().chain(contradiction).chain(one_place).collect(),
    );
    found
}

fn without_controls(contrast: &ObservedContrast, draft: &Draft, options: &VerdictOptions) -> ContrastVerdict {
    let ratio = |judged: Option<DecidedEstimate>| {
        judged.map(|found| RatioInterval::from_log(found.estimate, found.interval))
    };
    let split: Option<Decomposition> = draft
        .as_built
        .zip(draft.code)
        .map(|(as_built, code)| attribution::decompose(as_built.estimate, code.estimate));
    let detectable =
        draft.effect.as_ref().ok().and_then(|effect| effect.minimum_detectable(draft.difference_alpha).ok());
    ContrastVerdict {
        candidate: contrast.candidate.clone(),
        baseline: contrast.baseline.clone(),
        input: contrast.input.clone(),
        compiler: contrast.compiler.clone(),
        flags: contrast.flags.clone(),
        against: contrast.against.clone(),
        as_built: ratio(draft.as_built),
        as_built_verdict: draft.as_built.map(|judged| judged.verdict),
        code: ratio(draft.code),
        placement_ratio: split.map(|split| split.log_placement.exp()),
        placement_share: split.map(|split| split.share),
        verdict: draft.code.map_or(Verdict::Undecided, |judged| judged.verdict),
        as_built_says: None,
        causes: Vec::new(),
        reasons: Vec::new(),
        modes: None,
        rotations: draft.observations.ratios.len(),
        rotations_lost: draft.observations.incomplete,
        // The rule also wants the estimate beyond the margin, so nothing smaller can ever be found.
        minimum_detectable_effect: detectable.map(|log| log.exp_m1().max(options.margin.relative())),
        rotations_needed: None,
        seconds_needed: None,
        proven: false,
        decided: false,
        confidence_level: 1.0 - draft.alpha,
    }
}

/// What it would take to decide, at the spread seen: half the width must fit between the estimate and what it must
/// stay clear of (the margin when the estimate lies inside it, 0 when it lies outside).
fn set_need(found: &mut ContrastVerdict, draft: &Draft, options: &VerdictOptions) {
    if found.decided {
        return;
    }
    found.rotations_needed = match &draft.effect {
        Err(StatsError::TooFewRotations { need, .. }) => u32::try_from(*need).ok(),
        Err(_) => None,
        Ok(effect) => {
            let size = effect.estimate.abs();
            let clearance = if size < options.margin.ln() { options.margin.ln() - size } else { size };
            effect
                .rotations_for(clearance, draft.alpha, ROTATION_LIMIT)
                .filter(|need| *need as usize > found.rotations)
        }
    };
    // Of those to come as many will be lost as of those that were.
    let measured = (found.rotations + found.rotations_lost) as f64;
    let complete = if measured > 0.0 { (found.rotations as f64 / measured).max(LEAST_COMPLETE) } else { 1.0 };
    found.seconds_needed = found
        .rotations_needed
        .zip(options.seconds_per_rotation)
        .map(|(need, seconds)| f64::from(need.saturating_sub(found.rotations as u32)) * seconds / complete);
}

/// What changes what the reader should do, each with what to do.
fn warnings(
    contrasts: &[ObservedContrast],
    controls: &Controls<'_>,
    options: &VerdictOptions,
) -> Vec<String> {
    let mut warnings = Vec::new();
    if controls.twin.verdict == TwinVerdict::Different && !contrasts.is_empty() {
        warnings.push(controls.twin.statement.clone());
    }
    warnings.extend(controls.contradictions.iter().map(Contradiction::warning));
    let mut unoptimised: Vec<&str> = contrasts
        .iter()
        .flat_map(|contrast| {
            [Side::Candidate, Side::Baseline].map(|side| contrast.between().cell(side).flags)
        })
        .filter(|flags| options.unoptimised_flags.iter().any(|name| name == flags))
        .collect();
    unoptimised.sort_unstable();
    unoptimised.dedup();
    for flags in unoptimised {
        warnings.push(format!(
            "The flags \"{flags}\" compile without optimisation: add -O2 before believing their times."
        ));
    }
    warnings
}

/// What is true of the measurement and needs nothing done: the verdicts allow for it.
fn notes(drafts: &[Draft], twin: &TwinControl) -> Vec<String> {
    let mut notes = Vec::new();
    if twin.verdict == TwinVerdict::Undecided && !drafts.is_empty() {
        notes.push(twin.statement.clone());
    }
    let disturbed = drafts.iter().map(|draft| draft.observations.disturbed).sum::<f64>();
    let disturbed = disturbed / drafts.len().max(1) as f64;
    if disturbed > MUCH_DISTURBED {
        notes.push(format!(
            "{} of the samples took longer than the others of their code at the same place, and were left out: something else ran beside them.",
            words::fraction(disturbed)
        ));
    }
    let incomplete: usize = drafts.iter().map(|draft| draft.observations.incomplete).sum();
    if incomplete > 0 {
        notes.push(format!(
            "{} lacked usable samples at some placement and {} left out (over all contrasts).",
            plural(incomplete as u64, "rotation"),
            if incomplete == 1 { "was" } else { "were" }
        ));
    }
    let fewest = drafts
        .iter()
        .filter(|draft| !draft.observations.ratios.is_empty())
        .map(|draft| draft.observations.fewest_pairs)
        .min();
    if let Some(fewest) = fewest.filter(|fewest| *fewest < FEW_PAIRS) {
        let pairs = if fewest == 0 {
            "no pair".to_owned()
        } else {
            format!("only {}", plural(fewest as u64, "pair"))
        };
        notes.push(format!(
            "Some placement has {pairs} of samples; with fewer than {FEW_PAIRS}, a few interrupted samples widen the intervals."
        ));
    }
    notes
}

/// What all rotations share in a round shows only between rounds: few of them, and few contrasts, hide it.
fn few_rounds(drafts: &[Draft]) -> Option<String> {
    let effects: Vec<&Effect> = drafts.iter().filter_map(|draft| draft.effect.as_ref().ok()).collect();
    let unknown =
        |effect: &&Effect| !effect.rounds.degrees.is_finite() || effect.rounds.degrees < FEW_ROUNDS - 1.0;
    let hidden = effects.len() < MIN_CONTRASTS && effects.iter().any(unknown);
    hidden.then(|| {
        format!(
            "Fewer than {FEW_ROUNDS} rounds: a disturbance of a whole round may not show in the intervals; measure again, or raise --budget, to confirm a difference."
        )
    })
}
