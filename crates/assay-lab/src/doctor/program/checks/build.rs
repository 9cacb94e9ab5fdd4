//! Was it built for debugging: without optimisation, with assertions and checks left in?

use super::by_line;
use crate::doctor::program::facts::ProgramFacts;
use crate::doctor::program::listing::Listing;
use crate::doctor::program::origin::{Condition, ValueOrigin};
use crate::examine::check::{Advice, CheckFinding, CheckOutcome, FindingPlace, TracedCost};
use crate::examine::names::{Ending, ending, is_library};
use assay_pure::placement::optimised::level_of_producer;
use assay_pure::words::count;
use assay_report::doctor::CodePlace;
use assay_report::sites::names::short;
use iced_x86::{FlowControl, Mnemonic};
use std::collections::BTreeMap;

/// The share of all instructions that a function must execute to count.
const SHARE: f64 = 0.01;
/// The share of what functions execute that are judged by their shape, from which on the shape counts.
const OF_SHAPE: f64 = 0.25;
/// Instructions of a guard's other side that are read.
const LONGEST: usize = 64;
/// Functions looked into, one inside the other.
const DEPTH: usize = 3;

const UNOPTIMISED: Advice = Advice::new(
    "Times of unoptimised code say nothing about the code that is shipped: every variable lives in memory and every small function \
     is called.",
    "build with -O2 (Zig: ReleaseFast or ReleaseSafe, Rust: --release); keep -g for lines",
);
const ASSERTION: &str = "It costs time in the hot loop and catches nothing that tests would not.";
const BUILD_MODE: &str = "The build mode checks each of these operations; the checks, and the optimisations that they prevent, cost \
more than the work.";

/// A function with what it executed.
struct FunctionCost {
    image: usize,
    start: u64,
    instructions: u64,
    branches: u64,
    misses: f64,
}

impl FunctionCost {
    /// What it counts for: the instructions executed; where nothing was, each function alike.
    fn weight(&self) -> u64 {
        self.instructions.max(1)
    }
}

/// Code that was built without optimisation.
///
/// First what the compiler recorded: gcc's producer holds its flags, where -O0, -Og or no -O means none. Where nothing is recorded
/// (clang, Zig, Rust), the code itself: unoptimised code keeps each variable on the stack and loads what it has just
/// stored (`assay_pure::placement::optimised`). Traced, only functions that make a hundredth of the branches or instructions
/// count; one finding per file of machine code, at the function that executes most.
pub fn unoptimised(facts: &ProgramFacts) -> CheckOutcome {
    let mut files: BTreeMap<usize, CodeFile> = BTreeMap::new();
    for function in functions(facts) {
        let file = files.entry(function.image).or_default();
        match evidence(facts, &function) {
            Evidence::Nothing => {}
            Evidence::Optimised => file.executed += function.weight(),
            Evidence::Written(text) => file.written.push((entry(facts, &function), function, text)),
            Evidence::Shape(text) => {
                file.executed += function.weight();
                file.shaped.push((entry(facts, &function), function, text));
            }
        }
    }
    CheckOutcome::found_or(files.into_values().filter_map(|file| in_file(facts, file)).collect(), None)
}

/// A function that is unoptimised, where it begins, and what says so.
type Unoptimised = (CodePlace, FunctionCost, String);

/// What was found in one file of machine code.
#[derive(Default)]
struct CodeFile {
    /// By what the compiler recorded.
    written: Vec<Unoptimised>,
    /// By their shape.
    shaped: Vec<Unoptimised>,
    /// What all functions weigh that are judged by their shape.
    executed: u64,
}

/// What says whether a function is optimised.
enum Evidence {
    /// It is, as far as its shape tells.
    Optimised,
    /// It is, or nothing tells.
    Nothing,
    /// The compiler recorded that it is not.
    Written(String),
    /// Its shape says that it is not.
    Shape(String),
}

