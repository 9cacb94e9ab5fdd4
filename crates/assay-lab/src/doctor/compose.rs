//! From facts to the page: every check runs, what the file accepts is told apart, the answer names the first thing to fix.

use crate::examine::check::{Check, CheckFinding, CheckOutcome, Facts, FindingPlace};
use assay_pure::experiment::Acceptance;
use assay_pure::words::plural;
use assay_report::doctor::page::DOCTOR_SCHEMA;
use assay_report::doctor::{CheckResult, CheckState, DoctorFinding, Examination, ExaminedSubject};
use std::cmp::Reverse;

/// What came of all checks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// In the order of the checks.
    pub checks: Vec<CheckResult>,
    /// Warnings first, what is accepted last; else in the order of the checks.
    pub findings: Vec<DoctorFinding>,
}

/// Runs the checks.
pub fn run<'a, F: Facts + 'a>(
    checks: impl IntoIterator<Item = &'a Check<F>>,
    facts: &F,
    accept: &[Acceptance],
) -> Results {
    let mut results = Results::default();
    for check in checks {
        let (result, found) = run_one(check, facts, accept);
        results.checks.push(result);
        results.findings.extend(found);
    }
    results.findings.sort_by_key(|finding| (finding.accepted.is_some(), Reverse(finding.state)));
    results
}

fn run_one<F: Facts>(
    check: &Check<F>,
    facts: &F,
    accept: &[Acceptance],
) -> (CheckResult, Vec<DoctorFinding>) {
    let (state, saw, mut found) = match check.run(facts) {
        CheckOutcome::Found(found) => (CheckState::Ok, None, found),
        CheckOutcome::Clear(saw) => (CheckState::Ok, saw, Vec::new()),
        CheckOutcome::CannotTell(reason) => (CheckState::CannotTell, Some(reason), Vec::new()),
        CheckOutcome::NotAsked(reason) => (CheckState::NotAsked, Some(reason), Vec::new()),
    };
    // What costs most first; facts without costs keep their order.
    found.sort_by(|one, other| {
        let weight = |found: &CheckFinding| found.cost.branches.max(found.cost.executed.unwrap_or(0));
        weight(other).cmp(&weight(one)).then_with(|| line(one).cmp(&line(other)))
    });
    let findings: Vec<DoctorFinding> =
        found.into_iter().map(|found| finding(check, found, facts, accept)).collect();
    let open = || findings.iter().filter(|finding| finding.accepted.is_none());
    let result = CheckResult {
        name: check.name.to_owned(),
        title: check.title.to_owned(),
        state: open().map(|finding| finding.state).max().unwrap_or(state),
        saw,
        findings: open().count() as u64,
        accepted: (findings.len() - open().count()) as u64,
    };
    (result, findings)
}

fn line(found: &CheckFinding) -> Option<(Option<&str>, Option<u32>, &str)> {
    found.place.code().map(|code| (code.file.as_deref(), code.line, code.address.as_str()))
}

fn finding<F: Facts>(
    check: &Check<F>,
    found: CheckFinding,
    facts: &F,
    accept: &[Acceptance],
) -> DoctorFinding {
    let shares = facts.shares(&found.cost);
    let mut finding = DoctorFinding {
        check: check.name.to_owned(),
        state: found.state,
        also: found.also,
        saw: found.saw,
        executed: found.cost.executed,
        per_unit: shares.per_unit,
        share_of_branches: shares.branches,
        share_of_misses: shares.misses,
        why: found.advice.why.to_owned(),
        remedy: found.advice.remedy.into_owned(),
        ..DoctorFinding::default()
    };
    match found.place {
        FindingPlace::Machine => finding.place = inside_a_sentence(check.title),
        FindingPlace::Experiment { label, variant, inputs } => {
            (finding.place, finding.variant, finding.inputs) = (label, variant, inputs);
        }
        FindingPlace::Code(code) => (finding.place, finding.code) = (code.label(), Some(code)),
    }
    finding.accepted = accept.iter().find(|entry| covers(entry, &finding)).map(|entry| entry.because.clone());
    finding
}

