//! Is the clock cheap, fine and steady?

use super::{Looked, note, warning};
use crate::doctor::machine::facts::{Kernel, Measured, Timer};

/// A read that takes longer goes into the kernel or to a device, nanoseconds.
const CHEAP_NS: f64 = 150.0;
/// A step that is 1 % of the shortest sample, nanoseconds.
const FINE_NS: f64 = 1000.0;
/// The most that clocks are steered, parts per million.
const STEADY_PPM: f64 = 500.0;
/// Clock sources that are read without going to the kernel.
const FAST: [&str; 4] = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"];

const SLOW: &str = "Each sample is framed by two reads: what they take is subtracted, and its scatter stays.";
const COARSE: &str = "A sample is a whole number of steps: small differences disappear between two of them.";
const DRIFT: &str =
    "The clock is being steered hard: a second is not as long as the one before, in all variants alike.";

pub fn look(kernel: &Kernel, measured: &Measured) -> Looked {
    let Some(timer) = measured.timer else {
        return Looked::CannotTell("the clocks were not measured".to_owned());
    };
    let source = kernel.clock_source.as_ref().map(|(current, _)| current.as_str());
    let saw = said(&timer, source);
    let faster = kernel.clock_source.as_ref().and_then(|(current, all)| {
        all.iter().find(|other| FAST.contains(&other.as_str()) && !FAST.contains(&current.as_str()))
    });
    if let Some(faster) = faster.filter(|_| timer.read_ns > CHEAP_NS) {
        let file = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        return warning(saw, SLOW, format!("echo {faster} > {file} (as root)"));
    }
    if timer.step_ns > FINE_NS {
        return warning(saw, COARSE, "give samples more calls, or take a machine with a finer clock");
    }
    if timer.read_ns > CHEAP_NS {
        return note(saw, SLOW, "take a machine whose clock is read without the kernel (tsc, kvm-clock)");
    }
    if timer.drift_ppm.abs() > STEADY_PPM {
        return note(saw, DRIFT, "wait until the time service has settled");
    }
    Looked::Well(saw)
}

fn said(timer: &Timer, source: Option<&str>) -> String {
    format!(
        "{}: a read takes {:.0} ns, the least step seen is {:.0} ns, steered by {:.0} ppm; the thread's own clock takes {:.0} ns",
        source.unwrap_or("an unknown source"),
        timer.read_ns,
        timer.step_ns,
        timer.drift_ppm,
        timer.cpu_read_ns
    )
}
