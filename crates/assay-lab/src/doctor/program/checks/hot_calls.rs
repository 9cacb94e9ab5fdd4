//! Functions that have no place in a hot loop: the environment, clocks, text, random numbers, the system; and instructions of the
//! kind.
//!
//! A call counts at the line of the program's own source that makes it; calls within libraries do not. Functions that were
//! inlined count by their first instruction.

use super::{by_line, on_one_line};
use crate::doctor::program::call::ProgramCall;
use crate::doctor::program::facts::ProgramFacts;
use crate::examine::check::{Advice, CheckFinding, CheckOutcome, FindingPlace, TracedCost};
use crate::examine::names::{FunctionPurpose, is_library, purpose};
use assay_report::sites::names::short;
use assay_trace::sites::gather::SiteAddress;
use assay_trace::sites::image::SourceFrame;
use iced_x86::Mnemonic;
use std::collections::BTreeMap;

const ENVIRONMENT: Advice = Advice::new(
    "Each read compares strings with all variables, and what it finds does not change while the program works.",
    "read it once at the start into a variable, or make it a build option",
);
const OUTSIDE: &str =
    "time many units at once from outside the loop, or put the profile behind a build option that is off";
const CLOCK: Advice = Advice::new(
    "Reading a clock takes 20 to 600 ns, as long as many a unit of work, and is part of what it times.",
    OUTSIDE,
);
const COUNTER: Advice =
    Advice::new("It takes 20 to 40 cycles and keeps the processor from reordering across it.", OUTSIDE);
const TEXT: Advice = Advice::new(
    "Formatting takes hundreds of branches that are hard to predict, and writing a system call.",
    "move it out of the loop, or put it behind a build option that is off in what is measured and shipped",
);
const RANDOM: Advice = Advice::new(
    "The generator is measured too, and a branch on what it draws cannot be predicted; with a seed from a clock no two runs do the \
     same work.",
    "draw before the measured region into a list, from a fixed seed, or make it a build option",
);
const SYSTEM: Advice = Advice::new(
    "Entering and leaving the kernel takes 100 to 1000 ns, and evicts caches and predictors that the program had warm.",
    "process many units per call: a larger buffer, a batch (sendmmsg, recvmmsg, writev), a mapping",
);

/// Reads of the environment.
pub fn environment(facts: &ProgramFacts) -> CheckOutcome {
    one_per_line(called(facts, FunctionPurpose::Environment, &ENVIRONMENT))
}

/// Reads of clocks and of the time-stamp counter.
pub fn clock(facts: &ProgramFacts) -> CheckOutcome {
    let mut found = called(facts, FunctionPurpose::Clock, &CLOCK);
    found.extend(executed(facts, "the time-stamp counter is read", &COUNTER, |mnemonic| {
        matches!(mnemonic, Mnemonic::Rdtsc | Mnemonic::Rdtscp)
    }));
    one_per_line(found)
}

/// Text.
pub fn text(facts: &ProgramFacts) -> CheckOutcome {
    one_per_line(called(facts, FunctionPurpose::Text, &TEXT))
}

/// Random numbers.
pub fn random(facts: &ProgramFacts) -> CheckOutcome {
    let mut found = called(facts, FunctionPurpose::Random, &RANDOM);
    found.extend(executed(facts, "the processor draws a random number", &RANDOM, |mnemonic| {
        matches!(mnemonic, Mnemonic::Rdrand | Mnemonic::Rdseed)
    }));
    one_per_line(found)
}

/// Several functions of one purpose called at one line are one finding: the one that takes most.
fn one_per_line(found: Vec<CheckFinding>) -> CheckOutcome {
    let mut kept: Vec<CheckFinding> = Vec::new();
    for one in by_line(found) {
        match kept.iter_mut().find(|known| on_one_line(known, &one)) {
            Some(known) if known.cost.branches < one.cost.branches => *known = one,
            Some(_) => {}
            None => kept.push(one),
        }
    }
    CheckOutcome::found_or(kept, None)
}

/// What a call costs: the callee's branches and its own.
fn cost(call: &ProgramCall) -> TracedCost {
    TracedCost { executed: Some(call.executed), branches: call.branches + call.executed, misses: call.misses }
}

/// Hot calls of functions of a purpose.
fn called(facts: &ProgramFacts, wanted: FunctionPurpose, advice: &Advice) -> Vec<CheckFinding> {
    let mut found = Vec::new();
    for call in facts.calls().iter().filter(|call| purpose(&call.callee) == Some(wanted)) {
        let site = &facts.sites[call.site];
        if !facts.heat.is_hot(call.executed) || is_within(facts, &site.frames, site.seen.place, wanted) {
            continue;
        }
        let place = match site.seen.place.image {
            Some(image) => facts.own_spot(image, site.seen.place.address),
            None => facts.spot_of_site(call.site),
        };
        found.push(CheckFinding {
            also: callers(facts, site.seen.place),
            cost: cost(call),
            ..CheckFinding::new(
                FindingPlace::Code(place),
                format!("{} is called", short(&call.callee)),
                advice.clone(),
            )
        });
    }
    found.extend(inlined(facts, wanted, advice));
    found
}

