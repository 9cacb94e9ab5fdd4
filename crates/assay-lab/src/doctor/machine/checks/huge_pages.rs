//! Does the kernel give memory in huge pages as it likes?

use super::{Looked, note};
use crate::doctor::machine::facts::{Kernel, Measured};

const WHY: &str = "Whether a program's large arrays get huge pages then depends on how broken up memory is: times of large working \
sets differ from start to start.";

pub fn look(kernel: &Kernel, _: &Measured) -> Looked {
    match kernel.huge_pages.as_deref() {
        None => Looked::CannotTell("the kernel does not say".to_owned()),
        Some("always") => note(
            "always".to_owned(),
            WHY,
            "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled (as root)",
        ),
        Some(other) => Looked::Well(other.to_owned()),
    }
}
