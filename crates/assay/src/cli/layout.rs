//! `assay layout`: where functions lie, what they cross, and what changed since another build.

use super::help::OUTPUT;
use super::picture::PictureArguments;
use super::{DONE, screen};
use anyhow::Result;
use assay_lab::layout::{LayoutSelection, LinkedFile, SymbolTimes, compose};
use assay_lab::lead::Misuse;
use assay_lab::store::Ledger;
use assay_report::layout::render_layout;
use assay_report::picture;
use std::path::PathBuf;

/// Show where functions lie and what another build changed
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/layout.txt"))]
pub struct LayoutArguments {
    /// Linked programs or libraries
    #[arg(required = true, value_name = "BINARY")]
    pub binaries: Vec<PathBuf>,
    /// Only functions whose name matches; * is any text, ? one character
    #[arg(long, value_name = "GLOB")]
    pub functions: Option<String>,
    /// Older build to compare with
    #[arg(long, value_name = "OTHER")]
    pub against: Option<PathBuf>,
    /// SQLite file that keeps every sample
    #[arg(long, value_name = "FILE")]
    pub ledger: Option<PathBuf>,
    /// Number of its campaign; default: the newest
    #[arg(long, value_name = "N", requires = "ledger")]
    pub campaign: Option<i64>,
    /// Number of functions to show; the JSON has all
    #[arg(long, help_heading = OUTPUT, default_value_t = 20, value_name = "N")]
    pub top: usize,
    /// Write the report as JSON (schema/layout-1.schema.json); - is standard output
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub pictures: PictureArguments,
}

/// Runs the verb.
///
/// # Errors
/// A file that is no ELF file or has no symbols, no function that fits, a ledger that is not there.
pub fn run(arguments: &LayoutArguments) -> Result<u8> {
    if arguments.against.is_some() && arguments.binaries.len() > 1 {
        return Err(Misuse("--against compares one binary: give only one".to_owned()).into());
    }
    let reads: Vec<PathBuf> = arguments.binaries.iter().chain(&arguments.against).cloned().collect();
    if let Some(file) = &arguments.json {
        screen::find_place(file, &reads)?;
    }
    arguments.pictures.check(reads.iter().chain(&arguments.json).map(PathBuf::as_path))?;
    let programs: Vec<LinkedFile> =
        arguments.binaries.iter().map(|path| LinkedFile::open(path)).collect::<Result<_>>()?;
    let old = arguments.against.as_deref().map(LinkedFile::open).transpose()?;
    let machine = assay_linux::machine::facts();
    let selection = LayoutSelection {
        functions: arguments.functions.clone(),
        cpu: machine.cpu,
        cpu_id: machine.cpu_id,
        timed: timed(arguments)?,
    };
    let page = compose(&programs, old.as_ref(), &selection)?;
    if let Some(file) = &arguments.json {
        screen::write(file, &page.to_json())?;
    }
    arguments.pictures.write(|| picture::of_layout(&page))?;
    if !arguments.json.as_deref().is_some_and(screen::is_stdout) {
        screen::show(&render_layout(&page, screen::width(), screen::colour(), arguments.top));
    }
    Ok(DONE)
}

fn timed(arguments: &LayoutArguments) -> Result<SymbolTimes> {
    let Some(path) = &arguments.ledger else { return Ok(SymbolTimes::default()) };
    if !path.is_file() {
        return Err(
            Misuse(format!("there is no ledger at {}: `assay run` creates one", path.display())).into()
        );
    }
    SymbolTimes::of(&Ledger::open(path)?, arguments.campaign)
}
