//! `assay sweep` from a file to its page, on a program that reads its work from settings: what is asked, kept and shown again, never
//! who takes longer.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const PROGRAM: &str = r#"
#include <assay.h>
#include <stdlib.h>
static uint64_t work(const uint8_t *data, size_t size, uint64_t steps) {
    uint64_t sum = size > 2 ? data[2] : 0;
    for (uint64_t i = 0; i < steps; i++) sum = sum * 6364136223846793005u + 1442695040888963407u;
    return sum & 0;
}
static uint64_t rising(const uint8_t *data, size_t size) { return work(data, size, strtoull((const char *)data + 2, 0, 10)); }
static uint64_t level(const uint8_t *data, size_t size) { return work(data, size, 5000); }
ASSAY_VARIANT("level", level)
ASSAY_VARIANT("rising", rising)
ASSAY_MAIN()
"#;

const EXPERIMENT: &str = r#"
question = "From how much work on is the level one faster?"
baseline = "level"
variants = ["level", "rising"]
compilers = ["gcc"]
flags = ["-Og"]
minimum_effect = "5 %"
budget = 2

[program]
sources = ["work.c"]

[inputs.work]
generator = "settings"
settings = { n = 1000 }
units = 1

[placement]
rotations = 6
phases = [0, 32]

[sweeps.work]
key = "inputs.work.settings.n"
from = 1000
to = 25_000
points = 3
refine = 2
"#;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Option<Folder> {
        if Command::new("gcc").arg("--version").output().is_err() {
            eprintln!("skipped: there is no gcc");
            return None;
        }
        let folder = Folder(tempfile::tempdir().unwrap());
        let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../harness/assay.h");
        std::fs::copy(harness, folder.0.path().join("assay.h")).unwrap();
        folder.write("work.c", PROGRAM);
        folder.write("experiment.toml", EXPERIMENT);
        Some(folder)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.path().join(name), text).unwrap();
    }

    fn assay(&self, words: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_assay"))
            .current_dir(self.0.path())
            .args(words)
            .env("COLUMNS", "100")
            .output()
            .unwrap()
    }

    /// Standard output of a command that must end with this code.
    fn said(&self, code: i32, words: &[&str]) -> String {
        let ran = self.assay(words);
        let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert_eq!(ran.status.code(), Some(code), "{words:?}\n{out}\n{err}");
        if code == 0 { out.into_owned() } else { err.into_owned() }
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&std::fs::read_to_string(self.0.path().join(name)).unwrap()).unwrap()
    }
}

