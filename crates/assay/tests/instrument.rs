//! Does the log of an instrumented program hold every branch that the emulator sees, in order, with target, outcome and
//! instructions? Programs: `fixtures/instrument`. Limits: x86-64 only; skipped with the reason where a compiler or the emulator is missing.

mod captured;
mod random;
mod rust;
mod whole;

use crate::trace_fixtures;
use assay_link::build::{Builder, Compiler, Link, LoggingProgram, find_compilers};
use assay_pure::experiment::spec::{FlagSet, Program};
use assay_pure::trace::{Branch, BranchSite};
use assay_trace::{LogSession, Observer, TraceMark, TraceOptions};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// All branches between marks: address, target, class, taken, instructions.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    open: bool,
    branches: Vec<(u64, u64, u8, bool, u32)>,
    /// Marks, and how many branches there were before.
    marks: Vec<(TraceMark, usize)>,
}

impl Observer for Seen {
    fn branches(&mut self, sites: &[BranchSite], branches: &[Branch]) {
        for branch in branches.iter().filter(|_| self.open) {
            assert_eq!(sites[branch.site as usize].pc, branch.pc);
            let (bits, taken) = (branch.class().bits(), branch.taken());
            self.branches.push((branch.pc, branch.target, bits, taken, branch.instructions()));
        }
    }

    fn mark(&mut self, mark: TraceMark) {
        self.open = matches!(mark, TraceMark::RegionBegins { .. });
        self.marks.push((mark, self.branches.len()));
    }
}

/// Conditional branches between marks.
#[derive(Default)]
struct Conditionals {
    open: bool,
    count: u64,
}

impl Observer for Conditionals {
    fn branches(&mut self, _: &[BranchSite], branches: &[Branch]) {
        if self.open {
            self.count += branches.iter().filter(|branch| branch.class().is_conditional()).count() as u64;
        }
    }

    fn mark(&mut self, mark: TraceMark) {
        self.open = matches!(mark, TraceMark::RegionBegins { .. });
    }
}

/// gcc and clang, as far as they are here; none without the emulator.
fn compilers() -> Vec<Compiler> {
    if !cfg!(target_arch = "x86_64") {
        println!("skipped: only x86-64 is instrumented");
        return Vec::new();
    }
    if let Err(refusal) = assay_trace::available(Some(trace_fixtures::plugin())) {
        println!("skipped: {refusal}");
        return Vec::new();
    }
    let find = |name: &str| find_compilers(&[name.to_owned()]).unwrap_or_default();
    let found: Vec<Compiler> = ["gcc", "clang"].into_iter().flat_map(find).collect();
    if found.is_empty() {
        println!("skipped: there is neither gcc nor clang");
    }
    found
}

/// Builds sources of a folder both ways.
fn build_in(
    folder: &Path,
    store: &tempfile::TempDir,
    sources: &[&str],
    compiler: &Compiler,
    flags: &[&str],
) -> Result<LoggingProgram, String> {
    let builder = Builder::new(store.path()).expect("a store");
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    let program = Program {
        sources: words(sources),
        build: None,
        include_dirs: Vec::new(),
        flags: Vec::new(),
        link_flags: Vec::new(),
    };
    let flags = FlagSet { name: "set".into(), flags: words(flags), allow_unoptimised: true };
    let recipe = builder.compile(folder, &program, &flags, compiler).expect("it compiles");
    let measured = builder.link(&recipe, Link::AsBuilt).expect("it links");
    builder.instrument(&recipe, &measured)
}

/// Builds sources of the fixtures both ways.
fn build(
    store: &tempfile::TempDir,
    sources: &[&str],
    compiler: &Compiler,
    flags: &[&str],
) -> Result<LoggingProgram, String> {
    build_in(&fixtures(), store, sources, compiler, flags)
}

fn fixtures() -> PathBuf {
    trace_fixtures::root().join("fixtures/instrument")
}

