//! `assay trace simulate` of many traces: one table here, and the same table from shards on other machines, where a stand-in for
//! ssh runs everything on this one.

use super::robust::lab::Said;
use super::trace_verb::sbbt;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Traces of 2000 branches at one site, each of another period.
pub fn write_traces(folder: &Path, count: u64) -> Vec<String> {
    let name = |trace: u64| {
        let outcome = |branch: u64| u64::from(!branch.is_multiple_of(trace + 2)) << 11 | 1;
        let name = format!("t{trace}.sbbt");
        std::fs::write(folder.join(&name), sbbt(2000, outcome, 2000)).expect("a trace");
        name
    };
    (0..count).map(name).collect()
}

/// The command in a folder, with locks of its own.
pub fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(words).current_dir(folder).env("COLUMNS", "120").env("NO_COLOR", "1");
    command
}

fn simulate(folder: &Path, traces: &[String], words: &[&str]) -> (Option<i32>, String, String) {
    let mut command = command(folder, &["trace", "simulate"]);
    let ran = command.args(traces).args(words).output().expect("the binary starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (ran.status.code(), text(ran.stdout), text(ran.stderr))
}

pub fn table(folder: &Path, traces: &[String], words: &[&str]) -> (Option<i32>, Value, String) {
    let (code, page, errors) = simulate(folder, traces, &[words, &["--json"]].concat());
    let page = serde_json::from_str(&page).unwrap_or_else(|error| panic!("{error}: {page}, {errors}"));
    (code, page, errors)
}

const PREDICTORS: &str = "bimodal,gshare:bits=10..11,tage";

#[test]
fn many_traces_are_one_table_with_means_and_a_broken_one_is_named_and_costs_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let mut traces = write_traces(folder.path(), 3);
    let (code, whole, _) = table(folder.path(), &traces, &["--predictor", PREDICTORS]);
    assert_eq!((code, &whole["schema"]), (Some(0), &"assay.trace-simulate/2".into()));
    let names: Vec<&Value> =
        whole["columns"].as_array().unwrap().iter().map(|column| &column["predictor"]).collect();
    assert_eq!(names, ["bimodal", "gshare:bits=10", "gshare:bits=11", "tage"]);
    for (at, trace) in traces.iter().enumerate() {
        let (_, alone, _) = table(folder.path(), std::slice::from_ref(trace), &["--predictor", PREDICTORS]);
        assert_eq!(alone["traces"][0], whole["traces"][at]);
        assert_eq!(alone["traces"][0]["branches"], 2000);
    }
    for column in 0..4 {
        let mpki = |trace: usize| whole["traces"][trace]["mpki"][column].as_f64().unwrap();
        // Ten thousand instructions each.
        let missed: u64 =
            (0..3).map(|trace| whole["traces"][trace]["mispredicted"][column].as_u64().unwrap()).sum();
        let mean = whole["columns"][column]["mean_mpki"].as_f64().unwrap();
        assert!((mean - (mpki(0) + mpki(1) + mpki(2)) / 3.0).abs() < 1e-9);
        assert!((mean - missed as f64 / 30.0).abs() < 1e-9 && mean > 0.0);
    }
    let (code, text, _) = simulate(folder.path(), &traces, &["--predictor", PREDICTORS]);
    assert_eq!(code, Some(0));
    assert!(text.contains("mean of 3") && text.contains("the arithmetic mean over 3 traces"), "{text}");
    // The same with a file that is cut in the middle, and one that is not there.
    let bytes = std::fs::read(folder.path().join("t0.sbbt")).unwrap();
    std::fs::write(folder.path().join("cut.sbbt"), &bytes[..bytes.len() / 2]).unwrap();
    traces.insert(1, "cut.sbbt".into());
    traces.push("none.sbbt".into());
    let (code, rest, errors) = table(folder.path(), &traces, &["--predictor", PREDICTORS]);
    assert_eq!(code, Some(1));
    assert_eq!((&rest["traces"], &rest["columns"]), (&whole["traces"], &whole["columns"]));
    assert_eq!(
        (&rest["broken"][0]["file"], &rest["broken"][1]["file"]),
        (&"cut.sbbt".into(), &"none.sbbt".into())
    );
    for part in ["cut.sbbt: byte ", "the file ends after ", "none.sbbt: cannot be opened"] {
        assert!(errors.contains(part), "{errors}");
    }
}

#[test]
fn threads_and_the_order_of_traces_change_no_figure() {
    let folder = tempfile::tempdir().unwrap();
    let traces = write_traces(folder.path(), 7);
    let (_, one, _) = table(folder.path(), &traces, &["--predictor", PREDICTORS, "--threads", "1"]);
    let (_, four, _) = table(folder.path(), &traces, &["--predictor", PREDICTORS, "--threads", "4"]);
    assert_eq!(one, four);
    let turned: Vec<String> = traces.iter().rev().cloned().collect();
    let (_, other, _) = table(folder.path(), &turned, &["--predictor", PREDICTORS]);
    assert_eq!(one["traces"][0], other["traces"][6]);
    // Predictors that do not fit into one group read each trace together again.
    let many = "gshare:bits=4..20,history=0..2,bimodal";
    let (_, many, _) = table(folder.path(), &traces[..2], &["--predictor", many]);
    assert_eq!(many["columns"].as_array().map(Vec::len), Some(52));
    let (_, last, _) = table(folder.path(), &traces[..2], &["--predictor", "bimodal"]);
    assert_eq!(many["traces"][1]["mispredicted"][51], last["traces"][1]["mispredicted"][0]);
}

