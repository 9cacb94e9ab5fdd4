//! Compilers that fail, and compilers that are not needed any more.

use super::lab::Lab;

#[test]
fn a_source_that_does_not_compile_is_shown_with_the_compilers_words() {
    let Some(lab) = Lab::with_program("#include <assay.h>\nint broken = ;\n", &["plain", "faulty"]) else {
        return;
    };
    let said = lab.run(&[]);
    said.assert_code(3);
    said.assert_errors(&["cannot compile program.c", "error: expected expression", "command: cd "]);
    said.assert_page(&["nothing could be measured", "error: expected expression"]);
    assert_eq!(lab.column("SELECT DISTINCT stage FROM failure"), ["compile"]);
    assert!(lab.column("SELECT reason FROM failure")[0].contains("program.c:2:14"));
}

#[test]
fn flags_that_one_compilation_refuses_leave_the_other_flags_their_verdict() {
    let Some(lab) = Lab::with_program("#include \"good.c\"\n", &["plain", "backward"]) else { return };
    lab.edit(|text| {
        text.replace("flags = [\"-Og\"]\n", "")
            + "\n[flags]\nO1 = [\"-O1\"]\nodd = [\"-O1\", \"-fno-such-flag\"]\n"
    });
    let said = lab.run(&[]);
    said.assert_code(1);
    said.assert_errors(&["cannot compile program.c", "-fno-such-flag"]);
    assert_eq!(lab.column("SELECT DISTINCT stage FROM failure"), ["compile"]);
    assert_eq!(lab.column("SELECT DISTINCT flags FROM process"), ["O1"]);
    assert_eq!(lab.page()["contrasts"].as_array().unwrap().len(), 1);
}

#[test]
fn a_link_that_fails_is_shown_with_the_linkers_words() {
    let source = "#include \"good.c\"\nextern int nowhere; int *lost(void) { return &nowhere; }\n";
    let Some(lab) = Lab::with_program(source, &["plain", "backward"]) else { return };
    let said = lab.run(&[]);
    said.assert_code(3);
    said.assert_errors(&["cannot link", "undefined reference to `nowhere'"]);
    assert!(lab.column("SELECT reason FROM failure")[0].contains("nowhere"));
}

#[test]
fn a_compiler_that_is_killed_is_a_failed_cell() {
    let Some(mut lab) = Lab::with_fault("good") else { return };
    lab.wrap_gcc("case \"$*\" in *program.c*) kill -s KILL $$;; esac");
    let said = lab.run(&[]);
    said.assert_code(3);
    said.assert_errors(&["cannot compile program.c", "signal 9"]);
    assert_eq!(lab.column("SELECT DISTINCT stage FROM failure"), ["compile"]);
}

#[test]
fn a_compiler_that_writes_nothing_is_a_failed_cell() {
    let Some(mut lab) = Lab::with_fault("good") else { return };
    lab.wrap_gcc("case \"$*\" in *program.c*) exit 0;; esac");
    let said = lab.run(&[]);
    said.assert_code(3);
    assert!(lab.count("SELECT count(*) FROM failure") >= 1, "{said:#?}");
    lab.assert_ledger_is_whole();
}

/// What the wrapped compiler was started for, one line each.
fn starts(lab: &Lab) -> Vec<String> {
    let log = std::fs::read_to_string(lab.file("starts")).unwrap_or_default();
    log.lines().map(str::to_owned).collect()
}

fn outputs(lab: &Lab) -> usize {
    starts(lab).iter().filter(|line| line.split(' ').any(|word| word == "-o")).count()
}

#[test]
fn a_second_run_compiles_and_links_nothing() {
    let Some(mut lab) = Lab::with_program("#include \"good.c\"\n", &["plain", "backward"]) else { return };
    lab.wrap_gcc("echo \"$*\" >> \"$HERE/starts\"");
    lab.run(&[]).assert_code(0);
    let first = outputs(&lab);
    assert!(first >= 5, "one link as built and four placed: {:#?}", starts(&lab));
    lab.run(&[]).assert_code(0);
    assert_eq!(outputs(&lab), first, "{:#?}", &starts(&lab)[first..]);
    assert_eq!(lab.count("SELECT count(*) FROM campaign"), 2);
    assert_eq!(
        lab.count("SELECT count(DISTINCT artifact) FROM process WHERE campaign = 1"),
        lab.count("SELECT count(DISTINCT artifact) FROM process"),
        "the second campaign measured the same artifacts"
    );
}

#[test]
fn a_damaged_store_is_made_again() {
    let Some(lab) = Lab::with_program("#include \"good.c\"\n", &["plain", "backward"]) else { return };
    lab.run(&[]).assert_code(0);
    let mut damaged = 0;
    for file in files_below(&lab.file("store")) {
        std::fs::write(&file, b"garbage").unwrap();
        damaged += 1;
    }
    assert!(damaged > 6, "objects, artifacts and an input");
    lab.run(&[]).assert_code(0);
    assert_eq!(lab.column("SELECT DISTINCT stage FROM failure"), [""; 0]);
}

fn files_below(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            files.extend(files_below(&entry.path()));
        } else {
            files.push(entry.path());
        }
    }
    files
}
