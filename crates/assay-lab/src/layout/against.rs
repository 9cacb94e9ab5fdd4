//! What changed from one file to another.

use super::program::LinkedFile;
use super::selection::LayoutSelection;
use crate::lead::Misuse;
use anyhow::Result;
use assay_pure::placement::across::{self, Differing};
use assay_pure::placement::facts;
use assay_pure::placement::layout::FunctionPlace;
use assay_pure::placement::{CodeChange, FunctionChange, Reached};
use assay_report::layout::page::{ChangeCounts, FileChanges, FunctionAcross, FunctionExtent};
use assay_trace::sites::names::demangle;
use std::collections::BTreeSet;

/// The changes of the functions that are wanted.
///
/// # Errors
/// A file is damaged.
pub fn compose(old: &LinkedFile, new: &LinkedFile, selection: &LayoutSelection) -> Result<FileChanges> {
    let damaged = |error| Misuse(format!("{}, {}: {error}", old.path.display(), new.path.display()));
    let all = across::compare_linked(old.linked(), new.linked()).map_err(damaged)?;
    let wanted: Vec<FunctionChange> =
        all.into_iter().filter(|change| selection.wants(&change.name)).collect();
    let mut counts = ChangeCounts::default();
    for change in &wanted {
        count(&mut counts, change);
    }
    let changed: Vec<&FunctionChange> =
        wanted.iter().filter(|change| change.own == CodeChange::Changed).collect();
    let pairs: Vec<(u64, u64)> = changed
        .iter()
        .filter_map(|change| Some((change.old.as_ref()?.address, change.new.as_ref()?.address)))
        .collect();
    let differing = across::differing(old.linked(), new.linked(), &pairs).map_err(damaged)?;
    let mut by_pair = pairs.iter().zip(&differing);
    let functions = wanted
        .iter()
        .filter(|change| change.own != CodeChange::Identical || change.reached != Reached::Same)
        .map(|change| {
            let differing = change
                .differs_at
                .and_then(|at| by_pair.next().map(|(pair, found)| completed(*pair, at, found)));
            describe(change, old, new, &differing.unwrap_or_default())
        })
        .collect();
    let padding = |program: &LinkedFile| -> Result<u64> {
        let found = facts::functions(program.linked(), |_| true).map_err(damaged)?;
        Ok(found.iter().map(|function| function.padding_bytes).sum())
    };
    Ok(FileChanges {
        old: old.path.display().to_string(),
        new: new.path.display().to_string(),
        old_text_bytes: old.text_bytes(),
        new_text_bytes: new.text_bytes(),
        old_padding_bytes: padding(old)?,
        new_padding_bytes: padding(new)?,
        counts,
        functions,
        without_lines: old.without_lines().or_else(|| new.without_lines()).filter(|_| !pairs.is_empty()),
    })
}

/// Where all instructions have a counterpart, a constant differs: the instruction that leads to it is told.
fn completed((old, _): (u64, u64), at: u64, found: &Differing) -> Differing {
    let mut found = found.clone();
    if found.old.is_empty() && found.new.is_empty() {
        found.old.push(old + at);
    }
    found
}

fn count(counts: &mut ChangeCounts, change: &FunctionChange) {
    let field = match change.own {
        CodeChange::Identical => &mut counts.identical,
        CodeChange::Moved => &mut counts.moved,
        CodeChange::Respaced => &mut counts.respaced,
        CodeChange::Changed => &mut counts.changed,
        CodeChange::OnlyOld => &mut counts.only_old,
        CodeChange::OnlyNew => &mut counts.only_new,
        CodeChange::Unknown => &mut counts.unknown,
    };
    *field += 1;
    if change.is_same_code() && matches!(change.reached, Reached::Changed { .. }) {
        counts.reaches_a_change += 1;
    }
}

fn describe(
    change: &FunctionChange,
    old: &LinkedFile,
    new: &LinkedFile,
    differing: &Differing,
) -> FunctionAcross {
    let (through, unreached) = match &change.reached {
        Reached::Changed { through } => (Some(demangle(through)), None),
        Reached::Unknown { reason } => (None, Some(reason)),
        Reached::Same => (None, None),
    };
    let reason = change.unknown.as_ref().or(unreached).cloned();
    FunctionAcross {
        name: demangle(&change.name),
        symbol: change.name.clone(),
        own: change.own,
        through,
        reason,
        old: change.old.as_ref().map(place),
        new: change.new.as_ref().map(place),
        old_lines: lines(old, &differing.old),
        new_lines: lines(new, &differing.new),
    }
}

fn place(place: &FunctionPlace) -> FunctionExtent {
    FunctionExtent { address: place.address, size: place.size, line_offset: place.offset }
}

/// The source lines of some instructions, each once, in their order by file and line.
fn lines(program: &LinkedFile, addresses: &[u64]) -> Vec<String> {
    let found: BTreeSet<(String, u32)> = addresses
        .iter()
        .filter_map(|&address| {
            let line = program.line(address)?;
            let (file, number) = line.rsplit_once(':')?;
            Some((file.to_owned(), number.parse().ok()?))
        })
        .collect();
    found.into_iter().map(|(file, line)| format!("{file}:{line}")).collect()
}
