//! `assay compare` from two revisions to verdicts, on a project that prints its figures instead of taking them: what is said
//! of them must then be the same on any machine.

mod drift;
mod loops;
mod proven;

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// Prints a figure per benchmark; `FAST` and `SLOW` are set by the revision.
const PROGRAM: &str = r#"
#include <stdio.h>
__attribute__((noinline)) int same(int x) { return x * 3 + 1; }
__attribute__((noinline)) int other(int x) { return WORK; }
int main(int count, char **words) {
    (void)words;
    printf("same: %d ns\n", 10 + 0 * same(count));
    printf("other: %d ns\n", TIME + 0 * other(count));
    EXTRA
    return 0;
}
"#;

struct Project(tempfile::TempDir);

impl Project {
    /// A repository with a commit on `main`, built by `make`.
    fn new() -> Option<Project> {
        for tool in ["git", "make", "gcc"] {
            if Command::new(tool).arg("--version").output().is_err() {
                eprintln!("skipped: there is no {tool}");
                return None;
            }
        }
        let project = Project(tempfile::tempdir().unwrap());
        project.git(&["init", "--quiet", "--initial-branch=main"]);
        project.write("Makefile", "bench: bench.c\n\tgcc -O1 -g -o bench bench.c\n");
        project.write(".gitignore", "bench\n.assay/\n");
        project.commit("main", "x + 1", 20, "");
        Some(project)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.path().join(name), text).unwrap();
    }

    fn git(&self, words: &[&str]) {
        let identity = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"];
        let ran = Command::new("git").current_dir(self.0.path()).args(identity).args(words).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    }

    /// A commit on a branch of its own, from where we are.
    fn commit(&self, branch: &str, work: &str, time: u32, extra: &str) {
        if branch != "main" {
            self.git(&["checkout", "--quiet", "-b", branch, "main"]);
        }
        let program =
            PROGRAM.replace("WORK", work).replace("TIME", &time.to_string()).replace("EXTRA", extra);
        self.write("bench.c", &program);
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "-m", branch]);
    }

    fn assay(&self, words: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_assay"))
            .current_dir(self.0.path())
            .args(["compare", "--quiet", "--rotations", "3", "--rounds", "2", "--budget", "900"])
            .args(words)
            .env("COLUMNS", "100")
            .output()
            .unwrap()
    }

    fn compare(&self, words: &[&str]) -> Output {
        let ours = ["--build", "make", "--bench", "./bench", "--adapter"];
        let regex = [r"regex:(?<name>\w+): (?<value>\d+) (?<unit>ns)"];
        self.assay(&[&ours[..], &regex, words].concat())
    }

    fn page(&self, words: &[&str]) -> (Value, Output) {
        let ran = self.compare(&[words, &["--json", "page.json"]].concat());
        let text = std::fs::read_to_string(self.0.path().join("page.json"));
        let text = text.unwrap_or_else(|error| panic!("{error}: {}", told(&ran)));
        (serde_json::from_str(&text).unwrap(), ran)
    }
}

fn told(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr)
}

fn benchmark<'a>(page: &'a Value, name: &str) -> &'a Value {
    let all = page["benchmarks"].as_array().unwrap();
    all.iter().find(|found| found["benchmark"] == name).unwrap_or_else(|| panic!("no {name} in {page}"))
}

#[test]
fn a_slower_benchmark_is_found_alone_and_fails_the_gate() {
    let Some(project) = Project::new() else { return };
    project.commit("slow", "x * x + 7", 21, "");
    let (page, ran) = project.page(&["--gate", "slower:2%", "--markdown", "page.md", "main", "slow"]);
    assert_eq!(ran.status.code(), Some(1), "{}", told(&ran));
    let (same, other) = (benchmark(&page, "same"), benchmark(&page, "other"));
    assert_eq!((&same["verdict"], &other["verdict"]), (&"equivalent".into(), &"slower".into()));
    let ratio = other["code"]["ratio"].as_f64().unwrap();
    assert!((ratio - 1.05).abs() < 1e-6, "{ratio}");
    assert_eq!(page["gate"]["failed"], serde_json::json!(["other"]));
    assert_eq!(page["method"], "placements");
    assert_eq!(page["sides"][0]["links"], serde_json::json!(["bench"]));
    let markdown = std::fs::read_to_string(project.0.path().join("page.md")).unwrap();
    assert!(
        markdown.contains("| other | 20.0 ns | 21.0 ns | +5.0 % |") && markdown.contains("**failed**"),
        "{markdown}"
    );
    // The same page again, from the ledger alone.
    let again = project.assay(&["--show", "--json", "-"]);
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(again, page);
}

