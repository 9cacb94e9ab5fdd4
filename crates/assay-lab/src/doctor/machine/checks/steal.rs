//! Does the hypervisor give the measuring processor's time to others?

use super::smallest_effect::percent;
use super::{Looked, warning};
use crate::doctor::machine::facts::{Kernel, Measured};

/// A share that is an accident.
const ACCIDENT: f64 = 0.001;

const WHY: &str = "While it is stolen the clock goes on: wall times grow by what nobody in here can see, in gaps of milliseconds.";

pub fn look(kernel: &Kernel, measured: &Measured) -> Looked {
    match measured.steal {
        None => Looked::CannotTell("the kernel does not say how much time was stolen".to_owned()),
        Some(share) if share > ACCIDENT => warning(
            format!(
                "{} of the time of processor {} was stolen in {:.1} s",
                percent(share),
                kernel.cpu,
                measured.seconds
            ),
            WHY,
            "take a machine with processors of its own (dedicated, metal), or measure at another hour; clock = \"thread_cpu\" \
             in the experiment helps a little",
        ),
        Some(share) => Looked::Well(format!("{} in {:.1} s", percent(share), measured.seconds)),
    }
}
