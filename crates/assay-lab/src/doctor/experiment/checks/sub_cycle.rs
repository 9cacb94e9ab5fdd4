//! Is a time shorter than the work can take? Bytes and instructions per nanosecond, held against what no processor reaches.

use super::{Found, Looked, found_or_well, nothing_examined};
use crate::doctor::experiment::facts::{Cell, Facts};

/// Bytes per nanosecond that no core loads: three loads of 64 bytes in each cycle of 5 GHz are 960.
const MOST_BYTES: f64 = 1000.0;
/// Instructions per nanosecond that no core retires: eight in each cycle of 6 GHz.
const MOST_INSTRUCTIONS: f64 = 48.0;
/// Shorter calls than of so many bytes say nothing about loads.
const LEAST_BYTES: f64 = 1024.0;

const WORDS: (&str, &str) = (
    "A figure per unit below a fraction of a cycle means that not every unit was worked on: the divisor is wrong, or the \
     work was dropped.",
    "let one call or iteration go through all units that it is given; the lab divides by all of them",
);

pub fn look(facts: &Facts) -> Looked {
    if facts.cells.is_empty() {
        return nothing_examined();
    }
    let found = |cell: &Cell| Some(Found::of(facts, cell, too_fast(facts, cell)?, WORDS));
    found_or_well(facts.cells.iter().filter_map(found).collect(), None)
}

/// By what a cell is too fast to be true.
pub fn too_fast(facts: &Facts, cell: &Cell) -> Option<String> {
    let sample = cell.sample.as_ref().filter(|sample| sample.bytes >= LEAST_BYTES && sample.units > 0.0);
    if let Some(sample) = sample {
        let rate = sample.bytes / sample.call_ns.max(1e-3);
        if rate > MOST_BYTES {
            return Some(format!(
                "{:.5} ns per {}: {rate:.0} bytes per nanosecond, and no core loads more than {MOST_BYTES:.0}",
                sample.call_ns / sample.units,
                facts.unit
            ));
        }
    }
    let (work, times) = (cell.work.as_ref()?, cell.times?);
    let rate = work.settled()? as f64 / times.ns.max(1e-3);
    (rate > MOST_INSTRUCTIONS).then(|| {
        format!(
            "{rate:.0} instructions per nanosecond: what is timed is not what was traced, and no core retires more than \
             {MOST_INSTRUCTIONS:.0}"
        )
    })
}