#[test]
fn revisions_are_compared_on_another_machine_as_on_this_one() {
    let Some(project) = Project::new() else { return };
    project.commit("slow", "x * x + 7", 21, "");
    let (here, _) = project.page(&["main", "slow"]);
    crate::shards::with_hosts_in(project.0.path(), "");
    let ran = project.compare(&["--on", "ssh:hosts.toml", "--per", "zen3", "main", "slow"]);
    assert_eq!(ran.status.code(), Some(0), "{}", told(&ran));
    assert!(told(&ran).contains("zen3"), "{}", told(&ran));
    let shown = project.assay(&["--show", "--json", "-"]);
    let there: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_ne!(there["comparison"], here["comparison"], "it is another one");
    let said = |page: &Value| {
        let ratio = |name| benchmark(page, name)["code"]["ratio"].clone();
        let verdict = |name| benchmark(page, name)["verdict"].clone();
        ["same", "other"].map(|name| (verdict(name), ratio(name)))
    };
    assert_eq!(said(&there), said(&here));
    assert_eq!(there["sides"][0]["revision"], here["sides"][0]["revision"]);
    // Nothing is left beside the user's tree but what assay keeps.
    let worktrees =
        Command::new("git").current_dir(project.0.path()).args(["worktree", "list"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&worktrees.stdout).lines().count(), 1);
}

#[test]
fn the_working_tree_is_compared_and_left_as_it_is() {
    let Some(project) = Project::new() else { return };
    let changed =
        PROGRAM.replace("WORK", "x + 1").replace("TIME", "10").replace("EXTRA", "puts(\"new: 3 ns\");");
    project.write("bench.c", &changed);
    let (page, ran) = project.page(&["main"]);
    assert_eq!(ran.status.code(), Some(0), "{}", told(&ran));
    assert_eq!(benchmark(&page, "other")["verdict"], "faster");
    assert_eq!(page["one_sided"], serde_json::json!([{"benchmark": "new", "only_in": "the working tree"}]));
    assert_eq!(std::fs::read_to_string(project.0.path().join("bench.c")).unwrap(), changed);
    assert!(!project.0.path().join("bench").exists(), "nothing was built in the user's tree");
}

#[test]
fn one_tree_is_held_against_its_own_placements() {
    let Some(project) = Project::new() else { return };
    let (page, ran) = project.page(&[]);
    assert_eq!(ran.status.code(), Some(0), "{}", told(&ran));
    assert_eq!(page["sides"].as_array().unwrap().len(), 1);
    let same = &benchmark(&page, "same")["baseline"];
    assert_eq!((&same["best"], &same["worst"]), (&10.0.into(), &10.0.into()));
    // The binary that the build left is there again, and up to date: nothing links, which is told with a remedy.
    let again = project.compare(&[]);
    assert_eq!(again.status.code(), Some(2));
    assert!(told(&again).contains("make clean"), "{}", told(&again));
}

#[test]
fn commands_are_compared_as_they_are_and_it_is_said_what_that_cannot_tell() {
    let Some(project) = Project::new() else { return };
    let regex = r"regex:(?<name>\w+) (?<value>\d+) (?<unit>ns)";
    let ran = project.assay(&[
        "--adapter",
        regex,
        "--json",
        "-",
        "--",
        "echo a 10 ns",
        "echo a 12 ns; echo b 1 ns",
    ]);
    assert_eq!(ran.status.code(), Some(0), "{}", told(&ran));
    let page: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(page["method"], "surroundings");
    assert_eq!(benchmark(&page, "a")["verdict"], "slower");
    assert!(benchmark(&page, "a")["as_built"].is_null());
    assert!(page["limits"][0].as_str().unwrap().contains("where it was linked"), "{page}");
}

