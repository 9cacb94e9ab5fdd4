//! Is the work done at all, in each call, in a time that is possible, and does the answer prove it?

use super::in_cells;
use crate::examine::check::{Advice, CheckFinding, CheckOutcome, FindingPlace};
use crate::examine::facts::{ExecutedCounts, ExperimentFacts, TracedCell};
use assay_pure::protocol::VariantKind;
use assay_pure::words::{count, plural, time};
use std::collections::{BTreeMap, BTreeSet};

/// Instructions per further unit below which work does not depend on the size. A vector of 64 bytes takes one for as many
/// units; a string instruction, which counts as one however long it is, is detected by its time.
const FLAT_INSTRUCTIONS: f64 = 1.0 / 1024.0;
/// Instructions of an iteration that only count it: one that counts and one that jumps back.
const EMPTY_ITERATION: f64 = 2.0;
/// Nanoseconds per further byte below which nothing was read: three loads of 64 bytes in each cycle of 5 GHz are 960 bytes.
const FLAT_NS: f64 = 0.001;
/// Bytes that the piece must have more than its half, or jitter decides; shorter calls say nothing about loads.
const LEAST_BYTES: f64 = 1024.0;
/// Units that it must have more.
const LEAST_UNITS: f64 = 16.0;
/// A settled call that executes at most this share of the first one remembers its answer.
const REMEMBERED: f64 = 0.1;
/// Instructions per further unit, ahead of a region, that are work on the input.
const AHEAD: f64 = 0.1;
/// A first call of fewer instructions has no work to remember.
const LEAST: u64 = 256;
/// Bytes per nanosecond that no core loads: three loads of 64 bytes in each cycle of 5 GHz are 960.
const MOST_BYTES: f64 = 1000.0;
/// Instructions per nanosecond that no core retires: eight in each cycle of 6 GHz.
const MOST_INSTRUCTIONS: f64 = 48.0;

const DEAD_CODE: Advice = Advice::new(
    "The compiler may remove code whose result is not used; the time is then that of an empty call.",
    "make the answer depend on every unit (return a sum, or pass each result to assay_use), and keep what the compiler knows in \
     advance out of the measured call",
);
const ONLY_THE_FIRST: &str = "The time is divided by all calls, and only the first did the work.";
const OUT_OF_LOOP: Advice = Advice::new(
    ONLY_THE_FIRST,
    "make each iteration depend on something that the compiler cannot see through: read the input behind assay_clobber(), or use \
     the last iteration's result",
);
const CACHED: Advice = Advice::new(
    ONLY_THE_FIRST,
    "remove what is kept from call to call, or clear it inside the measured call if the uncached case is the question",
);
const PREPARED: Advice = Advice::new(
    ONLY_THE_FIRST,
    "in `prepare`, only make the state that calls start from, and do the measured work in the call",
);
const SUB_CYCLE: Advice = Advice::new(
    "A time per unit below a fraction of a cycle means that not every unit was processed: the divisor is wrong, or work was \
     removed.",
    "process all given units in one call or iteration: the time is divided by all of them",
);
const UNUSED_ANSWERS: Advice = Advice::new(
    "Answers prove that variants do the same work, and keep the compiler from removing it. One that never changes proves nothing.",
    "return something that every unit contributes to (a sum, a hash, a count of matches); in a loop pass it to assay_answer, and \
     each result to assay_use",
);

/// Does the code under test do anything? Its time, its instructions and what it loads, compared with the size of its input.
pub fn dead_code(facts: &ExperimentFacts) -> CheckOutcome {
    if facts.cells.iter().all(|cell| death(facts, cell).is_none()) {
        return CheckOutcome::cannot_tell(
            "the inputs have one unit each, and the kernel does not report which pages were read",
        );
    }
    in_cells(facts, |cell| {
        let evidence = death(facts, cell).filter(|evidence| !evidence.is_empty() && !is_hoisted(cell))?;
        Some((format!("a call {}", evidence.join("; ")), DEAD_CODE))
    })
}

/// Whether nothing of a cell's work is left.
pub fn is_dead(facts: &ExperimentFacts, cell: &TracedCell) -> bool {
    death(facts, cell).is_some_and(|evidence| !evidence.is_empty())
}

