//! The findings as text: the answer, a paragraph per finding, then what was looked for and not found.

use super::page::{Check, DoctorPage, Finding, Place, Traced};
use crate::ink::Ink;
use crate::number;
use crate::prose::plural;
use crate::sheet::Sheet;
use crate::sites::names::short;

/// Findings of one check that are shown.
const SHOWN: usize = 12;
/// Other places of a finding that are named.
const ALSO: usize = 4;

/// The page as text, no line wider than `width` columns (at least 40), with ANSI colours if `colour`.
pub fn render_doctor(page: &DoctorPage, width: usize, colour: bool) -> String {
    let mut sheet = Sheet::new(width, colour);
    sheet.paragraph(Ink::Bold, "", &page.answer);
    if let Some(traced) = &page.traced {
        sheet.labelled(Ink::Dim, "traced    ", &executed(traced));
    }
    if !page.warnings.is_empty() {
        sheet.gap();
    }
    for warning in &page.warnings {
        sheet.labelled(Ink::Doubt, "! ", warning);
    }
    for check in page.checks.iter().filter(|check| check.findings > 0) {
        sheet.heading(&check.title);
        let own: Vec<&Finding> = page.findings.iter().filter(|finding| finding.check == check.name).collect();
        let shown = &own[..own.len().min(SHOWN)];
        for (at, finding) in shown.iter().enumerate() {
            show(finding, &mut sheet);
            // What is said of several in a row is said once, behind the last.
            let words = |finding: &Finding| (finding.why.clone(), finding.remedy.clone());
            if shown.get(at + 1).is_none_or(|next| words(next) != words(finding)) {
                sheet.paragraph(Ink::Dim, "    ", &finding.why);
                sheet.labelled(Ink::Good, "    -> ", &finding.remedy);
            }
        }
        if own.len() > SHOWN {
            let text = format!("and {} more: --json lists them", own.len() - SHOWN);
            sheet.paragraph(Ink::Dim, "  ", &text);
        }
    }
    rest(page, &mut sheet);
    sheet.into_text()
}

fn executed(traced: &Traced) -> String {
    let mut text = format!(
        "{} instructions, {} branches, {}",
        number::count(traced.instructions),
        number::count(traced.branches),
        plural(traced.system_calls, "system call")
    );
    if let Some(misses) = traced.misses {
        let missed = number::count(misses.round() as u64);
        text += &format!(", {missed} mispredictions (mean of {})", traced.predictors.join(", "));
    }
    let least = number::count(traced.hot_from);
    text += &match traced.units {
        Some(units) => format!("; {} of work, hot from {least} executions on", plural(units, "unit")),
        None => format!(
            "; hot from {least} executions on, a hundredth of the hottest branch's {}; --units N makes it figures per unit",
            number::count(traced.hottest)
        ),
    };
    text
}

fn show(finding: &Finding, sheet: &mut Sheet) {
    sheet.paragraph(Ink::Bad, "  ", &place(&finding.place));
    sheet.paragraph(Ink::Plain, "    ", &format!("{}{}", finding.saw, figures(finding)));
    if !finding.also.is_empty() {
        let mut also: Vec<String> = finding.also.iter().take(ALSO).cloned().collect();
        if finding.also.len() > ALSO {
            also.push(format!("{} more", finding.also.len() - ALSO));
        }
        sheet.paragraph(Ink::Dim, "    ", &format!("also: {}", also.join(", ")));
    }
}

fn figures(finding: &Finding) -> String {
    let Some(executed) = finding.executed else { return String::new() };
    let mut text = format!(": {} times", number::count(executed));
    if let Some(rate) = finding.per_unit {
        text += &format!(", {rate:.2} per unit");
    }
    let share = |share: f64| if share < 0.0005 { "<0.1 %".to_owned() } else { number::fraction(share) };
    if let Some(branches) = finding.share_of_branches {
        text += &format!(", {} of branches", share(branches));
    }
    if let Some(misses) = finding.share_of_misses {
        text += &format!(", {} of mispredictions", share(misses));
    }
    text
}

/// Line first: it is what one goes to.
pub fn place(place: &Place) -> String {
    let line =
        place.file.as_deref().zip(place.line).map(|(file, line)| format!("{}:{line}", last_part(file)));
    let function = place.function.as_deref().map(short);
    match (line, function) {
        (Some(line), Some(function)) => format!("{line} {function}"),
        (Some(line), None) => line,
        (None, Some(function)) => format!("{function} ({}+{})", last_part(&place.module), place.address),
        (None, None) => format!("{}+{}", last_part(&place.module), place.address),
    }
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What was looked for and not found, and what could not be looked for.
fn rest(page: &DoctorPage, sheet: &mut Sheet) {
    let clean: Vec<&str> = page
        .checks
        .iter()
        .filter(|check| check.ran && check.findings == 0)
        .map(|check| check.name.as_str())
        .collect();
    if !clean.is_empty() {
        sheet.gap();
        sheet.labelled(Ink::Good, "not found  ", &clean.join(", "));
    }
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for check in page.checks.iter().filter(|check| !check.ran) {
        let reason = reason(check);
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(&check.name),
            None => reasons.push((reason, vec![&check.name])),
        }
    }
    for (reason, names) in reasons {
        sheet.gap();
        sheet.labelled(Ink::Doubt, "not looked for  ", &format!("{}: {reason}", names.join(", ")));
    }
}

fn reason(check: &Check) -> &str {
    check.reason.as_deref().unwrap_or_default()
}