#[test]
fn a_command_that_needs_more_memory_is_told_and_fails_a_gate_of_memory() {
    let Some(project) = Project::new() else { return };
    let fill = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint main(int count, char **words) {\n\
                size_t size = (size_t)atoi(words[count - 1]) << 20; char *all = malloc(size);\n\
                if (!all) return 1;\nmemset(all, count, size); return printf(\"a %d ns\\n\", 8 + (all[size - 1] == 2)) < 0; }\n";
    project.write("fill.c", fill);
    let built =
        Command::new("gcc").current_dir(project.0.path()).args(["-O1", "fill.c", "-o", "fill"]).output();
    assert!(built.is_ok_and(|built| built.status.success()));
    let compare = |gate: &str, before: &str, after: &str| {
        let regex = r"regex:(?<name>\w+) (?<value>\d+) (?<unit>ns)";
        let ran =
            project.assay(&["--adapter", regex, "--gate", gate, "--json", "page.json", "--", before, after]);
        let page = std::fs::read(project.0.path().join("page.json")).unwrap();
        (serde_json::from_slice::<Value>(&page).unwrap(), ran)
    };
    // More than the lab itself has.
    let (page, ran) = compare("slower:5%,peak:20%", "./fill 96", "./fill 128");
    assert_eq!(ran.status.code(), Some(1), "{}", told(&ran));
    let (before, after) = (&page["memory"]["baseline_bytes"], &page["memory"]["candidate_bytes"]);
    let (before, after) = (before.as_u64().unwrap() >> 20, after.as_u64().unwrap() >> 20);
    assert!((96..104).contains(&before) && (128..136).contains(&after), "{before} {after}");
    assert_eq!((&page["memory"]["differs"], &page["gate"]["failed"][1]), (&true.into(), &Value::Null));
    assert!(
        told(&ran).contains("Peak memory: 9") && told(&ran).contains("failed by peak memory"),
        "{}",
        told(&ran)
    );
    // Less than the lab itself has.
    let (page, ran) = compare("peak:20%", "echo a 8 ns", "echo a 9 ns");
    assert_eq!((ran.status.code(), &page["memory"]), (Some(3), &Value::Null), "{}", told(&ran));
    let refused = project.assay(&["--gate", "allocations:0", "--", "true", "true"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(told(&refused).contains("only `assay run` counts allocations"), "{}", told(&refused));
}

#[test]
fn the_commands_of_the_folder_are_found_told_and_planned() {
    let Some(project) = Project::new() else { return };
    project.commit("next", "x + 2", 21, "");
    let plan = project.assay(&["--plan", "main", "next"]);
    for wanted in
        ["found      target `bench` of Makefile", "build      make bench", "at least 26 of", " 26 s"]
    {
        assert!(told(&plan).contains(wanted), "{wanted}: {}", told(&plan));
    }
    assert!(plan.status.success() && !project.0.path().join(".assay").exists(), "a plan makes nothing");
    let regex = r"regex:(?<name>\w+): (?<value>\d+) (?<unit>ns)";
    let ran = project.assay(&["--adapter", regex, "--json", "page.json", "main", "next"]);
    let using = "assay: target `bench` of Makefile is the only benchmark found in this folder; using\n  --build 'make bench' \
                 --bench ./bench\n";
    assert!(ran.status.success() && told(&ran).contains(using), "{}", told(&ran));
    let text = std::fs::read_to_string(project.0.path().join("page.json")).unwrap();
    let page: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&page["build"], &page["bench"][0]), (&"make bench".into(), &"./bench".into()));
    assert_eq!(benchmark(&page, "other")["verdict"], "slower");
    // What a run took is known now.
    let plan = project.assay(&["--plan", "--json", "-", "main", "next"]);
    let plan: Value = serde_json::from_slice(&plan.stdout).unwrap();
    assert!(plan["times"][3]["measured_runs"].as_u64().unwrap() > 0, "{plan}");
    project.write("Makefile", "bench: bench.c\n\tgcc -O1 -g -o bench bench.c\nbenchmark: bench\n\t./bench\n");
    let several = project.assay(&["main", "next"]);
    assert_eq!(several.status.code(), Some(2), "{}", told(&several));
    let typed = "assay compare --build 'make bench' --bench 'make benchmark' main next";
    assert!(told(&several).contains(typed), "{}", told(&several));
}

#[test]
#[ignore = "relates measured times: on a quiet machine"]
fn a_command_that_watches_the_clock_is_not_timed_as_a_whole() {
    let Some(project) = Project::new() else { return };
    let by_clock = "end=$(($(date +%s%N) + 500000000)); while :; do i=0; while [ $i -lt 4000 ]; do i=$((i+1)); done; \
                    [ $(date +%s%N) -lt $end ] || break; done";
    let ran = project.assay(&["--", by_clock, "true"]);
    assert_eq!(ran.status.code(), Some(3), "{}", told(&ran));
    assert!(told(&ran).contains("it runs for a fixed time: stopped for"), "{}", told(&ran));
}

#[test]
fn what_goes_wrong_is_told_with_its_remedy() {
    let Some(project) = Project::new() else { return };
    project.commit("broken", "x +* 1", 20, "");
    for (words, code, expected) in [
        (&["main", "mian"][..], 2, "`mian` is not a commit"),
        (&["main", "main"], 2, "are the same commit"),
        (&["main", "broken"], 1, "broken cannot be built"),
        (&["main", "main~7"], 2, "`main~7` is not a commit"),
    ] {
        let ran = project.compare(words);
        assert_eq!(ran.status.code(), Some(code), "{words:?}: {}", told(&ran));
        assert!(told(&ran).contains(expected), "{words:?}: {}", told(&ran));
    }
    project.git(&["checkout", "--quiet", "main"]);
    let same = project.compare(&["main"]);
    assert!(told(&same).contains("main and the working tree are the same commit"), "{}", told(&same));
}

#[test]
fn a_benchmark_command_that_fails_or_says_nothing_is_told_before_measuring() {
    let Some(project) = Project::new() else { return };
    project.commit("next", "x + 2", 20, "");
    let build = ["--build", "make", "main", "next"];
    let fails = project.assay(&[&build[..], &["--bench", "./bench && exit 3"]].concat());
    assert_eq!(fails.status.code(), Some(2), "{}", told(&fails));
    assert!(told(&fails).contains("the benchmark command fails in main"), "{}", told(&fails));
    let silent =
        project.assay(&[&build[..], &["--bench", "./bench", "--adapter", "regex:(?<value>XYZ)"]].concat());
    assert_eq!(silent.status.code(), Some(2), "{}", told(&silent));
    let rebuilds =
        project.assay(&[&build[..], &["--bench", "rm bench; make; ./bench", "--adapter", "wall"]].concat());
    assert_eq!(rebuilds.status.code(), Some(2), "{}", told(&rebuilds));
    assert!(told(&rebuilds).contains("only runs what --build has built"), "{}", told(&rebuilds));
}

#[test]
fn a_gate_is_undecided_where_no_library_is_recognised_instead_of_timing_a_command_that_times_itself() {
    let Some(project) = Project::new() else { return };
    // Ten times slower by its own figures, which no adapter reads; the command takes as long as before.
    project.commit("slow", "x + 1", 200, "");
    let words = ["--build", "make", "--bench", "./bench", "--gate", "slower:2%", "main", "slow"];
    let ran = project.assay(&words);
    assert_eq!(ran.status.code(), Some(3), "{}", told(&ran));
    let said = told(&ran);
    assert!(said.contains("the gate slower:2% is undecided: nothing was measured"), "{said}");
    for choice in ["hyperfine", "--adapter 'regex:", "--adapter wall", "| same: 10 ns"] {
        assert!(said.contains(choice), "{choice}: {said}");
    }
    // Without a baseline there is nothing that a gate could be about.
    let alone = project.assay(&["--build", "make", "--bench", "./bench", "--gate", "slower:2%"]);
    assert_eq!(alone.status.code(), Some(2), "{}", told(&alone));
    assert!(told(&alone).contains("--gate slower:2% needs a baseline"), "{}", told(&alone));
}

#[test]
fn figures_of_go_are_read_without_being_told() {
    let Some(project) = Project::new() else { return };
    project.commit("slow", "x * x + 7", 23, "");
    let bench = r"./bench | sed -E 's/^(\w+): ([0-9]+) ns/Benchmark\1-2 1000 \2 ns\/op/'";
    let words = [
        "--build",
        "make",
        "--bench",
        bench,
        "--gate",
        "slower:2%",
        "--no-code",
        "main",
        "slow",
        "--json",
        "-",
    ];
    let ran = project.assay(&words);
    assert_eq!(ran.status.code(), Some(1), "{}", told(&ran));
    let page: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(page["gate"]["failed"], serde_json::json!(["Benchmarkother"]), "{page}");
    assert_eq!(page["gate"]["undecided"], serde_json::json!([]));
}

#[test]
fn an_interrupted_comparison_goes_on_where_it_stopped() {
    let Some(project) = Project::new() else { return };
    project.commit("next", "x + 2", 21, "");
    let ours = ["--build", "make", "--bench", "./bench", "--adapter", "wall", "main", "next"];
    let finished = project.assay(&ours);
    assert!(finished.status.success(), "{}", told(&finished));
    let ledger = rusqlite::Connection::open(project.0.path().join(".assay/ledger.db")).unwrap();
    let count = |sql: &str| -> i64 { ledger.query_row(sql, [], |row| row.get(0)).unwrap() };
    let all = count("SELECT count(*) FROM comparison_visit");
    // As a kill in the middle of a round would have left it.
    ledger
        .execute_batch(
            "DELETE FROM comparison_figure WHERE visit > 9; DELETE FROM comparison_visit WHERE id > 9; \
         UPDATE comparison SET stopped_because = NULL, finished_at = NULL",
        )
        .unwrap();
    let resumed = project.assay(&[&ours[..], &["--resume"]].concat());
    assert!(resumed.status.success(), "{}", told(&resumed));
    assert_eq!(count("SELECT count(*) FROM comparison_visit"), all);
    assert_eq!(count("SELECT count(*) FROM comparison"), 1);
    let nothing = project.assay(&[&ours[..], &["--resume"]].concat());
    assert_eq!(nothing.status.code(), Some(2));
    assert!(told(&nothing).contains("nothing to resume"), "{}", told(&nothing));
}

/// How often `make` has compiled, in a repository whose Makefile tells a file outside.
fn compiled(log: &Path) -> usize {
    std::fs::read_to_string(log).unwrap_or_default().lines().count()
}

#[test]
fn a_base_is_built_once_and_again_when_its_build_has_changed() {
    let Some(project) = Project::new() else { return };
    let outside = tempfile::tempdir().unwrap();
    let log = outside.path().join("log");
    let makefile = format!("bench: bench.c\n\techo x >> {}\n\tgcc -O1 -g -o bench bench.c\n", log.display());
    project.write("Makefile", &makefile);
    project.commit("one", "x + 1", 20, "");
    project.git(&["checkout", "--quiet", "-B", "main", "one"]);
    project.commit("two", "x + 2", 20, "");
    project.commit("three", "x + 3", 20, "");
    let compare = |words: &[&str], expected: usize| {
        let ran = project.compare(words);
        assert!(ran.status.success(), "{}", told(&ran));
        assert_eq!(compiled(&log), expected, "{words:?}");
    };
    compare(&["main", "two"], 2);
    compare(&["main", "three"], 3);
    compare(&["two", "three"], 3);
    // Another command may build something else.
    let regex = r"regex:(?<name>\w+): (?<value>\d+) (?<unit>ns)";
    let other =
        project.assay(&["--build", "make -s", "--bench", "./bench", "--adapter", regex, "main", "two"]);
    assert!(other.status.success(), "{}", told(&other));
    assert_eq!(compiled(&log), 5);
    // What lies there is looked at before it is believed.
    let sides = project.0.path().join(".assay/store/sides");
    let held = found(&sides, &|path| path.ends_with("bench"));
    assert_eq!(held.len(), 5);
    for binary in &held {
        std::fs::write(binary, "not a program").unwrap();
    }
    compare(&["main", "three"], 7);
    // The store's limit holds, and what is at work stays.
    compare(&["--store-limit", "0", "main", "three"], 7);
    assert_eq!(found(&sides, &|path| path.ends_with("side.json")).len(), 2);
    let clean = Command::new(env!("CARGO_BIN_EXE_assay"))
        .current_dir(project.0.path())
        .args(["clean", "--json", "-"])
        .output()
        .unwrap();
    let page: Value = serde_json::from_slice(&clean.stdout).unwrap_or_else(|_| panic!("{}", told(&clean)));
    let removed: Vec<&str> =
        page["removed"].as_array().unwrap().iter().filter_map(|one| one["what"].as_str()).collect();
    assert_eq!(removed, ["build of main", "build of three", "pages to be shown"], "{page}");
    assert!(found(&sides, &|path| path.is_file()).is_empty());
    compare(&["main", "two"], 9);
}

/// All that fits below a folder.
fn found(folder: &Path, fits: &dyn Fn(&Path) -> bool) -> Vec<std::path::PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if fits(&path) {
            all.push(path.clone());
        }
        if entry.file_type().unwrap().is_dir() {
            all.extend(found(&path, fits));
        }
    }
    all
}

