//! Calls of git. Names of files are any bytes, and end where git says, not where blanks do.

use super::Unable;
use anyhow::Result;
use assay_linux::tied::with_the_lab;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What hooks set; it would lead git elsewhere.
const ELSEWHERE: [&str; 12] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Settings of the user's that start other programs or need what is not there.
const SETTINGS: [&str; 4] =
    ["core.hooksPath=/dev/null", "core.fsmonitor=false", "core.splitIndex=false", "submodule.recurse=false"];

/// git in a folder, without its words.
pub fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    with_the_lab(&mut command);
    for name in ELSEWHERE {
        command.env_remove(name);
    }
    // `git status` would write the user's index.
    command.env("GIT_OPTIONAL_LOCKS", "0");
    // Where refs are written as files, whatever the user prefers.
    command.env("GIT_DEFAULT_REF_FORMAT", "files");
    command.arg("-C").arg(folder);
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    command
}

/// What git printed, without the line's end, or what it complained of; an error if there is no git.
pub fn bytes(command: &mut Command) -> Result<Result<Vec<u8>, String>> {
    let ran = command.output().map_err(|error| Unable(format!("comparing revisions needs git: {error}")))?;
    let mut printed = ran.stdout;
    if printed.last() == Some(&b'\n') {
        printed.pop();
    }
    let said = || String::from_utf8_lossy(&ran.stderr).trim_end().to_owned();
    Ok(if ran.status.success() { Ok(printed) } else { Err(said()) })
}

/// The same as text.
pub fn text(command: &mut Command) -> Result<Result<String, String>> {
    Ok(bytes(command)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// The same as a path.
pub fn path(command: &mut Command) -> Result<Result<PathBuf, String>> {
    Ok(bytes(command)?.map(|bytes| PathBuf::from(OsString::from_vec(bytes))))
}
