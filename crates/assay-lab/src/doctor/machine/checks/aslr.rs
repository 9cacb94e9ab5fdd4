//! Are addresses drawn anew for each process?

use super::{Looked, note};
use crate::doctor::machine::facts::{Kernel, Measured};

const WHY: &str = "With the same addresses in every process, an accident of their lower bits is in all samples, and looks like an \
effect.";

pub fn look(kernel: &Kernel, _: &Measured) -> Looked {
    match kernel.aslr {
        None => Looked::CannotTell("the kernel does not say".to_owned()),
        Some(0) => note("off".to_owned(), WHY, "echo 2 > /proc/sys/kernel/randomize_va_space (as root)"),
        Some(level) => Looked::Well(format!("on ({level}): code, stack and heap are drawn per process")),
    }
}
