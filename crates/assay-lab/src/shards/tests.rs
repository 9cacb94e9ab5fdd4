use super::cluster::Sight;
use super::*;
use std::process::Command;

fn shard(folder: &Path) -> Shard {
    Shard {
        feature: "zen3&big".into(),
        part: None,
        job: "7".into(),
        stem: "1-zen3_big".into(),
        folder: folder.to_owned(),
    }
}

fn question(folder: &Path, words: &[&str]) -> ShardedQuestion {
    ShardedQuestion {
        verb: "run".into(),
        name: "e".into(),
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        folder: folder.to_owned(),
        ledger: folder.join("ledger.db"),
        budget: None,
        version: "assay 1\ncommit: x".into(),
        cluster: ClusterName::Slurm,
        array: None,
        shards: vec![shard(folder)],
        place: folder.to_owned(),
    }
}

/// Runs a script with a program that notes its words, makes its ledger and ends with the codes in order.
fn played(folder: &Path, codes: &str, ledger: bool, version: &str) -> (Vec<String>, Option<u8>) {
    let program = folder.join("it's assay");
    let text = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && {{ printf '{version}'; exit; }}\necho \"$@\" >> '{0}/words'\nset -- {codes}\n\
         n=$(wc -l < '{0}/words')\nshift $((n - 1))\nexit $1\n",
        folder.display(),
        codes = codes
    );
    std::fs::write(&program, text).unwrap();
    let shown = Command::new("chmod").arg("+x").arg(&program).status().unwrap();
    assert!(shown.success());
    let shard = shard(folder);
    if ledger {
        std::fs::write(shard.ledger(), "").unwrap();
    }
    let asked = question(folder, &["e.toml", "--input", "a b"]);
    let script = script::script(&asked, ScriptFor::One(0), &program, &Sight::default());
    let log = std::fs::File::options().create(true).append(true).open(shard.log()).unwrap();
    Command::new("sh").arg("-c").arg(script).stdout(log).status().unwrap();
    let words = std::fs::read_to_string(folder.join("words")).unwrap_or_default();
    (words.lines().map(str::to_owned).collect(), shard.ended())
}

const SAME: &str = "assay 1\\ncommit: x\\ntarget: y\\n";

#[test]
fn a_job_measures_goes_on_where_it_was_and_begins_anew_where_nothing_can_go_on() {
    let folder = || tempfile::tempdir().unwrap();
    let new = folder();
    let ledger = shard(new.path()).ledger().display().to_string();
    let measured = format!("run --quiet --ledger {ledger} e.toml --input a b");
    assert_eq!(played(new.path(), "3", false, SAME), (vec![measured], Some(3)));
    let again = folder();
    let (words, end) = played(again.path(), "0", true, SAME);
    assert!(words.len() == 1 && words[0].contains(" --resume e.toml") && end == Some(0), "{words:?}");
    let other = folder();
    let (words, end) = played(other.path(), "2 1", true, SAME);
    assert!(words.len() == 2 && words[1].contains(".db e.toml") && end == Some(1), "{words:?}");
}

#[test]
fn a_machine_with_another_version_measures_nothing_and_says_which_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let (words, end) = played(folder.path(), "0", false, "assay 2\\ncommit: y\\n");
    assert!(words.is_empty() && end == Some(3), "{words:?}");
    let said = shard(folder.path()).last_line();
    assert!(said.starts_with("not measured: ") && said.ends_with("but assay 2 commit: y"), "{said}");
}

#[test]
fn a_job_that_is_stopped_has_no_end_though_assay_ended_before_the_shell_was_told() {
    let folder = tempfile::tempdir().unwrap();
    // The program stops its shell a moment after it has ended itself.
    let program = folder.path().join("assay");
    let text = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && {{ printf '{SAME}'; exit; }}\n(sleep 0.3; kill -TERM $PPID) &\nexit 1\n"
    );
    std::fs::write(&program, text).unwrap();
    assert!(Command::new("chmod").arg("+x").arg(&program).status().unwrap().success());
    let shard = shard(folder.path());
    let script =
        script::script(&question(folder.path(), &["e.toml"]), ScriptFor::One(0), &program, &Sight::default());
    let status = Command::new("sh").arg("-c").arg(script).status().unwrap();
    assert_eq!((status.code(), shard.ended()), (Some(143), None));
}

