//! Builds a program with records of its branches and runs it with a reader, for `run.py`.
//!
//! Usage: log_costs build STORE COMPILER INCLUDE SOURCES..., which prints the paths of the program as built and of the one that logs;
//! log_costs read PASSES STORE COMPILER INCLUDE SOURCES..., which runs the second while its log is walked, as `assay run` does.

use assay_link::build::{Builder, Link, LoggingProgram, find_compilers};
use assay_pure::experiment::spec::{FlagSet, Program};
use assay_pure::trace::{Branch, BranchSite};
use assay_trace::{LogSession, Observer, TraceMark};
use std::path::Path;
use std::process::Command;

/// Counts branches in regions and keeps nothing.
#[derive(Default)]
struct Counter(u64);

impl Observer for Counter {
    fn branches(&mut self, _: &[BranchSite], branches: &[Branch]) {
        self.0 += branches.len() as u64;
    }

    fn mark(&mut self, _: TraceMark) {}
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.split_first() {
        Some((verb, rest)) if verb == "build" => {
            let program = build(rest);
            println!("{}\n{}", program.plain.display(), program.logging.display());
        }
        Some((verb, [passes, rest @ ..])) if verb == "read" => read(passes, &build(rest)),
        _ => panic!("build or read"),
    }
}

fn build(words: &[String]) -> LoggingProgram {
    let [store, compiler, include, sources @ ..] = words else { panic!("STORE COMPILER INCLUDE SOURCES") };
    let builder = Builder::new(Path::new(store)).expect("a store");
    let program = Program {
        sources: sources.to_vec(),
        build: None,
        include_dirs: vec![include.clone()],
        flags: Vec::new(),
        link_flags: Vec::new(),
    };
    let flags = FlagSet { name: "O2".into(), flags: vec!["-O2".into()], allow_unoptimised: true };
    let compilers = find_compilers(std::slice::from_ref(compiler)).unwrap_or_else(|error| panic!("{error}"));
    let recipe = builder.compile(Path::new("."), &program, &flags, &compilers[0]).expect("it compiles");
    let measured = builder.link(&recipe, Link::AsBuilt).expect("it links");
    builder.instrument(&recipe, &measured).unwrap_or_else(|why| panic!("{sources:?}: {why}"))
}

fn read(passes: &str, program: &LoggingProgram) {
    let session = LogSession::open(&program.plain, &program.table, Counter::default()).expect("a session");
    let (name, value) = session.variable();
    let output = Command::new(&program.logging).arg(passes).env(name, value).output().expect("it starts");
    let (counter, followed) = session.finish();
    followed.unwrap_or_else(|why| panic!("{why}"));
    print!("{}", String::from_utf8_lossy(&output.stdout));
    println!("{}", counter.0);
}
