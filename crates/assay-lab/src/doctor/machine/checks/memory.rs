//! Is there memory for inputs?

use super::{Looked, note, warning};
use crate::doctor::machine::facts::{Kernel, Measured};
use assay_report::number;

/// Bytes that large inputs and their programs take.
const ROOM: u64 = 1 << 30;
/// Bytes swapped out from which on something has been pushed away.
const SWAPPED: u64 = 64 << 20;

const WHY: &str = "What is swapped out is read again while it is timed.";

pub fn look(kernel: &Kernel, _: &Measured) -> Looked {
    let Some(memory) = kernel.memory else {
        return Looked::CannotTell("the kernel does not say how much memory is free".to_owned());
    };
    let saw = format!("{} of {} are free", number::bytes(memory.available), number::bytes(memory.total));
    if memory.available < ROOM {
        return warning(saw, WHY, "end other programs, or keep inputs small");
    }
    if memory.swapped > SWAPPED {
        let saw = format!("{saw}, {} are swapped out", number::bytes(memory.swapped));
        return note(saw, WHY, "swapoff -a while measuring (as root)");
    }
    Looked::Well(saw)
}
