//! Does a whole program with records execute at each site what the emulator sees of the program as built? Builds of
//! `fixtures/instrument/whole`, and of those in Rust (`rust`). Limits: sites with records; what other code executes is not compared, it has none.

use super::compilers;
use crate::trace_fixtures;
use assay_link::adopt::capture::{self, BuildAsked, InstrumentAsked, TextsAsked};
use assay_link::build::{LoggingProgram, Scope};
use assay_pure::outcomes::SiteKind;
use assay_pure::trace::{Branch, BranchSite};
use assay_trace::logged::areas::{AREA, AREAS, MAGIC, PAGE};
use assay_trace::logged::streams;
use assay_trace::{Observer, Trace, TraceOptions};
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Executions and how many of them were taken, by address.
#[derive(Default)]
struct Executed(HashMap<u64, (u64, u64)>);

impl Observer for Executed {
    fn branches(&mut self, _: &[BranchSite], branches: &[Branch]) {
        for branch in branches {
            let site = self.0.entry(branch.pc).or_default();
            site.0 += 1;
            site.1 += u64::from(branch.taken());
        }
    }
}

fn sum(trace: &Trace<Executed>) -> HashMap<u64, (u64, u64)> {
    let mut all: HashMap<u64, (u64, u64)> = HashMap::new();
    for thread in trace.processes.iter().flat_map(|process| &process.threads) {
        for (pc, (executed, taken)) in &thread.observer.0 {
            let site = all.entry(*pc).or_default();
            site.0 += executed;
            site.1 += taken;
        }
    }
    all
}

/// A copy of fixtures, so that a build writes nothing among them.
pub fn project(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let from = trace_fixtures::root().join("fixtures/instrument").join(name).join(".");
    let copied = Command::new("cp").arg("-r").arg(from).arg(folder.path()).status().expect("cp is here");
    assert!(copied.success());
    folder
}

/// Builds a program by a shell command.
pub fn build(folder: &Path, store: &Path, command: &str, program: &str) -> Result<LoggingProgram, String> {
    let asked = WantedBuild { texts: TextsAsked::Assembled, scope: Scope::Program };
    asked.run(folder, store, command, program)
}

/// What a build with records is asked for.
pub struct WantedBuild {
    pub texts: TextsAsked,
    pub scope: Scope,
}

impl WantedBuild {
    /// Builds a program by a shell command.
    pub fn run(
        &self,
        folder: &Path,
        store: &Path,
        command: &str,
        program: &str,
    ) -> Result<LoggingProgram, String> {
        let mut asked = BuildAsked::new(command, folder, store).expect("a build");
        asked.assay = env!("CARGO_BIN_EXE_assay").into();
        asked.texts = self.texts;
        asked.sections = self.scope == Scope::Regions;
        let built = capture::build(&asked, &|_| {}).unwrap_or_else(|error| panic!("{command}: {error}"));
        // cargo gives what it links a second name.
        let mut links = built.links.iter();
        let link =
            links.find(|link| link.copies.iter().chain([&link.output]).any(|path| path.ends_with(program)));
        let link = link.expect("the link was captured");
        link.instrument(&InstrumentAsked {
            measured: &link.output,
            scope: self.scope,
            into: &store.join("instrumented"),
            stand_ins: &built.assemblers,
        })
    }
}

/// Runs both and compares each site. Returns how often sites were executed, and the notes.
fn compare(command: &str, program: &str) -> Result<(u64, Vec<String>), String> {
    let (folder, store) = (project("whole"), tempfile::tempdir().expect("a store"));
    let built = build(folder.path(), store.path(), command, program)?;
    compare_built(command, &built)
}

