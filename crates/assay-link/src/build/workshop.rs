//! What compiling and linking share: the cache, the folder of our header, the processes started and counted.

use super::cache::ArtifactCache;
use super::command::{self, Finished};
use super::failure::{BuildFailure, Stage};
use assay_pure::inputs::digest;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The harness that programs include, kept inside the lab so that both are always of one version.
pub const HARNESS: &str = include_str!("../../../../harness/assay.h");

/// What a builder has done since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Compilers and linkers started, for whatever reason.
    pub processes: u64,
    /// Objects compiled.
    pub compiled: u64,
    /// Objects found.
    pub objects_from_cache: u64,
    /// Artifacts linked.
    pub linked: u64,
    /// Artifacts found.
    pub artifacts_from_cache: u64,
}

#[derive(Debug, Default)]
pub(super) struct WorkshopCounters {
    pub processes: AtomicU64,
    pub compiled: AtomicU64,
    pub objects_from_cache: AtomicU64,
    pub linked: AtomicU64,
    pub artifacts_from_cache: AtomicU64,
}

/// Where things are made. Several threads, and several processes, may use it at once.
#[derive(Debug)]
pub(super) struct Workshop {
    pub cache: ArtifactCache,
    pub include: PathBuf,
    pub counters: WorkshopCounters,
}

impl Workshop {
    /// Opens the cache in `cache_dir`, making it if it is missing, and puts `assay.h` there for programs to include.
    ///
    /// # Errors
    /// The folder cannot be made or written.
    pub fn open(cache_dir: &Path) -> Result<Self, BuildFailure> {
        let failed = |doing: &str, error: &std::io::Error| BuildFailure::cache(cache_dir, doing, error);
        let cache = ArtifactCache::open(cache_dir).map_err(|error| failed("opening", &error))?;
        let include = cache.root().join("include").join(&digest(HARNESS.as_bytes())[..12]);
        let header = include.join("assay.h");
        if std::fs::read(&header).ok().as_deref() != Some(HARNESS.as_bytes()) {
            let write = || {
                std::fs::create_dir_all(&include)?;
                cache.write(&header, HARNESS.as_bytes())
            };
            write().map_err(|error| failed("writing assay.h", &error))?;
        }
        Ok(Self { cache, include, counters: WorkshopCounters::default() })
    }

    /// What it has done so far.
    pub fn stats(&self) -> Stats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            processes: read(&self.counters.processes),
            compiled: read(&self.counters.compiled),
            objects_from_cache: read(&self.counters.objects_from_cache),
            linked: read(&self.counters.linked),
            artifacts_from_cache: read(&self.counters.artifacts_from_cache),
        }
    }

    /// Runs a compiler or linker in `folder`; one that does not succeed is a failure that begins with `what`.
    pub fn run(
        &self,
        stage: Stage,
        what: &str,
        folder: &Path,
        words: &[String],
    ) -> Result<Finished, BuildFailure> {
        self.counters.processes.fetch_add(1, Ordering::Relaxed);
        match command::run(folder, words) {
            Ok(finished) if finished.succeeded() => Ok(finished),
            Ok(finished) => {
                Err(BuildFailure::of_command(stage, what, command::pasteable(folder, words), &finished))
            }
            Err(error) => {
                Err(BuildFailure::not_started(stage, what, command::pasteable(folder, words), &error))
            }
        }
    }

    /// A failure of the cache.
    pub fn cache_failure(&self, doing: &str, error: &std::io::Error) -> BuildFailure {
        BuildFailure::cache(self.cache.root(), doing, error)
    }
}
