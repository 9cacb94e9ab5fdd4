//! The plugin: found, unpacked where the lab carries it, and fitting the lab.
//!
//! QEMU loads a file, and ways of installing programs (`cargo install`, wheels) install one file: the program. So the
//! program carries the plugin (crates/assay/build.rs), and what needs it finds it unpacked in the user's cache folder.

use super::{Blame, TraceRefusal};
use assay_linux::{output, user_cache};
use assay_pure::inputs::digest;
use assay_pure::trace::channel::{VERSION, VERSION_LABEL};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Name of the plugin's file.
const PLUGIN: &str = "libassay_qemu.so";
/// Names a plugin's file to be used instead of the lab's own.
const PLUGIN_VARIABLE: &str = "ASSAY_QEMU_PLUGIN";

/// The plugin that the running program carries.
static CARRIED: OnceLock<&'static [u8]> = OnceLock::new();

/// Tells that the running program carries the plugin: the bytes of its file. Empty ones are none.
pub fn carry(plugin: &'static [u8]) {
    if !plugin.is_empty() {
        let _ = CARRIED.set(plugin);
    }
}

/// Finds the plugin: where the caller says, where the environment says, in the program itself, beside the program.
pub(super) fn find(given: Option<&Path>) -> Result<PathBuf, TraceRefusal> {
    let from_environment =
        || std::env::var_os(PLUGIN_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    match given.map(Path::to_owned).or_else(from_environment) {
        Some(path) => checked(&path).map_err(|refusal| TraceRefusal { blame: Blame::Asked, ..refusal }),
        None => own(),
    }
}

/// The lab's own, looked for once: a campaign starts many emulators, and the file has 3 MB.
fn own() -> Result<PathBuf, TraceRefusal> {
    static OWN: OnceLock<PathBuf> = OnceLock::new();
    if let Some(known) = OWN.get().filter(|known| known.is_file()) {
        return Ok(known.clone());
    }
    let path = match CARRIED.get() {
        Some(bytes) => unpacked(bytes, user_cache().as_deref())?,
        None => beside_the_program().ok_or_else(|| missing(Path::new(PLUGIN)))?,
    };
    let found = checked(&path)?;
    let _ = OWN.set(found.clone());
    Ok(found)
}

/// The whole path of a plugin that fits this lab.
fn checked(path: &Path) -> Result<PathBuf, TraceRefusal> {
    let path = std::fs::canonicalize(path).map_err(|_| missing(path))?;
    check_version(&path).map(|()| path)
}

/// The plugin's file in the user's cache, written if it is not there or not what it should be.
fn unpacked(bytes: &[u8], cache: Option<&Path>) -> Result<PathBuf, TraceRefusal> {
    let refuse = |reason: String| TraceRefusal {
        blame: Blame::Machine,
        reason,
        remedy: Some("set XDG_CACHE_HOME to a folder that you can write".to_owned()),
    };
    let Some(cache) = cache else {
        return Err(refuse("there is no folder to unpack the plugin in: HOME is not set".to_owned()));
    };
    let path = cache.join("assay").join(&digest(bytes)[..12]).join(PLUGIN);
    if std::fs::read(&path).is_ok_and(|found| found == bytes) {
        return Ok(path);
    }
    let folder = path.parent().expect("it was joined");
    let write = || -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        output::write(&path, bytes)
    };
    write()
        .map_err(|error| refuse(format!("cannot unpack the plugin into {}: {error}", folder.display())))?;
    Ok(path)
}

/// The program's folder, or the one above: a test of the lab lies in a folder of its own.
fn beside_the_program() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    own.ancestors().skip(1).take(2).map(|folder| folder.join(PLUGIN)).find(|path| path.is_file())
}

fn missing(path: &Path) -> TraceRefusal {
    TraceRefusal {
        blame: Blame::Machine,
        reason: format!("the plugin {} is missing", path.display()),
        remedy: Some(format!(
            "build it (in assay's sources: cargo build --release -p assay-qemu) and set {PLUGIN_VARIABLE} to its path"
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_of_another_version_is_refused_before_it_is_loaded() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("plugin.so");
        let check = |bytes: &[u8]| {
            std::fs::write(&path, bytes).expect("written");
            find(Some(&path)).map_err(|refusal| refusal.reason)
        };
        assert!(check(b"\0\0assay-plugin-version=002\0").is_ok());
        let reason = check(b"\0\0assay-plugin-version=000\0").expect_err("older");
        assert!(reason.ends_with("has version 0, but this assay needs version 2"), "{reason}");
        assert!(check(b"assay-plugin-version=xxx").expect_err("none").ends_with("is not a plugin of assay"));
        let gone = find(Some(Path::new("/no/plugin.so"))).expect_err("missing");
        assert_eq!(gone.reason, "the plugin /no/plugin.so is missing");
        assert_eq!(gone.blame, Blame::Asked, "the caller named it");
        assert!(gone.remedy.is_some_and(|remedy| remedy.contains("cargo build")));
    }

    #[test]
    fn the_carried_plugin_is_unpacked_once_and_again_when_it_was_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        let bytes = b"\0assay-plugin-version=002\0";
        let path = unpacked(bytes, Some(folder.path())).expect("unpacked");
        assert_eq!(std::fs::read(&path).expect("written"), bytes);
        let first = std::fs::metadata(&path).and_then(|found| found.modified()).expect("its time");
        assert_eq!(unpacked(bytes, Some(folder.path())).expect("found"), path);
        let second = std::fs::metadata(&path).and_then(|found| found.modified()).expect("its time");
        assert_eq!(first, second, "not written again");
        std::fs::write(&path, b"half").expect("damaged");
        unpacked(bytes, Some(folder.path())).expect("written again");
        assert_eq!(std::fs::read(&path).expect("whole"), bytes);
    }

    #[test]
    fn without_a_folder_to_unpack_in_the_refusal_names_the_remedy() {
        let none = unpacked(b"x", None).expect_err("no folder");
        assert!(none.remedy.is_some_and(|remedy| remedy.contains("XDG_CACHE_HOME")));
        let refused = unpacked(b"x", Some(Path::new("/proc/none"))).expect_err("not writable");
        assert!(
            refused.reason.starts_with("cannot unpack the plugin into /proc/none/assay/"),
            "{}",
            refused.reason
        );
    }
}
