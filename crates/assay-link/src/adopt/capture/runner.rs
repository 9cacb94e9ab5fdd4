//! What cargo starts benchmarks through (`CARGO_TARGET_..._RUNNER`): criterion takes how long it measures from its own words
//! only, and measures 8 s for each benchmark otherwise, so one run of a suite of twenty took three minutes.
//!
//! The stand-in adds those words that the user has not given, and becomes the program. Which program is criterion's is read
//! from its file: one without criterion, such as the test harness of the crate's library, would refuse the words. An option
//! is only given where the program knows its name, as older versions lack some.
//! Limits: a runner of the user's own, in the environment or in a configuration of cargo's, stays, and criterion then measures
//! as long as it likes.

use super::CRITERION_VARIABLE;
use super::started::{LIST_VARIABLE, write_down};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The name of the stand-in. Without its folder, which may have blanks: cargo would take them for words.
pub const NAME: &str = "assay-runner";

/// criterion's options that are given: the name, and the value where it is not the time.
const OPTIONS: [(&str, Option<&str>); 5] = [
    ("warm-up-time", None),
    ("measurement-time", None),
    ("sample-size", Some("10")),
    ("nresamples", Some("1000")),
    ("noplot", Some("")),
];
/// With one of these criterion is asked for something else than to measure, or has its own way to be quick.
const OTHERS: [&str; 5] = ["--list", "--test", "--profile-time", "--quick", "--load-baseline"];

/// What has cargo start programs through us; nothing where the user has a runner.
pub fn variables(folder: &Path, value: impl Fn(&str) -> Option<OsString>) -> Vec<(String, OsString)> {
    let arch = std::env::consts::ARCH.to_uppercase();
    let names = ["GNU", "MUSL"].map(|libc| format!("CARGO_TARGET_{arch}_UNKNOWN_LINUX_{libc}_RUNNER"));
    if names.iter().any(|name| value(name).is_some())
        || has_runner(folder, value("CARGO_HOME"), value("HOME"))
    {
        return Vec::new();
    }
    names.into_iter().map(|name| (name, NAME.into())).collect()
}

/// Whether one of cargo's configurations may have a runner.
fn has_runner(folder: &Path, cargo_home: Option<OsString>, home: Option<OsString>) -> bool {
    let own = cargo_home.map(PathBuf::from).or_else(|| Some(PathBuf::from(home?).join(".cargo")));
    let folders = folder.ancestors().map(|folder| folder.join(".cargo")).chain(own);
    let mut files = folders.flat_map(|folder| ["config.toml", "config"].map(|name| folder.join(name)));
    files.any(|file| fs::read_to_string(file).is_ok_and(|text| text.contains("runner")))
}

/// Becomes the program, or writes down that it would. The first word is the program.
///
/// # Errors
/// It cannot become the program, or not be written down.
pub fn become_program(words: &[OsString]) -> io::Result<()> {
    let Some((program, own)) = words.split_first() else { return Err(io::ErrorKind::InvalidInput.into()) };
    if let Some(list) = std::env::var_os(LIST_VARIABLE) {
        return write_down(words, Path::new(&list));
    }
    let mut command = Command::new(program);
    command.args(own);
    if let Some(seconds) = std::env::var_os(CRITERION_VARIABLE)
        && let Ok(bytes) = fs::read(program)
    {
        command.args(further(own, &bytes, &seconds));
    }
    Err(command.exec())
}

/// The words that are added to the user's.
fn further(own: &[OsString], program: &[u8], seconds: &OsStr) -> Vec<OsString> {
    let knows = |name: &str| memchr::memmem::find(program, name.as_bytes()).is_some();
    let given = |option: &str| {
        own.iter().any(|word| {
            word.to_str()
                .and_then(|word| word.strip_prefix(option))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
    };
    if !knows("CRITERION_HOME")
        || !own.iter().any(|word| word == "--bench")
        || OTHERS.iter().any(|option| given(option))
    {
        return Vec::new();
    }
    let mut all = Vec::new();
    for (name, value) in OPTIONS {
        let option = format!("--{name}");
        if given(&option) || !knows(name) {
            continue;
        }
        all.push(option.into());
        match value {
            None => all.push(seconds.to_owned()),
            Some("") => (),
            Some(value) => all.push(value.into()),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const CRITERION: &[u8] = b"..CRITERION_HOME..warm-up-timemeasurement-timesample-sizenoplot..";

    fn added(own: &str, program: &[u8]) -> String {
        let own: Vec<OsString> = own.split_whitespace().map(OsString::from).collect();
        let words = further(&own, program, OsStr::new("0.01"));
        words.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn criterion_is_told_what_the_user_has_not_said_and_it_knows() {
        let all = "--warm-up-time 0.01 --measurement-time 0.01 --sample-size 10 --noplot";
        assert_eq!(added("--bench", CRITERION), all);
        let rest = "--warm-up-time 0.01 --noplot";
        assert_eq!(added("--measurement-time=2 --sample-size 50 --bench", CRITERION), rest);
    }

    #[test]
    fn other_programs_and_other_questions_get_no_words() {
        assert_eq!(added("--bench", b"libtest's own harness: sample-size"), "");
        for own in ["--bench --list", "--bench --profile-time=5", "--bench --quick", ""] {
            assert_eq!(added(own, CRITERION), "", "{own}");
        }
    }

    #[test]
    fn a_runner_of_the_users_stays() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("a/b");
        fs::create_dir_all(&below).unwrap();
        let none = |_: &str| None;
        assert_eq!(variables(&below, none).len(), 2);
        let theirs = |name: &str| name.ends_with("GNU_RUNNER").then(|| OsString::from("perf stat"));
        assert!(variables(&below, theirs).is_empty());
        fs::create_dir(folder.path().join(".cargo")).unwrap();
        fs::write(folder.path().join(".cargo/config.toml"), "[target.x]\nrunner = 'wine'\n").unwrap();
        assert!(variables(&below, none).is_empty());
    }
}
