//! The examination as text: the answer, what to do, a paragraph per finding, then what passed, what is intended, what did not run.

use super::page::{CheckResult, CheckState, DoctorFinding, Examination, ExaminedSubject, ExecutedProgram};
use crate::ink::{Ink, Palette};
use crate::link::SourcePlace;
use crate::sheet::Sheet;
use assay_pure::words::{count, fraction, list, plural, short};

/// Findings of one check that are shown.
const SHOWN: usize = 12;
/// Other places of a finding that are named.
const ALSO: usize = 4;

/// The page as text, no line wider than `width` columns (at least 40), with ANSI colours if `colour`.
pub fn render_examination(page: &Examination, width: usize, palette: impl Into<Palette>) -> String {
    let mut sheet = Sheet::new(width, palette);
    sheet.paragraph(Ink::Bold, "", &page.answer);
    sheet.labelled(Ink::Good, "-> ", &page.next);
    sheet.gap();
    let label = match page.kind {
        ExaminedSubject::Machine => "machine     ",
        ExaminedSubject::Experiment => "experiment  ",
        ExaminedSubject::Program => "program     ",
    };
    sheet.labelled(Ink::Dim, label, &page.subject);
    for method in page.method.iter().cloned().chain(page.traced.as_ref().map(executed)) {
        sheet.labelled(Ink::Dim, "examined    ", &method);
    }
    if !page.warnings.is_empty() {
        sheet.gap();
    }
    for warning in &page.warnings {
        sheet.labelled(Ink::Doubt, "! ", warning);
    }
    for state in [CheckState::Warning, CheckState::Note] {
        for check in &page.checks {
            found(page, check, state, &mut sheet);
        }
    }
    accepted(page, &mut sheet);
    rest(page, &mut sheet);
    sheet.into_text()
}

fn executed(traced: &ExecutedProgram) -> String {
    let mut text = format!(
        "traced: {} instructions, {}, {}",
        count(traced.instructions),
        plural(traced.branches, "branch"),
        plural(traced.system_calls, "system call")
    );
    if let Some(misses) = traced.misses {
        let missed = plural(misses.round() as u64, "misprediction");
        text += &format!(", {missed} (mean of {})", list(&traced.predictors));
    }
    let least = count(traced.hot_from);
    text += &match traced.units {
        Some(units) => format!("; {} of work, hot from {least} executions", plural(units, "unit")),
        None => format!("; hot from {least} executions; --units N gives figures per unit of work"),
    };
    text
}

fn found(page: &Examination, check: &CheckResult, state: CheckState, sheet: &mut Sheet) {
    let is_of = |finding: &&DoctorFinding| finding.check == check.name && finding.state == state;
    let own: Vec<&DoctorFinding> = page.open().filter(is_of).collect();
    if own.is_empty() {
        return;
    }
    let mark = if state == CheckState::Note { " (note)" } else { "" };
    sheet.heading(&format!("{}{mark}", check.title));
    let shown = &own[..own.len().min(SHOWN)];
    for (at, finding) in shown.iter().enumerate() {
        let ink = if state == CheckState::Note { Ink::Doubt } else { Ink::Bad };
        let saw = format!("{}{}", finding.saw, figures(finding));
        if page.kind == ExaminedSubject::Machine {
            // The heading says where.
            sheet.paragraph(ink, "    ", &saw);
        } else {
            let source = finding.code.as_ref().and_then(|code| code.file.as_deref().zip(code.line));
            let source = source.and_then(|(file, line)| SourcePlace::of(file, u64::from(line)));
            sheet.place(ink, "  ", &finding.place, source.as_ref());
            sheet.paragraph(Ink::Plain, "    ", &saw);
        }
        also(finding, sheet);
        // Advice for several findings in a row is given once, after the last.
        let advice = |finding: &DoctorFinding| (finding.why.clone(), finding.remedy.clone());
        if shown.get(at + 1).is_none_or(|next| advice(next) != advice(finding)) {
            sheet.paragraph(Ink::Dim, "    ", &finding.why);
            sheet.labelled(Ink::Good, "    -> ", &finding.remedy);
        }
    }
    if own.len() > SHOWN {
        sheet.paragraph(Ink::Dim, "  ", &format!("and {} more: --json lists them", own.len() - SHOWN));
    }
}

fn figures(finding: &DoctorFinding) -> String {
    let Some(executed) = finding.executed else { return String::new() };
    let mut text = format!(": {}", plural(executed, "time"));
    if let Some(rate) = finding.per_unit {
        text += &format!(", {} per unit", short(rate));
    }
    if let Some(branches) = finding.share_of_branches {
        text += &format!(", {} of branches", fraction(branches));
    }
    if let Some(misses) = finding.share_of_misses {
        text += &format!(", {} of mispredictions", fraction(misses));
    }
    text
}

fn also(finding: &DoctorFinding, sheet: &mut Sheet) {
    let mut places: Vec<String> = finding.also.iter().take(ALSO).cloned().collect();
    if finding.also.len() > ALSO {
        places.push(format!("{} more", finding.also.len() - ALSO));
    }
    if !places.is_empty() {
        sheet.paragraph(Ink::Dim, "    ", &format!("also: {}", places.join(", ")));
    }
}

/// What the file marks as intended, by its reason.
fn accepted(page: &Examination, sheet: &mut Sheet) {
    let mut groups: Vec<((&str, &str), Vec<&str>)> = Vec::new();
    for finding in &page.findings {
        if let Some(because) = &finding.accepted {
            add(&mut groups, (&finding.check, because), &finding.place);
        }
    }
    for ((check, because), places) in groups {
        let place = match places.as_slice() {
            [first, others @ ..] if !others.is_empty() => format!("{first} and {} more", others.len()),
            places => places.concat(),
        };
        sheet.gap();
        sheet.labelled(Ink::Doubt, "intended  ", &format!("{check}: {place}; reason in the file: {because}"));
    }
}

/// What passed and what did not run.
fn rest(page: &Examination, sheet: &mut Sheet) {
    let clean = page.checks.iter().filter(|check| check.state == CheckState::Ok && check.accepted == 0);
    let (seen, silent): (Vec<&CheckResult>, Vec<&CheckResult>) = clean.partition(|check| check.saw.is_some());
    sheet.gap();
    for check in seen {
        let saw = check.saw.as_deref().unwrap_or_default();
        sheet.labelled(Ink::Good, "passed  ", &format!("{}: {saw}", check.name));
    }
    if !silent.is_empty() {
        let names: Vec<&str> = silent.iter().map(|check| check.name.as_str()).collect();
        sheet.labelled(Ink::Good, "passed  ", &names.join(", "));
    }
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for state in [CheckState::CannotTell, CheckState::NotAsked] {
        for check in page.checks.iter().filter(|check| check.state == state) {
            add(&mut reasons, check.saw.as_deref().unwrap_or_default(), &check.name);
        }
    }
    for (reason, names) in reasons {
        sheet.labelled(Ink::Doubt, "not run  ", &format!("{}: {reason}", names.join(", ")));
    }
}

/// Adds a value to its key's list; keys stay in the order of their first value.
fn add<K: PartialEq, V>(groups: &mut Vec<(K, Vec<V>)>, key: K, value: V) {
    match groups.iter_mut().find(|(known, _)| *known == key) {
        Some((_, values)) => values.push(value),
        None => groups.push((key, vec![value])),
    }
}
