//! Are benchmark commands executed as they are, under the surroundings asked for, and their figures read?

use assay_link::adopt::bench::{
    self, Adapter, BenchCommand, BenchmarkClock, Surroundings, VisitError, aslr_can_be_drawn,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const PLAIN: Surroundings = Surroundings { environment_bytes: 0, stack_bytes: 0, aslr: true };

/// Results of Google Benchmark by a shell script in its stead.
const REPORT: &str = r#"report() { cat > "$BENCHMARK_OUT" <<END
{"context": {"executable": "./$1"}, "benchmarks": [
 {"name": "$2", "run_name": "$2", "run_type": "iteration", "real_time": $3, "cpu_time": $4, "time_unit": "ns"}]}
END
}
"#;

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        Place { folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn scratch(&self) -> PathBuf {
        self.path("scratch")
    }

    fn bench(&self, command: &str) -> BenchCommand {
        BenchCommand {
            limit: Some(Duration::from_secs(300)),
            ..BenchCommand::new(command, self.folder.path())
        }
    }

    fn visit(&self, bench: &BenchCommand) -> Result<bench::BenchRun, VisitError> {
        bench::visit(bench, &PLAIN, &self.scratch())
    }
}

#[test]
fn a_command_is_timed_as_a_whole_on_both_clocks() {
    let place = Place::new();
    let visit = place.visit(&place.bench("sleep 0.2")).expect("a visit");
    let figure = &visit.figures[0];
    assert_eq!((visit.figures.len(), figure.clock, figure.values.len()), (1, BenchmarkClock::Wall, 1));
    assert!(figure.values[0] >= 0.2e9, "{figure:?}");
    let (clock, cpu) = figure.beside.as_ref().expect("both clocks");
    assert!(*clock == BenchmarkClock::Cpu && cpu[0] < figure.values[0], "{figure:?}");
    assert!(visit.elapsed >= Duration::from_millis(200) && visit.notes.is_empty());
}

#[test]
fn every_program_of_a_command_reports_through_the_environment() {
    let place = Place::new();
    let script = format!("{REPORT} report one a 5 4; report two a 7 6; echo done");
    let (adapter, visit) =
        bench::detect(&place.bench(&script), None, &PLAIN, &place.scratch()).expect("a visit");
    assert_eq!(adapter, Adapter::GoogleBenchmark);
    let found: Vec<(&str, f64)> =
        visit.figures.iter().map(|figure| (figure.name.as_str(), figure.values[0])).collect();
    assert_eq!(found, [("one: a", 4.0), ("two: a", 6.0)]);
    // A second visit finds nothing of the first.
    let again = BenchCommand { adapter: Adapter::GoogleBenchmark, ..place.bench("echo nothing") };
    assert!(matches!(place.visit(&again), Err(VisitError::Unread(_))));
}

#[test]
fn criterion_writes_where_the_user_keeps_nothing() {
    let place = Place::new();
    let script = r#"mkdir -p "$CRITERION_HOME/g/new"; cd "$CRITERION_HOME/g/new"
        echo '{"full_id": "g"}' > benchmark.json; echo '{"iters": [2.0], "times": [7.0]}' > sample.json"#;
    let (adapter, visit) =
        bench::detect(&place.bench(script), None, &PLAIN, &place.scratch()).expect("a visit");
    assert_eq!((adapter, visit.figures[0].values[0]), (Adapter::Criterion, 3.5));
    let again = BenchCommand { adapter: Adapter::Criterion, ..place.bench("echo nothing") };
    let error = place.visit(&again).expect_err("the files of the visit before are gone").to_string();
    assert!(error.contains("| nothing"), "{error}");
}

#[test]
fn nanobench_is_read_from_the_file_that_it_writes() {
    let place = Place::new();
    let result = r#"{"results": [{"name": "n", "unit": "op", "batch": 1, "median(elapsed)": 2e-9, "measurements": []}]}"#;
    let bench = place.bench(&format!("mkdir -p out; echo '{result}' > out/n.json"));
    let (adapter, visit) = bench::detect(&bench, None, &PLAIN, &place.scratch()).expect("a visit");
    assert_eq!((adapter, visit.figures[0].name.as_str()), (Adapter::Nanobench, "n"));
}

#[test]
fn the_filter_chooses_by_name() {
    let place = Place::new();
    let adapter: Adapter = r"regex:^(?<name>\w+) (?<value>\d+)$".parse().expect("an expression");
    let bench = |filter: &str| BenchCommand {
        adapter: adapter.clone(),
        filter: Some(filter.to_owned()),
        ..place.bench("printf 'a 1\\nb 2\\na 3\\n'")
    };
    let visit = place.visit(&bench("a")).expect("a visit");
    assert_eq!((visit.figures.len(), &visit.figures[0].values[..]), (1, &[1.0, 3.0][..]));
    let error = place.visit(&bench("c")).expect_err("nothing").to_string();
    assert!(error.contains("the benchmarks are: a, b"), "{error}");
    assert!(matches!(place.visit(&bench("(")), Err(VisitError::Filter(_))));
}

#[test]
fn the_padding_is_what_was_drawn() {
    let place = Place::new();
    let adapter: Adapter = "regex:(?<value>[0-9]+)".parse().expect("an expression");
    let bench = BenchCommand { adapter, ..place.bench("printf %s \"$ASSAY_PADDING\" | wc -c") };
    let surroundings = Surroundings { environment_bytes: 8192, stack_bytes: 48, aslr: true };
    let visit = bench::visit(&bench, &surroundings, &place.scratch()).expect("a visit");
    assert_eq!(visit.figures[0].values, [8240.0]);
    assert!(!aslr_can_be_drawn() || visit.aslr);
}

