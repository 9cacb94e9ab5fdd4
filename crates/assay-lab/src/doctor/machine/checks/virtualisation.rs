//! Is it a machine of its own?

use super::{Looked, note};
use crate::doctor::machine::facts::{Kernel, Measured};

const WHY: &str = "Neighbours on the same host share caches, memory and the clock's frequency, and are seen only by what they take.";

pub fn look(kernel: &Kernel, _: &Measured) -> Looked {
    if kernel.hypervisor {
        return note(
            "a virtual machine".to_owned(),
            WHY,
            "believe ratios, which are interleaved, more than nanoseconds; for those take a machine without others on it",
        );
    }
    Looked::Well("no hypervisor is seen".to_owned())
}
