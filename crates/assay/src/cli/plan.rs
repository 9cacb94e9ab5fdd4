//! `assay plan`.

use super::DONE;
use anyhow::Result;

/// What would be measured, and how long it would take
#[derive(clap::Args, Clone, Debug)]
pub struct Arguments {}

/// Runs the verb.
pub fn run(_: &Arguments) -> Result<u8> {
    Ok(DONE)
}
