//! Links by rustc, whose driver is told (`-B`) to take rustc's own linker ahead of any in `COMPILER_PATH`.
//!
//! cargo starts every rustc through the program in `RUSTC_WRAPPER`, and rebuilds nothing when that changes (a linker in
//! `CARGO_TARGET_..._LINKER` would have all rebuilt). Our wrapper adds `-C linker=`, a stand-in for the driver that
//! rustc would have called; the stand-in becomes that driver with our folder in a `-B` ahead of rustc's, and the call
//! of the linker is recorded like any other. The stand-in has the driver's own name, from which rustc tells what kind
//! of driver it is. Each call that compiles is noted on the way, so that it can be made again for its text (`rustc_call`).
//! Limits: `build.rustc-wrapper` of cargo's configuration is passed over; a rustc that is called without cargo is not
//! seen where it takes its own linker.

use super::rustc_call::RustcCall;
use super::{DRIVER_VARIABLE, LINKERS_VARIABLE, RUSTC_FLAGS_VARIABLE, VARIABLE, WRAPPER_VARIABLE};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The name of the stand-in for rustc.
pub const WRAPPER: &str = "assay-rustc";
/// The folder of the stand-ins for drivers, beside that of linkers.
const DRIVERS: &str = "drivers";
/// The driver that rustc calls where it is told of none.
const DEFAULT_DRIVER: &str = "cc";

/// Whether `called` is a stand-in for a driver, and for which.
pub fn driver(called: &Path) -> Option<OsString> {
    let folder = called.parent().and_then(Path::file_name);
    std::env::var_os(DRIVER_VARIABLE).filter(|_| folder == Some(OsStr::new(DRIVERS)))
}

/// Becomes the driver; returns only if that fails.
pub fn become_driver(driver: &OsStr, words: &[OsString]) -> io::Error {
    let mut command = Command::new(driver);
    if let Some(linkers) = std::env::var_os(LINKERS_VARIABLE) {
        let mut option = OsString::from("-B");
        option.push(linkers);
        command.arg(option);
    }
    command.args(words).exec()
}

/// Becomes rustc, or the wrapper that the user has for it; returns only if that fails. The first word is rustc.
pub fn become_rustc(words: &[OsString]) -> io::Error {
    let wrapper = std::env::var_os(WRAPPER_VARIABLE).filter(|wrapper| !wrapper.is_empty());
    let flags = std::env::var(RUSTC_FLAGS_VARIABLE).ok();
    let words = with_flags(words, flags.as_deref());
    if let Some(calls) = std::env::var_os(VARIABLE).map(PathBuf::from)
        && let Err(error) = RustcCall::record(&words, &calls)
    {
        let why = format!("a call of rustc was not recorded: {error}");
        let _ = std::fs::write(calls.join(format!("{}.missed", std::process::id())), why);
    }
    let mut all: Vec<OsString> = wrapper.into_iter().chain(words.iter().cloned()).collect();
    let mut variable = None;
    if let Some(driver) = linking_driver(&words)
        && let Ok(stand_in) = stand_in_for(&driver)
    {
        let mut option = OsString::from("linker=");
        option.push(stand_in);
        all.extend([OsString::from("-C"), option]);
        variable = Some(driver);
    }
    let Some((program, arguments)) = all.split_first() else { return io::ErrorKind::InvalidInput.into() };
    let mut command = Command::new(program);
    command.args(arguments);
    if let Some(driver) = variable {
        command.env(DRIVER_VARIABLE, driver);
    }
    command.exec()
}

/// The words, and behind them those of the experiment where it compiles something or tells what compiling would find: cargo asks
/// for the features of the processor.
fn with_flags(words: &[OsString], flags: Option<&str>) -> Vec<OsString> {
    let compiles = words.iter().any(|word| word == "--crate-name");
    let flags = flags.filter(|_| compiles).into_iter().flat_map(|flags| flags.split('\u{1f}'));
    words.iter().cloned().chain(flags.map(OsString::from)).collect()
}

