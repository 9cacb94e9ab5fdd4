//! What is counted beside the time: hardware events, by perf's own names.

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
}

impl CountedEvent {
    /// All of them, in the order in which reports show them.
    pub const ALL: [CountedEvent; 4] = [
        CountedEvent::Instructions,
        CountedEvent::Branches,
        CountedEvent::BranchMisses,
        CountedEvent::Cycles,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            CountedEvent::Instructions => "instructions",
            CountedEvent::Branches => "branches",
            CountedEvent::BranchMisses => "branch-misses",
            CountedEvent::Cycles => "cycles",
        }
    }
}

impl fmt::Display for CountedEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
