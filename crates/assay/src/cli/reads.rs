//! Which files a command reads, so that what it writes replaces none of them: `run e.toml --json e.toml` is a slip.
//!
//! Of an experiment, a diary or a shell's command every word counts that names a file, whatever it stands for there: sources, inputs,
//! scripts. Known limit: files that a script reads without being told are not seen.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A file, and those that it names from its folder, if it is a text.
pub fn of_text(file: &Path) -> Vec<PathBuf> {
    let text = assay_linux::given::read_text(file).unwrap_or_default();
    let folder = file.parent().unwrap_or(Path::new(""));
    [file.to_owned()].into_iter().chain(named(&text, folder)).collect()
}

/// Of the words of a shell's command that is executed in the current folder.
pub fn of_line(line: &str) -> Vec<PathBuf> {
    let program = line.split_whitespace().next().and_then(|word| on_path(word.as_ref()));
    program.into_iter().chain(named(line, Path::new(""))).collect()
}

/// Of a command and its arguments.
pub fn of_command(command: &[OsString]) -> Vec<PathBuf> {
    let program = command.first().and_then(|word| on_path(word));
    let words = command.iter().flat_map(|word| {
        let text = word.to_string_lossy();
        named(&text, Path::new("")).into_iter().chain([PathBuf::from(word)]).collect::<Vec<_>>()
    });
    program.into_iter().chain(words.filter(|path| path.is_file())).collect()
}

/// The files that a text names: whole between its quotes, or as words.
fn named(text: &str, folder: &Path) -> Vec<PathBuf> {
    let quoted = text.split(['"', '\'', '\n']);
    let words = text.split(|c: char| c.is_whitespace() || "\"'=,;:[](){}<>&|".contains(c));
    let mut names: Vec<&str> = quoted.chain(words).filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|name| folder.join(name)).filter(|path| path.is_file()).collect()
}

/// The program that a name without a folder leads to.
fn on_path(name: &std::ffi::OsStr) -> Option<PathBuf> {
    if Path::new(name).components().count() != 1 {
        return None;
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_that_names_a_file_counts_whatever_it_stands_for() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        for name in ["a.c", "two words.bin", "make.sh", "data", "not-named"] {
            std::fs::write(file(name), "").unwrap();
        }
        std::fs::create_dir(file("include")).unwrap();
        let text = "[program]\nsources = [\"a.c\", 'gone.c']\ninclude_dirs = [\"include\"]\n[inputs.x]\npath=\"two words.bin\"\n\
                    command = [\"sh\", \"make.sh\", \"--of=data\"]\n";
        std::fs::write(file("e.toml"), text).unwrap();
        let mut found = of_text(&file("e.toml"));
        found.sort();
        assert_eq!(found, ["a.c", "data", "e.toml", "make.sh", "two words.bin"].map(file));
    }

    #[test]
    fn a_command_reads_its_program_and_the_files_among_its_arguments() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        std::fs::write(&data, "").unwrap();
        let option = format!("--of={}", data.display());
        let found = of_command(&["sh".into(), option.into(), "nothing".into()]);
        assert_eq!((found.len(), &found[1]), (2, &data));
        assert!(found[0].ends_with("sh") && found[0].is_file());
        assert_eq!(of_line(&format!("cat <{}", data.display())).last(), Some(&data));
    }
}
