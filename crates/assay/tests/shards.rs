//! `--on ssh:hosts.toml`, `assay status` and `assay cancel` by the binary: a stand-in for ssh runs everything on this machine, so
//! that jobs, merging and failures are real.

use super::robust::lab::{Lab, Running, SLOW, Said};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

fn script(lab: &Lab, name: &str, text: &str) -> PathBuf {
    let file = lab.file(name);
    std::fs::write(&file, format!("#!/bin/sh\n{text}\n")).expect("a script");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("it can run");
    file
}

/// Two hosts of two kinds; what is said of the first one goes into the list.
fn with_hosts(lab: &Lab, first: &str) {
    let ssh = script(lab, "ssh", "shift\nexec sh -c \"$1\"");
    let text = format!(
        "ssh = \"{}\"\n[[host]]\nname = \"h1\"\nkind = \"zen3\"\n{first}\n[[host]]\nname = \"h2\"\nkind = \"skylake\"\n",
        ssh.display()
    );
    std::fs::write(lab.file("hosts.toml"), text).expect("a list of hosts");
}

fn on(lab: &Lab, words: &[&str]) -> Running {
    lab.start(&[&["--on", "ssh:hosts.toml"], words].concat())
}

/// A verb that knows no ledger.
fn said(lab: &Lab, verb: &str, words: &[&str]) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.arg(verb).args(words).current_dir(lab.file("")).env("COLUMNS", "180").env("NO_COLOR", "1");
    Running::start(command).wait()
}

fn status(lab: &Lab) -> Value {
    let said = said(lab, "status", &["--json", "-"]);
    serde_json::from_str(&said.page).unwrap_or_else(|error| panic!("{error}: {said:?}"))
}

/// The ledger of the only shard.
fn shard_ledger(lab: &Lab) -> rusqlite::Connection {
    let folder = status(lab)["folder"].as_str().expect("a folder").to_owned();
    let files =
        std::fs::read_dir(lab.file(&folder)).expect("the jobs' files").flatten().map(|file| file.path());
    let ledger = files.into_iter().find(|file| file.extension().is_some_and(|ending| ending == "db"));
    rusqlite::Connection::open(ledger.expect("its ledger")).expect("it opens")
}

fn two_inputs(text: String) -> String {
    let bytes = text.find("[inputs.bytes]").expect("an input");
    let end = bytes + text[bytes..].find("\n\n").expect("its end");
    let other = text[bytes..end].replace("inputs.bytes", "inputs.words").replace("10_000", "9_000");
    format!("{}\n\n{other}{}", &text[..end], &text[end..])
}

#[test]
fn parts_by_input_leave_in_one_ledger_what_an_undivided_campaign_leaves() {
    let program = "#include \"good.c\"\n";
    let (Some(parts), Some(whole)) = (
        Lab::with_program(program, &["plain", "backward"]),
        Lab::with_program(program, &["plain", "backward"]),
    ) else {
        return;
    };
    for lab in [&parts, &whole] {
        lab.edit(two_inputs);
    }
    with_hosts(&parts, "");
    let shared = on(&parts, &["--per", "zen3", "--shard-by", "input"]).wait();
    shared.assert_code(0);
    for word in ["zen3, input bytes", "zen3, input words"] {
        assert!(shared.page.contains(word), "{shared:?}");
    }
    whole.run(&[]).assert_code(0);
    let cells = "SELECT DISTINCT s.input || ' ' || p.variant || ' ' || p.compiler || ' ' || p.flags || ' ' || \
                 COALESCE(p.rotation, '-') || ' ' || (p.phase_bytes IS NULL) FROM sample s JOIN process p ON p.id = s.process \
                 WHERE s.warmup = 0 ORDER BY 1";
    assert_eq!(parts.column(cells), whole.column(cells));
    let answers = "SELECT DISTINCT variant || ' ' || whole FROM answer ORDER BY 1";
    assert_eq!(parts.column(answers), whole.column(answers));
    assert_eq!(parts.count("SELECT count(*) FROM failure"), whole.count("SELECT count(*) FROM failure"));
    // Each part has its share of the budget and of the error.
    let confidence =
        "SELECT DISTINCT spec ->> 'confidence' || ' ' || (spec ->> 'budget_seconds') FROM campaign";
    assert_eq!(parts.column(confidence), ["0.975 2.5"]);
    assert_eq!(parts.count("SELECT count(*) FROM campaign"), 2);
    parts.assert_ledger_is_whole();
}

