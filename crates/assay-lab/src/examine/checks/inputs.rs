//! Do the inputs show what production would: large enough, in more than one size, too long to be memorised?

use crate::examine::check::{Advice, CheckFinding, CheckOutcome, FindingPlace};
use crate::examine::facts::{ExaminedInput, ExperimentFacts, TracedCell};
use assay_pure::protocol::VariantKind;
use assay_pure::verdict::learned::Learned;
use assay_pure::words::{bytes, count, list, plural, short, time};
use std::collections::BTreeSet;

/// A first walk after other work that takes this much longer than later ones may find a predictor that knew the input.
const SUSPECT: f64 = 0.1;
/// Nanoseconds that it must take longer: fifty mispredictions.
const SUSPECT_NS: f64 = 250.0;
/// A pair must be so many times longer, or it is memorised too.
const LONGER: u64 = 4;
/// Bytes of its own that any program has once it has been called by the harness.
const OWN_OF_ALL: u64 = 4 << 20;
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
        // Not by time alone: the first call after other work is slower for cold caches, too (45 % of a loop without a branch).
        return CheckOutcome::cannot_tell(facts.not_simulated.clone().unwrap_or_default());
    };
    let mut found = Vec::new();
    let mut paired = Vec::new();
    for one in learned {
        match longer(facts, learned, one) {
            Some(longer) => {
                paired.push(format!("{} is memorised, and {} shows the difference", one.input, longer.name));
            }
            None => found.push(too_short(facts, one)),
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

/// Whether a cell's first walk after other work takes longer than later ones do, over all of its input.
fn is_suspect(facts: &ExperimentFacts, cell: &TracedCell) -> bool {
    let Some((walks, input)) = cell.walks.zip(facts.inputs.get(cell.input)) else { return false };
    walks.units >= input.distinct
        && walks.excess() >= SUSPECT
        && walks.first_ns - walks.later_ns >= SUSPECT_NS
}

/// The cell of an input whose first walk exceeds later ones most, of those that are suspect.
pub fn hardest(facts: &ExperimentFacts, input: usize) -> Option<&TracedCell> {
    let excess = |cell: &TracedCell| cell.walks.map_or(0.0, |walks| walks.excess());
    let own = facts.cells.iter().filter(|cell| cell.input == input && is_suspect(facts, cell));
    own.max_by(|one, other| excess(one).total_cmp(&excess(other)))
}

fn times_told(facts: &ExperimentFacts, cell: &TracedCell) -> Option<String> {
    let walks = cell.walks.filter(|walks| walks.units > 0)?;
    let each = |ns: f64| time(ns / walks.units as f64);
    Some(format!(
        "{} takes {} per {} on it again and again, and {} on the first walk after other work",
        cell.variant,
        each(walks.later_ns),
        facts.unit,
        each(walks.first_ns)
    ))
}

fn too_short(facts: &ExperimentFacts, one: &Learned) -> CheckFinding {
    let unit = &facts.unit;
    let number = facts.inputs.iter().position(|input| input.name == one.input);
    let times = number
        .and_then(|number| hardest(facts, number))
        .and_then(|cell| times_told(facts, cell))
        .map_or(String::new(), |times| format!("{times}; "));
    let saw = format!(
        "{times}its {} are few enough for the predictor to memorise (as much to remember as {} random outcomes): {} mispredictions per \
         {unit} on the first pass, {} once memorised (simulated with {})",
        plural(one.units, unit),
        count(one.tosses),
        short(one.fresh),
        short(one.repeated),
        one.predictor
    );
    let remedy =
        format!("use at least {}, or add a longer input and keep both", plural(one.enough_units, unit));
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
    if let Some(own) = own_bytes(facts).filter(|own| *own > OWN_OF_ALL.max(l1d)) {
        return CheckOutcome::clear(format!(
            "the program has up to {} of other data beside the inputs",
            bytes(own)
        ));
    }
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
    // What is recorded has the size that it has, and a table of the program's own is not in the size of its input.
    let is_fixed = with_bytes.iter().any(|input| !input.is_generated);
    match facts.l2_bytes {
        Some(l2) if is_fixed || own_bytes(facts).is_some_and(|own| own > OWN_OF_ALL.max(l2)) => {}
        Some(l2) => found.extend(one_size(&with_bytes, l2)),
        None if found.is_empty() => {
            return CheckOutcome::cannot_tell("the kernel does not report the size of the L2 cache");
        }
        None => {}
    }
    CheckOutcome::found_or(found, None)
}

/// The most memory of its own that a program has; none where that is unknown.
fn own_bytes(facts: &ExperimentFacts) -> Option<u64> {
    facts.cells.iter().filter_map(|cell| cell.own_bytes).max()
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
    let (windows, whole) = (names(VariantKind::is_windowed), names(|kind| !kind.is_windowed()));
    (!windows.is_empty() && !whole.is_empty()).then(|| {
        let saw = format!("one window per call: {}; the whole input: {}", list(&windows), list(&whole));
        let inputs: BTreeSet<usize> = facts.cells.iter().filter(is_cut).map(|cell| cell.input).collect();
        let inputs = inputs.into_iter().map(|input| facts.inputs[input].name.clone()).collect();
        CheckFinding::new(of_inputs(inputs, "the variants"), saw, PIECES)
    })
}
