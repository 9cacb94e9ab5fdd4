//! Which file a command names, and what it was built for: said before anything is started.

use assay_lab::lead::Misuse;
use assay_linux::given;
use assay_pure::words;
use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Interpreters of interpreters that are followed, as the kernel does.
const INTERPRETERS: usize = 4;

/// The file that a command's first word names: as it is if it has a slash, else searched on PATH.
///
/// # Errors
/// Nothing of that name, a folder, or a file that nobody may execute; with what was looked at.
pub fn find(name: &OsStr, path: Option<&OsStr>) -> Result<PathBuf, Misuse> {
    let shown = name.to_string_lossy();
    if name.is_empty() {
        return Err(Misuse("the name of the command is empty".to_owned()));
    }
    if shown.contains('/') {
        let file = PathBuf::from(name);
        return executable(&file).map(|()| file);
    }
    let folders: Vec<PathBuf> = std::env::split_paths(path.unwrap_or_default()).collect();
    let candidates: Vec<PathBuf> =
        folders.iter().map(|folder| folder.join(name)).filter(|file| file.exists()).collect();
    if let Some(file) = candidates.iter().find(|file| executable(file).is_ok()) {
        return Ok(file.clone());
    }
    if let Some(file) = candidates.first() {
        return Err(executable(file)
            .err()
            .unwrap_or_else(|| Misuse(format!("{} cannot be run", file.display()))));
    }
    let here = Path::new(name).exists();
    let hint =
        if here { format!("; to run the file in this folder, write ./{shown}") } else { String::new() };
    Err(Misuse(format!(
        "no command `{shown}` on PATH ({}){hint}",
        words::plural(folders.len() as u64, "folder")
    )))
}

fn executable(file: &Path) -> Result<(), Misuse> {
    let shown = file.display();
    let facts = std::fs::metadata(file).map_err(|error| Misuse(format!("cannot run {shown}: {error}")))?;
    if facts.is_dir() {
        return Err(Misuse(format!("cannot run {shown}: it is a folder")));
    }
    if facts.permissions().mode() & 0o111 == 0 {
        return Err(Misuse(format!("cannot run {shown}: it is not executable (chmod +x makes it so)")));
    }
    Ok(())
}

/// What a program was built for, by the number in its ELF header (`e_machine`), or that of the interpreter that its first
/// line names. None where it is neither.
pub fn machine(file: &Path) -> Option<u16> {
    let mut file = file.to_owned();
    for _ in 0..=INTERPRETERS {
        let mut start = [0u8; 256];
        let count = given::open(&file).ok()?.read(&mut start).ok()?;
        let start = &start[..count];
        if start.len() >= 20 && start.starts_with(b"\x7fELF") {
            let bytes = [start[18], start[19]];
            return Some(if start[5] == 2 { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) });
        }
        let line = start.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
        let name = String::from_utf8_lossy(line);
        file = PathBuf::from(name.split_whitespace().next()?);
    }
    None
}

/// The architecture of an `e_machine`, by the name in use.
pub fn architecture(machine: u16) -> String {
    match machine {
        62 => "x86-64".to_owned(),
        183 => "aarch64".to_owned(),
        243 => "riscv".to_owned(),
        3 => "i386".to_owned(),
        40 => "arm".to_owned(),
        21 => "ppc64".to_owned(),
        22 => "s390".to_owned(),
        258 => "loongarch".to_owned(),
        other => format!("machine {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str, bytes: &[u8], mode: u32) -> PathBuf {
        let file = folder.join(name);
        std::fs::write(&file, bytes).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    fn elf(machine: u16, big: bool) -> Vec<u8> {
        let mut bytes = vec![0u8; 64];
        bytes[..4].copy_from_slice(b"\x7fELF");
        bytes[5] = if big { 2 } else { 1 };
        bytes[18..20].copy_from_slice(&if big { machine.to_be_bytes() } else { machine.to_le_bytes() });
        bytes
    }

    #[test]
    fn a_command_is_found_on_the_path_or_as_it_stands() {
        let folder = tempfile::tempdir().unwrap();
        let file = write(folder.path(), "tool", b"", 0o755);
        let path = std::env::join_paths(["/nowhere".as_ref(), folder.path()]).unwrap();
        assert_eq!(find("tool".as_ref(), Some(&path)).unwrap(), file);
        assert_eq!(find(file.as_os_str(), None).unwrap(), file);
    }

    #[test]
    fn what_cannot_be_run_is_refused_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().as_os_str();
        let message = |name: &str, path: Option<&OsStr>| find(name.as_ref(), path).unwrap_err().0;
        assert!(message("tool", Some(path)).contains("no command `tool` on PATH (1 folder)"));
        assert!(message("", None).contains("empty"));
        let data = write(folder.path(), "data", b"", 0o644);
        assert!(message("data", Some(path)).contains("not executable"));
        assert!(message(data.to_str().unwrap(), None).contains("chmod +x"));
        assert!(message(path.to_str().unwrap(), None).contains("folder"));
        assert!(message("/no/such/file", None).contains("No such file"));
    }

    #[test]
    fn the_architecture_is_that_of_the_program_or_its_interpreter() {
        let folder = tempfile::tempdir().unwrap();
        let named = |file: &Path| machine(file).map(architecture);
        let arm = write(folder.path(), "arm", &elf(183, false), 0o755);
        assert_eq!(named(&arm).as_deref(), Some("aarch64"));
        assert_eq!(named(&write(folder.path(), "x86", &elf(62, false), 0o755)).as_deref(), Some("x86-64"));
        assert_eq!(named(&write(folder.path(), "s390", &elf(22, true), 0o755)).as_deref(), Some("s390"));
        let script = format!("#! {} -x\necho\n", arm.display());
        let script = write(folder.path(), "script", script.as_bytes(), 0o755);
        assert_eq!(named(&script).as_deref(), Some("aarch64"));
        let nested = format!("#!{}\n", script.display());
        assert_eq!(
            named(&write(folder.path(), "nested", nested.as_bytes(), 0o755)).as_deref(),
            Some("aarch64")
        );
        let loops = folder.path().join("loop");
        write(folder.path(), "loop", format!("#!{}\n", loops.display()).as_bytes(), 0o755);
        assert_eq!(machine(&loops), None);
        for bytes in [&b""[..], b"#!", b"text", b"\x7fELF\x02\x01\x01"] {
            assert_eq!(machine(&write(folder.path(), "other", bytes, 0o755)), None, "{bytes:?}");
        }
        assert_eq!(machine(Path::new("/no/such/file")), None);
    }
}
