//! Is what is measured the predictor's memory? An input that is walked through again and again is known by heart, unless a
//! longer one of its family is measured beside it to show what that hides.

use super::{Found, Looked, found_or_well};
use crate::doctor::experiment::facts::{Facts, Input};
use assay_pure::verdict::learned::Learned;
use assay_report::number;
use assay_report::prose::plural;

/// A pair must be so many times longer, or it is learned too.
const LONGER: u64 = 4;

const WHY: &str = "A predictor that has seen the input often enough no longer mispredicts: the time is that of code whose \
branches are free, which fresh data never give.";

pub fn look(facts: &Facts) -> Looked {
    let Some(learned) = &facts.learned else {
        return Looked::CannotTell(facts.not_simulated.clone().unwrap_or_default());
    };
    let mut found = Vec::new();
    let mut paired = Vec::new();
    for one in learned {
        match pair(facts, learned, one) {
            Some(longer) => {
                paired.push(format!("{} is, and {} shows what that hides", one.input, longer.name))
            }
            None => found.push(finding(facts, one)),
        }
    }
    found_or_well(found, (!paired.is_empty()).then(|| paired.join("; ")))
}

/// A longer input of the same family that is not learned.
fn pair<'a>(facts: &'a Facts, learned: &[Learned], one: &Learned) -> Option<&'a Input> {
    let own = facts.inputs.iter().find(|input| input.name == one.input)?;
    facts.inputs.iter().find(|other| {
        other.family == own.family
            && other.distinct >= LONGER * own.distinct
            && learned.iter().all(|learned| learned.input != other.name)
    })
}

fn finding(facts: &Facts, one: &Learned) -> Found {
    let unit = &facts.unit;
    let saw = format!(
        "its {} hold as much to remember as {} coin tosses: {:.3} mispredictions per {unit} on the first walk, {:.3} once \
         it is known (simulated by {})",
        plural(one.units, unit),
        number::count(one.tosses),
        one.fresh,
        one.repeated,
        one.predictor
    );
    let remedy = format!(
        "units = {} would be enough not to be learned; or measure such an input beside it, and keep both",
        one.enough_units
    );
    Found::of_inputs(vec![one.input.clone()], format!("input {}", one.input), saw, (WHY, remedy))
}
