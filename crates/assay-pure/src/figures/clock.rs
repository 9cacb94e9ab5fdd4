//! Which clock a figure is of.

use std::fmt;

/// What timed a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Time that passed. Other work on the processor is in it.
    Wall,
    /// Time that the processor spent on it.
    Cpu,
    /// What the benchmark timed by its own means.
    Manual,
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Clock::Wall => "wall time",
            Clock::Cpu => "CPU time",
            Clock::Manual => "the benchmark's own time",
        })
    }
}
