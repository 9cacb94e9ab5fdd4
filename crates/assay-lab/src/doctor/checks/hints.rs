//! Hints that contradict what happens, in a hot place: the audit of `assay sites --hints`, for the program's own source.

use super::super::names::is_library;
use super::super::subject::Subject;
use super::{Found, by_line};
use assay_pure::trace::hints::Verdict;
use assay_trace::sites::audit::{AuditOrigin, Located, audit};

/// Looks for wrong hints.
pub fn look(subject: &Subject) -> Vec<Found> {
    let own: Vec<usize> =
        (0..subject.sites.len()).filter(|&number| subject.is_own(subject.sites[number].seen.place)).collect();
    let located: Vec<&Located> = own.iter().map(|&number| &subject.sites[number]).collect();
    let mut found = Vec::new();
    for held in audit(&subject.images, &located, &subject.sources) {
        let executed = held.likely + held.unlikely + held.unknown;
        let is_own = held.file.as_deref().is_none_or(|file| !is_library(file));
        // What the layout alone says may be the compiler's guess and nobody's hint.
        let is_hint = held.origin != AuditOrigin::ColdPart;
        let Some(&first) = held.sites.first() else { continue };
        if held.verdict != Verdict::Wrong || !subject.heat.is_hot(executed) || !is_own || !is_hint {
            continue;
        }
        let sites = || held.sites.iter().map(|&site| own[site]);
        let mut place = subject.spot_of_site(own[first]);
        place.file = held.file.clone().or(place.file);
        place.line = (held.line > 0).then_some(held.line).or(place.line);
        let percent = held.unlikely as f64 * 100.0 / (held.likely + held.unlikely).max(1) as f64;
        found.push(Found {
            saw: format!("`{}`: the side called unlikely is executed {percent:.0} % of the time", held.text),
            place,
            executed: Some(executed),
            branches: sites().map(|site| subject.sites[site].seen.executed).sum(),
            misses: sites().map(|site| subject.costs[site]).sum(),
            why: "The compiler moves the side that is mostly executed out of line and spends jumps and registers on the other."
                .to_owned(),
            remedy: "turn the hint round, or take it away and build with a profile".to_owned(),
            ..Found::default()
        });
    }
    by_line(found)
}
