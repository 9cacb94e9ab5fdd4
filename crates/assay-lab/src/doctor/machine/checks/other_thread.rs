//! Does somebody run on the other hardware thread of the measuring core, whom this machine may not see? Pulses tell.

use super::smallest_effect::percent;
use super::{Looked, note, warning};
use crate::doctor::machine::facts::{Kernel, Measured};
use assay_pure::pulse::narrowed;
use assay_report::number;

/// A share of the time that is an accident.
const ACCIDENT: f64 = 0.002;
/// A share from which on samples are lost by the dozen.
const MUCH: f64 = 0.02;

const WHY: &str = "Both threads share the core's width: code that fills it (decoding, parsing, SIMD) is that much slower while \
the other one works, code that waits (loads, mispredictions) hardly at all, and no clock tells. `assay run` leaves such samples \
out; other tools time them.";

const ALL_THE_TIME: &str = "Both threads share the core's width, and no pulse tells of somebody who never leaves: a campaign then \
leaves nothing out, and times of code that fills the width are those of a shared core.";

pub fn look(kernel: &Kernel, measured: &Measured) -> Looked {
    let Some(sharing) = measured.sharing else {
        return Looked::CannotTell(
            "too few of the pulses, short timed loops that fill the core, came through uninterrupted, or none are written for \
             this processor"
                .to_owned(),
        );
    };
    let pulses = number::count(sharing.pulses);
    if let Some((known, part)) =
        measured.known_width.and_then(|known| Some((known, narrowed(sharing.width, known)?)))
    {
        let saw = format!(
            "the core of processor {} was shared all the time, or is of another kind: it made {:.1} additions a cycle at best, {} of \
             the {known:.1} that assay limits has seen on this machine ({pulses} pulses)",
            kernel.cpu,
            sharing.width,
            percent(part)
        );
        return warning(saw, ALL_THE_TIME, remedy(kernel));
    }
    if sharing.share <= ACCIDENT {
        return Looked::Well(format!("nobody during {pulses} pulses, short timed loops that fill the core"));
    }
    let saw = format!(
        "the core of processor {} was shared {} of the time, in bursts of {} (half of it in longer ones; {pulses} pulses); code \
         limited by throughput was then {:.1} times slower",
        kernel.cpu,
        percent(sharing.share),
        duration(sharing.burst_ns),
        sharing.slowdown
    );
    if sharing.share > MUCH { warning(saw, WHY, remedy(kernel)) } else { note(saw, WHY, remedy(kernel)) }
}

/// "3 ms".
fn duration(ns: f64) -> String {
    if ns >= 1e6 { format!("{:.0} ms", ns / 1e6) } else { format!("{:.0} µs", ns / 1e3) }
}

/// Who can see the other thread can switch it off.
fn remedy(kernel: &Kernel) -> String {
    match kernel.siblings.as_deref() {
        Some([sibling, ..]) => format!(
            "switch processor {sibling}, which shares the core, off while measuring: echo 0 > \
             /sys/devices/system/cpu/cpu{sibling}/online (as root)"
        ),
        _ if kernel.hypervisor => {
            "the other thread belongs to the host: take bare metal, a dedicated host, or an instance type \
                                   that gives whole cores; another hour may be quieter"
                .to_owned()
        }
        _ => "find who runs beside (top), or switch hardware threads off (nosmt, or in the firmware)"
            .to_owned(),
    }
}
