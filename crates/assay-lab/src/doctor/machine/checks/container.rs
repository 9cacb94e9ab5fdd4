//! Does a control group take time or memory away?

use super::{Looked, warning};
use crate::doctor::machine::facts::{Kernel, Measured};
use assay_report::number;

const WHY: &str = "A group that has used up its share is stopped until the next period, up to 100 ms, in the middle of a sample.";
const MEMORY: &str = "An input that does not fit is read again from disk, or the program is killed.";

/// Processors' worth of time that the lab needs at most: it measures on one, and traces and links on some more.
const NEEDED: f64 = 4.0;
/// Bytes that large inputs and their programs take.
const ROOM: u64 = 1 << 30;

pub fn look(kernel: &Kernel, _: &Measured) -> Looked {
    let limits = &kernel.limits;
    let needed = NEEDED.min(kernel.allowed.len().max(1) as f64);
    if let Some(cpus) = limits.cpus.filter(|cpus| *cpus < needed) {
        let throttled =
            limits.throttled.map_or(String::new(), |times| format!(", and was stopped {times} times so far"));
        return warning(
            format!("the control group may use {cpus:.1} processors of {}{throttled}", kernel.allowed.len()),
            WHY,
            "lift the limit (cpu.max, --cpus of a container), or give a whole processor instead (cpuset)",
        );
    }
    if let Some(bytes) = limits.memory_bytes.filter(|bytes| *bytes < ROOM) {
        return warning(
            format!("the control group may use {} of memory", number::bytes(bytes)),
            MEMORY,
            "lift the limit (memory.max, --memory of a container), or keep inputs small",
        );
    }
    Looked::Well("no limit that would be felt".to_owned())
}
