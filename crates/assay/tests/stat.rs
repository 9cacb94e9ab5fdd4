//! `assay stat` as a user calls it: exit codes, streams, forms and refusals, on whatever machine this is.
//!
//! Software events need no performance counters, so counting is exercised wherever the kernel allows those; what the
//! machine refuses is skipped with the reason.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn assay(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.arg("stat").args(arguments).env("COLUMNS", "100").stdin(Stdio::null());
    command.output().expect("assay can be started")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Whether the kernel counts page faults for this user; else says so.
fn counts() -> bool {
    let output = assay(&["-e", "page-faults", "--", "true"]);
    if !output.status.success() {
        println!("skipped: {}", text(&output.stderr));
    }
    output.status.success()
}

/// Whether commands can be traced here; else says so.
fn traces() -> bool {
    let output = assay(&["--source", "traced", "--predictor", "none", "--", "true"]);
    if !output.status.success() {
        println!("skipped: {}", text(&output.stderr));
    }
    output.status.success()
}

#[test]
fn the_commands_output_and_exit_code_are_its_own_and_the_report_goes_to_standard_error() {
    if !counts() {
        return;
    }
    let output = assay(&["-e", "task-clock,page-faults", "--", "sh", "-c", "echo out; echo err >&2; exit 7"]);
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(text(&output.stdout), "out\n");
    let report = text(&output.stderr);
    assert!(report.starts_with("err\n"), "{report}");
    for part in ["Counted: ", "page-faults", "task-clock", "s elapsed", "exit code 7"] {
        assert!(report.contains(part), "{part}: {report}");
    }
}

#[test]
fn options_after_the_command_are_the_commands_and_perfs_short_forms_are_understood() {
    if !counts() {
        return;
    }
    let output = assay(&["-r2", "-x,", "-epage-faults:u", "echo", "-n", "-r", "9", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "-r 9 --json".repeat(2));
    let lines = text(&output.stderr);
    let fields: Vec<&str> = lines.trim().split(',').collect();
    assert_eq!(fields.len(), 8, "{lines}");
    assert_eq!((fields[1], fields[2], fields[5]), ("", "page-faults:u", "100.00"), "{lines}");
    assert!(fields[0].parse::<u64>().is_ok_and(|faults| faults > 0) && fields[3].ends_with('%'), "{lines}");
}

#[test]
fn the_report_goes_where_it_is_sent_in_the_form_asked_for() {
    if !counts() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (report, page) = (path("report.txt"), path("page.json"));
    let output = assay(&["-e", "page-faults", "-o", &report, "--json", &page, "--", "true"]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    let read = |path: &str| std::fs::read_to_string(path).expect("it was written");
    assert!(read(&report).contains("page-faults"));
    let value: serde_json::Value = serde_json::from_str(&read(&page)).expect("JSON");
    assert_eq!(
        (value["schema"].as_str(), value["events"][0]["source"].as_str()),
        (Some("assay.stat/1"), Some("counted"))
    );
    let own: serde_json::Value =
        serde_json::from_slice(&assay(&["-e", "page-faults", "--json", "--", "true"]).stderr)
            .expect("JSON alone");
    assert_eq!(own["executions"][0]["code"], 0);
    let standard = assay(&["-e", "page-faults", "--json", "-", "--", "true"]);
    assert!(serde_json::from_slice::<serde_json::Value>(&standard.stdout).is_ok());
    let lines = assay(&["-e", "page-faults", "-j", "--", "true"]);
    let line: serde_json::Value = serde_json::from_slice(&lines.stderr).expect("one line of JSON");
    assert!(line["counter-value"].is_string(), "{line}");
}

#[test]
fn misuse_is_code_2_and_says_what_to_do() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml").display().to_string();
    let cases: &[(&[&str], &str)] = &[
        (&[], "give a command"),
        (&["--json", "ls"], "was taken as the file of --json"),
        (&["--", "no-such-command-anywhere"], "no command `no-such-command-anywhere`"),
        (&["--", &file], "not executable"),
        (&["--", "/"], "folder"),
        (&["-e", "brnches", "--", "true"], "there is no event `brnches`"),
        (&["--source", "traced", "--predictor", "gshar", "--", "true"], "did you mean `gshare`"),
        (&["--source", "traced", "-e", "cycles", "--", "true"], "--source traced cannot count cycles:u"),
        (&["-r", "0", "--", "true"], "0"),
        (&["-x,", "-j", "--", "true"], "cannot be used with"),
        (&["-o", "/no/such/folder/file", "--", "true"], "no folder"),
        (&["--time-limit", "-1", "--", "true"], "-1"),
    ];
    for (arguments, part) in cases {
        let output = assay(arguments);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(part), "{arguments:?}: {message}");
    }
}

