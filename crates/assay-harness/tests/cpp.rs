//! C++ as it is written: callables of any kind, views of elements, answers of any type; modules.

use crate::support::{build, by_each, compilers, input, repository, scratch, talk};
use std::path::Path;
use std::process::Command;

fn run(program: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().expect("it starts");
    assert!(output.status.success(), "{program:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it is text")
}

/// The programs of `fixtures/cpp` by every compiler and standard.
fn each(source: &str, check: impl Fn(&Path) + Sync) {
    let path = repository().join("fixtures/cpp").join(source);
    by_each(&["g++", "clang++"], |compiler| {
        for standard in ["-std=c++17", "-std=c++20"] {
            let name = format!("{source}-{compiler}{standard}");
            check(&build(compiler, &["-O1", standard], std::slice::from_ref(&path), &name));
        }
    });
}

#[test]
fn lambdas_objects_templates_and_views_are_variants_like_any() {
    each("callables.cpp", |program| {
        let listed = run(program, &["--list"]);
        let names: Vec<&str> = listed.lines().filter_map(|line| line.split(' ').next()).collect();
        let called = ["plain", "noexcept", "lambda", "span", "object", "instance", "uncopied", "conditional"];
        assert_eq!(names[..8], called, "{listed}");
        assert!(listed.contains("fresh (fresh)") && listed.contains("prepared (prepared)"), "{listed}");
        // One per type, whatever its names, called as the list is written by every compiler.
        let of_types: Vec<&str> = names.iter().copied().filter(|name| name.contains('/')).collect();
        let wanted = ["each/uint64_t", "each/unsigned_long_long", "bytes/unsigned", "bytes/int64_t"];
        assert_eq!(of_types, wanted, "{listed}");
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

#[test]
fn containers_are_compared_by_their_elements_whatever_main_is_written_in() {
    let (variants, main) = (scratch("containers.cpp"), scratch("containers-main.c"));
    let text = "#include <assay.h>\n#include <vector>\n#include <unordered_set>\n\
        using list = std::vector<int>;\nusing set = std::unordered_set<int>;\n\
        ASSAY_VARIANT(\"ones\", [](const uint8_t *, size_t) { return list(4, 1); })\n\
        ASSAY_VARIANT(\"twos\", [](const uint8_t *, size_t) { return list(4, 2); })\n\
        ASSAY_VARIANT(\"up\", [](const uint8_t *, size_t) { set s; for (int i = 0; i < 99; i++) s.insert(i); return s; })\n\
        ASSAY_VARIANT(\"down\", [](const uint8_t *, size_t) { set s; for (int i = 99; i-- > 0;) s.insert(i); return s; })\n";
    std::fs::write(&variants, text).expect("the scratch directory is writable");
    std::fs::write(&main, "#include <assay.h>\nASSAY_MAIN()\n").expect("the scratch directory is writable");
    // A clang whose C++ is of 2014 takes no standard for C++ beside C.
    for compiler in compilers(&["gcc"]) {
        let flags = ["-O1", "-Wl,--no-as-needed", "-lstdc++"];
        let program =
            build(compiler, &flags, &[variants.clone(), main.clone()], &format!("containers-{compiler}"));
        let answers: Vec<String> = (0..4)
            .map(|variant| {
                let requests = format!(
                    "load id=0 size=4096 units=1 windows=1 path={}\nwindow 0 4096 1\nanswer variant={variant} input=0\nbye\n",
                    input().display()
                );
                let said = talk(&program, requests.as_bytes(), 1 << 16, "60").lines();
                said.into_iter().find(|line| line.starts_with("answer ")).expect("an answer")
            })
            .collect();
        assert_ne!(answers[0], answers[1], "{compiler}");
        assert_eq!(answers[2], answers[3], "{compiler}");
    }
}

#[test]
fn a_window_that_cuts_an_element_is_refused_and_not_read() {
    let source = scratch("aligned.cpp");
    let text = "#include <assay.h>\n\
        struct floats { using value_type = float; const float *first; size_t count;\n\
        floats(const float *f, size_t n) : first(f), count(n) {} };\n\
        ASSAY_VARIANT(\"sum\", [](floats of) { float sum = 0; for (size_t i = 0; i < of.count; i++) sum += of.first[i]; return sum; })\n\
        ASSAY_MAIN()\n";
    std::fs::write(&source, text).expect("the scratch directory is writable");
    by_each(&["g++", "clang++"], |compiler| {
        let name = format!("aligned-{compiler}");
        let program = build(compiler, &["-O1", "-std=c++17"], std::slice::from_ref(&source), &name);
        let said = |offset: u64| {
            let requests = format!(
                "load id=0 size=4096 units=2 windows=1 path={}\nwindow {offset} 64 2\nanswer variant=0 input=0\nbye\n",
                input().display()
            );
            talk(&program, requests.as_bytes(), 1 << 16, "60").lines().join("\n")
        };
        assert!(said(4).contains("answer whole="), "{}", said(4));
        assert!(said(6).contains("a window begins where an element"), "{}", said(6));
    });
}

/// What a compiler says of a program with this line.
fn refused(compiler: &str, line: &str) -> String {
    let source = scratch(&format!("refused-{compiler}.cpp"));
    let text = format!("#include <assay.h>\n#include <vector>\n{line}\nASSAY_MAIN()\n");
    std::fs::write(&source, text).expect("the scratch directory is writable");
    let mut compile = Command::new(compiler);
    compile.args(["-std=c++17", "-fsyntax-only", "-I"]).arg(repository().join("harness")).arg(&source);
    let output = compile.output().expect("the compiler starts");
    assert!(!output.status.success(), "{line}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn what_a_callable_lacks_is_told_in_words() {
    for compiler in compilers(&["g++", "clang++"]) {
        let no_answer = "ASSAY_VARIANT(\"a\", [](const uint8_t *, size_t) {})";
        let said = refused(compiler, no_answer);
        assert!(said.contains("assay: a variant returns an answer"), "{said}");
        let leaks = "ASSAY_VARIANT_FRESH(\"a\", [](const uint8_t *, size_t) { return new int(1); }, [](int *i) { return *i; })";
        let said = refused(compiler, leaks);
        assert!(said.contains("needs a third function, which drops it"), "{said}");
    }
}
