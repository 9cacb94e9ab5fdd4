//! `assay stages` from a file to a page, on programs that print their figures instead of taking them: what is said of the
//! steps must then be the same on any machine. Counts are taken for real, where this machine can trace.

use crate::trace_fixtures;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Prints TIME, and a tenth more for each 16 bytes that `work` lies behind the beginning of its line.
const PROGRAM: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#ifdef PAD
__attribute__((used, noinline, aligned(16))) int pad(int x) { return x; }
#endif
__attribute__((noinline, aligned(16))) int work(int x) { return x * 3 + 1; }
int main(int count, char **words) {
    int behind = (int)(((uintptr_t)&work >> 4) & 3);
#ifdef FAILS
    if (count > 1 && strcmp(words[1], "free") == 0) return 7;
#endif
    printf("%d ns\n", TIME * (10 + behind) + 0 * work(count));
    return count < 1 || words[0] == 0;
}
"#;

const HEAD: &str = r#"
[diary]
name = "printed"
unit = "call"
rotations = 3
rounds = 1
budget = "10 min"
[build]
command = "gcc -O1 -fno-toplevel-reorder {flags} -o {out}/bench bench.c"
program = "{out}/bench"
[[roles]]
name = "alloc"
command = "{program} alloc"
figure = { pattern = "(?<value>[0-9]+) (?<unit>ns)" }
"#;

struct Project(tempfile::TempDir);

impl Project {
    fn new(file: &str) -> Option<Project> {
        for tool in ["git", "make", "gcc"] {
            if Command::new(tool).arg("--version").output().is_err() {
                println!("skipped: there is no {tool}");
                return None;
            }
        }
        let project = Project(tempfile::tempdir().unwrap());
        project.write("bench.c", PROGRAM);
        project.write("STAGES.toml", file);
        Some(project)
    }

    /// The diary of `fixtures/stages`.
    fn fixture() -> Option<Project> {
        let from = trace_fixtures::root().join("fixtures/stages");
        let project = Project::new(&std::fs::read_to_string(from.join("STAGES.toml")).unwrap())?;
        for name in ["Makefile", "bench.c", "queue.c", "queue.h"] {
            std::fs::copy(from.join(name), project.path().join(name)).unwrap();
        }
        Some(project)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    fn git(&self, words: &[&str]) {
        let identity = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"];
        let ran = Command::new("git").current_dir(self.path()).args(identity).args(words).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    }

    fn assay(&self, words: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_assay"))
            .current_dir(self.path())
            .arg("stages")
            .args(words)
            .args(["--quiet", "--json", "page.json", "--markdown", "page.md"])
            .env("COLUMNS", "100")
            .output()
            .unwrap()
    }

    /// Runs it without the tracer, which these programs do not need.
    fn page(&self, words: &[&str], code: i32) -> Value {
        self.page_of(&[words, &["--plugin", "none"]].concat(), code)
    }

    fn page_of(&self, words: &[&str], code: i32) -> Value {
        let ran = self.assay(words);
        assert_eq!(ran.status.code(), Some(code), "{}", told(&ran));
        serde_json::from_slice(&std::fs::read(self.path().join("page.json")).unwrap()).unwrap()
    }

    fn ledger(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.path().join(".assay/ledger.db")).unwrap()
    }
}

fn told(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr)
}

/// A stage without counts, since these programs are told what to print.
fn stages(names: &[(&str, &str)]) -> String {
    let one = |(name, flags): &(&str, &str)| format!("[[stages]]\nname = \"{name}\"\nflags = \"{flags}\"\n");
    names.iter().map(one).collect()
}

fn step<'a>(page: &'a Value, stage: &str, role: &str, against: &str) -> &'a Value {
    let steps = page["steps"].as_array().unwrap();
    let wanted = |step: &&Value| step["stage"] == stage && step["role"] == role && step["against"] == against;
    steps.iter().find(wanted).unwrap_or_else(|| panic!("no step {stage} {role} {against} in {page:#}"))
}

fn cell<'a>(page: &'a Value, role: &str, entrant: &str) -> &'a Value {
    let roles = page["roles"].as_array().unwrap();
    let role = roles.iter().find(|found| found["name"] == role).unwrap();
    role["cells"].as_array().unwrap().iter().find(|cell| cell["entrant"] == entrant).unwrap()
}