/// A title without its capital: "turbo". An acronym keeps its own: "SMT on the measuring core".
fn inside_a_sentence(title: &str) -> String {
    let mut letters = title.chars();
    match (letters.next(), letters.next()) {
        (Some(first), second) if second.is_none_or(|second| !second.is_uppercase()) => {
            first.to_lowercase().collect::<String>() + &title[first.len_utf8()..]
        }
        _ => title.to_owned(),
    }
}

/// Whether an entry of the file accepts a finding.
pub fn covers(entry: &Acceptance, finding: &DoctorFinding) -> bool {
    let inputs: Vec<&str> = finding.inputs.iter().map(String::as_str).collect();
    entry.covers(&finding.check, finding.variant.as_deref(), &inputs)
}

impl Results {
    /// What is found and not accepted.
    pub fn open(&self) -> impl Iterator<Item = &DoctorFinding> {
        self.findings.iter().filter(|finding| finding.accepted.is_none())
    }

    /// Problems in the order in which to fix them: the greatest share of branches first, else as the checks come.
    pub fn problems(&self) -> Vec<&DoctorFinding> {
        let mut problems: Vec<&DoctorFinding> =
            self.open().filter(|finding| finding.state == CheckState::Warning).collect();
        let share = |finding: &DoctorFinding| finding.share_of_branches.unwrap_or(0.0);
        problems.sort_by(|one, other| share(other).total_cmp(&share(one)));
        problems
    }

    /// The answer in a line: "3 problems found; the first to fix: dead-code (hash on long)."
    pub fn answer(&self) -> String {
        let mut text = match self.problems().as_slice() {
            [] => "No problems found.".to_owned(),
            [one] => format!("1 problem found: {} ({}).", one.check, one.place),
            [first, rest @ ..] => format!(
                "{} found; the first to fix: {} ({}).",
                plural(rest.len() as u64 + 1, "problem"),
                first.check,
                first.place
            ),
        };
        let notes = self.open().filter(|finding| finding.state == CheckState::Note).count() as u64;
        if notes > 0 {
            text += &format!(" {}.", plural(notes, "note"));
        }
        let accepted = (self.findings.len() - self.open().count()) as u64;
        if accepted > 0 {
            let is = if accepted == 1 { "is" } else { "are" };
            text += &format!(" {} {is} marked as intended.", plural(accepted, "finding"));
        }
        let skipped = self.skipped();
        if skipped > 0 {
            text += &format!(" {skipped} of {} could not run.", plural(self.checks.len() as u64, "check"));
        }
        text
    }

    /// How many checks could not run.
    pub fn skipped(&self) -> usize {
        self.checks.iter().filter(|check| check.state == CheckState::CannotTell).count()
    }

    /// What to change first, or what to do where nothing is wrong.
    pub fn next(&self, otherwise: &str) -> String {
        self.problems().first().map_or(otherwise, |first| &first.remedy).to_owned()
    }

    /// A page of these results, to which its subject adds what only it has.
    pub fn page(self, kind: ExaminedSubject, subject: &str, answer: String, next: String) -> Examination {
        Examination {
            schema: DOCTOR_SCHEMA.to_owned(),
            kind,
            answer,
            next,
            subject: subject.to_owned(),
            method: Vec::new(),
            warnings: Vec::new(),
            traced: None,
            figures: Vec::new(),
            checks: self.checks,
            findings: self.findings,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::inside_a_sentence;

    #[test]
    fn a_title_in_a_sentence_keeps_its_acronym() {
        assert_eq!(inside_a_sentence("Turbo"), "turbo");
        assert_eq!(inside_a_sentence("A busy sibling thread"), "a busy sibling thread");
        assert_eq!(inside_a_sentence("SMT on the measuring core"), "SMT on the measuring core");
    }
}
