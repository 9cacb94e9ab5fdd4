//! Where else in a build's folder is what its links made, moved, linked again, copied or stripped, and what was made there
//! by no link that we saw?
//!
//! Method: the folder is walked for programs and shared libraries younger than the build. One that is the same file as an
//! output, or loads the same code and data, is a copy of it. Links whose output is gone are made again and compared with
//! those that remain. Limits: copies outside the folder are not looked for; `.git` is left out.

use super::call::LinkerCall;
use super::go;
use super::kept::Stamp;
use super::link::CapturedLink;
use crate::build::Link;
use assay_pure::placement::loaded;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Links of vanished outputs that are made again, the last ones first: configure scripts leave hundreds.
const MADE_AGAIN: usize = 16;
/// Above this many folders deep is a circle or no build.
const DEPTH: usize = 40;

/// Where CMake keeps objects and what it linked to try the compiler, never what it is asked to build.
const PROBES: &str = "CMakeFiles";

/// Whether an output only tries a compiler.
pub fn is_probe(output: &Path) -> bool {
    output.components().any(|component| component.as_os_str() == PROBES)
}

/// A program or shared library that a build left.
struct LeftProgram {
    path: PathBuf,
    file: (u64, u64),
}

/// What the walk found.
pub struct Matched {
    /// Links of outputs that were moved, under their new names.
    pub moved: Vec<CapturedLink>,
    /// Files that no captured link made.
    pub unknown: Vec<PathBuf>,
}

/// Gives each link its copies, and finds again what was moved.
pub fn find(
    folder: &Path,
    begun: i64,
    links: &mut [CapturedLink],
    gone: Vec<LinkerCall>,
    store: &Path,
) -> Matched {
    let mut found = Vec::new();
    walk(folder, begun, DEPTH, &mut found);
    found.retain(|found| !links.iter().any(|link| link.output == found.path));
    found.retain(|found| {
        let same = links.iter_mut().find(|link| file(&link.output) == Some(found.file));
        same.map(|link| link.copies.push(found.path.clone())).is_none()
    });
    if !found.is_empty() {
        let contents: Vec<Option<Vec<u8>>> = links.iter().map(|link| fs::read(&link.output).ok()).collect();
        found.retain(|found| {
            let at = copied_from(&found.path, &contents);
            at.map(|at| links[at].copies.push(found.path.clone())).is_none()
        });
    }
    let moved = if found.is_empty() { Vec::new() } else { find_moved(&mut found, gone, store) };
    Matched { moved, unknown: found.into_iter().map(|found| found.path).collect() }
}

/// Which of the contents a file is a copy of.
fn copied_from(path: &Path, contents: &[Option<Vec<u8>>]) -> Option<usize> {
    let own = fs::read(path).ok()?;
    let same = |content: &Option<Vec<u8>>| {
        content.as_ref().is_some_and(|content| {
            loaded::differences(&own, content).is_ok_and(|found| found.iter().all(|name| go::writes(name)))
        })
    };
    contents.iter().position(same)
}

fn find_moved(found: &mut Vec<LeftProgram>, gone: Vec<LinkerCall>, store: &Path) -> Vec<CapturedLink> {
    let mut moved = Vec::new();
    let scratch = store.join("moved");
    for call in gone.into_iter().rev().take(MADE_AGAIN) {
        let link = CapturedLink::unplaced(call, store);
        let Ok(again) = link.replay(Link::AsBuilt, &scratch) else { continue };
        let content = [fs::read(&again.path).ok()];
        let Some(at) = found.iter().position(|found| copied_from(&found.path, &content).is_some()) else {
            continue;
        };
        moved.extend(link.left_at(found.remove(at).path));
        if found.is_empty() {
            break;
        }
    }
    // What is left of it costs some disk space only.
    let _ = fs::remove_dir_all(&scratch);
    moved
}

fn walk(folder: &Path, begun: i64, depth: usize, found: &mut Vec<LeftProgram>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        if kind.is_dir() && entry.file_name() != ".git" && entry.file_name() != PROBES {
            walk(&path, begun, depth, found);
        } else if kind.is_file() && is_younger(&path, begun) && is_linked(&path) {
            found.extend(file(&path).map(|file| LeftProgram { path, file }));
        }
    }
}

fn is_younger(path: &Path, begun: i64) -> bool {
    Stamp::of(path).is_some_and(|stamp| stamp.is_since(begun))
}

/// An ELF program or shared library, by its first bytes.
fn is_linked(path: &Path) -> bool {
    let mut head = [0; 18];
    let read = fs::File::open(path).and_then(|mut open| open.read_exact(&mut head));
    // The kind is in two bytes of the file's own order: 2 a program, 3 a shared library.
    let kind = if head[5] == 2 { [head[17], head[16]] } else { [head[16], head[17]] };
    read.is_ok() && head.starts_with(b"\x7fELF") && matches!(kind, [2 | 3, 0])
}

fn file(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|data| (data.dev(), data.ino()))
}