#[test]
fn steps_are_judged_over_placements_and_a_ghost_is_named() {
    let reference = "[[references]]\nname = \"plain\"\ncommand = \"echo 500 ns\"\n";
    // A build that was run once has no interval, so nothing could be called a ghost.
    let file = HEAD.replace("rounds = 1", "rounds = 2")
        + "count = false\n"
        + &stages(&[("slow", "-DTIME=200"), ("fast", "-DTIME=100"), ("moved", "-DTIME=100 -DPAD")])
        + reference;
    let Some(project) = Project::new(&file) else { return };
    let page = project.page(&["STAGES.toml"], 0);
    let fast = step(&page, "fast", "alloc", "before");
    assert_eq!((&fast["brought"], &fast["baseline"]), (&"faster".into(), &"slow".into()));
    let ratio = fast["time"]["code"]["ratio"].as_f64().unwrap();
    assert!((ratio - 0.5).abs() < 1e-6, "{ratio}");
    let moved = step(&page, "moved", "alloc", "before");
    assert_eq!(moved["brought"], "ghost", "{moved:#}");
    let as_built = moved["time"]["as_built"]["ratio"].as_f64().unwrap();
    assert!((as_built - 1.0).abs() > 0.05, "{as_built}");
    assert_eq!(step(&page, "moved", "alloc", "first")["brought"], "faster");
    let answer = page["answer"].as_str().unwrap();
    assert!(answer.starts_with("fast saved most: in alloc, time -"), "{answer}");
    assert!(answer.contains("moved (as built") && answer.contains("is a ghost"), "{answer}");
    assert_eq!(page["roles"][0]["ranking"][0]["stage"], "fast");
    // 100 * (10 to 13) is 1150 in the middle, 500 is what the reference always says.
    let distance = step(&page, "moved", "alloc", "reference")["time"]["code"]["ratio"].as_f64().unwrap();
    assert!((2.0..2.6).contains(&distance), "{distance}");
    let markdown = std::fs::read_to_string(project.path().join("page.md")).unwrap();
    assert!(markdown.contains("| moved |") && markdown.contains("| ghost |"), "{markdown}");
}

