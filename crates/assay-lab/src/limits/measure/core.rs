//! The clock's frequency, what instructions take, what a misprediction costs.

use super::LimitsSession;
use crate::limits::window;
use anyhow::Result;
use assay_linux::branch_timing::{self, TimingEffort};
use assay_linux::limits::instructions::{self, InstructionLoop, Shows};
use assay_pure::limits::{ClockBehaviour, Cost, LimitFigure, MemorisedOutcomes, cost};
use assay_pure::stats::penalty::penalty;
use assay_pure::stats::predictor_memory::memory;
use assay_pure::stats::quantile::median;
use std::time::{Duration, Instant};

/// How long the processor is left idle before its first millisecond, how often.
const IDLE: Duration = Duration::from_millis(80);
const STARTS: usize = 5;
/// How long it is kept busy then: longer than a governor takes to make up its mind.
const WARM: Duration = Duration::from_millis(60);
/// Sweeps over what the predictor memorises, at most.
const SWEEPS: usize = TimingEffort::USUAL.sweeps;

/// The first millisecond after being idle; what the clock does later is watched all along.
pub fn clock(session: &mut LimitsSession) -> Result<()> {
    if window::add_chain().is_none() {
        return Ok(());
    }
    let mut firsts = Vec::new();
    for start in 0..STARTS {
        session.tell("clock frequency", start as f64 / STARTS as f64)?;
        std::thread::sleep(IDLE);
        let woken = Instant::now();
        let mut first = Vec::new();
        while woken.elapsed() < Duration::from_millis(1) {
            first.extend(session.meter.cycle());
        }
        firsts.extend(median(&first));
        while woken.elapsed() < WARM {
            let ns = session.meter.cycle();
            session.meter.cycles.extend(ns);
        }
    }
    let placeholder = LimitFigure::of(&session.meter.cycles);
    session.limits.clock = placeholder.map(|cycle_ns| ClockBehaviour {
        cycle_ns,
        first_ns: median(&firsts),
        fastest_ns: cycle_ns.lower,
        slowest_ns: cycle_ns.upper,
    });
    Ok(())
}

/// All loops of instructions, then mispredictions.
pub fn instructions(session: &mut LimitsSession) -> Result<()> {
    let loops = instructions::all();
    let mut best: Option<(LimitFigure, &InstructionLoop)> = None;
    for (at, own) in loops.iter().enumerate() {
        session.tell("instructions", 0.5 * at as f64 / loops.len() as f64)?;
        let turns = session.meter.enough(|turns| {
            std::hint::black_box(own.run(turns));
        });
        let ns_per_turn = session.meter.repeat(turns as f64, || {
            std::hint::black_box(own.run(turns));
        });
        let per = |count: u64| {
            let values: Vec<f64> = ns_per_turn.iter().map(|ns| ns / count as f64).collect();
            LimitFigure::of(&values)
        };
        if let Some(each) = per(own.instructions)
            && best.is_none_or(|(known, _)| each.median < known.median)
        {
            best = Some((each, own));
        }
        if let (Some(name), Some(ns)) = (name(own.shows), per(own.per_turn)) {
            session.limits.costs.push(Cost { name: name.to_owned(), ns, how: how(own) });
        }
    }
    if let Some((ns, own)) = best {
        let how = format!("the fastest of {} loops: {}", loops.len(), own.repeats);
        session.limits.costs.insert(0, Cost { name: cost::INSTRUCTION.to_owned(), ns, how });
    }
    mispredictions(session)
}

fn name(shows: Shows) -> Option<&'static str> {
    match shows {
        // A cycle by definition: it is the clock.
        Shows::DependentAdd | Shows::Width => None,
        Shows::IndependentAdd => Some(cost::ADD),
        Shows::DependentMultiply => Some(cost::MULTIPLY),
        Shows::StoreLoad => Some(cost::STORE_LOAD),
        Shows::TakenJump => Some(cost::TAKEN),
        Shows::UntakenBranch => Some(cost::UNTAKEN),
        Shows::ShortestLoop => Some(cost::LOOP),
        Shows::Call => Some(cost::CALL),
        Shows::IndirectCall => Some(cost::INDIRECT_CALL),
    }
}

fn how(own: &InstructionLoop) -> String {
    let which = match own.shows {
        Shows::IndependentAdd => "6 chains side by side",
        Shows::DependentMultiply | Shows::StoreLoad => "each needs the one before",
        Shows::TakenJump => "each to the next 16 bytes",
        Shows::UntakenBranch => "conditional, in a row",
        Shows::Call => "to one function of one addition",
        Shows::IndirectCall => "the same through a register, always to one place",
        Shows::DependentAdd | Shows::Width | Shows::ShortestLoop => "nothing else in it",
    };
    format!("{}: {which}", own.repeats)
}

/// What a misprediction costs and what the predictor memorises, by the method of campaigns.
fn mispredictions(session: &mut LimitsSession) -> Result<()> {
    session.tell("mispredictions", 0.5)?;
    let (series, sweeps) =
        if session.meter.late() { (3, 1) } else { (session.effort.windows.min(12), SWEEPS) };
    let effort = TimingEffort { series, pairs: session.effort.windows.min(12), windows: 3, sweeps };
    let watched = &mut session.meter.watched;
    watched.look();
    let timing = match branch_timing::measure(effort, &mut |work| watched.window(work)) {
        Ok(timing) => timing,
        Err(error) => {
            session.limits.notes.push(format!("The misprediction penalty is unknown: {error}."));
            return Ok(());
        }
    };
    session.meter.despite += u64::from(timing.shared > 0);
    let known = memory(&timing.sweeps, timing.fresh_ns());
    session.limits.predictor_memory = Some(MemorisedOutcomes::of(known, timing.sweeps.len()));
    match penalty(&timing.pairs(), 0.05) {
        Ok(found) if found.interval.lower > 0.0 => {
            let ns = LimitFigure {
                median: found.ns,
                lower: found.interval.lower,
                upper: found.interval.upper,
                repeats: found.series as u64,
            };
            let how = "random versus predictable outcomes of a branch".to_owned();
            session.limits.costs.push(Cost { name: cost::MISPREDICTION.to_owned(), ns, how });
        }
        _ => session.limits.notes.push(
            "The misprediction penalty is unknown: too many windows were interrupted, or random outcomes took \
             no longer than predictable ones."
                .to_owned(),
        ),
    }
    Ok(())
}
