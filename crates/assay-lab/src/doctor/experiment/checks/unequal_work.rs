//! Is each iteration the same work? Instructions of calls one after another on the same bytes, and of windows beside each
//! other.

use super::hoisted_work::is_hoisted;
use super::{Found, Looked, found_or_well, nothing_examined};
use crate::doctor::experiment::facts::{Cell, Facts, Work};
use assay_pure::stats::quantile::quantile;

/// A settled call that executes less than this share of the first has found something done.
const DONE_BEFORE: f64 = 0.9;
/// A last call that executes more than this times the second has found something left behind.
const GREW: f64 = 1.05;
/// Instructions that must be between them, or a branch more or less decides.
const LEAST: u64 = 256;
/// The upper decile of windows over the lower one from which on they are unequal.
const UNEQUAL: f64 = 1.5;
/// Fewer windows of one size have no deciles.
pub const FEWEST_WINDOWS: usize = 8;
/// A sample of so many windows averages over them.
const AVERAGED: u64 = 16;

const FIRST: (&str, &str) = (
    "Samples are of later iterations: what is timed is the work on data that an earlier one has already worked on (a sorted \
     list sorted again), not the question.",
    "give each iteration fresh data: work on a copy that is made in the call, in all variants alike, and subtract nothing",
);
const GROWS: (&str, &str) = (
    "The later a sample is taken, the longer it takes: the figure depends on how often the lab calls.",
    "free or reset in the call what the call leaves behind, or make the state anew per call",
);
const WINDOWS: (&str, &str) = (
    "Samples that hold few calls then differ by their windows, not by the machine, and more of them are needed for the same \
     certainty.",
    "make windows larger (window_units), so that each holds the same mix, or a kind of input for each kind of work",
);

pub fn look(facts: &Facts) -> Looked {
    if let Some(reason) = &facts.not_traced {
        return Looked::CannotTell(reason.clone());
    }
    if facts.cells.iter().all(|cell| cell.work.is_none()) {
        return nothing_examined();
    }
    let mut found = Vec::new();
    for cell in facts.cells.iter().filter(|cell| !is_hoisted(cell)) {
        let Some(work) = &cell.work else { continue };
        found.extend(grows(work).map(|saw| Found::of(facts, cell, saw, GROWS)));
        found.extend(done_before(work).map(|saw| Found::of(facts, cell, saw, FIRST)));
        found.extend(unequal_windows(cell, work).map(|saw| Found::of(facts, cell, saw, WINDOWS)));
    }
    found_or_well(found, None)
}

fn grows(work: &Work) -> Option<String> {
    let later = work.passes.get(1..).filter(|later| later.len() >= 3)?;
    let rises = later.windows(2).all(|pair| pair[1] > pair[0]);
    let (second, last) = (*later.first()?, *later.last()?);
    let much = last as f64 > GREW * second as f64 && last - second >= LEAST;
    (rises && much)
        .then(|| format!("calls on the same bytes execute ever more instructions: {}", list(&work.passes)))
}

fn done_before(work: &Work) -> Option<String> {
    let fell = |passes: &[u64]| {
        let (first, last) = (*passes.first()?, *passes.last()?);
        // Falling once: what goes on falling is a state that shrinks, and told all the same.
        Some(first >= last + LEAST && (last as f64) < DONE_BEFORE * first as f64)
    };
    let again = fell(&work.other).or_else(|| fell(&work.half))?;
    (fell(&work.passes)? && again).then(|| {
        format!(
            "the first call on some bytes executes {} instructions and later ones {}; on other bytes it begins anew",
            work.passes[0],
            work.passes[work.passes.len() - 1]
        )
    })
}

fn unequal_windows(cell: &Cell, work: &Work) -> Option<String> {
    let sample = cell.sample.filter(|sample| sample.iterations < AVERAGED)?;
    let most = work.windows.iter().map(|(units, _)| *units).max()?;
    let full = work.windows.iter().filter(|(units, _)| *units == most && *units > 0);
    let each: Vec<f64> = full.map(|(units, instructions)| *instructions as f64 / *units as f64).collect();
    if each.len() < FEWEST_WINDOWS {
        return None;
    }
    let (low, high) = (quantile(&each, 0.1)?, quantile(&each, 0.9)?);
    (low > 0.0 && high > UNEQUAL * low).then(|| {
        format!(
            "windows of {most} units execute {low:.1} to {high:.1} instructions per unit, and a sample holds {} of them",
            sample.iterations
        )
    })
}

fn list(passes: &[u64]) -> String {
    passes.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}
