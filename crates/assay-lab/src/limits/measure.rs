//! Measures the limits of one processor: a list of phases, each of which gives its part.

mod caches;
mod core;
mod kernel;

use super::machine_of;
use super::plan::{self, LimitsEffort};
use super::watched::Here;
use super::window::LimitsMeter;
use anyhow::{Context, Result, bail};
use assay_linux::machine::Machine as Facts;
use assay_pure::limits::{
    ClockBehaviour, LimitFigure, Limits, MemoryLevel, PageSize, SCHEMA, cache_sizes, levels,
};
use assay_pure::stats::quantile::quantile;
use assay_pure::words::{fraction, plural};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How far it is.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasureProgress {
    /// What is being measured.
    pub what: String,
    /// Of all, by the time it usually takes: 0 to 1.
    pub done: f64,
}

/// A phase: its name, its usual part of the time, what it does.
type MeasurePhase = (&'static str, f64, fn(&mut LimitsSession) -> Result<()>);

/// In this order: what depends on the clock's frequency first, while nothing has warmed the machine.
const PHASES: [MeasurePhase; 4] = [
    ("clock frequency", 0.05, core::clock),
    ("instructions and branches", 0.15, core::instructions),
    ("system calls", 0.05, kernel::costs),
    ("caches and memory", 0.75, caches::curves),
];

/// What is measured so far, and with what.
struct LimitsSession {
    cpu: usize,
    effort: LimitsEffort,
    meter: LimitsMeter,
    /// Largest working set, and the last cache.
    largest: u64,
    last_cache: u64,
    limits: Limits,
    progress: Sender<MeasureProgress>,
    /// Of the phases before this one, and this one's part.
    done: (f64, f64),
}

impl LimitsSession {
    /// Tells that a part of the present phase is done.
    fn tell(&self, what: &str, part: f64) -> Result<()> {
        if assay_linux::interrupt::asked() {
            bail!("interrupted: nothing is kept");
        }
        let progress = MeasureProgress { what: what.to_owned(), done: self.done.0 + self.done.1 * part };
        // Whoever listened has gone: that is no reason to stop.
        let _ = self.progress.send(progress);
        Ok(())
    }
}

/// Measures on one processor, in a thread of its own that is bound to it.
///
/// # Errors
/// The processor cannot be had, the memory neither, or Ctrl-C.
pub fn measure(
    cpu: usize,
    quick: bool,
    facts: &Facts,
    tell: &mut dyn FnMut(&MeasureProgress),
) -> Result<Limits> {
    let (sender, receiver) = channel();
    let facts = facts.clone();
    let thread = std::thread::Builder::new()
        .name("limits".into())
        .spawn(move || on_processor(cpu, quick, &facts, sender))
        .context("cannot start the thread that measures")?;
    while let Ok(progress) = receiver.recv() {
        tell(&progress);
    }
    thread.join().unwrap_or_else(|_| bail!("the thread that measures panicked"))
}

fn on_processor(cpu: usize, quick: bool, facts: &Facts, progress: Sender<MeasureProgress>) -> Result<Limits> {
    assay_linux::pin::pin(0, cpu).context("cannot measure")?;
    let began = Instant::now();
    let measured_at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let caches = cache_sizes(&facts.caches);
    let last_cache = caches.last().map(|cache| cache.bytes);
    let effort = LimitsEffort::of(quick);
    let mut session = LimitsSession {
        cpu,
        effort,
        meter: LimitsMeter::new(
            Here::default(),
            effort,
            began + Duration::from_secs_f64(plan::DEADLINE_SECONDS),
        ),
        largest: plan::largest(last_cache, facts.memory_bytes),
        last_cache: last_cache.unwrap_or(0),
        limits: Limits {
            schema: SCHEMA.to_owned(),
            assay: env!("CARGO_PKG_VERSION").to_owned(),
            machine: machine_of(facts),
            measured_at,
            took_seconds: 0.0,
            quick,
            cpu: cpu as u64,
            windows: 0,
            interrupted: 0,
            shared: 0,
            width: None,
            notes: Vec::new(),
            clock: None,
            levels: Vec::new(),
            costs: Vec::new(),
            predictor_memory: None,
            bandwidth: Vec::new(),
            latency: Vec::new(),
        },
        progress,
        done: (0.0, 0.0),
    };
    session.meter.watched.look_around();
    for (what, part, phase) in PHASES {
        session.done = (session.done.0 + session.done.1, part);
        session.tell(what, 0.0)?;
        phase(&mut session).with_context(|| format!("measuring {what}"))?;
    }
    session.finish(&caches, began)
}

impl LimitsSession {
    fn finish(mut self, caches: &[assay_pure::limits::DataCache], began: Instant) -> Result<Limits> {
        self.limits.levels = levels(caches, &self.limits.bandwidth, &self.limits.latency);
        self.limits.clock = self.limits.clock.and_then(|clock| clock_of(clock, &self.meter.cycles));
        let watched = &self.meter.watched;
        let windows = watched.clocks.windows;
        (self.limits.windows, self.limits.interrupted) = (windows.timed, windows.interrupted);
        self.limits.shared = watched.shared;
        self.limits.width = watched.width();
        self.limits.took_seconds = began.elapsed().as_secs_f64();
        self.limits.notes.extend(notes(&self.limits, self.largest, self.last_cache));
        let no_timer = self.meter.watched.clocks.no_timer.as_deref();
        self.limits.notes.extend(sharing_notes(&self.limits, self.meter.despite, no_timer));
        Ok(self.limits)
    }
}

/// The clock over the whole measurement.
fn clock_of(first: ClockBehaviour, cycles: &[f64]) -> Option<ClockBehaviour> {
    Some(ClockBehaviour {
        cycle_ns: LimitFigure::of(cycles)?,
        fastest_ns: quantile(cycles, 0.1)?,
        slowest_ns: quantile(cycles, 0.9)?,
        ..first
    })
}

/// What the figures cannot say.
fn notes(limits: &Limits, largest: u64, last_cache: u64) -> Vec<String> {
    let mut notes = Vec::new();
    if limits.machine.virtual_machine {
        notes.push(
            "This is a virtual machine. Time that the hypervisor takes away is invisible here, other guests share the caches and \
             the memory, and cache sizes are what the hypervisor reports."
                .to_owned(),
        );
    }
    notes.push(
        "One core was measured alone: with others busy it gets less of the last-level cache and of the memory.".to_owned(),
    );
    let share = limits.interrupted as f64 / limits.windows.max(1) as f64;
    if share > 0.3 {
        notes.push(format!(
            "{} of the windows were interrupted and left out. Measure again on a quiet machine (--again).",
            fraction(share)
        ));
    }
    if last_cache > 0 && largest < 2 * last_cache {
        notes.push("The largest working set is less than twice the last-level cache: the figures of the memory may include cache hits.".into());
    }
    if !limits.latency.iter().any(|curve| curve.pages == PageSize::Huge) {
        notes.push(
            "The kernel gave no huge pages: latencies beyond the nearest caches include TLB misses.".into(),
        );
    }
    if limits.clock.is_none() {
        notes
            .push(format!("There are no loops for {}: instructions were not timed.", std::env::consts::ARCH));
    }
    notes.extend(limits.levels.iter().filter_map(ends_early));
    notes
}

/// What a busy sibling thread did to the figures, of which `despite` include windows beside it.
fn sharing_notes(limits: &Limits, despite: u64, no_timer: Option<&str>) -> Vec<String> {
    let mut notes = Vec::new();
    let share = limits.shared as f64 / limits.windows.max(1) as f64;
    if share > 0.1 {
        notes.push(format!(
            "The sibling thread was busy during {} of the windows; these were left out where there were enough others.",
            fraction(share)
        ));
    }
    if despite > 0 {
        notes.push(format!(
            "{} had fewer than three windows with an idle sibling thread and include the others: they may be too slow. Measure \
             again at a quieter time (--again).",
            plural(despite, "figure")
        ));
    }
    if let Some(why) = no_timer {
        notes.push(format!(
            "For copies of a millisecond and more, only start and end were checked for interruptions: {why}."
        ));
    }
    notes
}

/// A cache that ends well before the size that the kernel tells.
fn ends_early(level: &MemoryLevel) -> Option<String> {
    let (size, end) = (level.bytes?, level.ends_at_bytes?);
    let kib = |bytes: u64| bytes / 1024;
    (end < size / 2).then(|| {
        format!(
            "The kernel reports {} as {} KiB, but loads miss it from about {} KiB: it is shared.",
            level.name,
            kib(size),
            kib(end)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_report::limits::sample;

    #[test]
    fn what_a_busy_sibling_did_to_the_figures_is_said() {
        let mut limits = sample::limits();
        (limits.windows, limits.shared) = (1000, 100);
        assert_eq!(sharing_notes(&limits, 0, None), [""; 0]);
        limits.shared = 101;
        let notes = sharing_notes(&limits, 2, Some("timer_create for pulses: no memory"));
        assert!(notes[0].starts_with("The sibling thread was busy during 10 % of the windows"), "{notes:?}");
        assert!(notes[1].starts_with("2 figures had fewer than three windows"), "{notes:?}");
        assert!(
            notes[2].ends_with("checked for interruptions: timer_create for pulses: no memory."),
            "{notes:?}"
        );
        assert_eq!(notes.len(), 3);
    }
}
