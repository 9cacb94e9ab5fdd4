//! Which short inputs does a predictor know by heart? Each walked through several times under the emulator.
//!
//! Known limits: one build speaks for all, and inputs of more units than are ever learned are not walked through.

use super::ask::Surroundings;
use super::compose::Told;
use super::facts::Facts;
use super::gather::Request;
use crate::campaign::count::simulate;
use crate::campaign::prepare::Outline;
use crate::campaign::{self, inputs};
use crate::store::Ledger;
use anyhow::Result;
use assay_linux::machine;
use assay_pure::experiment::spec::{InputSource, InputSpec};
use assay_pure::verdict::counts::CellCounts;
use assay_pure::verdict::learned::learned;
use assay_report::prose::list;
use std::path::Path;
use std::time::{Duration, Instant};

/// Units up to which an input may be known by heart.
const SHORT: u64 = 60_000;

/// Walks the `programs`, executables with a variant each, through the short inputs.
///
/// # Errors
/// The ledger or the store cannot be read or written.
pub fn simulated(
    request: &Request,
    outline: &Outline,
    programs: &[(&Path, String)],
    surroundings: &Surroundings,
    facts: &mut Facts,
    told: &mut Told,
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
    let ledger = Ledger::open(&request.asked.ledger)?;
    let folder = request.asked.store.join("inputs");
    let mut ready = Vec::new();
    for spec in short {
        // What repeats itself is walked through once per pass.
        let mut once = spec.clone();
        if let InputSource::Generated { units, distinct_units, .. } = &mut once.source {
            *units = distinct_units.take().unwrap_or(*units).min(*units);
        }
        ready.push(inputs::ready(&once, &outline.folder, &folder, &ledger)?);
    }
    let ready: Vec<&inputs::ReadyInput> = ready.iter().filter(|ready| ready.row.bytes > 0).collect();
    let counts = walked(request, programs, &ready, surroundings);
    let unseen: Vec<&str> = ready
        .iter()
        .map(|ready| ready.name.as_str())
        .filter(|name| counts.iter().all(|count| count.input != *name))
        .collect();
    if !unseen.is_empty() {
        let reason = format!(
            "no prediction was simulated on {}: no variant came to the end of it under the emulator in {:.0} s (--budget SECONDS \
             gives more)",
            list(&unseen),
            request.trace_seconds
        );
        if unseen.len() == ready.len() {
            facts.not_simulated = Some(reason);
            return Ok(());
        }
        told.warnings.push(format!("{reason}."));
    }
    let key = campaign::compose::machine_json(&machine::facts(), &outline.compilers, surroundings.cpu);
    let memory = simulate::memory(&ledger, &key)?;
    facts.learned = Some(learned(&counts, memory));
    Ok(())
}

fn walked(
    request: &Request,
    programs: &[(&Path, String)],
    inputs: &[&inputs::ReadyInput],
    surroundings: &Surroundings,
) -> Vec<CellCounts> {
    let deadline = Instant::now() + Duration::from_secs_f64(request.trace_seconds);
    let cpu_id = machine::facts().cpu_id;
    let walk = |(program, variant): &(&Path, String)| {
        simulate::simulate(&simulate::Asked {
            program,
            variant,
            inputs,
            cpu: surroundings.cpu,
            patience: surroundings.patience,
            deadline,
            plugin: request.plugin.as_deref(),
            cpu_id: &cpu_id,
        })
    };
    programs.iter().flat_map(walk).collect()
}
