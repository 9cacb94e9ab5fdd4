//! Do the inputs show what production would: large enough, in more than one size, too long to be memorised?

use crate::doctor::check::{Advice, CheckFinding, CheckOutcome, FindingPlace};
use crate::doctor::experiment::facts::{ExaminedInput, ExperimentFacts, TracedCell};
use assay_pure::protocol::VariantKind;
use assay_pure::verdict::learned::Learned;
use assay_pure::words::{bytes, count, list, plural, short};
use std::collections::BTreeSet;

/// A pair must be so many times longer, or it is memorised too.
const LONGER: u64 = 4;
/// Inputs within this factor of each other are of one size.
const ONE_SIZE: u64 = 2;

const MEMORISED: &str = "A predictor that has seen the input often enough no longer mispredicts: branches look free, as they never are \
on fresh data.";
const SMALL: &str = "Caches and predictors hold a small input whole, but not production's: what is slow there does not show here.";
const IN_L1: &str = "Every load then takes a few cycles: which variant reads less memory, or reads it in a better order, does not show.";
const SIZE: Advice = Advice::new(
    "Caches and predictors hold an input of this size; nothing in the experiment shows how times change with it.",
    "add an input of the same kind that is several times larger, or sweep its units",
);
const PIECES: Advice = Advice::new(
    "A variant that gets a window works on other data than one that gets the whole input: the cost of a call weighs differently, \
     and so do the caches.",
    "set window_units = 0, so that every variant gets the whole input",
);

fn of_inputs(inputs: Vec<String>, label: impl Into<String>) -> FindingPlace {
    FindingPlace::Experiment { label: label.into(), variant: None, inputs }
}

fn of_input(name: &str) -> FindingPlace {
    of_inputs(vec![name.to_owned()], format!("input {name}"))
}

/// Is the predictor's memory what is measured? An input that is processed again and again is memorised; a longer one of its family
/// beside it shows what that hides.
pub fn memorised(facts: &ExperimentFacts) -> CheckOutcome {
    let Some(learned) = &facts.learned else {
        return CheckOutcome::cannot_tell(facts.not_simulated.clone().unwrap_or_default());
    };
    let mut found = Vec::new();
    let mut paired = Vec::new();
    for one in learned {
        match longer(facts, learned, one) {
            Some(longer) => {
                paired.push(format!("{} is memorised, and {} shows the difference", one.input, longer.name));
            }
            None => found.push(too_short(&facts.unit, one)),
        }
    }
    CheckOutcome::found_or(found, (!paired.is_empty()).then(|| paired.join("; ")))
}

/// A longer input of the same family that is not memorised.
fn longer<'a>(facts: &'a ExperimentFacts, learned: &[Learned], one: &Learned) -> Option<&'a ExaminedInput> {
    let own = facts.inputs.iter().find(|input| input.name == one.input)?;
    facts.inputs.iter().find(|other| {
        other.family == own.family
            && other.distinct >= LONGER * own.distinct
            && learned.iter().all(|learned| learned.input != other.name)
    })
}

fn too_short(unit: &str, one: &Learned) -> CheckFinding {
    let saw = format!(
        "its {} are few enough for the predictor to memorise (as much to remember as {} random outcomes): {} mispredictions per \
         {unit} on the first pass, {} once memorised (simulated with {})",
        plural(one.units, unit),
        count(one.tosses),
        short(one.fresh),
        short(one.repeated),
        one.predictor
    );
    let remedy = format!(
        "use at least {}, or measure a longer input beside it and keep both",
        plural(one.enough_units, unit)
    );
    CheckFinding::new(of_input(&one.input), saw, Advice::with(MEMORISED, remedy))
}

/// Is an input smaller than what production processes before it meets the same data again?
pub fn smaller_than_production(facts: &ExperimentFacts) -> CheckOutcome {
    let told: Vec<(&ExaminedInput, u64)> =
        facts.inputs.iter().filter_map(|input| Some((input, input.production_units?))).collect();
    if told.is_empty() {
        return CheckOutcome::NotAsked(
            "no input sets production_units, the units that production processes before it meets the same data again".to_owned(),
        );
    }
    let small = told.iter().filter(|(input, production)| input.units < *production);
    let found = small.map(|(input, production)| {
        let saw = format!("it has {}, production {}", plural(input.units, &facts.unit), count(*production));
        let remedy = format!("set units = {production}, or record a file of that length");
        CheckFinding::new(of_input(&input.name), saw, Advice::with(SMALL, remedy))
    });
    CheckOutcome::found_or(found.collect(), None)
}

