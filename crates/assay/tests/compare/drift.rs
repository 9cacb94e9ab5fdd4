//! Code that changed though its source did not, in programs without line tables: the revisions say what changed.

use super::{PROGRAM, Project, told};
use serde_json::Value;

const LOOP: &str = "({ int s = 0; for (int i = 0; i < x + STEPS; i++) s += i * x; s; })";

/// A program whose `other` loops as often as a macro says.
fn program(steps: u32) -> String {
    let text = PROGRAM
        .replace("WORK", LOOP)
        .replace("TIME", "20")
        .replace("EXTRA", "printf(\"%d\\n\", other(count));");
    text.replace("#include <stdio.h>", &format!("#include <stdio.h>\n#define STEPS {steps}"))
}

fn makefile(flags: &str) -> String {
    format!("bench: bench.c\n\tgcc {flags} -o bench bench.c\n")
}

/// Whether the source of `other` is told to be the same, and whether its code is told to have drifted.
fn told_of(project: &Project) -> (Value, bool) {
    let words = ["--build", "make", "--bench", "./bench", "--adapter", "wall", "--json", "page.json", "main"];
    let ran = project.assay(&words);
    assert_eq!(ran.status.code(), Some(0), "{}", told(&ran));
    let page = std::fs::read(project.0.path().join("page.json")).unwrap();
    let found = serde_json::from_slice::<Value>(&page).unwrap()["benchmarks"][0].clone();
    let mut functions = found["functions"].as_array().unwrap().iter();
    let function = functions.find(|function| function["name"] == "other");
    let function = function.unwrap_or_else(|| panic!("`other` did not change: {found}"));
    let is_drift = found["causes"].as_array().unwrap().iter().any(|cause| {
        cause["cause"] == "codegen-drift" && cause["evidence"].as_str().unwrap().contains("other")
    });
    (function["same_source"].clone(), is_drift)
}

#[test]
fn other_flags_are_drift_and_another_source_is_none_without_debug_information() {
    let Some(project) = Project::new() else { return };
    project.write("Makefile", &makefile("-O1"));
    project.write("bench.c", &program(40));
    project.git(&["commit", "--quiet", "-am", "no line tables"]);
    let drifted = |flags: &str, steps: u32| {
        project.write("Makefile", &makefile(flags));
        project.write("bench.c", &program(steps));
        told_of(&project)
    };
    assert_eq!(drifted("-O3", 40), (true.into(), true), "other flags");
    assert_eq!(drifted("-O1", 50), (Value::Null, false), "another macro in it");
    assert_eq!(drifted("-O3", 50), (Value::Null, false), "both");
    project.write("Makefile", &makefile("-O3"));
    project.write("bench.c", &program(40).replace("i * x", "i ^ x"));
    assert_eq!(told_of(&project), (false.into(), false), "itself");
}
