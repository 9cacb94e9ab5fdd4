//! Which experiments are meant: those named, those that a named file lists, or those of the folder's `assay.toml`.
//!
//! ```toml
//! experiments = ["benches/*.toml", "sort.toml"]
//! budget = 120
//! ```

use crate::lead::Misuse;
use anyhow::Result;
use assay_linux::given;
use assay_pure::experiment::pattern::matches;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The file that is read where none is named.
const DEFAULT: &str = "assay.toml";

/// What a file that lists experiments says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Workspace {
    /// Experiment files, relative to this one; `*` and `?` in names fit as in a shell.
    experiments: Vec<String>,
    /// Seconds of measuring for all together; default: the sum of their own.
    budget: Option<f64>,
}

/// Experiments to measure.
#[derive(Debug, PartialEq)]
pub struct ListedExperiments {
    /// The files, each once.
    pub experiments: Vec<PathBuf>,
    /// Seconds of measuring for all together, where that is asked for.
    pub budget: Option<f64>,
}

/// The experiments of the files that are named. `budget` is the command line's.
///
/// # Errors
/// [`Misuse`]: no file is named and there is no `assay.toml`; a list is wrong, or a pattern of it fits no file.
pub fn listed(files: &[PathBuf], budget: Option<f64>) -> Result<ListedExperiments> {
    let default = [PathBuf::from(DEFAULT)];
    let files = if files.is_empty() { &default[..] } else { files };
    if files == default && !default[0].exists() {
        let what = format!("name an experiment file, or list several in {DEFAULT}");
        return Err(Misuse(format!("{what}; `assay new NAME` writes an experiment to start from")).into());
    }
    let mut found = ListedExperiments { experiments: Vec::new(), budget: None };
    for file in files {
        match workspace(file)? {
            None => add(&mut found.experiments, file.clone()),
            Some(listed) => {
                for pattern in &listed.experiments {
                    let folder = file.parent().unwrap_or(Path::new(""));
                    let mut fitting = fitting(folder, pattern);
                    fitting.retain(|found| found != file);
                    if fitting.is_empty() {
                        let why = format!("{}: `{pattern}` in `experiments` fits no file", file.display());
                        return Err(Misuse(why).into());
                    }
                    for experiment in fitting {
                        add(&mut found.experiments, experiment);
                    }
                }
                found.budget = match (found.budget, listed.budget) {
                    (Some(one), Some(other)) => Some(one + other),
                    (one, other) => one.or(other),
                };
            }
        }
    }
    found.budget = budget.or(found.budget);
    Ok(found)
}

fn add(all: &mut Vec<PathBuf>, file: PathBuf) {
    if !all.contains(&file) {
        all.push(file);
    }
}

/// What a file says if it lists experiments; nothing if it is one, or cannot be read: who measures it tells that.
fn workspace(file: &Path) -> Result<Option<Workspace>> {
    let Ok(text) = given::read_text(file) else { return Ok(None) };
    let lists = text.parse::<toml_edit::DocumentMut>().is_ok_and(|table| table.contains_key("experiments"));
    if !lists {
        return Ok(None);
    }
    let wrong = |why: String| Misuse(format!("{}: {}", file.display(), why.trim_end()));
    let found: Workspace = toml_edit::de::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if found.experiments.is_empty() {
        return Err(wrong("`experiments` lists no file".into()).into());
    }
    if found.budget.is_some_and(|budget| !(budget.is_finite() && budget > 0.0)) {
        return Err(wrong("`budget` is a positive number of seconds for all together".into()).into());
    }
    Ok(Some(found))
}

/// The files below a folder that fit a pattern, in the order of their names.
fn fitting(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut places = vec![folder.to_owned()];
    for part in Path::new(pattern).components() {
        let name = part.as_os_str().to_string_lossy();
        if name.contains(['*', '?']) {
            places = places.iter().flat_map(|place| names(place, &name)).collect();
        } else {
            places.iter_mut().for_each(|place| place.push(part));
        }
    }
    places.retain(|place| place.is_file());
    places
}

fn names(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = std::fs::read_dir(here).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name()).filter(|name| {
        let name = name.to_string_lossy();
        matches(pattern, &name) && (!name.starts_with('.') || pattern.starts_with('.'))
    });
    let mut found: Vec<PathBuf> = names.map(|name| folder.join(name)).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        folder
    }

    #[test]
    fn a_list_names_files_beside_it_each_once() {
        let listing = "experiments = [\"b/*.toml\", \"a.toml\", \"b/x.toml\"]\nbudget = 12";
        let files =
            [("all.toml", listing), ("a.toml", ""), ("b/y.toml", ""), ("b/x.toml", ""), ("b/.z.toml", "")];
        let folder = folder(&files);
        let at = |name: &str| folder.path().join(name);
        let found = listed(&[at("all.toml"), at("a.toml")], None).expect("a good list");
        assert_eq!(found.experiments, [at("b/x.toml"), at("b/y.toml"), at("a.toml")]);
        assert_eq!(found.budget, Some(12.0));
        assert_eq!(listed(&[at("all.toml")], Some(3.0)).expect("a good list").budget, Some(3.0));
    }

    #[test]
    fn a_list_does_not_list_itself() {
        let listing = "experiments = [\"*.toml\"]";
        let folder = folder(&[("assay.toml", listing), ("a.toml", "")]);
        let found = listed(&[folder.path().join("assay.toml")], None).expect("a good list");
        assert_eq!(found.experiments, [folder.path().join("a.toml")]);
        std::fs::remove_file(folder.path().join("a.toml")).expect("removed");
        let error = listed(&[folder.path().join("assay.toml")], None).expect_err("no other file").to_string();
        assert!(error.contains("fits no file"), "{error}");
    }

    #[test]
    fn what_is_wrong_with_a_list_is_told() {
        let wrong = [
            ("none.toml", "experiments = []", "lists no file"),
            ("gone.toml", "experiments = [\"gone/*.toml\"]", "`gone/*.toml` in `experiments` fits no file"),
            ("budget.toml", "experiments = [\"none.toml\"]\nbudget = 0", "positive number"),
            ("key.toml", "experiments = [\"none.toml\"]\nbudgett = 3", "budgett"),
        ];
        let folder = folder(&wrong.map(|(name, text, _)| (name, text)));
        for (name, _, why) in wrong {
            let error = listed(&[folder.path().join(name)], None).expect_err(name).to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
