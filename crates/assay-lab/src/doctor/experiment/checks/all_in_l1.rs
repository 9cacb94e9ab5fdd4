//! Is there any input that the first-level data cache does not hold?

use super::{Found, Looked, found_or_well};
use crate::doctor::experiment::facts::{Facts, Input};
use assay_report::number;

const WHY: &str = "Every load is then answered in a few cycles. Which variant asks for less memory, or asks for it in a better \
order, cannot be seen.";

pub fn look(facts: &Facts) -> Looked {
    let Some(l1d) = facts.l1d_bytes else {
        return Looked::CannotTell(
            "the kernel does not tell how large the first-level data cache is".to_owned(),
        );
    };
    let with_bytes: Vec<&Input> = facts.inputs.iter().filter(|input| input.bytes > 0).collect();
    let Some(largest) = with_bytes.iter().map(|input| input.bytes).max() else {
        return Looked::Well(Some("the experiment has no input".to_owned()));
    };
    let found = (largest <= l1d).then(|| {
        let saw = format!(
            "the largest input has {}, the first-level data cache holds {}",
            number::bytes(largest),
            number::bytes(l1d)
        );
        let remedy = format!(
            "add an input of several times {}, or say by [[accept]] that production's data are always at hand",
            number::bytes(l1d)
        );
        let names = with_bytes.iter().map(|input| input.name.clone()).collect();
        Found::of_inputs(names, "all inputs".to_owned(), saw, (WHY, remedy))
    });
    let saw = format!("the largest input has {}", number::bytes(largest));
    found_or_well(found.into_iter().collect(), Some(saw))
}
