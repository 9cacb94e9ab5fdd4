//! Is the work done in every iteration, or once ahead of them? Instructions of a call when nothing is new, held against those
//! of the first call and those ahead of the region.

use super::dead_code::{flat_time, flat_work};
use super::{Found, Looked, found_or_well, nothing_examined};
use crate::doctor::experiment::facts::{Cell, Facts, Work};
use assay_pure::protocol::Kind;

/// A settled call that executes at most this share of the first one remembers its answer.
const REMEMBERED: f64 = 0.1;
/// Instructions per further unit, ahead of a region, that are work on the input.
const AHEAD: f64 = 0.1;
/// A first call of fewer instructions has no work to remember.
const LEAST: u64 = 256;

const WHY: &str = "The figure is divided by all iterations, and only the first did the work.";
const OUT_OF_LOOP: (&str, &str) = (
    WHY,
    "make each iteration depend on something that the compiler cannot see through: read the input behind \
     assay_clobber(), or let the iteration use the last one's result",
);
const REMEMBERING: (&str, &str) = (
    WHY,
    "remove what is kept from call to call, or clear it inside the measured call if that is what is asked",
);
const PREPARED: (&str, &str) =
    (WHY, "let `prepare` only make the state that calls start from, and do the measured work in the call");

pub fn look(facts: &Facts) -> Looked {
    if let Some(reason) = &facts.not_traced {
        return Looked::CannotTell(reason.clone());
    }
    if facts.cells.iter().all(|cell| cell.work.is_none()) {
        return nothing_examined();
    }
    let said = |cell| Some(Found::of(facts, cell, evidence(cell)?, words(cell)));
    found_or_well(facts.cells.iter().filter_map(said).collect(), None)
}

/// Whether the work of a cell is done elsewhere than in its iterations.
pub fn is_hoisted(cell: &Cell) -> bool {
    evidence(cell).is_some()
}

fn words(cell: &Cell) -> (&'static str, &'static str) {
    match cell.kind {
        Some(Kind::Loop) => OUT_OF_LOOP,
        Some(Kind::Prepared) => PREPARED,
        _ => REMEMBERING,
    }
}

fn evidence(cell: &Cell) -> Option<String> {
    let work = cell.work.as_ref()?;
    let ahead = || ahead_per_unit(work).filter(|ahead| *ahead >= AHEAD);
    // A string instruction is one however long it is: its time tells.
    let grows = flat_time(cell) == Some(false);
    if let (Some(true), false, Some(ahead)) = (flat_work(cell), grows, ahead()) {
        return Some(format!(
            "an iteration executes {} instructions however long the input is, and {ahead:.1} per unit are executed ahead of the first",
            work.settled()?
        ));
    }
    let first_of = |passes: &[u64]| Some((*passes.first()?, *passes.last()?));
    let remembers =
        |(first, settled): (u64, u64)| first >= LEAST && settled as f64 <= REMEMBERED * first as f64;
    let (first, settled) = first_of(&work.passes)?;
    // New data are work again: else it was a set-up that every program has.
    let again = first_of(&work.other).or_else(|| first_of(&work.half)).is_some_and(remembers);
    (remembers((first, settled)) && again).then(|| {
        format!("the first call on an input executes {first} instructions, later ones {settled}: {} calls are not {0} times the work", work.passes.len())
    })
}

/// Instructions ahead of the region per unit that the piece has more than its half.
fn ahead_per_unit(work: &Work) -> Option<f64> {
    let (whole, half) = work.ahead?;
    let more = work.sizes.more_units();
    (more > 0.0).then(|| (whole as f64 - half as f64) / more)
}
