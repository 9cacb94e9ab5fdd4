//! Benchmarks that need no measurement: nothing that they execute or open differs between the builds.

use super::{PROGRAM, Project, benchmark, told};
use serde_json::Value;
use std::process::Command;

#[test]
fn benchmarks_that_execute_nothing_that_differs_are_equivalent_by_proof_and_run_once() {
    let Some(project) = Project::new() else { return };
    // Figures that no measurement could call equivalent: they are the time of day.
    let clock =
        |text: &str| text.replace("10 + 0 * same(count)", "(int)(clock() % 1000) + 1 + 0 * same(count)");
    let base = clock(PROGRAM).replace("#include <stdio.h>", "#include <stdio.h>\n#include <time.h>");
    // And it knows the folder of its build, another one on each side.
    let base =
        base.replace("WORK", "x + 1").replace("TIME", "20").replace("EXTRA", "if (count > 9) puts(FOLDER);");
    project
        .write("Makefile", "bench: bench.c\n\tgcc -O1 -g -DFOLDER='\"$(CURDIR)/data\"' -o bench bench.c\n");
    project.write("bench.c", &base);
    project.git(&["commit", "--quiet", "-am", "clock"]);
    let cold = "__attribute__((noinline)) int cold(int x) { printf(\"%d\", x); return x % 17; }\n";
    project.write(
        "bench.c",
        &base.replace(
            "__attribute__((noinline)) int same",
            &format!("{cold}__attribute__((noinline)) int same"),
        ),
    );
    let (page, ran) = project.page(&["--gate", "slower:2%", "main"]);
    assert_eq!(ran.status.code(), Some(0), "{}", told(&ran));
    for name in ["same", "other"] {
        let found = benchmark(&page, name);
        assert_eq!((&found["verdict"], &found["proven"]), (&"equivalent".into(), &true.into()), "{found}");
    }
    assert_eq!((&page["measured"]["visits"], &page["gate"]["passed"]), (&2.into(), &true.into()));
    assert!(told(&ran).contains("by proof"), "{}", told(&ran));
}

#[test]
fn a_benchmark_that_reads_a_file_which_differs_is_measured_though_its_code_is_the_same() {
    let Some(project) = Project::new() else { return };
    let reading = PROGRAM.replace("EXTRA", "fclose(fopen(\"size.txt\", \"r\"));");
    project.write("bench.c", &reading.replace("WORK", "x + 1").replace("TIME", "20"));
    project.write("size.txt", "10\n");
    project.git(&["add", "."]);
    project.git(&["commit", "--quiet", "-m", "reads"]);
    project.write("size.txt", "20\n");
    let (page, ran) = project.page(&["main"]);
    assert_eq!(ran.status.code(), Some(0), "{}", told(&ran));
    assert_eq!(benchmark(&page, "same")["proven"], false);
    assert_eq!(page["measured"]["visits"], 2 * 2 * 13);
}

/// A program of the project's own that the build only copies, so that it links nothing; it reads `read.txt`.
fn copied(project: &Project) {
    let reading = PROGRAM.replace("EXTRA", "fclose(fopen(\"read.txt\", \"r\"));");
    project.write("bench.c", &reading.replace("WORK", "x + 1").replace("TIME", "20"));
    let at = project.0.path();
    let ran = Command::new("gcc").current_dir(at).args(["-O1", "-o", "kept", "bench.c"]).output().unwrap();
    assert!(ran.status.success(), "{}", told(&ran));
    project.write("Makefile", "bench: kept\n\tcp kept bench\n");
    for name in ["read.txt", "unread.txt"] {
        project.write(name, "10\n");
    }
    project.git(&["add", "."]);
    project.git(&["commit", "--quiet", "-m", "copied"]);
}

#[test]
fn one_program_on_the_same_data_is_equivalent_by_proof_whoever_linked_it() {
    let Some(project) = Project::new() else { return };
    copied(&project);
    project.write("unread.txt", "20\n");
    let (page, ran) = project.page(&["main"]);
    assert_eq!(ran.status.code(), Some(0), "{}", told(&ran));
    assert_eq!((&page["method"], &page["measured"]["visits"]), (&"surroundings".into(), &2.into()));
    for name in ["same", "other"] {
        assert_eq!(benchmark(&page, name)["proven"], true, "{}", told(&ran));
    }
    project.write("read.txt", "20\n");
    let (page, ran) = project.page(&["main"]);
    assert_eq!(benchmark(&page, "same")["proven"], false, "{}", told(&ran));
}

