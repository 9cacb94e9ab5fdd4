//! One trace through a group of predictors, read by a thread of its own where a processor has nothing else to do.

use super::super::info::nonsense;
use super::super::parse_format;
use super::super::read_so_far::ReadSoFar;
use super::super::second_thread::read_on_second_thread;
use super::super::stored::Stored;
use super::super::walk::{TraceRange, WalkNotes, walk_beside};
use assay_lab::lead::Misuse;
use assay_pure::predict::{Tally, Zoo};
use assay_pure::simulation::{KINDS, SimulationPlan, SimulationTask, TaskOutcome, TraceCounts};
use assay_pure::trace::stored::LIVE;
use assay_pure::trace::{Batch, BranchSite, Continuity};
use std::collections::BTreeMap;
use std::path::Path;

/// Does a task, by itself or with a second thread that reads. The predictors of the plan are known.
///
/// # Errors
/// [`Misuse`]: the plan names what there is not.
pub fn simulate(
    plan: &SimulationPlan,
    task: SimulationTask,
    threads: TaskThreads,
    so_far: &ReadSoFar,
) -> Result<TaskOutcome, Misuse> {
    let from = plan.from.as_deref().map(parse_format).transpose().map_err(Misuse)?;
    let names = plan.group(task.group);
    known(names)?;
    let asked = TraceRange { path: Path::new(&plan.traces[task.trace]), from, stream: plan.stream };
    Ok(match counted(asked, names, threads, so_far) {
        Ok(counts) => TaskOutcome::Simulated(counts),
        Err(Misuse(why)) => TaskOutcome::Broken(why),
    })
}

/// Who reads the trace of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskThreads {
    /// The thread that predicts: other tasks have the other processors.
    One,
    /// A second one.
    Two,
}

fn known(names: &[String]) -> Result<Zoo, Misuse> {
    Zoo::new(names).map_err(|unknown| Misuse(format!("{unknown} (`--predictor help` lists them)")))
}

fn counted(
    asked: TraceRange,
    names: &[String],
    threads: TaskThreads,
    so_far: &ReadSoFar,
) -> Result<TraceCounts, Misuse> {
    let (mut checks, mut predictions) = (Checks::default(), Predictions::new(names));
    let walked = match threads {
        TaskThreads::One => read(asked, so_far, &mut checks, |batch| predictions.observe(batch)),
        TaskThreads::Two => read_on_second_thread(
            |hand_over| read(asked, so_far, &mut checks, |batch| hand_over.take(batch)),
            |batch| predictions.observe(batch),
        ),
    }?;
    let found = TraceCounts {
        format: walked.format.name().to_owned(),
        warning: checks.finish(),
        ..predictions.finish()
    };
    walked.broken.map_or(Ok(found), Err)
}

/// Reads a trace and looks whether it makes sense; hands over every batch that is not empty.
fn read(
    asked: TraceRange,
    so_far: &ReadSoFar,
    checks: &mut Checks,
    mut take: impl FnMut(&mut Batch),
) -> Result<WalkNotes, Misuse> {
    walk_beside(asked, so_far, |stored, batch, sites| {
        if !batch.branches.is_empty() {
            checks.observe(stored, batch, sites);
            take(batch);
        }
        Ok(())
    })
}

/// Something for each stream that is being read. Streams are read some at a time: with the first one of the next group,
/// those of the group before are complete.
struct ByStream<T> {
    streams: BTreeMap<u32, T>,
    group: u32,
}

impl<T> Default for ByStream<T> {
    fn default() -> ByStream<T> {
        ByStream { streams: BTreeMap::new(), group: 0 }
    }
}

impl<T> ByStream<T> {
    /// What is kept for a stream, and for the streams that are complete.
    fn of(&mut self, stream: u32, fresh: impl FnOnce() -> T) -> (&mut T, BTreeMap<u32, T>) {
        let group = stream / LIVE;
        let is_next = std::mem::replace(&mut self.group, group) != group;
        let complete = if is_next { std::mem::take(&mut self.streams) } else { BTreeMap::new() };
        (self.streams.entry(stream).or_insert_with(fresh), complete)
    }
}

/// Whether the streams can be what was executed. Of a long one that is asked of every eighth batch: looking at each takes as
/// long as decoding it, and a stream that is read wrongly is wrong nearly everywhere.
#[derive(Default)]
struct Checks {
    going: ByStream<Check>,
    warning: Option<String>,
}

#[derive(Default)]
struct Check {
    continuity: Continuity,
    batches: usize,
}

/// Batches that are all looked at, and of how many one is, later.
const EVERY: usize = 8;

impl Checks {
    fn observe(&mut self, stored: &Stored, batch: &Batch, sites: &[BranchSite]) {
        let (Check { continuity, batches }, complete) = self.going.of(batch.stream, Check::default);
        if *batches < EVERY || *batches % EVERY == 0 {
            continuity.observe(sites, &batch.branches, stored.format.longest_gap());
        } else {
            continuity.pass_over(batch.branches.len());
        }
        *batches += 1;
        self.add(complete);
    }

    fn add(&mut self, complete: BTreeMap<u32, Check>) {
        let warning = self.warning.take();
        self.warning = warning.or_else(|| complete.values().find_map(|check| nonsense(&check.continuity)));
    }

