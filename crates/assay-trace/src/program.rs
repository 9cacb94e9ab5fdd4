//! Can this program be traced, and by which emulator?

use super::{Blame, TraceRefusal};
use assay_pure::trace::classify::InstructionSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What the kernel looks at to tell what a file is (`BINPRM_BUF_SIZE`).
const HEAD: usize = 256;
/// Interpreters of interpreters that the kernel follows.
const DEPTH: usize = 5;

/// A program that can be traced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TracedProgram {
    pub(super) machine: InstructionSet,
    /// For a script: what the kernel would put in front of it.
    pub(super) interpreter: Vec<OsString>,
}

fn refuse<T>(reason: String, remedy: Option<&str>) -> Result<T, TraceRefusal> {
    Err(TraceRefusal { blame: Blame::Asked, reason, remedy: remedy.map(str::to_owned) })
}

/// A program may be sound where the emulators that are known here cannot run it.
fn unfit<T>(reason: String, remedy: Option<&str>) -> Result<T, TraceRefusal> {
    refuse(reason, remedy).map_err(|refusal| TraceRefusal { blame: Blame::Machine, ..refusal })
}

/// Looks at the file.
pub(super) fn look_at(path: &Path) -> Result<TracedProgram, TraceRefusal> {
    look_deeper(path, DEPTH)
}

fn look_deeper(path: &Path, depth: usize) -> Result<TracedProgram, TraceRefusal> {
    let head = read_head(path)?;
    if let Some(line) = head.strip_prefix(b"#!") {
        let Some(words) = (depth > 0).then(|| interpreter(line)).flatten() else {
            return refuse(
                format!("{} is a script whose interpreter cannot be determined", path.display()),
                None,
            );
        };
        let inner = look_deeper(Path::new(&words[0]), depth - 1).map_err(|refusal| TraceRefusal {
            reason: format!("the interpreter of {}: {}", path.display(), refusal.reason),
            ..refusal
        })?;
        let interpreter = [inner.interpreter, words].concat();
        return Ok(TracedProgram { machine: inner.machine, interpreter });
    }
    let machine = machine(path, &head)?;
    Ok(TracedProgram { machine, interpreter: Vec::new() })
}

fn read_head(path: &Path) -> Result<Vec<u8>, TraceRefusal> {
    let shown = path.display();
    let facts = match std::fs::metadata(path) {
        Ok(facts) => facts,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return refuse(format!("there is no file {shown}"), None);
        }
        Err(error) => return refuse(format!("{shown} cannot be examined: {error}"), None),
    };
    if facts.is_dir() {
        return refuse(format!("{shown} is a directory"), Some("name a program in it"));
    }
    if !facts.is_file() {
        return refuse(format!("{shown} is not a regular file"), None);
    }
    if facts.permissions().mode() & 0o111 == 0 {
        return refuse(format!("{shown} is not executable"), Some("chmod +x it if it is a program"));
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD as u64).read_to_end(&mut head));
    match read {
        Ok(_) => Ok(head),
        Err(error) => unfit(
            format!("{shown} cannot be read: {error}"),
            Some("the emulator needs to read what it executes"),
        ),
    }
}

/// The interpreter and its one argument, as Linux cuts the first line.
fn interpreter(line: &[u8]) -> Option<Vec<OsString>> {
    let line = line.split(|byte| *byte == b'\n').next()?;
    let line = line.trim_ascii();
    let end = line.iter().position(|byte| matches!(byte, b' ' | b'\t')).unwrap_or(line.len());
    let (program, argument) = (&line[..end], line[end..].trim_ascii());
    if program.is_empty() {
        return None;
    }
    let mut words = vec![OsStr::from_bytes(program).to_owned()];
    if !argument.is_empty() {
        words.push(OsStr::from_bytes(argument).to_owned());
    }
    Some(words)
}

/// ELF, little-endian, 64 bits, a machine that is known (System V ABI, chapter 4).
fn machine(path: &Path, head: &[u8]) -> Result<InstructionSet, TraceRefusal> {
    let shown = path.display();
    if head.len() < 20 || !head.starts_with(b"\x7fELF") {
        return refuse(format!("{shown} is not a program: neither ELF nor a script"), None);
    }
    if head[4] != 2 {
        return unfit(
            format!("{shown} is a 32-bit program; only 64-bit ones can be traced"),
            Some("rebuild it without -m32"),
        );
    }
    if head[5] != 1 {
        return unfit(
            format!("{shown} is a big-endian program; only little-endian ones can be traced"),
            None,
        );
    }
    let kind = u16::from_le_bytes([head[16], head[17]]);
    let number = u16::from_le_bytes([head[18], head[19]]);
    if !matches!(kind, 2 | 3) {
        return refuse(format!("{shown} is an ELF file but not a program: it is of type {kind}"), None);
    }
    match number {
        62 => Ok(InstructionSet::X86_64),
        183 => Ok(InstructionSet::Aarch64),
        other => unfit(
            format!("{shown} is for ELF machine {other}; only programs for x86-64 and AArch64 can be traced"),
            None,
        ),
    }
}

