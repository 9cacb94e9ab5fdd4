//! A program built with records of its branches (`--build CMD`), for the verbs that otherwise need the emulator.

use anyhow::{Result, anyhow};
use assay_lab::lead::Misuse;
use assay_lab::store::mark;
use assay_link::adopt::capture::{self, BuildAsked, CapturedLink, InstrumentAsked, TextsAsked};
use assay_link::build::{LoggingProgram, Scope};
use assay_trace::logged::streams;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Heading of these options.
const NATIVE: &str = "Native speed";

/// How the program is built, if it is to log its branches itself.
#[derive(clap::Args, Clone, Debug)]
pub struct BuildArguments {
    /// Build the program by this shell command with records of its branches, and run it at native speed instead of under emulation
    #[arg(long, help_heading = NATIVE, value_name = "CMD")]
    pub build: Option<String>,
    /// Folder of inputs and binaries, assay's alone; default: `store` beside the ledger
    #[arg(long, help_heading = NATIVE, value_name = "DIR", requires = "build")]
    pub store: Option<PathBuf>,
}

impl BuildArguments {
    /// Builds the program that the command names; nothing if no build was asked for. What the build writes is kept in its log.
    ///
    /// # Errors
    /// The build fails, makes no such program, or the program cannot be instrumented.
    pub fn prepare(&self, command: &[OsString], quiet: bool) -> Result<Option<LoggingProgram>> {
        let Some(line) = &self.build else { return Ok(None) };
        if command.is_empty() {
            return Err(
                Misuse("give the program that the build makes: --build CMD -- PROGRAM".to_owned()).into()
            );
        }
        // Beside where the ledger would be, though none is written.
        let store = self.store.clone().unwrap_or_else(|| PathBuf::from(".assay/store"));
        mark::claim(&store)?;
        let mut asked = BuildAsked::new(line, Path::new("."), &store.join("links"))?;
        asked.texts = TextsAsked::Assembled;
        let built = capture::build(&asked, &|line| {
            if !quiet {
                eprintln!("build: {line}");
            }
        })?;
        let program = streams::file_of(command).map_err(|refusal| Misuse(refusal.to_string()))?;
        let program = program.canonicalize()?;
        let is_it = |path: &PathBuf| path.canonicalize().is_ok_and(|path| path == program);
        let link = built.links.iter().find(|link| is_it(&link.output) || link.copies.iter().any(is_it));
        let link = link.ok_or_else(|| Misuse(unmade(&program, line, &built.links)))?;
        let made = link.instrument(&InstrumentAsked {
            measured: &link.output,
            scope: Scope::Program,
            into: &store.join("instrumented"),
            stand_ins: &built.assemblers,
        });
        let made = made.map_err(|why| {
            anyhow!("it cannot be instrumented: {why}. Without --build it runs under emulation")
        })?;
        let mut notes = vec![
            "Counted are the parts that the build assembled. The C library, Rust's standard library, other libraries and \
             programs that the command executes have no records."
                .to_owned(),
        ];
        notes.extend(made.notes);
        notes.extend(built.warnings);
        Ok(Some(LoggingProgram { notes, ..made }))
    }
}

fn unmade(program: &Path, build: &str, links: &[CapturedLink]) -> String {
    let made: Vec<String> =
        links.iter().filter(|link| !link.shared).map(|link| link.output.display().to_string()).collect();
    format!(
        "`{build}` did not link {}. It linked: {}. Remove it first if the build found it up to date, as `make -B` or `make clean` \
         do",
        program.display(),
        if made.is_empty() { "no program".to_owned() } else { made.join(", ") }
    )
}
