//! The process that stands in for an assembler while a build's texts are recorded.
//!
//! Question: how is the text known from which each object of somebody's build was assembled? Method: gcc finds `as` in
//! `COMPILER_PATH` first; clang does too, where it is told (`CCC_OVERRIDE_OPTIONS`) to leave assembling to others. The stand-in has
//! the real one make the object, unchanged, then keeps the text under the hash of the object. So an object is known wherever the
//! build copies it, in archives too. When a link is made again that optimises (`-flto`), its assembler is called anew: then
//! ([`PAIRS_VARIABLE`]) the stand-in hands out the object with records instead.
//! Limits: whatever changes an object afterwards (`strip`, `objcopy`, `ld -r`) makes it unknown; compilers that write objects
//! themselves call no assembler: rustc (`units`), clang (`clang`), zig (`zig_call`) and linkers that generate code (`bitcode`) are
//! asked for their texts.

use super::call::CaptureSession;
use super::pairs::{PairSide, PairText, Pairs};
use super::run::run;
use super::{VARIABLE, response, sections};
use crate::build::Scope;
use assay_linux::tied::with_the_lab;
use assay_pure::inputs::digest;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::{env, fs};

/// As which this program is called.
pub const NAME: &str = "as";
/// The folder of pairs, what of their program is followed, and which side of them is wanted.
pub const PAIRS_VARIABLE: &str = "ASSAY_PAIRS";
pub const SCOPE_VARIABLE: &str = "ASSAY_PAIR_SCOPE";
pub const SIDE_VARIABLE: &str = "ASSAY_PAIR_SIDE";
/// Where clang finds words to add.
const CLANG: &str = "CCC_OVERRIDE_OPTIONS";

/// A text that was assembled, and how.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RecordedText {
    /// The assembler.
    pub assembler: PathBuf,
    /// Its words without the files.
    pub words: Vec<String>,
    /// Where it ran.
    pub folder: PathBuf,
    /// The text.
    pub text: String,
}

/// Where the texts of a build's store are, beside what it keeps.
pub fn texts(kept: &Path) -> PathBuf {
    kept.with_file_name("texts")
}

impl RecordedText {
    /// The text of an object, by the hash of its bytes.
    pub fn of(texts: &Path, object: &str) -> Option<RecordedText> {
        serde_json::from_slice(&fs::read(texts.join(format!("{object}.json"))).ok()?).ok()
    }

    /// Makes an object of a text like this one.
    pub fn assemble(&self, source: &Path, object: &Path) -> Result<(), String> {
        let mut command = Command::new(&self.assembler);
        // Debug information would be that of the rewritten text.
        let words = self.words.iter().filter(|word| !word.starts_with("-g") && !word.starts_with("--gdwarf"));
        with_the_lab(&mut command).args(words).arg("-o").arg(object).arg(source);
        run(command.current_dir(&self.folder))
            .map_err(|why| format!("it does not assemble with records: {why}"))
    }

    fn keep(&self, texts: &Path, object: &str) -> io::Result<()> {
        fs::create_dir_all(texts)?;
        let beside = texts.join(format!(".{object}-{}", std::process::id()));
        fs::write(&beside, serde_json::to_vec(self)?)?;
        fs::rename(beside, texts.join(format!("{object}.json")))
    }
}

/// What a build is told so that clang calls an assembler. `value` says what the build would see of a variable.
pub fn variables(value: &dyn Fn(&str) -> Option<OsString>) -> Vec<(String, OsString)> {
    let mut clang = OsString::from("#+-fno-integrated-as");
    if let Some(own) = value(CLANG).filter(|own| !own.is_empty()) {
        clang.push(" ");
        clang.push(own.to_string_lossy().trim_start_matches('#').trim_start());
    }
    vec![(CLANG.into(), clang)]
}

/// The files of a call.
struct Files {
    input: Option<usize>,
    output: PathBuf,
    /// Words that are neither.
    words: Vec<String>,
}

impl Files {
    fn of(words: &[String]) -> Files {
        let mut files = Files { input: None, output: "a.out".into(), words: Vec::new() };
        let mut at = 0;
        while at < words.len() {
            let word = &words[at];
            let has_value = ["-o", "-I", "--defsym", "--MD", "-defsym"].contains(&word.as_str());
            if word == "-o" {
                files.output = words.get(at + 1).map(PathBuf::from).unwrap_or_default();
            } else if let Some(output) = word.strip_prefix("-o") {
                files.output = output.into();
            } else if has_value {
                // Where dependencies go was written by the real one.
                if word != "--MD" {
                    files.words.extend(words[at..words.len().min(at + 2)].iter().cloned());
                }
            } else if word.starts_with('-') && word.len() > 1 && word != "--" {
                // Listings as well.
                if !word.starts_with("-a") {
                    files.words.push(word.clone());
                }
            } else if word != "--" {
                files.input = Some(at);
            }
            at += 1 + usize::from(has_value);
        }
        files
    }
}

