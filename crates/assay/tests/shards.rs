//! `--on ssh:hosts.toml`, `assay status` and `assay cancel` by the binary: a stand-in for ssh runs everything on this machine, so
//! that jobs, merging and failures are real.

use super::robust::lab::{Lab, Running, SLOW, Said};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

fn script(lab: &Lab, name: &str, text: &str) -> PathBuf {
    script_in(&lab.file(""), name, text)
}

fn script_in(folder: &Path, name: &str, text: &str) -> PathBuf {
    let file = folder.join(name);
    std::fs::write(&file, format!("#!/bin/sh\n{text}\n")).expect("a script");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("it can run");
    file
}

/// Two hosts of two kinds; what is said of the first one goes into the list.
fn with_hosts(lab: &Lab, first: &str) {
    with_hosts_in(&lab.file(""), first);
}

/// The same in a folder that is no experiment's.
pub fn with_hosts_in(folder: &Path, first: &str) {
    let ssh = script_in(folder, "ssh", "shift\nexec sh -c \"$1\"");
    let text = format!(
        "ssh = \"{}\"\n[[host]]\nname = \"h1\"\nkind = \"zen3\"\n{first}\n[[host]]\nname = \"h2\"\nkind = \"skylake\"\n",
        ssh.display()
    );
    std::fs::write(folder.join("hosts.toml"), text).expect("a list of hosts");
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
fn parts_by_compiler_are_a_campaign_each_and_what_compares_compilers_is_refused() {
    let program = "#include \"good.c\"\n";
    let Some(lab) = Lab::with_program(program, &["plain", "backward"]) else { return };
    if Command::new("clang").arg("--version").output().is_err() {
        println!("skipped: there is no clang");
        return;
    }
    lab.edit(|text| text.replace("[\"gcc\"]", "[\"gcc\", \"clang\"]").replace("-Og", "-O1"));
    with_hosts(&lab, "");
    let words = ["--per", "zen3", "--shard-by", "compiler"];
    on(&lab, &words).wait().assert_code(0);
    let compilers = |campaign: &str| {
        let sql = format!("SELECT DISTINCT compiler FROM process WHERE campaign IN ({campaign}) ORDER BY 1");
        lab.column(&sql)
    };
    let both = compilers("SELECT id FROM campaign");
    assert_eq!(both.len(), 2, "{both:?}");
    assert_eq!(lab.count("SELECT count(*) FROM campaign"), 2);
    let (first, second) =
        (compilers("SELECT min(id) FROM campaign"), compilers("SELECT max(id) FROM campaign"));
    assert_eq!([first, second].concat().len(), 2, "each part has one compiler");
    assert_eq!(lab.column("SELECT DISTINCT '' || (spec ->> 'confidence') FROM campaign"), ["0.975"]);
    lab.assert_ledger_is_whole();
    lab.edit(|text| text + "\n[contrasts]\nalong = [\"variant\", \"compiler\"]\n");
    let refused = on(&lab, &words).wait();
    refused.assert_code(2);
    refused.assert_errors(&["which must be measured on one machine; use --shard-by input"]);
    assert_eq!(lab.count("SELECT count(*) FROM campaign"), 2);
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
    // What does not fit is the program, a ledger's first page or its rounds, by how large each is today.
    let told = ["zen3 no answer", "zen3 not added: the disk", "is empty: its disk was full"];
    assert!(told.iter().any(|told| full.page.contains(told)), "{full:?}");
    let reasons = ["is there room in", "No space left", "db is full."];
    assert!(reasons.iter().any(|reason| full.errors.contains(reason)), "{full:?}");
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
    // More than it takes, also where somebody else is on the processors.
    let words = ["--on", "ssh:hosts.toml", "--per", "zen3", "--budget", "6"];
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

/// Two hosts whose jobs are none of assay's own processes, as jobs on other machines are not: whoever interrupts it kills all below.
/// The way to them takes a moment, and tells that it is under way.
fn with_far_hosts(lab: &mut Lab, first: &str) -> Running {
    lab.measure_out_of_turn();
    with_hosts(lab, first);
    let here = lab.file("far");
    std::fs::create_dir_all(&here).expect("a folder");
    let ask = "cat > draft.$$\n: > under-way\nsleep 0.3\nmv draft.$$ request.$$\nwhile [ ! -e done.$$ ]; do sleep 0.02; done\n\
               cat done.$$";
    script(lab, "ssh", &format!("cd '{}'\n{ask}", here.display()));
    let serve = "while :; do for one in request.*; do [ -e \"$one\" ] || continue; number=${one#*.}\n\
                 mv \"$one\" taken; sh taken > out; mv out \"done.$number\"; done; sleep 0.02; done";
    let mut host = Command::new(script(lab, "host", &format!("cd '{}'\n{serve}", here.display())));
    host.env("XDG_RUNTIME_DIR", lab.file("turns"));
    Running::start(host)
}

fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Files of this ending of all jobs.
fn files(lab: &Lab, ending: &str) -> Vec<PathBuf> {
    let all = std::fs::read_dir(lab.file("shards")).into_iter().flatten().flatten();
    let files = all.flat_map(|one| std::fs::read_dir(one.path()).into_iter().flatten().flatten());
    files
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .collect()
}

#[test]
fn a_shard_that_ends_late_by_a_clock_of_its_own_is_added_once() {
    let Some(mut lab) = Lab::with_program("#include \"good.c\"\n", &["plain", "backward"]) else { return };
    lab.edit(|text| text.replace("budget = 5", "budget = 1"));
    // The first host waits until it is let go.
    let real = env!("CARGO_BIN_EXE_assay");
    let text = format!(
        "[ \"$1\" = --version ] || while [ ! -e '{}' ]; do sleep 0.05; done\nexec '{real}' \"$@\"",
        lab.file("go").display()
    );
    let late = script(&lab, "late-assay", &text);
    let _host = with_far_hosts(&mut lab, &format!("assay = \"{}\"", late.display()));
    let running = on(&lab, &[]);
    wait_for("the other shard", || files(&lab, "merged").len() == 1);
    running.signal("INT");
    let left = running.wait();
    left.assert_code(1);
    left.assert_errors(&["not over yet", "--resume waits for them"]);
    let first = lab.count("SELECT count(*) FROM sample");
    std::fs::write(lab.file("go"), "").expect("it is let go");
    wait_for("its end", || files(&lab, "end").len() == 2);
    let seen = said(&lab, "status", &[]);
    assert!(
        seen.page.contains("adds what has ended to the ledger")
            && seen.page.contains("not in the ledger yet"),
        "{seen:?}"
    );
    // Its machine's clock is an hour behind.
    let ledgers = files(&lab, "db");
    let late_one =
        ledgers.iter().find(|path| path.display().to_string().contains("1-zen3")).expect("its ledger");
    let open = rusqlite::Connection::open(late_one).expect("it opens");
    let behind = "UPDATE campaign SET started_at = started_at - 3600, finished_at = finished_at - 3600; \
                  UPDATE process SET started_at = started_at - 3600; UPDATE round SET started_at = started_at - 3600";
    open.execute_batch(behind).expect("it is changed");
    drop(open);
    on(&lab, &["--resume"]).wait().assert_code(0);
    let whole = lab.count("SELECT count(*) FROM sample");
    assert!(whole > first);
    assert_eq!(lab.count("SELECT count(*) FROM campaign"), 2);
    // However often, and by whatever way.
    on(&lab, &["--resume"]).wait().assert_code(0);
    for path in &ledgers {
        Running::start(lab.command("merge", &[&path.display().to_string()])).wait().assert_code(0);
    }
    assert_eq!(
        (lab.count("SELECT count(*) FROM sample"), lab.count("SELECT count(*) FROM campaign")),
        (whole, 2)
    );
    let page = status(&lab);
    for shard in page["shards"].as_array().expect("two") {
        assert_eq!((&shard["state"]["is"], &shard["merged"]), (&"ended".into(), &true.into()), "{page}");
        assert!(shard["measured"]["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{page}");
    }
    // Only the order follows the clocks.
    let told = Running::start(lab.command("history", &["--json", "-"])).wait();
    let page: Value = serde_json::from_str(&told.page).unwrap_or_else(|error| panic!("{error}: {told:?}"));
    let ids: Vec<&str> =
        page["runs"].as_array().expect("runs").iter().filter_map(|run| run["id"].as_str()).collect();
    assert_eq!(ids, ["2", "1"], "{page:#}");
    lab.assert_ledger_is_whole();
}

#[test]
fn ctrl_c_while_a_job_is_handed_in_leaves_a_job_that_is_known() {
    use std::os::unix::process::CommandExt as _;
    let Some(mut lab) = Lab::with_program(SLOW, &["plain", "honest"]) else { return };
    lab.edit(|text| text.replace("budget = 5", "budget = 60"));
    let _host = with_far_hosts(&mut lab, "");
    let mut command = lab.command("run", &["experiment.toml", "--on", "ssh:hosts.toml", "--per", "zen3"]);
    command.process_group(0);
    let running = Running::start(command);
    wait_for("the handing in", || lab.file("far/under-way").exists());
    // The terminal tells the whole group.
    let group = format!("-{}", running.id());
    assert!(Command::new("kill").args(["-INT", "--", &group]).status().expect("kill").success());
    let left = running.wait();
    left.assert_code(1);
    left.assert_errors(&["h1/", "not over yet"]);
    assert_eq!(status(&lab)["shards"][0]["state"]["is"], "running");
    said(&lab, "cancel", &[]).assert_code(0);
}

/// What a Slurm of several clusters answers; what it was asked is in `asked`.
fn with_slurm(lab: &Lab) -> String {
    let folder = lab.file("slurm");
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, text) in [
        ("sbatch", "cat > /dev/null\necho '12;alpha'"),
        (
            "squeue",
            "[ -e cancelled ] && { echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1; }\necho '12|RUNNING|None|n1'",
        ),
        ("scancel", ": > cancelled"),
    ] {
        script(
            lab,
            &format!("slurm/{name}"),
            &format!("cd '{}'\necho {name} \"$@\" >> asked\n{text}", folder.display()),
        );
    }
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default())
}

#[test]
fn a_job_of_one_of_several_clusters_is_asked_for_there_by_its_number() {
    let Some(lab) = Lab::with_program("#include \"good.c\"\n", &["plain", "backward"]) else { return };
    let path = with_slurm(&lab);
    let mut command = lab.command("run", &["experiment.toml", "--on", "slurm", "--per", "zen3"]);
    command.env("PATH", &path);
    let running = Running::start(command);
    wait_for("its jobs", || files(&lab, "json").len() == 1);
    running.signal("INT");
    running.wait().assert_code(1);
    let told = |verb: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command
            .arg(verb)
            .current_dir(lab.file(""))
            .env("PATH", &path)
            .env("COLUMNS", "180")
            .env("NO_COLOR", "1");
        Running::start(command).wait()
    };
    let seen = told("status");
    assert!(seen.page.contains("job 12;alpha runs on n1"), "{seen:?}");
    let cancelled = told("cancel");
    cancelled.assert_code(0);
    assert!(cancelled.page.contains("job 12;alpha was cancelled"), "{cancelled:?}");
    let asked = std::fs::read_to_string(lab.file("slurm/asked")).expect("what was asked");
    assert!(asked.contains("scancel --clusters=alpha 12\n"), "{asked}");
    let looked: Vec<&str> = asked.lines().filter(|line| line.starts_with("squeue")).collect();
    // Not --me: who looks may be another than who handed it in.
    assert!(
        !looked.is_empty()
            && looked.iter().all(|line| line.contains("--clusters=alpha") && line.contains("--jobs=12")),
        "{asked}"
    );
    assert!(!asked.contains("--me"), "{asked}");
}

