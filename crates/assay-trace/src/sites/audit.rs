//! The hints of the source and of the layout, compared with what the branches did.
//!
//! Three kinds, by what makes known which side is which: a hint in the source text whose sides are found by the lines of
//! the debug information; a call of a function marked cold on one side only; a side that the compiler put into the cold
//! part of the function. The last two need no lines, only machine code.

mod cold;
mod written;

use super::gather::SiteCounts;
use super::image::{ModuleImage, SourceFrame};
use super::source::SourceFiles;
use assay_pure::trace::hints::{Balance, Form, HintJudgement};
use assay_report::sites::page::HintOrigin;
use std::collections::BTreeSet;

/// A branch site with its places in the source.
pub struct Located {
    /// What happened.
    pub seen: SiteCounts,
    /// The places, the innermost first.
    pub frames: Vec<SourceFrame>,
}

/// A hint with what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditedHint {
    /// How it is known.
    pub origin: HintOrigin,
    /// How it is written; `None` for the layout's.
    pub form: Option<Form>,
    /// The file of the hint, or of the branch for hints of the layout.
    pub file: Option<String>,
    /// Line in it; 0 if not known.
    pub line: u32,
    /// The function that the first of its branches is in.
    pub function: Option<String>,
    /// As written, or what the layout shows.
    pub text: String,
    /// What is said of it.
    pub judgement: HintJudgement,
    /// How often the side that it calls likely was executed, and the other.
    pub likely: u64,
    /// How often the side that it calls unlikely was executed.
    pub unlikely: u64,
    /// Executions that belong to either.
    pub unknown: u64,
    /// Its branches, by their index among the sites.
    pub sites: Vec<usize>,
}

impl AuditedHint {
    fn count(&mut self, expects_yes: bool, balance: &Balance) {
        (self.likely, self.unlikely) =
            if expects_yes { (balance.yes, balance.no) } else { (balance.no, balance.yes) };
        self.unknown = balance.unknown;
    }
}

/// Compares all hints that can be seen with what happened.
pub fn audit(images: &[ModuleImage], sites: &[&Located], sources: &SourceFiles) -> Vec<AuditedHint> {
    let files = written::scan_files(sites, sources);
    let mut held = written::audit(images, sites, &files);
    let decided: BTreeSet<usize> = held
        .iter()
        .filter(|hint| hint.judgement.is_decided())
        .flat_map(|hint| hint.sites.iter().copied())
        .collect();
    let rest = sites.iter().copied().enumerate().filter(|(at, _)| !decided.contains(at));
    held.extend(cold::audit(images, rest.collect(), &files));
    held
}
