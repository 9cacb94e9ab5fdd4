//! The user's benchmark command, run with the binaries of either side in their place.

use super::measure::{CommandRunner, Ran};
use super::places::Binaries;
use crate::store::{FigureRow, MemoryRow};
use anyhow::Result;
use assay_link::adopt::bench::{self, VisitError};
use assay_pure::compare::Visit;
use std::path::PathBuf;

/// One side at work.
pub struct SidePlayer {
    /// Its command.
    pub bench: bench::BenchCommand,
    /// Its binaries; none where they cannot be relinked.
    pub binaries: Option<Binaries>,
    /// What is run after the first visit, where that is for fewer benchmarks: what is decided needs no second one.
    pub later: Option<bench::BenchCommand>,
}

/// Both sides, or the one there is.
pub struct SidePlayers {
    /// In the order of the sides.
    pub sides: Vec<SidePlayer>,
    /// What libraries write.
    pub scratch: PathBuf,
}

impl CommandRunner for SidePlayers {
    fn run(&mut self, visit: &Visit) -> Result<Ran> {
        let player = &mut self.sides[visit.side];
        if let Some(binaries) = &mut player.binaries {
            binaries.install(visit.place)?;
        }
        let visited = bench::visit(&player.bench, &visit.surroundings, &self.scratch);
        player.binaries.as_ref().map_or(Ok(()), Binaries::check)?;
        if let Some(later) = player.later.take() {
            player.bench = later;
        }
        Ok(ran(visited))
    }
}

fn ran(visited: Result<bench::BenchRun, VisitError>) -> Ran {
    match visited {
        Ok(visit) => Ran {
            elapsed_ns: visit.elapsed.as_nanos() as u64,
            figures: rows(&visit),
            memory: memory("", &visit).into_iter().collect(),
            failed: None,
        },
        Err(error) => Ran { failed: Some(error.to_string()), ..Ran::default() },
    }
}

/// The memory of a run, where it is known.
pub(crate) fn memory(role: &str, visit: &bench::BenchRun) -> Option<MemoryRow> {
    visit.peak_resident.map(|peak_bytes| MemoryRow { role: role.into(), peak_bytes })
}

fn rows(visit: &bench::BenchRun) -> Vec<FigureRow> {
    let mut rows = Vec::new();
    for figure in &visit.figures {
        for (value, repetition) in figure.values.iter().zip(0..) {
            rows.push(FigureRow {
                benchmark: figure.name.clone(),
                repetition,
                value: *value,
                unit: figure.unit.to_string(),
            });
        }
    }
    rows
}
