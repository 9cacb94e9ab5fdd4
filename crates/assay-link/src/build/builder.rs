//! The builder: compiles and links through the cache, and counts what it had to do.

use super::artifact::{Artifact, Link};
use super::cache::Cache;
use super::command::{self, Finished};
use super::compilers::Compiler;
use super::failure::{BuildFailure, Stage};
use super::recipe::{self, Recipe};
use super::relink;
use assay_pure::experiment::spec::{FlagSet, Program};
use assay_pure::inputs::digest;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};

/// The harness that programs include, kept inside the lab so that both are always of one version.
const HARNESS: &str = include_str!("../../../../harness/assay.h");
/// Links at a time: linking small programs is bound by starting processes, and more would disturb other work.
const LINKERS: usize = 2;

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
pub(super) struct Counters {
    pub processes: AtomicU64,
    pub compiled: AtomicU64,
    pub objects_from_cache: AtomicU64,
    pub linked: AtomicU64,
    pub artifacts_from_cache: AtomicU64,
}

/// Builds programs, keeping all it makes in one folder. Several threads, and several processes, may use it at once.
#[derive(Debug)]
pub struct Builder {
    pub(super) cache: Cache,
    pub(super) include: PathBuf,
    pub(super) counters: Counters,
}

impl Builder {
    /// Opens the cache in `cache_dir`, making it if it is missing, and puts `assay.h` there for programs to include.
    ///
    /// # Errors
    /// The folder cannot be made or written.
    pub fn new(cache_dir: impl AsRef<Path>) -> Result<Self, BuildFailure> {
        let cache_dir = cache_dir.as_ref();
        let failed = |doing: &str, error: &std::io::Error| BuildFailure::cache(cache_dir, doing, error);
        let cache = Cache::open(cache_dir).map_err(|error| failed("opening", &error))?;
        let include = cache.root().join("include").join(&digest(HARNESS.as_bytes())[..12]);
        let header = include.join("assay.h");
        if std::fs::read(&header).ok().as_deref() != Some(HARNESS.as_bytes()) {
            let write = || {
                std::fs::create_dir_all(&include)?;
                cache.write(&header, HARNESS.as_bytes())
            };
            write().map_err(|error| failed("writing assay.h", &error))?;
        }
        Ok(Self { cache, include, counters: Counters::default() })
    }

    /// Compiles a program with one compiler and flag set, both as built and ready to be placed, and finds out how its
    /// linker works.
    ///
    /// Sources and include folders are relative to `experiment_dir`.
    ///
    /// # Errors
    /// A source is missing, does not compile, or the program does not link; the cache cannot be written.
    pub fn compile(
        &self,
        experiment_dir: &Path,
        program: &Program,
        flags: &FlagSet,
        compiler: &Compiler,
    ) -> Result<Recipe, BuildFailure> {
        recipe::compile(self, experiment_dir, program, flags, compiler)
    }

    /// Links a compiled program in one placement.
    ///
    /// # Errors
    /// The link fails, or the cache cannot be written.
    pub fn link(&self, recipe: &Recipe, link: Link) -> Result<Artifact, BuildFailure> {
        relink::link(self, recipe, link)
    }

    /// Links all jobs, two at a time; results come in the order of the jobs.
    ///
    /// `progress` is called on this thread after each link with how many are done, and of how many.
    pub fn link_all(
        &self,
        jobs: &[(&Recipe, Link)],
        progress: &dyn Fn(usize, usize),
    ) -> Vec<Result<Artifact, BuildFailure>> {
        let next = AtomicUsize::new(0);
        let results: Vec<Mutex<Option<Result<Artifact, BuildFailure>>>> =
            jobs.iter().map(|_| Mutex::new(None)).collect();
        let (done, finished) = mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..LINKERS.min(jobs.len()) {
                let done = done.clone();
                let (next, results) = (&next, &results);
                scope.spawn(move || {
                    while let Some((at, (recipe, link))) = take(next, jobs) {
                        *results[at].lock().expect("no holder of this lock panics") =
                            Some(self.link(recipe, link));
                        // The receiver lives until all senders are gone.
                        let _ = done.send(());
                    }
                });
            }
            drop(done);
            for (count, ()) in finished.iter().enumerate() {
                progress(count + 1, jobs.len());
            }
        });
        let whole = |cell: Mutex<Option<_>>| {
            cell.into_inner().expect("no holder of this lock panics").expect("each job was taken by a thread")
        };
        results.into_iter().map(whole).collect()
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
    pub(super) fn run(
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
    pub(super) fn cache_failure(&self, doing: &str, error: &std::io::Error) -> BuildFailure {
        BuildFailure::cache(self.cache.root(), doing, error)
    }
}

fn take<T: Copy>(next: &AtomicUsize, jobs: &[T]) -> Option<(usize, T)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    jobs.get(at).map(|&job| (at, job))
}
