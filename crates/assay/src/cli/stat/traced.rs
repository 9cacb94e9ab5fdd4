//! One traced execution: every branch through the predictors, then the figures of the whole command.

use super::crew::Crew;
use super::predictors::SimulatedModel;
use super::progress::Ticker;
use assay_pure::outcomes::LoggingProgram;
use assay_pure::predict::Steps;
use assay_pure::trace::{Branch, BranchSite};
use assay_report::stat::page::ThreadRow;
use assay_trace::logged::streams;
use assay_trace::{
    BranchForm, ClassCounts, Observer, Trace, TraceDetail, TraceOptions, TraceRefusal, TracedExit, command,
};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The predictors of one traced thread: each thread has its own, as each processor has.
pub struct PredictorWatcher {
    crew: Crew,
    ticker: Arc<Ticker>,
}

impl Observer for PredictorWatcher {
    fn wanted(&self) -> BranchForm {
        BranchForm::Steps { all: self.crew.sees_all() }
    }

    fn branches(&mut self, _: &[BranchSite], _: &[Branch]) {
        unreachable!("it wants steps");
    }

    fn steps(&mut self, steps: Steps<'_>) {
        self.crew.observe(steps);
        self.ticker.add(steps.branches() as u64);
    }
}

/// A command that was traced once.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedRun {
    /// What all its processes and threads executed.
    pub counts: ClassCounts,
    /// Mispredictions per model: of each of [`super::crew::JUDGED`].
    pub missed: Vec<[u64; 3]>,
    /// Each thread.
    pub threads: Vec<ThreadRow>,
    /// How the command itself ended.
    pub ended: TracedExit,
    /// Sentences for the reader, none twice.
    pub notes: Vec<String>,
    /// The emulator and its version; none where the program has records.
    pub emulator: Option<String>,
    /// From start to end.
    pub elapsed: Duration,
    /// Somebody asked the lab to stop meanwhile.
    pub interrupted: bool,
}

/// By what a command is traced.
#[derive(Clone, Copy)]
pub struct HowTraced<'a> {
    /// How to trace.
    pub options: &'a TraceOptions,
    /// The program with records; none: the emulator.
    pub instrumented: Option<&'a LoggingProgram>,
}

/// Runs the command once, traced.
///
/// # Errors
/// It cannot be traced: why, and the remedy.
pub fn execute(
    words: &[OsString],
    how: HowTraced<'_>,
    models: &[SimulatedModel],
    ticker: &Arc<Ticker>,
) -> Result<TracedRun, TraceRefusal> {
    let names: Vec<String> = models.iter().map(|model| model.name.clone()).collect();
    let detail = if models.is_empty() { TraceDetail::Counts } else { TraceDetail::Branches };
    let options = TraceOptions { detail, ..how.options.clone() };
    let started = Instant::now();
    let observed = Arc::clone(ticker);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let watcher = move || {
        let crew = Crew::new(&names, processors).expect("the names were looked up before");
        PredictorWatcher { crew, ticker: Arc::clone(&observed) }
    };
    let trace = match how.instrumented {
        Some(program) => streams::run(program, words, options.time_limit, watcher)?,
        None => command(words, &options, watcher)?,
    };
    let interrupted = assay_linux::interrupt::asked();
    Ok(TracedRun { interrupted, ..figures(trace, started.elapsed()) })
}

/// Sums a trace up.
pub fn figures(trace: Trace<PredictorWatcher>, elapsed: Duration) -> TracedRun {
    let mut counts = ClassCounts::with_taken();
    let mut missed: Vec<[u64; 3]> = Vec::new();
    let mut threads = Vec::new();
    let mut notes: Vec<String> = Vec::new();
    let ended = how_it_ended(&trace);
    let several = trace.processes.len() > 1;
    for process in trace.processes {
        let program = process.program.display().to_string();
        for thread in process.threads {
            add(&mut counts, &thread.counts);
            let of_thread = thread.observer.crew.finish();
            missed.resize(missed.len().max(of_thread.len()), [0; 3]);
            for (sums, more) in missed.iter_mut().zip(&of_thread) {
                for (sum, more) in sums.iter_mut().zip(more) {
                    *sum += more;
                }
            }
            threads.push(ThreadRow {
                process: process.pid,
                thread: thread.thread,
                program: program.clone(),
                instructions: thread.counts.instructions,
                branches: thread.counts.branches(),
                conditional: thread.counts.conditional,
                taken: thread.counts.taken,
                mispredictions: of_thread.iter().map(|missed| missed.iter().sum()).collect(),
            });
        }
        notes.extend(process.notes.into_iter().map(|note| match several {
            true => format!("{program} ({}): {note}", process.pid),
            false => note,
        }));
    }
    let mut told = BTreeSet::new();
    notes.retain(|note| told.insert(note.clone()));
    TracedRun {
        counts,
        missed,
        threads,
        ended,
        notes,
        emulator: (!trace.emulator.is_empty()).then(|| format!("qemu {}", trace.emulator)),
        elapsed,
        interrupted: false,
    }
}

