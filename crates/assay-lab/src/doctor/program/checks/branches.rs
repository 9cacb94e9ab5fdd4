//! Hot branches and calls whose outcome is known before they are executed, or is not what the source says.

use super::by_line;
use crate::doctor::program::facts::ProgramFacts;
use crate::doctor::program::origin::{Base, Condition, FunctionReader, MemoryCell, ValueOrigin};
use crate::examine::check::{Advice, CheckFinding, CheckOutcome, FindingPlace, TracedCost};
use crate::examine::names::is_library;
use assay_pure::trace::BranchKind;
use assay_pure::trace::hints::HintJudgement;
use assay_pure::words;
use assay_report::sites::names::short;
use assay_report::sites::page::HintOrigin;
use assay_trace::sites::audit::{Located, audit};
use assay_trace::sites::gather::SiteAddress;
use std::collections::HashMap;

const HINTS: Advice = Advice::new(
    "The compiler moves the side that is mostly executed out of line and optimises for the other.",
    "reverse the hint, or remove it and build with a profile",
);
const CONFIGURATION: Advice = Advice::new(
    "The value is settled before the work begins, but the compiler cannot know: the code of both sides stays, and the branch is \
     executed each time.",
    "decide once before the loop (two loops, two functions), or make it a build option",
);
const DISPATCH: Advice = Advice::new(
    "There is nothing to choose, but the compiler cannot inline the function, and the processor must predict the target.",
    "call the function directly, or choose once before the loop (a template, a generic, a build option)",
);

/// Hints that contradict what happens: the audit of `assay sites --hints`, for the program's own source.
pub fn hints(facts: &ProgramFacts) -> CheckOutcome {
    let own: Vec<usize> =
        (0..facts.sites.len()).filter(|&number| facts.is_own(facts.sites[number].seen.place)).collect();
    let located: Vec<&Located> = own.iter().map(|&number| &facts.sites[number]).collect();
    let mut found = Vec::new();
    for hint in audit(&facts.images, &located, &facts.sources) {
        let executed = hint.likely + hint.unlikely + hint.unknown;
        let is_own = hint.file.as_deref().is_none_or(|file| !is_library(file));
        // What the layout alone says may be the compiler's guess and nobody's hint.
        let is_written = hint.origin != HintOrigin::ColdPart;
        let Some(&first) = hint.sites.first() else { continue };
        if hint.judgement != HintJudgement::WRONG || !facts.heat.is_hot(executed) || !is_own || !is_written {
            continue;
        }
        let sites = || hint.sites.iter().map(|&site| own[site]);
        let mut place = facts.spot_of_site(own[first]);
        place.file = hint.file.clone().or(place.file);
        place.line = (hint.line > 0).then_some(hint.line).or(place.line);
        let often = hint.unlikely as f64 / (hint.likely + hint.unlikely).max(1) as f64;
        let saw = format!(
            "`{}`: the side marked unlikely is executed {} of the time",
            hint.text,
            words::fraction(often)
        );
        let cost = TracedCost {
            executed: Some(executed),
            branches: sites().map(|site| facts.sites[site].seen.executed).sum(),
            misses: sites().map(|site| facts.costs[site]).sum(),
        };
        found.push(CheckFinding { cost, ..CheckFinding::new(FindingPlace::Code(place), saw, HINTS) });
    }
    CheckOutcome::found_or(by_line(found), None)
}

/// Hot branches that depend only on values which nothing changes while the program works.
///
/// Such a branch went the same way each time, and all that its condition compares are constants and memory at constant places
/// (static variables, a thread's own, fields of what a static pointer points to) that no executed code of the program wrote to
/// but a few times. What asks whether a pointer is there, and it always was, is lazy initialisation and no configuration. Not
/// seen: configuration in a structure that functions are given.
pub fn configuration(facts: &ProgramFacts) -> CheckOutcome {
    let mut found = Vec::new();
    for (number, image) in facts.one_sided() {
        let site = &facts.sites[number];
        let seen = &site.seen;
        if facts.is_library(&site.frames) {
            continue;
        }
        let Some(condition) = facts.condition(image, seen.place.address) else { continue };
        if !is_steady(facts, image, &condition, seen.executed) || is_lazy(&condition, seen.taken > 0) {
            continue;
        }
        let way = if seen.taken == 0 { "not taken" } else { "taken" };
        let saw = format!("the branch on {} always goes the same way ({way})", variable(&condition));
        let place = FindingPlace::Code(facts.spot_of_site(number));
        found.push(CheckFinding {
            cost: facts.cost_of_site(number),
            ..CheckFinding::new(place, saw, CONFIGURATION)
        });
    }
    CheckOutcome::found_or(by_line(found), None)
}

