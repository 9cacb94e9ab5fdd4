//! What a simulated predictor makes of short inputs, for who wants to know which of them are memorised without a
//! campaign.

use super::branch_cost::machine_key;
use super::converse::{Job, NumberedInput};
use super::{generation, traced};
use crate::campaign::inputs::ReadyInput;
use crate::store::Ledger;
use anyhow::Result;
use assay_pure::experiment::matrix::CellId;
use assay_pure::stats::predictor_memory::PredictorMemory;
use assay_pure::verdict::counts::{CellCounts, CountSource, MissCount};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// What is to be walked through.
pub struct SimulationRequest<'a> {
    /// The executable.
    pub program: &'a Path,
    /// Its variant.
    pub variant: &'a str,
    /// The inputs.
    pub inputs: &'a [&'a ReadyInput],
    /// The processor that the program is bound to.
    pub cpu: usize,
    /// How long a reply may take.
    pub patience: Duration,
    /// When to stop.
    pub deadline: Instant,
    /// The tracer's plugin, where it is not the lab's own.
    pub plugin: Option<&'a Path>,
    /// The CPU whose predictor is to be simulated, as "AuthenticAMD 25 17".
    pub cpu_id: &'a str,
}

/// Counts per unit on each input; nothing of those that could not be walked through.
pub fn simulate(asked: &SimulationRequest<'_>) -> Vec<CellCounts> {
    // One is enough: the one that stands for the CPU.
    let predictors: Vec<String> = generation::predictors(asked.cpu_id).into_iter().take(1).collect();
    let inputs = asked.inputs.iter().enumerate();
    let job = Job {
        program: asked.program,
        variant: asked.variant,
        inputs: inputs.map(|(number, ready)| NumberedInput { number, ready }).collect(),
        most_units: super::UNITS,
        predictors: &predictors,
        cpu: asked.cpu,
        patience: asked.patience,
        deadline: asked.deadline,
        plugin: asked.plugin,
        variables: Vec::new(),
    };
    let outcome = traced::trace(&job, &mut || {});
    let counted = outcome.cells.into_iter().filter_map(|cell| Some((cell.input, cell.walked.ok()?)));
    counted
        .map(|(input, walked)| {
            let settled = walked.repeated.as_ref().unwrap_or(&walked.first);
            let per_unit = |count: u64, units: u64| count as f64 / units.max(1) as f64;
            let misses = predictors.iter().zip(&settled.executed.misses);
            let fresh = walked.first.executed.misses.first().filter(|_| walked.repeated.is_some());
            CellCounts {
                cell: CellId {
                    variant: asked.variant.to_owned(),
                    input: asked.inputs[input].name.clone(),
                    ..CellId::default()
                },
                source: CountSource::Traced,
                cycles: None,
                front_end: BTreeMap::new(),
                instructions: per_unit(settled.executed.instructions, settled.units),
                branches: per_unit(settled.executed.branches, settled.units),
                conditional: Some(per_unit(settled.executed.conditional, settled.units)),
                misses: misses
                    .map(|(predictor, misses)| MissCount {
                        predictor: predictor.clone(),
                        per_unit: per_unit(*misses, settled.units),
                    })
                    .collect(),
                units: walked.first.units,
                fresh_misses: fresh.map(|misses| per_unit(*misses, walked.first.units)),
            }
        })
        .collect()
}

/// What this machine's own predictor was seen to remember, where a campaign has measured it.
///
/// # Errors
/// The ledger cannot be read.
pub fn memory(ledger: &Ledger, machine: &Value) -> Result<Option<PredictorMemory>> {
    Ok(ledger.branch_timing(&machine_key(machine))?.and_then(|row| row.memory()))
}
