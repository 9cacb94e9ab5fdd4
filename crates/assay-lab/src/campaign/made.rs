//! An input that a command prints: run once for what it is made from, and then kept.
//!
//! What it is made from is the command and its folder, the seed, the units, and the content of each file that is a word of
//! the command or follows a `=` in one. What a script reads beyond that is not seen; a file that is added to the command is.
//!
//! A store has the bytes by content, and beside them `made/RECIPE`: the digest of what the command printed when it was made from
//! that. Every verb looks there first, so planning, examining and measuring run a command once between them. Where the store
//! cannot be written the command runs once in each process.

use super::input_store::{InputPlaces, stored, write_once};
use crate::lead::Misuse;
use crate::store::mark;
use anyhow::{Context, Result};
use assay_linux::command::{self, CommandSpec, Killed};
use assay_linux::given;
use assay_linux::private::PrivateFolder;
use assay_pure::inputs::digest::digest;
use assay_pure::words::duration;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What the folder is called that the output of a command goes to.
const PREFIX: &str = "assay-made-";
/// How long a command may take.
const LIMIT: Duration = Duration::from_secs(600);

/// What a command is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct InputCommand<'a> {
    /// The input, for messages.
    pub(super) name: &'a str,
    /// A program and its arguments.
    pub(super) words: &'a [String],
    /// `ASSAY_UNITS`.
    pub(super) units: Option<u64>,
    /// `ASSAY_SEED`.
    pub(super) seed: u64,
    /// Where it runs, and where what it prints is kept.
    pub(super) places: InputPlaces<'a>,
}

/// The digests of the files that the command names, to be kept with the recipe.
pub(super) fn files(words: &[String], folder: &Path) -> Value {
    let of = |word: &String| {
        let path = [word.as_str(), word.split_once('=').map_or("", |(_, value)| value)]
            .map(|file| folder.join(file))
            .into_iter()
            .find(|path| path.is_file())?;
        let bytes = given::read(&path, given::DATA).ok()?;
        Some((word.clone(), Value::from(digest(&bytes))))
    };
    Value::Object(words.iter().filter_map(of).collect::<Map<_, _>>())
}

