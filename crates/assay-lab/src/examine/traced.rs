//! Variants under the emulator: what they execute on pieces of the inputs, call by call.
//!
//! Method: per input an empty pass (what the marks cost), several passes over the beginning, over its half and over other
//! bytes, then single windows of the experiment's own. Instructions and system calls come from the tracer's counts
//! between the marks; functions from the targets of calls and jumps there.
//! Known limits: what a variant does with the system's help (a page that is touched first) is not in its instructions.

use super::facts::ExecutedCounts;
use super::started::{Laid, StartOptions, StartedVariant, Which};
use crate::run::ProgramFault;
use assay_pure::protocol::VariantKind;
use assay_pure::trace::{Branch, BranchKind, BranchSite};
use assay_trace::sites::image::ModuleImage;
use assay_trace::{
    GOES_ON, MappedModule, Observer, ProcessTrace, RegionCounts, TraceDetail, TraceMark, TraceOptions,
    TraceSession,
};
use std::collections::HashMap;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// Passes over the beginning and over other bytes.
const PASSES: u32 = 5;
/// Passes over the half.
const HALF_PASSES: u32 = 3;
/// Iterations of a loop at once, which tell what each costs beside entering and leaving it.
const ITERATIONS: u64 = 65;
/// Single windows that are looked at.
const WINDOWS: usize = 24;
/// Fewer windows than the check of them needs are not passed over: they may be long.
const LEAST_WINDOWS: usize = super::checks::FEWEST_WINDOWS;
/// What one pass showed besides counts.
#[derive(Clone, Debug, Default)]
struct TracedPass {
    input: u32,
    ahead: u64,
    arrivals: HashMap<u64, u64>,
}

/// Sees where calls and jumps go between marks, and how much is executed ahead of them.
#[derive(Debug, Default)]
struct MarkWatcher {
    ahead: u64,
    open: Option<TracedPass>,
    passes: Vec<TracedPass>,
}

impl Observer for MarkWatcher {
    fn branches(&mut self, _: &[BranchSite], branches: &[Branch]) {
        let Some(pass) = &mut self.open else {
            self.ahead += branches.iter().map(|branch| u64::from(branch.instructions())).sum::<u64>();
            return;
        };
        for branch in branches {
            let class = branch.class();
            let arrives = match class.kind() {
                BranchKind::Call => true,
                BranchKind::Jump => class.is_indirect(),
                BranchKind::Return => false,
            };
            if arrives && branch.taken() {
                *pass.arrivals.entry(branch.target).or_default() += 1;
            }
        }
    }

    fn mark(&mut self, mark: TraceMark) {
        match mark {
            TraceMark::RegionBegins { pass, .. } if pass >= GOES_ON => self.open = self.passes.pop(),
            TraceMark::RegionBegins { input, .. } => {
                let ahead = std::mem::take(&mut self.ahead);
                self.open = Some(TracedPass { input, ahead, ..TracedPass::default() });
            }
            TraceMark::RegionEnds => {
                self.passes.extend(self.open.take());
                self.ahead = 0;
            }
        }
    }
}

/// What came of a program under the emulator.
#[derive(Debug, Default)]
pub struct WalkedProgram {
    /// Input and what was executed on it.
    pub work: Vec<(usize, ExecutedCounts)>,
    /// Why no more is known.
    pub stopped: Option<NotTraced>,
}

/// Why a program was not traced to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotTraced {
    /// It uses an instruction that the emulator lacks.
    pub lacks_instruction: bool,
    /// In words.
    pub reason: String,
}

/// An input all of whose passes were asked for.
struct AskedPasses<'a> {
    laid: &'a Laid,
    /// Units of the single windows.
    windows: Vec<u64>,
    kind: VariantKind,
}

/// Walks one variant through its inputs.
pub fn walk(
    program: &Path,
    variant: &str,
    inputs: &[Laid],
    options: &StartOptions,
    plugin: Option<&Path>,
    time_limit: Duration,
) -> WalkedProgram {
    let tracing = TraceOptions {
        detail: TraceDetail::Branches,
        time_limit: Some(time_limit),
        plugin: plugin.map(Path::to_owned),
        ..TraceOptions::default()
    };
    let session = match TraceSession::open(program, &tracing, MarkWatcher::default) {
        Ok(session) => session,
        Err(refusal) => return stopped(false, refusal.to_string()),
    };
    let mut asked_for = Vec::new();
    let begun = Instant::now();
    let spoken =
        StartedVariant::start(program, session.prefix(), variant, options).and_then(|mut started| {
            let kind = started.kind;
            for laid in inputs {
                if begun.elapsed() > time_limit {
                    break;
                }
                started.load(laid)?;
                let windows = converse(&mut started, laid)?;
                asked_for.push(AskedPasses { laid, windows, kind });
            }
            started.stop()
        });
    let ended = spoken.is_ok().then(|| ExitStatus::from_raw(0));
    let said = spoken.err().map(|fault: ProgramFault| NotTraced {
        lacks_instruction: fault.what.contains("SIGILL"),
        reason: fault.to_string(),
    });
    let process = match session.finish(ended) {
        Ok(trace) => trace.processes.into_iter().next(),
        Err(refusal) => {
            return said.map_or_else(
                || stopped(false, refusal.to_string()),
                |why| WalkedProgram { work: Vec::new(), stopped: Some(why) },
            );
        }
    };
    let Some(process) = process else { return stopped(false, "the tracer saw no process".to_owned()) };
    let work =
        asked_for.iter().filter_map(|asked| Some((asked.laid.input, read(&process, asked)?))).collect();
    WalkedProgram { work, stopped: said }
}

