//! A call of the system for each unit of work.
//!
//! Seen are calls of the C library's functions that are system calls by another name, and system-call instructions of the
//! program's own files, as those of Zig. Clocks and random numbers have checks of their own. Without a number of units a call
//! that is hot counts as one per unit.

use super::super::names::{Purpose, purpose};
use super::super::subject::Subject;
use super::{Found, by_line};
use assay_report::sites::names::short;
use iced_x86::Mnemonic;

/// Looks for system calls per unit.
pub fn look(subject: &Subject) -> Vec<Found> {
    let mut found = Vec::new();
    for call in subject
        .calls()
        .iter()
        .filter(|call| call.is_foreign && purpose(&call.callee) == Some(Purpose::System))
    {
        // More than there were at all: the function did not ask the system.
        if subject.heat.is_each(call.executed) && call.executed <= subject.whole.system_calls {
            let mut one = of(short(&call.callee), call.executed);
            one.place = subject.spot_of_site(call.site);
            one.branches = call.branches + call.executed;
            one.misses = call.misses;
            found.push(one);
        }
    }
    for (&(image, address), &times) in
        subject.executed.iter().filter(|(_, times)| subject.heat.is_each(**times))
    {
        let Some(listing) = subject.listing(image, address) else { continue };
        let Some(at) = listing.index(address) else { continue };
        if listing.instructions[at].mnemonic() == Mnemonic::Syscall {
            let frames = subject.images[image].frames(address);
            let names = || frames.iter().filter_map(|frame| frame.function.as_deref());
            let told_elsewhere = |name: &str| matches!(purpose(name), Some(Purpose::Clock | Purpose::Random));
            if names().any(told_elsewhere) {
                continue;
            }
            let name = names().find(|name| !name.contains("syscall")).map_or("the code".to_owned(), short);
            let mut one = of(name, times);
            one.place = subject.own_spot(image, address);
            found.push(one);
        }
    }
    by_line(found)
}

fn of(name: String, executed: u64) -> Found {
    Found {
        saw: format!("{name} asks the system each time"),
        executed: Some(executed),
        why: "Entering and leaving the kernel costs 100 to 1000 ns and the caches and predictors that the program had warm."
            .to_owned(),
        remedy: "do many units with one call: a larger buffer, a batch (sendmmsg, recvmmsg, writev), a mapping".to_owned(),
        ..Found::default()
    }
}
