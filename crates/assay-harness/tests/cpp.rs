//! C++ as it is written: callables of any kind, views of elements, answers of any type; modules.

use crate::support::{build, compilers, input, repository, scratch};
use std::path::Path;
use std::process::Command;

fn run(program: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().expect("it starts");
    assert!(output.status.success(), "{program:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it is text")
}

/// The programs of `fixtures/cpp` by every compiler and standard.
fn each(source: &str, check: impl Fn(&Path)) {
    for compiler in compilers(&["g++", "clang++"]) {
        for standard in ["-std=c++17", "-std=c++20"] {
            let source = repository().join("fixtures/cpp").join(source);
            let name = format!("cpp-{compiler}{standard}");
            check(&build(compiler, &["-O1", standard], &[source], &name));
        }
    }
}

#[test]
fn lambdas_objects_templates_and_views_are_variants_like_any() {
    each("callables.cpp", |program| {
        let listed = run(program, &["--list"]);
        let names: Vec<&str> = listed.lines().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(names[..6], ["plain", "noexcept", "lambda", "span", "object", "instance"], "{listed}");
        assert!(listed.contains("fresh (fresh)") && listed.contains("prepared (prepared)"), "{listed}");
        let each = names.iter().filter(|name| name.starts_with("each/")).count();
        assert_eq!(each, 2, "one per type, whatever its names: {listed}");
        // Without `--seconds` to speak of: it fails where an answer differs.
        let input = input();
        let file = input.to_str().expect("a path of the tests");
        run(program, &["--seconds", "0.001", "--input", file]);
    });
}

#[test]
fn equal_answers_of_any_type_are_equal() {
    each("answers.cpp", |program| {
        let input = input();
        let file = input.to_str().expect("a path of the tests");
        let said = run(program, &["--seconds", "0.001", "--input", file, "--json"]);
        assert_eq!(said.matches("\"agrees\": true").count(), 2, "{said}");
        assert!(!said.contains("\"answer\": \"0000000000000000\""), "{said}");
    });
}

#[test]
fn a_module_may_hold_variants() {
    let (module, main) = (scratch("bench.cpp"), scratch("main.cpp"));
    let variant = |name: &str, more: &str| {
        format!(
            "ASSAY_VARIANT(\"{name}\", [](const uint8_t *data, size_t size) {{ return size + data[0] + {more}; }})\n"
        )
    };
    let in_module = format!(
        "module;\n#include <assay.h>\nexport module bench;\nexport int none() {{ return 0; }}\n{}",
        variant("inside", "0")
    );
    std::fs::write(&module, in_module).expect("the scratch directory is writable");
    let outside =
        format!("#include <assay.h>\nimport bench;\n{}ASSAY_MAIN()\n", variant("outside", "none()"));
    std::fs::write(&main, outside).expect("the scratch directory is writable");
    let folder = module.parent().expect("it lies in a folder").canonicalize().expect("it was made");
    let place = |path: &Path| folder.join(path.file_name().expect("a file"));
    let header = repository().join("harness").canonicalize().expect("the header is there");
    let mut compile = Command::new("g++");
    compile.current_dir(&folder).args(["-std=c++20", "-fmodules-ts", "-O1", "-I"]).arg(header);
    compile.args([place(&module), place(&main)]).arg("-o").arg(folder.join("cpp-modules"));
    match compile.output() {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains("unrecognized") || said.contains("unknown"), "{said}");
            eprintln!("skipped: this g++ has no modules");
            return;
        }
        Err(_) => {
            eprintln!("skipped: no g++");
            return;
        }
    }
    let listed = run(&folder.join("cpp-modules"), &["--list"]);
    assert!(listed.contains("inside (call)") && listed.contains("outside (call)"), "{listed}");
}
