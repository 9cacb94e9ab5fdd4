//! Can programs be traced?

use super::{Looked, note};
use crate::doctor::machine::facts::{Kernel, Measured};

const WHY: &str = "Exact counts, branch sites, simulated predictors and half the doctor's checks of an experiment come from traces.";

pub fn look(_: &Kernel, measured: &Measured) -> Looked {
    match &measured.tracing {
        None => Looked::CannotTell("it was not tried".to_owned()),
        Some(Ok(version)) => Looked::Well(format!("QEMU {version} with the plugin")),
        Some(Err(reason)) => {
            note(reason.clone(), WHY, "install the package qemu-user, and keep libassay_qemu.so beside assay")
        }
    }
}