/// The driver that this call of rustc would use, if it may link and links through a driver of gcc's kind.
fn linking_driver(words: &[OsString]) -> Option<String> {
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let compiles = words.contains(&"--crate-name");
    let target = value(&words, &["--target"]);
    let elsewhere = target.is_some_and(|target| !target.contains("-linux-"));
    if !compiles || elsewhere {
        return None;
    }
    let driver = codegen(&words, "linker").unwrap_or(DEFAULT_DRIVER);
    let name = Path::new(driver).file_name()?.to_str()?;
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let is_driver = ["cc", "c++", "g++", "clang"].iter().any(|end| stem.ends_with(end));
    is_driver.then(|| driver.to_owned())
}

/// The last value of `-C NAME=VALUE` in its spellings.
pub(super) fn codegen<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    let mut found = None;
    for (at, word) in words.iter().enumerate() {
        let text = match *word {
            "-C" | "--codegen" => words.get(at + 1).copied(),
            word => word.strip_prefix("-C").or_else(|| word.strip_prefix("--codegen=")),
        };
        let value = text.and_then(|text| text.strip_prefix(name)).and_then(|text| text.strip_prefix('='));
        found = value.or(found);
    }
    found
}

/// The value of an option in the same or in the next word.
pub(super) fn value<'a>(words: &[&'a str], names: &[&str]) -> Option<&'a str> {
    words.iter().enumerate().find_map(|(at, word)| {
        if names.contains(word) {
            return words.get(at + 1).copied();
        }
        names.iter().find_map(|name| word.strip_prefix(name)?.strip_prefix('='))
    })
}

/// A link to this program that is named like the driver.
fn stand_in_for(driver: &str) -> io::Result<PathBuf> {
    let linkers = std::env::var_os(LINKERS_VARIABLE).ok_or(io::ErrorKind::NotFound)?;
    let folder = Path::new(&linkers).with_file_name(DRIVERS);
    let name = Path::new(driver).file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let place = folder.join(name);
    let own = std::env::current_exe()?;
    if std::fs::read_link(&place).ok().as_deref() != Some(&*own) {
        std::fs::create_dir_all(&folder)?;
        super::linkers::link_anew(&own, &place)?;
    }
    Ok(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<String> {
        linking_driver(&text.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn the_driver_is_the_one_that_rustc_would_call() {
        assert_eq!(of("rustc --crate-name x src/main.rs").as_deref(), Some("cc"));
        assert_eq!(of("rustc --crate-name x -C linker=gcc-12 -O").as_deref(), Some("gcc-12"));
        assert_eq!(
            of("rustc --crate-name x -Clinker=a/clang -C linker=b/clang-16").as_deref(),
            Some("b/clang-16")
        );
        assert_eq!(of("rustc --crate-name x --target aarch64-unknown-linux-gnu").as_deref(), Some("cc"));
        assert_eq!(of("rustc --crate-name x --codegen linker=c++").as_deref(), Some("c++"));
    }

    #[test]
    fn the_experiments_flags_come_behind_all_others_of_what_compiles() {
        let told = |words: &str| {
            let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
            with_flags(&words, Some("-C\u{1f}target-cpu=native")).join(OsStr::new(" "))
        };
        assert_eq!(
            told("rustc --crate-name x -Ctarget-cpu=x86-64-v2"),
            "rustc --crate-name x -Ctarget-cpu=x86-64-v2 -C target-cpu=native"
        );
        assert_eq!(told("rustc -vV"), "rustc -vV");
        assert_eq!(with_flags(&["rustc".into(), "--crate-name".into()], None).len(), 2);
    }

    #[test]
    fn what_links_without_such_a_driver_is_left_alone() {
        assert_eq!(of("rustc -vV"), None);
        assert_eq!(of("rustc --crate-name x --target=wasm32-unknown-unknown"), None);
        assert_eq!(of("rustc --crate-name x -C linker=rust-lld"), None);
        assert_eq!(of("rustc --crate-name x -C linker=/usr/bin/ld.lld"), None);
    }
}
