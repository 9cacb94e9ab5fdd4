//! The builder: compiles programs and links them in any placement, two at a time.

use super::artifact::{Artifact, Link};
use super::compilers::Compiler;
use super::failure::BuildFailure;
use super::instrument;
use super::recipe::{self, Recipe};
use super::relink;
use super::workshop::{Stats, Workshop};
use assay_pure::experiment::spec::{FlagSet, Program};
use assay_pure::outcomes::LoggingProgram;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};

/// Links at a time: linking small programs is bound by starting processes, and more would disturb other work.
const LINKERS: usize = 2;

/// Builds programs, keeping all it makes in one folder. Several threads, and several processes, may use it at once.
#[derive(Debug)]
pub struct Builder {
    workshop: Workshop,
}

impl Builder {
    /// Opens the cache in `cache_dir`, making it if it is missing, and puts `assay.h` there for programs to include.
    ///
    /// # Errors
    /// The folder cannot be made or written.
    pub fn new(cache_dir: impl AsRef<Path>) -> Result<Self, BuildFailure> {
        Ok(Self { workshop: Workshop::open(cache_dir.as_ref())? })
    }

    /// What it has done so far.
    pub fn stats(&self) -> Stats {
        self.workshop.stats()
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
        recipe::compile(&self.workshop, experiment_dir, program, flags, compiler)
    }

    /// Links a compiled program in one placement.
    ///
    /// # Errors
    /// The link fails, or the cache cannot be written.
    pub fn link(&self, recipe: &Recipe, link: Link) -> Result<Artifact, BuildFailure> {
        relink::link(&self.workshop, recipe, link)
    }

    /// Builds a compiled program once more so that it logs its branches; `measured` is its link as built.
    ///
    /// # Errors
    /// Why it cannot be instrumented, as part of a sentence.
    pub fn instrument(&self, recipe: &Recipe, measured: &Artifact) -> Result<LoggingProgram, String> {
        instrument::build(&self.workshop, recipe, measured)
    }

    /// The folder of `assay.h`.
    pub fn include(&self) -> &Path {
        &self.workshop.include
    }

    /// Keeps a program that was linked elsewhere: its hash, and where it lies now.
    ///
    /// # Errors
    /// It cannot be read, or the cache not be written.
    pub fn keep(&self, program: &Path) -> Result<(String, PathBuf), BuildFailure> {
        let keep = || {
            let made = self.workshop.cache.unfinished("");
            std::fs::copy(program, &made.path)?;
            self.workshop.cache.keep(&made, "artifacts", "elf")
        };
        let (hash, _) = keep().map_err(|error| self.workshop.cache_failure("storing an artifact", &error))?;
        self.workshop.counters.linked.fetch_add(1, Ordering::Relaxed);
        let place = self.workshop.cache.place("artifacts", &hash, "elf");
        Ok((hash, place))
    }
}

/// Does all jobs, two at a time; results come in the order of the jobs. `progress` is called on this thread after each with
/// how many are done, and of how many.
pub(crate) fn in_pairs<T: Copy + Sync, R: Send>(
    jobs: &[T],
    work: impl Fn(T) -> R + Sync,
    progress: &dyn Fn(usize, usize),
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<R>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    let (done, finished) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..LINKERS.min(jobs.len()) {
            let done = done.clone();
            let (next, results, work) = (&next, &results, &work);
            scope.spawn(move || {
                while let Some((at, job)) = take(next, jobs) {
                    *results[at].lock().expect("no holder of this lock panics") = Some(work(job));
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
    let whole = |cell: Mutex<Option<R>>| {
        cell.into_inner().expect("no holder of this lock panics").expect("each job was taken by a thread")
    };
    results.into_iter().map(whole).collect()
}

fn take<T: Copy>(next: &AtomicUsize, jobs: &[T]) -> Option<(usize, T)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    jobs.get(at).map(|&job| (at, job))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn results_come_in_the_order_of_the_jobs_and_progress_after_each() {
        let told = RefCell::new(Vec::new());
        // The earlier a job, the longer it takes.
        let work = |job: u64| {
            std::thread::sleep(std::time::Duration::from_millis(9 - 3 * job));
            10 * job
        };
        let results = in_pairs(&[0, 1, 2], work, &|done, total| told.borrow_mut().push((done, total)));
        assert_eq!(results, [0, 10, 20]);
        assert_eq!(told.into_inner(), [(1, 3), (2, 3), (3, 3)]);
        assert!(in_pairs(&[], work, &|_, _| panic!("there is no job")).is_empty());
    }
}
