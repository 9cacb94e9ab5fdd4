//! A program that its own build has made, linked again in any placement.

use super::aside::{Cleared, settle_abandoned};
use super::own::{OwnAsked, OwnOrder};
use crate::adopt::capture::{self, BuildAsked, BuildError, CapturedLink, InstrumentAsked, TextsAsked};
use crate::build::{
    Artifact, BuildFailure, Builder, Compiler, CompilerFamily, Link, LoggingProgram, Scope, Stage,
};
use assay_pure::inputs::digest;
use assay_pure::words::list;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{SystemTime, UNIX_EPOCH};

/// Programs that this process has captured: each has a folder of its own, as two of one path are linked at once.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// What a build gave.
struct Built {
    link: CapturedLink,
    assemblers: PathBuf,
    warnings: Vec<String>,
}

/// The captured link of a program.
#[derive(Debug)]
pub struct CapturedProgram {
    /// What cannot be placed as asked, and why.
    pub warnings: Vec<String>,
    link: CapturedLink,
    /// The folder of the stand-in for assemblers.
    assemblers: PathBuf,
    command: Vec<String>,
    /// The functions that the build compiled; not known where the link optimises.
    own: Option<BTreeSet<String>>,
    described: String,
    replays: PathBuf,
    as_built: Option<String>,
}

impl CapturedProgram {
    /// Runs the build and finds the program among its links.
    ///
    /// # Errors
    /// The build fails, or does not link the program in a way that can be repeated.
    pub fn build(asked: &OwnAsked<'_>, said: &dyn Fn(&str)) -> Result<Self, BuildFailure> {
        let order = asked.order()?;
        let command = order.told();
        settle_abandoned(asked.store);
        let cleared = order.wanted.clear(&order.folder, asked.store);
        let mut cleared = cleared
            .map_err(|error| asked.failure(format!("cannot write in {}: {error}", asked.store.display())))?;
        let built = Self::build_anew(asked, order, &mut cleared, said);
        cleared.settle();
        let Built { link, assemblers, mut warnings } = built?;
        takes_compiler(asked, &link)?;
        let as_built = std::fs::read(&link.output).ok().map(|bytes| digest(&bytes));
        let replays = asked.store.join("replays").join(format!(
            "{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Relaxed)
        ));
        let described = asked.described();
        let repeated = link.is_reproducible(&replays).map_err(|error| asked.failure(error))?;
        warnings.extend(repeated.limit(&link.output).map(|limit| format!("{described}: {limit}")));
        let own = link.own_functions().map_err(|error| asked.failure(error))?;
        let mut program =
            Self { warnings, link, assemblers, command: vec![command], own, described, replays, as_built };
        // Whether it can be placed, and what of it cannot, is known once it was.
        let placed = program.replay(Link::Placed { shuffle: 0, phase_bytes: 0 })?;
        let limits = placed.limits.iter().map(|limit| format!("{}: {limit}", program.described));
        program.warnings.extend(limits.collect::<Vec<_>>());
        Ok(program)
    }