/// The evidence for dead code, what a call does, empty if what is known speaks against it; none where nothing is known.
fn death(facts: &ExperimentFacts, cell: &TracedCell) -> Option<Vec<String>> {
    let unread = cell
        .pages
        .filter(|_| cell.kind != Some(VariantKind::Prepared))
        .map(|pages| (pages.read == 0, pages.of));
    let flat_work = flat_work(cell);
    let flat_time = flat_time(cell);
    let iteration = cell.work.as_ref().and_then(|work| work.per_iteration);
    let empty = iteration.filter(|instructions| *instructions <= EMPTY_ITERATION);
    let is_dead = match (unread, flat_work, flat_time) {
        _ if empty.is_some() => true,
        (None, None, None) => return None,
        (Some((true, _)), ..) => true,
        (_, Some(work), Some(time)) => work && time,
        (_, Some(one), None) | (_, None, Some(one)) => one,
        (_, None, None) => false,
    };
    let mut said = Vec::new();
    if !is_dead {
        return Some(said);
    }
    // However right the answer: it was got outside of the loop.
    if let Some(instructions) = empty {
        said.push(format!("executes {instructions:.0} instructions per iteration, which only count it"));
    }
    if let Some((true, pages)) = unread {
        said.push(format!("reads none of the input's {}", plural(pages, "page")));
    }
    if let (Some(true), Some(work)) = (flat_work, &cell.work) {
        let sizes = work.sizes;
        said.push(format!(
            "executes {} instructions on {} and {} on {}",
            count(work.settled().unwrap_or(0)),
            plural(sizes.units, &facts.unit),
            count(work.half.last().copied().unwrap_or(0)),
            count(sizes.half_units)
        ));
    }
    if let (Some(true), Some(times)) = (flat_time, cell.times) {
        said.push(format!(
            "takes {} on {} and {} on {}",
            time(times.ns),
            plural(times.sizes.bytes, "byte"),
            time(times.half_ns),
            count(times.sizes.half_bytes)
        ));
    }
    Some(said)
}

/// Whether the instructions of a call do not depend on the input's size.
fn flat_work(cell: &TracedCell) -> Option<bool> {
    let work = cell.work.as_ref().filter(|work| work.sizes.more_units() >= LEAST_UNITS)?;
    // What shrinks as the input grows depends on something else, a state that is left behind, and is no dead code.
    work.per_more_unit().map(|more| more.abs() < FLAT_INSTRUCTIONS)
}

/// Whether the time of a call does not depend on the input's size.
fn flat_time(cell: &TracedCell) -> Option<bool> {
    let times = cell.times.filter(|times| times.sizes.more_bytes() >= LEAST_BYTES)?;
    times.per_more_byte().map(|ns| ns.abs() < FLAT_NS)
}

/// Is the work done in every call, or once before them? Instructions of a call when nothing is new, compared with those of the first
/// call and those ahead of the region.
pub fn hoisted_work(facts: &ExperimentFacts) -> CheckOutcome {
    let found = in_cells(facts, |cell| {
        let advice = match cell.kind {
            Some(VariantKind::Loop) => OUT_OF_LOOP,
            Some(VariantKind::Prepared) => PREPARED,
            _ => CACHED,
        };
        Some((hoisted(cell)?, advice))
    });
    match (found, &facts.not_traced) {
        (CheckOutcome::Clear(_), Some(reason)) => CheckOutcome::cannot_tell(reason),
        (found, _) => found,
    }
}

/// Whether the work of a cell is done elsewhere than in its calls.
pub fn is_hoisted(cell: &TracedCell) -> bool {
    hoisted(cell).is_some()
}

fn hoisted(cell: &TracedCell) -> Option<String> {
    let Some(work) = &cell.work else { return read_ahead(cell) };
    let ahead = || ahead_per_unit(work).filter(|ahead| *ahead >= AHEAD);
    // A string instruction is one however long it is: its time tells.
    let grows = flat_time(cell) == Some(false);
    if let (Some(true), false, Some(ahead)) = (flat_work(cell), grows, ahead()) {
        return Some(format!(
            "an iteration executes {} instructions whatever the size of the input, and {ahead:.1} per unit are executed outside of \
             the loop",
            count(work.settled()?)
        ));
    }
    let first_of = |passes: &[u64]| Some((*passes.first()?, *passes.last()?));
    let remembers =
        |(first, settled): (u64, u64)| first >= LEAST && settled as f64 <= REMEMBERED * first as f64;
    let (first, settled) = first_of(&work.passes)?;
    // New data are work again: else it was a set-up that every program has.
    let again = first_of(&work.other).or_else(|| first_of(&work.half)).is_some_and(remembers);
    (remembers((first, settled)) && again).then(|| {
        format!(
            "the first call on an input executes {} instructions, later ones {}: they reuse its result",
            count(first),
            count(settled)
        )
    })
}