/// Where the function that holds a place is called from, in hot places of the program's own source: there the reader may
/// leave the call out.
fn callers(facts: &ProgramFacts, place: SiteAddress) -> Vec<String> {
    let start =
        place.image.and_then(|image| facts.images[image].function(place.address)).map(|own| own.start);
    let Some(start) = start else { return Vec::new() };
    let of = facts.calls().iter().filter(|call| {
        let at = call.at.filter(|at| at.image == place.image && at.address == start);
        at.is_some() && facts.heat.is_hot(call.executed)
    });
    let mut found: Vec<String> = of.map(|call| facts.spot_of_site(call.site).label()).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether a place is in a function of the same purpose: then who called that one is reported.
fn is_within(
    facts: &ProgramFacts,
    frames: &[SourceFrame],
    place: SiteAddress,
    wanted: FunctionPurpose,
) -> bool {
    let of_symbol = || {
        let image = place.image?;
        Some(facts.images[image].function(place.address)?.name())
    };
    let is_own_source =
        frames.first().and_then(|frame| frame.file.as_deref()).is_some_and(|file| !is_library(file));
    let names = frames.iter().filter_map(|frame| frame.function.clone()).chain(of_symbol());
    !is_own_source && names.into_iter().any(|name| purpose(&name) == Some(wanted))
}

/// Functions of a library that were inlined into the program's own code.
fn inlined(facts: &ProgramFacts, wanted: FunctionPurpose, advice: &Advice) -> Vec<CheckFinding> {
    let mut copies: BTreeMap<(usize, u64), (u64, u64, String)> = BTreeMap::new();
    for HotInstruction { image, address, times } in hot_instructions(facts) {
        let frames = facts.images[image].frames(address);
        for pair in frames.windows(2) {
            let [inner, outer] = pair else { continue };
            let (Some(name), Some(copy)) = (&inner.function, inner.copy) else { continue };
            let is_own = outer.file.as_deref().is_some_and(|file| !is_library(file));
            let of_library = inner.file.as_deref().is_some_and(is_library);
            if is_own && of_library && purpose(name) == Some(wanted) {
                let known = copies.entry((image, copy)).or_insert((address, times, short(name)));
                known.1 = known.1.max(times);
            }
        }
    }
    let found = copies.into_iter().map(|((image, _), (address, times, name))| CheckFinding {
        cost: TracedCost::executed(times),
        ..CheckFinding::new(
            FindingPlace::Code(facts.spot(image, address)),
            format!("{name} is inlined"),
            advice.clone(),
        )
    });
    found.collect()
}

/// An instruction of one of the program's own files.
struct HotInstruction {
    /// The file's number.
    image: usize,
    address: u64,
    /// Executions.
    times: u64,
}

fn hot_instructions(facts: &ProgramFacts) -> impl Iterator<Item = HotInstruction> {
    let one = |(&(image, address), &times): (&(usize, u64), &u64)| HotInstruction { image, address, times };
    facts.executed.iter().map(one).filter(|found| facts.heat.is_hot(found.times))
}

/// Hot instructions of a kind.
fn executed(
    facts: &ProgramFacts,
    saw: &str,
    advice: &Advice,
    wanted: fn(Mnemonic) -> bool,
) -> Vec<CheckFinding> {
    let is_wanted = |image, address| {
        facts.instruction(image, address).is_some_and(|instruction| wanted(instruction.mnemonic()))
    };
    let found = hot_instructions(facts).filter(|found| is_wanted(found.image, found.address));
    found
        .map(|HotInstruction { image, address, times }| CheckFinding {
            cost: TracedCost::executed(times),
            ..CheckFinding::new(FindingPlace::Code(facts.spot(image, address)), saw, advice.clone())
        })
        .collect()
}

/// A system call for each unit of work.
///
/// Seen are calls of the C library's functions that are system calls by another name, and system-call instructions of the
/// program's own files, as those of Zig. Clocks and random numbers have checks of their own. Without a number of units a call
/// that is hot counts as one per unit.
pub fn system_calls(facts: &ProgramFacts) -> CheckOutcome {
    let said = |name: &str| format!("{name} makes a system call each time");
    let mut found = Vec::new();
    let calls = facts.calls().iter();
    for call in calls.filter(|call| call.is_foreign && purpose(&call.callee) == Some(FunctionPurpose::System))
    {
        // More than there were at all: the function made no system call.
        if facts.heat.is_each(call.executed) && call.executed <= facts.whole.system_calls {
            let place = FindingPlace::Code(facts.spot_of_site(call.site));
            let saw = said(&short(&call.callee));
            found.push(CheckFinding { cost: cost(call), ..CheckFinding::new(place, saw, SYSTEM) });
        }
    }
    for HotInstruction { image, address, times } in hot_instructions(facts) {
        let is_call =
            facts.instruction(image, address).is_some_and(|code| code.mnemonic() == Mnemonic::Syscall);
        if !is_call || !facts.heat.is_each(times) {
            continue;
        }
        let frames = facts.images[image].frames(address);
        let names = || frames.iter().filter_map(|frame| frame.function.as_deref());
        let is_reported =
            |name: &str| matches!(purpose(name), Some(FunctionPurpose::Clock | FunctionPurpose::Random));
        if names().any(is_reported) {
            continue;
        }
        let name = names().find(|name| !name.contains("syscall")).map_or("the code".to_owned(), short);
        let place = FindingPlace::Code(facts.own_spot(image, address));
        found.push(CheckFinding {
            cost: TracedCost::executed(times),
            ..CheckFinding::new(place, said(&name), SYSTEM)
        });
    }
    CheckOutcome::found_or(by_line(found), None)
}
