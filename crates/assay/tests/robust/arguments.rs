//! What the user gets wrong on the command line, and readers that go away.

use super::lab::{Lab, Running};
use std::process::{Command, Stdio};

#[test]
fn an_experiment_file_that_is_a_folder_is_misuse() {
    let Some(lab) = Lab::with_fault("good") else { return };
    std::fs::create_dir(lab.file("folder")).unwrap();
    let said = Running::start(lab.command("run", &["folder"])).wait();
    said.assert_code(2);
    said.assert_errors(&["folder is a folder", "no .toml file", "`assay new NAME` writes one"]);
    std::fs::write(lab.file("folder/mine.toml"), "").unwrap();
    let said = Running::start(lab.command("run", &["folder"])).wait();
    said.assert_errors(&["folder is a folder; name the experiment file in it: folder/mine.toml"]);
    assert!(!lab.ledger_path().exists(), "nothing was made");
}

#[test]
fn an_experiment_file_that_is_missing_is_misuse() {
    let Some(lab) = Lab::with_fault("good") else { return };
    let said = Running::start(lab.command("run", &["nowhere.toml"])).wait();
    said.assert_code(2);
    said.assert_errors(&["cannot read the experiment nowhere.toml", "`assay new NAME` writes one"]);
}

#[test]
fn a_folder_that_cannot_take_the_json_is_told_before_measuring() {
    let Some(lab) = Lab::with_fault("good") else { return };
    let said = lab.run(&["--json", "nowhere/page.json"]);
    said.assert_code(2);
    said.assert_errors(&["cannot write nowhere/page.json: there is no folder nowhere"]);
    let said = lab.run(&["--json", "/proc/page.json"]);
    said.assert_code(2);
    said.assert_errors(&["cannot write /proc/page.json: "]);
    assert!(!lab.ledger_path().exists(), "nothing was measured");
}

#[test]
fn a_reader_that_closes_the_page_early_changes_nothing() {
    let Some(lab) = Lab::with_program("#include \"good.c\"\n", &["plain", "backward"]) else { return };
    // Both streams lead into a pipe whose reader is gone: what `2>&1 | head -1` does, at its worst.
    let mut reader = Command::new("true").stdin(Stdio::piped()).spawn().unwrap();
    let closed = reader.stdin.take().unwrap();
    reader.wait().unwrap();
    let closed: std::os::fd::OwnedFd = closed.into();
    let mut command = lab.command("run", &["experiment.toml"]);
    command.stdout(closed.try_clone().unwrap()).stderr(closed);
    let code = command.status().unwrap().code();
    assert_eq!(code, Some(0));
    assert_eq!(lab.column("SELECT stopped_because FROM campaign").len(), 1);
    assert_eq!(lab.page()["contrasts"].as_array().unwrap().len(), 1, "the campaign came to its end");
}

#[test]
fn an_error_that_nobody_reads_still_has_its_exit_code() {
    let Some(lab) = Lab::with_fault("good") else { return };
    let mut reader = Command::new("true").stdin(Stdio::piped()).spawn().unwrap();
    let closed: std::os::fd::OwnedFd = reader.stdin.take().unwrap().into();
    reader.wait().unwrap();
    let code = lab.command("run", &["nowhere.toml"]).stderr(closed).status().unwrap().code();
    assert_eq!(code, Some(2));
}

#[test]
fn the_json_can_go_to_a_device() {
    let Some(lab) = Lab::with_program("#include \"good.c\"\n", &["plain", "backward"]) else { return };
    lab.run(&[]).assert_code(0);
    // A pipe stands for /dev/null, which a mistake here would replace by a file.
    let pipe = lab.file("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = Running::start({
        let mut cat = Command::new("cat");
        cat.arg(&pipe);
        cat
    });
    Running::start(lab.command("report", &["--json", "pipe"])).wait().assert_code(0);
    assert!(reader.wait().page.contains("assay.campaign/1"));
    use std::os::unix::fs::FileTypeExt as _;
    assert!(std::fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo(), "it is still a pipe");
}

#[test]
fn output_that_is_lost_is_no_success() {
    let Some(lab) = Lab::with_program("#include \"good.c\"\n", &["plain", "backward"]) else { return };
    lab.run(&[]).assert_code(0);
    std::fs::write(lab.file("numbers.txt"), "1\n300\n").unwrap();
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let printing: [(&str, &[&str]); 8] = [
        ("--version", &[]),
        ("--help", &[]),
        ("run", &["experiment.toml"]),
        ("report", &[]),
        ("report", &["--list"]),
        ("plan", &["experiment.toml"]),
        ("new", &["other"]),
        ("inputs", &["encode", "numbers.txt", "numbers.bin"]),
    ];
    // Only verbs that read a ledger can be told which.
    let command = |verb: &str, arguments: &[&str]| {
        if ["run", "report", "plan"].contains(&verb) {
            return lab.command(verb, arguments);
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.arg(verb).args(arguments).current_dir(lab.file(""));
        command
    };
    let mut wrong = Vec::new();
    for (verb, arguments) in printing {
        let mut command = command(verb, arguments);
        let output = command.stdout(full()).stderr(Stdio::piped()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.code() != Some(1) || !errors.contains("cannot write standard output: No space left")
        {
            wrong.push(format!("{verb} {arguments:?}: {:?} {errors}", output.status.code()));
        }
    }
    let writing: [(&str, &[&str]); 3] = [
        ("run", &["experiment.toml", "--json", "/dev/full"]),
        ("report", &["--json", "/dev/full"]),
        ("inputs", &["encode", "numbers.txt", "/dev/full"]),
    ];
    for (verb, arguments) in writing {
        let output = command(verb, arguments).stdout(Stdio::null()).stderr(Stdio::piped()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.code() != Some(1) || !errors.contains("cannot write /dev/full: No space left") {
            wrong.push(format!("{verb} {arguments:?}: {:?} {errors}", output.status.code()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_pages_of_a_run_carry_no_escapes_of_its_question() {
    let Some(lab) = Lab::with_program("#include \"good.c\"\n", &["plain", "backward"]) else { return };
    lab.edit(|text| {
        text.replace("Is it faster?", "Is it \\u001b]0;owned\\u0007 \\u001b[2J \\u009b31m faster?")
    });
    for arguments in [&["experiment.toml"][..], &["no\u{1b}[2Jwhere.toml"]] {
        let said = Running::start(lab.command("run", arguments)).wait();
        for text in [&said.page, &said.errors] {
            assert!(!text.contains(|c: char| c.is_control() && !c.is_whitespace()), "{text:?}");
        }
    }
}