/// A program's file as a shell would find it.
pub(super) fn search(name: &OsStr) -> Result<PathBuf, TraceRefusal> {
    if name.is_empty() {
        return refuse("no command was given".to_owned(), None);
    }
    if name.as_bytes().contains(&b'/') {
        return Ok(PathBuf::from(name));
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let executable = |file: &PathBuf| {
        std::fs::metadata(file).is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
    };
    match std::env::split_paths(&path).map(|folder| folder.join(name)).find(executable) {
        Some(file) => Ok(file),
        None => refuse(format!("there is no command {} on PATH", name.to_string_lossy()), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, mode: u32, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("mode");
        (folder, path)
    }

    fn elf(class: u8, kind: u16, machine: u16) -> Vec<u8> {
        let mut head = b"\x7fELF\0\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
        head[4] = class;
        head.extend(kind.to_le_bytes());
        head.extend(machine.to_le_bytes());
        head
    }

    fn refusal(mode: u32, bytes: &[u8]) -> TraceRefusal {
        let (_folder, path) = file("program", mode, bytes);
        look_at(&path).expect_err("refused")
    }

    #[test]
    fn a_program_that_no_emulator_here_runs_is_not_the_users_fault() {
        let big = |mut head: Vec<u8>| {
            head[5] = 2;
            head
        };
        for (head, part) in [
            (elf(1, 2, 3), "is a 32-bit program"),
            (elf(2, 2, 243), "for ELF machine 243"),
            (big(elf(2, 2, 62)), "is a big-endian program"),
        ] {
            let refused = refusal(0o755, &head);
            assert!(refused.reason.contains(part), "{refused}");
            assert_eq!(refused.blame, Blame::Machine, "{refused}");
        }
    }

    #[test]
    fn the_fault_of_an_interpreter_is_the_scripts() {
        let line = |interpreter: &Path| format!("#!{}\n", interpreter.display()).into_bytes();
        let gone = refusal(0o755, &line(Path::new("/no/such/interpreter")));
        assert_eq!(gone.blame, Blame::Asked);
        assert!(gone.reason.ends_with("there is no file /no/such/interpreter"), "{gone}");
        let (_folder, narrow) = file("narrow", 0o755, &elf(1, 2, 3));
        let narrow = refusal(0o755, &line(&narrow));
        assert_eq!(narrow.blame, Blame::Machine);
        assert!(narrow.remedy.is_some());
    }

    #[test]
    fn what_is_no_program_is_refused_with_its_reason() {
        let refusal = |mode, bytes: &[u8]| {
            let refused = refusal(mode, bytes);
            assert_eq!(refused.blame, Blame::Asked, "{refused}");
            refused.reason
        };
        assert!(refusal(0o755, &elf(2, 1, 62)).contains("not a program: it is of type 1"));
        assert!(refusal(0o644, &elf(2, 2, 62)).contains("is not executable"));
        assert!(refusal(0o755, b"hello").contains("neither ELF nor a script"));
        assert!(refusal(0o755, b"").contains("neither ELF nor a script"));
        assert!(refusal(0o755, b"#!\n").contains("interpreter cannot be determined"));
        assert!(look_at(Path::new("/")).expect_err("refused").reason.contains("is a directory"));
        assert!(look_at(Path::new("/dev/null")).expect_err("refused").reason.contains("not a regular file"));
        let gone = look_at(Path::new("/no/such/file")).expect_err("refused").reason;
        assert_eq!(gone, "there is no file /no/such/file");
    }

    #[test]
    fn programs_are_known_by_their_machine() {
        for (machine, number) in [(InstructionSet::X86_64, 62), (InstructionSet::Aarch64, 183)] {
            let (_folder, path) = file("program", 0o755, &elf(2, 3, number));
            assert_eq!(look_at(&path), Ok(TracedProgram { machine, interpreter: Vec::new() }));
        }
    }

    #[test]
    fn a_script_is_its_interpreter_with_one_argument() {
        let (_folder, program) = file("program", 0o755, &elf(2, 2, 62));
        let line = format!("#! {} -a b\t\nrest", program.display());
        let (_other, script) = file("script", 0o755, line.as_bytes());
        let looked = look_at(&script).expect("a script");
        assert_eq!(looked.interpreter, [program.as_os_str(), OsStr::new("-a b")]);
        let (_third, outer) = file("outer", 0o755, format!("#!{}", script.display()).as_bytes());
        let looked = look_at(&outer).expect("a script of a script");
        assert_eq!(looked.interpreter, [program.as_os_str(), OsStr::new("-a b"), script.as_os_str()]);
    }

    #[test]
    fn a_script_that_is_its_own_interpreter_is_refused() {
        let (_folder, path) = file("loop", 0o755, b"");
        std::fs::write(&path, format!("#!{}\n", path.display())).expect("written");
        assert!(look_at(&path).expect_err("refused").reason.contains("interpreter cannot be determined"));
    }

    #[test]
    fn commands_are_found_as_a_shell_finds_them() {
        assert_eq!(search(OsStr::new("./x")), Ok(PathBuf::from("./x")));
        assert!(search(OsStr::new("sh")).is_ok_and(|found| found.ends_with("sh")));
        let none = search(OsStr::new("no-such-command-anywhere")).expect_err("none");
        assert_eq!(none.reason, "there is no command no-such-command-anywhere on PATH");
        assert_eq!(none.blame, Blame::Asked);
        assert_eq!(search(OsStr::new("")).expect_err("none").reason, "no command was given");
    }
}