#[test]
fn a_link_that_leads_to_another_file_is_other_data_though_both_trees_have_both_files() {
    let Some(project) = Project::new() else { return };
    copied(&project);
    let lead_to = |file: &str| {
        std::fs::remove_file(project.0.path().join("read.txt")).unwrap();
        std::os::unix::fs::symlink(file, project.0.path().join("read.txt")).unwrap();
    };
    lead_to("unread.txt");
    project.git(&["commit", "--quiet", "-am", "link"]);
    project.write("Makefile", "# nothing else\nbench: kept\n\tcp kept bench\n");
    let (page, ran) = project.page(&["main"]);
    assert_eq!(benchmark(&page, "same")["proven"], true, "{}", told(&ran));
    lead_to(".gitignore");
    let (page, ran) = project.page(&["main"]);
    assert_eq!(benchmark(&page, "same")["proven"], false, "{}", told(&ran));
}

#[test]
fn a_go_function_that_nothing_calls_changes_nothing_by_proof() {
    let Some(project) = Project::new() else { return };
    if Command::new("go").arg("version").output().is_err() {
        eprintln!("skipped: there is no go");
        return;
    }
    project.git(&["rm", "--quiet", "bench.c"]);
    project.write("go.mod", "module m\n\ngo 1.20\n");
    project.write(".gitignore", "*.test\n.assay/\n");
    let code = |unused: &str, sum: &str| {
        format!(
            "package m\n{unused}\nfunc Sum(n int) (s int) {{ for i := 0; i < n; i++ {{ s {sum} i }}; return }}\n"
        )
    };
    project.write("sum.go", &code("", "+="));
    project.write(
        "sum_test.go",
        "package m\nimport \"testing\"\nvar kept int\nfunc BenchmarkSum(b *testing.B) { for i := 0; i < b.N; i++ { kept = Sum(100) } }\n",
    );
    project.git(&["add", "."]);
    project.git(&["commit", "--quiet", "-m", "go"]);
    let go = |reason: &str| {
        let bench = "./m.test -test.run '^$' -test.bench . -test.benchtime 100x";
        let words = ["--build", "go test -c -o m.test", "--bench", bench, "--json", "page.json", "main"];
        let ran = project.assay(&words);
        let text = std::fs::read_to_string(project.0.path().join("page.json"));
        let text = text.unwrap_or_else(|error| panic!("{reason}: {error}: {}", told(&ran)));
        serde_json::from_str::<Value>(&text).unwrap()["benchmarks"][0]["proven"].clone()
    };
    project.write("sum.go", &code("\n\nfunc Unused(s string) int { return len(s) * 7 }\n", "+="));
    assert_eq!(go("an unused function"), true);
    project.write("sum.go", &code("", "^="));
    assert_eq!(go("another loop"), false);
}

#[test]
fn a_library_that_the_build_stripped_is_no_part_of_the_proof() {
    let Some(project) = Project::new() else { return };
    let program =
        PROGRAM.replace("__attribute__((noinline)) int other(int x) { return WORK; }", "int other(int);");
    project.write("bench.c", &program.replace("TIME", "20").replace("EXTRA", ""));
    project.write(
        "Makefile",
        "bench: bench.c other.c\n\tgcc -O1 -shared -fPIC -o whole.so other.c\n\tstrip -o libother.so whole.so\n\t\
         gcc -O1 -o bench bench.c -L. -lother -Wl,-rpath,'$$ORIGIN'\n",
    );
    project.write("other.c", "int other(int x) { return x + 1; }\n");
    project.write(".gitignore", "bench\n*.so\n.assay/\n");
    project.git(&["add", "."]);
    project.git(&["commit", "--quiet", "-m", "library"]);
    project.write("other.c", "int other(int x) { return x * x - 7; }\n");
    let (page, ran) = project.page(&["main"]);
    assert_eq!(ran.status.code(), Some(0), "{}", told(&ran));
    assert_eq!(benchmark(&page, "other")["proven"], false);
}
