//! Which compilers can experiments be built with?

use super::{Looked, warning};
use crate::doctor::machine::facts::{Kernel, Measured};

const WHY: &str = "Experiments are built from source, with every compiler that they name.";

pub fn look(_: &Kernel, measured: &Measured) -> Looked {
    if measured.compilers.is_empty() {
        return warning("neither gcc nor clang is on PATH".to_owned(), WHY, "install the package gcc or clang");
    }
    Looked::Well(measured.compilers.join(", "))
}
