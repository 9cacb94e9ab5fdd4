//! What did a program execute? Any command under emulation, or an instrumented program by itself, its branches handed on as
//! they happen.
//!
//! Method: the program runs under the distribution's user-mode QEMU with our plugin (crate assay-qemu), which writes to
//! shared memory; threads of the lab read it, so that what was counted survives a crash, a kill and a time limit.
//! Known limits: docs/methodology/tracer.md.
#![forbid(unsafe_code)]

mod decode;
mod emulator;
mod followed;
pub mod logged;
mod notes;
mod plugin;
mod process;
mod program;
mod reader;
mod refusal;
mod session;
pub mod sites;

pub use followed::{FollowedExecution, FollowedRun};
pub use logged::LogSession;
pub use plugin::carry as carry_plugin;
pub use refusal::{Blame, TraceRefusal};
pub use session::{TraceSession, available, check, command};

use assay_pure::command::{CommandEnd, EndedBy};
use assay_pure::predict::Steps;
use assay_pure::trace::{Branch, BranchKind, BranchSite};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// How much to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TraceDetail {
    /// Instructions and branches by class; nothing is handed to observers. Half the time of the other.
    Counts,
    /// Every branch, in order, to an observer per thread.
    #[default]
    Branches,
}

/// How to trace.
#[derive(Clone, Debug, Default)]
pub struct TraceOptions {
    /// How much to look at.
    pub detail: TraceDetail,
    /// Programs that the command starts (fork, exec) are traced too.
    pub follow: bool,
    /// The plugin, where it is not the lab's own.
    pub plugin: Option<PathBuf>,
    /// When to end a command that does not end itself.
    pub time_limit: Option<Duration>,
}

/// What the harness says between the branches of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceMark {
    /// A timed region begins: one pass over an input. The numbers are the harness's own (PROTOCOL.md, `trace`).
    RegionBegins {
        /// Index of the variant.
        variant: u32,
        /// Id of the input.
        input: u32,
        /// Which pass over this input, from 0; [`GOES_ON`] and more where the last pass goes on.
        pass: u32,
    },
    /// The region ends.
    RegionEnds,
}

/// Added to the number of a pass that goes on after other marks.
pub const GOES_ON: u32 = 1 << 31;

/// In which form an observer wants to see branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchForm {
    /// Each by itself, to [`Observer::branches`].
    Branches,
    /// As events, to [`Observer::steps`].
    Steps {
        /// All; else conditional ones only.
        all: bool,
    },
}

/// What is done with the branches of one thread; runs on a thread of the lab while the program goes on.
pub trait Observer: Send + 'static {
    /// Asked once, before the thread's first branch.
    fn wanted(&self) -> BranchForm {
        BranchForm::Branches
    }

    /// The next stretch of branches, some thousands, in order. `sites` holds at least the sites named in it; it only grows.
    fn branches(&mut self, sites: &[BranchSite], branches: &[Branch]);

    /// The next stretch, for those who want it so: at a third of the cost. Its sites only grow too.
    fn steps(&mut self, steps: Steps<'_>) {
        let _ = steps;
    }

    /// The program said something between two branches.
    fn mark(&mut self, mark: TraceMark) {
        let _ = mark;
    }
}

/// An observer for those who only want counts.
impl Observer for () {
    fn branches(&mut self, _: &[BranchSite], _: &[Branch]) {}
}

/// How often instructions and branches of each class were executed, exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassCounts {
    /// Instructions; a repeated string instruction is one.
    pub instructions: u64,
    /// Conditional branches.
    pub conditional: u64,
    /// Those of them taken; not known from [`TraceDetail::ClassCounts`].
    pub taken: Option<u64>,
    /// Direct jumps.
    pub jumps: u64,
    /// Direct calls.
    pub calls: u64,
    /// Indirect jumps.
    pub indirect_jumps: u64,
    /// Indirect calls.
    pub indirect_calls: u64,
    /// Returns.
    pub returns: u64,
    /// Calls of the system.
    pub system_calls: u64,
}

impl ClassCounts {
    /// Nothing yet, where it will be known how many were taken.
    pub fn with_taken() -> ClassCounts {
        ClassCounts { taken: Some(0), ..ClassCounts::default() }
    }

    /// Counts more of the same, so often.
    #[inline]
    pub(crate) fn add(&mut self, more: &Self, times: u64) {
        self.instructions += more.instructions * times;
        self.conditional += more.conditional * times;
        self.taken = self.taken.zip(more.taken).map(|(one, other)| one + other * times);
        self.jumps += more.jumps * times;
        self.calls += more.calls * times;
        self.indirect_jumps += more.indirect_jumps * times;
        self.indirect_calls += more.indirect_calls * times;
        self.returns += more.returns * times;
        self.system_calls += more.system_calls * times;
    }

    /// Counts a branch, and the instructions up to it.
    pub(crate) fn count(&mut self, branch: &Branch) {
        let class = branch.class();
        self.instructions += u64::from(branch.instructions());
        if class.is_conditional() {
            self.conditional += 1;
            self.taken = self.taken.map(|taken| taken + u64::from(branch.taken()));
            return;
        }
        *match (class.kind(), class.is_indirect()) {
            (BranchKind::Return, _) => &mut self.returns,
            (BranchKind::Call, true) => &mut self.indirect_calls,
            (BranchKind::Call, false) => &mut self.calls,
            (BranchKind::Jump, true) => &mut self.indirect_jumps,
            (BranchKind::Jump, false) => &mut self.jumps,
        } += 1;
    }

