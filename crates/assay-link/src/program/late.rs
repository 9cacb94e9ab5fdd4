//! A program from sources whose functions come into being in its link (`-flto`), with records.
//!
//! Its objects have no code that could be rewritten. Method: its link as built is captured as a build's own would be, and made again
//! with records there (`adopt::capture`).

use crate::adopt::capture::{self, BuildAsked, InstrumentAsked, TextsAsked};
use crate::build::text::{command_line, quote};
use crate::build::{Artifact, Builder, LoggingProgram, Recipe, Scope};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::{fs, io};

/// Links that this process has captured: two may be made at once.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Builds it; `measured` is its link as built.
///
/// # Errors
/// Why it cannot be instrumented, as part of a sentence.
pub fn instrument(
    builder: &Builder,
    store: &Path,
    recipe: &Recipe,
    measured: &Artifact,
) -> Result<LoggingProgram, String> {
    let number = NEXT.fetch_add(1, Relaxed);
    let place = store.join("late").join(format!("{}-{number}", std::process::id()));
    let made = captured(store, &place, recipe, measured).and_then(|program| {
        // What is kept lies where later campaigns find it; the rest is of no further use.
        let (_, logging) = builder.keep(&program.logging).map_err(|failure| failure.to_string())?;
        Ok(LoggingProgram { logging, ..program })
    });
    let _ = fs::remove_dir_all(place);
    made
}

fn captured(
    store: &Path,
    place: &Path,
    recipe: &Recipe,
    measured: &Artifact,
) -> Result<LoggingProgram, String> {
    let unable = |error: io::Error| format!("{}: {error}", place.display());
    fs::create_dir_all(place).map_err(unable)?;
    let place = place.canonicalize().map_err(unable)?;
    let output = place.join("program");
    let folder = quote(&recipe.folder.to_string_lossy());
    let command = format!("cd {folder} && exec {}", command_line(&recipe.linking(&output)));
    let mut asked = BuildAsked::new(&command, &place, &store.join("links")).map_err(unable)?;
    asked.texts = TextsAsked::Unchanged;
    let built = capture::build(&asked, &|_| {}).map_err(|error| error.to_string())?;
    let link = built.links.iter().find(|link| link.output == output);
    let link = link.ok_or("its link was not captured")?;
    link.instrument(&InstrumentAsked {
        measured: &measured.path,
        scope: Scope::Regions,
        into: &place,
        stand_ins: &built.assemblers,
    })
}