#[test]
fn a_sweep_is_measured_kept_and_shown_again_without_measuring() {
    let Some(folder) = Folder::new() else { return };
    let quiet = ["sweep", "experiment.toml", "--quiet", "--json", "page.json", "--csv", "points.csv"];
    let text = folder.said(0, &quiet);
    assert!(text.contains("Who wins where") && text.contains("rising vs. level: "), "{text}");
    let page = folder.json("page.json");
    assert_eq!(page["schema"], "assay.sweep/2");
    let points = page["points"].as_array().unwrap();
    assert!((3..=5).contains(&points.len()), "{points:?}");
    let grid: Vec<f64> = points
        .iter()
        .filter(|point| point["why"] == "grid")
        .map(|point| point["at"].as_f64().unwrap())
        .collect();
    assert_eq!(grid, [1000.0, 13_000.0, 25_000.0]);
    let steps = page["measured"]["campaigns"].as_array().unwrap().len();
    // The range, two further points, and what confirms a crossover.
    assert!((1..=9).contains(&steps), "{}", page["measured"]);
    let pairs = page["series"][0]["pairs"].as_array().unwrap();
    let mut all_confirmed = true;
    for pair in pairs {
        for crossover in pair["crossovers"].as_array().unwrap() {
            let confirmed = crossover["confirmed"].as_bool().unwrap();
            all_confirmed &= confirmed;
            for end in [&crossover["lower"], &crossover["upper"]] {
                let ratios = pair["ratios"].as_array().unwrap();
                let found = ratios.iter().find(|ratio| &ratio["at"] == end).unwrap();
                assert!(!confirmed || found["campaigns"].as_u64() >= Some(2), "{found}");
            }
        }
    }
    // On a machine that does other work there may be several crossovers, and one of them in doubt.
    let doubted = ["not confirmed by a second campaign", "measured only while the sibling thread was busy"];
    assert_eq!(all_confirmed, !doubted.iter().any(|doubt| text.contains(doubt)), "{text}");
    for curve in page["series"][0]["curves"].as_array().unwrap() {
        let times = curve["times"].as_array().unwrap().len();
        let why = (&page["failures"], &page["warnings"], curve);
        assert_eq!(times, points.len(), "both variants are in every step: {why:?}");
    }
    let csv = std::fs::read_to_string(folder.0.path().join("points.csv")).unwrap();
    assert_eq!(csv.lines().count(), points.len() + 1);
    assert!(csv.starts_with("input,compiler,flags,settings.n,input bytes,input units,level ns,"), "{csv}");

    // Shown again it is the same page, and nothing was measured for it.
    let again = folder.said(0, &["sweep", "--show", "last", "--json", "again.json"]);
    assert_eq!(again, text);
    assert_eq!(folder.json("again.json"), page);
    let listed = folder.said(0, &["report", "--list"]);
    let rows = listed.lines().filter(|line| line.contains("just now") || line.contains(" ago")).count();
    assert!(rows == 1 && listed.contains("  sweep/1  "), "its {steps} campaigns are part of it: {listed}");
    assert_eq!(
        folder.said(0, &["report", "--json", "by-name.json", "work"]),
        text,
        "by its name it is the same"
    );
    assert!(
        folder
            .said(2, &["sweep", "--show", "7"])
            .contains("there is no sweep 7 in .assay/ledger.db; it has: 1")
    );

    // Everything is done, so there is nothing to go on with.
    let resumed = folder.said(2, &["sweep", "experiment.toml", "--resume"]);
    assert!(resumed.contains("no unfinished sweep work"), "{resumed}");
}

#[test]
fn a_sweep_goes_on_from_its_last_step() {
    let Some(folder) = Folder::new() else { return };
    folder.said(0, &["sweep", "experiment.toml", "--quiet", "--refine", "0"]);
    // As after a kill between the first step and the second.
    let ledger = rusqlite::Connection::open(folder.0.path().join(".assay/ledger.db")).unwrap();
    ledger.execute("UPDATE sweep SET finished_at = NULL, stopped_because = NULL", []).unwrap();
    let campaigns =
        || ledger.query_row("SELECT count(*) FROM campaign", [], |row| row.get::<_, i64>(0)).unwrap();
    let before = campaigns();
    folder.said(0, &["sweep", "experiment.toml", "--quiet", "--refine", "0", "--resume"]);
    assert_eq!(campaigns(), before, "the range was measured before");
    let ended: String = ledger.query_row("SELECT stopped_because FROM sweep", [], |row| row.get(0)).unwrap();
    assert_eq!(ended, "points");
    // As after a kill in the middle of the first step: its campaign goes on, and is no other.
    ledger.execute("UPDATE sweep SET finished_at = NULL, stopped_because = NULL", []).unwrap();
    ledger.execute("UPDATE campaign SET finished_at = NULL, stopped_because = NULL", []).unwrap();
    folder.said(0, &["sweep", "experiment.toml", "--quiet", "--refine", "0", "--resume"]);
    assert_eq!(campaigns(), before);
    let open: i64 = ledger
        .query_row("SELECT count(*) FROM campaign WHERE stopped_because IS NULL", [], |row| row.get(0))
        .unwrap();
    assert_eq!(open, 0);
}

