//! Figures and words of the tables.

use super::page::{
    Against, Brought, CountStep, DiaryPage, EntrantCounts, PageEntrant, PageRole, StageCell, StageStep,
};
use crate::ink::Ink;
use assay_pure::words;

/// What a step brought, with its colour.
pub fn brought(step: &StageStep) -> (&'static str, Ink) {
    match step.brought {
        Brought::Faster => ("faster", Ink::Good),
        Brought::Slower => ("slower", Ink::Bad),
        Brought::Ghost => ("ghost", Ink::Doubt),
        Brought::OnlyCounts => ("counts only", Ink::Plain),
        Brought::Nothing => ("no change", Ink::Plain),
        Brought::Open => ("undecided", Ink::Doubt),
    }
}

/// The change of time over placements.
pub fn time_change(step: Option<&StageStep>) -> String {
    let code = step.and_then(|step| step.time.as_ref()?.code);
    code.map_or_else(String::new, |code| code.change())
}

/// The change of time over placements with its verdict: "-65.8 % ± 1.5 faster".
pub fn time_verdict(step: Option<&StageStep>) -> String {
    match (time_change(step), step) {
        (change, Some(step)) if !change.is_empty() => format!("{change} {}", brought(step).0),
        (change, _) => change,
    }
}

/// The session that a row is from, where there are several.
pub fn session_of(page: &DiaryPage, entrant: &PageEntrant) -> String {
    let session = entrant.session.filter(|_| page.sessions.len() > 1);
    session.map(|session| session.to_string()).unwrap_or_default()
}

/// A count of a step by its name.
pub fn count<'a>(step: Option<&'a StageStep>, quantity: &str) -> Option<&'a CountStep> {
    step?.counts.iter().find(|count| count.quantity == quantity)
}

/// An exact change: "-47.4 %", "same".
pub fn count_change(step: Option<&StageStep>, quantity: &str) -> String {
    match count(step, quantity) {
        None => String::new(),
        Some(count) if count.before == count.after => "same".into(),
        Some(CountStep { ratio: Some(ratio), .. }) => words::change(*ratio),
        Some(_) => "from 0".into(),
    }
}

/// A figure of a cell's counts.
pub fn counted(cell: &StageCell, figure: impl Fn(&EntrantCounts) -> Option<f64>) -> String {
    cell.counts.as_ref().and_then(figure).map_or_else(|| "-".into(), words::ns)
}

/// "10.8 %".
pub fn rate(cell: &StageCell) -> String {
    let rate = cell.counts.as_ref().and_then(|counts| counts.miss_rate);
    rate.map_or_else(|| "-".into(), words::rate)
}

/// A part of what was saved: "78 %", "-5 %".
pub fn part(part: Option<f64>) -> String {
    part.map_or_else(String::new, words::part)
}

/// A stage or reference with figures in a role, and what its steps brought there.
pub struct StageRow<'a> {
    /// Its figures.
    pub cell: &'a StageCell,
    /// What it is.
    pub entrant: &'a PageEntrant,
    /// The step from the stage before.
    pub before: Option<&'a StageStep>,
    /// The step from the first stage.
    pub first: Option<&'a StageStep>,
    /// Its part of all that was saved in time.
    pub share: Option<f64>,
}

/// The rows of a role's table: what was neither timed nor counted has none.
pub fn rows<'a>(page: &'a DiaryPage, role: &'a PageRole) -> impl Iterator<Item = StageRow<'a>> {
    let measured = role.cells.iter().filter(|cell| cell.time.is_some() || cell.counts.is_some());
    measured.filter_map(move |cell| {
        let own =
            |against| page.steps_of(&role.name, against).find(|step: &&StageStep| step.stage == cell.entrant);
        let rank = role.ranking.iter().find(|found| found.stage == cell.entrant);
        Some(StageRow {
            cell,
            entrant: page.entrant(&cell.entrant)?,
            before: own(Against::Before),
            first: own(Against::First),
            share: rank.and_then(|found| found.time),
        })
    })
}
