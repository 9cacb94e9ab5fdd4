//! Does other work run on the measuring processor? A loop that only reads the clock, and what it was denied.

use super::smallest_effect::percent;
use super::{Looked, note, warning};
use crate::doctor::machine::facts::{Gaps, Kernel, Measured};

/// A share of the time taken away that is the kernel's own housekeeping.
const HOUSEKEEPING: f64 = 0.002;
/// A share from which on samples are lost by the dozen.
const MUCH: f64 = 0.02;
/// Times a second that another thread must run there to be more than the kernel's own.
const OFTEN: f64 = 10.0;
/// Load per processor from which on somebody waits.
const CROWDED: f64 = 0.8;

const WHY: &str = "A sample that is interrupted is left out; the others still find caches and predictors that somebody else has \
used.";

pub fn look(kernel: &Kernel, measured: &Measured) -> Looked {
    let Some(gaps) = measured.gaps.filter(|gaps| gaps.lasted_ns > 0.0) else {
        return Looked::CannotTell("no loop could be bound to the measuring processor".to_owned());
    };
    let taken = gaps.taken_ns / gaps.lasted_ns;
    let saw = said(&gaps, taken);
    let remedy = "end other programs, measure when they are not there, or keep a processor free of them (isolcpus, --cpu)";
    let often = |switches: u64| switches as f64 > OFTEN * gaps.lasted_ns / 1e9;
    if taken > MUCH || gaps.switches.is_some_and(often) && taken > HOUSEKEEPING {
        return warning(saw, WHY, remedy);
    }
    let crowded = kernel.load.is_some_and(|[one, ..]| one > CROWDED * kernel.online.max(1) as f64);
    if let Some([one, five, _]) = kernel.load.filter(|_| crowded) {
        let saw =
            format!("{saw}; the load is {one:.2} ({five:.2} over 5 minutes) on {} processors", kernel.online);
        return warning(saw, WHY, remedy);
    }
    if taken > HOUSEKEEPING {
        return note(saw, WHY, remedy);
    }
    Looked::Well(saw)
}

fn said(gaps: &Gaps, taken: f64) -> String {
    let switches =
        gaps.switches.map_or(String::new(), |switches| format!(", {switches} times by another thread"));
    format!(
        "in {:.1} s {} of the time was taken from a spinning loop: {} gaps, the longest {:.0} µs{switches}; {} of the time it had \
         the processor",
        gaps.lasted_ns / 1e9,
        percent(taken),
        gaps.count,
        gaps.longest_ns / 1000.0,
        percent(gaps.cpu_ns / gaps.lasted_ns)
    )
}