/// The functions that count.
fn functions(facts: &ProgramFacts) -> Vec<FunctionCost> {
    let mut known: BTreeMap<(usize, u64), FunctionCost> = BTreeMap::new();
    for (image, file) in facts.images.iter().enumerate().filter(|(image, _)| facts.own[*image]) {
        for function in file.functions() {
            let new =
                FunctionCost { image, start: function.start, instructions: 0, branches: 0, misses: 0.0 };
            known.insert((image, function.start), new);
        }
    }
    let start = |image: usize, address: u64| Some((image, facts.images[image].function(address)?.start));
    for (&(image, address), &times) in &facts.executed {
        if let Some(function) = start(image, address).and_then(|key| known.get_mut(&key)) {
            function.instructions += times;
        }
    }
    for (site, cost) in facts.sites.iter().zip(&facts.costs) {
        let place = site.seen.place;
        let key = place.image.and_then(|image| start(image, place.address));
        if let Some(function) = key.and_then(|key| known.get_mut(&key)) {
            function.branches += site.seen.executed;
            function.misses += cost;
        }
    }
    let whole = facts.whole;
    let counts = |function: &FunctionCost| {
        let part = |own: u64, all: u64| own as f64 >= SHARE * all.max(1) as f64;
        facts.not_traced.is_some()
            || part(function.instructions, whole.instructions)
            || part(function.branches, whole.branches)
    };
    known.into_values().filter(counts).collect()
}

/// What says whether a function is optimised.
fn evidence(facts: &ProgramFacts, function: &FunctionCost) -> Evidence {
    let image = &facts.images[function.image];
    if let Some(producer) = image.producer(function.start)
        && let Some(level) = level_of_producer(&producer)
    {
        if !level.is_unoptimised() {
            return Evidence::Nothing;
        }
        let compiler: Vec<&str> = producer.split(' ').take(3).collect();
        return Evidence::Written(format!("{} recorded {level}", compiler.join(" ")));
    }
    let shape = image.shape(function.start);
    if !shape.is_unoptimised() {
        return if shape.instructions < 10 { Evidence::Nothing } else { Evidence::Optimised };
    }
    Evidence::Shape(format!(
        "{} of {} instructions access variables on the stack, and {} of them load what was just stored",
        shape.of_stack, shape.instructions, shape.reloads
    ))
}

fn entry(facts: &ProgramFacts, function: &FunctionCost) -> CodePlace {
    facts.spot(function.image, function.start)
}

/// The finding of a file: what the compiler recorded says it alone; by their shape a part of the functions must say it,
/// because one in a hundred looks so in code that is optimised.
fn in_file(facts: &ProgramFacts, file: CodeFile) -> Option<CheckFinding> {
    let shaped: u64 = file.shaped.iter().map(|(_, function, _)| function.weight()).sum();
    let mut functions = file.written;
    if shaped as f64 >= OF_SHAPE * file.executed.max(1) as f64 && file.shaped.len() > 1 {
        functions.extend(file.shaped);
    }
    // Start-up files of the toolchain are nobody's fault.
    functions.retain(|(spot, ..)| spot.file.as_deref().is_none_or(|file| !is_library(file)));
    functions.sort_by_key(|(_, function, _)| std::cmp::Reverse(function.instructions));
    let (place, first, evidence) = functions.first()?;
    let cost = TracedCost {
        executed: facts.not_traced.is_none().then(|| entries(facts, first)),
        branches: functions.iter().map(|(_, function, _)| function.branches).sum(),
        misses: functions.iter().map(|(_, function, _)| function.misses).sum(),
    };
    let saw = format!("the code is unoptimised: {evidence}");
    let also = functions.iter().skip(1).map(|(spot, ..)| spot.label()).collect();
    Some(CheckFinding {
        also,
        cost,
        ..CheckFinding::new(FindingPlace::Code(place.clone()), saw, UNOPTIMISED)
    })
}

/// Executions of a function's first instruction.
fn entries(facts: &ProgramFacts, function: &FunctionCost) -> u64 {
    facts.executed.get(&(function.image, function.start)).copied().unwrap_or(0)
}

