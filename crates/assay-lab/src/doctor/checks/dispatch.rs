//! Hot indirect calls through a loaded pointer that only ever reach one function.
//!
//! The pointer comes from memory: a static variable, a thread's own, a field of a structure. Calls through the tables of the
//! dynamic linker are none, nor calls of what a function was given (a comparison for a sort).

use super::super::origin::{Base, Origin, Reader};
use super::super::subject::Subject;
use super::{Found, by_line};
use assay_pure::trace::Kind;
use assay_report::sites::names::short;
use assay_trace::sites::gather::SiteAddress;
use std::collections::HashMap;

/// Looks for dispatch without a choice.
pub fn look(subject: &Subject) -> Vec<Found> {
    let mut reached: HashMap<SiteAddress, Vec<SiteAddress>> = HashMap::new();
    for (from, to, _) in subject.arrivals.iter().filter(|(from, ..)| subject.is_own(*from)) {
        reached.entry(*from).or_default().push(*to);
    }
    let mut found = Vec::new();
    for (number, site) in subject.sites.iter().enumerate() {
        let seen = &site.seen;
        if !seen.class.has_predicted_target()
            || !subject.heat.is_hot(seen.executed)
            || subject.is_library(&site.frames)
        {
            continue;
        }
        let Some(&[target]) = reached.get(&seen.place).map(Vec::as_slice) else { continue };
        let Some(image) =
            seen.place.image.filter(|image| subject.images[*image].stub(seen.place.address).is_none())
        else {
            continue;
        };
        let Some(callee) = function_at(subject, target) else { continue };
        if !is_loaded(subject, image, seen.place.address, seen.class.kind() == Kind::Call) {
            continue;
        }
        found.push(Found {
            saw: format!("an indirect call that always goes to {}", short(&callee)),
            place: subject.spot_of_site(number),
            executed: Some(seen.executed),
            branches: seen.executed,
            misses: subject.costs[number],
            why: "Nothing is chosen: the compiler can't inline the function, and the processor needs a target predicted."
                .to_owned(),
            remedy: "call the function itself, or choose once ahead of the loop (a template, a generic, a build option)"
                .to_owned(),
            ..Found::default()
        });
    }
    by_line(found)
}

fn function_at(subject: &Subject, place: SiteAddress) -> Option<String> {
    let function = subject.images[place.image?].function(place.address)?;
    (function.start == place.address).then(|| function.name())
}

/// Whether the pointer comes from memory that a program can write.
fn is_loaded(subject: &Subject, image: usize, address: u64, is_call: bool) -> bool {
    let Some(listing) = subject.listing(image, address) else { return false };
    let Some(at) = listing.index(address) else { return false };
    let is_table = |address| subject.is_table(image, address);
    let origins = Reader::new(&listing, &is_table).target(at);
    origins.iter().all(|origin| match origin {
        Origin::Cell(cell) => match cell.base {
            Base::File => !is_table(cell.offset),
            _ => true,
        },
        // Of jumps the elements of a table are a switch.
        Origin::Memory => is_call,
        _ => false,
    }) && !origins.is_empty()
}
