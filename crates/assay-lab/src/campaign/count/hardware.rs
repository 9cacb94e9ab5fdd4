//! One program by itself, walked through its inputs under the processor's own counters.
//!
//! Method: the counters of the program's process are read before and after each request, and what an empty request of as many
//! passes takes, which is the conversation and the marks, is subtracted. An input that is walked through again and again has
//! its first pass counted, then its last third. Mispredictions are this CPU's, whatever it knew before.
//! Known limits: developed where the kernel refuses every hardware event, so that it was exercised with the kernel's own
//! events only; counters that are shared out count nothing here, as a share of a short walk says little of the rest.

use super::converse::{CountedInput, CutShort, Job, Outcome, converse, why};
use super::walks::{self, PassCounts, Stretch, WalkPurpose, WalkedCell};
use crate::campaign::inputs::ReadyInput;
use crate::run::worker::{WalkRequest, Worker};
use assay_linux::perf::{
    CounterEvent, CounterReading, CounterRefusal, RefusalContext, RunningCounters, Target,
};
use assay_pure::experiment;
use assay_pure::protocol::{VariantKind, combine};

/// The events, in the order in which they are counted: work first.
const WORK: [&str; 2] = ["instructions:u", "branches:u"];
const CYCLES: &str = "cycles:u";
const MISSES: &str = "branch-misses:u";

/// What to count, or in a sentence why this machine does not.
pub(super) fn events(
    asked: &[experiment::CountedEvent],
    conditions: &RefusalContext,
    open: &dyn Fn(&[CounterEvent]) -> Result<(), CounterRefusal>,
) -> Result<Vec<CounterEvent>, String> {
    let further =
        [(experiment::CountedEvent::Cycles, CYCLES), (experiment::CountedEvent::BranchMisses, MISSES)];
    let further = further.into_iter().filter(|(event, _)| asked.contains(event)).map(|(_, name)| name);
    let names = WORK.into_iter().chain(further);
    let events: Vec<CounterEvent> = names.map(|name| name.parse().expect("perf's own name")).collect();
    match open(&events) {
        Ok(()) => Ok(events),
        Err(refusal) => {
            Err(format!("traced because {} cannot be counted: {}", refusal.event, refusal.reason(conditions)))
        }
    }
}

/// Whether the kernel counts all of these at once, tried on this very thread.
pub(super) fn open_here(events: &[CounterEvent]) -> Result<(), CounterRefusal> {
    RunningCounters::open(events, Target::Here).map(drop)
}

/// Counts a program; `told` is called after each input.
pub(super) fn count(job: &Job<'_>, events: &[CounterEvent], told: &mut dyn FnMut()) -> Outcome {
    let each = &mut |worker: &mut Worker, kind, input: (usize, &ReadyInput)| {
        worker.load(&input.1.loaded(input.0).request).map_err(|fault| why(&fault))?;
        cell(&mut Counting::new(worker, kind, events)?, input, job.most_units)
    };
    let (cells, stopped, _) = converse(job, &[], each, told);
    Outcome { cells, stopped }
}

/// A worker whose events are being counted.
struct Counting<'a> {
    worker: &'a mut Worker,
    variant: u32,
    kind: VariantKind,
    counters: RunningCounters,
    /// The third event is the cycles.
    with_cycles: bool,
    check: u64,
}

impl<'a> Counting<'a> {
    fn new(
        worker: &'a mut Worker,
        (variant, kind): (u32, VariantKind),
        events: &[CounterEvent],
    ) -> Result<Counting<'a>, CutShort> {
        if kind == VariantKind::Fresh {
            let reason = "the processor's counters cannot tell the calls of a fresh variant from making and dropping its states";
            return Err(CutShort::Other(reason.to_owned()));
        }
        let counters =
            RunningCounters::open(events, Target::Running { process: worker.id() }).map_err(|refusal| {
                CutShort::Other(format!(
                    "{} cannot be counted in the program: {}",
                    refusal.event,
                    refusal.reason(&RefusalContext::here())
                ))
            })?;
        let with_cycles = events.get(WORK.len()).is_some_and(|event| event.to_string() == CYCLES);
        Ok(Counting { worker, variant, kind, counters, with_cycles, check: 0 })
    }

    fn read(&self) -> Result<Vec<CounterReading>, CutShort> {
        self.counters.read().map_err(|error| CutShort::Other(format!("its counters fail: {error}")))
    }

    /// Walks; returns the units of all passes and what was counted meanwhile, the conversation included.
    fn walk(&mut self, request: &WalkRequest) -> Result<(u64, Vec<u64>), CutShort> {
        let before = self.read()?;
        let walked = self.worker.walk(self.variant, request).map_err(|fault| why(&fault))?;
        let after = self.read()?;
        self.check = combine(self.check, walked.check);
        let between: Vec<CounterReading> =
            after.iter().zip(&before).map(|(after, before)| after.since(before)).collect();
        if between.iter().any(CounterReading::is_multiplexed) {
            let reason = "the kernel multiplexed the counters, and a part of a pass does not represent the \
                          rest (another program is counting, or the NMI watchdog uses a counter)";
            return Err(CutShort::Other(reason.to_owned()));
        }
        let units = walked.units * u64::from(request.passes);
        Ok((units, between.iter().map(|reading| reading.value).collect()))
    }

    /// A walk without what an empty one of as many passes takes.
    fn stretch(&mut self, request: &WalkRequest) -> Result<Stretch, CutShort> {
        let (_, empty) = self.walk(&WalkRequest { windows: 0, window: 0, ..*request })?;
        let (units, counted) = self.walk(request)?;
        let own: Vec<u64> =
            counted.iter().zip(&empty).map(|(all, empty)| all.saturating_sub(*empty)).collect();
        Ok(Stretch { units, executed: executed(&own, self.with_cycles) })
    }
}

/// What the counters say, in the order of [`events`].
fn executed(counted: &[u64], with_cycles: bool) -> PassCounts {
    let (work, further) = counted.split_at(WORK.len());
    let (cycles, misses) = further.split_at(usize::from(with_cycles));
    PassCounts {
        instructions: work[0],
        branches: work[1],
        // Counters do not tell them apart.
        conditional: 0,
        cycles: cycles.first().copied(),
        misses: misses.to_vec(),
    }
}

fn cell(
    counting: &mut Counting<'_>,
    (number, input): (usize, &ReadyInput),
    most_units: u64,
) -> Result<CountedInput, CutShort> {
    let (mut first, mut repeated) = (None, None);
    for walk in walks::walks(number as u32, counting.kind, &input.windows, most_units) {
        match walk.purpose {
            // Each stretch has its own.
            WalkPurpose::Marks => {}
            WalkPurpose::Warm => drop(counting.walk(&walk.request)?),
            WalkPurpose::First => first = Some(counting.stretch(&walk.request)?),
            WalkPurpose::Repeated => {
                let passes = |passes| WalkRequest { passes, ..walk.request };
                let (last, all) = (walk.request.last_third(), walk.request.passes);
                first = Some(counting.stretch(&passes(1))?);
                if let between @ 1.. = all.saturating_sub(last + 1) {
                    counting.walk(&passes(between))?;
                }
                repeated = Some(counting.stretch(&passes(last))?);
            }
        }
    }
    let walked = match first {
        Some(first) if first.units > 0 => Ok(WalkedCell { first, repeated }),
        _ => Err("the input has no units".to_owned()),
    };
    Ok(CountedInput { input: number, check: (counting.kind, counting.check), walked })
}

#[cfg(test)]
mod tests;