#[test]
fn a_question_is_seen_cancelled_and_gone_on_with() {
    let Some(lab) = Lab::with_program(SLOW, &["plain", "honest"]) else { return };
    lab.edit(|text| text.replace("budget = 5", "budget = 60"));
    with_hosts(&lab, "");
    assert_eq!(said(&lab, "status", &[]).code, Some(2), "nothing was handed in");
    let mut running = on(&lab, &["--per", "zen3"]);
    let deadline = Instant::now() + Duration::from_secs(120);
    let measured = loop {
        assert!(running.is_running() && Instant::now() < deadline, "no round was measured");
        std::thread::sleep(Duration::from_millis(200));
        if !lab.file("shards").exists() {
            continue;
        }
        let found = said(&lab, "status", &["--json", "-"]);
        let Ok(page) = serde_json::from_str::<Value>(&found.page) else { continue };
        if page["shards"][0]["measured"]["rounds"].as_u64().is_some_and(|rounds| rounds > 0) {
            break page;
        }
    };
    let shard = &measured["shards"][0];
    assert_eq!(
        (&shard["kind"], &shard["state"]["is"], &shard["state"]["node"]),
        (&"zen3".into(), &"running".into(), &"h1".into())
    );
    assert!(
        shard["state"]["since"].is_f64() && measured["seconds_left"].as_f64().is_some_and(|left| left < 60.0),
        "{measured}"
    );
    let cancelled = said(&lab, "cancel", &[]);
    cancelled.assert_code(0);
    assert!(
        cancelled.page.contains("was cancelled") && cancelled.page.contains("in the ledger"),
        "{cancelled:?}"
    );
    let waited = running.wait();
    waited.assert_code(1);
    waited.assert_errors(&["up to", "of measuring left", "the same command with --resume goes on"]);
    let kept = lab.count("SELECT count(*) FROM sample");
    assert!(kept > 0);
    let again = on(&lab, &["--per", "zen3", "--resume"]).wait();
    again.assert_code(0);
    again.assert_errors(&["zen3: handed in again as job h1/"]);
    assert_eq!(lab.count("SELECT count(*) FROM campaign"), 1, "{again:?}");
    assert!(lab.count("SELECT count(*) FROM sample") > kept);
    assert_eq!(status(&lab)["shards"][0]["state"]["is"], "ended");
    lab.assert_ledger_is_whole();
}

#[test]
fn a_shard_is_added_once_and_none_of_another_version() {
    let Some(lab) = Lab::with_program("#include \"good.c\"\n", &["plain", "backward"]) else { return };
    lab.edit(|text| text.replace("budget = 5", "budget = 1"));
    with_hosts(&lab, "");
    on(&lab, &["--per", "skylake"]).wait().assert_code(0);
    let samples = lab.count("SELECT count(*) FROM sample");
    on(&lab, &["--per", "skylake", "--resume"]).wait().assert_code(0);
    assert_eq!(lab.count("SELECT count(*) FROM sample"), samples, "what was added is added once");
    shard_ledger(&lab).execute("UPDATE campaign SET assay_version = '9.9.9'", []).expect("it is changed");
    let refused = on(&lab, &["--per", "skylake", "--resume"]).wait();
    refused.assert_code(1);
    refused.assert_errors(&["it was measured by assay 9.9.9, not by", "assay merge"]);
    assert!(refused.page.contains("skylake not added: it was measured by assay 9.9.9"), "{refused:?}");
    assert_eq!(lab.count("SELECT count(*) FROM campaign"), 1);
}