#[test]
fn cargo_bench_builds_nothing_of_what_was_built_for_it() {
    let Some(project) = Project::new() else { return };
    if Command::new("cargo").arg("--version").output().is_err() {
        eprintln!("skipped: there is no cargo");
        return;
    }
    project.write(
        "Cargo.toml",
        "[package]\nname = \"own\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[[bench]]\nname = \"speed\"\nharness = false\n",
    );
    // As build scripts that look for a C compiler do.
    let reads = ["PATH", "COMPILER_PATH", "RUSTC_WRAPPER"]
        .map(|name| format!("println!(\"cargo:rerun-if-env-changed={name}\");\n"));
    project.write("build.rs", &format!("fn main() {{\n{}}}\n", reads.concat()));
    for folder in ["src", "benches"] {
        std::fs::create_dir(project.0.path().join(folder)).unwrap();
    }
    project.write("src/lib.rs", "#[inline(never)]\npub fn work(x: u64) -> u64 { x * 3 }\n");
    project.write(".gitignore", "target\n.assay\n");
    let bench = |time: u32| {
        format!(
            "fn main() {{ println!(\"work: {{}} ns\", {time} + 0 * own::work(std::env::args().count() as u64)); }}\n"
        )
    };
    project.write("benches/speed.rs", &bench(10));
    project.commit("main", "x + 1", 20, "");
    project.git(&["checkout", "--quiet", "-b", "next"]);
    project.write("benches/speed.rs", &bench(11));
    project.git(&["commit", "--quiet", "-am", "next"]);
    let regex = r"regex:(?<name>\w+): (?<value>\d+) (?<unit>ns)";
    let ours = ["--build", "cargo bench --no-run --offline", "--bench", "cargo bench --offline"];
    let words = ["--adapter", regex, "main", "next", "--json", "-"];
    let ran = project.assay(&[&ours[..], &words].concat());
    assert!(ran.status.success(), "{}", told(&ran));
    let page: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(page["method"], "placements");
    assert_eq!(benchmark(&page, "work")["verdict"], "slower");
    // cargo opens the build script, too, but nobody executes it.
    let links = page["sides"][0]["links"].as_array().unwrap();
    assert!(links.iter().all(|link| link.as_str().unwrap().contains("/deps/")), "{links:?}");
    // The library's own test harness takes no options of others, which is told with what to write.
    let options =
        ["--build", ours[1], "--bench", "cargo bench --offline -- --warm-up-time 1", "main", "next"];
    let refused = project.assay(&options);
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    assert!(told(&refused).contains("cargo bench --bench '*' -- OPTIONS"), "{}", told(&refused));
}

