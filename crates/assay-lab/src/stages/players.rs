//! All commands of an entrant, run with its binaries at the placement of a visit.

use super::first::Runnable;
use crate::compare::bench::memory;
use crate::compare::measure::{CommandRunner, Ran};
use crate::compare::places::Binaries;
use crate::store::FigureRow;
use anyhow::Result;
use assay_pure::compare::Visit;
use std::path::PathBuf;

/// One entrant at work.
pub struct StagePlayer {
    /// Its commands, with the names of their roles.
    pub tasks: Vec<(String, Runnable)>,
    /// Its binaries; none where they cannot be relinked.
    pub binaries: Option<Binaries>,
}

/// All entrants of a session, in the order of their sides.
pub struct StagePlayers {
    /// What figures are per: "ns/operation".
    pub unit: String,
    /// By side.
    pub sides: Vec<StagePlayer>,
    /// What libraries write.
    pub scratch: PathBuf,
}

impl CommandRunner for StagePlayers {
    fn run(&mut self, visit: &Visit) -> Result<Ran> {
        let player = &mut self.sides[visit.side];
        if let Some(binaries) = &mut player.binaries {
            binaries.install(visit.place)?;
        }
        let mut all = Ran::default();
        for (role, task) in &player.tasks {
            let visited = task.visit(&visit.surroundings, &self.scratch);
            player.binaries.as_ref().map_or(Ok(()), Binaries::check)?;
            match visited {
                Ok((values, ran)) => {
                    all.elapsed_ns += ran.elapsed.as_nanos() as u64;
                    all.memory.extend(memory(role, &ran));
                    all.figures.extend(values.into_iter().zip(0..).map(|(value, repetition)| FigureRow {
                        benchmark: role.clone(),
                        repetition,
                        value,
                        unit: self.unit.clone(),
                    }));
                }
                // The other roles are run all the same.
                Err(error) => all.failed = Some(format!("{role}: {error}")),
            }
            if assay_linux::interrupt::asked() {
                break;
            }
        }
        Ok(all)
    }
}
