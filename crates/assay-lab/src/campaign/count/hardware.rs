//! One program by itself, walked through its inputs under the processor's own counters.
//!
//! Method: the counters of the program's process are read before and after each request, and what an empty request of as many
//! passes takes, which is the conversation and the marks, is subtracted. An input that is walked through again and again has
//! its first pass counted, then its last third. Mispredictions are this CPU's, whatever it knew before.
//! Events of the front end have a walk of their own, since no processor has counters for all at once: behind the others, so that
//! what it counts first is warm.
//! Known limits: developed where the kernel refuses every hardware event, so that it was exercised with the kernel's own
//! events only; counters that are shared out count nothing here, as a share of a short walk says little of the rest.

use super::converse::{CountedInput, CutShort, Job, NumberedInput, ProgramCounts, converse, why};
use super::walks::{self, PassCounts, WalkPurpose, WalkedCell, WalkedStretch};
use crate::run::worker::{Announced, WalkRequest, Worker};
use assay_linux::perf::{
    CounterEvent, CounterReading, CounterRefusal, RefusalContext, RunningCounters, Target,
};
use assay_pure::experiment;
use assay_pure::protocol::{VariantKind, combine};

/// The events, in the order in which they are counted: work first.
const WORK: [&str; 2] = ["instructions:u", "branches:u"];
const CYCLES: &str = "cycles:u";
const MISSES: &str = "branch-misses:u";

/// What this machine counts of what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AvailableCounters {
    /// Work, cycles, mispredictions.
    events: Vec<CounterEvent>,
    /// Of the front end, with the names that were asked for.
    of_front_end: Vec<(experiment::CountedEvent, CounterEvent)>,
    /// Why those of the front end are not counted, in a sentence.
    pub without_front_end: Option<String>,
}

impl AvailableCounters {
    /// perf's names of all.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let front_end = self.of_front_end.iter().map(|(_, event)| event);
        self.events.iter().chain(front_end).map(ToString::to_string)
    }

    /// The events of the front end as they are kept.
    pub fn front_end(&self, counted: &PassCounts) -> Vec<(experiment::CountedEvent, u64)> {
        self.of_front_end.iter().map(|(event, _)| *event).zip(counted.front_end.iter().copied()).collect()
    }
}

/// What to count, or in a sentence why this machine does not.
pub(super) fn events(
    asked: &[experiment::CountedEvent],
    conditions: &RefusalContext,
    open: &dyn Fn(&[CounterEvent]) -> Result<(), CounterRefusal>,
) -> Result<AvailableCounters, String> {
    let further =
        [(experiment::CountedEvent::Cycles, CYCLES), (experiment::CountedEvent::BranchMisses, MISSES)];
    let further = further.into_iter().filter(|(event, _)| asked.contains(event)).map(|(_, name)| name);
    let names = WORK.into_iter().chain(further);
    let events: Vec<CounterEvent> = names.map(|name| name.parse().expect("perf's own name")).collect();
    open(&events).map_err(|refusal| {
        format!("without counters, as {} cannot be counted: {}", refusal.event, refusal.reason(conditions))
    })?;
    let (of_front_end, without_front_end) = match front_end(asked, conditions, open) {
        Ok(found) => (found, None),
        Err(reason) => (Vec::new(), Some(reason)),
    };
    Ok(AvailableCounters { events, of_front_end, without_front_end })
}

/// The events of the front end, or in a sentence why this machine does not count them.
fn front_end(
    asked: &[experiment::CountedEvent],
    conditions: &RefusalContext,
    open: &dyn Fn(&[CounterEvent]) -> Result<(), CounterRefusal>,
) -> Result<Vec<(experiment::CountedEvent, CounterEvent)>, String> {
    let mut found = Vec::new();
    for event in asked.iter().filter(|event| event.is_of_front_end()) {
        let own = event
            .name()
            .parse::<CounterEvent>()
            .map_err(|_| format!("this CPU is not known to count {event}"))?;
        found.push((*event, own));
    }
    let events: Vec<CounterEvent> = found.iter().map(|(_, event)| event.clone()).collect();
    if !events.is_empty() {
        open(&events).map_err(|refusal| {
            format!("{} cannot be counted: {}", refusal.event, refusal.reason(conditions))
        })?;
    }
    Ok(found)
}

/// Whether the kernel counts all of these at once, tried on this very thread.
pub(super) fn open_here(events: &[CounterEvent]) -> Result<(), CounterRefusal> {
    RunningCounters::open(events, Target::Here).map(drop)
}