/// Is there any input that the L1 data cache does not hold?
pub fn all_in_l1(facts: &ExperimentFacts) -> CheckOutcome {
    let Some(l1d) = facts.l1d_bytes else {
        return CheckOutcome::cannot_tell("the kernel does not report the size of the L1 data cache");
    };
    let with_bytes: Vec<&ExaminedInput> = facts.inputs.iter().filter(|input| input.bytes > 0).collect();
    let Some(largest) = with_bytes.iter().map(|input| input.bytes).max() else {
        return CheckOutcome::clear("the experiment has no input");
    };
    if largest > l1d {
        return CheckOutcome::clear(format!("the largest input has {}", bytes(largest)));
    }
    let saw = format!("the largest input has {}, the L1 data cache {}", bytes(largest), bytes(l1d));
    let remedy = format!(
        "add an input several times as large as {}; if production's data is always in L1, mark this with [[accept]]",
        bytes(l1d)
    );
    let names = with_bytes.iter().map(|input| input.name.clone()).collect();
    CheckOutcome::Found(vec![CheckFinding::new(
        of_inputs(names, "all inputs"),
        saw,
        Advice::with(IN_L1, remedy),
    )])
}

/// Is there a second size to show what the first one hides? And do all variants get pieces of the same size?
pub fn unpaired_sizes(facts: &ExperimentFacts) -> CheckOutcome {
    let mut found: Vec<CheckFinding> = pieces(facts).into_iter().collect();
    let with_bytes: Vec<&ExaminedInput> = facts.inputs.iter().filter(|input| input.bytes > 0).collect();
    if with_bytes.is_empty() {
        return CheckOutcome::found_or(found, Some("the experiment has no input".to_owned()));
    }
    match facts.l2_bytes {
        Some(l2) => found.extend(one_size(&with_bytes, l2)),
        None if found.is_empty() => {
            return CheckOutcome::cannot_tell("the kernel does not report the size of the L2 cache");
        }
        None => {}
    }
    CheckOutcome::found_or(found, None)
}

fn one_size(inputs: &[&ExaminedInput], l2: u64) -> Option<CheckFinding> {
    let span = |size: fn(&ExaminedInput) -> u64| {
        let sizes = inputs.iter().map(|input| size(input));
        Some((sizes.clone().min()?, sizes.max()?))
    };
    let (least_bytes, most_bytes) = span(|input| input.bytes)?;
    let (least_units, most_units) = span(|input| input.units)?;
    let is_one = most_bytes < ONE_SIZE * least_bytes && most_units < ONE_SIZE * least_units;
    (is_one && most_bytes <= l2).then(|| {
        let saw =
            format!("all inputs have about {}, which fits the L2 cache ({})", bytes(most_bytes), bytes(l2));
        let names = inputs.iter().map(|input| input.name.clone()).collect();
        CheckFinding::new(of_inputs(names, "all inputs"), saw, SIZE)
    })
}

/// Variants that get windows beside others that get the whole input.
fn pieces(facts: &ExperimentFacts) -> Option<CheckFinding> {
    let is_cut = |cell: &&TracedCell| facts.inputs.get(cell.input).is_some_and(|input| input.windows > 1);
    let names = |wanted: fn(VariantKind) -> bool| -> Vec<&str> {
        let cells = facts.cells.iter().filter(is_cut).filter(|cell| cell.kind.is_some_and(wanted));
        cells.map(|cell| cell.variant.as_str()).collect::<BTreeSet<&str>>().into_iter().collect()
    };
    let (windows, whole) = (names(|kind| kind == VariantKind::Call), names(|kind| kind != VariantKind::Call));
    (!windows.is_empty() && !whole.is_empty()).then(|| {
        let saw = format!("one window per call: {}; the whole input: {}", list(&windows), list(&whole));
        let inputs: BTreeSet<usize> = facts.cells.iter().filter(is_cut).map(|cell| cell.input).collect();
        let inputs = inputs.into_iter().map(|input| facts.inputs[input].name.clone()).collect();
        CheckFinding::new(of_inputs(inputs, "the variants"), saw, PIECES)
    })
}
