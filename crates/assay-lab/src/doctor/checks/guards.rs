//! Assertions and debug guards that are executed in a hot place.
//!
//! A guard is a conditional branch of the program's own source with one side that was never executed and from which there is
//! no way but to a function that does not return: an assertion, a panic, `abort`, a trap. No guard is: a check of what a
//! function of another file returned, or of a pointer that any function returned (that is error handling, which stays); what
//! ends in `exit`; the stack protector; the bounds that a language always checks.

use super::super::listing::Listing;
use super::super::names::{Ending, ending, is_library};
use super::super::origin::{Condition, Origin, Reader};
use super::super::subject::Subject;
use super::{Found, by_line, said};
use assay_report::sites::names::short;
use iced_x86::{FlowControl, Mnemonic};
use std::collections::BTreeMap;

/// Instructions of a side that are looked at.
const LONGEST: usize = 64;
/// Functions looked into, one inside the other.
const DEPTH: usize = 3;

/// Looks for guards.
pub fn look(subject: &Subject) -> Vec<Found> {
    let mut found = Vec::new();
    let mut safety: Vec<Found> = Vec::new();
    for (number, site) in subject.sites.iter().enumerate() {
        let seen = &site.seen;
        let one_sided = seen.taken == 0 || seen.taken == seen.executed;
        let is_candidate = seen.class.is_conditional() && one_sided && subject.heat.is_hot(seen.executed);
        let Some(image) = seen.place.image.filter(|_| is_candidate && subject.is_own(seen.place)) else {
            continue;
        };
        let Some((kind, by)) = never_taken_side(subject, image, number) else { continue };
        let guard = Found {
            saw: saw(kind, &by),
            place: subject.spot_of_site(number),
            executed: Some(seen.executed),
            branches: seen.executed,
            misses: subject.costs[number],
            why: why(kind).to_owned(),
            remedy: remedy(kind, &by).to_owned(),
            ..Found::default()
        };
        match kind {
            Ending::Safety => safety.push(guard),
            _ => found.push(guard),
        }
    }
    let mut found = by_line(found);
    found.extend(by_file(one_per_line(safety)));
    found
}

/// Where the side that was never executed ends, if it can only end and if that makes it a guard.
fn never_taken_side(subject: &Subject, image: usize, number: usize) -> Option<(Ending, String)> {
    let seen = &subject.sites[number].seen;
    let listing = subject.listing(image, seen.place.address)?;
    let at = listing.index(seen.place.address)?;
    let (target, next) = (seen.target?, listing.instructions[at].next_ip());
    let (side, other) = if seen.taken == 0 { (target, next) } else { (next, target) };
    let (kind, by) = ends(subject, image, side, Some(other), DEPTH)?;
    let is_table = |address| subject.is_table(image, address);
    let condition = Reader::new(&listing, &is_table).condition(at);
    match kind {
        Ending::Ordinary => None,
        Ending::Abort if is_error_handling(subject, image, &condition) => None,
        _ => Some((kind, by)),
    }
}

/// Whether a condition asks how a call went.
fn is_error_handling(subject: &Subject, image: usize, condition: &Condition) -> bool {
    condition.origins.iter().any(|origin| match origin {
        Origin::Call(0) => true,
        Origin::Call(target) => condition.is_null_check || subject.images[image].stub(*target).is_some(),
        _ => false,
    })
}

