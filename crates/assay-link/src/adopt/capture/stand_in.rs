//! The process that stands in for a linker while a build is captured: it records the call and becomes the linker.
//!
//! Drivers find it under a linker's name, a link to this program, in a folder of ours ahead of their own. After the
//! record `exec` replaces it by the linker that would have been called without us, with the same words, environment and
//! descriptors, so that exit status, messages and signals are the linker's own. Whatever goes wrong while recording never
//! touches the build: the link is then missing among the captured ones, and the reason is told there. Called outside a
//! captured build (a build system remembered its path), it only becomes the linker.

use super::call::{self, CaptureSession, LinkerCall};
use super::linkers::LINKERS;
use super::{VARIABLE, assembler, response, runner, rust, sections, zig};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::SystemTime;

/// Exit status of a shell that does not find a command.
const NOT_FOUND: u8 = 127;

/// Becomes the linker, driver or compiler as which this process was called; nothing if it was called as itself.
pub fn stand_in() -> Option<ExitCode> {
    let mut words = std::env::args_os();
    let called = PathBuf::from(words.next()?);
    let name = called.file_name()?.to_str()?;
    let words: Vec<OsString> = words.collect();
    if name == rust::WRAPPER {
        return Some(failed("rustc", &rust::become_rustc(&words)));
    }
    if name == runner::NAME {
        let became = runner::become_program(&words);
        return Some(became.map_or_else(|error| failed("the benchmark", &error), |()| ExitCode::SUCCESS));
    }
    if let Some(driver) = rust::driver(&called) {
        return Some(failed(&driver.to_string_lossy(), &rust::become_driver(&driver, &words)));
    }
    if sections::COMPILERS.contains(&name) {
        return Some(failed(name, &sections::become_compiler(name, &words, &is_ours)));
    }
    if name == assembler::NAME {
        let code = |status: std::process::ExitStatus| status.code().and_then(|code| u8::try_from(code).ok());
        return Some(match assembler::assemble(&words, &is_ours) {
            Ok(status) => ExitCode::from(code(status).unwrap_or(1)),
            Err(error) => failed(name, &error),
        });
    }
    if name != zig::NAME && !LINKERS.contains(&name) {
        return None;
    }
    let Some(linker) = real(name) else {
        eprintln!("assay: {name}: no other linker of this name is in COMPILER_PATH or PATH");
        return Some(ExitCode::from(NOT_FOUND));
    };
    if let Some(calls) = std::env::var_os(VARIABLE).map(PathBuf::from)
        && let Err(error) = record(&linker, &words, &calls)
    {
        // Nothing more can be done if this fails too.
        let _ = std::fs::write(calls.join(format!("{}.missed", std::process::id())), error.to_string());
    }
    Some(failed(&linker.to_string_lossy(), &Command::new(&linker).args(&words).exec()))
}

fn failed(program: &str, error: &io::Error) -> ExitCode {
    eprintln!("assay: {program}: {error}");
    ExitCode::from(NOT_FOUND)
}

fn record(linker: &Path, words: &[OsString], calls: &Path) -> io::Result<()> {
    let text = |word: &OsString| {
        let refused = || io::Error::other(format!("the word {word:?} is not UTF-8"));
        word.to_str().map(str::to_owned).ok_or_else(refused)
    };
    let words: Vec<String> = words.iter().map(text).collect::<io::Result<_>>()?;
    let is_zig = linker.file_name() == Some(OsStr::new(zig::NAME));
    if is_zig && !zig::links(&words) {
        return Ok(());
    }
    let session = CaptureSession::read(calls)?;
    let folder = std::env::current_dir()?;
    let words = response::expanded(&words, &folder);
    let at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_err(io::Error::other)?;
    let call = LinkerCall {
        at: i64::try_from(at.as_nanos()).map_err(io::Error::other)?,
        linker: linker.to_owned(),
        zig: is_zig,
        inputs: call::inputs(&words, &folder, &session)?,
        words,
        folder,
        environment: call::environment(&is_ours),
    };
    call.write(calls)
}

/// The linker of this name that would have been found without us.
///
/// gcc tells its linker where it searches in `COMPILER_PATH`. clang does not: it looks beside itself before it looks in
/// PATH.
fn real(name: &str) -> Option<PathBuf> {
    let own = std::env::current_exe().and_then(|own| own.canonicalize()).ok();
    let list =
        |name: &str| std::env::var_os(name).map(|list| std::env::split_paths(&list).collect::<Vec<_>>());
    let mut folders = list("COMPILER_PATH").unwrap_or_default();
    folders.extend(beside_clang());
    folders.extend(list("PATH").unwrap_or_default());
    let candidates =
        folders.iter().filter(|folder| !folder.as_os_str().is_empty()).map(|folder| folder.join(name));
    candidates.into_iter().find(|path| path.is_file() && path.canonicalize().ok() != own)
}

/// The folder of the parent's program, if that is clang.
fn beside_clang() -> Option<PathBuf> {
    let parent = std::os::unix::process::parent_id();
    let program = std::fs::read_link(format!("/proc/{parent}/exe")).ok()?;
    let is_clang = program.file_name().and_then(OsStr::to_str).is_some_and(|name| name.contains("clang"));
    is_clang.then(|| program.parent().map(Path::to_owned)).flatten()
}

/// A folder in which linkers or compilers are links to this program.
fn is_ours(folder: &Path) -> bool {
    let Ok(own) = std::env::current_exe().and_then(|own| own.canonicalize()) else { return false };
    let names = LINKERS.iter().chain(&[zig::NAME]).chain(&sections::COMPILERS).chain(&[assembler::NAME]);
    names.into_iter().any(|name| folder.join(name).canonicalize().is_ok_and(|program| program == own))
}
