//! `assay merge` by the binary: what two machines measured, in one ledger.

use super::robust::lab::{Lab, Running, Said};
use serde_json::Value;
use std::path::PathBuf;

fn said(lab: &Lab, verb: &str, arguments: &[&str]) -> Said {
    Running::start(lab.command(verb, arguments)).wait()
}

/// About 1 ns for each unit, backward so many times that; a thousandth between processes and rounds.
fn times(backward: f64) -> String {
    format!(
        "UPDATE sample SET wall_ns = t.ns, cpu_ns = t.ns FROM (SELECT s.id, CAST(s.units * (1 + 0.001 * ((p.id * 7 + \
         s.round * 3) % 5 - 2)) * CASE p.variant WHEN 'backward' THEN {backward} ELSE 1 END AS INTEGER) AS ns FROM sample s \
         JOIN process p ON p.id = s.process) t WHERE t.id = sample.id;"
    )
}

/// A lab with one campaign, in which backward takes a fifth less, and the ledger of another machine with the same question a day
/// later, where it takes a quarter more.
fn two_machines() -> Option<(Lab, PathBuf)> {
    let lab = Lab::with_program("#include \"good.c\"\n", &["plain", "backward"])?;
    lab.edit(|text| {
        text.replace("minimum_effect = 0.5", "minimum_effect = 0.02").replace("budget = 5", "budget = 1")
    });
    lab.run(&[]);
    let node = lab.file("node.db");
    let ledger = lab.ledger();
    ledger.execute_batch(&times(0.8)).expect("faster here");
    ledger.execute("VACUUM INTO ?", [node.display().to_string()]).expect("a copy");
    let other = rusqlite::Connection::open(&node).expect("it opens");
    let moved = "UPDATE campaign SET machine = json_set(machine, '$.cpu', 'Another CPU'), started_at = started_at + 86400, \
                 finished_at = finished_at + 86400, stopped_because = 'budget';";
    other.execute_batch(&format!("{moved} {}", times(1.25))).expect("another machine");
    Some((lab, node))
}

#[test]
fn what_two_machines_measured_is_in_one_ledger_and_their_disagreement_is_told() {
    let Some((lab, node)) = two_machines() else { return };
    let node = node.display().to_string();
    let samples = lab.count("SELECT count(*) FROM sample");
    let first = said(&lab, "merge", &[&node]);
    first.assert_code(0);
    assert!(first.page.contains("node.db: 1 campaign added; "), "{first:?}");
    assert_eq!(lab.count("SELECT count(*) FROM sample"), 2 * samples);
    lab.assert_ledger_is_whole();
    let again = said(&lab, "merge", &["--json", "-", &node]);
    let told: Value = serde_json::from_str(&again.page).expect("JSON");
    assert_eq!(told["ledgers"][0]["kinds"]["campaign"]["already_here"], 1, "{told:#}");
    assert_eq!(lab.count("SELECT count(*) FROM sample"), 2 * samples);
    let history = said(&lab, "history", &[]);
    history.assert_code(0);
    let words: String = history.page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.starts_with(
            "experiment: the machines disagree on 1 of 1 contrast: backward / plain is faster (-"
        ),
        "{words}"
    );
    assert!(
        words.contains("%) on Another CPU")
            && words.contains(". next `assay report 1` and `assay report 2` show both sides"),
        "{words}"
    );
    let page: Value = serde_json::from_str(&said(&lab, "history", &["--json", "-"]).page).expect("JSON");
    assert_eq!(page["across"][0]["disagree"], true);
    let called = page["machines"][1]["called"].as_str();
    assert!(called.is_some_and(|called| called.starts_with("Another CPU")), "{page:#}");
    let level = page["machines"][0]["instructions"].as_str();
    assert!(
        level.is_some_and(|level| level.starts_with("x86-64") || level.starts_with("AArch64")),
        "{page:#}"
    );
    let points = page["series"][0]["points"].as_array().expect("points");
    assert_eq!([&points[0]["verdict"], &points[1]["verdict"]], ["faster", "slower"]);
    // A hundredth: medians over placements of figures that wobble by a thousandth.
    for (point, expected) in points.iter().zip([0.8, 1.25]) {
        assert!((point["value"].as_f64().expect("a ratio") - expected).abs() < 0.01, "{points:?}");
    }
    said(&lab, "report", &["last"]).assert_code(0);
}

#[test]
fn what_another_processor_began_is_not_continued_here() {
    let Some((lab, node)) = two_machines() else { return };
    let other = rusqlite::Connection::open(&node).expect("it opens");
    other
        .execute_batch("UPDATE campaign SET finished_at = NULL, stopped_because = NULL")
        .expect("it was killed");
    drop(other);
    said(&lab, "merge", &[&node.display().to_string()]).assert_code(0);
    let resumed = lab.run(&["--resume"]);
    resumed.assert_code(2);
    resumed.assert_errors(&[
        "campaign 2 was begun on another processor (Another CPU; this is",
        "run without --resume",
    ]);
    assert_eq!(lab.count("SELECT count(*) FROM campaign"), 2);
}

#[test]
fn a_ledger_that_is_missing_the_same_or_none_is_refused_and_nothing_is_added() {
    let Some((lab, _)) = two_machines() else { return };
    let own = lab.ledger_path().display().to_string();
    for (file, word) in [("gone.db", "there is no ledger at gone.db"), (own.as_str(), "is the ledger itself")]
    {
        let refused = said(&lab, "merge", &[file]);
        refused.assert_code(2);
        refused.assert_errors(&[word]);
    }
    std::fs::write(lab.file("text.db"), "no ledger").expect("a file");
    let refused = said(&lab, "merge", &["text.db"]);
    refused.assert_code(2);
    refused.assert_errors(&["text.db is not a ledger"]);
    assert_eq!(lab.count("SELECT count(*) FROM campaign"), 1);
}
