//! May the clock rise above its nominal frequency?

use super::{Looked, note};
use crate::doctor::machine::facts::{Kernel, Measured};

const WHY: &str = "How far it rises depends on temperature and on how many cores work: times drift by some percent, in both \
variants alike as they are interleaved.";

pub fn look(kernel: &Kernel, _: &Measured) -> Looked {
    match kernel.boost {
        None => Looked::CannotTell(
            "the kernel does not say whether the clock may rise above its nominal frequency".to_owned(),
        ),
        Some(false) => Looked::Well("off".to_owned()),
        Some(true) => note(
            "on".to_owned(),
            WHY,
            "for figures in nanoseconds that last, switch it off: echo 0 > /sys/devices/system/cpu/cpufreq/boost, or echo 1 > \
             /sys/devices/system/cpu/intel_pstate/no_turbo (as root)",
        ),
    }
}
