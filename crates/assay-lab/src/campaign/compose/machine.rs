//! The machine that a campaign ran on: its facts as they are kept, and as they are shown.

use crate::store::{CampaignRow, Ledger, ProcessRow};
use anyhow::{Context, Result};
use assay_link::build::Compiler;
use assay_linux::machine::Machine;
use assay_pure::experiment::Experiment;
use assay_pure::stats::quantile::median;
use assay_pure::words;
use assay_report::page;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The machine's facts as kept with a campaign.
pub fn machine_json(machine: &Machine, compilers: &[Compiler], cpu: usize) -> Value {
    json!({
        "host": machine.host,
        "cpu": machine.cpu,
        "cpu_id": machine.cpu_id,
        "features": machine.features,
        "microcode": machine.microcode,
        "kernel": machine.kernel,
        "cpus": machine.cpus,
        "pinned_cpu": cpu,
        "governor": machine.governor,
        "virtual_machine": machine.virtual_machine,
        "caches": machine.caches,
        "memory_bytes": machine.memory_bytes,
        "aslr": machine.aslr,
        "compilers": compilers.iter().map(crate::campaign::placements::compiler_json).collect::<Vec<_>>(),
    })
}

/// A compiler as shown.
pub fn compiler(compiler: &Compiler) -> page::PageCompiler {
    page::PageCompiler {
        name: compiler.name.clone(),
        version: compiler.version.clone(),
        target: compiler.target.clone(),
        sha256: compiler.sha256.clone(),
    }
}

pub(super) fn machine_of(
    row: &CampaignRow,
    experiment: &Experiment,
    ledger: &Ledger,
) -> Result<page::PageMachine> {
    let text = |key: &str| row.machine[key].as_str().unwrap_or_default().to_owned();
    let processes = ledger.processes(row.id)?;
    let cost = |of: fn(&ProcessRow) -> f64| {
        let values: Vec<f64> = processes.iter().map(of).collect();
        median(&values)
    };
    let compilers = row.machine["compilers"].as_array().cloned().unwrap_or_default();
    Ok(page::PageMachine {
        cpu: text("cpu"),
        kernel: text("kernel"),
        cores: row.machine["cpus"].as_array().map_or(0, Vec::len) as u32,
        pinned_cpu: row.pinned_cpu.map(|cpu| cpu as u32),
        compilers: compilers
            .into_iter()
            .map(serde_json::from_value)
            .collect::<Result<_, _>>()
            .context("reading the campaign's compilers")?,
        clock: experiment.clock,
        timer: page::TimerCosts {
            wall_read_ns: cost(|process| process.wall_read_ns),
            cpu_read_ns: cost(|process| process.cpu_read_ns),
            region_wall_ns: cost(|process| process.region_wall_ns),
            region_cpu_ns: cost(|process| process.region_cpu_ns),
        },
        facts: further(&row.machine),
    })
}

/// What tells the machine from others of its kind.
fn further(machine: &Value) -> BTreeMap<String, String> {
    let named = [("cpu_id", "CPU id"), ("microcode", "microcode"), ("governor", "governor")];
    let mut facts: BTreeMap<String, String> = named
        .into_iter()
        .filter_map(|(key, name)| Some((name.to_owned(), machine[key].as_str()?.to_owned())))
        .collect();
    if machine["virtual_machine"] == json!(true) {
        facts.insert("virtual machine".into(), "yes".into());
    }
    facts
}

/// A machine's facts as kept, by name; the processor first.
pub fn facts_of(machine: &Value) -> Vec<(String, String)> {
    let text = |key: &str| machine[key].as_str().map(str::to_owned);
    let cores = machine["cpus"].as_array().map_or(0, Vec::len) as u64;
    let pinned = machine["pinned_cpu"].as_u64().map(|cpu| format!(", pinned to {cpu}")).unwrap_or_default();
    let cpu = text("cpu").map(|cpu| format!("{cpu}, {}{pinned}", words::plural(cores, "core")));
    let memory = machine["memory_bytes"].as_u64().map(words::bytes);
    let caches = machine["caches"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let caches = caches.collect::<Vec<_>>().join(", ");
    let first = [
        ("processor", cpu),
        ("kernel", text("kernel")),
        ("memory", memory),
        ("caches", (!caches.is_empty()).then_some(caches)),
    ];
    let first = first.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    first.chain(further(machine)).collect()
}
