//! The emulator: found, recent enough, and started with which arguments.

use super::program::search;
use super::{Blame, TraceRefusal};
use assay_pure::trace::classify::InstructionSet;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The oldest QEMU that is known to work.
const OLDEST: (u32, u32) = (7, 2);
/// Where Debian and its kin put the libraries of a cross-compiler.
const AARCH64_LIBRARIES: &str = "/usr/aarch64-linux-gnu";

/// An emulator that can be started.
pub(super) struct Emulator {
    pub(super) path: PathBuf,
    pub(super) version: String,
}

/// Finds the emulator for a machine.
pub(super) fn find(machine: InstructionSet) -> Result<Emulator, TraceRefusal> {
    let name = format!("qemu-{}", machine.name());
    let install = || Some("install the package qemu-user (Debian, Ubuntu, Fedora)".to_owned());
    let path = search(name.as_ref()).map_err(|_| TraceRefusal {
        blame: Blame::Machine,
        reason: format!("tracing needs {name}, QEMU 7.2 or later; there is none on PATH"),
        remedy: install(),
    })?;
    let output = Command::new(&path).arg("--version").stdin(Stdio::null()).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let Some(version) = version(&text) else {
        return Err(TraceRefusal {
            blame: Blame::Machine,
            reason: format!("{} does not report its version", path.display()),
            remedy: install(),
        });
    };
    if number(&version) < OLDEST {
        return Err(TraceRefusal {
            blame: Blame::Machine,
            reason: format!("{} is QEMU {version}; tracing needs 7.2 or later", path.display()),
            remedy: install(),
        });
    }
    Ok(Emulator { path, version })
}

/// From `qemu-x86_64 version 7.2.22 (Debian ...)`.
fn version(text: &str) -> Option<String> {
    let (_, rest) = text.lines().next()?.split_once("version ")?;
    let version: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    version.split_once('.')?.0.parse::<u32>().ok()?;
    Some(version)
}

fn number(version: &str) -> (u32, u32) {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

/// The emulator's own arguments; the plugin's has the name `given` and the path `shared`. QEMU splits it at commas; a doubled one
/// stands for itself.
pub(super) fn arguments(machine: InstructionSet, plugin: &Path, given: &str, shared: &Path) -> Vec<OsString> {
    let mut word = doubled_commas(plugin);
    word.push(format!(",{given}="));
    word.push(doubled_commas(shared));
    // A fixed seed: what the emulator makes up for the program (AT_RANDOM) is the same each time.
    let mut arguments: Vec<OsString> =
        ["-cpu", "max", "-seed", "1", "-plugin"].map(OsString::from).into_iter().collect();
    arguments.push(word);
    if machine == InstructionSet::Aarch64 && Path::new(AARCH64_LIBRARIES).is_dir() {
        arguments.extend(["-L", AARCH64_LIBRARIES].map(OsString::from));
    }
    arguments
}

fn doubled_commas(path: &Path) -> OsString {
    let bytes = path.as_os_str().as_bytes();
    OsString::from_vec(
        bytes.iter().flat_map(|byte| std::iter::repeat_n(*byte, if *byte == b',' { 2 } else { 1 })).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_the_emulator_says() {
        let debian = "qemu-x86_64 version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)\nCopyright";
        assert_eq!(version(debian).as_deref(), Some("7.2.22"));
        assert_eq!(version("qemu-aarch64 version 10.0.2").as_deref(), Some("10.0.2"));
        assert_eq!(version("something else"), None);
        assert_eq!(version("x version nonsense"), None);
        assert!(number("7.1.9") < OLDEST && number("7.2") >= OLDEST && number("10.0.2") > OLDEST);
    }

    #[test]
    fn commas_in_paths_do_not_split_arguments() {
        let arguments =
            arguments(InstructionSet::X86_64, Path::new("/a,b/p.so"), "session", Path::new("/dev/shm/x"));
        assert_eq!(arguments.last(), Some(&OsString::from("/a,,b/p.so,session=/dev/shm/x")));
    }
}
