//! Does the code under test do anything? Its time, its instructions and what it loads, held against the size of its input.

use super::hoisted_work::is_hoisted;
use super::{Found, Looked, found_or_well, nothing_examined};
use crate::doctor::experiment::facts::{Cell, Facts};
use assay_pure::protocol::Kind;
use assay_report::prose::plural;

/// Instructions per further unit below which work does not depend on the size. A vector of 64 bytes takes one for as many
/// units; a string instruction, which counts as one however long it is, is told by its time.
pub const FLAT_INSTRUCTIONS: f64 = 1.0 / 1024.0;
/// Nanoseconds per further byte below which nothing was read: three loads of 64 bytes in each cycle of 5 GHz are 960 bytes.
pub const FLAT_NS: f64 = 0.001;
/// Bytes that the piece must have more than its half, or jitter decides.
const LEAST_BYTES: f64 = 1024.0;
/// Units that it must have more.
const LEAST_UNITS: f64 = 16.0;

const WORDS: (&str, &str) = (
    "The compiler may drop what nobody needs: then the time is that of an empty call, whatever the code would take.",
    "let the answer depend on every unit (return a sum, or pass each result to assay_use), and keep what is constant to \
     the compiler out of the measured call",
);

pub fn look(facts: &Facts) -> Looked {
    if facts.cells.is_empty() {
        return nothing_examined();
    }
    let mut found = Vec::new();
    let mut judged = 0;
    for cell in &facts.cells {
        let Some(evidence) = evidence(facts, cell) else { continue };
        judged += 1;
        if !evidence.is_empty() && !is_hoisted(cell) {
            found.push(Found::of(facts, cell, evidence.join("; "), WORDS));
        }
    }
    if judged == 0 {
        return Looked::CannotTell(
            "the inputs have one unit each, and the kernel does not tell which pages were read".to_owned(),
        );
    }
    found_or_well(found, None)
}

/// Whether nothing of a cell's work is left.
pub fn is_dead(facts: &Facts, cell: &Cell) -> bool {
    evidence(facts, cell).is_some_and(|evidence| !evidence.is_empty())
}

/// What speaks for dead code, nothing if that which is known speaks against it; none where nothing is known.
fn evidence(facts: &Facts, cell: &Cell) -> Option<Vec<String>> {
    let unread =
        cell.pages.filter(|_| cell.kind != Some(Kind::Prepared)).map(|pages| (pages.read == 0, pages.of));
    let flat_work = flat_work(cell);
    let flat_time = flat_time(cell);
    let is_dead = match (unread, flat_work, flat_time) {
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
    if let Some((true, pages)) = unread {
        said.push(format!("none of the input's {pages} pages was loaded in a call"));
    }
    if let (Some(true), Some(work)) = (flat_work, &cell.work) {
        let sizes = work.sizes;
        said.push(format!(
            "a call executes {} instructions on {} and {} on {}",
            work.settled().unwrap_or(0),
            plural(sizes.units, &facts.unit),
            work.half.last().copied().unwrap_or(0),
            sizes.half_units
        ));
    }
    if let (Some(true), Some(times)) = (flat_time, cell.times) {
        said.push(format!(
            "it takes {:.1} ns on {} bytes and {:.1} on {}",
            times.ns, times.sizes.bytes, times.half_ns, times.sizes.half_bytes
        ));
    }
    Some(said)
}

/// Whether the instructions of a call do not depend on the input's size.
pub fn flat_work(cell: &Cell) -> Option<bool> {
    let work = cell.work.as_ref().filter(|work| work.sizes.more_units() >= LEAST_UNITS)?;
    // What shrinks as the input grows depends on something else, a state that is left behind, and is no dead code.
    work.per_more_unit().map(|more| more.abs() < FLAT_INSTRUCTIONS)
}

/// Whether the time of a call does not depend on the input's size.
pub fn flat_time(cell: &Cell) -> Option<bool> {
    let times = cell.times.filter(|times| times.sizes.more_bytes() >= LEAST_BYTES)?;
    times.per_more_byte().map(|ns| ns.abs() < FLAT_NS)
}
