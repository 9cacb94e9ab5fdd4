//! The emulator and the plugin: found, and fitting each other and the lab.

use super::program::{GuestMachine, search};
use super::{Blame, TraceRefusal};
use assay_pure::trace::channel::{VERSION, VERSION_LABEL};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The oldest QEMU that is known to work.
const OLDEST: (u32, u32) = (7, 2);
/// Name of the plugin's file.
const PLUGIN: &str = "libassay_qemu.so";
/// Names the plugin's file where it is not beside the lab's.
const PLUGIN_VARIABLE: &str = "ASSAY_QEMU_PLUGIN";
/// Where Debian and its kin put the libraries of a cross-compiler.
const AARCH64_LIBRARIES: &str = "/usr/aarch64-linux-gnu";

/// An emulator that can be started.
pub(super) struct Emulator {
    pub(super) path: PathBuf,
    pub(super) version: String,
}

/// Finds the emulator for a machine.
pub(super) fn find(machine: GuestMachine) -> Result<Emulator, TraceRefusal> {
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

/// Finds the plugin: where the caller says, where the environment says, beside the lab.
pub(super) fn plugin(given: Option<&Path>) -> Result<PathBuf, TraceRefusal> {
    let from_environment =
        || std::env::var_os(PLUGIN_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    let (blame, path) = match given.map(Path::to_owned).or_else(from_environment) {
        Some(path) => (Blame::Asked, path),
        None => (Blame::Machine, beside_the_lab().ok_or_else(|| missing(Path::new(PLUGIN)))?),
    };
    let path = std::fs::canonicalize(&path).map_err(|_| missing(&path));
    let checked = path.and_then(|path| check_version(&path).map(|()| path));
    checked.map_err(|refusal| TraceRefusal { blame, ..refusal })
}

/// The lab's folder, or the one above: a test of the lab lies in a folder of its own.
fn beside_the_lab() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    own.ancestors().skip(1).take(2).map(|folder| folder.join(PLUGIN)).find(|path| path.is_file())
}

fn missing(path: &Path) -> TraceRefusal {
    TraceRefusal {
        blame: Blame::Machine,
        reason: format!("the plugin {} is missing", path.display()),
        remedy: Some(format!(
            "build it together with assay (cargo build --release -p assay -p assay-qemu), or set \
             {PLUGIN_VARIABLE} to its path"
        )),
    }
}

/// Before it is loaded: the plugin's file says which version of the shared memory it speaks.
fn check_version(path: &Path) -> Result<(), TraceRefusal> {
    let bytes = std::fs::read(path).map_err(|error| TraceRefusal {
        blame: Blame::Machine,
        reason: format!("the plugin {} cannot be read: {error}", path.display()),
        remedy: None,
    })?;
    let label = VERSION_LABEL.as_bytes();
    let said = bytes
        .windows(label.len() + 3)
        .find(|window| window.starts_with(label) && window[label.len()..].iter().all(u8::is_ascii_digit));
    let rebuild =
        Some("build assay and the plugin together: cargo build --release -p assay -p assay-qemu".to_owned());
    let Some(said) = said else {
        let reason = format!("{} is not a plugin of assay", path.display());
        return Err(TraceRefusal { blame: Blame::Machine, reason, remedy: rebuild });
    };
    let digits = String::from_utf8_lossy(&said[label.len()..]);
    let found: u32 = digits.parse().unwrap_or(0);
    if found != VERSION {
        return Err(TraceRefusal {
            blame: Blame::Machine,
            reason: format!(
                "the plugin {} has version {found}, but this assay needs version {VERSION}",
                path.display()
            ),
            remedy: rebuild,
        });
    }
    Ok(())
}

/// The emulator's own arguments. QEMU splits a plugin's at commas; a doubled one stands for itself.
pub(super) fn arguments(machine: GuestMachine, plugin: &Path, folder: &Path) -> Vec<OsString> {
    let mut word = doubled_commas(plugin);
    word.push(",session=");
    word.push(doubled_commas(folder));
    // A fixed seed: what the emulator makes up for the program (AT_RANDOM) is the same each time.
    let mut arguments: Vec<OsString> =
        ["-cpu", "max", "-seed", "1", "-plugin"].map(OsString::from).into_iter().collect();
    arguments.push(word);
    if machine == GuestMachine::Aarch64 && Path::new(AARCH64_LIBRARIES).is_dir() {
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
    fn a_plugin_of_another_version_is_refused_before_it_is_loaded() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("plugin.so");
        let check = |bytes: &[u8]| {
            std::fs::write(&path, bytes).expect("written");
            plugin(Some(&path)).map_err(|refusal| refusal.reason)
        };
        assert!(check(b"\0\0assay-plugin-version=001\0").is_ok());
        let reason = check(b"\0\0assay-plugin-version=000\0").expect_err("older");
        assert!(reason.ends_with("has version 0, but this assay needs version 1"), "{reason}");
        assert!(check(b"assay-plugin-version=xxx").expect_err("none").ends_with("is not a plugin of assay"));
        let gone = plugin(Some(Path::new("/no/plugin.so"))).expect_err("missing");
        assert_eq!(gone.reason, "the plugin /no/plugin.so is missing");
        assert_eq!(gone.blame, Blame::Asked, "the caller named it");
        assert!(gone.remedy.is_some_and(|remedy| remedy.contains("cargo build")));
    }

    #[test]
    fn commas_in_paths_do_not_split_arguments() {
        let arguments = arguments(GuestMachine::X86_64, Path::new("/a,b/p.so"), Path::new("/dev/shm/x"));
        assert_eq!(arguments.last(), Some(&OsString::from("/a,,b/p.so,session=/dev/shm/x")));
    }
}
