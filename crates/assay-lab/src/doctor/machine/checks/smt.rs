//! Is there another hardware thread on the measuring core?

use super::smallest_effect::percent;
use super::{Looked, note, warning};
use crate::doctor::machine::facts::{Kernel, Measured};

/// A share of the time that the other thread may be busy without much harm.
const IDLE: f64 = 0.02;

const WHY: &str = "Both threads share caches, predictors and units of execution: what runs on the other one takes up to half the \
speed away, and no clock tells.";

pub fn look(kernel: &Kernel, measured: &Measured) -> Looked {
    let Some(siblings) = &kernel.siblings else {
        return Looked::CannotTell("the kernel does not say which processors share a core".to_owned());
    };
    if siblings.is_empty() {
        return Looked::Well(format!(
            "processor {} has its core to itself, as far as the kernel sees",
            kernel.cpu
        ));
    }
    let names: Vec<String> = siblings.iter().map(usize::to_string).collect();
    let saw = format!("processor {} shares its core with {}", kernel.cpu, names.join(", "));
    let remedy = format!(
        "switch the other thread off while measuring: echo 0 > /sys/devices/system/cpu/cpu{}/online (as root), or boot with \
         nosmt",
        siblings[0]
    );
    match measured.sibling_busy {
        Some(busy) if busy > IDLE => {
            warning(format!("{saw}, which was busy {} of the time", percent(busy)), WHY, remedy)
        }
        Some(busy) => note(format!("{saw}, which was busy {} of the time", percent(busy)), WHY, remedy),
        None => note(saw, WHY, remedy),
    }
}