/// Runs the program that logs; no log if it needs more than `seconds`.
fn logged<O: Observer + Default>(
    program: &LoggingProgram,
    seconds: Option<u64>,
) -> Option<(O, Result<(), String>)> {
    let session = LogSession::open(&program.plain, &program.table, O::default()).expect("a session");
    let (name, value) = session.variable();
    let mut command = Command::new(&program.logging);
    let mut child = command.env(name, value).stdout(Stdio::null()).spawn().expect("it starts");
    let limit = seconds.map(Duration::from_secs);
    let (status, killed) = assay_linux::wait::wait_or_kill(&mut child, limit).expect("it ends");
    let seen = session.finish();
    assert!(killed || status.success(), "{} ended with {status}", program.plain.display());
    (!killed).then_some(seen)
}

/// Whether a program as built ends by itself, with 0: compilers make anything of one whose loop never ends.
fn ends_well(program: &Path, seconds: Option<u64>) -> bool {
    let mut child = Command::new(program).stdout(Stdio::null()).spawn().expect("it starts");
    let limit = seconds.map(Duration::from_secs);
    let (status, killed) = assay_linux::wait::wait_or_kill(&mut child, limit).expect("it ends");
    !killed && status.success()
}

/// What came of a comparison without a difference.
#[derive(Debug)]
enum Compared {
    /// All is equal.
    Equal { branches: usize },
    /// It is not instrumented, and why.
    Refused(String),
    /// It runs too long, or does not end with 0 as built.
    Slow,
}

/// Compares the log of a program with what the emulator sees of the measured one. The error: what differs.
fn compare(
    folder: &Path,
    sources: &[&str],
    compiler: &Compiler,
    flags: &[&str],
    seconds: Option<u64>,
) -> Result<Compared, String> {
    let store = tempfile::tempdir().expect("a store");
    let program = match build_in(folder, &store, sources, compiler, flags) {
        Ok(program) => program,
        Err(why) => return Ok(Compared::Refused(why)),
    };
    compare_built(&program, seconds)
}

/// The same of what was built.
fn compare_built(program: &LoggingProgram, seconds: Option<u64>) -> Result<Compared, String> {
    if seconds.is_some() && !ends_well(&program.plain, seconds) {
        return Ok(Compared::Slow);
    }
    let Some((seen, followed)) = logged::<Seen>(program, seconds) else { return Ok(Compared::Slow) };
    followed?;
    let options =
        TraceOptions { plugin: Some(trace_fixtures::plugin().to_owned()), ..TraceOptions::default() };
    let command = [program.plain.clone().into_os_string()];
    let traced =
        assay_trace::command(&command, &options, Seen::default).unwrap_or_else(|refusal| panic!("{refusal}"));
    let emulated = &traced.processes[0].threads[0].observer;
    let differ = emulated.branches.iter().zip(&seen.branches).position(|(one, other)| one != other);
    if let Some(at) = differ {
        let (one, other) = (emulated.branches.get(at), seen.branches.get(at));
        return Err(format!("branch {at}: {one:x?} emulated, {other:x?} logged"));
    }
    if (emulated.branches.len(), &emulated.marks) != (seen.branches.len(), &seen.marks) {
        return Err(format!("{} branches emulated, {} logged", emulated.branches.len(), seen.branches.len()));
    }
    Ok(Compared::Equal { branches: seen.branches.len() })
}

/// The log of the program equals what the emulator sees of the measured one.
fn is_as_emulated(sources: &[&str], flags: &[&str]) {
    for compiler in compilers() {
        match compare(&fixtures(), sources, &compiler, flags, None) {
            Ok(Compared::Equal { branches }) => assert!(branches > 1000, "the region executes branches"),
            // clang encodes some instructions otherwise than its assembler: refused, not miscounted.
            Ok(Compared::Refused(why))
                if compiler.name.starts_with("clang")
                    && flags == ["-O0"]
                    && why.contains("differs from the measured code") =>
            {
                println!("{}: {why}", compiler.name);
            }
            other => panic!("{} {flags:?}: {other:?}", compiler.name),
        }
    }
}