#[test]
fn parameters_are_listed_and_what_they_cannot_be_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let (code, help, _) = simulate(folder.path(), &[], &["--predictor", "help"]);
    assert!(code == Some(0) && help.contains("bits=4..20") && help.contains("gshare-32k"), "{help}");
    let traces = write_traces(folder.path(), 1);
    for (predictor, why) in [
        ("gshare:bits=40", "bits is a whole number from 4 to 20, not `40`"),
        ("bimodal,gshare:history=20,bits=12", "history=20 is more than the 12 bits of an index"),
    ] {
        let (code, page, errors) = simulate(folder.path(), &traces, &["--predictor", predictor]);
        assert!(code == Some(2) && page.is_empty() && errors.contains(why), "{errors}");
    }
    let (code, _, errors) = simulate(folder.path(), &[], &[]);
    assert!(code == Some(2) && errors.contains("which traces?"), "{errors}");
}

fn script(file: &Path, text: &str) {
    std::fs::write(file, format!("#!/bin/sh\n{text}\n")).expect("a script");
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).expect("it can run");
}

/// Traces, and two hosts; what is said of the second goes into the list.
fn with_hosts(second: &str) -> (TempDir, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let ssh = folder.path().join("ssh");
    script(&ssh, "shift\nexec sh -c \"$1\"");
    let hosts = format!(
        "ssh = \"{}\"\n[[host]]\nname = \"h1\"\nkind = \"zen3\"\n[[host]]\nname = \"h2\"\nkind = \"skylake\"\n{second}",
        ssh.display()
    );
    std::fs::write(folder.path().join("hosts.toml"), hosts).unwrap();
    let traces = write_traces(folder.path(), 6);
    (folder, traces)
}

/// The folder of the jobs.
fn place(folder: &Path) -> PathBuf {
    let all = std::fs::read_dir(folder.join(".assay/shards")).expect("jobs were handed in");
    all.flatten().map(|entry| entry.path()).max().expect("one")
}

#[test]
fn shards_on_hosts_leave_the_table_of_one_machine_and_only_what_is_missing_is_done_again() {
    let (folder, traces) = with_hosts("");
    let folder = folder.path();
    let (_, expected, _) = table(folder, &traces, &["--predictor", PREDICTORS]);
    let on = ["--predictor", PREDICTORS, "--on", "ssh:hosts.toml", "--shards", "4"];
    let (code, found, errors) = table(folder, &traces, &on);
    assert_eq!((code, &found), (Some(0), &expected), "{errors}");
    assert!(errors.contains("6 tasks in 4 jobs"), "{errors}");
    let place = place(folder);
    let kept: Value = serde_json::from_slice(&std::fs::read(place.join("table.json")).unwrap()).unwrap();
    assert_eq!(kept, expected);
    // The results of one shard are lost.
    for file in ["1.result", "1.end"] {
        std::fs::remove_file(place.join(file)).unwrap();
    }
    let before = std::fs::metadata(place.join("0.result")).unwrap().modified().unwrap();
    let status = command(folder, &["status", "--json", "-"]).output().unwrap();
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    let merged: Vec<bool> =
        status["shards"].as_array().unwrap().iter().map(|shard| shard["merged"] == true).collect();
    assert_eq!(merged, [true, false, true, true]);
    assert_eq!(status["shards"][1]["state"]["is"], "lost");
    let (code, again, errors) = table(folder, &traces, &[&on[..], &["--resume"]].concat());
    assert_eq!((code, &again), (Some(0), &expected), "{errors}");
    assert!(errors.contains("shard 1: handed in again as job h"), "{errors}");
    assert_eq!(errors.matches("handed in again").count(), 1, "{errors}");
    assert_eq!(std::fs::metadata(place.join("0.result")).unwrap().modified().unwrap(), before);
    // Another question has other jobs.
    let other = ["--predictor", "bimodal", "--on", "ssh:hosts.toml", "--resume"];
    let (code, _, errors) = simulate(folder, &traces, &other);
    assert!(code == Some(2) && errors.contains("nothing to resume"), "{errors}");
}

#[test]
fn a_host_with_another_version_simulates_nothing_and_what_is_missing_is_said() {
    let (folder, traces) = with_hosts("assay = \"other-assay\"\n");
    let folder = folder.path();
    let other = folder.join("other-assay");
    script(&other, "[ \"$1\" = --version ] && echo assay 9.9.9\nexit 0");
    let hosts = std::fs::read_to_string(folder.join("hosts.toml")).unwrap();
    let hosts = hosts.replace("\"other-assay\"", &format!("\"{}\"", other.display()));
    std::fs::write(folder.join("hosts.toml"), hosts).unwrap();
    let on = ["--predictor", "bimodal", "--on", "ssh:hosts.toml", "--shards", "2"];
    let (code, page, errors) = table(folder, &traces, &on);
    assert_eq!(code, Some(1), "{errors}");
    assert_eq!(page["missing"].as_array().map(Vec::len), Some(3), "{page}");
    assert!(
        errors.contains("ended with 3: not measured: ") && errors.contains("but assay 9.9.9"),
        "{errors}"
    );
    // Only the other kind of machine is asked: the rest is done, as what failed needs no mending here.
    let hosts = std::fs::read_to_string(folder.join("hosts.toml")).unwrap();
    let hosts = hosts.replace(&format!("assay = \"{}\"\n", other.display()), "");
    std::fs::write(folder.join("hosts.toml"), hosts).unwrap();
    let (code, page, errors) = table(folder, &traces, &[&on[..], &["--resume"]].concat());
    assert_eq!((code, page["missing"].as_array().map(Vec::len)), (Some(0), Some(0)), "{errors}");
}

/// A verb that shows a page, for whoever has a cluster.
pub fn said(command: Command) -> Said {
    super::robust::lab::Running::start(command).wait()
}
