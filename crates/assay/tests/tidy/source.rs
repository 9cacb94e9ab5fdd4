//! The text files of the repository, as git tracks them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// One text file.
pub struct File {
    /// Path from the root of the repository, with `/`.
    pub path: String,
    /// Its text.
    pub text: String,
}

impl File {
    /// For Rust sources below `crates/`: the crate's folder and the path below it, e.g. ("assay", "src/run/mod.rs").
    pub fn in_crate(&self) -> Option<(&str, &str)> {
        self.path.strip_prefix("crates/")?.split_once('/')
    }
}

/// Every file that is UTF-8 text. Tracked ones where git knows the folder; otherwise all but what builds leave behind.
pub fn tracked_files() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = from_git(&root).unwrap_or_else(|| from_folder(&root));
    paths.sort();
    paths
        .into_iter()
        .filter_map(|path| Some(File { text: std::fs::read_to_string(root.join(&path)).ok()?, path }))
        .collect()
}

fn from_git(root: &Path) -> Option<Vec<String>> {
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output().ok()?;
    let names = String::from_utf8(output.stdout).ok()?;
    let paths: Vec<String> = names.split('\0').filter(|name| !name.is_empty()).map(str::to_string).collect();
    (output.status.success() && !paths.is_empty()).then_some(paths)
}

fn from_folder(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(root.join(&folder)).expect("the repository can be read");
        for entry in entries.map(|entry| entry.expect("the repository can be read")) {
            let name = entry.file_name();
            let path = folder.join(&name);
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => {
                    if !["target", ".git", ".assay"].iter().any(|skipped| name == *skipped) {
                        folders.push(path);
                    }
                }
                _ => found.extend(path.to_str().map(str::to_string)),
            }
        }
    }
    found
}
