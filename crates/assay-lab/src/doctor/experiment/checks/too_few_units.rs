//! Is a sample long against what the clock itself takes? All variants of an input get one number of calls per sample, so a
//! slow one leaves the fast one with too little.

use super::dead_code::is_dead;
use super::hoisted_work::is_hoisted;
use super::sub_cycle::too_fast;
use super::{Found, Looked, found_or_well, nothing_examined};
use crate::doctor::experiment::facts::{Cell, Facts, Sample};

/// A sample must last so many times what an empty region takes.
const TIMES: f64 = 100.0;

const WHY: &str = "What the clock takes is subtracted, but not known better than to some nanoseconds: in so short a sample it \
is a visible part, and the clock's steps are another.";

pub fn look(facts: &Facts) -> Looked {
    if facts.cells.iter().all(|cell| cell.sample.is_none()) {
        return nothing_examined();
    }
    let mut found = Vec::new();
    let mut shortest = f64::INFINITY;
    for cell in &facts.cells {
        let Some(sample) = cell.sample else { continue };
        let lasts = sample.call_ns * sample.iterations as f64;
        shortest = shortest.min(lasts);
        // What does nothing, or a part, is fast for another reason, and told elsewhere.
        let is_told = is_dead(facts, cell) || is_hoisted(cell) || too_fast(facts, cell).is_some();
        if lasts < needs(&sample) && !is_told {
            found.push(Found::of(facts, cell, said(&sample, lasts), (WHY, &remedy(facts, cell, &sample))));
        }
    }
    found_or_well(found, Some(format!("the shortest sample lasts {:.0} µs", shortest / 1000.0)))
}

fn needs(sample: &Sample) -> f64 {
    TIMES * sample.region_ns
}

fn said(sample: &Sample, lasts: f64) -> String {
    format!(
        "a sample of {} calls lasts {lasts:.0} ns, and an empty region takes {:.0} ns on the same clock",
        sample.iterations, sample.region_ns
    )
}

fn remedy(facts: &Facts, cell: &Cell, sample: &Sample) -> String {
    let slowest = facts
        .cells
        .iter()
        .filter(|other| other.input == cell.input)
        .filter_map(|other| Some((other.sample?.call_ns, other.variant.as_str())));
    let slowest = slowest.max_by(|one, other| one.0.total_cmp(&other.0));
    match slowest.filter(|(ns, _)| *ns > 10.0 * sample.call_ns) {
        Some((ns, variant)) => format!(
            "`{variant}` takes {:.0} µs a call, which sets the number of calls for all: give it an experiment of its own, or \
             make windows smaller for both",
            ns / 1000.0
        ),
        None => "give a call more units (window_units)".to_owned(),
    }
}
