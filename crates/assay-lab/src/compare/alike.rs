//! Do two builds run the very same programs? For builds whose links were not captured: Go's, and others with a linker of their own.
//!
//! Method: every file of one side's tree is compared with the file of the same place in the other's. The command is executed once
//! on each side; where it opens programs that are the same and no file that differs, both sides are one program on the same data.
//! That includes what the build made (classes, scripts, tables), so that code which is no ELF file is no exception.
//! Limits: what lies outside of the trees is the same for both sides, as they run one after the other. Where a link leads elsewhere
//! on one side nothing is proven: both files that it names may be in both trees.
//! Checked by: tests/compare/proven.rs, on a build that only copies its program, and on a Go module.

use super::bench::SidePlayer;
use super::tree::{entries, files};
use super::unchanged::{PLAIN, is_program};
use crate::lead::git::{git, path};
use anyhow::Result;
use assay_link::adopt::bench::{self, BenchCommand};
use assay_pure::placement::loaded::is_same_program;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The benchmarks of two builds that run the same programs: all of them, or none where anything that differs was opened.
///
/// # Errors
/// git cannot be started.
pub fn alike(names: [&[String]; 2], players: &[SidePlayer], scratch: &Path) -> Result<BTreeSet<String>> {
    let mut roots = Vec::new();
    for player in players {
        let Ok(root) = path(git(&player.bench.folder).args(["rev-parse", "--show-toplevel"]))? else {
            return Ok(BTreeSet::new());
        };
        roots.push(root);
    }
    let [old, new] = roots.as_slice() else { return Ok(BTreeSet::new()) };
    if links(old) != links(new) {
        return Ok(BTreeSet::new());
    }
    let trees = [(&players[0], old, new), (&players[1], new, old)];
    let is_alike = trees.iter().zip(names).all(|((player, own, other), names)| {
        ComparedTrees::of(own, other).are_all_that_runs(&player.bench, names, scratch)
    });
    let common = names[0].iter().filter(|name| names[1].contains(name));
    Ok(if is_alike { common.cloned().collect() } else { BTreeSet::new() })
}

/// Files of one tree, beside those of the other.
#[derive(Default)]
struct ComparedTrees {
    /// Programs that both trees have.
    same: Vec<PathBuf>,
    /// Files that the other tree has not, or otherwise.
    differing: Vec<PathBuf>,
}

impl ComparedTrees {
    fn of(own: &Path, other: &Path) -> ComparedTrees {
        let mut found = ComparedTrees::default();
        for file in files(own) {
            let Ok(below) = file.strip_prefix(own) else { continue };
            let program = is_program(&file);
            if !is_same(&file, &other.join(below), program) {
                found.differing.push(file);
            } else if program {
                found.same.push(file);
            }
        }
        found
    }

    /// Whether the command ends well, gives figures of exactly these benchmarks, and opens of this tree programs that are the same,
    /// but nothing that differs.
    fn are_all_that_runs(&self, bench: &BenchCommand, names: &[String], scratch: &Path) -> bool {
        let watched = self.same.iter().chain(&self.differing).cloned().collect();
        bench::visit(&BenchCommand { watched, ..bench.clone() }, &PLAIN, scratch).is_ok_and(|ran| {
            let given: BTreeSet<&str> = ran.figures.iter().map(|figure| figure.name.as_str()).collect();
            !ran.touched.is_empty()
                && ran.touched.iter().all(|file| self.same.contains(file))
                && given == names.iter().map(String::as_str).collect()
        })
    }
}

/// Whether two files have the same bytes, or are one program.
fn is_same(one: &Path, other: &Path, program: bool) -> bool {
    let length = |file: &Path| std::fs::metadata(file).map(|found| found.len()).ok();
    // Data may be large: most of what differs is told by its length.
    if !program && length(one) != length(other) {
        return false;
    }
    match (std::fs::read(one), std::fs::read(other)) {
        (Ok(one), Ok(other)) => one == other || program && is_same_program(&one, &other),
        _ => false,
    }
}

/// The links of a tree from its root, and where each leads: into the tree from its root, too.
fn links(root: &Path) -> BTreeMap<PathBuf, PathBuf> {
    let below = |path: &Path| path.strip_prefix(root).unwrap_or(path).to_owned();
    let all = entries(root, |kind| kind.is_symlink()).into_iter();
    all.map(|link| (below(&link), std::fs::read_link(&link).map(|to| below(&to)).unwrap_or_default()))
        .collect()
}