#[test]
fn a_stage_is_added_with_what_it_is_held_against_and_nothing_is_lost() {
    let three = [("a", "-DTIME=300"), ("b", "-DTIME=200"), ("c", "-DTIME=200")];
    let file = |count: usize| HEAD.to_owned() + "count = false\n" + &stages(&three[..count]);
    let Some(project) = Project::new(&file(2)) else { return };
    project.page(&["STAGES.toml"], 0);
    let visits = |session: i64| -> i64 {
        let sql = "SELECT count(*) FROM comparison_visit WHERE comparison = ?";
        project.ledger().query_row(sql, [session], |row| row.get(0)).unwrap()
    };
    let first = visits(1);
    assert_eq!(first, 2 * 13, "as built and three rotations of four phases, both stages");
    project.write("STAGES.toml", &file(3));
    let page = project.page(&["add", "STAGES.toml", "--stage", "c"], 0);
    let sessions = page["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 2);
    assert_eq!(sessions[1]["entrants"], serde_json::json!(["a", "b", "c"]));
    assert_eq!(visits(1), first, "what was measured stays");
    assert_eq!(step(&page, "c", "alloc", "before")["brought"], "nothing");
    assert_eq!(step(&page, "c", "alloc", "before")["time"]["session"], 2);
    // Nothing is new any more.
    let ran = project.assay(&["STAGES.toml", "--plugin", "none"]);
    assert_eq!(ran.status.code(), Some(0), "{}", told(&ran));
    assert_eq!(visits(3), 0);
    // A stage that is defined otherwise is measured anew.
    project.write("STAGES.toml", &file(3).replace("TIME=300", "TIME=400"));
    let page = project.page(&["STAGES.toml"], 0);
    assert_eq!(page["sessions"].as_array().unwrap().len(), 3);
    let ratio = step(&page, "b", "alloc", "before")["time"]["code"]["ratio"].as_f64().unwrap();
    assert!((ratio - 0.5).abs() < 1e-6, "{ratio}");
    let wrong = project.assay(&["add", "STAGES.toml", "--stage", "d", "--plugin", "none"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(told(&wrong).contains("no stage `d` in the diary printed (a, b, c)"), "{}", told(&wrong));
}

#[test]
fn an_interrupted_session_goes_on_where_it_stopped() {
    let file = HEAD.to_owned() + "count = false\n" + &stages(&[("a", "-DTIME=300"), ("b", "-DTIME=200")]);
    let Some(project) = Project::new(&file) else { return };
    let whole = project.page(&["STAGES.toml"], 0);
    // As a kill in the middle would have left it.
    project
        .ledger()
        .execute_batch(
            "DELETE FROM comparison_figure WHERE visit > 9; DELETE FROM comparison_visit WHERE id > 9; \
             UPDATE comparison SET stopped_because = NULL, finished_at = NULL",
        )
        .unwrap();
    let again = project.page(&["STAGES.toml", "--resume"], 0);
    assert_eq!(again["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(again["sessions"][0]["visits"], whole["sessions"][0]["visits"]);
    assert_eq!(again["steps"], whole["steps"]);
}

#[test]
fn a_stage_that_does_not_build_or_run_is_a_row_with_its_reason() {
    let second = "count = false\n[[roles]]\nname = \"free\"\ncommand = \"{program} free\"\ncount = false\n\
                  figure = { pattern = \"(?<value>[0-9]+) (?<unit>ns)\" }\n";
    let file = HEAD.to_owned()
        + second
        + &stages(&[("a", "-DTIME=300"), ("broken", "-DTIME=+*"), ("half", "-DTIME=200 -DFAILS")]);
    let Some(project) = Project::new(&file) else { return };
    let page = project.page(&["STAGES.toml"], 1);
    let broken = &page["entrants"][1];
    assert!(broken["failed"].as_str().unwrap().contains("exit status 1"), "{broken}");
    assert!(cell(&page, "alloc", "broken")["time"].is_null());
    let half = cell(&page, "free", "half");
    assert!(half["failed"].as_str().unwrap().contains("exit code 7"), "{half}");
    assert!(cell(&page, "alloc", "half")["time"].is_object(), "its other role is measured");
    assert!(page["entrants"][2]["failed"].is_null());
    let ran = project.assay(&["STAGES.toml", "--show"]);
    assert!(told(&ran).contains("Not measured: broken."), "{}", told(&ran));
    assert!(told(&ran).contains("half as free:"), "{}", told(&ran));
}

#[test]
fn what_is_of_another_machine_or_input_is_refused_unless_asked_for() {
    let file = HEAD.replace("unit =", "inputs = [\"data\"]\nunit =")
        + "count = false\n"
        + &stages(&[("a", "-DTIME=300"), ("b", "-DTIME=200")]);
    let Some(project) = Project::new(&file) else { return };
    project.write("data", "1");
    project.page(&["STAGES.toml"], 0);
    let more = file.clone() + &stages(&[("c", "-DTIME=100")]);
    project.write("STAGES.toml", &more);
    project.write("data", "2");
    let refused = project.assay(&["STAGES.toml", "--plugin", "none"]);
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    assert!(told(&refused).contains("data has changed since"), "{}", told(&refused));
    project.write("data", "1");
    let elsewhere = "UPDATE comparison SET machine = json_set(machine, '$.cpu', 'Another 9000')";
    project.ledger().execute_batch(elsewhere).unwrap();
    let refused = project.assay(&["add", "STAGES.toml", "--plugin", "none"]);
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    let said = told(&refused);
    assert!(said.contains("another machine (Another 9000;") && said.contains("--mixed"), "{said}");
    let page = project.page(&["STAGES.toml", "--mixed"], 0);
    let warnings = page["warnings"].to_string();
    assert!(warnings.contains("Session 1 does not belong in this table"), "{warnings}");
    assert_eq!(page["sessions"].as_array().unwrap().len(), 2);
}

/// A diary of a tagged revision and of the working tree, which is three times as fast.
fn old_and_now() -> Option<(Project, String)> {
    let file = HEAD.to_owned()
        + "count = false\n[[stages]]\nname = \"old\"\nrevision = \"v1\"\n[[stages]]\nname = \"now\"\n";
    let project = Project::new(&file)?;
    project.git(&["init", "--quiet", "--initial-branch=main"]);
    project.write("bench.c", &taking("300"));
    project.git(&["add", "bench.c"]);
    project.git(&["commit", "--quiet", "-m", "one"]);
    project.git(&["tag", "v1"]);
    project.write("bench.c", &taking("100"));
    Some((project, file))
}

fn taking(time: &str) -> String {
    PROGRAM.replace("TIME", time)
}

/// The revision was built, the step from it is what was planted, and the user's file is as it was.
fn assert_old_and_now(project: &Project, page: &Value) {
    assert_eq!(page["entrants"][0]["revision"].as_str().map(str::len), Some(40));
    let ratio = step(page, "now", "alloc", "before")["time"]["code"]["ratio"].as_f64().unwrap();
    assert!((ratio - 1.0 / 3.0).abs() < 1e-6, "{ratio}");
    assert_eq!(std::fs::read_to_string(project.path().join("bench.c")).unwrap(), taking("100"));
}

#[test]
fn revisions_are_built_beside_the_users_tree() {
    let Some((project, file)) = old_and_now() else { return };
    assert_old_and_now(&project, &project.page(&["STAGES.toml"], 0));
    project.write("STAGES.toml", &file.replace("\"v1\"", "\"v9\""));
    let wrong = project.assay(&["STAGES.toml", "--plugin", "none"]);
    assert!(told(&wrong).contains("`v9` is not a commit"), "{}", told(&wrong));
}

#[test]
fn a_diary_of_revisions_is_measured_on_another_machine() {
    let Some((project, _)) = old_and_now() else { return };
    crate::shards::with_hosts_in(project.path(), "");
    let assay = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.current_dir(project.path()).args(words).env("COLUMNS", "100").output().unwrap()
    };
    let words = ["stages", "STAGES.toml", "--plugin", "none", "--on", "ssh:hosts.toml", "--per", "zen3"];
    let ran = assay(&words);
    assert_eq!(ran.status.code(), Some(0), "{}", told(&ran));
    let shown = assay(&["report", "--json", "-"]);
    let page =
        serde_json::from_slice(&shown.stdout).unwrap_or_else(|error| panic!("{error}: {}", told(&shown)));
    assert_old_and_now(&project, &page);
}

#[test]
fn mistakes_of_the_file_are_told_at_their_place() {
    let file = HEAD.to_owned() + &stages(&[("a", "-DTIME=300")]);
    let Some(project) = Project::new(&file) else { return };
    for (wrong, right, expected) in [
        ("unit = \"call\"", "unti = \"call\"", "STAGES.toml:4:1: unknown key `diary.unti`"),
        ("name = \"alloc\"", "nmae = \"alloc\"", "`roles[0].name` is missing"),
        ("unit = \"call\"", "inputs = [\"none.bin\"]", "`diary.inputs[0]` cannot be read"),
        (
            "{out}/bench\"\n[[roles",
            "bench\"\n[[stages]]\nname = \"b\"\n[[roles",
            "leave their program in the same place",
        ),
        ("[[roles]]", "[components]\nother = [\"x\"]\n[[roles]]", "a component cannot be called `other`"),
        ("flags = \"-DTIME=300\"", "source = \"nowhere\"", "there is no folder nowhere"),
    ] {
        assert!(file.contains(wrong), "{wrong}");
        project.write("STAGES.toml", &file.replacen(wrong, right, 1));
        let ran = project.assay(&["STAGES.toml"]);
        assert_eq!(ran.status.code(), Some(2), "{right}: {}", told(&ran));
        assert!(told(&ran).contains(expected), "{right}: {}", told(&ran));
    }
    assert!(!project.path().join(".assay").exists(), "nothing was begun");
    let ran = project.assay(&["none.toml"]);
    assert_eq!(ran.status.code(), Some(2), "{}", told(&ran));
    project.write("STAGES.toml", &file);
    let ran = project.assay(&["STAGES.toml", "--show"]);
    assert!(told(&ran).contains("has no diary printed yet"), "{}", told(&ran));
}

/// Whether this machine can trace; a printed reason otherwise.
fn plugin() -> Option<PathBuf> {
    let emulator = format!("qemu-{}", std::env::consts::ARCH);
    if Command::new(&emulator).arg("--version").output().is_err() {
        println!("skipped: {emulator} is not installed");
        return None;
    }
    Some(trace_fixtures::plugin().to_owned())
}

/// Branches and instructions of a command, as `assay stat` has them.
fn stat(plugin: &str, program: &str, count: &str) -> (u64, u64) {
    let ran = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["stat", "--source", "traced", "--predictor", "none", "--plugin", plugin, "--json", "--"])
        .args(program.split(' '))
        .arg(count)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    let page: Value = serde_json::from_str(&said[said.find('{').unwrap_or(0)..])
        .unwrap_or_else(|error| panic!("{error}: {said}"));
    let events = page["events"].as_array().unwrap();
    let of = |name: &str| {
        let event = events.iter().find(|event| event["event"] == name).unwrap();
        event["value"]["mean"].as_f64().unwrap() as u64
    };
    (of("branches"), of("instructions"))
}

#[test]
fn counts_are_exact_and_the_same_as_those_of_assay_stat() {
    let (Some(plugin), Some(project)) = (plugin(), Project::fixture()) else { return };
    let file = std::fs::read_to_string(project.path().join("STAGES.toml")).unwrap();
    let plain = file.replace("100000", "2000").replace(" 000000", " 0000");
    project.write("STAGES.toml", &plain);
    let plugin = plugin.to_str().unwrap();
    let page = project
        .page_of(&["STAGES.toml", "--no-time", "--plugin", plugin, "--predictor", "gshare,bimodal"], 0);
    let counts = |role: &str, stage: &str| cell(&page, role, stage)["counts"].clone();
    let branches = |role: &str, stage: &str| counts(role, stage)["branches"].as_u64().unwrap();
    for role in ["push", "pop"] {
        assert!(branches(role, "guarded") > 2 * branches(role, "release"), "{role}");
        assert_eq!(branches(role, "release"), branches(role, "moved"), "{role}");
        assert_eq!(counts(role, "release")["repeatable"], true);
        assert!(cell(&page, role, "release")["time"].is_null(), "only counted");
    }
    // 2000 values from the output's own words.
    assert_eq!(cell(&page, "pop", "release")["units"], 2000.0);
    assert_eq!(page["predictor"], "gshare");
    // How a program starts depends on its environment, which is another one there; what it does then does not, as both
    // commands are of one length: the stack begins at the same place with both.
    let program = cell(&page, "push", "release")["command"].as_str().unwrap().replace(" 2000", "");
    let of_stat = |count: &str| stat(plugin, &program, count);
    let (whole, start) = (of_stat("2000"), of_stat("0000"));
    assert_eq!(branches("push", "release"), whole.0 - start.0);
    assert_eq!(counts("push", "release")["instructions"].as_u64(), Some(whole.1 - start.1));
    let statuses: Vec<&str> =
        page["claims"].as_array().unwrap().iter().map(|claim| claim["status"].as_str().unwrap()).collect();
    assert_eq!(statuses[1..], ["confirmed", "refuted"], "{}", page["claims"]);
    // What was counted is not counted again.
    project.write("STAGES.toml", &(plain + "[[stages]]\nname = \"last\"\nflags = \"-O1\"\n"));
    let before: i64 =
        project.ledger().query_row("SELECT count(*) FROM diary_count", [], |row| row.get(0)).unwrap();
    let page = project.page_of(
        &["add", "STAGES.toml", "--no-time", "--plugin", plugin, "--predictor", "gshare,bimodal"],
        0,
    );
    assert_eq!(page["sessions"][1]["entrants"], serde_json::json!(["guarded", "moved", "last", "copy"]));
    let after: i64 =
        project.ledger().query_row("SELECT count(*) FROM diary_count", [], |row| row.get(0)).unwrap();
    assert_eq!(after - before, 7, "three stages in two roles and the reference in one");
    let kept: i64 = project
        .ledger()
        .query_row(
            "SELECT count(DISTINCT branches) FROM diary_count WHERE entrant = 'guarded' AND role = 'push'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(kept, 1);
}
