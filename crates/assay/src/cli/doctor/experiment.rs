//! `assay doctor EXPERIMENT.toml`: does the experiment measure what it asks?

use super::Arguments;
use anyhow::Result;
use assay_lab::campaign;
use assay_lab::doctor::experiment::{Request, compose, gather};
use assay_report::doctor::examination::Examination;
use assay_report::{Progress, Show};
use std::io::IsTerminal as _;
use std::path::Path;
use std::time::Duration;

/// Seconds of tracing where nobody says otherwise.
const TRACE_SECONDS: f64 = 120.0;
/// How long a program may take for one reply; under the emulator it is slower.
const PATIENCE: Duration = Duration::from_secs(60);

/// Examines it.
///
/// # Errors
/// See [`gather`].
pub fn examine(arguments: &Arguments, file: &Path) -> Result<Examination> {
    let mut progress = Progress::new(Show::choose(false, std::io::stderr().is_terminal()));
    let request = Request {
        asked: campaign::Asked {
            experiment: file.to_owned(),
            ledger: arguments.places.ledger.clone(),
            store: arguments.places.store(),
            quick: false,
            resume: false,
            cpu: arguments.cpu,
            patience: PATIENCE,
            budget: None,
            inputs: arguments.inputs.clone(),
            compilers: arguments.compilers.clone(),
            seed: None,
        },
        plugin: arguments.plugin.clone(),
        trace_seconds: arguments.budget.unwrap_or(TRACE_SECONDS),
        production_units: arguments.production,
    };
    let gathered = gather(&request, &mut |event| progress.event(&event))?;
    drop(progress);
    Ok(compose(&gathered.facts, &gathered.accept, &gathered.told))
}
