//! `assay doctor`: what can this machine tell apart, and what spoils it?

use super::Arguments;
use crate::campaign::{self, Misuse};
use crate::doctor::machine::{compose, facts, measure};
use crate::report::doctor::examination::Examination;
use crate::{build, trace};
use anyhow::Result;
use std::path::Path;

/// Seconds of measuring where nobody says otherwise.
const SECONDS: f64 = 6.0;

/// Examines it.
///
/// # Errors
/// [`Misuse`]: a processor that this process may not use.
pub fn examine(arguments: &Arguments) -> Result<Examination> {
    // Before the lab keeps off the measuring processor, which would then be missing from what is allowed.
    let machine = assay_linux::machine::facts();
    let cpu = campaign::measuring_cpu(arguments.cpu)?;
    let kernel = facts::read(Path::new("/"), cpu, machine.cpus.clone());
    let turn = campaign::turn::take(cpu, &mut || {}, &assay_linux::interrupt::asked)?;
    if turn.is_none() {
        return Err(Misuse("interrupted before anything was measured".to_owned()).into());
    }
    let mut measured = measure::measure(&kernel, arguments.budget.unwrap_or(SECONDS));
    measured.tracing =
        Some(trace::available(arguments.plugin.as_deref()).map_err(|refusal| refusal.to_string()));
    let found = build::find_compilers(&["all".to_owned()]).unwrap_or_default();
    measured.compilers = found.iter().map(|found| format!("{} {}", found.name, found.version)).collect();
    measured.linkers = linkers();
    let subject = format!("{}, Linux {}", machine.cpu, machine.kernel);
    Ok(compose(&kernel, &measured, &subject))
}

/// Linkers on PATH that programs can be placed with.
fn linkers() -> Vec<String> {
    const NAMES: [&str; 5] = ["ld", "ld.lld", "ld.gold", "ld.mold", "mold"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &&&str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    NAMES.iter().filter(is_there).map(|name| (*name).to_owned()).collect()
}
