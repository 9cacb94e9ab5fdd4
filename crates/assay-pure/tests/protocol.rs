//! The lab's side of the protocol against PROTOCOL.md and against the vectors it shares with the programs.

use assay_pure::protocol::{MAX_LINE, Problem, Reply, Request, combine};
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).expect("a document of the repository is readable")
}

/// The lines of one section of harness/vectors.txt, comments left out.
fn vectors(section: &str) -> Vec<String> {
    let text = read("harness/vectors.txt");
    let header = format!("[{section}]");
    let lines: Vec<String> = text
        .lines()
        .skip_while(|line| **line != header)
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.replace("\\n", "\n"))
        .collect();
    assert!(!lines.is_empty(), "section {header} is empty");
    lines
}

/// Requests and replies of a transcript; the window lines that follow a load are part of it.
fn messages(lines: impl Iterator<Item = String>) -> (Vec<String>, Vec<String>) {
    let (mut requests, mut replies) = (Vec::<String>::new(), Vec::new());
    for line in lines {
        if let Some(request) = line.strip_prefix("> ") {
            match (request.starts_with("window "), requests.last_mut()) {
                (true, Some(load)) => load.push_str(&format!("\n{request}")),
                _ => requests.push(request.to_owned()),
            }
        } else if let Some(reply) = line.strip_prefix("< ") {
            replies.push(reply.to_owned());
        }
    }
    (requests, replies)
}

#[test]
fn every_line_of_the_documented_conversation_is_read_and_written_alike() {
    let document = read("PROTOCOL.md");
    let block = document.split("```transcript\n").nth(1).expect("PROTOCOL.md has a transcript");
    let block = block.split("```").next().expect("the transcript ends").to_owned();
    let (requests, replies) = messages(block.lines().map(str::to_owned));
    assert!(requests.len() >= 5 && replies.len() >= 12, "the transcript shows every message");
    for request in &requests {
        let parsed = Request::parse(request).unwrap_or_else(|error| panic!("{request}: {error}"));
        assert_eq!(parsed.to_text(), format!("{request}\n"));
    }
    for reply in &replies {
        let parsed = Reply::parse(reply).unwrap_or_else(|error| panic!("{reply}: {error}"));
        assert_eq!(parsed.to_text(), format!("{reply}\n"));
    }
}

#[test]
fn the_document_shows_every_reply_and_every_request() {
    let document = read("PROTOCOL.md");
    for start in [
        "assay 1 hello",
        "variant ",
        "ready ",
        "loaded ",
        "answer whole=",
        "sample ",
        "measured ",
        "traced ",
        "error ",
        "bye",
    ] {
        assert!(document.contains(&format!("\n< {start}")), "no example of a reply {start}");
    }
    for start in ["load ", "window ", "answer ", "measure ", "trace ", "bye"] {
        assert!(document.contains(&format!("\n> {start}")), "no example of a request {start}");
    }
    assert!(document.contains(&format!("at most {MAX_LINE} bytes")), "the document states the longest line");
}

#[test]
fn good_messages_survive_a_round_trip() {
    for line in vectors("good replies") {
        let reply = Reply::parse(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(reply.to_text(), format!("{line}\n"));
    }
    for text in vectors("good requests") {
        let request = Request::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(request.to_text(), format!("{text}\n"));
    }
}

#[test]
fn bad_messages_are_refused_with_their_line() {
    let mut replies = vectors("bad replies");
    replies.push(String::new());
    for line in replies {
        let error = Reply::parse(&line).expect_err(&line);
        assert_eq!(error.line, line);
        assert!(error.to_string().contains(&line), "{error}");
    }
    let mut requests = vectors("bad requests");
    requests.push(String::new());
    for text in requests {
        let error = Request::parse(&text).expect_err(&text);
        assert_eq!(error.line, text);
    }
}

#[test]
fn the_shared_transcript_has_only_messages_of_the_protocol() {
    let figures = |line: &String| {
        let line =
            line.replace("wall=*", "wall=1").replace("cpu=*", "cpu=1").replace("switches=*", "switches=0");
        let line = line
            .replace("before=*", "before=1,2")
            .replace("after=*", "after=1,2")
            .replace("front=*", "front=1,2");
        let line = line.replace("state_bytes=*", "state_bytes=1");
        line.replace("harness=*", "harness=c").replace("entry=*", "entry=1").replace("_ns=*", "_ns=1.00")
    };
    let (_, replies) = messages(vectors("transcript").into_iter());
    for reply in replies.iter().map(figures) {
        Reply::parse(&reply).unwrap_or_else(|error| panic!("{reply}: {error}"));
    }
}

#[test]
fn another_version_is_named_beside_ours_whatever_the_rest_of_the_line() {
    let error = Reply::parse("assay 2 greetings {\"colour\": \"blue\"}").expect_err("version 2 is not ours");
    assert_eq!(error.problem, Problem::Version { ours: 1, theirs: "2".to_owned() });
    let text = error.to_string();
    assert!(text.contains("version 2") && text.contains("version 1"), "{text}");
}

#[test]
fn an_offending_line_is_cut_and_escaped() {
    let line = format!("\u{1b}[31m{}", "é".repeat(300));
    let error = Reply::parse(&line).expect_err("not a message");
    assert!(error.line.starts_with("\\u{1b}[31m") && error.line.ends_with("é..."), "{}", error.line);
    assert_eq!(error.line.matches('é').count(), 195, "200 characters of the line, the escape counted as one");
    let error = Reply::parse_bytes(b"\xff\xfe\x00").expect_err("not text");
    assert_eq!(error.line, "\u{fffd}\u{fffd}\\0");
}

#[test]
fn a_line_longer_than_allowed_is_refused_even_where_it_would_parse() {
    let long = |bytes: usize| format!("error reason={}", "x".repeat(bytes - "error reason=".len()));
    assert!(Reply::parse(&long(MAX_LINE - 1)).is_ok(), "its newline makes it exactly as long as allowed");
    let error = Reply::parse(&long(MAX_LINE)).expect_err("one byte too long");
    assert_eq!(error.problem, Problem::TooLong { bytes: MAX_LINE + 1 });
}

#[test]
fn unknown_fields_are_ignored_so_that_a_version_can_gain_some() {
    let reply = Reply::parse("loaded colour=blue id=3").expect("an unknown field is no error");
    assert_eq!(reply, Reply::Loaded { id: 3 });
}

#[test]
fn a_newline_in_a_path_cannot_become_a_second_request() {
    let request = Request::Load { id: 0, size: 0, units: 0, windows: Vec::new(), path: "/a\nbye".to_owned() };
    assert_eq!(request.to_text(), "load id=0 size=0 units=0 windows=0 path=/a?bye\n");
}

#[test]
fn combining_answers_notices_their_order() {
    // By hand: 1 * k + 2, and the other way round 2 * k + 1.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    assert_eq!(combine(combine(0, 1), 2), FACTOR + 2);
    assert_eq!(combine(combine(0, 2), 1), FACTOR.wrapping_mul(2) + 1);
    assert_eq!(combine(0, 34), 34, "one answer is its own combination");
}

#[test]
fn answers_that_repeat_do_not_cancel_each_other() {
    // As many calls as a sample takes of one window, and of three: by rotation each of these is 0 for any answer.
    for period in [1, 3] {
        let answers = |first: u64| (0..64 * 128 * period).map(move |call| first + call % period);
        let check = |first| answers(first).fold(0, combine);
        assert_ne!(check(5), 0);
        assert_ne!(check(5), check(6));
    }
}