fn stopped(lacks_instruction: bool, reason: String) -> WalkedProgram {
    WalkedProgram { work: Vec::new(), stopped: Some(NotTraced { lacks_instruction, reason }) }
}

/// Asks for all passes over one input; returns the units of the single windows.
fn converse(started: &mut StartedVariant, laid: &Laid) -> Result<Vec<u64>, ProgramFault> {
    let input = laid.input;
    if started.kind == VariantKind::Prepared {
        // Its marks part what loading executed from what preparing the beginning does.
        started.walk(Which::Probe.id(input), 0, 0, 1)?;
    }
    started.walk(Which::Whole.id(input), 0, 0, 1)?;
    started.walk(Which::Whole.id(input), 0, 1, PASSES)?;
    if started.kind == VariantKind::Loop {
        started.walk(Which::Whole.id(input), 0, ITERATIONS, 1)?;
    }
    if laid.piece(Which::Half).is_some() {
        started.walk(Which::Half.id(input), 0, 1, HALF_PASSES)?;
    }
    if laid.piece(Which::Other).is_some() {
        started.walk(Which::Other.id(input), 0, 1, PASSES)?;
    }
    let windows = &laid.specimen.probe.windows;
    if !started.kind.is_windowed() || windows.len() < LEAST_WINDOWS {
        return Ok(Vec::new());
    }
    let chosen = windows.len().min(WINDOWS);
    let mut units = Vec::new();
    for window in 0..chosen as u32 {
        units.push(started.walk(Which::Probe.id(input), window, 1, 1)?);
    }
    Ok(units)
}

/// What the passes over one input come to; none where one is missing.
fn read(process: &ProcessTrace<MarkWatcher>, asked: &AskedPasses<'_>) -> Option<ExecutedCounts> {
    let &AskedPasses { laid, ref windows, kind } = asked;
    let input = laid.input;
    let counts = |which: Which| -> Vec<&RegionCounts> {
        process.regions.iter().filter(|region| region.input == which.id(input)).collect()
    };
    let seen = &process.threads.first()?.observer.passes;
    let passes = |which: Which| -> Vec<&TracedPass> {
        seen.iter().filter(|pass| pass.input == which.id(input)).collect()
    };
    let whole = counts(Which::Whole);
    let (marks, whole) = whole.split_first()?;
    // Behind the passes of a loop is the one of many iterations.
    let (many, whole) = match kind {
        VariantKind::Loop => whole.split_last().map(|(many, whole)| (Some(*many), whole))?,
        _ => (None, whole),
    };
    let net = |region: &RegionCounts| region.counts.instructions.saturating_sub(marks.counts.instructions);
    let last = whole.last()?;
    // Of the last of several passes: what is asked for anew has the conversation ahead of its first.
    let ahead_of_last = |which: Which, passes_of_it: usize| {
        passes(which).get(passes_of_it.saturating_sub(1)).map(|pass| pass.ahead)
    };
    // What is prepared is prepared ahead of the first pass, and only there.
    let ahead_of_first = |which: Which, nth: usize| passes(which).get(nth).map(|pass| pass.ahead);
    let ahead = match kind {
        VariantKind::Call | VariantKind::Fresh => None,
        VariantKind::Loop => ahead_of_last(Which::Whole, 1 + whole.len())
            .zip(ahead_of_last(Which::Half, counts(Which::Half).len())),
        // The empty pass prepared the beginning: its own request did.
        VariantKind::Prepared => ahead_of_first(Which::Whole, 0).zip(ahead_of_first(Which::Half, 0)),
    };
    let more = |many: &RegionCounts| net(many) as f64 - net(last) as f64;
    Some(ExecutedCounts {
        sizes: laid.sizes(),
        per_iteration: many.map(|many| more(many) / (ITERATIONS - 1) as f64),
        passes: whole.iter().map(|region| net(region)).collect(),
        half: counts(Which::Half).into_iter().map(net).collect(),
        other: counts(Which::Other).into_iter().map(net).collect(),
        ahead,
        windows: windows.iter().copied().zip(counts(Which::Probe).into_iter().map(net)).collect(),
        system_calls: last.counts.system_calls.saturating_sub(marks.counts.system_calls),
        calls: names(&process.modules, &passes(Which::Whole).get(whole.len())?.arrivals),
    })
}

/// The functions that begin where calls and jumps arrived, and how often; the most frequent first.
fn names(modules: &[MappedModule], arrivals: &HashMap<u64, u64>) -> Vec<(String, u64)> {
    let mut images: HashMap<PathBuf, Option<ModuleImage>> = HashMap::new();
    let mut called: HashMap<String, u64> = HashMap::new();
    for (&target, &times) in arrivals {
        let Some(module) = modules.iter().rev().find(|module| (module.start..module.end).contains(&target))
        else {
            continue;
        };
        let image = images.entry(module.path.clone()).or_insert_with(|| ModuleImage::open(&module.path).ok());
        let Some(image) = image else { continue };
        let Some(address) = image.address_of_offset(target - module.start + module.file_offset) else {
            continue;
        };
        if let Some(function) = image.function(address).filter(|function| function.start == address) {
            *called.entry(function.name()).or_default() += times;
        }
    }
    let mut called: Vec<(String, u64)> = called.into_iter().collect();
    called.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    called
}
