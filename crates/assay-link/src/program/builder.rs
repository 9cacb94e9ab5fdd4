//! Compiling and linking, whichever way a program is built.

use super::captured::CapturedProgram;
use super::late;
use crate::build::{
    Artifact, BuildFailure, Builder, Compiler, Link, LoggingProgram, Recipe, Stats, in_pairs,
};
use assay_pure::experiment::spec::{FlagSet, Program};
use std::path::{Path, PathBuf};

/// Builds programs, keeping all it makes in one folder. Several threads, and several processes, may use it at once.
#[derive(Debug)]
pub struct ProgramBuilder {
    builder: Builder,
    store: PathBuf,
}

/// A compiled program, ready to be linked in any placement.
#[derive(Debug)]
pub enum ProgramRecipe {
    /// From sources.
    Compiled(Box<Recipe>),
    /// By a build of its own.
    Captured(Box<CapturedProgram>),
}

impl ProgramRecipe {
    /// What cannot be placed as asked, and why.
    pub fn warnings(&self) -> &[String] {
        match self {
            Self::Compiled(recipe) => &recipe.warnings,
            Self::Captured(program) => &program.warnings,
        }
    }

    /// SHA-256 of what a build of its own left; `None`: from sources, or not known.
    pub fn as_built(&self) -> Option<&str> {
        match self {
            Self::Compiled(_) => None,
            Self::Captured(program) => program.as_built(),
        }
    }
}

impl ProgramBuilder {
    /// Opens the store, making it if it is missing.
    ///
    /// # Errors
    /// The folder cannot be made or written.
    pub fn new(store: &Path) -> Result<Self, BuildFailure> {
        Ok(Self { builder: Builder::new(store)?, store: store.to_owned() })
    }

    /// What it has done so far.
    pub fn stats(&self) -> Stats {
        self.builder.stats()
    }

    /// Compiles a program with one compiler and flag set. Paths are relative to `folder`; `said` is told what a build of its own
    /// says, now and then.
    ///
    /// # Errors
    /// It does not compile or link, or the store cannot be written.
    pub fn compile(
        &self,
        folder: &Path,
        program: &Program,
        flags: &FlagSet,
        compiler: &Compiler,
        said: &dyn Fn(&str),
    ) -> Result<ProgramRecipe, BuildFailure> {
        let Some(own) = &program.build else {
            let recipe = self.builder.compile(folder, program, flags, compiler)?;
            return Ok(ProgramRecipe::Compiled(Box::new(recipe)));
        };
        let flags = FlagSet { flags: [&program.flags[..], &flags.flags].concat(), ..flags.clone() };
        let asked = super::own::OwnAsked {
            store: &self.store,
            include: self.builder.include(),
            folder,
            build: own,
            flags: &flags,
            compiler,
        };
        Ok(ProgramRecipe::Captured(Box::new(CapturedProgram::build(&asked, said)?)))
    }

    /// Links a compiled program in one placement.
    ///
    /// # Errors
    /// The link fails, or the store cannot be written.
    pub fn link(&self, recipe: &ProgramRecipe, link: Link) -> Result<Artifact, BuildFailure> {
        match recipe {
            ProgramRecipe::Compiled(recipe) => self.builder.link(recipe, link),
            ProgramRecipe::Captured(program) => program.link(&self.builder, link),
        }
    }

    /// Builds a compiled program once more so that it logs its branches; `measured` is its link as built.
    ///
    /// # Errors
    /// Why it cannot be instrumented, as part of a sentence.
    pub fn instrument(&self, recipe: &ProgramRecipe, measured: &Artifact) -> Result<LoggingProgram, String> {
        match recipe {
            ProgramRecipe::Compiled(recipe) if recipe.optimises_its_link() => {
                late::instrument(&self.builder, &self.store, recipe, measured)
            }
            ProgramRecipe::Compiled(recipe) => self.builder.instrument(recipe, measured),
            ProgramRecipe::Captured(program) => program.instrument(measured),
        }
    }

    /// Links all jobs, two at a time; results come in the order of the jobs.
    ///
    /// `progress` is called on this thread after each link with how many are done, and of how many.
    pub fn link_all(
        &self,
        jobs: &[(&ProgramRecipe, Link)],
        progress: &dyn Fn(usize, usize),
    ) -> Vec<Result<Artifact, BuildFailure>> {
        in_pairs(jobs, |(recipe, link)| self.link(recipe, link), progress)
    }
}
