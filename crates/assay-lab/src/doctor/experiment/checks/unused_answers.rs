//! Does the answer depend on the input? It is what proves that the work was done, and what keeps it from being dropped.

use super::{Found, Looked, found_or_well, nothing_examined};
use crate::doctor::experiment::facts::{Cell, Facts};
use std::collections::{BTreeMap, BTreeSet};

const WHY: &str = "Answers are the proof that variants do the same work, and the reason for the compiler to do it at all. One \
that is always the same proves nothing.";
const REMEDY: &str = "return something that every unit goes into (a sum, a hash, a count of what was found); in a loop give it \
to assay_answer and each result to assay_use";

pub fn look(facts: &Facts) -> Looked {
    if facts.cells.is_empty() {
        return nothing_examined();
    }
    let mut by_program: BTreeMap<(&str, &str), Vec<&Cell>> = BTreeMap::new();
    for cell in facts.cells.iter().filter(|cell| cell.answers.is_some()) {
        by_program.entry((&cell.variant, &cell.build)).or_default().push(cell);
    }
    let mut found = Vec::new();
    let mut judged = 0;
    for cells in by_program.values() {
        let all = || cells.iter().filter_map(|cell| cell.answers.as_ref());
        let answers: Vec<u64> =
            all().flat_map(|answers| [Some(answers.whole), answers.half, answers.other]).flatten().collect();
        if answers.len() < 2 {
            continue;
        }
        judged += 1;
        let distinct: BTreeSet<u64> = answers.iter().copied().collect();
        if distinct.len() == 1 {
            let saw = format!(
                "its answer is {:016x} on all of {} inputs and pieces of them with other bytes or another size",
                answers[0],
                answers.len()
            );
            let mut one = Found::of(facts, cells[0], saw, (WHY, REMEDY));
            one.inputs = cells.iter().map(|cell| facts.inputs[cell.input].name.clone()).collect();
            found.push(one);
        }
    }
    if judged == 0 {
        let reason = "there is one input, of which no other bytes of the same kind are known";
        return Looked::CannotTell(reason.to_owned());
    }
    found_or_well(found, None)
}
