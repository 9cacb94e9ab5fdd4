//! What of a diary was not measured: one cause of many failures is told once.

use super::page::DiaryPage;
use assay_pure::words;

/// Stages that are named where one cause is of many.
const MOST_NAMED: usize = 3;

/// A cause, and what it is of.
pub struct NotMeasured {
    of: Vec<String>,
    /// The first reason that begins so, with all its lines.
    pub why: String,
}

impl NotMeasured {
    /// "debug, release, hints and 26 more".
    pub fn what(&self) -> String {
        let named: Vec<&str> = self.of.iter().take(MOST_NAMED).map(String::as_str).collect();
        match self.of.len() - named.len() {
            0 => words::list(&named),
            more => format!("{} and {more} more", named.join(", ")),
        }
    }

    /// Its first line.
    pub fn brief(&self) -> &str {
        self.why.lines().next().unwrap_or_default()
    }
}

/// All causes in the order of the page: of entrants, then of cells, then of single runs.
pub fn not_measured(page: &DiaryPage) -> Vec<NotMeasured> {
    let of_entrants =
        page.entrants.iter().filter_map(|entrant| Some((entrant.name.clone(), entrant.failed.as_ref()?)));
    let of_cells = page.roles.iter().flat_map(|role| {
        let known = |name: &str| page.entrant(name).is_some_and(|entrant| entrant.failed.is_some());
        let cells = role.cells.iter().filter(move |cell| !known(&cell.entrant));
        cells.filter_map(|cell| Some((format!("{} as {}", cell.entrant, role.name), cell.failed.as_ref()?)))
    });
    let of_runs = page.sessions.iter().flat_map(|session| &session.spoilt).map(|spoilt| {
        (format!("{} of {}", words::plural(spoilt.visits, "run"), spoilt.entrant), &spoilt.reason)
    });
    let mut causes: Vec<NotMeasured> = Vec::new();
    for (what, why) in of_entrants.chain(of_cells).chain(of_runs) {
        let first = why.lines().next().unwrap_or_default();
        match causes.iter_mut().find(|cause| cause.brief() == first) {
            Some(cause) => cause.of.push(what),
            None => causes.push(NotMeasured { of: vec![what], why: why.clone() }),
        }
    }
    causes
}
