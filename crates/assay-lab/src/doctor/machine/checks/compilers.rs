//! Which compilers and linkers can experiments be built with?

use super::{Looked, warning};
use crate::doctor::machine::facts::{Kernel, Measured};

const WHY: &str = "Experiments are built from source, with every compiler that they name.";

pub fn look(_: &Kernel, measured: &Measured) -> Looked {
    if measured.compilers.is_empty() {
        return warning(
            "neither gcc nor clang is on PATH".to_owned(),
            WHY,
            "install the package gcc or clang",
        );
    }
    if measured.linkers.is_empty() {
        return warning("no linker is on PATH".to_owned(), WHY, "install the package binutils or lld");
    }
    Looked::Well(format!("{}; linkers {}", measured.compilers.join(", "), measured.linkers.join(", ")))
}
