//! Where the functions of each build lie in its plain link: the variants' entries, and what else they run by the
//! experiment's word. Only where builds are compared, as that is where addresses explain something.

use crate::store::{CampaignRow, Ledger, ProcessRow};
use anyhow::{Context, Result};
use assay_pure::experiment::{Axis, Experiment, pattern};
use assay_pure::placement::layout::{FunctionPlace, LINE_BYTES};
use assay_report::page::{BuildLayout, Landing};
use assay_trace::sites::names::demangle;
use std::collections::BTreeMap;

/// The layouts of a campaign, by compiler and flag set in the order of their processes.
///
/// # Errors
/// The ledger cannot be read.
pub fn layouts(ledger: &Ledger, row: &CampaignRow, experiment: &Experiment) -> Result<Vec<BuildLayout>> {
    if experiment.contrasts.along.iter().all(|&axis| axis == Axis::Variant) {
        return Ok(Vec::new());
    }
    let as_built = ledger.processes(row.id)?.into_iter().filter(|process| process.rotation.is_none());
    let mut builds: Vec<(String, Vec<ProcessRow>)> = Vec::new();
    for process in as_built {
        match builds.iter_mut().find(|(artifact, of)| {
            *artifact == process.artifact
                && of[0].compiler == process.compiler
                && of[0].flags == process.flags
        }) {
            Some((_, processes)) => processes.push(process),
            None => builds.push((process.artifact.clone(), vec![process])),
        }
    }
    let mut layouts = Vec::new();
    for (artifact, processes) in builds {
        let Some(kept) = ledger.artifact(&artifact)? else { continue };
        let functions: Vec<FunctionPlace> = serde_json::from_value(kept.functions)
            .context("reading the addresses of an artifact's functions")?;
        layouts.push(BuildLayout {
            compiler: processes[0].compiler.clone(),
            flags: processes[0].flags.clone(),
            text_bytes: kept.text_bytes,
            functions: landings(&functions, &processes, experiment),
        });
    }
    let order = |name: &str| experiment.flags.iter().position(|set| set.name == name);
    layouts.sort_by_key(|layout| order(&layout.flags));
    Ok(layouts)
}

fn landings(functions: &[FunctionPlace], processes: &[ProcessRow], experiment: &Experiment) -> Vec<Landing> {
    let base = image_base(functions, processes);
    let globs: Vec<&String> = experiment.variants.iter().flat_map(|variant| &variant.functions).collect();
    let mut found: BTreeMap<(u64, String), Landing> = BTreeMap::new();
    for function in functions {
        let name = demangle(&function.name);
        let wanted =
            globs.iter().any(|glob| pattern::matches(glob, &name) || pattern::matches(glob, &function.name));
        let landing = |variant: Option<&str>| Landing {
            name: name.clone(),
            variant: variant.map(str::to_owned),
            address: function.address,
            size: function.size,
            offset: function.address % LINE_BYTES,
        };
        let is_entry =
            |process: &&ProcessRow| base.map(|base| base + process.entry_address) == Some(function.address);
        let entries = processes.iter().filter(is_entry);
        let variants: Vec<&str> = entries.map(|process| process.variant.as_str()).collect();
        for variant in &variants {
            found.insert((function.address, (*variant).to_owned()), landing(Some(variant)));
        }
        if wanted && variants.is_empty() {
            found.insert((function.address, name.clone()), landing(None));
        }
    }
    found.into_values().collect()
}

/// Where the image starts, to which processes tell their entries relative, while functions are kept absolute: the page from
/// which every entry is a function's start.
fn image_base(functions: &[FunctionPlace], processes: &[ProcessRow]) -> Option<u64> {
    const PAGE: u64 = 4096;
    let starts = |address: u64| functions.iter().any(|function| function.address == address);
    let first = processes.first()?.entry_address;
    functions
        .iter()
        .filter_map(|function| function.address.checked_sub(first))
        .find(|base| base % PAGE == 0 && processes.iter().all(|process| starts(base + process.entry_address)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str, address: u64) -> FunctionPlace {
        FunctionPlace { name: name.into(), address, size: 16, offset: address % 64, alignment: None }
    }

    fn process(variant: &str, entry_address: u64) -> ProcessRow {
        ProcessRow { entry_address, ..crate::store::sample::process(variant, None) }
    }

    fn experiment() -> Experiment {
        let text = r#"
            question = "q"
            baseline = "a"
            program.sources = ["x.cpp"]
            [[variants]]
            name = "a"
            functions = ["G1::store*"]
            [[variants]]
            name = "b"
        "#;
        Experiment::from_toml(text, "x.toml").expect("a valid file").experiment
    }

    #[test]
    fn finds_entries_and_what_they_call_by_readable_names() {
        // As `c++filt _ZN2G15storeEPii` has it.
        let functions =
            [function("_Z1av", 0x401660), function("_ZN2G15storeEPii", 0x401690), function("main", 0x401700)];
        let found = landings(&functions, &[process("a", 0x1660)], &experiment());
        let told: Vec<(&str, Option<&str>, u64)> =
            found.iter().map(|at| (at.name.as_str(), at.variant.as_deref(), at.offset)).collect();
        assert_eq!(told, [("a()", Some("a"), 32), ("G1::store(int*, int)", None, 16)]);
    }

    #[test]
    fn takes_the_image_base_that_makes_every_entry_a_function() {
        let functions = [function("x", 0x402100), function("a", 0x401100), function("b", 0x401200)];
        assert_eq!(image_base(&functions, &[process("a", 0x1100), process("b", 0x1200)]), Some(0x400000));
        let independent = [function("a", 0x1100), function("b", 0x1200)];
        assert_eq!(image_base(&independent, &[process("a", 0x1100), process("b", 0x1200)]), Some(0));
        assert_eq!(image_base(&independent, &[process("a", 0x1104)]), None);
        assert_eq!(image_base(&functions, &[]), None);
    }

    #[test]
    fn two_variants_of_one_function_both_show_it() {
        let functions = [function("a", 0x1100)];
        let found = landings(&functions, &[process("a", 0x1100), process("b", 0x1100)], &experiment());
        let variants: Vec<_> = found.iter().map(|at| at.variant.as_deref()).collect();
        assert_eq!(variants, [Some("a"), Some("b")]);
    }
}
