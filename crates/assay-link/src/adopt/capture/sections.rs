//! A section for each function of a build that is not ours, without a word to its build system.
//!
//! Question: how are a build's functions made movable, if CFLAGS must stay alone? A Makefile's `CFLAGS ?= -O2` counts only while the
//! variable is not set: with it set, other code would be measured than the user's. Method: gcc finds its compiler proper (`cc1`) in
//! `COMPILER_PATH` first, so a stand-in there adds the flag and becomes the one that gcc would have called; clang reads
//! `CCC_OVERRIDE_OPTIONS`. The flag stands ahead of all others: what the build says itself counts. Limits: other compilers, and
//! drivers that are told (`-B`) where to look.

use crate::build::ADDED_FLAG;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// gcc's compilers of C and C++, as which this program is called.
pub const COMPILERS: [&str; 2] = ["cc1", "cc1plus"];
/// Where clang finds words to add.
const CLANG: &str = "CCC_OVERRIDE_OPTIONS";

/// What a build is told, beside `COMPILER_PATH`. `value` says what the build would see of a variable.
pub fn variables(value: &dyn Fn(&str) -> Option<OsString>) -> Vec<(String, OsString)> {
    // "#": without a word about it; "^": ahead of all others.
    let mut clang = OsString::from(format!("#^{ADDED_FLAG}"));
    if let Some(own) = value(CLANG).filter(|own| !own.is_empty()) {
        clang.push(" ");
        clang.push(own.to_string_lossy().trim_start_matches('#').trim_start());
    }
    // A cache of compilations does not know of the flag, and would hand such code to the user's own builds.
    vec![(CLANG.into(), clang), ("CCACHE_DISABLE".into(), "1".into())]
}

/// Becomes the compiler that the calling gcc has of this name. Returns: why it cannot.
pub fn become_compiler(name: &str, words: &[OsString], is_ours: &dyn Fn(&Path) -> bool) -> io::Error {
    match real(name, is_ours) {
        Ok(compiler) => Command::new(compiler).arg(ADDED_FLAG).args(words).exec(),
        Err(error) => error,
    }
}

/// Where the parent, a driver of gcc, has it.
pub(super) fn real(name: &str, is_ours: &dyn Fn(&Path) -> bool) -> io::Result<PathBuf> {
    let parent = std::os::unix::process::parent_id();
    let driver = std::fs::read_link(format!("/proc/{parent}/exe"))?;
    let mut asked = Command::new(&driver);
    asked.arg(format!("-print-prog-name={name}"));
    let searched = std::env::var_os("COMPILER_PATH").unwrap_or_default();
    let others: Vec<PathBuf> = std::env::split_paths(&searched).filter(|folder| !is_ours(folder)).collect();
    // An empty one would mean the folder it runs in.
    match std::env::join_paths(others.iter().filter(|folder| !folder.as_os_str().is_empty())) {
        Ok(path) if !path.is_empty() => asked.env("COMPILER_PATH", path),
        _ => asked.env_remove("COMPILER_PATH"),
    };
    let said = asked.output()?;
    let path = PathBuf::from(OsStr::new(String::from_utf8_lossy(&said.stdout).trim()));
    if path.is_absolute() {
        Ok(path)
    } else {
        Err(io::Error::other(format!("{} does not say where its {name} is", driver.display())))
    }
}