    /// Runs the build, and again where it linked what was compiled before though flags or a compiler are asked for: make and
    /// others do not compile again when only these change.
    fn build_anew(
        asked: &OwnAsked<'_>,
        order: OwnOrder,
        cleared: &mut Cleared,
        said: &dyn Fn(&str),
    ) -> Result<Built, BuildFailure> {
        let mut build = BuildAsked::new(&order.command, &order.folder, &asked.links())
            .map_err(|error| asked.failure(error))?;
        build.environment = order.environment;
        build.sections = asked.is_of_c();
        build.texts = TextsAsked::Unchanged;
        // What was compiled before this time, or else before the run itself, is not of this build.
        let run = |since: Option<i64>| {
            let built = capture::build(&build, said).map_err(|error| match order.wanted.missing() {
                Some(file) if matches!(error, BuildError::NothingCaptured(_)) => asked.failure(format!(
                    "the build did not make {}, which `binary` names: {error}",
                    file.display()
                )),
                _ => asked.failure(error),
            })?;
            let link = order.wanted.of(built.links).map_err(|why| asked.failure(why))?;
            let since = since.unwrap_or(built.begun);
            let older = if asked.decides_over_code() { link.compiled_before(since) } else { Vec::new() };
            Ok((Built { link, assemblers: built.assemblers, warnings: built.warnings }, older))
        };
        let (built, older) = run(None)?;
        if older.is_empty() {
            return Ok(built);
        }
        let mut files = older.iter().chain([&built.link.output]);
        files
            .try_for_each(|file| cleared.take(file))
            .map_err(|error| asked.failure(format!("cannot write in {}: {error}", asked.store.display())))?;
        // An archive that no rule makes is missing then: it is given, and back in its place the build links it as it is.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos() as i64);
        let (mut built, mut older) =
            run(Some(since)).or_else(|error| match cleared.put_back(is_archive) {
                0 => Err(error),
                _ => run(Some(since)),
            })?;
        for given in older.extract_if(.., |file| is_archive(file)) {
            built.warnings.push(format!(
                "{}: no rule of the build recompiles it, so flags and compiler do not describe it",
                given.display()
            ));
        }
        match older.first() {
            None => Ok(built),
            Some(file) => Err(asked.failure(format!(
                "the build links {} as it was compiled earlier, so flags and compiler do not describe it. Have it recompile, \
                 as in build = \"make clean && make bench\"; or ask for no flags and compilers",
                file.display()
            ))),
        }
    }

    /// SHA-256 of the program as the build left it; `None`: it could not be read.
    pub fn as_built(&self) -> Option<&str> {
        self.as_built.as_deref()
    }

    fn replay(&self, link: Link) -> Result<capture::Replayed, BuildFailure> {
        self.link
            .replay(link, &self.replays)
            .map_err(|error| BuildFailure::plain(Stage::Link, format!("{}: {error}", self.described)))
    }

    /// Makes it again so that it logs its branches; `measured` is its link as built.
    ///
    /// # Errors
    /// Why it cannot be instrumented, as part of a sentence.
    pub fn instrument(&self, measured: &Artifact) -> Result<LoggingProgram, String> {
        let asked = InstrumentAsked {
            measured: &measured.path,
            scope: Scope::Regions,
            into: &self.replays,
            stand_ins: &self.assemblers,
        };
        self.link.instrument(&asked)
    }

    /// Links it in one placement.
    ///
    /// # Errors
    /// The link fails, or the store cannot be written.
    pub fn link(&self, builder: &Builder, link: Link) -> Result<Artifact, BuildFailure> {
        let replayed = self.replay(link)?;
        let (hash, path) = builder.keep(&replayed.path)?;
        // What is kept lies under another name.
        let _ = std::fs::remove_file(&replayed.path);
        let mut functions = replayed.functions;
        if let Some(own) = &self.own {
            functions.retain(|function| own.contains(&function.name));
        }
        Ok(Artifact {
            hash,
            path,
            link,
            functions,
            image_base: replayed.image_base,
            text_bytes: replayed.text_bytes,
            command: self.command.clone(),
            from_cache: false,
            warnings: Vec::new(),
        })
    }
}

/// That a compiler which was asked for did compile: a build that names its own would be credited to another.
fn takes_compiler(asked: &OwnAsked<'_>, link: &CapturedLink) -> Result<(), BuildFailure> {
    let Compiler { name, version, family, .. } = asked.compiler;
    let (is_asked, said) = match family {
        CompilerFamily::Gcc => ("GCC:", version.clone()),
        CompilerFamily::Clang => ("clang version", format!("clang version {version}")),
        _ => return Ok(()),
    };
    let made_by = link.compilers();
    if !asked.is_of_c()
        || made_by.is_empty()
        || made_by.iter().any(|by| by.contains(is_asked) && by.contains(&said))
    {
        return Ok(());
    }
    let made_by: Vec<&str> = made_by.iter().map(String::as_str).collect();
    Err(asked.failure(format!(
        "the build does not compile with {name}, but with {}. Let it take its compilers from the variables CC and CXX, as in \
         $(CC) -c $<; or leave `compilers` out",
        list(&made_by)
    )))
}

/// Whether a file holds objects that were compiled some time.
fn is_archive(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "a")
}

impl Drop for CapturedProgram {
    fn drop(&mut self) {
        // What stays costs disk space only.
        let _ = std::fs::remove_dir_all(&self.replays);
    }
}
