//! One timed region, and what the clocks themselves cost.

use crate::system::{cpu_ns, switches, wall_ns};

/// The readings at the start of a timed region.
#[derive(Clone, Copy)]
pub(crate) struct RegionStart {
    wall_ns: u64,
    cpu_ns: u64,
    switches: u64,
}

/// What passed between the edges of a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Region {
    /// On CLOCK_MONOTONIC.
    pub(crate) wall_ns: u64,
    /// On CLOCK_THREAD_CPUTIME_ID.
    pub(crate) cpu_ns: u64,
    /// Involuntary context switches.
    pub(crate) switches: u64,
}

impl RegionStart {
    /// The wall clock is read last, because it is the cheap one: what the others cost is not inside it.
    #[inline(always)]
    pub(crate) fn now() -> Self {
        let switches = switches();
        let cpu_ns = cpu_ns();
        let opened = Self { wall_ns: wall_ns(), cpu_ns, switches };
        crate::clobber();
        opened
    }

    /// Ends the region: the wall clock first.
    #[inline(always)]
    pub(crate) fn close(self) -> Region {
        crate::clobber();
        let wall_ns = wall_ns();
        let cpu_ns = cpu_ns();
        let switches = switches();
        Region {
            wall_ns: wall_ns.wrapping_sub(self.wall_ns),
            cpu_ns: cpu_ns.wrapping_sub(self.cpu_ns),
            switches: switches.wrapping_sub(self.switches),
        }
    }
}

/// What the clocks cost here, nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    pub(crate) wall_read_ns: f64,
    pub(crate) cpu_read_ns: f64,
    pub(crate) region_wall_ns: f64,
    pub(crate) region_cpu_ns: f64,
}

const TRIALS: usize = 401;
/// Rows of reads of one clock; few, as one read can be a system call, and each program starts with them and has others waiting.
const ROWS: usize = 25;
/// Reads in a row.
const READS: u32 = 16;

impl Costs {
    /// Measures them: hundreds of trials, about a millisecond in all. `empty_region` must be what samples are
    /// taken with, asked for no calls.
    pub(crate) fn calibrate(empty_region: impl Fn() -> Region) -> Self {
        let regions: Vec<Region> = (0..TRIALS).map(|_| empty_region()).collect();
        Self {
            wall_read_ns: read_cost(wall_ns),
            cpu_read_ns: read_cost(cpu_ns),
            region_wall_ns: middle(regions.iter().map(|region| region.wall_ns as f64).collect()),
            region_cpu_ns: middle(regions.iter().map(|region| region.cpu_ns as f64).collect()),
        }
    }
}

fn read_cost(clock: impl Fn() -> u64) -> f64 {
    let row = |_| {
        let from = clock();
        let mut to = from;
        for _ in 0..READS {
            to = clock();
        }
        (to - from) as f64 / f64::from(READS)
    };
    middle((0..ROWS).map(row).collect())
}

/// The mean of the middle half: as deaf to outliers as the median, and finer than the clock's grain, which on virtual
/// machines is often 10 ns. `values` must not be empty.
pub(crate) fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let outer = values.len() / 4;
    let half = &values[outer..values.len() - outer];
    half.iter().sum::<f64>() / half.len() as f64
}

/// The median. `values` must not be empty.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { (values[half - 1] + values[half]) / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::{median, middle};

    #[test]
    fn the_middle_half_is_deaf_to_outliers_on_both_sides() {
        // 8 values: 2 are dropped on each side, (20 + 20 + 30 + 30) / 4 remain.
        assert_eq!(middle(vec![9e9, 20.0, 30.0, 0.0, 20.0, 30.0, 1.0, 8e8]), 25.0);
        assert_eq!(middle(vec![7.0]), 7.0);
    }

    #[test]
    fn the_median_of_an_even_count_is_the_mean_of_the_two_in_the_middle() {
        assert_eq!(median(&mut [4.0, 1.0, 3.0, 100.0]), 3.5);
        assert_eq!(median(&mut [4.0, 1.0, 100.0]), 4.0);
    }
}