    /// What is wrong with the first stream of which something is.
    fn finish(mut self) -> Option<String> {
        let complete = std::mem::take(&mut self.going.streams);
        self.add(complete);
        self.warning
    }
}

/// The streams through fresh predictors each.
struct Predictions<'a> {
    names: &'a [String],
    going: ByStream<(Zoo, Tally)>,
    found: TraceCounts,
}

impl Predictions<'_> {
    fn new(names: &[String]) -> Predictions<'_> {
        let found = TraceCounts {
            format: String::new(),
            branches: 0,
            instructions: 0,
            predicted: [0; 3],
            mispredicted: vec![[0; 3]; names.len()],
            warning: None,
        };
        Predictions { names, going: ByStream::default(), found }
    }

    fn observe(&mut self, batch: &Batch) {
        let names = self.names;
        let fresh = || (Zoo::new(names).expect("the names are known"), Tally::new(names.len()));
        let ((zoo, tally), complete) = self.going.of(batch.stream, fresh);
        zoo.observe(&batch.branches, tally);
        self.add(complete);
    }

    fn add(&mut self, complete: BTreeMap<u32, (Zoo, Tally)>) {
        let found = &mut self.found;
        for (_, tally) in complete.values() {
            found.branches += tally.branches();
            found.instructions += tally.instructions;
            for (at, (kind, _)) in KINDS.iter().enumerate() {
                found.predicted[at] += tally.judged(*kind);
                for (sums, missed) in found.mispredicted.iter_mut().zip(tally.missed_of(*kind)) {
                    sums[at] += missed;
                }
            }
        }
    }

    fn finish(mut self) -> TraceCounts {
        let complete = std::mem::take(&mut self.going.streams);
        self.add(complete);
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_pure::trace::source::TraceFault;
    use assay_pure::trace::stored::{BlockCoding, Directory, StoredWriter, StreamTotals, StreamWriter};
    use assay_pure::trace::{Branch, BranchClass};

    /// As many as are read in two passes.
    const STREAMS: u32 = LIVE + 4;

    /// A file of some streams, the blocks of each behind each other; of stream `n`, `n` times 3000 branches. Where they are
    /// `continuous`, control goes from each to the next.
    fn file(continuous: bool) -> Vec<u8> {
        let mut file = StoredWriter::new(Vec::new()).unwrap();
        let totals = (0..STREAMS).map(|number| {
            let site = BranchSite { pc: 0x1000, length: 2, class: BranchClass::CONDITIONAL, target: None };
            let target = if continuous { 0x1000 } else { 0x9000 };
            let branch = |at: u32| {
                let taken = !at.is_multiple_of(3 + number);
                Branch::new(0x1000, target, 0, BranchClass::CONDITIONAL, taken || continuous, 1)
            };
            let branches: Vec<Branch> = (0..number * 3000).map(branch).collect();
            let mut stream = StreamWriter::new(BlockCoding::Columns);
            let mut write = |block| file.write(number, &block).map_err(|_| TraceFault::Empty);
            stream.push(&[site], &branches, &mut write).unwrap();
            stream.finish().map(&mut write).transpose().unwrap();
            StreamTotals { branches: branches.len() as u64, ..StreamTotals::default() }
        });
        let streams = totals.collect();
        file.finish(&Directory { streams, ..Directory::default() }).unwrap()
    }

    fn outcomes_of(bytes: &[u8]) -> [TaskOutcome; 2] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("streams.assaytrace");
        std::fs::write(&path, bytes).unwrap();
        let plan = SimulationPlan {
            version: String::new(),
            traces: vec![path.display().to_string()],
            from: None,
            stream: None,
            predictors: vec!["gshare".to_owned(), "two-level".to_owned()],
            shards: Vec::new(),
        };
        let task = SimulationTask { trace: 0, group: 0 };
        [TaskThreads::One, TaskThreads::Two]
            .map(|threads| simulate(&plan, task, threads, &ReadSoFar::untold()).unwrap())
    }

    #[test]
    fn a_second_thread_that_reads_changes_no_count() {
        let [alone, with_a_second] = outcomes_of(&file(true));
        assert_eq!(alone, with_a_second);
        let TaskOutcome::Simulated(counts) = alone else { panic!("{alone:?}") };
        let streams = u64::from(STREAMS);
        assert_eq!(counts.branches, streams * (streams - 1) / 2 * 3000);
        assert_eq!((counts.predicted, counts.warning), ([counts.branches, 0, 0], None));
    }

    #[test]
    fn a_damaged_file_gives_the_same_error_from_either_thread() {
        let whole = file(true);
        for length in [20, whole.len() / 2, whole.len() - 1] {
            let [alone, with_a_second] = outcomes_of(&whole[..length]);
            assert!(matches!(alone, TaskOutcome::Broken(_)), "{alone:?}");
            assert_eq!(alone, with_a_second, "{length}");
        }
    }

    #[test]
    fn streams_that_cannot_be_what_was_executed_are_reported() {
        let [alone, with_a_second] = outcomes_of(&file(false));
        assert_eq!(alone, with_a_second);
        let TaskOutcome::Simulated(counts) = alone else { panic!("{alone:?}") };
        assert!(counts.warning.is_some());
    }
}
