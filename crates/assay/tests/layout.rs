//! `assay layout` on programs of this machine's compiler.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const SOURCE: &str = "#include <stdio.h>\n\
#define APART __attribute__((noinline))\n\
APART int sum(const int *p, int n) {\n\
    int s = 0;\n\
    for (int i = 0; i < n; i++) { s += p[i]; }\n\
    return s;\n\
}\n\
APART int cold(int x) {\n\
    return x * BODY;\n\
}\n\
APART int calls(int x) { return cold(x + 1) + 2; }\n\
int main(int c, char **v) { int a[9] = {c}; (void)v; printf(\"%d\", sum(a, 9)); return calls(c); }\n";

/// A program; none, with the reason, if there is no compiler.
fn program(folder: &Path, name: &str, body: &str, flags: &[&str]) -> Option<String> {
    program_by("gcc", folder, name, body, flags)
}

fn program_by(compiler: &str, folder: &Path, name: &str, body: &str, flags: &[&str]) -> Option<String> {
    let source = folder.join("source.c");
    std::fs::write(&source, SOURCE.replace("BODY", body)).expect("the folder is ours");
    let path = folder.join(name).to_string_lossy().into_owned();
    let mut command = Command::new(compiler);
    command.args(["-O2", "-g"]).args(flags).arg(&source).args(["-o", &path]);
    match command.output() {
        Ok(output) if output.status.success() => Some(path),
        _ => {
            eprintln!("skipped: {compiler} cannot be used here");
            None
        }
    }
}

fn assay(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_assay")).arg("layout").args(arguments).output().expect("assay is built")
}

fn json(arguments: &[&str]) -> Value {
    let output = assay(&[arguments, &["--json", "-"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// What it says of a misuse.
fn refused(arguments: &[&str]) -> String {
    let output = assay(arguments);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    text
}

#[test]
fn functions_that_fit_are_shown_with_their_loops() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(path) = program(folder.path(), "program", "3", &[]) else { return };
    let page = json(&[&path, "--functions", "su?"]);
    assert_eq!(page["schema"], "assay.layout/1");
    let functions = page["binaries"][0]["functions"].as_array().expect("a list");
    assert_eq!(functions.len(), 1);
    assert_eq!(functions[0]["name"], "sum");
    let address = functions[0]["address"].as_u64().expect("a number");
    assert_eq!(functions[0]["line_offset"].as_u64(), Some(address % 64));
    let phases = functions[0]["loops"][0]["at"].as_array().expect("phases");
    let offsets: Vec<u64> = phases.iter().filter_map(|at| at["offset"].as_u64()).collect();
    assert_eq!(offsets, [0, 16, 32, 48].map(|phase| (address + phase) % 64));
    let text = assay(&[&path, "--functions", "su?"]);
    let text = String::from_utf8_lossy(&text.stdout);
    assert!(text.contains("sum: loop at +") || text.contains("None of 1 function has"), "{text}");
}

#[test]
fn a_program_for_aarch64_is_not_judged_by_the_front_end_of_this_machine() {
    let folder = tempfile::tempdir().expect("a folder");
    let cross = |name| program_by("aarch64-linux-gnu-gcc", folder.path(), name, "3", &[]);
    let Some(foreign) = cross("foreign") else { return };
    let page = json(&[&foreign]);
    let answer =
        "For code of AArch64 no rule of a front end is known, so nothing is said of where its loops lie.";
    assert_eq!((page["answer"].as_str(), &page["host"]["rule"]), (Some(answer), &Value::Null));
    let binary = &page["binaries"][0];
    assert_eq!(
        (&binary["without_rule"], &binary["advice"]),
        (&Value::from("AArch64"), &Value::from(Vec::<Value>::new()))
    );
    let functions = binary["functions"].as_array().expect("a list");
    let loops = || functions.iter().flat_map(|function| function["loops"].as_array().expect("a list"));
    assert!(loops().count() > 0, "`sum` has one");
    assert!(
        loops()
            .all(|body| body["depends_on_place"] == false && body["at"] == Value::from(Vec::<Value>::new()))
    );
    assert!(functions.iter().all(|function| function["border_branches"] == Value::from(Vec::<Value>::new())));
    // Beside a program of this machine, that one is judged as ever.
    let Some(own) = program(folder.path(), "own", "3", &[]).filter(|_| cfg!(target_arch = "x86_64")) else {
        return;
    };
    let both = json(&[&own, &foreign]);
    let said = both["answer"].as_str().expect("a text");
    assert!(said.contains(" innermost loop ") && said.ends_with(answer), "{said}");
    let alone = json(&[&own]);
    assert_eq!((&both["binaries"][0], &both["host"]), (&alone["binaries"][0], &alone["host"]));
}

#[test]
fn what_changed_is_told_with_its_source_line_and_what_only_calls_it_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(old) = program(folder.path(), "old", "3", &[]) else { return };
    let Some(new) = program(folder.path(), "new", "x + 77 / x", &[]) else { return };
    let page = json(&[&new, "--against", &old]);
    let against = &page["against"];
    assert_eq!(against["counts"]["changed"], 1, "{against}");
    let changes = against["functions"].as_array().expect("a list");
    let of = |name: &str| changes.iter().find(|change| change["name"] == name).expect("told");
    assert_eq!(of("cold")["own"], "changed");
    let lines = of("cold")["new_lines"].as_array().expect("a list");
    assert!(
        lines.iter().any(|line| line.as_str().is_some_and(|line| line.ends_with("source.c:9"))),
        "{lines:?}"
    );
    assert_ne!(of("calls")["own"], "changed");
    assert_eq!(of("calls")["through"], "cold");
    assert!(changes.iter().all(|change| change["name"] != "sum" || change["own"] == "moved"), "{changes:?}");
    let text = assay(&[&new, "--against", &old]);
    let text = String::from_utf8_lossy(&text.stdout);
    assert!(text.starts_with("1 function changed, "), "{text}");
}

#[test]
fn alignment_costs_padding_that_is_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(plain) = program(folder.path(), "plain", "3", &[]) else { return };
    let Some(aligned) = program(folder.path(), "aligned", "3", &["-falign-functions=64"]) else { return };
    let page = json(&[&aligned, "--against", &plain]);
    let number = |key: &str| page["against"][key].as_u64().expect("a number");
    assert!(number("new_text_bytes") > number("old_text_bytes"));
    assert!(number("new_padding_bytes") > number("old_padding_bytes"));
    assert_eq!(page["against"]["counts"]["changed"], 0);
    for function in page["binaries"][0]["functions"].as_array().expect("a list") {
        if ["sum", "cold", "calls"].iter().any(|name| function["name"] == *name) {
            assert_eq!(
                (&function["line_offset"], &function["pinning_bytes"]),
                (&Value::from(0), &Value::from(0))
            );
        }
    }
}

#[test]
fn what_cannot_be_read_is_refused_with_the_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = folder.path().join("text");
    std::fs::write(&text, "no ELF file").expect("the folder is ours");
    assert!(refused(&[&text.to_string_lossy()]).contains("not a readable ELF file"));
    assert!(refused(&[&folder.path().join("nowhere").to_string_lossy()]).contains("cannot be read"));
    let Some(path) = program(folder.path(), "program", "3", &[]) else { return };
    let message = refused(&[&path, "--functions", "summ"]);
    assert!(message.contains("no function of") && message.contains("the nearest are sum"), "{message}");
    assert!(refused(&[&path, "--ledger", "nowhere.db"]).contains("there is no ledger at nowhere.db"));
    assert!(refused(&[&path, &path, "--against", &path]).contains("give only one"));
    let Some(stripped) = program(folder.path(), "stripped", "3", &["-s"]) else { return };
    let message = refused(&[&stripped]);
    assert!(message.contains("it is stripped") && message.contains("strip = false"), "{message}");
    // A file that ends in its middle.
    let whole = std::fs::read(&path).expect("it was just written");
    let cut = folder.path().join("cut");
    std::fs::write(&cut, &whole[..whole.len() / 2]).expect("the folder is ours");
    let message = refused(&[&cut.to_string_lossy()]);
    assert!(message.contains("cut"), "{message}");
}

#[test]
fn symbols_of_a_separate_debug_file_are_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(path) = program(folder.path(), "program", "3", &[]) else { return };
    let debug = format!("{path}.debug");
    let link = format!("--add-gnu-debuglink={debug}");
    for arguments in
        [vec!["--only-keep-debug", &path, &debug], vec!["--strip-all", &path], vec![link.as_str(), &path]]
    {
        if !Command::new("objcopy").args(&arguments).status().is_ok_and(|status| status.success()) {
            eprintln!("skipped: objcopy cannot be used here");
            return;
        }
    }
    let page = json(&[&path, "--functions", "sum"]);
    let found = &page["binaries"][0]["functions"][0];
    assert_eq!(found["name"], "sum");
    assert_eq!(found["loops"].as_array().map(Vec::len), Some(1), "{found}");
}
