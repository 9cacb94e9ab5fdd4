//! The diaries that the repository ships, checked with the reader.

use assay_pure::stages::Diary;
use std::path::{Path, PathBuf};

/// Every STAGES.toml in a folder of fixtures or of the casebook.
fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let studies =
        std::fs::read_dir(root.join("casebook")).expect("the casebook").flatten().map(|entry| entry.path());
    let folders = studies.chain([root.join("fixtures/stages")]);
    let mut files: Vec<PathBuf> =
        folders.map(|folder| folder.join("STAGES.toml")).filter(|file| file.is_file()).collect();
    files.sort();
    files
}

#[test]
fn every_diary_is_read() {
    let files = files();
    assert!(!files.is_empty());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("it can be read");
        let diary = match Diary::from_toml(&text, &file.display().to_string()) {
            Ok(parsed) => parsed.diary,
            Err(problems) => {
                panic!("{}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
            }
        };
        assert!(diary.stages().count() > 1 && !diary.roles.is_empty(), "{}", file.display());
    }
}