/// The same of what a command has built.
pub fn compare_built(command: &str, built: &LoggingProgram) -> Result<(u64, Vec<String>), String> {
    let words: [OsString; 1] = [built.plain.clone().into_os_string()];
    let logged =
        streams::run(built, &words, None, Executed::default).unwrap_or_else(|why| panic!("{command}: {why}"));
    let plugin = Some(trace_fixtures::plugin().to_owned());
    let options = TraceOptions { plugin, follow: true, ..TraceOptions::default() };
    let traced =
        assay_trace::command(&words, &options, Executed::default).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(logged.processes[0].ended, traced.processes[0].ended, "{command}");
    assert_eq!(logged.processes.len(), traced.processes.len(), "{command}");
    let (logged, traced) = (sum(&logged), sum(&traced));
    let base =
        if assay_pure::outcomes::is_position_independent(&fs::read(&built.plain).expect("it is there"))? {
            0x40_0000_0000
        } else {
            0
        };
    let kinds = [SiteKind::Conditional, SiteKind::Named, SiteKind::Indirect, SiteKind::Return];
    let sites = built.table.places.iter().filter(|place| kinds.contains(&place.kind));
    let mut all = 0;
    let mut different = BTreeMap::new();
    for pc in sites.map(|place| place.plain + base) {
        let of = |counts: &HashMap<u64, (u64, u64)>| counts.get(&pc).copied().unwrap_or_default();
        let (own, emulated) = (of(&logged), of(&traced));
        all += own.0;
        if own != emulated {
            different.insert(format!("{pc:x}"), (own, emulated));
        }
    }
    assert!(different.is_empty(), "{command}: (executed, taken) logged and emulated: {different:?}");
    Ok((all, built.notes.clone()))
}

fn is_as_emulated(command: &str, program: &str, least: u64) {
    let (executed, notes) = compare(command, program).unwrap_or_else(|why| panic!("{command}: {why}"));
    assert!(executed > least, "{command}: {executed}");
    assert_eq!(notes, Vec::<String>::new(), "{command}");
}

pub fn has(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok();
    if !there {
        println!("skipped: {program} is not here");
    }
    there
}

#[test]
fn callbacks_long_jumps_signals_forks_and_threads_execute_as_the_emulator_sees_them() {
    if compilers().is_empty() {
        return;
    }
    for flags in [
        "-O0 -g",
        "-O2 -g",
        "-O3",
        "-O2 -fno-plt -fcf-protection=full",
        "-O2 -static",
        "-O2 -no-pie -fno-pie",
        // Its `signal` has another name in the C library.
        "-O2 -std=c11 -D_XOPEN_SOURCE=700",
    ] {
        is_as_emulated(&format!("make ways CC=gcc CFLAGS='{flags}'"), "ways", 100_000);
    }
}

#[test]
fn links_that_optimise_are_instrumented_where_the_assembler_makes_their_code() {
    if compilers().is_empty() {
        return;
    }
    is_as_emulated("make ways CC=gcc AR=gcc-ar CFLAGS='-O2 -flto'", "ways", 100_000);
    is_as_emulated("make throws CXX=g++ CXXFLAGS='-O2 -flto -flto-partition=max'", "throws", 1000);
}

#[test]
fn links_that_clang_optimises_execute_as_the_emulator_sees_them() {
    if compilers().is_empty() || !has("clang") {
        return;
    }
    for linker in ["lld", "bfd"] {
        if !has(&format!("ld.{linker}")) {
            continue;
        }
        for how in ["full", "thin"] {
            let flags = format!("-O2 -g -flto={how} -fuse-ld={linker}");
            is_as_emulated(&format!("make ways CC=clang AR=llvm-ar CFLAGS='{flags}'"), "ways", 100_000);
            is_as_emulated(&format!("make throws CXX=clang++ CXXFLAGS='{flags}'"), "throws", 1000);
        }
    }
}

#[test]
fn exceptions_execute_as_the_emulator_sees_them() {
    if compilers().is_empty() {
        return;
    }
    for flags in ["-O0", "-O2 -g", "-O3 -ffunction-sections -Wl,--gc-sections"] {
        is_as_emulated(&format!("make throws CXX=g++ CXXFLAGS='{flags}'"), "throws", 1000);
    }
}

#[test]
fn programs_that_clang_compiles_execute_as_the_emulator_sees_them() {
    if compilers().is_empty() || !has("clang++") {
        return;
    }
    for flags in ["-O0", "-O2 -g"] {
        is_as_emulated(&format!("make ways CC=clang CFLAGS='{flags}'"), "ways", 100_000);
        is_as_emulated(&format!("make throws CXX=clang++ CXXFLAGS='{flags}'"), "throws", 1000);
    }
}

