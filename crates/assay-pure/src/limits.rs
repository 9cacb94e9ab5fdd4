//! How fast can this machine be at all, and which of its limits is a measured time near?
//!
//! Method: the figures come from loops of known work (assay-linux, `limits`), each a median over short windows that nothing
//! interrupted. A limit says how long a piece of work must take at least; its **share** of a measured time is that least time over
//! the measured one. The largest share says what the code is bound by, if it is large enough to say anything.
//! Known limits: each limit is taken alone. Chains of dependent instructions, the mix of execution units and what overlaps with
//! what are not known, so a small share of every limit means "none of these", not "could be faster".
//! Checked: by hand-calculated cases and synthetic curves.

mod binding;
mod kept;
mod levels;

pub use binding::{Bound, LimitKind, LimitSource, LimitStanding, MeasuredRow, Misses, binding};
pub use kept::{LimitsError, SCHEMA};
pub use levels::{ChaseCurve, CurvePoint, DataCache, Moved, PageSize, cache_sizes, levels};

use crate::stats::interval::median_interval;
use crate::stats::predictor_memory::PredictorMemory;
use crate::stats::quantile::median;
use serde::{Deserialize, Serialize};

/// Two-sided level of the intervals.
const ALPHA: f64 = 0.05;

/// How fast one core of a machine can be at best.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Limits {
    /// Name and version of this format.
    pub schema: String,
    /// The version of assay that measured.
    pub assay: String,
    /// Where.
    pub machine: MeasuredMachine,
    /// When it began, seconds since 1970.
    pub measured_at: f64,
    /// How long it took, seconds.
    pub took_seconds: f64,
    /// With fewer repeats and sizes.
    pub quick: bool,
    /// The processor that measured.
    pub cpu: u64,
    /// Windows timed in all.
    pub windows: u64,
    /// Of them interrupted and left out.
    pub interrupted: u64,
    /// Of them with a busy sibling thread; left out where there were others.
    #[serde(default)]
    pub shared: u64,
    /// Independent additions per cycle, as pulses have shown them at best, here or when this machine was measured before; none
    /// where no pulses are written for the architecture, and of files from before there was this key.
    #[serde(default)]
    pub width: Option<f64>,
    /// What the figures cannot say, in sentences.
    pub notes: Vec<String>,
    /// How the clock frequency behaved; none where no loop is written for the architecture.
    pub clock: Option<ClockBehaviour>,
    /// From the nearest cache to the memory.
    pub levels: Vec<MemoryLevel>,
    /// What single things cost.
    pub costs: Vec<Cost>,
    /// What the branch predictor memorises; none of files from before it was measured here, and where no loop is written for the
    /// architecture.
    #[serde(default)]
    pub predictor_memory: Option<MemorisedOutcomes>,
    /// Bytes per nanosecond by working set, a curve per way of moving them; of those that are kept with a campaign the
    /// fastest way at each size alone.
    pub bandwidth: Vec<Moved>,
    /// Nanoseconds per load by working set and pages.
    pub latency: Vec<ChaseCurve>,
}

/// The facts of a machine that its limits depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeasuredMachine {
    /// Model name.
    pub cpu: String,
    /// Vendor, family and model.
    pub cpu_id: String,
    /// Microcode revision.
    pub microcode: Option<String>,
    /// Whether it is a guest.
    pub virtual_machine: bool,
    /// Sizes with their level, as "L1d 32K".
    pub caches: Vec<String>,
    /// Kernel release.
    pub kernel: String,
    /// Frequency governor.
    pub governor: Option<String>,
}

/// A median over windows, with its interval at 95 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LimitFigure {
    /// The median.
    pub median: f64,
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
    /// Windows that nothing interrupted.
    pub repeats: u64,
}

impl LimitFigure {
    /// Of the values of single windows; none of none.
    pub fn of(values: &[f64]) -> Option<LimitFigure> {
        let (interval, _) = median_interval(values, ALPHA)?;
        Some(LimitFigure {
            median: median(values)?,
            lower: interval.lower,
            upper: interval.upper,
            repeats: values.len() as u64,
        })
    }

    /// The same of `by / value`: from times to rates.
    pub fn rate(&self, by: f64) -> LimitFigure {
        let of = |value: f64| by / value;
        LimitFigure {
            median: of(self.median),
            lower: of(self.upper),
            upper: of(self.lower),
            repeats: self.repeats,
        }
    }
}

/// How the clock frequency behaved; a dependent addition is taken for a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockBehaviour {
    /// Nanoseconds per cycle, over the whole measurement.
    pub cycle_ns: LimitFigure,
    /// In the first millisecond after the processor had been idle.
    pub first_ns: Option<f64>,
    /// The fastest tenth of the windows, between all that was measured.
    pub fastest_ns: f64,
    /// The slowest tenth.
    pub slowest_ns: f64,
}

/// What a thing costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cost {
    /// Its name, as "call and return" or "page fault".
    pub name: String,
    /// Nanoseconds.
    pub ns: LimitFigure,
    /// How it was measured, in a few words.
    pub how: String,
}