/// Does what the assembler of this name does, and keeps the text.
///
/// # Errors
/// There is no assembler, or it cannot be started.
pub fn assemble(words: &[OsString], is_ours: &dyn Fn(&Path) -> bool) -> io::Result<ExitStatus> {
    let real = real(is_ours)?;
    let text = |word: &OsString| word.to_str().map(str::to_owned);
    let Some(words) = words.iter().map(text).collect::<Option<Vec<String>>>() else {
        return Command::new(real).args(words).status();
    };
    let folder = env::current_dir()?;
    let mut words = response::expanded(&words, &folder);
    let mut files = Files::of(&words);
    // A text that comes through a pipe can be read once.
    let piped = files.input.is_none() || files.input.is_some_and(|at| words[at] == "-");
    let aside = env::temp_dir().join(format!("assay-as-{}.s", std::process::id()));
    if piped {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes)?;
        fs::write(&aside, bytes)?;
        words.retain(|word| word != "-");
        words.push(aside.to_string_lossy().into_owned());
        files.input = Some(words.len() - 1);
    }
    let input = folder.join(&words[files.input.unwrap_or_default()]);
    let source = fs::read(&input);
    let status = Command::new(&real).args(&words).status();
    if piped {
        let _ = fs::remove_file(&aside);
    }
    let status = status?;
    if status.success() {
        let output = folder.join(&files.output);
        let recorded = source.and_then(|bytes| {
            let text = String::from_utf8(bytes).map_err(io::Error::other)?;
            let record = RecordedText { assembler: real, words: files.words, folder, text };
            record_or_replace(&record, &output)
        });
        if let (Err(error), Some(calls)) = (recorded, env::var_os(VARIABLE).map(PathBuf::from)) {
            let why = format!("the text of {} was not kept: {error}", output.display());
            let _ = fs::write(calls.join(format!("{}.missed", std::process::id())), why);
        }
    }
    Ok(status)
}

fn record_or_replace(record: &RecordedText, output: &Path) -> io::Result<()> {
    let object = digest(&fs::read(output)?);
    if let (Some(folder), Some(side)) = (env::var_os(PAIRS_VARIABLE), env::var(SIDE_VARIABLE).ok()) {
        let scope = Scope::named(&env::var(SCOPE_VARIABLE).unwrap_or_default());
        let pairs = Pairs { folder: folder.into(), scope };
        let text = PairText {
            text: &record.text,
            object: None,
            assemble: &|source, object| record.assemble(source, object),
        };
        if let Ok(pair) = pairs.of(&object, &text) {
            fs::copy(pair.side(PairSide::named(&side)), output)?;
        }
        return Ok(());
    }
    let Some(calls) = env::var_os(VARIABLE).map(PathBuf::from) else { return Ok(()) };
    record.keep(&texts(&CaptureSession::read(&calls)?.kept), &object)
}

/// The assembler that the calling driver has; called by something else, the one on PATH.
fn real(is_ours: &dyn Fn(&Path) -> bool) -> io::Result<PathBuf> {
    if let Ok(path) = sections::real(NAME, is_ours)
        && path.is_file()
    {
        return Ok(path);
    }
    let searched = env::var_os("PATH").unwrap_or_default();
    let mut folders = env::split_paths(&searched).filter(|folder| !is_ours(folder));
    let found = folders.find_map(|folder| Some(folder.join(NAME)).filter(|path| path.is_file()));
    found.ok_or_else(|| io::Error::other("no other assembler is on PATH"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_call_are_told_from_its_options() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<String>>();
        let files = Files::of(&words("-I . -I ../include --64 -o main.o /tmp/x.s -a=list"));
        assert_eq!((files.input, files.output), (Some(7), PathBuf::from("main.o")));
        assert_eq!(files.words, words("-I . -I ../include --64"));
        let piped = Files::of(&words("--64 -o main.o -"));
        assert_eq!(piped.input, Some(3));
        assert_eq!(Files::of(&words("--64 -omain.o")).output, PathBuf::from("main.o"));
    }
}
