//! From facts to the page: every check looks, and what the file accepts is told apart.

use super::checks::{CHECKS, Check, Found, Looked};
use super::facts::Facts;
use assay_pure::experiment::Acceptance;
use assay_report::doctor::examination::page::{EXAMINATION_SCHEMA, Kind};
use assay_report::doctor::examination::{Examination, Examined, State, Symptom};
use assay_report::prose::{list, plural};

/// What is said beside the findings.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// The experiment's file.
    pub subject: String,
    /// How it was looked at.
    pub method: Vec<String>,
    /// What the reader must know.
    pub warnings: Vec<String>,
}

/// Looks for everything.
pub fn compose(facts: &Facts, accept: &[Acceptance], told: &Told) -> Examination {
    let mut findings: Vec<Symptom> = Vec::new();
    let mut checks = Vec::new();
    for check in &CHECKS {
        let (examined, found) = examine(check, facts, accept);
        checks.push(examined);
        findings.extend(found);
    }
    // Warnings first, what is accepted last; else as the checks come.
    findings.sort_by_key(|finding| (finding.accepted.is_some(), std::cmp::Reverse(finding.state)));
    let mut warnings = told.warnings.clone();
    warnings.extend(unused(&findings, accept));
    Examination {
        schema: EXAMINATION_SCHEMA.to_owned(),
        kind: Kind::Experiment,
        answer: answer(&findings, &checks),
        subject: told.subject.clone(),
        method: told.method.clone(),
        warnings,
        figures: Vec::new(),
        checks,
        findings,
    }
}

fn examine(check: &Check, facts: &Facts, accept: &[Acceptance]) -> (Examined, Vec<Symptom>) {
    let (state, saw, found) = match (check.look)(facts) {
        Looked::Found(found) => (State::Ok, None, found),
        Looked::Well(saw) => (State::Ok, saw, Vec::new()),
        Looked::CannotTell(reason) => (State::CannotTell, Some(reason), Vec::new()),
        Looked::NotAsked(reason) => (State::NotAsked, Some(reason), Vec::new()),
    };
    let found: Vec<Symptom> = found.into_iter().map(|found| symptom(check.name, found, accept)).collect();
    let open = || found.iter().filter(|found| found.accepted.is_none());
    let examined = Examined {
        name: check.name.to_owned(),
        title: check.title.to_owned(),
        state: open().map(|found| found.state).max().unwrap_or(state),
        saw,
        findings: open().count() as u64,
        accepted: found.iter().filter(|found| found.accepted.is_some()).count() as u64,
    };
    (examined, found)
}

fn symptom(check: &str, found: Found, accept: &[Acceptance]) -> Symptom {
    let inputs: Vec<&str> = found.inputs.iter().map(String::as_str).collect();
    let covering = accept.iter().find(|entry| entry.covers(check, found.variant.as_deref(), &inputs));
    let accepted = covering.map(|entry| entry.because.clone());
    let Found { state, place, variant, inputs, saw, why, remedy } = found;
    Symptom {
        check: check.to_owned(),
        state,
        place,
        variant,
        inputs,
        saw,
        why: why.to_owned(),
        remedy,
        accepted,
    }
}

/// Entries of the file that cover nothing: the fault is gone, or was never there.
fn unused(findings: &[Symptom], accept: &[Acceptance]) -> Vec<String> {
    let covers = |entry: &Acceptance, finding: &Symptom| {
        let inputs: Vec<&str> = finding.inputs.iter().map(String::as_str).collect();
        entry.covers(&finding.check, finding.variant.as_deref(), &inputs)
    };
    let idle = accept.iter().filter(|entry| !findings.iter().any(|finding| covers(entry, finding)));
    idle.map(|entry| {
        format!("the file accepts {} ({}), and nothing of that was found here.", entry.check, entry.because)
    })
    .collect()
}

fn answer(findings: &[Symptom], checks: &[Examined]) -> String {
    let open: Vec<&Examined> = checks.iter().filter(|check| check.findings > 0).collect();
    let accepted = findings.iter().filter(|finding| finding.accepted.is_some()).count() as u64;
    let unlooked = checks.iter().filter(|check| check.state == State::CannotTell).count();
    let mut text = if open.is_empty() {
        "Nothing was found that spoils this experiment.".to_owned()
    } else {
        let kinds: Vec<String> =
            open.iter().map(|check| format!("{} ({})", check.name, check.findings)).collect();
        let all = open.iter().map(|check| check.findings).sum();
        format!("{} in this experiment: {}.", plural(all, "finding"), list(&kinds))
    };
    if accepted > 0 {
        let is = if accepted == 1 { "is" } else { "are" };
        text += &format!(" {} {is} accepted by the file.", plural(accepted, "finding"));
    }
    if unlooked > 0 {
        text += &format!(" {unlooked} of {} things could not be looked for.", checks.len());
    }
    text
}

/// What the checks that need the file and the inputs only have found and the file does not accept, in a line; none where
/// nothing was found.
pub fn in_short(facts: &Facts, accept: &[Acceptance]) -> Option<String> {
    let cheap = CHECKS.iter().filter(|check| check.is_cheap);
    let found: Vec<Symptom> = cheap.flat_map(|check| examine(check, facts, accept).1).collect();
    let mut names: Vec<&str> =
        found.iter().filter(|found| found.accepted.is_none()).map(|found| found.check.as_str()).collect();
    names.dedup();
    (!names.is_empty()).then(|| list(&names))
}
