//! `assay run` with several experiments, with a file that lists them, and with a gate.

use crate::trace_fixtures;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// Two pairs of equal code beside what their programs are made of.
fn pairs() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let from = trace_fixtures::root().join("fixtures/verdicts");
    std::fs::create_dir(folder.path().join("pairs")).expect("made");
    for name in ["null_07_largest", "null_13_fnv", "main.c", "pair.h"] {
        let to = folder.path().join("pairs").join(name);
        assert!(Command::new("cp").arg("-r").arg(from.join(name)).arg(to).status().expect("cp").success());
    }
    for name in ["null_07_largest", "null_13_fnv"] {
        let file = folder.path().join("pairs").join(name).join("experiment.toml");
        let text = std::fs::read_to_string(&file).expect("a fixture");
        // Equal code is proven to be equal in any link, however it was compiled.
        let text = text.replace("include_dirs = [\"../../../harness\"]\n", "").replace("-O2", "-Og");
        let once = "\n[placement]\nrotations = 1\nmax_rotations = 1\nphases = [0]\n";
        std::fs::write(&file, text + once).expect("written");
    }
    std::fs::write(
        folder.path().join("assay.toml"),
        "experiments = [\"pairs/*/experiment.toml\"]\nbudget = 0.2\n",
    )
    .expect("written");
    folder
}

fn run(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.arg("run").args(words).args(["--quiet"]).current_dir(folder).output().expect("assay starts")
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn experiments_of_a_list_are_measured_each_and_answered_together() {
    let folder = pairs();
    let output = run(folder.path(), &["--gate", "slower:2%", "--json", "all.json", "--markdown", "all.md"]);
    let text = printed(&output);
    assert!(output.status.success(), "{text}");
    let (_, together) = text.split_once("All 2 experiments").expect("a summary at the end");
    for name in ["null_07_largest", "null_13_fnv"] {
        assert!(together.contains(&format!("pairs/{name}/experiment.toml: gate passed. ")), "{together}");
    }
    let pages: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("all.json")).expect("written"))
            .expect("JSON");
    let budgets: f64 = pages
        .as_array()
        .expect("a list")
        .iter()
        .map(|page| page["campaign"]["budget_seconds"].as_f64().unwrap())
        .sum();
    assert!(pages[1]["gate"]["passed"] == true && (0.1..0.31).contains(&budgets), "{budgets}");
    let markdown = std::fs::read_to_string(folder.path().join("all.md")).expect("written");
    assert_eq!(markdown.matches("### assay run").count(), 2, "{markdown}");
    assert!(markdown.contains("Gate `slower:2%`: passed."), "{markdown}");
}

/// A chain of multiplications, and four of them: what a gate says of it is no matter of the machine.
const FOURFOLD: &str = r#"#include <assay.h>
static uint64_t chain(const uint8_t *data, size_t size, int times)
{
    uint64_t digest = 1;
    for (size_t i = 0; i < size; i++) {
        uint64_t one = digest;
        for (int again = 0; again < times; again++) {
            digest = one + data[i];
            for (int step = 0; step < 4; step++)
                digest *= 0x9E3779B97F4A7C15u;
            __asm__ volatile("" : "+r"(digest));
            one += digest - digest;
            __asm__ volatile("" : "+r"(one) : "r"(digest));
        }
    }
    return digest;
}
static uint64_t once(const uint8_t *data, size_t size) { return chain(data, size, 1); }
static uint64_t fourfold(const uint8_t *data, size_t size) { return chain(data, size, 4); }
ASSAY_VARIANT("once", once)
ASSAY_VARIANT("fourfold", fourfold)
ASSAY_MAIN()
"#;

/// What the gate is asked of that program, in as many rotations.
fn fourfold(folder: &Path, name: &str, rotations: u32) {
    let place = folder.join("pairs").join(name);
    std::fs::create_dir(&place).expect("made");
    std::fs::write(place.join("program.c"), FOURFOLD).expect("written");
    let text = format!(
        "question = \"Is four times slower?\"\nunit = \"byte\"\nbaseline = \"once\"\nvariants = [\"once\", \"fourfold\"]\n\
         compilers = [\"gcc\"]\nflags = [\"-O2\"]\n\n[program]\nsources = [\"program.c\"]\n\n\
         [inputs.bytes]\ngenerator = \"uniform_value\"\nmax = 255\nunits = 4096\nformat = \"bytes\"\n\n\
         [placement]\nrotations = {rotations}\nmax_rotations = {rotations}\nphases = [0]\n"
    );
    std::fs::write(place.join("experiment.toml"), text).expect("written");
}

