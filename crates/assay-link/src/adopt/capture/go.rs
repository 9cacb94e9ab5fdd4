//! Programs of Go's, which it links by itself: no linker is called that could be recorded, unless it is asked to. Then it writes
//! its identity of the build into what the linker has made.

use assay_pure::placement::loaded::GO_IDENTITY;
use object::{Object as _, ObjectSection as _};
use std::path::Path;

/// What is said of one.
pub const REMEDY: &str = "Go linked it by itself; to have its code placed, build with -ldflags=-linkmode=external, which calls gcc";

/// Whether Go writes a section after the link: its identity, and a sum of its cryptography.
pub fn writes(section: &str) -> bool {
    [GO_IDENTITY, ".go.fipsinfo"].contains(&section)
}

/// Whether a program was linked by Go: it has Go's identity of the build.
pub fn is_linked_by_go(file: &Path) -> bool {
    let Ok(bytes) = std::fs::read(file) else { return false };
    let Ok(elf) = object::File::parse(&*bytes) else { return false };
    elf.sections().any(|section| section.name() == Ok(GO_IDENTITY))
}