/// Whether all that a condition depends on stays as it is.
fn is_steady(facts: &ProgramFacts, image: usize, condition: &Condition, executed: u64) -> bool {
    let mut cells = 0;
    for origin in &condition.origins {
        match origin {
            ValueOrigin::Constant => {}
            ValueOrigin::Cell(cell) if is_variable(facts, image, cell) => {
                cells += 1;
                if !facts.stores().is_steady(image, cell, executed) {
                    return false;
                }
            }
            _ => return false,
        }
    }
    cells > 0
}

/// Memory that a program can write; a constant table is none.
fn is_variable(facts: &ProgramFacts, image: usize, cell: &MemoryCell) -> bool {
    let section = match cell.base {
        Base::File => facts.images[image].section(cell.offset),
        Base::Pointed(pointer) => facts.images[image].section(pointer),
        Base::Thread | Base::ThreadSlot(_) => return true,
    };
    !section.starts_with(".rodata") && !section.starts_with(".data.rel.ro")
}

/// Whether it asks if there is a pointer, and there always was one.
fn is_lazy(condition: &Condition, taken: bool) -> bool {
    let was_zero = condition.taken_if_equal.map(|equal| equal == taken);
    condition.is_null_check && was_zero != Some(true)
}

fn variable(condition: &Condition) -> &'static str {
    let is_threads = |origin: &ValueOrigin| {
        matches!(origin, ValueOrigin::Cell(MemoryCell { base: Base::Thread | Base::ThreadSlot(_), .. }))
    };
    if condition.origins.iter().any(is_threads) { "a thread-local variable" } else { "a static variable" }
}

/// Hot indirect calls through a loaded pointer that only ever reach one function.
///
/// The pointer comes from memory: a static variable, a thread's own, a field of a structure. Calls through the tables of the
/// dynamic linker are none, nor calls of what a function was given (a comparison for a sort).
pub fn dispatch(facts: &ProgramFacts) -> CheckOutcome {
    let mut reached: HashMap<SiteAddress, Vec<SiteAddress>> = HashMap::new();
    for (from, to, _) in facts.arrivals.iter().filter(|(from, ..)| facts.is_own(*from)) {
        reached.entry(*from).or_default().push(*to);
    }
    let mut found = Vec::new();
    for (number, site) in facts.sites.iter().enumerate() {
        let seen = &site.seen;
        if !seen.class.has_predicted_target()
            || !facts.heat.is_hot(seen.executed)
            || facts.is_library(&site.frames)
        {
            continue;
        }
        let Some(&[target]) = reached.get(&seen.place).map(Vec::as_slice) else { continue };
        let is_stub = |image: &usize| facts.images[*image].stub(seen.place.address).is_some();
        let Some(image) = seen.place.image.filter(|image| !is_stub(image)) else { continue };
        let Some(callee) = function_at(facts, target) else { continue };
        if !is_loaded(facts, image, seen.place.address, seen.class.kind() == BranchKind::Call) {
            continue;
        }
        let saw = format!("an indirect call that always reaches {}", short(&callee));
        let place = FindingPlace::Code(facts.spot_of_site(number));
        found.push(CheckFinding {
            cost: facts.cost_of_site(number),
            ..CheckFinding::new(place, saw, DISPATCH)
        });
    }
    CheckOutcome::found_or(by_line(found), None)
}

fn function_at(facts: &ProgramFacts, place: SiteAddress) -> Option<String> {
    let function = facts.images[place.image?].function(place.address)?;
    (function.start == place.address).then(|| function.name())
}

/// Whether the pointer comes from memory that a program can write.
fn is_loaded(facts: &ProgramFacts, image: usize, address: u64, is_call: bool) -> bool {
    let Some((listing, at)) = facts.decoded(image, address) else { return false };
    let is_table = |address| facts.is_table(image, address);
    let origins = FunctionReader::new(&listing, &is_table).target(at);
    origins.iter().all(|origin| match origin {
        ValueOrigin::Cell(cell) => match cell.base {
            Base::File => !is_table(cell.offset),
            _ => true,
        },
        // Of jumps the elements of a table are a switch.
        ValueOrigin::Memory => is_call,
        _ => false,
    }) && !origins.is_empty()
}
