//! The answer of a history: what changed, and what to do about it.

use super::page::{ChangePoint, HistoryPage, HistorySeries, SeriesKind};
use super::{alike, machines};
use assay_pure::discover::quoted;
use assay_pure::history::GateReading;
use assay_pure::words;

/// The changes that are told, the newest first; those of the plain link only where the code did not change with it.
pub fn told(page: &HistoryPage) -> Vec<(&HistorySeries, &ChangePoint)> {
    let all = page.series.iter().flat_map(|series| series.changes.iter().map(move |change| (series, change)));
    let mut all: Vec<_> = all.collect();
    all.sort_by_key(|(series, change)| (std::cmp::Reverse(change.at), series.kind != SeriesKind::Contrast));
    all
}

/// The answer and what to do next.
pub fn answer(page: &HistoryPage) -> (String, Option<String>) {
    let over = format!(
        "{} over {}",
        words::plural(page.series.len() as u64, "series"),
        words::plural(page.runs.len() as u64, "run")
    );
    let next = next(page);
    if let Some(gate) = &page.gate {
        let word = match gate.reading {
            GateReading::Passed => "passed",
            GateReading::Failed => "failed",
            GateReading::Undecided => "is undecided",
        };
        let worst = gate.checks.iter().find(|check| check.reading == gate.reading);
        let of = worst
            .filter(|_| gate.reading != GateReading::Passed)
            .map_or(".".to_owned(), |check| format!(": {}: {}", check.series, check.note));
        let notes: String = gate.notes.iter().map(|note| format!(" {note}")).collect();
        return (format!("{}: the gate {} {word}{of}{notes}", page.name, gate.gate), next);
    }
    if let Some(said) = machines::sentence(page).filter(|_| page.is_once_each()) {
        return (format!("{}: {}.", page.name, said.text), next);
    }
    let told = told(page);
    let Some((_, newest)) = told.first() else {
        let examined = page.series.iter().any(|series| series.unexamined.is_none());
        let nothing = if examined { "no change" } else { "too few runs to detect changes" };
        return (with_machines(page, &format!("{nothing} in {over}.")), next);
    };
    let count = words::plural(told.len() as u64, "change");
    (with_machines(page, &format!("{count} in {over}; the newest: {}", newest.sentence)), next)
}

/// The name and what changed; ahead of it which machine is out of line and that machines disagree, behind it that they agree.
fn with_machines(page: &HistoryPage, changed: &str) -> String {
    let mut name = page.name.clone();
    if let Some(said) = alike::clause(page) {
        name += &format!(": {said}");
        return match machines::sentence(page).filter(|said| said.disagree) {
            Some(said) => format!("{name}; {}; {changed}", said.text),
            None => format!("{name}; {changed}"),
        };
    }
    match machines::sentence(page) {
        Some(said) if said.disagree => format!("{name}: {}; {changed}", said.text),
        Some(said) => format!("{name}: {changed} In all, {}.", said.text),
        None => format!("{name}: {changed}"),
    }
}

fn next(page: &HistoryPage) -> Option<String> {
    let named = alike::named(page);
    if !named.is_empty() {
        let left_out: String = named.iter().map(|name| format!(" --leave-out {}", quoted(name))).collect();
        return Some(format!(
            "`assay doctor` on {} looks for the cause; `assay history {}{left_out}` shows the others",
            words::list(&named),
            quoted(&page.name)
        ));
    }
    if page.is_once_each() && !page.across.is_empty() {
        return both_sides(page, machines::two_that_disagree(page)?);
    }
    let told = told(page);
    let Some((_, newest)) = told.first() else {
        let short = page.series.iter().find_map(|series| series.unexamined.clone());
        return short;
    };
    both_sides(page, (newest.before, newest.at))
}

/// Two runs by their numbers; none where one of them is in no ledger of the reader's own.
fn both_sides(page: &HistoryPage, (one, other): (usize, usize)) -> Option<String> {
    let (one, other) = (&page.runs[one].id, &page.runs[other].id);
    let campaigns = [one, other].iter().all(|id| id.parse::<i64>().is_ok());
    campaigns.then(|| format!("`assay report {one}` and `assay report {other}` show both sides"))
}
