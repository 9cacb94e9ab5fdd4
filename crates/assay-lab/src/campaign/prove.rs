//! Answers before timing: which programs prove them, what is known of earlier campaigns, and which cells a difference puts out.

use super::prepare::PreparedExperiment;
use super::scene::Scene;
use super::start::{Met, StartedPrograms, keep_fault};
use crate::run::prove::{Answered, disagreements};
use crate::run::{Lineup, ProgramFault};
use crate::store::{Answer, ProvenAnswer};
use anyhow::Result;
use assay_pure::event::Event;
use assay_pure::experiment::matrix::Cell;
use std::collections::HashSet;

/// Proves the answers of one program of each object code: as built, and the first placement. All other placements
/// are links of the same objects, and are compared with these in every visit by the answers of what they measured.
///
/// # Errors
/// The ledger cannot be written.
pub fn prove(
    prepared: &PreparedExperiment,
    scene: &mut Scene<'_>,
    started: &mut StartedPrograms,
    failed: &mut HashSet<Cell>,
) -> Result<()> {
    scene.phase("answers");
    let chosen = started.lineup.one_of_each_code(prepared.baseline());
    let total = (chosen.values().map(Vec::len).sum::<usize>() * prepared.inputs.len()) as u64;
    let (lineup, ledger) = (&mut started.lineup, scene.ledger);
    let mut proof = Proof { prepared, scene, lineup, failed, proven: Vec::new() };
    let mut done = 0;
    for subjects in chosen.values() {
        for input in 0..prepared.inputs.len() {
            let mut answers: Vec<(usize, Answered)> = Vec::new();
            for &number in subjects {
                done += 1;
                proof.scene.tell(Event::Proved { done, total });
                if assay_linux::interrupt::asked() {
                    return ledger.put_answers(&proof.proven);
                }
                answers.extend(proof.answered(number, input)?.map(|answered| (number, answered)));
            }
            proof.compare(&answers, input)?;
        }
    }
    ledger.put_answers(&proof.proven)
}

/// A proof on its way.
struct Proof<'a, 's> {
    prepared: &'a PreparedExperiment,
    scene: &'a mut Scene<'s>,
    lineup: &'a mut Lineup,
    failed: &'a mut HashSet<Cell>,
    /// Answers that the ledger does not have.
    proven: Vec<ProvenAnswer>,
}

impl Proof<'_, '_> {
    /// What a program answers on an input, of an earlier campaign where it did; none where its cell is out, or goes out.
    fn answered(&mut self, number: usize, input: usize) -> Result<Option<Answered>> {
        let (subject, ready) = (self.lineup.subject(number).clone(), &self.prepared.inputs[input]);
        if self.failed.contains(&subject.cell(input)) {
            return Ok(None);
        }
        let (digest, windows) = (&ready.row.digest, ready.windows.len() as u64);
        let known = self.scene.ledger.answer(&subject.artifact, &subject.variant_name, digest, windows)?;
        let (whole, by_window) = match known.and_then(|known| parse(&known)) {
            Some(answer) => answer,
            None => match self.lineup.answer(number, input as u32) {
                Ok((whole, by_window)) => {
                    let answer =
                        Answer { whole: format!("{whole:016x}"), by_window: format!("{by_window:016x}") };
                    self.proven.push(ProvenAnswer {
                        artifact: subject.artifact,
                        variant: subject.variant_name.clone(),
                        input: digest.clone(),
                        windows,
                        answer,
                    });
                    (whole, by_window)
                }
                Err(fault) => {
                    self.fail(number, input, &fault)?;
                    return Ok(None);
                }
            },
        };
        let windowed = self.lineup.announced(number).kind.is_windowed();
        let by_window = windowed.then_some(by_window);
        Ok(Some(Answered { variant: subject.variant_name, whole, by_window }))
    }

    /// Puts out who answers otherwise than the first.
    fn compare(&mut self, answers: &[(usize, Answered)], input: usize) -> Result<()> {
        let plain: Vec<Answered> = answers.iter().map(|(_, answered)| answered.clone()).collect();
        for (index, fault) in disagreements(&plain) {
            self.fail(answers[index].0, input, &fault)?;
        }
        Ok(())
    }

    /// A program's cell is out, and it is told why, once.
    fn fail(&mut self, number: usize, input: usize, fault: &ProgramFault) -> Result<()> {
        let subject = self.lineup.subject(number);
        let cell = subject.cell(input);
        if !self.failed.insert(cell) {
            return Ok(());
        }
        let met = Met { fault, cell, everywhere: false, program: Some(subject.program.as_path()) };
        keep_fault(self.prepared, self.scene, met)
    }
}

fn parse(answer: &Answer) -> Option<(u64, u64)> {
    let hexadecimal = |text: &str| u64::from_str_radix(text, 16).ok();
    Some((hexadecimal(&answer.whole)?, hexadecimal(&answer.by_window)?))
}
