//! How calls are made in each state and measure, told by a program that records where it was called: without a clock.

use crate::support::{self, build, compilers, input, repository, talk};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const CALL: u32 = 0;
const PREPARED: u32 = 1;
const FRESH: u32 = 2;

/// One line of the recorder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Record {
    address: u64,
    size: u64,
}

/// What was recorded while one request was served.
struct Recorded {
    calls: Vec<Record>,
    prepared: Vec<Record>,
    released: Vec<Record>,
    replies: Vec<String>,
}

fn recorder() -> PathBuf {
    let source = repository().join("fixtures/states/recorder.c");
    build(compilers(&["gcc", "clang"])[0], &["-O2", "-std=gnu17"], &[source], "recorder")
}

/// Three windows of 256, 512 and 3328 bytes of 4096; measures once, as asked.
fn measure(program: &Path, request: &str) -> Recorded {
    let requests = format!(
        "load id=0 size=4096 units=3 windows=3 path={}\nwindow 0 256 1\nwindow 256 512 1\nwindow 768 3328 1\n\
         measure input=0 warmup=0 {request}\nbye\n",
        input().display()
    );
    let conversation = talk(program, requests.as_bytes(), 1 << 16, "60");
    assert_eq!(conversation.code, 0, "{}", conversation.stderr);
    let of = |word: &str| -> Vec<Record> {
        let lines = conversation.stderr.lines().filter_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
        let hex = |text: &str| u64::from_str_radix(text, 16).expect("the recorder writes hexadecimal");
        lines
            .map(|line| line.split_once(' ').expect("two numbers"))
            .map(|(address, size)| Record { address: hex(address), size: hex(size) })
            .collect()
    };
    let mut calls = of("call");
    calls.extend(of("run"));
    Recorded { calls, prepared: of("prepare"), released: of("release"), replies: conversation.lines() }
}

/// The windows that calls got, by their sizes.
fn windows(recorded: &Recorded) -> Vec<usize> {
    recorded
        .calls
        .iter()
        .map(|call| [256, 512, 3328].iter().position(|size| *size == call.size).expect("a window"))
        .collect()
}

/// Where the input or copy begins that a call got its window of.
fn begin(call: &Record) -> u64 {
    call.address
        - [(256, 0), (512, 256), (3328, 768)].iter().find(|(size, _)| *size == call.size).expect("a window").1
}

/// A script that starts the program with one more variable.
fn with_environment(program: &Path, variable: &str, name: &str) -> PathBuf {
    let wrapper = support::scratch(name);
    let program = program.canonicalize().expect("it was built");
    let script = format!("#!/bin/sh\n{variable} exec '{}'\n", program.display());
    std::fs::write(&wrapper, script).expect("the scratch directory is writable");
    let made = Command::new("chmod").arg("+x").arg(&wrapper).status().expect("chmod starts");
    assert!(made.success());
    wrapper
}

#[test]
fn what_all_calls_read_is_cold_for_one_call_of_a_sample() {
    let wrapper = with_environment(&recorder(), "ASSAY_DECLARE=1", "recorder-declares.sh");
    let two = measure(&wrapper, &format!("variant={CALL} window=0 iterations=2 samples=1 state=cold_data"));
    assert!(two.calls.is_empty() && two.replies.iter().any(|line| line.contains("one call per sample")));
    assert!(two.replies.iter().any(|line| line.ends_with(" declared=1")), "{:?}", two.replies);
    let one = measure(&wrapper, &format!("variant={CALL} window=0 iterations=1 samples=3 state=cold_data"));
    assert_eq!(windows(&one), [0, 1, 2]);
}

#[test]
fn hot_calls_get_one_input_window_after_window() {
    let program = recorder();
    for asked in ["", "state=hot", "measure=latency"] {
        let recorded =
            measure(&program, format!("variant={CALL} window=1 iterations=4 samples=2 {asked}").trim_end());
        assert_eq!(windows(&recorded), [1, 2, 0, 1, 2, 0, 1, 2], "{asked}");
        let begins: BTreeSet<u64> = recorded.calls.iter().map(begin).collect();
        assert_eq!(begins.len(), 1, "{asked}: one copy, the input itself");
    }
}

