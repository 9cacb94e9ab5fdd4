//! Hot branches that depend only on values which nothing changes while the program works.
//!
//! Such a branch went the same way each time, and all that its condition compares are constants and memory at constant places
//! (static variables, a thread's own, fields of what a static pointer points to) that no executed code of the program wrote to
//! but a few times. What asks whether a pointer is there, and it always was, is a lazy beginning and no configuration. Not
//! seen: configuration in a structure that functions are given.

use super::super::origin::{Base, Cell, Condition, Origin, Reader};
use super::super::subject::Subject;
use super::{Found, by_line};

/// Looks for configuration branches.
pub fn look(subject: &Subject) -> Vec<Found> {
    let mut found = Vec::new();
    for (number, site) in subject.sites.iter().enumerate() {
        let seen = &site.seen;
        let one_sided = seen.taken == 0 || seen.taken == seen.executed;
        let is_candidate = seen.class.is_conditional() && one_sided && subject.heat.is_hot(seen.executed);
        let Some(image) = seen.place.image.filter(|_| is_candidate && subject.is_own(seen.place)) else {
            continue;
        };
        if subject.is_library(&site.frames) {
            continue;
        }
        let Some(listing) = subject.listing(image, seen.place.address) else { continue };
        let Some(at) = listing.index(seen.place.address) else { continue };
        let is_table = |address| subject.is_table(image, address);
        let condition = Reader::new(&listing, &is_table).condition(at);
        if !is_steady(subject, image, &condition, seen.executed) || is_lazy(&condition, seen.taken > 0) {
            continue;
        }
        let way = if seen.taken == 0 { "not taken" } else { "taken" };
        let place = subject.spot_of_site(number);
        found.push(Found {
            saw: format!("the branch on {} goes the same way each time ({way})", what(&condition)),
            place,
            executed: Some(seen.executed),
            branches: seen.executed,
            misses: subject.costs[number],
            why: "What it asks was settled before the work began; the compiler can't know, so the code of both sides stays, \
                  and the question is asked each time."
                .to_owned(),
            remedy: "decide once, ahead of the loop (two loops, two functions), or make it a build option".to_owned(),
            ..Found::default()
        });
    }
    by_line(found)
}

/// Whether all that a condition depends on stays as it is.
fn is_steady(subject: &Subject, image: usize, condition: &Condition, executed: u64) -> bool {
    let mut cells = 0;
    for origin in &condition.origins {
        match origin {
            Origin::Constant => {}
            Origin::Cell(cell) if is_variable(subject, image, cell) => {
                cells += 1;
                if !subject.stores().is_steady(image, cell, executed) {
                    return false;
                }
            }
            _ => return false,
        }
    }
    cells > 0
}

/// Memory that a program can write; a constant table is none.
fn is_variable(subject: &Subject, image: usize, cell: &Cell) -> bool {
    let section = match cell.base {
        Base::File => subject.images[image].section(cell.offset),
        Base::Pointed(pointer) => subject.images[image].section(pointer),
        Base::Thread | Base::ThreadSlot(_) => return true,
    };
    !section.starts_with(".rodata") && !section.starts_with(".data.rel.ro")
}

/// Whether it asks if there is a pointer, and there always was one.
fn is_lazy(condition: &Condition, taken: bool) -> bool {
    let was_zero = condition.taken_if_equal.map(|equal| equal == taken);
    condition.is_null_check && was_zero != Some(true)
}

/// What is asked about.
fn what(condition: &Condition) -> &'static str {
    let is_threads = |origin: &Origin| {
        matches!(origin, Origin::Cell(Cell { base: Base::Thread | Base::ThreadSlot(_), .. }))
    };
    if condition.origins.iter().any(is_threads) { "a variable of the thread" } else { "a static variable" }
}