#[test]
fn addresses_are_placed_at_random_only_where_asked() {
    if !aslr_can_be_drawn() {
        println!("skipped: address randomisation cannot be switched off here");
        return;
    }
    let place = Place::new();
    let adapter: Adapter = "regex:(?<value>[0-9]+)".parse().expect("an expression");
    // The start of the stack, as proc(5) has it.
    let bench = BenchCommand { adapter, ..place.bench("exec cut -d' ' -f28 /proc/self/stat") };
    let stack = |stack_bytes: usize, aslr: bool| {
        let surroundings = Surroundings { environment_bytes: 4096, stack_bytes, aslr };
        let visit = bench::visit(&bench, &surroundings, &place.scratch()).expect("a visit");
        assert_eq!(visit.aslr, aslr);
        visit.figures[0].values[0]
    };
    assert_eq!(stack(0, false) - stack(64, false), 64.0);
    let random: Vec<f64> = (0..4).map(|_| stack(0, true)).collect();
    assert!(random.iter().any(|place| *place != random[0]), "{random:?}");
}

#[test]
fn what_is_executed_is_told_from_what_is_rebuilt() {
    let place = Place::new();
    for name in ["used", "idle", "rebuilt"] {
        std::fs::write(place.path(name), "#!/bin/sh\n").expect("a script");
    }
    let watched = ["used", "idle", "rebuilt"].map(|name| place.path(name)).to_vec();
    let bench = BenchCommand { watched, ..place.bench("sh ./used; echo new > other; mv other rebuilt") };
    let visit = place.visit(&bench).expect("a visit");
    assert_eq!((visit.opened, visit.rewritten), (vec![place.path("used")], vec![place.path("rebuilt")]));
    let missing = BenchCommand { watched: vec![place.path("missing")], ..place.bench("true") };
    assert!(place.visit(&missing).expect_err("missing").to_string().contains("missing"));
}

#[test]
fn commands_that_fail_say_why() {
    let place = Place::new();
    let error = place.visit(&place.bench("echo fine; echo 'no rule' >&2; exit 2")).expect_err("failed");
    assert_eq!(
        error.to_string(),
        "the benchmark command ended with exit code 2; its last output:\n  | no rule"
    );
    let error = place.visit(&place.bench("kill -SEGV $$")).expect_err("failed").to_string();
    assert!(error.contains("signal 11") && error.contains("printed nothing"), "{error}");
    let slow =
        BenchCommand { limit: Some(Duration::from_millis(200)), ..place.bench("echo begun; sleep 1000") };
    let error = place.visit(&slow).expect_err("too long").to_string();
    assert!(error.contains("after 0.2 s") && error.contains("| begun"), "{error}");
    let nowhere = BenchCommand::new("true", Path::new("/no/such/folder"));
    assert!(place.visit(&nowhere).expect_err("nowhere").to_string().contains("/no/such/folder"));
}

#[test]
fn processes_left_behind_are_noted() {
    let place = Place::new();
    let visit = place.visit(&place.bench("sleep 1000 & true")).expect("a visit");
    assert!(visit.notes[0].contains("left processes"), "{:?}", visit.notes);
}

const PROGRAM: &str = r#"
#include <benchmark/benchmark.h>
static void loop(benchmark::State& state) { int x = 0; for (auto _ : state) benchmark::DoNotOptimize(x += 1); }
BENCHMARK(loop);
BENCHMARK(loop)->Name("other")->UseRealTime();
BENCHMARK_MAIN();
"#;

#[test]
fn google_benchmark_itself_is_asked_and_read() {
    let place = Place::new();
    std::fs::write(place.path("b.cpp"), PROGRAM).expect("a source");
    let built = Command::new("g++")
        .args(["-O1", "b.cpp", "-o", "b", "-lbenchmark", "-lpthread"])
        .current_dir(place.folder.path())
        .output();
    if !built.is_ok_and(|built| built.status.success()) {
        println!("skipped: g++ or Google Benchmark is not installed");
        return;
    }
    let bench = BenchCommand {
        seconds_per_benchmark: Some(bench::BenchmarkTime::Seconds(0.001)),
        repetitions: Some(3),
        watched: vec![place.path("b")],
        ..place.bench("cd . && ./b > printed")
    };
    let (adapter, visit) = bench::detect(&bench, None, &PLAIN, &place.scratch()).expect("a visit");
    assert_eq!(adapter, Adapter::GoogleBenchmark);
    let found: Vec<(&str, BenchmarkClock, usize)> =
        visit.figures.iter().map(|one| (one.name.as_str(), one.clock, one.values.len())).collect();
    assert_eq!(found, [("loop", BenchmarkClock::Cpu, 3), ("other/real_time", BenchmarkClock::Wall, 3)]);
    assert_eq!(visit.opened, [place.path("b")]);
    let printed = std::fs::read_to_string(place.path("printed")).expect("its own table");
    assert!(printed.contains("loop_mean"), "{printed}");
    let one = BenchCommand { filter: Some("^other".into()), adapter: Adapter::GoogleBenchmark, ..bench };
    assert_eq!(place.visit(&one).expect("a visit").figures.len(), 1);
}
