//! Which clock a figure is of.

use std::fmt;

/// What timed a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BenchmarkClock {
    /// Time that passed. Other work on the processor is in it.
    Wall,
    /// Time that the processor spent on it.
    Cpu,
    /// What the benchmark timed by its own means.
    Manual,
}

impl fmt::Display for BenchmarkClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BenchmarkClock::Wall => "wall time",
            BenchmarkClock::Cpu => "CPU time",
            BenchmarkClock::Manual => "the benchmark's own time",
        })
    }
}