/// Assertions and debug checks that are executed in a hot place.
///
/// A guard is a conditional branch of the program's own source with one side that was never executed and from which there is
/// no way but to a function that does not return: an assertion, a panic, `abort`, a trap. No guard is: a check of what a
/// function of another file returned, or of a pointer that any function returned (that is error handling, which stays); what
/// ends in `exit`; the stack protector; the bounds that a language always checks.
pub fn guards(facts: &ProgramFacts) -> CheckOutcome {
    let mut found = Vec::new();
    let mut safety: Vec<CheckFinding> = Vec::new();
    for (number, image) in facts.one_sided() {
        let Some((kind, by)) = never_taken_side(facts, image, number) else { continue };
        let place = FindingPlace::Code(facts.spot_of_site(number));
        let cost = facts.cost_of_site(number);
        let guard =
            CheckFinding { cost, ..CheckFinding::new(place, what_held(kind, &by), drop_it(kind, &by)) };
        match kind {
            Ending::Safety => safety.push(guard),
            _ => found.push(guard),
        }
    }
    let mut found = by_line(found);
    found.extend(by_file(one_per_line(safety)));
    CheckOutcome::found_or(found, None)
}

/// Where the side that was never executed ends, if it can only end and if that makes it a guard.
fn never_taken_side(facts: &ProgramFacts, image: usize, number: usize) -> Option<(Ending, String)> {
    let seen = &facts.sites[number].seen;
    let (listing, at) = facts.decoded(image, seen.place.address)?;
    let (target, next) = (seen.target?, listing.instructions[at].next_ip());
    let (side, other) = if seen.taken == 0 { (target, next) } else { (next, target) };
    let (kind, by) = ends(facts, image, side, Some(other), DEPTH)?;
    let condition = facts.condition(image, seen.place.address)?;
    match kind {
        Ending::Ordinary => None,
        Ending::Abort if is_error_handling(facts, image, &condition) => None,
        _ => Some((kind, by)),
    }
}

/// Whether a condition asks how a call went.
fn is_error_handling(facts: &ProgramFacts, image: usize, condition: &Condition) -> bool {
    condition.origins.iter().any(|origin| match origin {
        ValueOrigin::Call(0) => true,
        ValueOrigin::Call(target) => condition.is_null_check || facts.images[image].stub(*target).is_some(),
        _ => false,
    })
}

/// The function that never returns, to which alone the code at an address leads; of a condition of several parts, unless one
/// of the others holds and leads to `held`.
fn ends(
    facts: &ProgramFacts,
    image: usize,
    address: u64,
    held: Option<u64>,
    depth: usize,
) -> Option<(Ending, String)> {
    let mut address = address;
    for _ in 0..LONGEST {
        if let Some(known) = named(facts, image, address) {
            return Some(known);
        }
        let (listing, at) = facts.decoded(image, address)?;
        let instruction = listing.instructions[at];
        match instruction.flow_control() {
            FlowControl::Call if instruction.is_call_near() => {
                let target = instruction.near_branch_target();
                if let Some(known) = named(facts, image, target) {
                    return Some(known);
                }
                if let Some(known) = own_ending(facts, image, target, depth) {
                    return Some(known);
                }
                address = instruction.next_ip();
            }
            FlowControl::UnconditionalBranch => address = instruction.near_branch_target(),
            FlowControl::Exception if instruction.mnemonic() == Mnemonic::Ud2 => {
                return Some((Ending::Abort, "a trap".to_owned()));
            }
            FlowControl::ConditionalBranch => {
                let sides = [instruction.near_branch_target(), instruction.next_ip()];
                address = match held.map(|held| sides.map(|side| leads_to(&listing, side, held)))? {
                    [true, false] => sides[1],
                    [false, true] => sides[0],
                    _ => return None,
                };
            }
            FlowControl::Next | FlowControl::IndirectCall | FlowControl::Call => {
                address = instruction.next_ip();
            }
            _ => return None,
        }
    }
    None
}

/// Whether the code at one address is that at another, or a jump there.
fn leads_to(listing: &Listing, from: u64, to: u64) -> bool {
    let jumps = |at: usize| {
        let instruction = listing.instructions[at];
        instruction.flow_control() == FlowControl::UnconditionalBranch
            && instruction.near_branch_target() == to
    };
    from == to || listing.index(from).is_some_and(jumps)
}

