//! Which files were compared, by their contents: the binaries that were linked again, and the files that a benchmark command names.
//!
//! Known limits: a command is for a shell, and only its words are looked at. A file that the shell makes up, or that the program
//! opens by itself, is not found; one beyond [`MOST_BYTES`] is left out.

use super::bench::SidePlayer;
use assay_linux::given;
use assay_pure::inputs::digest::digest;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Of one file.
const MOST_BYTES: u64 = 256 << 20;

/// What a side's row keeps of its binaries and files.
pub fn files_of(player: &SidePlayer) -> Value {
    let folder = &player.bench.folder;
    let links = player.binaries.iter().flat_map(|binaries| {
        binaries.outputs().zip(binaries.text_bytes()).map(|(output, text_bytes)| {
            let below = output.strip_prefix(folder).unwrap_or(output).to_string_lossy();
            json!({"output": below, "text_bytes": text_bytes, "sha256": contents(output)})
        })
    });
    let outputs: BTreeSet<PathBuf> =
        player.binaries.iter().flat_map(|binaries| binaries.outputs()).filter_map(real).collect();
    let named = named(&player.bench.command, folder, std::env::var_os("PATH").as_deref());
    let named = named.into_iter().filter(|(_, path)| real(path).is_some_and(|path| !outputs.contains(&path)));
    let named = named.filter_map(|(word, path)| Some(json!({"named": word, "sha256": contents(&path)?})));
    Value::Array(links.chain(named).collect())
}

fn real(path: impl AsRef<Path>) -> Option<PathBuf> {
    path.as_ref().canonicalize().ok()
}

fn contents(path: &Path) -> Option<String> {
    given::read(path, MOST_BYTES).ok().map(|bytes| digest(&bytes))
}

/// The words of a command that are files, each once, with their paths; its first word may lie in a folder of `search`.
fn named(command: &str, folder: &Path, search: Option<&std::ffi::OsStr>) -> Vec<(String, PathBuf)> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (at, word) in command.split_whitespace().enumerate() {
        let word = word.trim_matches(['\'', '"', ';', '(', ')']);
        let value = word.split_once('=').map_or("", |(_, value)| value);
        let here = [word, value].into_iter().filter(|text| !text.is_empty()).map(|text| folder.join(text));
        let mut places: Vec<PathBuf> = here.collect();
        if at == 0 && !word.contains('/') {
            places.extend(search.iter().flat_map(std::env::split_paths).map(|place| place.join(word)));
        }
        let Some(path) = places.into_iter().find(|path| path.is_file()) else { continue };
        if seen.insert(path.clone()) {
            found.push((word.to_owned(), path));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_command_that_are_files_are_found_once() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("bin")).unwrap();
        for name in ["bench", "data.bin", "bin/tool", "other"] {
            std::fs::write(at(name), name).unwrap();
        }
        let words = |command: &str| -> Vec<String> {
            let search = at("bin").into_os_string();
            named(command, folder.path(), Some(&search)).into_iter().map(|(word, _)| word).collect()
        };
        assert_eq!(words("./bench --input=data.bin 'data.bin' none"), ["./bench", "--input=data.bin"]);
        assert_eq!(words("tool other; tool"), ["tool", "other"], "only the first word is searched for");
        assert!(words("").is_empty() && words("bin").is_empty(), "a folder is no file");
        assert_eq!(contents(&at("bench")), Some(digest(b"bench")));
    }
}
