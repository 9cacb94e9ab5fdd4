//! A revision that changes a function around its loop, which then begins elsewhere.

use super::{PROGRAM, Project, told};
use serde_json::Value;

/// A program whose `other` does `once`, then loops.
fn program(once: &str) -> String {
    let work = format!("({{ {once} int s = 0; for (int i = 0; i < x + 4000; i++) s += i ^ x; s; }})");
    // What is multiplied by 0 is not called.
    let called = "printf(\"%d\\n\", other(count));";
    let text = PROGRAM.replace("WORK", &work).replace("TIME", "20").replace("EXTRA", called);
    text.replace("#include <stdio.h>", "#include <stdio.h>\nint flag;")
}

#[test]
fn loops_that_begin_elsewhere_in_a_changed_function_are_found_in_what_was_built() {
    let Some(project) = Project::new() else { return };
    project.write("Makefile", "bench: bench.c\n\tgcc -O1 -falign-functions=16 -g -o bench bench.c\n");
    project.write("bench.c", &program(""));
    project.git(&["commit", "--quiet", "-am", "a loop"]);
    project.write("bench.c", &program("if (flag == 77) return 7;"));
    let words = ["--build", "make", "--bench", "./bench", "--adapter", "wall", "--json", "page.json", "main"];
    let ran = project.assay(&words);
    assert!(matches!(ran.status.code(), Some(0)), "{}", told(&ran));
    let page = std::fs::read(project.0.path().join("page.json")).unwrap();
    let found = serde_json::from_slice::<Value>(&page).unwrap()["benchmarks"][0].clone();
    let function = found["functions"].as_array().unwrap().iter().find(|one| one["name"] == "other");
    let shared = &function.unwrap_or_else(|| panic!("`other` did not change: {found}"))["loops"][0];
    // Whether it is told as a cause is for the times to say, which are those of this machine.
    assert!(shared["first"].is_u64() && shared["first"] != shared["second"], "{found}");
}