#[test]
fn a_build_in_one_place_for_both_sides_is_refused_with_where_to_build() {
    let Some(project) = Project::new() else { return };
    let outside = tempfile::tempdir().unwrap();
    let binary = outside.path().join("bench");
    project.commit("next", "x + 2", 20, "");
    let build = format!("gcc -O1 -o {} bench.c", binary.display());
    let bench = binary.display().to_string();
    let ran = project.assay(&["--build", &build, "--bench", &bench, "main", "next"]);
    assert_eq!(ran.status.code(), Some(2), "{}", told(&ran));
    assert!(told(&ran).contains("main and next are both built as"), "{}", told(&ran));
    let own = format!("make -C {}", project.0.path().canonicalize().unwrap().display());
    let ran = project.assay(&["--build", &own, "--bench", "./bench", "main", "next"]);
    assert_eq!(ran.status.code(), Some(2), "{}", told(&ran));
    assert!(told(&ran).contains("write paths relative to that folder"), "{}", told(&ran));
}

#[test]
fn the_users_tree_holds_nothing_new_but_the_store() {
    let Some(project) = Project::new() else { return };
    project.commit("next", "x + 2", 20, "");
    let before = listed(project.0.path());
    let ran = project.compare(&["main", "next"]);
    assert!(ran.status.success(), "{}", told(&ran));
    let after: Vec<String> = listed(project.0.path()).into_iter().filter(|name| name != ".assay").collect();
    assert_eq!(after, before);
    let left = listed(&project.0.path().join(".assay/store"));
    assert!(left.iter().all(|name| !name.starts_with("comparing-")), "{left:?}");
}

fn listed(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