#[test]
fn of_several_sweeps_the_finished_ones_stay_as_they_are() {
    let Some(folder) = Folder::new() else { return };
    let second = EXPERIMENT.split("[sweeps.work]").nth(1).unwrap().replace("25_000", "9000");
    folder.write("experiment.toml", &format!("{EXPERIMENT}\n[sweeps.less]{second}"));
    folder.said(0, &["sweep", "experiment.toml", "--quiet", "--refine", "0"]);
    let ledger = rusqlite::Connection::open(folder.0.path().join(".assay/ledger.db")).unwrap();
    let ended = "SELECT count(*) FROM sweep WHERE stopped_because = 'points'";
    let count = |sql: &str| ledger.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count(ended), 2);
    ledger.execute("DELETE FROM sweep_step WHERE sweep = 2", []).unwrap();
    ledger.execute("UPDATE sweep SET finished_at = NULL, stopped_because = NULL WHERE id = 2", []).unwrap();
    let text = folder.said(0, &["sweep", "experiment.toml", "--quiet", "--refine", "0", "--resume"]);
    assert!(text.contains("Sweep 1 of ") && text.contains("Sweep 2 of "), "{text}");
    assert_eq!((count(ended), count("SELECT count(*) FROM sweep_step")), (2, 2));
    assert_eq!(count("SELECT count(*) FROM campaign"), 3, "only the second was measured again");
}

#[test]
fn the_command_line_describes_a_sweep_of_its_own() {
    let Some(folder) = Folder::new() else { return };
    let words = ["sweep", "experiment.toml", "--key", "inputs.work.settings.n", "--from", "2k", "--to", "4k"];
    let plan = folder.said(0, &[&words[..], &["--points", "3", "--plan"]].concat());
    assert!(plan.starts_with("command-line: inputs.work.settings.n at 3 points"), "{plan}");
    assert!(
        plan.contains("points: 2,000; 3,000; 4,000") && plan.contains("variants: level rising"),
        "{plan}"
    );
    assert!(!folder.0.path().join(".assay").exists(), "a plan makes nothing");
    let wrong = |words: &[&str]| folder.said(2, &[&["sweep", "experiment.toml"], words].concat());
    assert!(
        wrong(&["--key", "budget", "--from", "1", "--to", "2"])
            .contains("--key: `budget` says how it is measured")
    );
    assert!(
        wrong(&["--key", "inputs.wrk.settings.n", "--from", "1", "--to", "2"])
            .contains("no input is named `wrk`")
    );
    let backwards = wrong(&["--key", "inputs.work.settings.n", "--from", "2", "--to", "1"]);
    assert!(backwards.contains("--to: `--to` is 1, not above `from`, which is 2"), "{backwards}");
    assert!(wrong(&["nothing"]).contains("has no sweep `nothing`; its sweeps are: work"));
    assert!(wrong(&["--variant", "x*"]).contains("leaves nothing to compare with level"));
}

#[test]
fn running_a_file_with_sweeps_says_what_measures_them() {
    let Some(folder) = Folder::new() else { return };
    let ran = folder.assay(&["run", "experiment.toml", "--quiet", "--budget", "0.5"]);
    let err = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{err}");
    let hint = "assay: this file also has sweeps (work";
    assert!(err.contains(hint), "{err}");
}

#[test]
fn a_file_without_sweeps_is_told_how_to_have_one() {
    let Some(folder) = Folder::new() else { return };
    folder.write("plain.toml", EXPERIMENT.split("[sweeps").next().unwrap());
    let said = folder.said(2, &["sweep", "plain.toml"]);
    assert!(
        said.contains("plain.toml has no sweeps; `--key inputs.NAME.units --from 1k --to 1M` describes one"),
        "{said}"
    );
    folder.write("few.toml", &EXPERIMENT.replace("rotations = 6", "rotations = 2"));
    let said = folder.said(2, &["sweep", "few.toml", "--plan"]);
    assert!(said.contains("a sweep needs placement.rotations of 3 or more: the file has 2"), "{said}");
}
