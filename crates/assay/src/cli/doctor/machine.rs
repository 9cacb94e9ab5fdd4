//! `assay doctor`: what can this machine tell apart, and what spoils it?

use super::Arguments;
use anyhow::Result;
use assay_lab::doctor::machine::{compose, facts, measure, pair};
use assay_lab::lead::{Misuse, measuring_cpu, turn};
use assay_lab::limits::{kept, machine_of};
use assay_link::build;
use assay_report::doctor::examination::Examination;
use assay_report::{Progress, Show};
use std::io::IsTerminal as _;
use std::path::Path;

/// Seconds of measuring where nobody says otherwise, and the part of them for identical functions over placements.
const SECONDS: f64 = 6.0;
const PAIR_SHARE: f64 = 0.5;

/// Examines it.
///
/// # Errors
/// [`Misuse`]: a processor that this process may not use.
pub fn examine(arguments: &Arguments) -> Result<Examination> {
    // Before the lab keeps off the measuring processor, which would then be missing from what is allowed.
    let machine = assay_linux::machine::facts();
    let cpu = measuring_cpu(arguments.cpu)?;
    let kernel = facts::read(Path::new("/"), cpu, machine.cpus.clone());
    let turn = turn::take(cpu, &mut || {}, &assay_linux::interrupt::asked)?;
    if turn.is_none() {
        return Err(Misuse("interrupted before anything was measured".to_owned()).into());
    }
    let seconds = arguments.budget.unwrap_or(SECONDS);
    let mut measured = measure::measure(&kernel, seconds * (1.0 - PAIR_SHARE));
    // The campaign takes turns by itself.
    drop(turn);
    measured.known_width = kept::of(&machine_of(&machine)).and_then(|limits| limits.width);
    measured.tracing =
        Some(assay_trace::available(arguments.plugin.as_deref()).map_err(|refusal| refusal.to_string()));
    let found = build::find_compilers(&["all".to_owned()]).unwrap_or_default();
    measured.compilers = found.iter().map(|found| format!("{} {}", found.name, found.version)).collect();
    measured.linkers = linkers();
    let subject = format!("{}, Linux {}", machine.cpu, machine.kernel);
    let mut progress = Progress::new(Show::choose(false, std::io::stderr().is_terminal()));
    let pair = pair::measure(cpu, machine, &found, seconds * PAIR_SHARE, &mut |event| progress.event(&event));
    drop(progress);
    measured.pair = Some(pair.map_err(|error| format!("{error:#}")));
    Ok(compose(&kernel, &measured, &subject))
}

/// Linkers on PATH that programs can be placed with.
fn linkers() -> Vec<String> {
    const NAMES: [&str; 5] = ["ld", "ld.lld", "ld.gold", "ld.mold", "mold"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &&&str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    NAMES.iter().filter(is_there).map(|name| (*name).to_owned()).collect()
}
