//! The texts of what clang compiles and assembles by itself.
//!
//! Question: from which text would each object of clang's be made, if nothing about the build is to change? Assembled by GNU's
//! assembler (`assembler`) it would be other code: clang encodes some instructions otherwise. Method: clang logs each command that it
//! executes (`CC_PRINT_OPTIONS`). That of an object is made again for its text (`-S` instead of `-emit-obj`), and clang's own
//! assembler makes objects of texts like it. Whether an object is that of its text is compared (`pairs`).
//! Limits: clang writes its log in pieces of 4 KB, so two that write at the same moment may mix their lines: such an object has no
//! text. Sources must still be there. Checked: `crates/assay/tests/instrument/captured.rs`.

use super::assembler::texts;
use super::link::CapturedLink;
use super::run::run;
use crate::build::text::split;
use assay_linux::tied::with_the_lab;
use assay_pure::inputs::digest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

/// What makes clang log, and where.
pub const LOGS: &str = "CC_PRINT_OPTIONS";
pub const LOG: &str = "CC_PRINT_OPTIONS_FILE";
/// Words behind which clang says where the build runs.
const FOLDERS: [&str; 2] = ["-fdebug-compilation-dir=", "-fcoverage-compilation-dir="];
/// Further files that it would write, each with its name in the next word.
const WRITTEN: [&str; 5] =
    ["-o", "-dependency-file", "-serialize-diagnostic-file", "-split-dwarf-file", "-split-dwarf-output"];
/// What its assembler is told as well: words with a value in the next one, and single ones.
const OF_ASSEMBLER: [&str; 5] = ["-triple", "-target-cpu", "-target-feature", "-mllvm", "-mrelocation-model"];
const OF_ASSEMBLER_ALONE: [&str; 3] = ["-mrelax-all", "--mrelax-relocations", "-mrelax-relocations=no"];

/// One command of clang's that made an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClangCall {
    program: String,
    /// Its words; the first says which part of clang it is.
    words: Vec<String>,
    folder: PathBuf,
}

/// What a build is told. `value` says what the build would see of a variable.
pub fn variables(log: &Path, value: &dyn Fn(&str) -> Option<OsString>) -> Vec<(String, OsString)> {
    // Who reads such a log himself gets it.
    if value(LOGS).is_some() {
        return Vec::new();
    }
    vec![(LOGS.into(), "1".into()), (LOG.into(), log.into())]
}

/// Keeps the commands that a log holds, under the hashes of what they made and of what the links read of it.
///
/// # Errors
/// They cannot be written.
pub fn keep(log: &Path, kept: &Path, links: &[CapturedLink]) -> io::Result<()> {
    let Ok(calls) = ClangCall::read_all(log) else { return Ok(()) };
    let texts = texts(kept);
    if !calls.is_empty() {
        fs::create_dir_all(&texts)?;
    }
    let inputs = || links.iter().flat_map(|link| &link.call().inputs);
    for (output, call) in calls {
        // A driver removes the object of a source that it links at once.
        let read = inputs().filter(|input| input.file == output).filter_map(|input| input.kept.as_ref());
        for bytes in std::iter::once(&output).chain(read).filter_map(|file| fs::read(file).ok()) {
            let place = ClangCall::place(&texts, &digest(&bytes));
            let beside = place.with_extension(format!("{}", std::process::id()));
            fs::write(&beside, serde_json::to_vec(&call)?)?;
            fs::rename(beside, place)?;
        }
    }
    Ok(())
}

impl ClangCall {
    fn place(texts: &Path, object: &str) -> PathBuf {
        texts.join(format!("{object}.clang"))
    }

    /// The command that made an object, by the hash of its bytes.
    pub fn of(texts: &Path, object: &str) -> Option<ClangCall> {
        serde_json::from_slice(&fs::read(Self::place(texts, object)).ok()?).ok()
    }

    /// One of a program whose assembler is clang's, told of the processor by its features alone.
    pub fn with_features(program: &str, folder: &Path, features: &str) -> ClangCall {
        let words =
            ["-triple", "x86_64-unknown-linux", "-target-cpu", "generic", "-target-feature", features];
        ClangCall {
            program: program.to_owned(),
            words: words.map(str::to_owned).to_vec(),
            folder: folder.to_owned(),
        }
    }