#[test]
fn rotating_calls_get_every_copy_once_before_any_again() {
    let recorded = measure(
        &recorder(),
        &format!("variant={CALL} window=0 iterations=10 samples=3 state=rotating copies=5"),
    );
    assert_eq!(windows(&recorded)[..4], [0, 1, 2, 0]);
    let begins: Vec<u64> = recorded.calls.iter().map(begin).collect();
    assert_eq!(begins.len(), 30);
    for turn in begins.chunks_exact(5) {
        assert_eq!(turn.iter().collect::<BTreeSet<_>>().len(), 5, "{begins:x?}");
        assert_eq!(turn, &begins[..5], "the order is the same every time");
    }
    let mut places = begins[..5].to_vec();
    places.sort_unstable();
    assert_ne!(places, begins[..5], "the order is not that of the addresses");
    let apart: BTreeSet<u64> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(apart.len(), 1, "equally far apart");
    let apart = *apart.first().expect("five places");
    assert!(apart >= 4096 + 64 && apart % 128 == 64, "padding, and an odd number of lines: {apart}");
}

#[test]
fn rotating_states_are_prepared_from_each_copy_and_released() {
    let recorded = measure(
        &recorder(),
        &format!("variant={PREPARED} window=0 iterations=3 samples=2 state=rotating copies=3"),
    );
    assert_eq!(recorded.prepared.len(), 3);
    let begins: Vec<u64> = recorded.calls.iter().map(|call| call.address).collect();
    let made: Vec<u64> = recorded.prepared.iter().map(|state| state.address).collect();
    assert_eq!(begins, [made.clone(), made.clone()].concat(), "made in the order in which they are taken");
    assert_eq!(made.iter().collect::<BTreeSet<_>>().len(), 3);
    assert_eq!(recorded.released, recorded.prepared);
}

#[test]
fn cold_calls_visit_no_window_twice_in_a_sample() {
    let program = recorder();
    for step in [1, 2, 5] {
        let recorded = measure(
            &program,
            &format!("variant={CALL} window=2 iterations=3 samples=4 state=cold_data step={step}"),
        );
        for sample in windows(&recorded).chunks_exact(3) {
            assert_eq!(sample.iter().collect::<BTreeSet<_>>().len(), 3, "step {step}: {sample:?}");
        }
        let expected: Vec<usize> = (0..12).map(|call| (2 + call * step) % 3).collect();
        assert_eq!(windows(&recorded), expected);
    }
}

#[test]
fn cold_code_is_one_call_a_sample_on_the_input_itself() {
    let recorded =
        measure(&recorder(), &format!("variant={CALL} window=0 iterations=1 samples=4 state=cold_code"));
    if recorded.replies.iter().any(|line| line.starts_with("error")) {
        eprintln!("skipped: {:?}", recorded.replies);
        return;
    }
    assert_eq!(windows(&recorded), [0, 1, 2, 0]);
    assert_eq!(recorded.calls.iter().map(begin).collect::<BTreeSet<_>>().len(), 1);
}

#[test]
fn the_address_of_a_call_that_waits_is_made_of_the_last_answer() {
    let program = recorder();
    let wrapper = with_environment(&program, "ASSAY_NOT_ZERO=1", "recorder-not-zero.sh");
    let requests = |measure: &str| {
        format!(
            "load id=0 size=4096 units=2 windows=2 path={}\nwindow 1 16 1\nwindow 100 16 1\n\
             measure variant={CALL} input=0 window=0 iterations=4 warmup=0 samples=1 {measure}\nbye\n",
            input().display()
        )
    };
    let addresses = |measure: &str| -> Vec<u64> {
        let stderr = talk(&wrapper, requests(measure).as_bytes(), 1 << 16, "60").stderr;
        let lines = stderr.lines().filter_map(|line| line.strip_prefix("call "));
        let first = |line: &str| {
            u64::from_str_radix(line.split(' ').next().expect("an address"), 16).expect("hexadecimal")
        };
        lines.map(first).map(|address| address % 4096).collect()
    };
    // Byte i is i. With a "zero" of 1, the call after an odd answer is one byte further on.
    assert_eq!(addresses("measure=throughput"), [1, 100, 1, 100]);
    assert_eq!(
        addresses("measure=latency"),
        [1, 101, 2, 100],
        "of odd answers 1 and 101, then of the even 2"
    );
}

