//! `assay inputs` and inputs that a command makes, as a user meets them.

use crate::robust::lab::can_run;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn assay(folder: &Path, arguments: &[&str]) -> Output {
    begun(folder, arguments).output().expect("the lab can be started")
}

fn begun(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

const PROGRAM: &str = r#"
#include <assay.h>
#include <stdint.h>

static uint64_t sum(const uint8_t *data, size_t size) {
    uint64_t sum = 0;
    for (size_t at = 0; at < size; at++) sum += data[at];
    return sum;
}

ASSAY_VARIANT("a", sum)
ASSAY_VARIANT("b", sum)
ASSAY_MAIN()
"#;

#[test]
fn a_command_runs_once_for_all_that_looks_at_its_input() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("written");
    write("a.c", PROGRAM);
    write("make.sh", "echo ran >> log; head -c 4000 /dev/urandom");
    let file = "question = \"q?\"\nbaseline = \"a\"\nvariants = [\"a\", \"b\"]\nprogram.sources = [\"a.c\"]\n\
                flags = [\"-Og\"]\ncompilers = [\"COMPILER\"]\nplacement = { rotations = 1, max_rotations = 1, phases = [0] }\n\
                [inputs.mine]\ncommand = [\"sh\", \"make.sh\"]\n\
                [inputs.other]\ngenerator = \"entropy\"\nunits = 1000\nwith = { beside = \"second\" }\n\
                [inputs.second]\ncommand = [\"sh\", \"./make.sh\"]\n";
    let compiler = if can_run("gcc") { "gcc" } else { "clang" };
    write("e.toml", &file.replace("COMPILER", compiler));
    let runs = || std::fs::read_to_string(folder.join("log")).expect("it ran").lines().count();
    let run = ["run", "e.toml", "--quiet", "--budget", "0.1"];
    for (words, expected) in [
        (&["plan", "e.toml"][..], 1),
        (&run, 2),
        (&run, 2),
        (&["plan", "e.toml"], 2),
        (&["inputs", "describe", "e.toml"], 2),
        (&["inputs", "generate", "e.toml", "mine", "mine.bin"], 2),
        (&["inputs", "generate", "e.toml", "second", "second.bin"], 2),
        (&["inputs", "generate", "e.toml", "other", "other.bin"], 2),
    ] {
        let output = assay(folder, words);
        assert!(output.status.success(), "{words:?}: {}", said(&output));
        assert_eq!(runs(), expected, "{words:?}");
    }
    let bytes = |name: &str| std::fs::read(folder.join(name)).expect("written");
    assert_eq!(bytes("second.bin"), bytes("other.bin.beside"));
    let none = assay(folder, &["inputs", "generate", "e.toml", "none", "none.bin"]);
    assert!(said(&none).contains("its inputs are: mine, other, second"), "{}", said(&none));
    write("make.sh", "echo ran >> log; head -c 5000 /dev/urandom");
    assert!(assay(folder, &["plan", "e.toml"]).status.success());
    assert_eq!(runs(), 3);
}

#[test]
fn a_recording_that_is_interrupted_keeps_what_was_carried() {
    for signal in ["INT", "TERM"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = folder.path();
        let endless = "echo hello; touch begun; while :; do sleep 0.1; done";
        let child = begun(folder, &["inputs", "record", "-q", "-o", "f", "--", "sh", "-c", endless])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let patience = Instant::now() + Duration::from_secs(60);
        while !folder.join("begun").exists() {
            assert!(Instant::now() < patience, "the command was not started");
            std::thread::sleep(Duration::from_millis(10));
        }
        let asked = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
        assert!(asked.expect("kill is here").success());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(1), "{:?} {}", output.status.signal(), said(&output));
        assert!(
            said(&output).contains("interrupted: everything captured until then is kept"),
            "{}",
            said(&output)
        );
        assert_eq!(std::fs::read(folder.join("f")).expect("kept"), b"hello\n");
    }
}

#[test]
fn a_recording_ends_at_its_limit_and_with_its_reader() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let kept = |name: &str| std::fs::read(folder.join(name)).expect("kept");
    let full = assay(folder, &["inputs", "record", "-q", "--limit", "100", "-o", "f", "--", "yes"]);
    assert!(full.status.success() && said(&full).contains("--limit 100 was reached"), "{}", said(&full));
    assert_eq!(kept("f"), b"y\n".repeat(50));
    let silent = "echo one; echo two; exec sleep 1000";
    let full = assay(folder, &["inputs", "record", "--limit", "4", "-o", "f", "--", "sh", "-c", silent]);
    assert!(full.status.success(), "{}", said(&full));
    assert_eq!((kept("f"), &full.stdout[..]), (b"one\n".to_vec(), &b"one\n"[..]));
    // What ends just there was not cut.
    let exact = assay(folder, &["inputs", "record", "--limit", "4", "-o", "f", "--", "echo", "one"]);
    assert!(exact.status.success() && !said(&exact).contains("limit"), "{}", said(&exact));
    for line in
        ["\"$0\" inputs record -o g -- yes | head -1", "yes | \"$0\" inputs record --stdin -o g -- head -1"]
    {
        let mut shell = Command::new("timeout");
        shell.args(["60", "sh", "-c", line, env!("CARGO_BIN_EXE_assay")]).current_dir(folder);
        let output = shell.output().expect("a shell");
        assert!(output.status.success() && output.stdout == b"y\n", "{line}: {}", said(&output));
        assert!(said(&output).contains("so the recording ended"), "{line}: {}", said(&output));
        assert!(kept("g").starts_with(b"y\ny\n"), "{line}");
    }
}

#[test]
fn keys_that_no_table_has_are_refused_as_json() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in ["keys", "settings", "bursts"] {
        let output = assay(folder.path(), &["inputs", "generators", name, "--json"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty() && said(&output).contains("--json"), "{}", said(&output));
    }
    let output = assay(folder.path(), &["inputs", "generators", "zipf", "--json"]);
    assert!(serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("JSON").is_array());
}
