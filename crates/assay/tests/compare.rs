//! `assay compare` from two revisions to verdicts, on a project that prints its figures instead of taking them: what is said
//! of them must then be the same on any machine.

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
    project.commit("next", "x + 2", 20, "");
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
