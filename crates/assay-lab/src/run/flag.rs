//! Which samples are left out of estimates, and why. They are kept: a flag is a judgement that can be made again.

use assay_pure::ledger::Flag;
use assay_pure::protocol::Reply;
use assay_pure::pulse::Pulse;

/// Below this share of CPU time in wall time a sample was interrupted.
///
/// On a shared virtual machine other work takes a pinned core in gaps of milliseconds: an undisturbed window of 0.1
/// to 1 ms has a ratio above 0.99, a disturbed one rarely above 0.9, so the exact border matters little.
const UNDISTURBED: f64 = 0.98;
/// Less than this is never an interruption, nanoseconds: a region of one call is so short that reading the thread's clock,
/// which takes half a microsecond and varies by a tenth of it, would flag it by itself.
const UNNOTICED_NS: f64 = 1000.0;

/// A region's own cost on both clocks, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RegionCost {
    /// Wall clock.
    pub wall_ns: f64,
    /// Thread CPU clock.
    pub cpu_ns: f64,
}

/// One sample as the program reported it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawSample {
    /// Ahead of the counted ones.
    pub warmup: bool,
    /// Raw wall time, nanoseconds.
    pub wall_ns: u64,
    /// Raw CPU time, nanoseconds.
    pub cpu_ns: u64,
    /// Units processed.
    pub units: u64,
    /// Involuntary context switches.
    pub switches: u64,
    /// Pulses directly before and after it, where the program takes them.
    pub pulses: Option<[Pulse; 2]>,
}

impl RawSample {
    /// The sample in a reply, if it is one.
    pub fn of(reply: &Reply) -> Option<Self> {
        match *reply {
            Reply::Sample { warmup, wall_ns, cpu_ns, units, switches, pulses, .. } => {
                Some(Self { warmup, wall_ns, cpu_ns, units, switches, pulses })
            }
            _ => None,
        }
    }

    /// Wall time less the region's own cost; negative when the region was cheaper than an empty one.
    pub fn net_wall_ns(&self, cost: RegionCost) -> f64 {
        self.wall_ns as f64 - cost.wall_ns
    }

    /// CPU time less the region's own cost.
    pub fn net_cpu_ns(&self, cost: RegionCost) -> f64 {
        self.cpu_ns as f64 - cost.cpu_ns
    }

    /// Why it must be left out, if it must.
    pub fn flag(&self, cost: RegionCost) -> Option<Flag> {
        if self.net_wall_ns(cost) <= 0.0 || self.units == 0 {
            return Some(Flag::NoTime);
        }
        if self.switches > 0 {
            return Some(Flag::Preempted);
        }
        let lost_ns = self.net_wall_ns(cost) - self.net_cpu_ns(cost);
        if lost_ns > ((1.0 - UNDISTURBED) * self.net_wall_ns(cost)).max(UNNOTICED_NS) {
            return Some(Flag::Interrupted);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COST: RegionCost = RegionCost { wall_ns: 25.0, cpu_ns: 600.0 };

    fn sample(wall_ns: u64, cpu_ns: u64, switches: u64) -> RawSample {
        RawSample { warmup: false, wall_ns, cpu_ns, units: 1000, switches, pulses: None }
    }

    #[test]
    fn keeps_an_undisturbed_sample() {
        assert_eq!(sample(100_025, 100_600, 0).flag(COST), None);
        // Net 100,000 ns on the wall, 98,001 ns of CPU.
        assert_eq!(sample(100_025, 98_601, 0).flag(COST), None);
    }

    #[test]
    fn flags_a_sample_that_another_task_cut_into() {
        assert_eq!(sample(100_025, 98_599, 0).flag(COST), Some(Flag::Interrupted));
        assert_eq!(sample(100_025, 100_600, 1).flag(COST), Some(Flag::Preempted));
    }

    #[test]
    fn a_short_sample_loses_more_to_the_clock_than_to_others() {
        // Net 1000 ns on the wall: 1 ns of CPU is what the clock's own reading may make of it, less is not.
        assert_eq!(sample(1025, 601, 0).flag(COST), None);
        assert_eq!(sample(2025, 1599, 0).flag(COST), Some(Flag::Interrupted));
        assert_eq!(sample(1025, 601, 1).flag(COST), Some(Flag::Preempted));
    }

    #[test]
    fn flags_a_region_that_took_no_time() {
        assert_eq!(sample(25, 600, 0).flag(COST), Some(Flag::NoTime));
        let nothing_done = RawSample { units: 0, ..sample(100_025, 100_600, 0) };
        assert_eq!(nothing_done.flag(COST), Some(Flag::NoTime));
    }
}
