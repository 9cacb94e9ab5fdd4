//! What is counted beside the time: hardware events, by perf's own names, and allocated memory.

use std::fmt;

/// An event that may be asked for in `events`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountedEvent {
    /// Instructions executed.
    Instructions,
    /// Branches executed, of any class.
    Branches,
    /// Branches that the CPU predicted wrongly; where no counter tells, those that simulated predictors do.
    BranchMisses,
    /// Cycles of the core's clock while the program ran; only counters tell them, no trace does.
    Cycles,
    /// Operations that the front end took from the op cache; only counters tell them.
    OpCacheOps,
    /// Operations that the decoders made anew; only counters tell them.
    DecodedOps,
    /// Misses of the first-level instruction cache; only counters tell them.
    L1iMisses,
    /// Misses of all levels of the instruction TLB; only counters tell them.
    ItlbMisses,
    /// Blocks allocated, one that is resized counted again.
    Allocations,
    /// Bytes that were asked for.
    AllocatedBytes,
    /// The most bytes at once in a call, beyond those that were there before it.
    PeakBytes,
}

impl CountedEvent {
    /// All of them, in the order in which reports show them.
    pub const ALL: [CountedEvent; 11] = [
        CountedEvent::Instructions,
        CountedEvent::Branches,
        CountedEvent::BranchMisses,
        CountedEvent::Cycles,
        CountedEvent::OpCacheOps,
        CountedEvent::DecodedOps,
        CountedEvent::L1iMisses,
        CountedEvent::ItlbMisses,
        CountedEvent::Allocations,
        CountedEvent::AllocatedBytes,
        CountedEvent::PeakBytes,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            CountedEvent::Instructions => "instructions",
            CountedEvent::Branches => "branches",
            CountedEvent::BranchMisses => "branch-misses",
            CountedEvent::Cycles => "cycles",
            CountedEvent::OpCacheOps => "op-cache-ops",
            CountedEvent::DecodedOps => "decoded-ops",
            CountedEvent::L1iMisses => "l1i-misses",
            CountedEvent::ItlbMisses => "itlb-misses",
            CountedEvent::Allocations => "allocations",
            CountedEvent::AllocatedBytes => "allocated-bytes",
            CountedEvent::PeakBytes => "peak-bytes",
        }
    }

    /// Whether it is of the front end, which some processors count, each by events of its own.
    pub const fn is_of_front_end(self) -> bool {
        matches!(
            self,
            CountedEvent::OpCacheOps
                | CountedEvent::DecodedOps
                | CountedEvent::L1iMisses
                | CountedEvent::ItlbMisses
        )
    }

    /// Whether it is of allocated memory, which a run of its own counts, and not of what is executed.
    pub const fn is_of_memory(self) -> bool {
        matches!(self, CountedEvent::Allocations | CountedEvent::AllocatedBytes | CountedEvent::PeakBytes)
    }
}

impl fmt::Display for CountedEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
