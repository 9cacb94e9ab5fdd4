//! Do two functions with the same loops execute the same on an input? Each walks through the whole input once, under emulation.
//!
//! Where the loops of both execute the same instructions in the same order on the same addresses, and hardly anything is
//! executed around them, they take the same time wherever a linker puts them, and no measuring is needed to say so.
//! [`assay_pure::placement::same_execution`] says what is compared; here it is done, within a share of the budget, and kept.

use super::converse::{Job, NumberedInput, converse, why};
use crate::campaign::placements::PlacedLink;
use crate::campaign::prepare::PreparedExperiment;
use crate::campaign::scene::Scene;
use crate::campaign::start::StartedPrograms;
use crate::run::worker::{Announced, WalkRequest};
use crate::store::ExecutionRow;
use anyhow::Result;
use assay_pure::ledger::CodeFound;
use assay_pure::placement::layout;
use assay_pure::placement::same_execution::{FollowedCode, followed};
use assay_pure::protocol::VariantKind;
use assay_trace::{FollowedExecution, FollowedRun};
use std::time::{Duration, Instant};

/// The share of the budget that this may take.
const SHARE: f64 = 0.5;
/// What it may take in any case, seconds.
const LEAST_SECONDS: f64 = 1.0;

/// A side of a pair: its variant and what of it is followed.
struct FollowedSide<'a> {
    variant: &'a str,
    code: &'a FollowedCode,
}

/// Follows what has the same loops as the baseline, in the first placed artifact of each group, and keeps what it finds. What cannot
/// be followed, or takes too long, is not kept: it is measured as ever.
///
/// # Errors
/// The ledger cannot be read or written.
pub fn follow(
    prepared: &PreparedExperiment,
    started: &StartedPrograms,
    placed: &[PlacedLink],
    scene: &mut Scene<'_>,
) -> Result<()> {
    if prepared.experiment.measured_only {
        return Ok(());
    }
    let seconds = (SHARE * prepared.experiment.budget_seconds).max(LEAST_SECONDS);
    let deadline = Instant::now() + Duration::from_secs_f64(seconds);
    let baseline = &prepared.experiment.baseline;
    let chosen = started.lineup.one_of_each_code(prepared.baseline());
    for subjects in chosen.iter().filter(|(code, _)| !code.as_built).map(|(_, subjects)| subjects) {
        let Some((&first, others)) = subjects.split_first() else { continue };
        let artifact = &started.lineup.subject(first).artifact;
        let Some(place) = placed.iter().find(|placed| &placed.artifact.hash == artifact) else { continue };
        for &other in others {
            let variant = &started.lineup.subject(other).variant_name;
            let found = scene.ledger.identity(artifact, baseline, variant)?;
            let one = started.lineup.announced(first);
            let (one, other) = (one, started.lineup.announced(other));
            if found.is_some_and(|row| row.verdict == CodeFound::SameLoops) && may_be_followed(one, other) {
                pair(prepared, place, [one, other], deadline, scene)?;
            }
        }
    }
    Ok(())
}

/// What another function has prepared may differ, and so may what is called in another way.
fn may_be_followed(one: &Announced, other: &Announced) -> bool {
    one.kind == other.kind && matches!(one.kind, VariantKind::Call | VariantKind::Loop)
}

/// Follows both sides on each input that is not known yet.
fn pair(
    prepared: &PreparedExperiment,
    place: &PlacedLink,
    [one, other]: [&Announced; 2],
    deadline: Instant,
    scene: &mut Scene<'_>,
) -> Result<()> {
    let artifact = &place.artifact.hash;
    let known = scene.ledger.executions(artifact, &one.name, &other.name)?;
    let is_open = |input: &usize| {
        let ready = &prepared.inputs[*input];
        let (spec, windows) = (&prepared.experiment.inputs[*input], ready.windows.len() as u64);
        let is_known = known.iter().any(|row| row.is_of(&ready.row.digest, windows, spec.window_units));
        spec.usage.is_plain() && !is_known
    };
    let inputs: Vec<usize> = (0..prepared.inputs.len()).filter(is_open).collect();
    let elf = std::fs::read(&place.artifact.path).unwrap_or_default();
    let (Ok(base), Ok(first_code)) = (layout::image_base(&elf), layout::first_code(&elf)) else {
        return Ok(());
    };
    let Ok(Ok([first, second])) = followed(&elf, base + one.entry, base + other.entry) else { return Ok(()) };
    scene.doing("comparing what the loops execute");
    let sides = [
        FollowedSide { variant: &one.name, code: &first },
        FollowedSide { variant: &other.name, code: &second },
    ];
    for input in inputs {
        let half = Instant::now() + deadline.saturating_duration_since(Instant::now()) / 2;
        // One that takes more than half leaves no time for the other.
        let follow = |side, deadline| run(prepared, place, side, first_code, input, deadline, scene);
        let Some(one) = follow(&sides[0], half) else { continue };
        let Some(other) = follow(&sides[1], deadline) else { continue };
        let ready = &prepared.inputs[input];
        scene.ledger.put_execution(&ExecutionRow {
            artifact: artifact.clone(),
            first: sides[0].variant.to_owned(),
            second: sides[1].variant.to_owned(),
            input: ready.row.digest.clone(),
            windows: ready.windows.len() as u64,
            window_units: prepared.experiment.inputs[input].window_units,
            same: (one.digest, one.looped) == (other.digest, other.looped),
            looped: one.looped,
            around: one.around.max(other.around),
        })?;
    }
    Ok(())
}

/// What one side executes on the whole of an input; none where that cannot be told in time.
fn run(
    prepared: &PreparedExperiment,
    place: &PlacedLink,
    side: &FollowedSide<'_>,
    first_code: u64,
    input: usize,
    deadline: Instant,
    scene: &Scene<'_>,
) -> Option<FollowedExecution> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() || assay_linux::interrupt::asked() {
        return None;
    }
    let program = &place.artifact.path;
    let followed = FollowedRun::open(program, side.code, first_code).ok()?;
    let job = Job {
        program,
        variant: side.variant,
        inputs: vec![NumberedInput { number: input, ready: &prepared.inputs[input] }],
        most_units: 0,
        predictors: &[],
        cpu: scene.cpu,
        patience: left.min(scene.patience),
        deadline,
        plugin: None,
        variables: Vec::new(),
    };
    let walked = converse(
        &job,
        followed.prefix(),
        &mut |worker, variant, input| {
            input.load(worker)?;
            let windows = if variant.kind.is_windowed() { input.ready.windows.len() as u64 } else { 1 };
            let all = WalkRequest { input: input.number as u32, window: 0, windows, passes: 1 };
            // Twice: what a function keeps from its first calls shows in the second walk.
            let mut seen = [None, None];
            for walk in &mut seen {
                followed.begin();
                worker.walk(variant.index, &all).map_err(|fault| why(&fault))?;
                *walk = Some(followed.seen());
            }
            Ok(seen)
        },
        &mut || {},
    );
    let [first, second] = walked.done.first().copied().filter(|_| walked.stopped.is_none())?;
    let (first, second) = (first?, second?);
    let is_whole = first.incomplete.is_none() && second.incomplete.is_none();
    // Both must be the same on both sides; a side that does other work in the second walk is measured.
    (is_whole && (first.digest, first.looped) == (second.digest, second.looped)).then_some(second)
}