/// The parent of a file in the current folder has no name.
fn folder_of(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// The folder of a command as recipes have it: the same words mean other files elsewhere. A digest, as a ledger is handed on.
pub(super) fn place(folder: &Path) -> String {
    let place = folder_of(folder).canonicalize().unwrap_or_else(|_| folder.to_owned());
    digest(place.as_os_str().as_encoded_bytes())
}

/// What the commands of this process have printed.
static PRINTED: Mutex<Option<HashMap<String, Arc<Vec<u8>>>>> = Mutex::new(None);

/// What the command prints, or has printed when it was made from the same.
///
/// # Errors
/// It cannot be started, fails, takes longer than ten minutes, or prints nothing or too much.
pub(super) fn bytes(asked: &InputCommand<'_>) -> Result<Vec<u8>> {
    let folder = asked.places.folder;
    let made_from = json!([asked.words, asked.units, asked.seed, place(folder), files(asked.words, folder)]);
    let recipe = digest(made_from.to_string().as_bytes());
    let known = || PRINTED.lock().expect("nothing panics while it is held");
    if let Some(bytes) = known().get_or_insert_default().get(&recipe) {
        return Ok(bytes.to_vec());
    }
    let bytes = match kept(asked.places.kept, &recipe) {
        Some(bytes) => bytes,
        None => {
            let bytes = run(asked)?;
            // Who needs the store complains of it; for a plan it only costs another run.
            let _ = keep(asked.places.kept, &recipe, &bytes);
            bytes
        }
    };
    let bytes = Arc::new(bytes);
    known().get_or_insert_default().insert(recipe, Arc::clone(&bytes));
    Ok(bytes.to_vec())
}

fn note(store: &Path, recipe: &str) -> PathBuf {
    store.join("made").join(recipe)
}

/// What a command printed before, if the store still has it as it was.
fn kept(store: &Path, recipe: &str) -> Option<Vec<u8>> {
    let printed = given::read_text(&note(store, recipe)).ok()?;
    let is_digest = printed.len() == recipe.len() && printed.bytes().all(|byte| byte.is_ascii_hexdigit());
    let bytes = given::read(&stored(store, is_digest.then_some(&printed)?), given::DATA).ok()?;
    (digest(&bytes) == printed).then_some(bytes)
}

fn keep(store: &Path, recipe: &str, bytes: &[u8]) -> Result<()> {
    // Inputs lie in a folder of the store.
    mark::claim(store.parent().unwrap_or(store))?;
    let printed = digest(bytes);
    write_once(&stored(store, &printed), bytes)?;
    write_once(&note(store, recipe), printed.as_bytes())
}

fn run(asked: &InputCommand<'_>) -> Result<Vec<u8>> {
    let name = asked.name;
    // In a folder of our own: a shell would write through a link that somebody laid under a name that can be guessed.
    let temporary = std::env::temp_dir();
    let scratch = PrivateFolder::new(&temporary, PREFIX)
        .with_context(|| format!("cannot make a folder in {}", temporary.display()))?;
    let output = scratch.path().join("printed");
    // The output may be large, and a shell writes it to a file as it comes.
    let words: Vec<String> = asked.words.iter().map(|word| quoted(word)).collect();
    let line = format!("exec {} > {}", words.join(" "), quoted(&output.to_string_lossy()));
    let mut environment = vec![(OsString::from("ASSAY_SEED"), OsString::from(asked.seed.to_string()))];
    environment.extend(asked.units.map(|units| ("ASSAY_UNITS".into(), units.to_string().into())));
    let ran = command::run(&CommandSpec {
        command: &line,
        folder: folder_of(asked.places.folder),
        environment: &environment,
        cpu: None,
        random_addresses: true,
        limit: Some(LIMIT),
        side: None,
        pauses: None,
    })?;
    let shown = asked.words.join(" ");
    let said = String::from_utf8_lossy(&ran.stderr.bytes).trim_end().to_owned();
    let said = if said.is_empty() { String::new() } else { format!(":\n{said}") };
    let refuse = |what: String| Err(Misuse(format!("input `{name}`: `{shown}` {what}")).into());
    match ran.killed {
        Some(Killed::Interrupted) => return refuse("was interrupted".to_owned()),
        Some(Killed::Limit) => {
            let limit = duration(LIMIT.as_secs_f64());
            return refuse(format!(
                "took longer than {limit}: record its output as a file and give that as path{said}"
            ));
        }
        None if !ran.status.success() => return refuse(format!("failed ({}){said}", ran.status)),
        None => {}
    }
    let bytes = given::read(&output, given::DATA)
        .with_context(|| format!("input `{name}`: cannot read what `{shown}` printed"))?;
    if bytes.is_empty() {
        return refuse(format!("printed nothing; an input is what it writes to standard output{said}"));
    }
    Ok(bytes)
}

/// A word of a command as the shell takes it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(words: &[&str], units: Option<u64>, folder: &Path) -> Result<Vec<u8>> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let kept = super::super::inputs::kept_in(&folder.join("store"));
        bytes(&InputCommand {
            name: "x",
            words: &words,
            units,
            seed: 7,
            places: InputPlaces { folder, kept: &kept },
        })
    }

    #[test]
    fn a_command_gets_its_seed_and_units_and_prints_bytes_of_any_kind() {
        let folder = tempfile::tempdir().unwrap();
        let script = "printf '%s %s \\0' \"$ASSAY_SEED\" \"$ASSAY_UNITS\"";
        assert_eq!(made(&["sh", "-c", script], Some(30), folder.path()).unwrap(), b"7 30 \0");
        assert_eq!(made(&["echo", "it's", "$HOME"], None, folder.path()).unwrap(), b"it's $HOME\n");
    }

    #[test]
    fn a_script_that_changed_is_run_again_and_one_that_did_not_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let write = |text: &str| std::fs::write(folder.path().join("make.sh"), text).unwrap();
        write("echo one; echo ran >> log");
        let log = || std::fs::read_to_string(folder.path().join("log")).unwrap().lines().count();
        assert_eq!(made(&["sh", "make.sh"], None, folder.path()).unwrap(), b"one\n");
        assert_eq!((made(&["sh", "make.sh"], None, folder.path()).unwrap(), log()), (b"one\n".to_vec(), 1));
        // Another process knows only what the store has.
        let forget = || *PRINTED.lock().unwrap() = None;
        forget();
        assert_eq!((made(&["sh", "make.sh"], None, folder.path()).unwrap(), log()), (b"one\n".to_vec(), 1));
        forget();
        std::fs::write(folder.path().join("store/inputs").join(digest(b"one\n")), "half").unwrap();
        assert_eq!((made(&["sh", "make.sh"], None, folder.path()).unwrap(), log()), (b"one\n".to_vec(), 2));
        write("echo two; echo ran >> log");
        assert_eq!((made(&["sh", "make.sh"], None, folder.path()).unwrap(), log()), (b"two\n".to_vec(), 3));
        let named = files(&["sh".to_owned(), "make.sh".to_owned()], folder.path());
        assert_eq!(named.as_object().map(Map::len), Some(1));
    }

    #[test]
    fn a_command_that_fails_or_prints_nothing_is_shown_with_its_own_words() {
        let folder = tempfile::tempdir().unwrap();
        let said = |words: &[&str]| made(words, None, folder.path()).unwrap_err().to_string();
        let failed = said(&["sh", "-c", "echo no seed >&2; exit 4"]);
        assert!(
            failed.contains("input `x`") && failed.contains("exit status: 4") && failed.ends_with("no seed"),
            "{failed}"
        );
        assert!(said(&["true"]).contains("printed nothing"));
        assert!(said(&["no-such-program"]).contains("no-such-program"));
    }
}