#[test]
fn a_path_that_a_job_cannot_be_told_of_is_refused_before_anything_is_handed_in() {
    use std::os::unix::ffi::OsStrExt as _;
    let Some(mut lab) = Lab::with_program("#include \"good.c\"\n", &["plain", "backward"]) else { return };
    let path = with_slurm(&lab);
    let place = lab.file("100%j");
    std::fs::create_dir_all(&place).expect("a folder");
    lab.keep_ledger_in(place.join("ledger.db"));
    let mut command = lab.command("run", &["experiment.toml", "--on", "slurm", "--per", "zen3"]);
    command.env("PATH", &path);
    let pattern = Running::start(command).wait();
    pattern.assert_code(2);
    pattern.assert_errors(&[
        "Slurm reads `%` and `\\` in the path of a job's output as a pattern",
        "keep what is written there in a folder without them",
    ]);
    assert_eq!(std::fs::read_dir(place.join("shards")).into_iter().flatten().count(), 0, "no folder is left");
    let odd = lab.file("").join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    std::fs::create_dir_all(&odd).expect("a folder");
    lab.keep_ledger_in(lab.file("ledger.db"));
    let mut command = lab.command("run", &["../experiment.toml", "--on", "slurm", "--per", "zen3"]);
    command.env("PATH", &path).current_dir(&odd);
    let no_text = Running::start(command).wait();
    no_text.assert_code(2);
    no_text.assert_errors(&["is not UTF-8, and a job cannot be told of it"]);
    assert!(!lab.file("slurm/asked").exists() && !lab.file("shards").exists(), "nothing was handed in");
}

#[test]
fn machines_of_one_kind_ran_the_same_program_and_are_compared_by_their_names() {
    let Some(lab) = Lab::with_program("#include \"good.c\"\n", &["plain", "backward"]) else { return };
    lab.edit(|text| text.replace("budget = 5", "budget = 1"));
    with_hosts(&lab, "");
    script(&lab, "ssh", "export SLURMD_NODENAME=\"$1\"\nshift\nexec sh -c \"$1\"");
    let shown = on(&lab, &[]).wait();
    shown.assert_code(0);
    assert!(shown.page.contains("Machines of one kind"), "{shown:?}");
    let said = Running::start(lab.command("history", &["--json", "-"])).wait();
    let page: Value = serde_json::from_str(&said.page).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    let mut hosts: Vec<&str> = page["alike"][0]["hosts"]
        .as_array()
        .expect("hosts")
        .iter()
        .filter_map(|host| host["name"].as_str())
        .collect();
    hosts.sort_unstable();
    assert_eq!((hosts, &page["alike"][0]["times"]), (vec!["h1", "h2"], &2.into()), "{page:#}");
}
