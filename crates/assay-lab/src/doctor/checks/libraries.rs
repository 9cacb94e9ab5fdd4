//! Functions that have no place in a hot loop: the environment, clocks, text, random numbers; and instructions of the kind.
//!
//! A call counts at the line of the program's own source that makes it; calls within libraries do not. Functions that were
//! inlined count by their first instruction.

use super::super::names::{Purpose, is_library, purpose};
use super::super::subject::Subject;
use super::{Found, by_line, said};
use assay_report::sites::names::short;
use assay_trace::sites::gather::SiteAddress;
use assay_trace::sites::image::SourceFrame;
use iced_x86::Mnemonic;
use std::collections::BTreeMap;

/// Reads of the environment.
pub fn environment(subject: &Subject) -> Vec<Found> {
    let words = Words {
        why: "Each read walks through all variables, comparing strings; what it finds does not change while a program works.",
        remedy: "read it once at the start into a variable, or leave it to the build",
    };
    one_per_line(called(subject, Purpose::Environment, &words))
}

/// Reads of clocks and of the time-stamp counter.
pub fn clock(subject: &Subject) -> Vec<Found> {
    let words = Words {
        why: "Reading a clock takes 20 to 600 ns, as long as many a unit of work, and it measures itself too.",
        remedy: "time many units at once, from outside the loop, or make the profile a build option that is off",
    };
    let counter =
        Words { why: "It takes 20 to 40 cycles and keeps the processor from reordering across it.", ..words };
    let mut found = called(subject, Purpose::Clock, &words);
    found.extend(executed(subject, "the time-stamp counter is read", &counter, |mnemonic| {
        matches!(mnemonic, Mnemonic::Rdtsc | Mnemonic::Rdtscp)
    }));
    one_per_line(found)
}

/// Text.
pub fn text(subject: &Subject) -> Vec<Found> {
    let words = Words {
        why: "Making text costs hundreds of branches, hard to predict, and writing it a call of the system.",
        remedy: "take it out of the loop, or put it behind a build option that is off in what is measured and shipped",
    };
    one_per_line(called(subject, Purpose::Text, &words))
}

/// Random numbers.
pub fn random(subject: &Subject) -> Vec<Found> {
    let words = Words {
        why: "What is measured then is the generator as well, and a branch on what it draws can't be predicted; with a \
              seed from a clock no two executions do the same.",
        remedy: "draw ahead of the measured region into a list, from a seed that is given, or make it a build option",
    };
    let mut found = called(subject, Purpose::Random, &words);
    found.extend(executed(subject, "the processor draws a random number", &words, |mnemonic| {
        matches!(mnemonic, Mnemonic::Rdrand | Mnemonic::Rdseed)
    }));
    one_per_line(found)
}

/// Several functions of one purpose called at one line are one finding: the one that takes most.
fn one_per_line(found: Vec<Found>) -> Vec<Found> {
    let mut kept: Vec<Found> = Vec::new();
    for one in by_line(found) {
        let same = |known: &&mut Found| {
            known.place.line.is_some()
                && (&known.place.file, known.place.line) == (&one.place.file, one.place.line)
        };
        match kept.iter_mut().find(same) {
            Some(known) if known.branches < one.branches => *known = one,
            Some(_) => {}
            None => kept.push(one),
        }
    }
    kept
}

#[derive(Clone, Copy)]
struct Words {
    why: &'static str,
    remedy: &'static str,
}

/// Hot calls of functions of a purpose.
fn called(subject: &Subject, wanted: Purpose, words: &Words) -> Vec<Found> {
    let mut found = Vec::new();
    for call in subject.calls().iter().filter(|call| purpose(&call.callee) == Some(wanted)) {
        let site = &subject.sites[call.site];
        if !subject.heat.is_hot(call.executed) || is_within(subject, &site.frames, site.seen.place, wanted) {
            continue;
        }
        found.push(Found {
            saw: format!("{} is called", short(&call.callee)),
            also: callers(subject, site.seen.place),
            place: match site.seen.place.image {
                Some(image) => subject.own_spot(image, site.seen.place.address),
                None => subject.spot_of_site(call.site),
            },
            executed: Some(call.executed),
            branches: call.branches + call.executed,
            misses: call.misses,
            why: words.why.to_owned(),
            remedy: words.remedy.to_owned(),
        });
    }
    found.extend(inlined(subject, wanted, words));
    found
}

/// Where the function that holds a place is called from, in hot places of the program's own source: there the reader may
/// leave the call out.
fn callers(subject: &Subject, place: SiteAddress) -> Vec<String> {
    let start =
        place.image.and_then(|image| subject.images[image].function(place.address)).map(|own| own.start);
    let Some(start) = start else { return Vec::new() };
    let of = subject.calls().iter().filter(|call| {
        let at = call.at.filter(|at| at.image == place.image && at.address == start);
        at.is_some() && subject.heat.is_hot(call.executed)
    });
    let mut found: Vec<String> = of.map(|call| said(&subject.spot_of_site(call.site))).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether a place is in a function of the same purpose: then who called that one is told.
fn is_within(subject: &Subject, frames: &[SourceFrame], place: SiteAddress, wanted: Purpose) -> bool {
    let of_symbol = || {
        let image = place.image?;
        Some(subject.images[image].function(place.address)?.name())
    };
    let is_own_source =
        frames.first().and_then(|frame| frame.file.as_deref()).is_some_and(|file| !is_library(file));
    let names = frames.iter().filter_map(|frame| frame.function.clone()).chain(of_symbol());
    !is_own_source && names.into_iter().any(|name| purpose(&name) == Some(wanted))
}

/// Functions of a library that were inlined into the program's own code.
fn inlined(subject: &Subject, wanted: Purpose, words: &Words) -> Vec<Found> {
    let mut copies: BTreeMap<(usize, u64), (u64, u64, String)> = BTreeMap::new();
    for (&(image, address), &times) in
        subject.executed.iter().filter(|(_, times)| subject.heat.is_hot(**times))
    {
        let frames = subject.images[image].frames(address);
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
    let found = copies.into_iter().map(|((image, _), (address, times, name))| Found {
        saw: format!("{name} is inlined"),
        place: subject.spot(image, address),
        executed: Some(times),
        why: words.why.to_owned(),
        remedy: words.remedy.to_owned(),
        ..Found::default()
    });
    found.collect()
}

/// Hot instructions of a kind.
fn executed(subject: &Subject, saw: &str, words: &Words, wanted: fn(Mnemonic) -> bool) -> Vec<Found> {
    let mut found = Vec::new();
    for (&(image, address), &times) in
        subject.executed.iter().filter(|(_, times)| subject.heat.is_hot(**times))
    {
        let Some(listing) = subject.listing(image, address) else { continue };
        let Some(at) = listing.index(address) else { continue };
        if wanted(listing.instructions[at].mnemonic()) {
            found.push(Found {
                saw: saw.to_owned(),
                place: subject.spot(image, address),
                executed: Some(times),
                why: words.why.to_owned(),
                remedy: words.remedy.to_owned(),
                ..Found::default()
            });
        }
    }
    found
}
