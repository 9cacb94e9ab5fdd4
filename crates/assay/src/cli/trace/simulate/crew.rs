//! Tasks on several threads of this machine: they share nothing, and what each comes to does not depend on the others.

use super::super::read_so_far::ReadingProgress;
use super::task::{TaskThreads, simulate};
use assay_lab::lead::Misuse;
use assay_pure::simulation::{SimulationPlan, SimulationTask, TaskOutcome};
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Does all tasks, at most so many at a time, and returns them with what became of each, in order.
///
/// # Errors
/// As [`simulate`].
pub fn all(
    plan: &SimulationPlan,
    tasks: &[SimulationTask],
    threads: usize,
    quiet: bool,
) -> Result<Vec<(SimulationTask, TaskOutcome)>, Misuse> {
    let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let bytes: Vec<u64> = tasks.iter().map(|task| super::bytes_of(&plan.traces[task.trace])).collect();
    let progress = ReadingProgress::new(tasks.len() as u64, bytes.iter().sum(), quiet);
    let threads = threads.min(tasks.len()).max(1);
    // A processor for each thread, or else one thread for each task.
    let each = if processors / threads > 1 { TaskThreads::Two } else { TaskThreads::One };
    let (next, progress) = (AtomicUsize::new(0), Mutex::new(progress));
    let one_after_another = || -> Result<Vec<(usize, TaskOutcome)>, Misuse> {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(at) else { return Ok(done) };
            let so_far = progress.lock().expect("nobody panics with it").of_file(bytes[at]);
            done.push((at, simulate(plan, *task, each, &so_far)?));
            progress.lock().expect("nobody panics with it").finish_one();
        }
    };
    let parts = std::thread::scope(|scope| {
        let crew: Vec<_> = (1..threads).map(|_| scope.spawn(one_after_another)).collect();
        let mut parts = vec![one_after_another()];
        parts.extend(crew.into_iter().map(|thread| thread.join().expect("a task ends in order")));
        parts
    });
    let mut done: Vec<(usize, TaskOutcome)> =
        parts.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    done.sort_unstable_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(at, outcome)| (tasks[at], outcome)).collect())
}