#[test]
fn a_gate_that_fails_is_1_one_that_is_undecided_3_and_of_several_files_the_failure_counts() {
    let folder = pairs();
    // Enough of them where half of the samples are left out, as another test keeps the sibling thread busy.
    fourfold(folder.path(), "slower", 16);
    // One rotation has no interval, so nothing is decided.
    fourfold(folder.path(), "undecided", 1);
    let (slower, undecided) = ("pairs/slower/experiment.toml", "pairs/undecided/experiment.toml");
    let equal = "pairs/null_07_largest/experiment.toml";
    for (files, code, told) in [
        (&[slower][..], 1, "failed"),
        (&[undecided], 3, "undecided"),
        (&[equal, undecided], 3, "undecided"),
        (&[undecided, slower], 1, "failed"),
    ] {
        let words = [files, &["--gate", "slower:2%", "--budget", "3"]].concat();
        let mut output = run(folder.path(), &words);
        let mut text = printed(&output);
        // While other tests keep the sibling thread busy, so few rounds may be left that nothing is decided. Where the page
        // says so it is asked again; nothing else is excused.
        for _ in 0..5 {
            let excused =
                code == 1 && output.status.code() == Some(3) && text.contains("sibling thread was busy");
            if !excused {
                break;
            }
            output = run(folder.path(), &words);
            text = printed(&output);
        }
        assert_eq!(output.status.code(), Some(code), "{files:?}: {text}");
        assert!(text.contains(told), "{files:?}: {text}");
    }
}

#[test]
fn a_gate_of_allocations_fails_by_the_first_one_too_many_and_is_undecided_where_none_were_counted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = "#include <assay.h>\n#include <stdlib.h>\n\
                   static uint64_t none(const uint8_t *data, size_t size) { return data[0] + size; }\n\
                   static uint64_t one(const uint8_t *data, size_t size)\n{\n    char *volatile held = malloc(size);\n    \
                   uint64_t sum = data[0] + size;\n    free(held);\n    return sum;\n}\n\
                   ASSAY_VARIANT(\"none\", none)\nASSAY_VARIANT(\"one\", one)\nASSAY_MAIN()\n";
    std::fs::write(folder.path().join("program.c"), program).expect("written");
    let text = "question = \"Does it allocate?\"\nbaseline = \"none\"\nvariants = [\"none\", \"one\"]\n\
                compilers = [\"gcc\"]\nflags = [\"-O2\"]\nevents = [\"allocations\"]\n\n[program]\nsources = [\"program.c\"]\n\n\
                [inputs.all]\ngenerator = \"uniform_value\"\nmax = 255\nunits = 64\nformat = \"whole\"\n\n\
                [placement]\nrotations = 1\nmax_rotations = 1\nphases = [0]\n";
    std::fs::write(folder.path().join("experiment.toml"), text).expect("written");
    for (gate, code, said) in [
        ("allocations:0", 1, "failed by one on all (0 to 1 allocations per"),
        ("allocations:1", 0, "passed"),
        ("peak:5%", 3, "events = [\"peak-bytes\"]"),
    ] {
        let output = run(folder.path(), &["experiment.toml", "--gate", gate, "--budget", "0.1"]);
        // One line, however wide the terminal.
        let text = printed(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(code), "{gate}: {text}");
        assert!(text.contains(said), "{gate}: {text}");
    }
}

#[test]
fn a_wrong_file_is_told_before_the_others_are_measured() {
    let folder = pairs();
    let file = folder.path().join("pairs/null_13_fnv/experiment.toml");
    let text = std::fs::read_to_string(&file).expect("a fixture");
    std::fs::write(&file, text.replace("baseline = \"a\"", "baseline = \"c\"")).expect("written");
    let output = run(folder.path(), &["assay.toml"]);
    let text = printed(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(
        text.contains("null_13_fnv/experiment.toml:") && !folder.path().join(".assay/ledger.db").exists(),
        "{text}"
    );
}

#[test]
fn without_a_file_the_folders_list_is_meant_and_a_missing_one_is_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = run(folder.path(), &[]);
    let text = printed(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("name an experiment file, or list several in assay.toml"), "{text}");
}