    /// All branches: what perf's `branches` counts.
    pub fn branches(&self) -> u64 {
        self.conditional + self.jumps + self.calls + self.indirect_jumps + self.indirect_calls + self.returns
    }
}

/// A file mapped as code into a traced process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedModule {
    /// First address in the process.
    pub start: u64,
    /// Address after the last.
    pub end: u64,
    /// Offset in the file of the first address, bytes.
    pub file_offset: u64,
    /// The file; empty for code made at run time.
    pub path: PathBuf,
}

/// A straight stretch of code that was executed, for counts per function: the emulator's own blocks, and the beginnings of
/// those that were left before their end. Together they hold each instruction as often as it was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutedBlock {
    /// Address of its first instruction.
    pub pc: u64,
    /// Bytes of code.
    pub bytes: u32,
    /// Instructions in it.
    pub instructions: u32,
    /// Times it was executed, over all threads.
    pub executed: u64,
}

/// What one thread executed between the marks of a timed region, the harness's own way in and out included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionCounts {
    /// Number of the thread in its process.
    pub thread: u32,
    /// Index of the variant.
    pub variant: u32,
    /// Id of the input.
    pub input: u32,
    /// Which pass over this input, from 0.
    pub pass: u32,
    /// What was executed.
    pub counts: ClassCounts,
}

/// One thread of a traced process.
#[derive(Debug)]
pub struct ThreadTrace<O> {
    /// Its number in the process, from 0 in the order of creation.
    pub thread: u32,
    /// What it executed.
    pub counts: ClassCounts,
    /// Its observer, with what it has seen.
    pub observer: O,
}

/// How a traced process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TracedExit {
    /// It exited with this code.
    Exited(i32),
    /// It was ended by this signal.
    Signalled(i32),
    /// It executed another program in its place, which is a process of its own in the list.
    Replaced,
    /// It was still going on when the time limit came, and was killed.
    TimeLimit,
    /// It is gone; how is unknown.
    Unknown,
}

impl TracedExit {
    /// The same of a command that was not traced.
    pub fn end(self) -> CommandEnd {
        let (by, code, signal) = match self {
            TracedExit::Exited(code) => (EndedBy::Itself, Some(code), None),
            TracedExit::Signalled(signal) => (EndedBy::Itself, None, Some(signal)),
            TracedExit::TimeLimit => (EndedBy::TimeLimit, None, None),
            TracedExit::Replaced | TracedExit::Unknown => (EndedBy::Itself, None, None),
        };
        CommandEnd { by, code, signal }
    }

    /// For a table: "exit 0", "signal 11".
    pub fn brief(self) -> String {
        match self {
            TracedExit::Exited(code) => format!("exit {code}"),
            TracedExit::Signalled(signal) => format!("signal {signal}"),
            TracedExit::Replaced => "replaced".to_owned(),
            TracedExit::TimeLimit => "time limit".to_owned(),
            TracedExit::Unknown => "unknown".to_owned(),
        }
    }
}

/// As part of a sentence: "exited with 0", "ended by signal 11".
impl fmt::Display for TracedExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TracedExit::Exited(code) => write!(f, "exited with {code}"),
            TracedExit::Signalled(signal) => write!(f, "ended by signal {signal}"),
            TracedExit::Replaced => f.write_str("replaced by another program"),
            TracedExit::TimeLimit => f.write_str("ended at the time limit"),
            TracedExit::Unknown => f.write_str("ended in an unknown way"),
        }
    }
}

/// One traced process.
#[derive(Debug)]
pub struct ProcessTrace<O> {
    /// Its id.
    pub pid: u32,
    /// The process that started it, if that was traced too.
    pub parent: Option<u32>,
    /// Its program.
    pub program: PathBuf,
    /// Its threads, in the order of creation; the first is the main thread.
    pub threads: Vec<ThreadTrace<O>>,
    /// Every place that branched; [`Branch::site`] counts into it.
    pub sites: Vec<BranchSite>,
    /// Every block executed.
    pub blocks: Vec<ExecutedBlock>,
    /// The files its code came from.
    pub modules: Vec<MappedModule>,
    /// The harness's timed regions, in the order in which they ended.
    pub regions: Vec<RegionCounts>,
    /// How it ended.
    pub ended: TracedExit,
    /// What the reader must know: code that changed itself, an instruction that the emulator lacks, a child that could
    /// not be followed. Whole sentences.
    pub notes: Vec<String>,
}

/// What came of a traced command.
#[derive(Debug)]
pub struct Trace<O> {
    /// The command itself first, then what it started.
    pub processes: Vec<ProcessTrace<O>>,
    /// The emulator's version, as `7.2.22`.
    pub emulator: String,
}

impl<O> Trace<O> {
    /// What the reader must know where the command did not end with 0: whole sentences.
    pub fn unusual_end(&self) -> Option<String> {
        match self.processes.first()?.ended {
            TracedExit::Exited(code) if code != 0 => Some(format!("The command exited with code {code}.")),
            ended @ (TracedExit::Signalled(_) | TracedExit::TimeLimit) => {
                Some(format!("The command was {ended}: the figures cover what ran until then."))
            }
            _ => None,
        }
    }
}