/// A loop of the program's own whose time does not grow with its input, which is read all the same: what reads it is not timed.
fn read_ahead(cell: &TracedCell) -> Option<String> {
    let is_read = cell.pages.is_some_and(|pages| pages.read > 0);
    let is_loop = cell.kind == Some(VariantKind::Loop);
    let times = cell.times.filter(|_| is_loop && is_read && flat_time(cell) == Some(true))?;
    Some(format!(
        "an iteration takes {} on {} and {} on {}, and the input is read all the same",
        time(times.ns),
        plural(times.sizes.bytes, "byte"),
        time(times.half_ns),
        count(times.sizes.half_bytes)
    ))
}

/// Instructions ahead of the region per unit that the piece has more than its half.
fn ahead_per_unit(work: &ExecutedCounts) -> Option<f64> {
    let (whole, half) = work.ahead?;
    let more = work.sizes.more_units();
    (more > 0.0).then(|| (whole as f64 - half as f64) / more)
}

/// Is a time shorter than the work can take? Bytes and instructions per nanosecond, compared with what no processor reaches.
pub fn sub_cycle(facts: &ExperimentFacts) -> CheckOutcome {
    in_cells(facts, |cell| Some((too_fast(facts, cell)?, SUB_CYCLE)))
}

/// Why a cell is too fast to be true, if it is.
pub fn too_fast(facts: &ExperimentFacts, cell: &TracedCell) -> Option<String> {
    let sample = cell.sample.as_ref().filter(|sample| sample.bytes >= LEAST_BYTES && sample.units > 0.0);
    if let Some(sample) = sample {
        let rate = sample.bytes / sample.call_ns.max(1e-3);
        if rate > MOST_BYTES {
            return Some(format!(
                "{:.5} ns per {} are {} bytes per nanosecond, and no core loads more than {}",
                sample.call_ns / sample.units,
                facts.unit,
                count(rate as u64),
                count(MOST_BYTES as u64)
            ));
        }
    }
    let (work, times) = (cell.work.as_ref()?, cell.times?);
    let rate = work.settled()? as f64 / times.ns.max(1e-3);
    (rate > MOST_INSTRUCTIONS).then(|| {
        format!(
            "{rate:.0} instructions per nanosecond, and no core retires more than {MOST_INSTRUCTIONS:.0}: what is timed is not \
             what was traced"
        )
    })
}

/// Does the answer depend on the input? It proves that the work was done, and keeps it from being removed.
pub fn unused_answers(facts: &ExperimentFacts) -> CheckOutcome {
    let mut by_program: BTreeMap<(&str, &str), Vec<&TracedCell>> = BTreeMap::new();
    for cell in facts.cells.iter().filter(|cell| cell.answers.is_some()) {
        by_program.entry((&cell.variant, &cell.build)).or_default().push(cell);
    }
    let mut found = Vec::new();
    let mut judged = 0;
    for cells in by_program.values() {
        let all = cells.iter().filter_map(|cell| cell.answers.as_ref());
        let answers: Vec<u64> =
            all.flat_map(|answers| [Some(answers.whole), answers.half, answers.other]).flatten().collect();
        if answers.len() < 2 {
            continue;
        }
        judged += 1;
        let distinct: BTreeSet<u64> = answers.iter().copied().collect();
        if distinct.len() == 1 {
            let saw = format!(
                "the answer is {:016x} on all {} inputs and pieces of them, although bytes and sizes differ",
                answers[0],
                answers.len()
            );
            let mut place = facts.place(cells[0]);
            if let FindingPlace::Experiment { inputs, .. } = &mut place {
                *inputs = cells.iter().map(|cell| facts.inputs[cell.input].name.clone()).collect();
            }
            found.push(CheckFinding::new(place, saw, UNUSED_ANSWERS));
        }
    }
    if judged == 0 {
        return CheckOutcome::cannot_tell("there is one input, and no other bytes of its kind can be made");
    }
    CheckOutcome::found_or(found, None)
}