/// What happened to fresh states while one request was served, as (word, address) in order; what was tried to learn the
/// cost of a state left out.
fn fresh(variable: &str, request: &str) -> (Vec<(String, u64)>, Vec<String>) {
    let wrapper = with_environment(&recorder(), variable, &format!("recorder-{variable}.sh"));
    let requests = format!(
        "load id=0 size=4096 units=3 windows=3 path={}\nwindow 0 256 1\nwindow 256 512 1\nwindow 768 3328 1\n{request}\nbye\n",
        input().display()
    );
    let conversation = talk(&wrapper, requests.as_bytes(), 1 << 16, "60");
    assert_eq!(conversation.code, 0, "{}", conversation.stderr);
    let happened: Vec<(String, u64)> = conversation
        .stderr
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            let word = words.next().filter(|word| ["make", "spoil", "drop"].contains(word))?;
            Some((word.to_owned(), u64::from_str_radix(words.next()?, 16).ok()?))
        })
        .collect();
    let tried = match happened.iter().position(|(word, _)| word == "spoil") {
        Some(first) => {
            happened[..first].iter().rposition(|(word, _)| word == "drop").map_or(0, |last| last + 1)
        }
        None => 0,
    };
    (happened[tried..].to_vec(), conversation.lines())
}

#[test]
fn fresh_states_are_made_ahead_of_all_calls_of_a_sample_and_dropped_behind_them() {
    for asked in ["", " state=cold_data", " measure=latency"] {
        let request =
            format!("measure variant={FRESH} input=0 window=1 iterations=3 warmup=0 samples=2{asked}");
        let (happened, replies) = fresh("ASSAY_FRESH_KIB=0", &request);
        let words: Vec<&str> = happened.iter().map(|(word, _)| word.as_str()).collect();
        let sample = ["make", "make", "make", "spoil", "spoil", "spoil", "drop", "drop", "drop"];
        assert_eq!(words, [sample, sample].concat(), "{asked}");
        for sample in happened.chunks_exact(9) {
            let addresses =
                |from: usize| sample[from..from + 3].iter().map(|(_, at)| *at).collect::<Vec<_>>();
            assert_eq!(addresses(0), addresses(3), "each call gets its own");
            assert_eq!(addresses(0), addresses(6), "and all are dropped");
        }
        let (_, called) =
            fresh("ASSAY_FRESH_KIB=0", &request.replace(&format!("variant={FRESH}"), "variant=0"));
        let check = |replies: &[String]| -> Option<String> {
            let line = replies.iter().find(|line| line.starts_with("measured "))?;
            Some(line.split(' ').nth(1)?.to_owned())
        };
        assert_eq!(check(&replies), check(&called), "the answers of a call on the same windows");
        assert!(check(&replies).is_some(), "{replies:?}");
    }
}

#[test]
fn fresh_states_that_take_more_memory_than_they_may_are_refused_and_dropped() {
    let request = format!(
        "measure variant={FRESH} input=0 window=0 iterations=64 warmup=0 samples=1 fresh=8388608\n\
         measure variant={FRESH} input=0 window=0 iterations=4 warmup=0 samples=1 fresh=8388608"
    );
    let (_, replies) = fresh("ASSAY_FRESH_KIB=1024", &request);
    let refused = replies.iter().find(|line| line.starts_with("error ")).expect("64 MiB are more than 8");
    assert!(refused.contains("fresh_memory"), "{refused}");
    let measured = replies.iter().find(|line| line.starts_with("measured ")).expect("4 MiB are not");
    let cost: u64 =
        measured.split("state_bytes=").nth(1).and_then(|cost| cost.parse().ok()).expect("it is said");
    assert!((900_000..1_400_000).contains(&cost), "a state of 1 MiB costs {cost} bytes");
}

#[test]
fn a_traced_pass_over_fresh_states_goes_on_where_memory_ends() {
    let request = format!("trace variant={FRESH} input=0 window=0 windows=150 passes=1");
    let (happened, replies) = fresh("ASSAY_FRESH_KIB=1024", &request);
    assert!(replies.iter().any(|line| line.starts_with("traced units=150 ")), "{replies:?}");
    let spoilt = happened.iter().filter(|(word, _)| word == "spoil").count();
    assert_eq!(spoilt, 150);
    let (mut alive, mut most) = (0_i64, 0);
    for (word, _) in &happened {
        alive += match word.as_str() {
            "make" => 1,
            "drop" => -1,
            _ => 0,
        };
        most = most.max(alive);
    }
    assert!(alive == 0 && (30..100).contains(&most), "64 MiB hold {most} states of 1 MiB");
}
