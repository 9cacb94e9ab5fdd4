//! Which programs are visited together: per artifact and open input, those of all variants that are still in.

use super::judge::OpenCells;
use super::observe;
use super::placements::BuildGroup;
use super::prepare::PreparedExperiment;
use super::start::StartedPrograms;
use crate::run::Lineup;
use crate::run::round::RoundBlock;
use crate::store::Ledger;
use anyhow::Result;
use assay_pure::compare::VisitPlacement;
use assay_pure::experiment::matrix::{self, Cell};
use std::collections::HashSet;

/// Visits of the as-built link per round: it is one placement against a rotation's four, and its interval must
/// stand beside theirs.
pub const AS_BUILT_REPEATS: u32 = 3;

/// One program of each cell: its first placement.
pub fn tuning_subjects(lineup: &Lineup) -> Vec<usize> {
    let mut seen = HashSet::new();
    (0..lineup.len())
        .filter(|&number| {
            let subject = lineup.subject(number);
            !subject.placement.is_as_built() && seen.insert(subject.cell(0))
        })
        .collect()
}

/// The blocks of a level: per artifact and open input, the programs of all its variants, the baseline's first.
pub fn blocks(
    prepared: &PreparedExperiment,
    started: &StartedPrograms,
    open: &OpenCells,
    failed: &HashSet<Cell>,
) -> Vec<RoundBlock> {
    let phases = &prepared.experiment.placement.phases;
    let inputs = prepared.inputs.len();
    let flag_sets = prepared.experiment.flags.len();
    let baseline = prepared.baseline();
    let most = prepared.experiment.placement.max_rotations.max(prepared.experiment.placement.rotations);
    let stride = AS_BUILT_REPEATS as usize + most as usize * phases.len();
    let mut artifacts: Vec<(usize, Vec<usize>)> = Vec::new();
    for number in 0..started.lineup.len() {
        let subject = started.lineup.subject(number);
        let same = |&(first, _): &(usize, Vec<usize>)| {
            let other = started.lineup.subject(first);
            (other.compiler, other.flags, other.placement)
                == (subject.compiler, subject.flags, subject.placement)
        };
        match artifacts.iter_mut().find(|artifact| same(artifact)) {
            Some((_, programs)) => programs.push(number),
            None => artifacts.push((number, vec![number])),
        }
    }
    let mut blocks = Vec::new();
    for (first, mut programs) in artifacts {
        let subject = started.lineup.subject(first).clone();
        let group = BuildGroup { compiler: subject.compiler, flags: subject.flags };
        programs.sort_by_key(|&number| (started.lineup.subject(number).variant != baseline, number));
        let place = match subject.placement {
            VisitPlacement::Placed { rotation, phase_bytes: bytes } => {
                let phase = phases.iter().position(|&phase| phase == bytes).unwrap_or(0);
                AS_BUILT_REPEATS as usize + rotation as usize * phases.len() + phase
            }
            VisitPlacement::AsBuilt => 0,
        };
        let repeats = if subject.placement.is_as_built() { AS_BUILT_REPEATS } else { 1 };
        for input in 0..inputs {
            let subjects: Vec<usize> = programs
                .iter()
                .copied()
                .filter(|&number| {
                    let cell = started.lineup.subject(number).cell(input);
                    open.has(cell) && !failed.contains(&cell)
                })
                .collect();
            for repeat in 0..repeats {
                // Placements of one cell have neighbouring numbers, so that the plan balances orders over them.
                let row = (group.compiler * flag_sets + group.flags) * inputs + input;
                let id = row * stride + place + repeat as usize;
                blocks.push(RoundBlock { id, input, subjects: subjects.clone(), repeat });
            }
        }
    }
    // A variant whose rivals all failed is compared with nothing, but its own figures are still of use.
    blocks.retain(|block| !block.subjects.is_empty());
    blocks
}

/// Cells that failed earlier in this campaign, so that one that goes on does not try them again.
pub fn failed_cells(prepared: &PreparedExperiment, ledger: &Ledger, campaign: i64) -> Result<HashSet<Cell>> {
    let failures = ledger.failures(campaign)?;
    let all = matrix::cells(&prepared.experiment, prepared.compilers.len());
    Ok(all.into_iter().filter(|cell| observe::failed(&failures, &prepared.id(*cell)).is_some()).collect())
}