#[test]
fn a_cancelled_job_has_no_end_unless_it_came_to_it() {
    for (code, end) in [("1", None), ("0", Some(0))] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(shard(folder.path()).file("cancelled"), "").unwrap();
        assert_eq!(played(folder.path(), code, false, SAME).1, end);
    }
}

#[test]
fn a_list_that_names_files_elsewhere_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let parent = folder.path().canonicalize().unwrap();
    let own = new_folder(&parent, "e").unwrap();
    let mut kept = question(&parent, &["e.toml"]);
    kept.place.clone_from(&own);
    kept.keep().unwrap();
    assert_eq!(newest(&parent).unwrap().shards[0].ledger(), own.join("1-zen3_big.db"));
    kept.shards[0].stem = "../1-zen3".into();
    kept.keep().unwrap();
    assert!(newest(&parent).unwrap_err().0.contains("no jobs were handed in from"));
}

#[test]
fn only_the_same_question_is_gone_on_with() {
    let folder = Path::new("/lab");
    let asked = question(folder, &["e.toml"]);
    assert!(asked.is_same(&ShardedQuestion {
        version: "assay 2".into(),
        budget: Some(5.0),
        ..asked.clone()
    }));
    assert!(!asked.is_same(&question(folder, &["e.toml", "--quick"])));
    assert!(!asked.is_same(&question(Path::new("/other"), &["e.toml"])));
    let mut part = asked.clone();
    part.shards[0].part = Some(ShardPart { name: "input a".into(), words: vec![] });
    assert!(!asked.is_same(&part));
}

#[test]
fn a_name_of_any_letters_is_a_file() {
    assert_eq!(plain("zen3&big mem/ä"), "zen3_big_mem__");
}

/// A program that notes that it began, ends with 0 once `go` is there, and is asked for its version.
fn slow_program(folder: &Path) -> PathBuf {
    let program = folder.join("assay");
    let text = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && {{ printf '{SAME}'; exit; }}\necho \"$@\" >> '{0}/words'\n: > '{1}'\n\
         while [ ! -e '{0}/go' ]; do sleep 0.02; done\n",
        folder.display(),
        shard(folder).ledger().display()
    );
    std::fs::write(&program, text).unwrap();
    assert!(Command::new("chmod").arg("+x").arg(&program).status().unwrap().success());
    program
}

/// A job of the shard, started in a group of its own.
fn job(folder: &Path, program: &Path) -> std::process::Child {
    use std::os::unix::process::CommandExt as _;
    let shard = shard(folder);
    let script =
        script::script(&question(folder, &["e.toml"]), ScriptFor::One(0), program, &Sight::default());
    let log = std::fs::File::options().create(true).append(true).open(shard.log()).unwrap();
    Command::new("sh").arg("-c").arg(script).stdout(log).process_group(0).spawn().unwrap()
}

fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while !is_so() {
        assert!(std::time::Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

fn measured(folder: &Path) -> Vec<String> {
    let words = std::fs::read_to_string(folder.join("words")).unwrap_or_default();
    words.lines().map(str::to_owned).collect()
}

#[test]
fn of_two_jobs_of_a_shard_one_measures_and_the_other_waits_for_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let program = slow_program(folder.path());
    let mut first = job(folder.path(), &program);
    wait_for("the first job's measuring", || measured(folder.path()).len() == 1);
    let mut second = job(folder.path(), &program);
    wait_for("the second job's word", || {
        shard(folder.path()).last_line()
            == "another job of this shard measures, or the lock of its file cannot be had; this one waits"
    });
    std::fs::write(folder.path().join("go"), "").unwrap();
    assert!(first.wait().unwrap().success() && second.wait().unwrap().success());
    assert_eq!((measured(folder.path()).len(), shard(folder.path()).ended()), (1, Some(0)));
}

#[test]
fn a_job_that_waits_goes_on_where_the_one_before_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let program = slow_program(folder.path());
    let mut first = job(folder.path(), &program);
    wait_for("the first job's measuring", || measured(folder.path()).len() == 1);
    let mut second = job(folder.path(), &program);
    wait_for("the second job's word", || shard(folder.path()).last_line().contains("this one waits"));
    let group = format!("-{}", first.id());
    assert!(Command::new("kill").args(["-KILL", "--", &group]).status().unwrap().success());
    first.wait().unwrap();
    wait_for("the second job's measuring", || measured(folder.path()).len() == 2);
    std::fs::write(folder.path().join("go"), "").unwrap();
    assert!(second.wait().unwrap().success());
    let words = measured(folder.path());
    assert!(words[1].contains("--resume") && shard(folder.path()).ended() == Some(0), "{words:?}");
}