#[test]
fn each_way_to_branch_is_logged_as_the_emulator_sees_it_at_each_level_of_optimisation() {
    for level in ["-O0", "-O1", "-O2", "-O3"] {
        is_as_emulated(&["ways.c"], &[level]);
    }
}

#[test]
fn a_program_that_is_static_or_at_a_fixed_place_or_has_landing_pads_is_logged_as_any() {
    is_as_emulated(&["ways.c"], &["-O2", "-static"]);
    is_as_emulated(&["ways.c"], &["-O2", "-no-pie", "-fno-pie"]);
    is_as_emulated(&["ways.c"], &["-O2", "-fcf-protection=full", "-g", "-march=x86-64-v3"]);
}

#[test]
fn functions_that_several_sources_define_are_known_by_the_copy_that_the_linker_keeps() {
    for flags in [&["-O0"][..], &["-O2"], &["-O2", "-ffunction-sections", "-Wl,--gc-sections", "-fno-plt"]] {
        is_as_emulated(&["first.cpp", "second.cpp"], flags);
    }
}

#[test]
fn a_full_area_of_the_log_is_met_whichever_register_has_the_pointer() {
    for compiler in compilers() {
        let store = tempfile::tempdir().expect("a store");
        let program = build(&store, &["registers.c"], &compiler, &["-O2"]).expect("it is instrumented");
        let (seen, followed) = logged::<Conditionals>(&program, None).expect("it ends");
        followed.unwrap_or_else(|why| panic!("{}: {why}", compiler.name));
        // Nine loops of 140,000 turns.
        assert_eq!(seen.count, 9 * 2 * 140_000, "{}", compiler.name);
    }
}

#[test]
fn a_region_that_leaves_instrumented_code_is_not_counted() {
    for compiler in compilers() {
        let store = tempfile::tempdir().expect("a store");
        let program = build(&store, &["library.c"], &compiler, &["-O1"]).expect("it is instrumented");
        let why = logged::<Seen>(&program, None)
            .expect("it ends")
            .1
            .expect_err("the C library is not instrumented");
        assert!(why.contains("code that was not instrumented"), "{why}");
    }
}

#[test]
fn an_instrumented_build_is_found_again_and_one_with_other_flags_or_a_damaged_file_is_not() {
    for compiler in compilers() {
        let store = tempfile::tempdir().expect("a store");
        let built = |flags: &[&str]| {
            let program = build(&store, &["ways.c"], &compiler, flags).expect("it is instrumented");
            let made = std::fs::metadata(&program.logging).and_then(|file| file.modified());
            (program.logging, made.expect("it is there"))
        };
        let first = built(&["-O1"]);
        assert_eq!(built(&["-O1"]), first, "the same file, not made again");
        assert_ne!(built(&["-O2"]).0, first.0);
        std::fs::write(&first.0, "damaged").expect("it is written");
        let again = std::fs::metadata(built(&["-O1"]).0).expect("it is there");
        assert!(again.len() > 1000, "made anew");
    }
}

#[test]
fn what_cannot_be_instrumented_is_refused_with_its_reason() {
    for compiler in compilers() {
        let store = tempfile::tempdir().expect("a store");
        let why =
            build(&store, &["ways.c"], &compiler, &["-O2", "-flto"]).expect_err("no code before the link");
        assert!(why.contains("link-time optimisation"), "{why}");
        if compiler.name.starts_with("gcc") {
            let why = build(&store, &["first.cpp", "second.cpp"], &compiler, &["-O2", "-s"]);
            let why = why.expect_err("the table is stripped");
            assert!(why.contains("left out its table"), "{why}");
        }
    }
}
