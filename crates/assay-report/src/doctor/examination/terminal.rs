//! The examination as text: the answer, a paragraph per finding, then what is well, what is accepted, what was not looked for.

use super::page::{Examination, Examined, Kind, State, Symptom};
use crate::ink::Ink;
use crate::sheet::Sheet;

/// Findings of one check that are shown.
const SHOWN: usize = 12;

/// The page as text, no line wider than `width` columns (at least 40), with ANSI colours if `colour`.
pub fn render_examination(page: &Examination, width: usize, colour: bool) -> String {
    let mut sheet = Sheet::new(width, colour);
    sheet.paragraph(Ink::Bold, "", &page.answer);
    let label = match page.kind {
        Kind::Machine => "machine     ",
        Kind::Experiment => "experiment  ",
    };
    sheet.labelled(Ink::Dim, label, &page.subject);
    for method in &page.method {
        sheet.labelled(Ink::Dim, "looked at   ", method);
    }
    if !page.warnings.is_empty() {
        sheet.gap();
    }
    for warning in &page.warnings {
        sheet.labelled(Ink::Doubt, "! ", warning);
    }
    for state in [State::Warning, State::Note] {
        for check in &page.checks {
            found(page, check, state, &mut sheet);
        }
    }
    accepted(page, &mut sheet);
    rest(page, &mut sheet);
    sheet.into_text()
}

fn found(page: &Examination, check: &Examined, state: State, sheet: &mut Sheet) {
    let is_of = |finding: &&Symptom| finding.check == check.name && finding.state == state;
    let own: Vec<&Symptom> = page.open().filter(is_of).collect();
    if own.is_empty() {
        return;
    }
    let mark = if state == State::Note { " (worth knowing)" } else { "" };
    sheet.heading(&format!("{}{mark}", check.title));
    let shown = &own[..own.len().min(SHOWN)];
    for (at, finding) in shown.iter().enumerate() {
        let ink = if state == State::Note { Ink::Doubt } else { Ink::Bad };
        if page.kind == Kind::Machine {
            // The heading says where.
            sheet.paragraph(ink, "    ", &finding.saw);
        } else {
            sheet.paragraph(ink, "  ", &finding.place);
            sheet.paragraph(Ink::Plain, "    ", &finding.saw);
        }
        // What is said of several in a row is said once, behind the last.
        let words = |finding: &Symptom| (finding.why.clone(), finding.remedy.clone());
        if shown.get(at + 1).is_none_or(|next| words(next) != words(finding)) {
            sheet.paragraph(Ink::Dim, "    ", &finding.why);
            sheet.labelled(Ink::Good, "    -> ", &finding.remedy);
        }
    }
    if own.len() > SHOWN {
        sheet.paragraph(Ink::Dim, "  ", &format!("and {} more: --json lists them", own.len() - SHOWN));
    }
}

/// What is meant, by its reason.
fn accepted(page: &Examination, sheet: &mut Sheet) {
    let mut groups: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for finding in &page.findings {
        let Some(because) = finding.accepted.as_deref() else { continue };
        match groups.iter_mut().find(|(check, known, _)| (*check, *known) == (&finding.check, because)) {
            Some((.., places)) => places.push(&finding.place),
            None => groups.push((&finding.check, because, vec![&finding.place])),
        }
    }
    for (check, because, places) in groups {
        sheet.gap();
        let place = match places.as_slice() {
            [one] => (*one).to_owned(),
            [first, others @ ..] => format!("{first} and {} more", others.len()),
            [] => String::new(),
        };
        sheet.labelled(Ink::Doubt, "accepted  ", &format!("{check}: {place}; the file says: {because}"));
    }
}

/// What is well and what could not be looked for.
fn rest(page: &Examination, sheet: &mut Sheet) {
    let clean = page.checks.iter().filter(|check| check.state == State::Ok && check.accepted == 0);
    let (seen, unseen): (Vec<&Examined>, Vec<&Examined>) = clean.partition(|check| check.saw.is_some());
    if !seen.is_empty() || !unseen.is_empty() {
        sheet.gap();
    }
    for check in seen {
        let saw = check.saw.as_deref().unwrap_or_default();
        sheet.labelled(Ink::Good, "well  ", &format!("{}: {saw}", check.name));
    }
    if !unseen.is_empty() {
        let names: Vec<&str> = unseen.iter().map(|check| check.name.as_str()).collect();
        sheet.labelled(Ink::Good, "not found  ", &names.join(", "));
    }
    for (state, label) in [(State::CannotTell, "cannot tell  "), (State::NotAsked, "not asked  ")] {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for check in page.checks.iter().filter(|check| check.state == state) {
            let reason = check.saw.as_deref().unwrap_or_default();
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, names)) => names.push(&check.name),
                None => reasons.push((reason, vec![&check.name])),
            }
        }
        for (reason, names) in reasons {
            sheet.labelled(Ink::Doubt, label, &format!("{}: {reason}", names.join(", ")));
        }
    }
}