#[test]
fn a_failed_job_is_told_by_the_first_line_of_its_message_and_not_by_what_that_quotes() {
    let folder = tempfile::tempdir().unwrap();
    let shard = shard(folder.path());
    let fails_with = |code: u8, log: &str| {
        std::fs::write(shard.log(), log).unwrap();
        std::fs::write(shard.file("end"), format!("{code}\n")).unwrap();
        match look::state(&shard, None) {
            assay_report::status::ShardState::Failed { code: told, reason } if told == code => reason,
            other => panic!("{other:?}"),
        }
    };
    let waits = "assay: another job of this shard measures; this one waits\n";
    let message =
        "assay: input `log`: `./made 7` failed (exit status: 1):\nTraceback of made\nmade: no seed\n";
    let first = "input `log`: `./made 7` failed (exit status: 1)";
    assert_eq!(fails_with(2, message), first);
    assert_eq!(fails_with(2, &format!("assay: nothing to resume\n{waits}{message}\n")), first);
    assert_eq!(fails_with(1, "assay: no gcc\n"), "no gcc");
    // From 126 on it is the shell that tells why.
    let shell = "sh: 12: /opt/assay: Permission denied";
    assert_eq!(fails_with(126, &format!("{waits}{shell}\n")), shell);
    assert_eq!(fails_with(1, "flock: no locks available\n\n"), "flock: no locks available");
    assert!(fails_with(1, "\n").starts_with("it printed nothing"));
}

#[test]
fn what_ended_after_it_was_added_is_not_added_yet() {
    let folder = tempfile::tempdir().unwrap();
    let shard = shard(folder.path());
    assert!(!shard.is_merged());
    shard.mark_merged(shard.stage()).unwrap();
    assert!(shard.is_merged(), "taken for lost");
    std::fs::write(shard.file("end"), "0\n").unwrap();
    assert!(!shard.is_merged(), "it went on");
    shard.mark_merged(shard.stage()).unwrap();
    assert!(shard.is_merged());
}

/// Somebody else's jobs: they go on whatever is asked.
struct Deaf;

impl Cluster for Deaf {
    fn hand_in(&self, _: &ClusterJob<'_>) -> Result<String> {
        unreachable!("nothing is handed in")
    }

    fn look(&self, jobs: &[&str]) -> std::collections::BTreeMap<String, JobState> {
        jobs.iter().map(|job| ((*job).to_owned(), JobState::Running("n1".into()))).collect()
    }

    fn cancel(&self, _: &str) -> Result<(), String> {
        Err("Access denied".into())
    }
}

#[test]
fn a_job_that_could_not_be_cancelled_is_not_marked_so_and_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = crate::store::Ledger::open(&folder.path().join("ledger.db")).unwrap();
    let handed = HandedIn { question: question(folder.path(), &["e.toml"]), cluster: Box::new(Deaf) };
    let mut told = Vec::new();
    let begun = std::time::Instant::now();
    let mut add = to_ledger(&ledger, &handed.question);
    let ends = cancel(&handed, &mut *add, &mut |text| told.push(text.to_owned())).unwrap();
    assert!(begun.elapsed().as_secs() < 30, "it goes on: its end is not near");
    assert!(told[0].contains("job 7 is not cancelled: Access denied"), "{told:?}");
    assert!(!shard(folder.path()).file("cancelled").exists() && !ends[0].state.is_over(), "{ends:?}");
}