/// How the command ended: where it executed another program in its place, how that one did.
fn how_it_ended(trace: &Trace<PredictorWatcher>) -> TracedExit {
    let Some(first) = trace.processes.first() else { return TracedExit::Unknown };
    let last = trace.processes.iter().rfind(|process| process.pid == first.pid);
    match last.map_or(first.ended, |process| process.ended) {
        // Its successor could not be followed.
        TracedExit::Replaced => TracedExit::Unknown,
        ended => ended,
    }
}

fn add(sum: &mut ClassCounts, more: &ClassCounts) {
    sum.instructions += more.instructions;
    sum.conditional += more.conditional;
    sum.taken = sum.taken.zip(more.taken).map(|(sum, more)| sum + more);
    sum.jumps += more.jumps;
    sum.calls += more.calls;
    sum.indirect_jumps += more.indirect_jumps;
    sum.indirect_calls += more.indirect_calls;
    sum.returns += more.returns;
    sum.system_calls += more.system_calls;
}

#[cfg(test)]
pub mod scripted {
    //! Traces without an emulator: threads that executed chosen branches.

    use super::*;
    use assay_pure::predict::KeptSteps;
    use assay_pure::trace::BranchClass;
    use assay_trace::{ProcessTrace, ThreadTrace};

    /// A thread that executed a conditional branch (site 0) with these outcomes, then an indirect call and a return, ten
    /// instructions per branch; seen by these predictors.
    pub fn thread(number: u32, outcomes: &[bool], predictors: &[&str]) -> ThreadTrace<PredictorWatcher> {
        let branch = |taken: &bool| Branch::new(0x1000, 0x900, 0, BranchClass::CONDITIONAL, *taken, 10);
        let mut branches: Vec<Branch> = outcomes.iter().map(branch).collect();
        branches.push(Branch::new(0x1010, 0x2000, 1, BranchClass::INDIRECT_CALL, true, 10));
        branches.push(Branch::new(0x2000, 0x1015, 2, BranchClass::RETURN, true, 10));
        let names: Vec<String> = predictors.iter().map(|name| (*name).to_owned()).collect();
        let mut observer = watcher(&names, &Arc::new(Ticker::quiet()));
        observer.steps(KeptSteps::of(&branches, &branches).steps());
        let counts = ClassCounts {
            instructions: 10 * branches.len() as u64,
            conditional: outcomes.len() as u64,
            taken: Some(outcomes.iter().filter(|taken| **taken).count() as u64),
            indirect_calls: 1,
            returns: 1,
            system_calls: 3,
            ..ClassCounts::default()
        };
        ThreadTrace { thread: number, counts, observer }
    }

    /// A watcher with these predictors, on one thread.
    pub fn watcher(names: &[String], ticker: &Arc<Ticker>) -> PredictorWatcher {
        PredictorWatcher { crew: Crew::new(names, 1).unwrap(), ticker: Arc::clone(ticker) }
    }

    /// A process of these threads.
    pub fn process(
        pid: u32,
        threads: Vec<ThreadTrace<PredictorWatcher>>,
        ended: TracedExit,
    ) -> ProcessTrace<PredictorWatcher> {
        ProcessTrace {
            pid,
            parent: None,
            program: format!("/bin/p{pid}").into(),
            threads,
            sites: Vec::new(),
            blocks: Vec::new(),
            modules: Vec::new(),
            regions: Vec::new(),
            ended,
            notes: Vec::new(),
        }
    }

