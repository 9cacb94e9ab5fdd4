//! A whole program, built by a command.

use crate::observers::{Counter, Judge};
use assay_link::adopt::capture::{self, BuildAsked, InstrumentAsked, TextsAsked};
use assay_link::build::{LoggingProgram, Scope};
use assay_trace::Observer;
use assay_trace::logged::streams;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Prints a line for each turn.
pub fn measure(build: &str, command: &[String], turns: u64, predictors: &[String]) {
    let program = built(build, &command[0]);
    for _ in 0..turns {
        let native = timed(|| run(&program.plain, command));
        let thrown = timed(|| run(&program.logging, command));
        let mut branches = 0;
        let mut ways = vec![native, thrown, timed(|| branches = read(&program, command, Counter::default))];
        for predictor in predictors {
            let name = predictor.clone();
            ways.push(timed(|| _ = read(&program, command, move || Judge::new(&name))));
        }
        let ways: Vec<String> = ways.iter().map(|(own, whole)| format!("{own} {whole}")).collect();
        eprintln!("cell O2 {} whole {branches} {}", command[0], ways.join(" "));
    }
}

fn built(build: &str, program: &str) -> LoggingProgram {
    let store = Path::new(".assay/store");
    let mut asked = BuildAsked::new(build, Path::new("."), &store.join("links")).expect("a build");
    asked.texts = TextsAsked::Assembled;
    let built = capture::build(&asked, &|_| {}).unwrap_or_else(|why| panic!("{why}"));
    let program = Path::new(program).canonicalize().expect("it was built");
    let is_it = |path: &Path| path.canonicalize().is_ok_and(|path| path == program);
    let link = built.links.iter().find(|link| is_it(&link.output)).expect("it was linked");
    let made = link.instrument(&InstrumentAsked {
        measured: &link.output,
        scope: Scope::Program,
        into: &store.join("instrumented"),
        stand_ins: &built.assemblers,
    });
    made.unwrap_or_else(|why| panic!("{why}"))
}

/// Processor time of the programs that ran meanwhile, and the time that passed, nanoseconds.
fn timed(work: impl FnOnce()) -> (u64, u64) {
    let (before, began) = (children(), Instant::now());
    work();
    (children() - before, began.elapsed().as_nanos() as u64)
}

fn run(program: &Path, words: &[String]) {
    let status = Command::new(program).args(&words[1..]).stdout(Stdio::null()).status().expect("it starts");
    assert!(status.success(), "{words:?}: {status}");
}

/// Conditional branches of a run whose records are read.
fn read<O: Observer>(
    program: &LoggingProgram,
    words: &[String],
    observer: impl FnMut() -> O + Send + 'static,
) -> u64 {
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    let trace = streams::run(program, &words, None, observer).unwrap_or_else(|why| panic!("{why}"));
    let threads = trace.processes.iter().flat_map(|process| &process.threads);
    threads.map(|thread| thread.counts.conditional).sum()
}

/// Processor time of children that have ended, in ticks of 10 ms.
fn children() -> u64 {
    let text = std::fs::read_to_string("/proc/self/stat").expect("the kernel counts it");
    let behind = text.rsplit_once(')').expect("a name").1;
    // Fields 16 and 17, of which two are the id and the name.
    let ticks = behind.split_whitespace().skip(13).take(2).filter_map(|ticks| ticks.parse::<u64>().ok());
    ticks.sum::<u64>() * 10_000_000
}
