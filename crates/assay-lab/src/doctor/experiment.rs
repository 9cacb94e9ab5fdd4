//! Does an experiment measure what it asks? Its program is built as `assay run` builds it, called by itself and under the emulator,
//! its inputs are examined, and all of it is checked for the mistakes that microbenchmarks are known for.
//!
//! [`crate::examine`] tries the variants and judges, [`simulated`] knows which inputs a predictor memorises, [`gather`] leads.
//!
//! The rules and their limits: docs/methodology/doctor.md. Checked by experiments with planted faults and their passing twins
//! (`fixtures/doctor/experiments`), and by the casebook's.

pub mod gather;
pub mod simulated;
#[cfg(test)]
mod tests;

pub use gather::ExperimentRequest;

use super::compose;
use crate::examine::check::Needs;
use crate::examine::checks::CHECKS;
use crate::examine::facts::{ExperimentFacts, Notes};
use anyhow::Result;
use assay_pure::event::Event;
use assay_pure::experiment::Acceptance;
use assay_pure::words::list;
use assay_report::doctor::{Examination, ExaminedSubject};
use gather::ExaminedExperiment;

/// Examines an experiment.
///
/// # Errors
/// See [`gather::gather`].
pub fn examine(request: &ExperimentRequest, events: &mut dyn FnMut(Event)) -> Result<Examination> {
    let ExaminedExperiment { facts, accept, notes } = gather::gather(request, events)?;
    Ok(compose(&facts, &accept, notes, &request.asked.experiment.display().to_string()))
}

/// The page; `file` is the experiment's.
pub fn compose(facts: &ExperimentFacts, accept: &[Acceptance], notes: Notes, file: &str) -> Examination {
    let results = compose::run(&CHECKS, facts, accept);
    let Notes { method, mut warnings } = notes;
    let idle = accept.iter().filter(|entry| !results.findings.iter().any(|one| compose::covers(entry, one)));
    warnings.extend(
        idle.map(|entry| {
            format!("The file accepts {} ({}), but it was not found.", entry.check, entry.because)
        }),
    );
    let measure = format!("measure it with `assay run {file}`");
    let otherwise = match results.skipped() {
        0 => measure,
        _ => format!("see under \"not run\" what the other checks need; then {measure}"),
    };
    let (answer, next) = (results.answer(), results.next(&otherwise));
    Examination { method, warnings, ..results.page(ExaminedSubject::Experiment, file, answer, next) }
}

/// The checks that find something the file does not accept, of those that need the file and its inputs only; none where nothing is
/// found.
pub fn in_short(facts: &ExperimentFacts, accept: &[Acceptance]) -> Option<String> {
    let cheap = CHECKS.iter().filter(|check| check.needs == Needs::Files);
    let results = compose::run(cheap, facts, accept);
    let mut names: Vec<&str> = results.open().map(|finding| finding.check.as_str()).collect();
    names.dedup();
    (!names.is_empty()).then(|| list(&names))
}
