//! Whole experiment files and everything that is said of them, word for word: `NAME.toml` beside `NAME.expected`. A file
//! without an expectation must be read without complaint.

use std::fs;
use std::path::{Path, PathBuf};

use assay_pure::experiment::Experiment;

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/experiment_files");
    let entries = fs::read_dir(folder).expect("the folder of files");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    files
}

/// Everything said of a file, a blank line between any two problems; empty if it is read.
fn complaints(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a readable file");
    let name = path.file_name().expect("a file").to_string_lossy();
    match Experiment::from_toml(&text, &name) {
        Ok(_) => String::new(),
        Err(problems) => problems.iter().map(|problem| format!("{problem}\n")).collect::<Vec<_>>().join("\n"),
    }
}

#[test]
fn says_of_each_file_what_is_expected_word_for_word() {
    let files = files();
    assert!(files.len() > 15, "only {} files", files.len());
    let mut different = Vec::new();
    for path in files {
        let found = complaints(&path);
        let expected = path.with_extension("expected");
        let expected =
            if expected.exists() { fs::read_to_string(expected).expect("readable") } else { String::new() };
        if found != expected {
            different.push(format!("=== {}\n{found}", path.display()));
        }
    }
    assert!(different.is_empty(), "said otherwise:\n{}", different.join("\n"));
}

#[test]
fn keeps_every_complaint_within_80_columns() {
    for path in files() {
        for line in complaints(&path).lines() {
            assert!(
                line.chars().count() <= 80,
                "{}: {} columns: {line}",
                path.display(),
                line.chars().count()
            );
        }
    }
}

#[test]
fn points_every_complaint_at_text_that_is_there() {
    for path in files() {
        let text = fs::read_to_string(&path).expect("a readable file");
        for problem in Experiment::from_toml(&text, "x.toml").err().unwrap_or_default() {
            let line = text.lines().nth(problem.line - 1).unwrap_or_default();
            assert_eq!(problem.source_line, line, "{problem}");
            let end = problem.column - 1 + problem.length;
            // One column past the end is where something is missing.
            assert!(end <= line.chars().count() + 1, "{problem}");
        }
    }
}

#[test]
fn survives_truncations_and_wrong_letters_everywhere() {
    let mut refused = 0;
    for (file, path) in files().iter().enumerate() {
        let text = fs::read_to_string(path).expect("a readable file");
        // Each place is damaged in one of three ways, which take turns; in the next file another one begins.
        for (place, (at, letter)) in text.char_indices().enumerate() {
            let rest = &text[at + letter.len_utf8()..];
            let broken = match (file + place) % 3 {
                0 => text[..at].to_owned(),
                1 => format!("{}{rest}", &text[..at]),
                _ => format!("{}ä{rest}", &text[..at]),
            };
            for problem in Experiment::from_toml(&broken, "x.toml").err().unwrap_or_default() {
                let line = broken.lines().nth(problem.line - 1).unwrap_or_default();
                assert!(
                    problem.column - 1 + problem.length <= line.chars().count() + 1,
                    "{problem}\n{broken}"
                );
                assert!(problem.to_string().starts_with("x.toml:"));
                refused += 1;
            }
        }
    }
    assert!(refused > 1000, "only {refused} complaints: the files were not broken");
}