#[test]
fn what_is_of_one_experiment_only_is_refused_for_several() {
    let folder = pairs();
    let output = run(folder.path(), &["--picture=x.svg"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(printed(&output).contains("--picture draws one"), "{}", printed(&output));
}

#[test]
fn several_experiments_that_were_cut_short_are_resumed_together() {
    let folder = pairs();
    let none = run(folder.path(), &["--resume"]);
    let text = printed(&none);
    assert_eq!(none.status.code(), Some(2), "{text}");
    assert!(text.contains("no campaign of null_07_largest or null_13_fnv; run without --resume"), "{text}");
    // As a run of the list would leave it that was stopped after its first experiment.
    let first = run(folder.path(), &["pairs/null_07_largest/experiment.toml", "--budget", "0.1"]);
    assert!(first.status.success(), "{}", printed(&first));
    for kept in [1, 2] {
        let output = run(folder.path(), &["--resume"]);
        let text = printed(&output);
        assert!(output.status.success(), "{text}");
        assert_eq!(text.matches("is at its end and kept").count(), kept, "{text}");
        assert_eq!(campaigns(folder.path()), 2, "what is measured is not measured again");
    }
    // A header is no part of an experiment's text. What matters is whether it changes the machine code.
    let header = folder.path().join("pairs/pair.h");
    let text = std::fs::read_to_string(&header).expect("a fixture");
    for (more, kept, after) in [("/* a word */", 2, 2), ("__attribute__((used)) static int other = 1;", 0, 4)]
    {
        std::fs::write(&header, format!("{text}{more}\n")).expect("written");
        let text = printed(&run(folder.path(), &["--resume"]));
        assert_eq!(text.matches("is at its end and kept").count(), kept, "{text}");
        assert_eq!(campaigns(folder.path()), after, "{more}");
    }
    // What was cut short goes on with the code that it began with, and with no other.
    ledger(folder.path())
        .execute("UPDATE campaign SET finished_at = NULL, stopped_because = NULL WHERE id = 3", [])
        .expect("as if it had been killed");
    let one = ["pairs/null_07_largest/experiment.toml", "--budget", "0.1", "--resume"];
    std::fs::write(&header, &text).expect("written");
    let refused = run(folder.path(), &one);
    let said = printed(&refused);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("campaign 3 measured other machine code than what is built now"), "{said}");
    std::fs::write(&header, format!("{text}__attribute__((used)) static int other = 1;\n")).expect("written");
    let resumed = run(folder.path(), &one);
    assert!(resumed.status.success(), "{}", printed(&resumed));
    assert_eq!(campaigns(folder.path()), 4);
}

/// Campaigns of the folder's ledger.
fn campaigns(folder: &Path) -> i64 {
    ledger(folder).query_row("SELECT count(*) FROM campaign", [], |row| row.get(0)).expect("a count")
}

fn ledger(folder: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(folder.join(".assay/ledger.db")).expect("a ledger")
}

#[test]
fn a_calibration_that_was_cut_short_is_resumed() {
    let folder = pairs();
    let calibrate = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_assay"))
            .args(["calibrate", "pairs", "--compiler", "gcc", "--budget", "0.1", "--json", "all.json"])
            .args(words)
            .current_dir(folder.path())
            .output()
            .expect("assay starts");
        let trials = std::fs::read(folder.path().join("all.json")).unwrap_or_default();
        let trials: Vec<Value> = serde_json::from_slice(&trials).unwrap_or_default();
        let own: Vec<String> = trials
            .iter()
            .filter(|trial| trial["tool"] == "assay")
            .map(|trial| {
                format!("{} {}", trial["said"].as_str().unwrap(), trial["outcome"].as_str().unwrap())
            })
            .collect();
        (output.status.code(), own, printed(&output))
    };
    let (code, _, text) = calibrate(&["--resume"]);
    assert!(code == Some(2) && text.contains("nothing to resume"), "{text}");
    let (code, own, text) = calibrate(&["--pair", "null_07*"]);
    assert_eq!((code, own), (Some(0), vec!["equivalent right".to_owned()]), "{text}");
    for _ in 0..2 {
        let (code, own, text) = calibrate(&["--resume"]);
        assert_eq!((code, own), (Some(0), vec!["equivalent right".to_owned(); 2]), "{text}");
    }
    assert_eq!(campaigns(folder.path()), 2, "each pair is measured once");
}
