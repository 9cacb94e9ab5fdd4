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
