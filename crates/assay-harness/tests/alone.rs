//! Programs run alone, without a lab: the C and the Rust harness print the same.

use crate::support::{build, compilers, input, repository, rust_program, scratch};
use std::path::{Path, PathBuf};
use std::process::Command;

fn programs() -> Vec<PathBuf> {
    let source = [repository().join("harness/vectors.c")];
    let compiler = compilers(&["gcc", "clang"])[0];
    vec![build(compiler, &["-O2", "-std=c11"], &source, "alone-vectors"), rust_program()]
}

/// Exit code, standard output, standard error.
fn run(program: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output =
        Command::new(program).args(arguments).env_remove("ASSAY_CHANNEL").output().expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// The same text where every figure of time is `#`, without the note that depends on the machine's other work.
fn without_times(text: &str) -> String {
    let text = text.replace("  other work interrupted every sample", "");
    let word = |word: &str| {
        let is_time = word.contains('.') && word.parse::<f64>().is_ok();
        if is_time { "#".to_owned() } else { word.to_owned() }
    };
    text.lines().map(|line| line.split_whitespace().map(word).collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[test]
fn the_table_names_variants_answers_and_what_one_placement_is_worth() {
    let path = input();
    let path = path.to_str().expect("a UTF-8 path");
    let expected = format!(
        "input: {path}, 4096 bytes, 1000 units\nvariant ns/call ns/unit answer\n\
         sum # # 000000000007f800\nsum/prepared # # 000000000007f800\nsum/looped # # 000000000007f800\n\
         absent - - - unavailable: no machine can run this\nsum/fresh # # 000000000007f800 (fresh)\n\
         Only one placement was measured: a difference may come from placement alone.\n`assay run` measures many placements and gives verdicts.\n"
    );
    for program in programs() {
        let (code, table, _) = run(&program, &["--input", path, "--units", "1000", "--seconds", "0.01"]);
        let table = without_states(&without_times(&table));
        assert_eq!((code, table), (Some(0), expected.clone()), "{program:?}");
    }
}

/// How many states are made at a time, and their memory, are the machine's.
fn without_states(table: &str) -> String {
    let line = |line: &str| match line.split_once(" fresh states at a time") {
        Some((ahead, _)) => ahead.rsplit_once(' ').map_or("", |(ahead, _)| ahead).to_owned() + " (fresh)\n",
        None => line.to_owned() + "\n",
    };
    table.lines().map(line).collect()
}

#[test]
fn the_built_in_input_is_named_and_the_same_in_c_and_rust() {
    let tables: Vec<String> = programs()
        .iter()
        .map(|program| run(program, &["--variant", "s?m", "--seconds", "0.01"]).1)
        .inspect(|table| {
            assert!(table.starts_with("input: built-in pseudo-random bytes (seed 42), 1000000 bytes"))
        })
        .map(|table| without_times(&table))
        .collect();
    assert_eq!(tables[0], tables[1]);
    assert!(tables[0].contains("\nsum # # ") && !tables[0].contains("looped"), "{}", tables[0]);
}

#[test]
fn json_carries_the_same_figures() {
    for program in programs() {
        let (code, json, _) = run(&program, &["--json", "--seconds", "0.01", "--variant", "*m*"]);
        assert_eq!(code, Some(0), "{json}");
        assert!(
            json.starts_with("{\"schema\": \"assay.alone/1\", \"placements\": 1, \"input\": \"built-in\""),
            "{json}"
        );
        assert_eq!(json.matches("\"agrees\": true").count(), 4, "{json}");
        assert_eq!(json.matches(['{', '[']).count(), json.matches(['}', ']']).count(), "{json}");
    }
}

#[test]
fn misuse_is_named_on_stderr_with_code_2() {
    for program in programs() {
        for (arguments, named) in [
            (&["--colour"][..], "--colour"),
            (&["--units"], "--units"),
            (&["--units", "0"], "--units 0"),
            (&["--seconds", "-1"], "--seconds -1"),
            (&["--input", "/nowhere/at all"], "cannot open /nowhere/at all"),
            (&["--input", "/"], "/ is not a regular file"),
            (&["--variant", "none*"], "no variant matches \"none*\""),
        ] {
            let (code, output, words) = run(&program, arguments);
            assert_eq!((code, output.as_str()), (Some(2), ""), "{program:?} {arguments:?}");
            assert!(words.contains(named), "{program:?} {arguments:?}: {words}");
        }
    }
}

#[test]
fn help_and_list_measure_nothing() {
    let outputs: Vec<(String, String)> = programs()
        .iter()
        .map(|program| {
            let (code, help, _) = run(program, &["--help"]);
            let (listed, list, _) = run(program, &["--list"]);
            assert_eq!((code, listed), (Some(0), Some(0)));
            let path = program.to_str().expect("a UTF-8 path");
            (help.replace(path, "PROGRAM").replace("assay-harness", "assay.h"), list)
        })
        .collect();
    assert_eq!(outputs[0], outputs[1]);
    assert!(
        outputs[0].1.contains("absent (call) unavailable: no machine can run this\n"),
        "{}",
        outputs[0].1
    );
}

#[test]
fn an_empty_input_has_no_time_per_byte() {
    let empty = scratch("empty.bin");
    std::fs::write(&empty, []).expect("the scratch directory is writable");
    for program in programs() {
        let (code, table, _) =
            run(&program, &["--input", empty.to_str().expect("UTF-8"), "--seconds", "0.01"]);
        assert_eq!(code, Some(0), "{table}");
        assert!(without_times(&table).contains("\nsum # - 0000000000000000\n"), "{table}");
    }
}

#[test]
fn variants_that_disagree_are_noted_and_fail() {
    let source = [repository().join("fixtures/faults/wrong_answer.c")];
    let program = build(compilers(&["gcc", "clang"])[0], &["-O2", "-std=c11"], &source, "alone-disagreeing");
    let (code, table, _) = run(&program, &["--seconds", "0.01"]);
    assert_eq!(code, Some(1));
    assert!(table.contains("  differs from plain"), "{table}");
}
