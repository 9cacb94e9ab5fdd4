//! Does the scheduler leave the measuring processor alone?

use super::{Looked, note, warning};
use crate::doctor::machine::facts::{Kernel, Measured};

const WHY: &str = "On a processor that is not isolated, the kernel's timer and whoever the scheduler sends there interrupt samples.";
const ONE: &str =
    "Then the lab itself runs where it measures, and every message between the two costs caches.";

pub fn look(kernel: &Kernel, _: &Measured) -> Looked {
    if kernel.allowed.len() == 1 {
        return warning(
            format!("this process may use processor {} only", kernel.allowed[0]),
            ONE,
            "allow it a second processor (cpuset, taskset, the container's limits)",
        );
    }
    let (isolated, quiet) = (kernel.isolated.contains(&kernel.cpu), kernel.nohz_full.contains(&kernel.cpu));
    match (isolated, quiet) {
        (true, true) => Looked::Well(format!("processor {} is isolated and has no tick", kernel.cpu)),
        (true, false) => {
            Looked::Well(format!("processor {} is isolated; nohz_full would take its tick too", kernel.cpu))
        }
        _ => note(
            format!("processor {} is one that the scheduler uses for everything", kernel.cpu),
            WHY,
            format!("boot with isolcpus={0} nohz_full={0}, or give the lab a cpuset of its own", kernel.cpu),
        ),
    }
}
