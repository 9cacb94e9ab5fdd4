//! The programs of fixtures/faults do what their table says, as seen on the channel; what the lab makes of it is tested
//! with the lab.

use crate::support::{Conversation, build, compilers, input, repository, talk};
use std::path::PathBuf;

const SIGSEGV: i32 = 128 + 11;
const SIGABRT: i32 = 128 + 6;
const HUNG: i32 = 124;

/// Builds a fixture with the first compiler found.
fn fixture(name: &str) -> PathBuf {
    let compiler = compilers(&["gcc", "clang"])[0];
    let source = repository().join(format!("fixtures/faults/{name}.c"));
    build(compiler, &["-Og", "-std=gnu17"], &[source], &format!("fault-{name}"))
}

/// Proves both variants' answers, then measures the second, three calls in one sample.
fn converse(name: &str) -> Conversation {
    let path = input();
    let load = format!("load id=0 size=4096 units=4096 windows=2 path={}\n", path.display());
    let requests = load
        + "window 0 2048 2048\nwindow 2048 2048 2048\nanswer variant=0 input=0\nanswer variant=1 input=0\n\
           measure variant=1 input=0 window=0 iterations=3 warmup=0 samples=1\nbye\n";
    let limit = if name.starts_with("hang") || matches!(name, "closes_channel" | "other_version") {
        "2"
    } else {
        "60"
    };
    talk(&fixture(name), requests.as_bytes(), 1 << 16, limit)
}

/// What `faulty` said after its answer, and the exit code.
fn measured(name: &str) -> (Vec<String>, i32) {
    let conversation = converse(name);
    let lines = conversation.lines();
    let answers: Vec<usize> = (0..lines.len()).filter(|&i| lines[i].starts_with("answer ")).collect();
    assert_eq!(answers.len(), 2, "{name}: {lines:#?}");
    assert_eq!(lines[answers[0]], lines[answers[1]], "{name}: the answers are right before measuring");
    (lines[answers[1] + 1..].to_vec(), conversation.code)
}

/// The check of an honest program for the request of [`converse`].
fn honest_check() -> String {
    let (lines, _) = measured("good");
    lines[1].clone()
}

#[test]
fn the_table_names_every_program_and_no_other() {
    let folder = repository().join("fixtures/faults");
    let table = std::fs::read_to_string(folder.join("README.md")).expect("the folder has a table");
    let mut named: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once(".c`"))
        .map(|(name, _)| name)
        .collect();
    let files =
        std::fs::read_dir(folder).expect("the folder is readable").map(|file| file.expect("readable").path());
    let mut found: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    named.sort_unstable();
    found.sort_unstable();
    assert_eq!(named, found);
}

#[test]
fn a_good_program_serves_every_kind() {
    let conversation = converse("good");
    let lines = conversation.lines();
    assert_eq!(lines.iter().filter(|line| line.starts_with("variant ")).count(), 5, "{lines:#?}");
    assert!(
        lines.iter().any(|line| line.ends_with("name=absent unavailable=no machine can run this")),
        "{lines:#?}"
    );
    assert!(lines.iter().all(|line| !line.starts_with("error")), "{lines:#?}");
    assert_eq!((lines.last().map(String::as_str), conversation.code), (Some("bye"), 0));
}

#[test]
fn programs_that_end_while_measured_say_nothing_more() {
    for (name, code) in [
        ("crash_in_measure", SIGSEGV),
        ("exit_in_measure", 0),
        ("allocates", SIGABRT),
        ("hang_in_measure", HUNG),
        ("closes_channel", HUNG),
    ] {
        assert_eq!(measured(name), (Vec::new(), code), "{name}");
    }
}

#[test]
fn programs_that_fail_at_the_start_never_get_ready() {
    for (name, code, said) in [
        ("crash_at_start", SIGSEGV, ""),
        ("exit_at_start", 3, ""),
        ("hang_at_start", HUNG, ""),
        ("not_assay", 0, "hello, world"),
        ("no_variant", 2, "error reason=the program registers no variant"),
        ("same_name", 2, "error reason=two variants are named \"plain\""),
        ("other_version", HUNG, "assay 2 hello harness=c variants=1 colour=blue"),
    ] {
        let conversation = converse(name);
        assert_eq!((conversation.lines().join("\n").as_str(), conversation.code), (said, code), "{name}");
        assert_eq!(
            conversation.stderr.contains("licence"),
            name == "exit_at_start",
            "{}",
            conversation.stderr
        );
    }
}

#[test]
fn programs_that_lie_about_time_do_so_in_every_sample() {
    for (name, wall) in [("zero_time", "0"), ("negative_time", "-98123"), ("absurd_time", "999999999999999")]
    {
        let (lines, code) = measured(name);
        assert!(
            lines[0].starts_with(&format!("sample index=0 warmup=0 wall={wall} cpu=")),
            "{name}: {lines:#?}"
        );
        assert_eq!((&lines[1], code), (&honest_check(), 0), "{name}");
    }
}

#[test]
fn programs_that_answer_wrongly_do_so_when_they_should() {
    let (lines, _) = measured("wrong_while_measured");
    assert_eq!(lines[1], "measured check=0000000000000000");
    assert_ne!(lines[1], honest_check());
    let lines = converse("wrong_answer").lines();
    let answers: Vec<&String> = lines.iter().filter(|line| line.starts_with("answer ")).collect();
    assert!(answers.len() == 2 && answers[0] != answers[1], "{answers:#?}");
}

#[test]
fn garbage_reaches_the_channel_between_good_lines() {
    let conversation = converse("garbage");
    assert!(conversation.replies.windows(3).any(|bytes| bytes == b"\x01\xff\xfe"));
    let longest = converse("endless_line").replies.split(|&byte| byte == b'\n').map(<[u8]>::len).max();
    assert!(longest >= Some(1 << 20), "{longest:?}");
}

#[test]
fn an_unfinished_loop_is_an_error_and_the_program_goes_on() {
    let lines = converse("unfinished_loop").lines();
    let errors =
        lines.iter().filter(|line| line.starts_with("error reason=") && line.contains("assay_next")).count();
    assert_eq!((errors, lines.last().map(String::as_str)), (2, Some("bye")), "{lines:#?}");
}

#[test]
fn noise_elsewhere_leaves_the_channel_alone() {
    // Standard output is the channel in these tests, so only what goes to standard error can be told from replies.
    let conversation = converse("megabyte");
    assert_eq!(conversation.stderr.len(), 1 << 20);
    assert!(conversation.lines().contains(&honest_check()));
}