    /// The commands of a log that made objects, each with its object.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn read_all(log: &Path) -> io::Result<BTreeMap<PathBuf, ClangCall>> {
        let logged = fs::read(log)?;
        Ok(String::from_utf8_lossy(&logged).lines().filter_map(Self::read).collect())
    }

    /// The command of a line of the log, and the object that it made.
    fn read(line: &str) -> Option<(PathBuf, ClangCall)> {
        let mut words = split(line.strip_prefix(" \"").and_then(|_| line.get(1..))?)?;
        let program = words.remove(0);
        let makes = |words: &[String]| words.first().is_some_and(|part| part == "-cc1");
        if !makes(&words) || !words.iter().any(|word| word == "-emit-obj") {
            return None;
        }
        let said = |start: &&str| words.iter().find_map(|word| word.strip_prefix(start));
        let folder =
            FOLDERS.iter().find_map(said).map(PathBuf::from).filter(|folder| folder.is_absolute())?;
        let output = words.iter().position(|word| word == "-o").and_then(|at| words.get(at + 1))?;
        Some((folder.join(output), ClangCall { program, words, folder }))
    }

    /// The text of the object. `place` is for what is written meanwhile.
    ///
    /// # Errors
    /// Why clang does not say, as part of a sentence.
    pub fn text(&self, place: &Path) -> Result<String, String> {
        let mut told = Vec::new();
        let mut words = self.words.iter();
        while let Some(word) = words.next() {
            if WRITTEN.contains(&word.as_str()) {
                words.next();
            } else {
                told.push(if word == "-emit-obj" { "-S" } else { word });
            }
        }
        let path = place.to_string_lossy();
        told.extend(["-o", &path]);
        self.run(&told)?;
        let bytes = fs::read(place).map_err(|error| format!("{path}: {error}"))?;
        let _ = fs::remove_file(place);
        String::from_utf8(bytes).map_err(|_| "what clang writes as its text is no text".to_owned())
    }

    /// Makes an object of a text like it.
    pub fn assemble(&self, source: &Path, object: &Path) -> Result<(), String> {
        self.read_text(&["-filetype", "obj"], source, object)
    }

    /// Makes a text in AT&T's syntax of one in either.
    pub fn translate(&self, source: &Path, text: &Path) -> Result<(), String> {
        self.read_text(&["-filetype", "asm", "--output-asm-variant=0"], source, text)
    }

    fn read_text(&self, how: &[&str], source: &Path, made: &Path) -> Result<(), String> {
        let (source, made) = (source.to_string_lossy(), made.to_string_lossy());
        let mut told = vec!["-cc1as"];
        told.extend(how);
        for (at, word) in self.words.iter().enumerate() {
            match self.words.get(at + 1) {
                Some(value) if OF_ASSEMBLER.contains(&word.as_str()) => told.extend([word, value.as_str()]),
                _ if OF_ASSEMBLER_ALONE.contains(&word.as_str()) => told.push(word),
                _ => {}
            }
        }
        told.extend(["-o", &made, &source]);
        self.run(&told)
    }

    fn run(&self, words: &[&str]) -> Result<(), String> {
        let mut command = Command::new(&self.program);
        with_the_lab(&mut command).args(words).current_dir(&self.folder).env_remove(LOGS);
        run(&mut command).map_err(|why| format!("called again for its text, clang refused: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_clangs_log_is_a_command_that_made_an_object() {
        let line = r#" "/usr/bin/clang" "-cc1" "-triple" "x86_64" "-emit-obj" "-fdebug-compilation-dir=/src/a b" "-DX=\"y\$\"" "-o" "out/main.o" "-x" "c" "main.c""#;
        let (output, call) = ClangCall::read(line).expect("a command");
        assert_eq!(output, Path::new("/src/a b/out/main.o"));
        assert_eq!((&*call.program, &*call.words[5]), ("/usr/bin/clang", "-DX=\"y$\""));
    }

    #[test]
    fn what_makes_no_object_or_is_mixed_with_another_line_is_no_such_command() {
        for line in [
            "[Logging clang options]",
            " (in-process)",
            "",
            r#" "/usr/bin/ld" "-o" "x""#,
            r#" "clang" "-cc1" "-emit-llvm-bc" "-fdebug-compilation-dir=/src" "-o" "x.o""#,
            r#" "clang" "-cc1" "-emit-obj" "-fdebug-compilation-dir=." "-o" "x.o""#,
            r#" "clang" "-cc1" "-emit-obj" "-fdebug-compilation-dir=/src" "-o" "x"#,
        ] {
            assert_eq!(ClangCall::read(line), None, "{line}");
        }
    }

    #[test]
    fn a_log_that_the_build_reads_itself_is_left_to_it() {
        assert_eq!(variables(Path::new("/l"), &|_| Some("1".into())), []);
        assert_eq!(variables(Path::new("/l"), &|_| None).len(), 2);
    }
}