#[test]
fn a_file_that_is_no_program_is_misuse_and_one_for_another_machine_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut narrow = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x03\0".to_vec();
    narrow.resize(64, 0);
    let cases: [(&str, &[u8], i32, &str); 4] = [
        ("words", b"no program", 2, "neither ELF nor a script"),
        ("script", b"#!/no/such/interpreter\n", 2, "there is no file /no/such/interpreter"),
        ("empty", b"", 2, "neither ELF nor a script"),
        ("narrow", &narrow, 3, "is a 32-bit program"),
    ];
    for (name, bytes, code, part) in cases {
        let file = folder.path().join(name);
        std::fs::write(&file, bytes).expect("written");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("mode");
        let file = file.display().to_string();
        for arguments in [&["stat", "--source", "traced", "--", &file][..], &["sites", "--", &file]] {
            let output = Command::new(env!("CARGO_BIN_EXE_assay")).args(arguments).output().expect("started");
            let message = text(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
            assert!(message.contains(part), "{arguments:?}: {message}");
        }
    }
    let output = assay(&["--source", "traced", "--plugin", "/no/such/plugin.so", "--", "true"]);
    let message = text(&output.stderr);
    if message.contains("tracing needs qemu") {
        return println!("skipped: there is no emulator");
    }
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("the plugin /no/such/plugin.so is missing"), "{message}");
}

#[test]
fn refused_counters_are_code_3_with_the_event_the_reason_and_what_would_allow_it() {
    let output = assay(&["--source", "counted", "--", "sh", "-c", "echo it ran"]);
    let message = text(&output.stderr);
    if output.status.success() {
        return println!("skipped: this machine counts branches");
    }
    assert_eq!(output.status.code(), Some(3), "{message}");
    assert_eq!(text(&output.stdout), "", "nothing is started that cannot be counted");
    for part in ["branches:u", "branch-misses:u", "cannot be counted: ", "--source traced"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert!(
        ["ENOENT", "EACCES", "EPERM", "ENOSYS", "EOPNOTSUPP"].iter().any(|name| message.contains(name)),
        "{message}"
    );
}

#[test]
fn a_command_ended_by_a_signal_or_the_time_limit_has_a_code_of_its_own() {
    if !counts() {
        return;
    }
    let killed = assay(&["-e", "page-faults", "--", "sh", "-c", "kill -9 $$"]);
    assert_eq!(killed.status.code(), Some(137));
    assert!(text(&killed.stderr).contains("ended by signal 9"));
    let late = assay(&["-e", "page-faults", "--time-limit", "0.2", "--", "sleep", "100"]);
    assert_eq!(late.status.code(), Some(124));
    assert!(text(&late.stderr).contains("ended at the time limit"));
}

#[test]
fn an_interrupt_ends_the_command_and_what_was_counted_is_printed() {
    if !counts() {
        return;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(["stat", "-r", "5", "-e", "page-faults", "--", "sleep", "100"]);
    let child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    let pid = child.id();
    let deadline = Instant::now() + Duration::from_secs(30);
    let children = format!("/proc/{pid}/task/{pid}/children");
    while std::fs::read_to_string(&children).is_ok_and(|list| list.trim().is_empty())
        && Instant::now() < deadline
    {
        std::thread::sleep(Duration::from_millis(5));
    }
    // The command is there; the lab catches signals before it starts it.
    let sent = Command::new("sh").args(["-c", &format!("kill -INT {pid}")]).status().expect("a shell");
    assert!(sent.success());
    let output = child.wait_with_output().expect("it ends");
    let report = text(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{report}");
    assert!(report.contains("page-faults") && report.contains("interrupted"), "{report}");
}

#[test]
fn a_traced_command_is_counted_exactly_and_keeps_its_output_and_exit_code() {
    if !traces() {
        return;
    }
    let output = assay(&[
        "--source",
        "traced",
        "--predictor",
        "none",
        "-r",
        "2",
        "--json",
        "--",
        "sh",
        "-c",
        "echo out; exit 7",
    ]);
    assert_eq!(output.status.code(), Some(7), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "out\n".repeat(2));
    let page: serde_json::Value = serde_json::from_slice(&output.stderr).expect("JSON");
    let row = |name: &str| {
        let rows = page["events"].as_array().expect("rows");
        rows.iter().find(|row| row["event"] == name && row["source"] == "traced").expect("the row").clone()
    };
    assert!(row("branches")["value"]["mean"].as_f64().is_some_and(|branches| branches > 1000.0), "{page}");
    let classes = [
        "conditional-branches",
        "direct-jumps",
        "direct-calls",
        "indirect-jumps",
        "indirect-calls",
        "returns",
    ];
    for at in 0..2 {
        let value = |name: &str| row(name)["value"]["values"][at].as_u64().expect("a count");
        assert_eq!(classes.iter().map(|name| value(name)).sum::<u64>(), value("branches"));
        assert!(value("instructions") > value("branches"));
    }
    assert_eq!(page["predictors"].as_array().map(Vec::len), Some(0));
}

#[test]
fn simulated_figures_are_labelled_in_every_form() {
    if !traces() {
        return;
    }
    let predictors = ["--source", "traced", "--predictor", "gshare,bimodal"];
    let with = |form: &[&str]| {
        let arguments: Vec<&str> = predictors.iter().chain(form).chain(&["--", "true"]).copied().collect();
        text(&assay(&arguments).stderr)
    };
    let human = with(&[]);
    assert!(human.trim_start().starts_with("Traced, not counted: "), "{human}");
    assert!(human.contains("simulated") && human.contains("models, not this CPU"), "{human}");
    let fields = with(&["-x,"]);
    assert!(
        fields.contains(",simulated/gshare-mispredictions/,") && fields.contains(",traced/branches/,"),
        "{fields}"
    );
    assert!(!fields.contains("branch-misses"), "{fields}");
    assert!(with(&["-j"]).contains("\"event\" : \"simulated/bimodal-mispredictions/\""));
}
