//! Leading: what is the same whatever is led. A campaign, a comparison, a session of a diary, a sweep: each begins or is
//! resumed, is held by one lab at a time, waits for its turn to measure, ends for a reason. What it measures next is its own
//! matter.

mod begin;
pub mod command;
mod cpu;
pub mod git;
pub mod hold;
pub mod processor;
pub mod turn;

pub use begin::{Begun, Lead, Question, Resume};
pub use cpu::measuring_cpu;
pub use hold::Hold;

use crate::store::{Ledger, mark};
use anyhow::Result;
use std::path::Path;

/// The ledger and the store that something is led in: both are refused, untouched, where they are somebody else's.
///
/// # Errors
/// As of [`mark`] and [`Ledger::open`].
pub fn open(ledger: &Path, store: &Path) -> Result<Ledger> {
    mark::refuse_foreign(store)?;
    let ledger = Ledger::open(ledger)?;
    mark::claim(store)?;
    Ok(ledger)
}

/// What the user asked for wrongly; shown as it is, exit code 2.
#[derive(Debug)]
pub struct Misuse(pub String);

impl std::fmt::Display for Misuse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misuse {}

/// What this machine cannot do; exit code 3.
#[derive(Debug)]
pub struct Unable(pub String);

impl std::fmt::Display for Unable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unable {}