/// Counts a program; `told` is called after each input.
pub(super) fn count(job: &Job<'_>, counters: &AvailableCounters, told: &mut dyn FnMut()) -> ProgramCounts {
    let front_end: Vec<CounterEvent> = counters.of_front_end.iter().map(|(_, event)| event.clone()).collect();
    let each = &mut |worker: &mut Worker, variant: &Announced, input: NumberedInput<'_>| {
        input.load(worker)?;
        let with_cycles = counters.events.get(WORK.len()).is_some_and(|event| event.to_string() == CYCLES);
        let meaning = &|counted: &[u64]| executed(counted, with_cycles);
        let mut found =
            cell(&mut Counting::new(worker, variant, &counters.events, meaning)?, input, job.most_units)?;
        if !front_end.is_empty() {
            let meaning =
                &|counted: &[u64]| PassCounts { front_end: counted.to_vec(), ..PassCounts::default() };
            let further = Counting::new(worker, variant, &front_end, meaning)
                .and_then(|mut counting| cell(&mut counting, input, job.most_units));
            add_front_end(&mut found, further);
        }
        Ok(found)
    };
    let walked = converse(job, &[], each, told);
    ProgramCounts { cells: walked.done, stopped: walked.stopped }
}

/// Adds the front end's events of another walk through the same input, or why there are none: what was counted before stays.
fn add_front_end(counted: &mut CountedInput, further: Result<CountedInput, CutShort>) {
    let further = match further {
        Ok(further) => further.walked,
        Err(CutShort::Late) => Err("the time for counting ran out".to_owned()),
        Err(CutShort::Instruction(reason) | CutShort::Other(reason)) => Err(reason),
    };
    let further = match further {
        Ok(further) => further,
        Err(reason) => {
            counted.note = Some(format!("without events of the front end: {reason}"));
            return;
        }
    };
    let Ok(found) = &mut counted.walked else { return };
    found.first.executed.front_end = further.first.executed.front_end;
    if let (Some(found), Some(further)) = (&mut found.repeated, further.repeated) {
        found.executed.front_end = further.executed.front_end;
    }
}

/// A worker whose events are being counted.
struct Counting<'a> {
    worker: &'a mut Worker,
    variant: &'a Announced,
    counters: RunningCounters,
    /// What the events' counts are, in their order.
    meaning: &'a dyn Fn(&[u64]) -> PassCounts,
    check: u64,
}

impl<'a> Counting<'a> {
    fn new(
        worker: &'a mut Worker,
        variant: &'a Announced,
        events: &[CounterEvent],
        meaning: &'a dyn Fn(&[u64]) -> PassCounts,
    ) -> Result<Counting<'a>, CutShort> {
        if variant.kind == VariantKind::Fresh {
            let reason =
                "the processor's counters cannot separate a fresh variant's calls from setup and teardown";
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
        Ok(Counting { worker, variant, counters, meaning, check: 0 })
    }

    fn read(&self) -> Result<Vec<CounterReading>, CutShort> {
        self.counters.read().map_err(|error| CutShort::Other(format!("its counters fail: {error}")))
    }

    /// Walks; returns the units of all passes and what was counted meanwhile, the conversation included.
    fn walk(&mut self, request: &WalkRequest) -> Result<(u64, Vec<u64>), CutShort> {
        let before = self.read()?;
        let walked = self.worker.walk(self.variant.index, request).map_err(|fault| why(&fault))?;
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
    fn stretch(&mut self, request: &WalkRequest) -> Result<WalkedStretch, CutShort> {
        let (_, empty) = self.walk(&WalkRequest { windows: 0, window: 0, ..*request })?;
        let (units, counted) = self.walk(request)?;
        let own: Vec<u64> =
            counted.iter().zip(&empty).map(|(all, empty)| all.saturating_sub(*empty)).collect();
        Ok(WalkedStretch { units, executed: (self.meaning)(&own) })
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
        front_end: Vec::new(),
        misses: misses.to_vec(),
    }
}

fn cell(
    counting: &mut Counting<'_>,
    input: NumberedInput<'_>,
    most_units: u64,
) -> Result<CountedInput, CutShort> {
    let (mut first, mut repeated) = (None, None);
    for walk in walks::walks(input.number as u32, counting.variant.kind, &input.ready.windows, most_units) {
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
    Ok(CountedInput {
        input: input.number,
        kind: counting.variant.kind,
        check: counting.check,
        walked,
        note: None,
    })
}

#[cfg(test)]
mod tests;
