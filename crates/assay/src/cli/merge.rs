//! `assay merge`: what was measured elsewhere, in one ledger.

use super::run::StoragePaths;
use super::{DONE, FAILED, screen};
use anyhow::{Context, Result};
use assay_lab::lead::Misuse;
use assay_lab::store::{Ledger, Merged, MergedKind};
use assay_pure::words;
use serde_json::json;
use std::path::PathBuf;

/// Add what other machines measured: the contents of their ledgers, each thing once
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/merge.txt"))]
pub struct MergeArguments {
    /// Ledgers to read
    #[arg(value_name = "LEDGER", required = true)]
    pub others: Vec<PathBuf>,
    /// Write what was added as JSON; - is standard output
    #[arg(long, value_name = "FILE", help_heading = super::help::OUTPUT)]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub places: StoragePaths,
}

/// Runs the verb.
///
/// # Errors
/// [`Misuse`]: one of them is not there, or is the ledger itself. A ledger cannot be read or written; those before it are merged.
pub fn run(arguments: &MergeArguments) -> Result<u8> {
    let ledger = &arguments.places.ledger;
    for other in &arguments.others {
        if !other.is_file() {
            return Err(Misuse(format!("there is no ledger at {}", other.display())).into());
        }
        if ledger.canonicalize().is_ok_and(|ledger| other.canonicalize().is_ok_and(|other| other == ledger)) {
            return Err(Misuse(format!(
                "{} is the ledger itself; --ledger FILE names the one that the others are added to",
                other.display()
            ))
            .into());
        }
    }
    if let Some(file) = &arguments.json {
        screen::find_place(file, &arguments.others)?;
    }
    let open = Ledger::open(ledger)?;
    let (mut text, mut data, mut whole) = (String::new(), Vec::new(), true);
    let mut failed = None;
    for other in &arguments.others {
        match open.merge(other) {
            Ok(merged) => {
                whole &= merged.diverged.is_empty();
                text += &said(&other.display().to_string(), &merged);
                data.push(as_json(other, &merged));
            }
            Err(error) => {
                failed =
                    Some(Err(error).with_context(|| format!("nothing of {} was added", other.display())));
                break;
            }
        }
    }
    if let Some(file) = &arguments.json {
        screen::write(file, &format!("{:#}\n", json!({ "ledgers": data })))?;
    }
    if !arguments.json.iter().any(|file| screen::is_stdout(file)) {
        screen::print(&text);
    }
    failed.unwrap_or(Ok(if whole { DONE } else { FAILED }))
}

/// A kind as it is called for one of it.
fn noun(kind: &str) -> &str {
    if kind == "imported" { "imported file" } else { kind }
}

/// A ledger in a line, what is left out in one each.
fn said(name: &str, merged: &Merged) -> String {
    let counted = |of: fn(&MergedKind) -> u64| -> Vec<String> {
        let some = merged.kinds.iter().filter(|(_, found)| of(found) > 0);
        some.map(|(kind, found)| words::plural(of(found), noun(kind))).collect()
    };
    let mut parts = Vec::new();
    let new = counted(|found| found.new);
    if !new.is_empty() {
        parts.push(format!("{} added", words::list(&new)));
    }
    let extended = counted(|found| found.extended);
    if !extended.is_empty() {
        parts.push(format!("{} completed", words::list(&extended)));
    }
    let known = counted(|found| found.known);
    if !known.is_empty() {
        parts.push(format!("{} already here", words::list(&known)));
    }
    if parts.is_empty() && merged.diverged.is_empty() {
        parts.push("nothing in it".to_owned());
    }
    if merged.samples > 0 {
        parts.push(words::plural(merged.samples, "new sample"));
    }
    let mut text = format!("{name}: {}\n", parts.join("; "));
    for left in &merged.diverged {
        text += &format!(
            "! {} {} of {name} was left out: it is {} {} here, and both were continued. Keep one of the two\n",
            left.kind, left.there, left.kind, left.here
        );
    }
    text
}

fn as_json(other: &std::path::Path, merged: &Merged) -> serde_json::Value {
    let kinds: serde_json::Map<String, serde_json::Value> = merged
        .kinds
        .iter()
        .map(|(kind, found)| {
            let counts =
                json!({"added": found.new, "completed": found.extended, "already_here": found.known});
            ((*kind).to_owned(), counts)
        })
        .collect();
    let left: Vec<serde_json::Value> = merged
        .diverged
        .iter()
        .map(|left| json!({"kind": left.kind, "here": left.here, "there": left.there}))
        .collect();
    json!({"ledger": other, "kinds": kinds, "samples": merged.samples, "left_out": left})
}
