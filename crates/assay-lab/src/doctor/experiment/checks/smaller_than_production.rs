//! Is an input smaller than what production goes through before it meets the same data again?

use super::{Found, Looked, found_or_well};
use crate::doctor::experiment::facts::{Facts, Input};
use assay_report::number;
use assay_report::prose::plural;

const WHY: &str = "Caches and predictors hold a small input whole, and production's not: what is slow there is not seen here.";

pub fn look(facts: &Facts) -> Looked {
    let told: Vec<(&Input, u64)> =
        facts.inputs.iter().filter_map(|input| Some((input, input.production_units?))).collect();
    if told.is_empty() {
        return Looked::NotAsked(
            "no input says production_units, the units that production goes through before it meets the same data again"
                .to_owned(),
        );
    }
    let small = told.iter().filter(|(input, production)| input.units < *production);
    let found = small.map(|(input, production)| finding(facts, input, *production)).collect();
    found_or_well(found, None)
}

fn finding(facts: &Facts, input: &Input, production: u64) -> Found {
    let saw =
        format!("it has {}, production {}", plural(input.units, &facts.unit), number::count(production));
    let remedy = format!("units = {production}, or a recorded file of that length");
    Found::of_inputs(vec![input.name.clone()], format!("input {}", input.name), saw, (WHY, remedy))
}
