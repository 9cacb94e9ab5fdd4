//! `assay completions`: what a shell completes.

use super::{Command, DONE, screen};
use anyhow::Result;
use clap::CommandFactory as _;
use clap_complete::Shell;

/// Print completions of assay's options for a shell
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/completions.txt"))]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Runs the verb.
///
/// # Errors
/// None; the result is that of every verb.
pub fn run(arguments: &CompletionsArguments) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Command::command(), "assay", &mut script);
    screen::print(&String::from_utf8_lossy(&script));
    Ok(DONE)
}