#[test]
fn a_full_shared_folder_costs_the_shard_and_with_room_again_it_goes_on() {
    let Some(mut lab) = Lab::with_program("#include \"good.c\"\n", &["plain", "backward"]) else { return };
    lab.edit(|text| text.replace("budget = 5", "budget = 1"));
    with_hosts(&lab, "");
    let place = lab.file("shared");
    std::fs::create_dir_all(&place).expect("a folder");
    let Some(_disk) = Disk::mount(&place, "600k") else { return };
    lab.keep_ledger_in(place.join("ledger.db"));
    let full = on(&lab, &["--per", "zen3"]).wait();
    assert_ne!(full.code, Some(0), "{full:?}");
    assert!(
        full.page.contains("zen3 no answer") || full.page.contains("zen3 not added: the disk"),
        "{full:?}"
    );
    assert!(full.errors.contains("is there room in") || full.errors.contains("No space left"), "{full:?}");
    lab.assert_ledger_is_whole();
    assert!(Disk::grow(&place, "64m"), "it can grow");
    on(&lab, &["--per", "zen3", "--resume"]).wait().assert_code(0);
    assert_eq!(lab.count("SELECT count(*) FROM campaign WHERE stopped_because <> 'interrupted'"), 1);
    lab.assert_ledger_is_whole();
}

/// A file system of its own, gone with the test.
struct Disk(PathBuf);

impl Disk {
    fn mount(place: &Path, size: &str) -> Option<Disk> {
        let size = format!("size={size}");
        let ran = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "none"]).arg(place).output();
        if ran.is_ok_and(|ran| ran.status.success()) {
            return Some(Disk(place.to_owned()));
        }
        eprintln!("skipped: a small file system cannot be mounted here (it takes root)");
        None
    }

    fn grow(place: &Path, size: &str) -> bool {
        let size = format!("remount,size={size}");
        Command::new("mount").args(["-o", &size]).arg(place).status().is_ok_and(|status| status.success())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_machine_with_another_version_is_refused_with_its_reason_and_the_other_measures() {
    let Some(lab) = Lab::with_program("#include \"good.c\"\n", &["plain", "backward"]) else { return };
    lab.edit(|text| text.replace("budget = 5", "budget = 1"));
    let other = script(&lab, "other-assay", "[ \"$1\" = --version ] && echo assay 9.9.9\nexit 0");
    with_hosts(&lab, &format!("assay = \"{}\"", other.display()));
    let said = on(&lab, &[]).wait();
    said.assert_code(3);
    assert!(
        said.page.contains("zen3 no answer: not measured: ") && said.page.contains("but assay 9.9.9"),
        "{said:?}"
    );
    assert_eq!(lab.count("SELECT count(*) FROM campaign"), 1);
}

#[test]
fn a_comparison_and_a_sweep_are_handed_to_other_machines() {
    let Some(lab) = Lab::with_program("#include \"good.c\"\n", &["plain", "backward"]) else { return };
    with_hosts(&lab, "");
    let words = ["--on", "ssh:hosts.toml", "--per", "zen3", "--budget", "1"];
    let commands = ["--", "sh -c 'echo a'", "sh -c 'echo b'"];
    let refused = on(&lab, &["--json", "-"]).wait();
    refused.assert_code(2);
    refused.assert_errors(&["--json is of one machine's page", "`assay report` writes each"]);
    let mut command = lab.command("compare", &words);
    command.args(commands);
    let compared = Running::start(command).wait();
    compared.assert_code(0);
    assert_eq!(lab.count("SELECT count(*) FROM comparison"), 1, "{compared:?}");
    let range =
        ["--key", "inputs.bytes.max_bits", "--from", "6", "--to", "7", "--points", "2", "--refine", "0"];
    let sweep = lab.command("sweep", &[&["experiment.toml"], &words[..], &range].concat());
    let swept = Running::start(sweep).wait();
    assert_eq!(lab.count("SELECT count(*) FROM sweep"), 1, "{swept:?}");
    assert!(swept.page.contains("zen3"), "{swept:?}");
}
