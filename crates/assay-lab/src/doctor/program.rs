//! What slows a program down by mistake? Its file is read, its execution traced.
//!
//! [`facts`] is what is known: its files, what a trace saw of each site, instruction and call, and what counts as hot. [`listing`],
//! [`origin`] and [`written`] read machine code: where the operands of a condition come from, and whether that is ever written.
//! [`calls`] and [`crate::examine::names`] know who called what for what. [`checks`] judge.
//!
//! The rules and their limits: docs/methodology/doctor.md. Checked by planted faults and their passing twins (`fixtures/doctor`).

pub mod call;
pub mod calls;
pub mod checks;
pub mod facts;
pub mod listing;
pub mod origin;
pub mod stores;
pub mod written;

pub use facts::ProgramFacts;

use super::compose;
use assay_report::doctor::{Examination, ExaminedSubject, ExecutedProgram};
use assay_trace::sites::image::LineSource;
use assay_trace::sites::instruction::ModuleCode;
use checks::CHECKS;

/// What was traced, and how.
#[derive(Clone, Debug, Default)]
pub struct TracedCommand {
    /// The command.
    pub command: Vec<String>,
    /// The emulator's version.
    pub emulator: String,
    /// The predictors.
    pub predictors: Vec<String>,
    /// What the reader must know.
    pub warnings: Vec<String>,
}

/// The page of a program's file, and of its command where that was traced.
pub fn compose(facts: &ProgramFacts, program: &str, traced: Option<TracedCommand>) -> Examination {
    let results = compose::run(&CHECKS, facts, &[]);
    let clean = match facts.not_traced {
        Some(_) => "nothing to change in the file; trace the program for the other checks",
        None => "nothing to change",
    };
    let (answer, next) = (results.answer(), results.next(clean));
    let mut page = results.page(ExaminedSubject::Program, program, answer, next);
    if let Some(traced) = traced {
        page.warnings = traced.warnings;
        page.traced = Some(ExecutedProgram {
            command: traced.command,
            emulator: traced.emulator,
            instructions: facts.whole.instructions,
            branches: facts.whole.branches,
            misses: (!traced.predictors.is_empty()).then_some(facts.whole.misses),
            predictors: traced.predictors,
            system_calls: facts.whole.system_calls,
            units: facts.heat.units,
            hot_from: facts.heat.least(),
            hottest: facts.heat.hottest,
        });
    }
    page.warnings.extend(unread(facts));
    page
}

/// Files whose code or lines can't be read.
fn unread(facts: &ProgramFacts) -> Vec<String> {
    let mut said = Vec::new();
    for (image, _) in facts.images.iter().zip(&facts.own).filter(|(_, own)| **own) {
        let path = image.path.display();
        if image.architecture != ModuleCode::X86_64 {
            said.push(format!(
                "{path} is not for x86-64: its conditions, guards and unoptimised code are not checked."
            ));
        }
        if matches!(image.lines, LineSource::Missing | LineSource::Unreadable(_)) {
            said.push(format!(
                "{path} has no debug information, so places are functions, not lines: build it with -g."
            ));
        }
    }
    said
}
