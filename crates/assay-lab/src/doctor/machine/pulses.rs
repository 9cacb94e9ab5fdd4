//! Does somebody run on the other hardware thread of the measuring core? Pulses taken one after another, for a while.

use assay_linux::clock::{KernelClock, now};
use assay_linux::pulse;
use assay_pure::pulse::Pulse;
use assay_pure::stats::sharing::{Sharing, Taken, sharing};
use std::time::Duration;

/// Pulses that are kept at most: a second's worth on a fast machine, thrice.
const MOST: usize = 1 << 20;

/// Takes pulses for so long, on the processor that the thread is bound to; none where too few were clean, or where the loops are
/// not written for the processor.
pub fn take(duration: Duration) -> Option<Sharing> {
    let begun = now(KernelClock::Monotonic);
    let mut taken = Vec::new();
    loop {
        let at = now(KernelClock::Monotonic) - begun;
        if at >= duration || taken.len() == MOST {
            return sharing(&taken);
        }
        let (chain_ns, wide_ns) = pulse::take()?;
        taken.push(Taken { at_ns: at.as_nanos() as f64, pulse: Pulse { chain_ns, wide_ns } });
    }
}