/// A function that is known by its name to never return.
fn named(facts: &ProgramFacts, image: usize, address: u64) -> Option<(Ending, String)> {
    let image = &facts.images[image];
    let name = match image.stub(address) {
        Some(stub) => stub.function.clone(),
        None => image.function(address).filter(|function| function.start == address)?.name(),
    };
    ending(&name).map(|ending| (ending, short(&name)))
}

/// How a function of the program's own that never returns ends: it has no return, and calls one that never does.
fn own_ending(facts: &ProgramFacts, image: usize, address: u64, depth: usize) -> Option<(Ending, String)> {
    let listing = facts.listing(image, address).filter(|_| depth > 0)?;
    let start = facts.images[image].function(address).filter(|function| function.start == address)?.start;
    if listing.instructions.iter().any(|instruction| returns(instruction, start, &listing)) {
        return None;
    }
    let called = listing.instructions.iter().filter(|instruction| instruction.is_call_near());
    let mut endings = called.filter_map(|instruction| {
        let target = instruction.near_branch_target();
        named(facts, image, target).or_else(|| own_ending(facts, image, target, depth - 1))
    });
    let (kind, _) = endings.next()?;
    let name = facts.images[image].function(address)?.name();
    Some((kind, short(&name)))
}

fn returns(instruction: &iced_x86::Instruction, start: u64, listing: &Listing) -> bool {
    let end = listing.instructions.last().map_or(start, iced_x86::Instruction::next_ip);
    match instruction.flow_control() {
        FlowControl::Return | FlowControl::IndirectBranch => true,
        FlowControl::UnconditionalBranch => !(start..end).contains(&instruction.near_branch_target()),
        _ => false,
    }
}

fn what_held(kind: Ending, by: &str) -> String {
    match kind {
        Ending::Assertion => format!("an assertion ({by}) that always held"),
        Ending::Safety => format!("a check of the build mode ({by}) that always held"),
        _ => format!("a guard before {by} that always held"),
    }
}

fn drop_it(kind: Ending, by: &str) -> Advice {
    match kind {
        Ending::Assertion if by.contains("__assert") => {
            Advice::new(ASSERTION, "build what is measured and shipped with -DNDEBUG")
        }
        Ending::Assertion => {
            Advice::new(ASSERTION, "make it a debug assertion, or prove it once before the loop")
        }
        Ending::Safety => Advice::new(
            BUILD_MODE,
            "build for release, or switch the checks off in this function once its input is proven",
        ),
        _ => Advice::new(
            ASSERTION,
            "put it behind a build option that is off in what is measured and shipped, or prove it once before the loop",
        ),
    }
}

/// Several checks of one line are one.
fn one_per_line(found: Vec<CheckFinding>) -> Vec<CheckFinding> {
    let plain = |mut one: CheckFinding| {
        one.saw = "a check of the build mode that always held".to_owned();
        one
    };
    by_line(found.into_iter().map(plain).collect())
}

/// Checks of the build mode are many: one finding per source file, at its most executed line, and one for all libraries.
fn by_file(found: Vec<CheckFinding>) -> Vec<CheckFinding> {
    let mut files: BTreeMap<Option<String>, Vec<CheckFinding>> = BTreeMap::new();
    for one in found {
        let file = one.place.code().and_then(|code| code.file.clone()).filter(|file| !is_library(file));
        files.entry(file).or_default().push(one);
    }
    let merged = files.into_iter().filter_map(|(file, mut found)| {
        found.sort_by_key(|one| std::cmp::Reverse(one.cost.executed));
        let lines = found.len();
        let also = found.iter().skip(1).filter_map(|one| Some(one.place.code()?.label())).collect();
        let branches = found.iter().map(|one| one.cost.branches).sum();
        let misses = found.iter().map(|one| one.cost.misses).sum();
        let first = found.into_iter().next()?;
        let whose = if file.is_some() { "" } else { " in libraries" };
        let saw = match lines {
            1 => first.saw.clone(),
            _ => format!(
                "checks of the build mode at {} lines{whose} that always held; the most executed",
                count(lines as u64)
            ),
        };
        Some(CheckFinding { saw, also, cost: TracedCost { branches, misses, ..first.cost }, ..first })
    });
    merged.collect()
}
