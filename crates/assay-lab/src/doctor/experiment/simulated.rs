//! Which short inputs a predictor memorises, simulated: each is passed over several times.
//!
//! Known limits: one build speaks for all, and inputs too long to be memorised are not simulated.

use crate::campaign::count::simulate;
use crate::campaign::prepare::Outline;
use crate::campaign::{self, inputs};
use crate::examine::facts::{ExperimentFacts, Notes};
use crate::examine::started::StartOptions;
use crate::store::Ledger;
use anyhow::Result;
use assay_linux::machine;
use assay_pure::experiment::spec::{InputSource, InputSpec};
use assay_pure::verdict::counts::CellCounts;
use assay_pure::verdict::learned::learned;
use assay_pure::words::{duration, list};
use std::path::Path;
use std::time::{Duration, Instant};

/// Units up to which an input may be memorised.
const SHORT: u64 = 60_000;

/// How and for how long programs are traced.
#[derive(Clone, Copy, Debug)]
pub struct Tracing<'a> {
    /// The tracer's plugin, where it is not the lab's own.
    pub plugin: Option<&'a Path>,
    /// Seconds for all variants' work, and again for the predictor.
    pub seconds: f64,
    /// Where inputs are kept.
    pub store: &'a Path,
    /// What is known of the machine's predictor.
    pub ledger: &'a Path,
}

/// Passes the `programs`, executables with a variant each, over the short inputs.
///
/// # Errors
/// The ledger or the store cannot be read or written.
pub fn simulate_predictor(
    tracing: &Tracing,
    outline: &Outline,
    programs: &[(&Path, String)],
    options: &StartOptions,
    facts: &mut ExperimentFacts,
    notes: &mut Notes,
) -> Result<()> {
    let short = |spec: &&InputSpec| {
        facts.inputs.iter().any(|input| input.name == spec.name && (1..=SHORT).contains(&input.distinct))
    };
    let short: Vec<&InputSpec> = outline.experiment.inputs.iter().filter(short).collect();
    if short.is_empty() {
        facts.learned = Some(Vec::new());
        return Ok(());
    }
    if facts.not_traced.is_some() {
        facts.not_simulated.clone_from(&facts.not_traced);
        return Ok(());
    }
    let ledger = Ledger::open(tracing.ledger)?;
    let folder = inputs::kept_in(tracing.store);
    let mut ready = Vec::new();
    for spec in short {
        // What repeats itself is passed over once.
        let mut once = spec.clone();
        if let InputSource::Generated { units, distinct_units, .. } = &mut once.source {
            *units = distinct_units.take().unwrap_or(*units).min(*units);
        }
        ready.push(inputs::ready(&once, &outline.folder, &folder, &ledger)?);
    }
    let ready: Vec<&inputs::ReadyInput> = ready.iter().filter(|ready| ready.row.bytes > 0).collect();
    let counts = simulated(tracing, programs, &ready, options);
    let unseen: Vec<&str> = ready
        .iter()
        .map(|ready| ready.name.as_str())
        .filter(|name| counts.iter().all(|count| count.cell.input != *name))
        .collect();
    if !unseen.is_empty() {
        let reason = format!(
            "no prediction was simulated on {}: within {} no variant finished it under the emulator (--budget SECONDS allows \
             more)",
            list(&unseen),
            duration(tracing.seconds)
        );
        if unseen.len() == ready.len() {
            facts.not_simulated = Some(reason);
            return Ok(());
        }
        notes.warnings.push(format!("{reason}."));
    }
    let key = campaign::compose::machine_json(&machine::facts(), &outline.compilers, options.cpu);
    let memory = simulate::memory(&ledger, &key)?;
    facts.learned = Some(learned(&counts, memory));
    Ok(())
}

fn simulated(
    tracing: &Tracing,
    programs: &[(&Path, String)],
    inputs: &[&inputs::ReadyInput],
    options: &StartOptions,
) -> Vec<CellCounts> {
    let deadline = Instant::now() + Duration::from_secs_f64(tracing.seconds);
    let cpu_id = machine::facts().cpu_id;
    let walk = |(program, variant): &(&Path, String)| {
        simulate::simulate(&simulate::SimulationRequest {
            program,
            variant,
            inputs,
            cpu: options.cpu,
            patience: options.patience,
            deadline,
            plugin: tracing.plugin,
            cpu_id: &cpu_id,
        })
    };
    programs.iter().flat_map(walk).collect()
}
