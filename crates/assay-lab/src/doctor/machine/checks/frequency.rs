//! Who sets the clock's frequency?

use super::{Looked, warning};
use crate::doctor::machine::facts::{Kernel, Measured};

/// Governors that keep the frequency up while there is work.
const STEADY: [&str; 2] = ["performance", "userspace"];

const WHY: &str = "The governor lowers the frequency between samples and raises it within them, so that the first ones are slower \
and times depend on what ran before.";

pub fn look(kernel: &Kernel, _: &Measured) -> Looked {
    let Some(governor) = &kernel.governor else {
        let why = if kernel.hypervisor {
            "in a virtual machine the host sets it"
        } else {
            "there is no cpufreq driver"
        };
        return Looked::CannotTell(format!("the kernel does not say who sets the clock's frequency: {why}"));
    };
    let driver = kernel.driver.as_deref().unwrap_or("an unknown driver");
    if STEADY.contains(&governor.as_str()) {
        return Looked::Well(format!("governor {governor}, {driver}"));
    }
    warning(
        format!("governor {governor}, {driver}"),
        WHY,
        "cpupower frequency-set -g performance (as root), or write `performance` to each scaling_governor",
    )
}