/// The function that never returns, to which alone the code at an address leads; of a condition of several parts, unless one
/// of the others holds and leads to `held`.
fn ends(
    subject: &Subject,
    image: usize,
    address: u64,
    held: Option<u64>,
    depth: usize,
) -> Option<(Ending, String)> {
    let mut address = address;
    for _ in 0..LONGEST {
        if let Some(known) = named(subject, image, address) {
            return Some(known);
        }
        let listing = subject.listing(image, address)?;
        let instruction = listing.instructions[listing.index(address)?];
        match instruction.flow_control() {
            FlowControl::Call if instruction.is_call_near() => {
                let target = instruction.near_branch_target();
                if let Some(known) = named(subject, image, target) {
                    return Some(known);
                }
                if let Some(known) = own_ending(subject, image, target, depth) {
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
fn named(subject: &Subject, image: usize, address: u64) -> Option<(Ending, String)> {
    let image = &subject.images[image];
    let name = match image.stub(address) {
        Some(stub) => stub.function.clone(),
        None => image.function(address).filter(|function| function.start == address)?.name(),
    };
    ending(&name).map(|ending| (ending, short(&name)))
}

/// How a function of the program's own that never returns ends: it has no return, and calls one that never does.
fn own_ending(subject: &Subject, image: usize, address: u64, depth: usize) -> Option<(Ending, String)> {
    let listing = subject.listing(image, address).filter(|_| depth > 0)?;
    let start = subject.images[image].function(address).filter(|function| function.start == address)?.start;
    if listing.instructions.iter().any(|instruction| returns(instruction, start, &listing)) {
        return None;
    }
    let called = listing.instructions.iter().filter(|instruction| instruction.is_call_near());
    let mut endings = called.filter_map(|instruction| {
        let target = instruction.near_branch_target();
        named(subject, image, target).or_else(|| own_ending(subject, image, target, depth - 1))
    });
    let (kind, _) = endings.next()?;
    let name = subject.images[image].function(address)?.name();
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

fn saw(kind: Ending, by: &str) -> String {
    match kind {
        Ending::Assertion => format!("an assertion ({by}) that held each time"),
        Ending::Safety => format!("a check of the build mode ({by}) that held each time"),
        _ => format!("a guard that leads to {by} and held each time"),
    }
}

fn why(kind: Ending) -> &'static str {
    match kind {
        Ending::Safety => {
            "The build mode checks each of these operations; the checks, and what they keep the compiler from doing, cost \
             more than the work."
        }
        _ => "It is executed with the work and says nothing that tests could not say.",
    }
}

fn remedy(kind: Ending, by: &str) -> &'static str {
    match kind {
        Ending::Assertion if by.contains("__assert") => "build with -DNDEBUG what is measured and shipped",
        Ending::Assertion => "make it a debug assertion, or prove it once ahead of the loop",
        Ending::Safety => {
            "build for release, or switch the checks off in this function once its input is proven"
        }
        _ => {
            "put it behind a build option that is off in what is measured and shipped, or prove it once ahead of the loop"
        }
    }
}

/// Several checks of one line are one.
fn one_per_line(found: Vec<Found>) -> Vec<Found> {
    let plain = |mut one: Found| {
        one.saw = "a check of the build mode that held each time".to_owned();
        one
    };
    by_line(found.into_iter().map(plain).collect())
}

/// Checks of the build mode are many: one finding per source file, at its most executed line, and one for all libraries.
fn by_file(found: Vec<Found>) -> Vec<Found> {
    let mut files: BTreeMap<Option<String>, Vec<Found>> = BTreeMap::new();
    for one in found {
        let own = one.place.file.clone().filter(|file| !is_library(file));
        files.entry(own).or_default().push(one);
    }
    let merged = files.into_iter().filter_map(|(file, mut found)| {
        found.sort_by_key(|one| std::cmp::Reverse(one.executed));
        let lines = found.len();
        let (branches, misses) =
            (found.iter().map(|one| one.branches).sum(), found.iter().map(|one| one.misses).sum());
        let also = found.iter().skip(1).map(|one| said(&one.place)).collect();
        let first = found.into_iter().next()?;
        let whose = if file.is_some() { "" } else { " in libraries" };
        let saw = match lines {
            1 => first.saw.clone(),
            _ => format!(
                "checks of the build mode at {lines} lines{whose}, all held each time; the most executed"
            ),
        };
        Some(Found { saw, branches, misses, also, ..first })
    });
    merged.collect()
}
