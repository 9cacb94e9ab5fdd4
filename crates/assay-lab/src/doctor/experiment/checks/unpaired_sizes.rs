//! Is there a second size to tell what the first one hides? And do all variants get pieces of the same size?

use super::{Found, Looked, found_or_well};
use crate::doctor::experiment::facts::{Facts, Input};
use assay_pure::protocol::Kind;
use assay_report::number;
use std::collections::BTreeSet;

/// Inputs within this factor of each other are of one size.
const ONE_SIZE: u64 = 2;

const ONE: &str = "Caches and predictors hold an input of this size; nothing in the experiment shows how the figures change with \
it, so they are taken for those of every size.";
const PIECES: &str = "A variant that gets a window works on other data than one that gets everything: start and end of a call \
weigh differently, and so do the caches.";

pub fn look(facts: &Facts) -> Looked {
    let mut found: Vec<Found> = pieces(facts).into_iter().collect();
    let with_bytes: Vec<&Input> = facts.inputs.iter().filter(|input| input.bytes > 0).collect();
    if with_bytes.is_empty() {
        return found_or_well(found, Some("the experiment has no input".to_owned()));
    }
    match facts.l2_bytes {
        Some(l2) => found.extend(one_size(&with_bytes, l2)),
        None if found.is_empty() => {
            return Looked::CannotTell(
                "the kernel does not tell how large the second-level cache is".to_owned(),
            );
        }
        None => {}
    }
    found_or_well(found, None)
}

fn one_size(inputs: &[&Input], l2: u64) -> Option<Found> {
    let span = |size: fn(&Input) -> u64| {
        let sizes = inputs.iter().map(|input| size(input));
        Some((sizes.clone().min()?, sizes.max()?))
    };
    let (least_bytes, most_bytes) = span(|input| input.bytes)?;
    let (least_units, most_units) = span(|input| input.units)?;
    let is_one = most_bytes < ONE_SIZE * least_bytes && most_units < ONE_SIZE * least_units;
    (is_one && most_bytes <= l2).then(|| {
        let saw = format!(
            "all inputs have about {}, which the second-level cache ({}) holds",
            number::bytes(most_bytes),
            number::bytes(l2)
        );
        let remedy =
            "add an input of the same kind at another size, several times larger; or sweep its units"
                .to_owned();
        let names = inputs.iter().map(|input| input.name.clone()).collect();
        Found::of_inputs(names, "all inputs".to_owned(), saw, (ONE, remedy))
    })
}

/// Variants that get windows beside others that get the whole input.
fn pieces(facts: &Facts) -> Option<Found> {
    let cut = |cell: &&crate::doctor::experiment::facts::Cell| {
        facts.inputs.get(cell.input).is_some_and(|input| input.windows > 1)
    };
    let names = |wanted: fn(Kind) -> bool| -> BTreeSet<&str> {
        let cells = facts.cells.iter().filter(cut).filter(|cell| cell.kind.is_some_and(wanted));
        cells.map(|cell| cell.variant.as_str()).collect()
    };
    let (windows, whole) = (names(|kind| kind == Kind::Call), names(|kind| kind != Kind::Call));
    (!windows.is_empty() && !whole.is_empty()).then(|| {
        let list = |names: &BTreeSet<&str>| names.iter().copied().collect::<Vec<_>>().join(", ");
        let saw = format!("{} get a window per call, {} the whole input", list(&windows), list(&whole));
        let inputs: BTreeSet<usize> = facts.cells.iter().filter(cut).map(|cell| cell.input).collect();
        let inputs = inputs.into_iter().map(|input| facts.inputs[input].name.clone()).collect();
        let remedy = "window_units = 0, so that every variant gets the whole input".to_owned();
        Found::of_inputs(inputs, "the variants".to_owned(), saw, (PIECES, remedy))
    })
}