#[test]
fn assembly_written_by_hand_executes_as_the_emulator_sees_it() {
    if !compilers().is_empty() {
        is_as_emulated("make hand CC=gcc", "hand", 50);
    }
}

#[test]
fn a_project_of_cmake_is_instrumented_without_a_word_to_it() {
    if compilers().is_empty() || !has("cmake") {
        return;
    }
    let lists = "cmake_minimum_required(VERSION 3.10)\nproject(whole C CXX)\nadd_library(tally STATIC tally.c)\n\
                 add_executable(ways ways.c)\ntarget_link_libraries(ways tally pthread)\n";
    let command = format!(
        "printf '%s' '{lists}' > CMakeLists.txt && cmake -S . -B out -DCMAKE_BUILD_TYPE=Release && cmake --build out"
    );
    is_as_emulated(&command, "out/ways", 100_000);
}

/// What was said, whichever way its lines are wrapped.
pub fn one_line(said: &[u8]) -> String {
    String::from_utf8_lossy(said).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `assay VERB --build` on the fixtures' `ways`: exit code, and what it says.
fn told(words: &[&str]) -> (Option<i32>, String) {
    let folder = project("whole");
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.current_dir(folder.path()).args(words);
    let output = command.output().expect("assay starts");
    (output.status.code(), one_line(&output.stderr))
}

#[test]
fn stat_and_sites_say_what_a_built_program_executed_and_what_has_no_records() {
    if compilers().is_empty() {
        return;
    }
    let (code, said) = told(&["stat", "--build", "make ways", "--predictor", "none", "--", "./ways"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("conditional-branches") && said.contains("have no records"), "{said}");
    let (code, said) = told(&["sites", "--build", "make ways", "--predictor", "none", "--", "./ways"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("tally.c:") && said.contains("with records of its branches"), "{said}");
}

/// Loops that repeat themselves, with calls and without, and one whose branches follow a coin.
const LOOPS: &str = "
#include <stdio.h>
static unsigned add(unsigned x) { return x & 1 ? x + 3 : x + 5; }
static unsigned turn(unsigned x) { return x << 1 | x >> 31; }
int main(void)
{
    unsigned (*volatile of[3])(unsigned) = { add, turn, add };
    unsigned sum = 0, coin = 1;
    for (int round = 0; round < 20; round++) {
        for (volatile int i = 0; i < 5000; i++) { if (i % 3 == 0) __asm__ volatile(\"nop\" : \"+r\"(sum)); }
        for (int i = 0; i < 3000; i++) { sum = of[i % 3](sum); }
        for (volatile int i = 0; i < 3000; i++) { coin = coin * 1664525 + 1013904223; if (coin >> 31) __asm__ volatile(\"nop\" : \"+r\"(sum)); }
    }
    printf(\"%u\\n\", sum);
    return 0;
}
";

/// What each of these predictors got wrong of such a program, by `assay stat --build`.
fn mispredictions(folder: &Path, compiler: &str, predictors: &str) -> Vec<(String, u64)> {
    let (build, page) = (format!("{compiler} -O2 -o main main.c"), folder.join("page.json"));
    let mut stat = Command::new(env!("CARGO_BIN_EXE_assay"));
    stat.args(["stat", "--build", &build, "--predictor", predictors, "--json"]).arg(&page);
    let output = stat.args(["--", "./main"]).current_dir(folder).output().expect("assay starts");
    assert!(output.status.success(), "{}", one_line(&output.stderr));
    let page = fs::read(page).expect("the page");
    let page: serde_json::Value = serde_json::from_slice(&page).expect("JSON");
    let of = |row: &serde_json::Value| {
        let missed = row["mispredictions"]["values"][0].as_f64().expect("a number");
        (row["predictor"].as_str().expect("a name").to_owned(), missed as u64)
    };
    page["predictors"].as_array().expect("predictors").iter().map(of).collect()
}

#[test]
fn loops_that_are_compared_mislead_a_predictor_as_often_as_those_that_are_walked() {
    for compiler in compilers() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("main.c"), LOOPS).expect("it is written");
        let name = compiler.path.display().to_string();
        let compared = mispredictions(folder.path(), &name, "gshare,bimodal");
        // Who looks at returns is handed each branch.
        let walked = mispredictions(folder.path(), &name, "gshare,bimodal,return-stack-8");
        assert_eq!(compared, walked[..2], "{name}");
        assert!(compared.iter().all(|(_, missed)| *missed > 10_000), "{compared:?}");
    }
}

/// The share of its time that a program of this `main` spends in code without records, in percent; nothing where the kernel
/// allows no samples.
fn outside(main: &str) -> Option<f64> {
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!("#include <string.h>\nstatic char bytes[1 << 16];\nint main(void)\n{{\n{main}\n}}\n");
    fs::write(folder.path().join("main.c"), text).expect("it is written");
    let mut stat = Command::new(env!("CARGO_BIN_EXE_assay"));
    stat.args(["stat", "--build", "gcc -O1 -o main main.c", "--predictor", "none", "--", "./main"]);
    let output = stat.current_dir(folder.path()).output().expect("assay starts");
    let said =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    if said.contains("without records is unknown") {
        println!("skipped: {said}");
        return None;
    }
    let share = said.split("Code without records takes ").nth(1).unwrap_or_else(|| panic!("{said}"));
    let number =
        share.split_whitespace().find_map(|word| word.parse().ok()).unwrap_or_else(|| panic!("{said}"));
    Some(if share.starts_with("less than") { 0.0 } else { number })
}

#[test]
fn the_share_of_time_in_code_without_records_is_told() {
    if !compilers().iter().any(|compiler| compiler.name.starts_with("gcc")) {
        return;
    }
    let own = "    volatile unsigned sum = 0;\n    for (unsigned at = 0; at < 100000000; at++) sum += at & 7;\n    return 0;";
    let library = "    for (int at = 0; at < 300000; at++) { memset(bytes, at, sizeof bytes); __asm__ volatile(\"\" ::: \"memory\"); }\n    \
                   return bytes[7] == 1;";
    if let (Some(own), Some(library)) = (outside(own), outside(library)) {
        assert!(own < 20.0 && library > 80.0, "{own} {library}");
    }
}

#[test]
fn a_program_that_the_build_does_not_make_is_refused_with_those_that_it_makes() {
    if !compilers().is_empty() {
        let (code, said) = told(&["stat", "--build", "make ways", "--", "true"]);
        assert!(code == Some(2) && said.contains("did not link") && said.contains("/ways"), "{said}");
        let (code, said) = told(&["stat", "--source", "counted", "--build", "make ways", "--", "./ways"]);
        assert!(code == Some(2) && said.contains("leave --source out"), "{said}");
    }
}

#[test]
fn what_was_compiled_before_has_no_records_and_that_is_said() {
    if compilers().is_empty() {
        return;
    }
    let command = "env -u COMPILER_PATH gcc -O2 -c tally.c && make ways CC=gcc";
    let (executed, notes) = compare(command, "ways").expect("the other object has records");
    assert!(executed > 0);
    assert!(notes[0].contains("libtally.a") && notes[0].contains("build from clean"), "{notes:?}");
}

#[test]
fn both_sides_of_a_stream_agree_on_its_layout() {
    let folder = trace_fixtures::root().join("crates/assay-link/src/build/instrument");
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("it is there");
    let side = read("stream.c") + &read("program.c");
    for line in [
        format!("#define ASSAY_AREA_BYTES {AREA}L\n"),
        format!("#define ASSAY_AREAS {AREAS}\n"),
        format!("#define ASSAY_PAGE {PAGE}L\n"),
        format!("#define ASSAY_MAGIC {MAGIC:#x}\n"),
        format!("\"{}=\"", assay_pure::outcomes::STREAMS_VARIABLE),
        format!(".quad {}\\n", SiteKind::Anchor as u32),
        assay_pure::outcomes::SECTION.to_owned(),
    ] {
        assert!(side.contains(&line), "{line}");
    }
}
