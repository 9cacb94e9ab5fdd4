//! Which programs are visited together: per artifact and open input, those of all variants that are still in.

use super::judge::Open;
use super::placements::Group;
use super::prepare::Prepared;
use super::start::{Cell, Started};
use crate::run::Lineup;
use crate::run::round::RoundBlock;
use crate::store::Ledger;
use anyhow::Result;
use assay_pure::ledger::Stage;
use std::collections::HashSet;

/// Visits of the as-built link per round: it is one placement against a rotation's four, and its interval must
/// stand beside theirs.
pub const AS_BUILT_REPEATS: u32 = 3;

/// (variant, compiler, flags) of a program.
pub fn cell_group(lineup: &Lineup, number: usize) -> (usize, usize, usize) {
    let subject = lineup.subject(number);
    (subject.variant, subject.compiler, subject.flags)
}

/// One program of each cell: its first placement.
pub fn tuning_subjects(lineup: &Lineup) -> Vec<usize> {
    let mut seen = HashSet::new();
    (0..lineup.len())
        .filter(|&number| {
            let subject = lineup.subject(number);
            subject.rotation.is_some() && seen.insert((subject.variant, subject.compiler, subject.flags))
        })
        .collect()
}

/// The blocks of a level: per artifact and open input, the programs of all its variants, the baseline's first.
pub fn blocks(
    prepared: &Prepared,
    started: &Started,
    open: &Open,
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
            (other.compiler, other.flags, other.rotation, other.phase_bytes)
                == (subject.compiler, subject.flags, subject.rotation, subject.phase_bytes)
        };
        match artifacts.iter_mut().find(|artifact| same(artifact)) {
            Some((_, programs)) => programs.push(number),
            None => artifacts.push((number, vec![number])),
        }
    }
    let mut blocks = Vec::new();
    for (first, mut programs) in artifacts {
        let subject = started.lineup.subject(first).clone();
        let group = Group { compiler: subject.compiler, flags: subject.flags };
        programs.sort_by_key(|&number| (started.lineup.subject(number).variant != baseline, number));
        let place = match (subject.rotation, subject.phase_bytes) {
            (Some(rotation), Some(bytes)) => {
                let phase = phases.iter().position(|&phase| phase == bytes).unwrap_or(0);
                AS_BUILT_REPEATS as usize + rotation as usize * phases.len() + phase
            }
            _ => 0,
        };
        let repeats = if subject.rotation.is_none() { AS_BUILT_REPEATS } else { 1 };
        for input in 0..inputs {
            let subjects: Vec<usize> = programs
                .iter()
                .copied()
                .filter(|&number| open.has(group, input, started.lineup.subject(number).variant))
                .filter(|&number| !failed.contains(&(cell_group(&started.lineup, number), input)))
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
pub fn failed_cells(prepared: &Prepared, ledger: &Ledger, campaign: i64) -> Result<HashSet<Cell>> {
    let matches = |name: &Option<String>, this: &str| name.as_deref().is_none_or(|name| name == this);
    let mut failed = HashSet::new();
    for failure in ledger.failures(campaign)?.into_iter().filter(|failure| failure.stage != Stage::Count) {
        for (variant, spec) in prepared.experiment.variants.iter().enumerate() {
            for (compiler, identity) in prepared.compilers.iter().enumerate() {
                for (flags, set) in prepared.experiment.flags.iter().enumerate() {
                    for (input, ready) in prepared.inputs.iter().enumerate() {
                        if matches(&failure.variant, &spec.name)
                            && matches(&failure.compiler, &identity.name)
                            && matches(&failure.flags, &set.name)
                            && matches(&failure.input, &ready.name)
                        {
                            failed.insert(((variant, compiler, flags), input));
                        }
                    }
                }
            }
        }
    }
    Ok(failed)
}