/// Names of costs.
pub mod cost {
    /// An instruction among as many side by side as there can be.
    pub const INSTRUCTION: &str = "instruction";
    /// An addition among independent ones.
    pub const ADD: &str = "add";
    /// A multiplication that waits for the one before.
    pub const MULTIPLY: &str = "dependent multiply";
    /// A value stored and loaded again.
    pub const STORE_LOAD: &str = "store and load back";
    /// A jump that is taken.
    pub const TAKEN: &str = "taken jump";
    /// A conditional branch that is not taken.
    pub const UNTAKEN: &str = "branch not taken";
    /// A turn of the shortest loop.
    pub const LOOP: &str = "shortest loop";
    /// A call and its return.
    pub const CALL: &str = "call and return";
    /// The same through a register.
    pub const INDIRECT_CALL: &str = "indirect call and return";
    /// A mispredicted branch.
    pub const MISPREDICTION: &str = "misprediction";
    /// A call of the system that does next to nothing.
    pub const SYSTEM_CALL: &str = "system call";
    /// A read of the monotonic clock.
    pub const CLOCK: &str = "read monotonic clock";
    /// A read of the thread's CPU clock.
    pub const THREAD_CLOCK: &str = "read thread CPU clock";
    /// A read of the processor's counter.
    pub const COUNTER: &str = "read time-stamp counter";
    /// The first touch of a page.
    pub const PAGE_FAULT: &str = "page fault";
    /// A switch to another thread on the same processor.
    pub const SWITCH: &str = "context switch";

    /// Those that another kernel may change.
    pub const OF_THE_KERNEL: [&str; 5] = [SYSTEM_CALL, CLOCK, THREAD_CLOCK, PAGE_FAULT, SWITCH];
}

/// The length of a repeated sequence of coin tosses that the branch predictor memorises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemorisedOutcomes {
    /// Outcomes at which half of the extra time of unknown ones is reached; none where no sweep shows that it memorises any.
    pub outcomes: Option<u64>,
    /// The least that the sweeps said: those that agree within 20 %, or else all.
    pub lower: Option<u64>,
    /// The most.
    pub upper: Option<u64>,
    /// Outcomes from which on it knows nothing; none where the longest tried is known in part.
    pub unknown_from: Option<u64>,
    /// Sweeps that were made.
    pub sweeps: u64,
}

impl MemorisedOutcomes {
    /// As it was read from `sweeps` sweeps.
    pub fn of(found: Option<PredictorMemory>, sweeps: usize) -> MemorisedOutcomes {
        MemorisedOutcomes {
            outcomes: found.map(|found| found.learned_outcomes),
            lower: found.map(|found| found.lower),
            upper: found.map(|found| found.upper),
            unknown_from: found.and_then(|found| found.unlearned_outcomes),
            sweeps: sweeps as u64,
        }
    }

    /// The same as it was read; nothing where none is memorised.
    pub fn known(&self) -> Option<PredictorMemory> {
        Some(PredictorMemory {
            learned_outcomes: self.outcomes?,
            lower: self.lower?,
            upper: self.upper?,
            unlearned_outcomes: self.unknown_from,
        })
    }
}

/// What one level of the memory gives one core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryLevel {
    /// "L1", "L2", "L3", "memory".
    pub name: String,
    /// Its size, bytes; none of the memory.
    pub bytes: Option<u64>,
    /// Bytes per nanosecond, read the fastest way.
    pub read: Option<Rate>,
    /// Written.
    pub write: Option<Rate>,
    /// Copied, each byte counted once.
    pub copy: Option<Rate>,
    /// Nanoseconds of a load that waits for the one before, on small pages.
    pub latency_ns: Option<LimitFigure>,
    /// The same on huge pages, where the kernel gives them.
    pub latency_huge_ns: Option<LimitFigure>,
    /// The working set at which the latency really leaves this level; none where no step is seen.
    pub ends_at_bytes: Option<u64>,
}

/// Bytes per nanosecond.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rate {
    /// How many.
    pub bytes_per_ns: LimitFigure,
    /// By which loop: the fastest.
    pub by: String,
}

impl Limits {
    /// What a thing costs.
    pub fn cost(&self, name: &str) -> Option<&Cost> {
        self.costs.iter().find(|cost| cost.name == name)
    }

    /// Whether this version measures more here than these limits say.
    pub fn lacks_a_figure(&self) -> bool {
        // Without a clock there are no loops for the architecture, of branches neither.
        self.clock.is_some() && self.predictor_memory.is_none()
    }

    /// The level that a working set of so many bytes lies in: the first that holds it.
    pub fn level_of(&self, working_set_bytes: f64) -> Option<&MemoryLevel> {
        let holds = |level: &&MemoryLevel| level.bytes.is_none_or(|bytes| working_set_bytes <= bytes as f64);
        self.levels.iter().find(holds)
    }
}

#[cfg(test)]
mod sample;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_the_median_with_its_order_statistics() {
        assert_eq!(LimitFigure::of(&[]), None);
        // Nine values: the second and the eighth enclose the median at 96.1 %.
        let nine: Vec<f64> = (1..=9).rev().map(f64::from).collect();
        assert_eq!(
            LimitFigure::of(&nine),
            Some(LimitFigure { median: 5.0, lower: 2.0, upper: 8.0, repeats: 9 })
        );
        let rate = LimitFigure::of(&nine).unwrap().rate(40.0);
        assert_eq!((rate.median, rate.lower, rate.upper), (8.0, 5.0, 20.0));
    }

    #[test]
    fn limits_from_before_the_predictor_was_measured_lack_a_figure() {
        let before = sample::limits();
        assert!(before.lacks_a_figure());
        let unknown = Some(MemorisedOutcomes::of(None, 3));
        assert!(
            !Limits { predictor_memory: unknown, ..before.clone() }.lacks_a_figure(),
            "looked for and not found"
        );
        assert!(!Limits { clock: None, ..before }.lacks_a_figure());
    }

    #[test]
    fn a_working_set_lies_in_the_first_level_that_holds_it() {
        let limits = sample::limits();
        let name = |bytes: f64| limits.level_of(bytes).map(|level| level.name.as_str());
        assert_eq!(name(1.0), Some("L1"));
        assert_eq!(name(32_768.0), Some("L1"));
        assert_eq!(name(32_769.0), Some("L2"));
        assert_eq!(name(2e6), Some("memory"));
    }
}
