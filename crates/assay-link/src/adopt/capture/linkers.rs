//! The links to this program by which drivers find it instead of a linker.

use std::fs;
use std::io;
use std::path::Path;

/// The names under which drivers look for linkers.
pub const LINKERS: &[&str] = &["ld", "ld.bfd", "ld.gold", "ld.lld", "ld.mold"];

/// Makes `place` a link to `program`, in one step: another build may be using the old one.
pub(super) fn link_anew(program: &Path, place: &Path) -> io::Result<()> {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let beside = place.with_file_name(format!(".{name}-{}", std::process::id()));
    let _ = fs::remove_file(&beside);
    std::os::unix::fs::symlink(program, &beside)?;
    fs::rename(&beside, place)
}