    /// A trace of these processes.
    pub fn trace(processes: Vec<ProcessTrace<PredictorWatcher>>) -> Trace<PredictorWatcher> {
        Trace { processes, emulator: "7.2.22".to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::scripted::{process, thread, trace};
    use super::*;

    const TAKEN: [bool; 8] = [true; 8];
    const MIXED: [bool; 8] = [true, false, true, true, false, true, true, true];

    #[test]
    fn threads_and_processes_add_up() {
        // always-taken is wrong about each conditional that is not taken, and judges nothing else.
        let predictors = ["always-taken", "last-target"];
        let trace = trace(vec![
            process(
                7,
                vec![thread(0, &TAKEN, &predictors), thread(1, &MIXED, &predictors)],
                TracedExit::Exited(3),
            ),
            process(8, vec![thread(0, &MIXED, &predictors)], TracedExit::Exited(0)),
        ]);
        let found = figures(trace, Duration::from_secs(2));
        assert_eq!(found.counts.conditional, 24);
        assert_eq!(found.counts.taken, Some(20));
        assert_eq!((found.counts.instructions, found.counts.branches()), (300, 30));
        assert_eq!((found.counts.indirect_calls, found.counts.returns, found.counts.system_calls), (3, 3, 9));
        // The first indirect call of each thread has no known target: threads do not share predictors.
        assert_eq!(found.missed, [[4, 0, 0], [0, 3, 0]]);
        assert_eq!(found.threads.len(), 3);
        assert_eq!(found.threads[1].mispredictions, [2, 1]);
        assert_eq!((found.threads[2].process, found.threads[2].thread), (8, 0));
        assert_eq!((found.ended, found.elapsed), (TracedExit::Exited(3), Duration::from_secs(2)));
    }

    #[test]
    fn a_command_that_replaced_itself_ended_as_its_successor_did() {
        let one = |pid, ended| process(pid, vec![thread(0, &TAKEN, &[])], ended);
        let replaced =
            vec![one(7, TracedExit::Replaced), one(9, TracedExit::Exited(1)), one(7, TracedExit::Exited(5))];
        assert_eq!(figures(trace(replaced), Duration::ZERO).ended, TracedExit::Exited(5));
        let lost = vec![one(7, TracedExit::Replaced), one(9, TracedExit::Exited(1))];
        assert_eq!(figures(trace(lost), Duration::ZERO).ended, TracedExit::Unknown);
        assert_eq!(figures(trace(Vec::new()), Duration::ZERO).ended, TracedExit::Unknown);
    }

    #[test]
    fn taken_is_unknown_as_soon_as_one_thread_does_not_say() {
        let mut silent = thread(1, &TAKEN, &[]);
        silent.counts.taken = None;
        let found = figures(
            trace(vec![process(7, vec![thread(0, &TAKEN, &[]), silent], TracedExit::Exited(0))]),
            Duration::ZERO,
        );
        assert_eq!(found.counts.taken, None);
        assert_eq!(found.counts.conditional, 16);
    }

    #[test]
    fn notes_name_their_process_where_there_are_several() {
        let noted = |pid: u32| {
            let mut process = process(pid, vec![thread(0, &TAKEN, &[])], TracedExit::Exited(0));
            process.notes =
                vec!["It changed its own code.".to_owned(), "It changed its own code.".to_owned()];
            process
        };
        let one = figures(trace(vec![noted(7)]), Duration::ZERO);
        assert_eq!(one.notes, ["It changed its own code."]);
        let two = figures(trace(vec![noted(7), noted(8)]), Duration::ZERO);
        assert_eq!(
            two.notes,
            ["/bin/p7 (7): It changed its own code.", "/bin/p8 (8): It changed its own code."]
        );
    }

    #[test]
    fn branches_that_pass_are_ticked() {
        let ticker = Arc::new(Ticker::quiet());
        let mut watcher = scripted::watcher(&[], &ticker);
        let branches = [Branch::new(0, 0, 0, assay_pure::trace::BranchClass::CONDITIONAL, true, 1); 5];
        for piece in [&branches, &branches[..3]] {
            watcher.steps(assay_pure::predict::KeptSteps::of(piece, piece).steps());
        }
        assert_eq!(ticker.branches(), 8);
    }
}
