//! Does the source keep the rules of ARCHITECTURE.md that a compiler does not know?
//!
//! Method: every tracked file is read as text; Rust code is reduced to tokens (comments and literals dropped), and
//! every path in it, `use` trees expanded and `super` resolved, is checked against tables of forbidden edges.
//! Limits: macros that build paths and renamed crates are not seen through.
//! Checked by: planted violations of every rule, at the end.

#[path = "tidy/coverage.rs"]
mod coverage;
#[path = "tidy/rules.rs"]
mod rules;
#[path = "tidy/source.rs"]
mod source;
#[path = "tidy/tokens.rs"]
mod tokens;

use self::rules::Violation;

fn violations_of(rule: impl Fn(&source::File) -> Vec<Violation>) -> Vec<Violation> {
    source::tracked_files().iter().flat_map(rule).collect()
}

fn assert_none(found: &[Violation]) {
    let list: Vec<String> = found.iter().map(Violation::to_string).collect();
    assert!(found.is_empty(), "{} violations:\n{}", found.len(), list.join("\n"));
}

#[test]
fn finds_the_sources_it_judges() {
    let files = source::tracked_files();
    for expected in ["Cargo.toml", "README.md", "crates/assay-pure/src/lib.rs", "crates/assay/src/lib.rs"] {
        assert!(
            files.iter().any(|file| file.path == expected),
            "{expected} is not among {} files",
            files.len()
        );
    }
}

#[test]
fn no_module_imports_what_it_must_not() {
    assert_none(&violations_of(rules::forbidden_imports));
}

#[test]
fn no_crate_depends_on_what_it_must_not() {
    assert_none(&violations_of(rules::forbidden_dependencies));
}

#[test]
fn each_dependency_has_its_reason() {
    assert_none(&violations_of(rules::unexplained_dependencies));
}

#[test]
fn unsafe_code_is_only_where_the_kernel_and_the_compiler_are_spoken_to() {
    assert_none(&violations_of(rules::misplaced_unsafe));
}

#[test]
fn no_file_is_named_after_nothing() {
    assert_none(&violations_of(rules::empty_names));
}

#[test]
fn no_file_names_a_folder_of_somebodys_machine() {
    assert_none(&violations_of(rules::machine_paths));
}

#[test]
fn links_between_documents_lead_somewhere() {
    let files = source::tracked_files();
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    assert_none(&violations_of(|file| rules::dead_links(file, &paths)));
}

#[test]
fn documents_are_no_wider_than_120_characters() {
    assert_none(&violations_of(rules::wide_lines));
}

#[test]
fn the_coverage_of_the_documents_names_what_exists() {
    let files = source::tracked_files();
    let document = files.iter().find(|file| file.path == coverage::DOCUMENT).expect("there is one");
    assert_none(&coverage::problems(document, &files));
}

/// Who opens it for the first time reads it to the end.
#[test]
fn the_readme_is_at_most_150_lines_long() {
    let files = source::tracked_files();
    let readme = files.iter().find(|file| file.path == "README.md").expect("there is a README");
    let lines = readme.text.lines().count();
    assert!(lines <= 150, "README.md has {lines} lines: move details to docs/");
}

/// With `autotests = false` a file that no program names would never be compiled.
#[test]
fn every_file_of_tests_is_in_the_program_of_its_crate() {
    let files = source::tracked_files();
    let forgotten = |file: &&source::File| {
        let Some((krate, below)) = file.in_crate() else { return false };
        let name = below.strip_prefix("tests/").and_then(|name| name.strip_suffix(".rs"));
        let Some(name) = name.filter(|name| *name != "it" && !name.contains('/')) else { return false };
        let program = format!("crates/{krate}/tests/it.rs");
        let text = files.iter().find(|file| file.path == program).map(|file| &file.text);
        text.is_some_and(|text| !text.lines().any(|line| line == format!("mod {name};")))
    };
    let found: Vec<&str> = files.iter().filter(forgotten).map(|file| file.path.as_str()).collect();
    assert!(found.is_empty(), "tests/it.rs of their crate does not name {found:?}");
}

mod planted {
    //! The checker, checked: each rule finds what it is for and lets its neighbour pass.

    use super::rules::{self, Violation};
    use super::source::File;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_string(), text: text.to_string() }
    }

    fn lines(found: &[Violation]) -> Vec<usize> {
        found.iter().map(|violation| violation.line).collect()
    }

    fn imports(path: &str, text: &str) -> Vec<usize> {
        lines(&rules::forbidden_imports(&file(path, text)))
    }

    #[test]
    fn sees_a_clock_in_the_pure_crate() {
        let path = "crates/assay-pure/src/stats/mod.rs";
        assert_eq!(imports(path, "use std::time::Instant;\n"), [1]);
        assert_eq!(imports(path, "\nuse std::{\n    fmt,\n    fs::{self, File},\n};\n"), [4, 4]);
        assert_eq!(imports(path, "fn now() { ::std::thread::yield_now() }\n"), [1]);
        assert_eq!(imports(path, "use std::fmt;\nuse std::collections::BTreeMap;\n"), [0_usize; 0]);
        assert_eq!(imports("crates/assay/src/run/mod.rs", "use std::time::Instant;\n"), [0_usize; 0]);
    }

    #[test]
    fn sees_another_crate_of_ours_in_the_pure_crate() {
        assert_eq!(imports("crates/assay-pure/src/lib.rs", "use assay_linux::pin;\n"), [1]);
        assert_eq!(
            imports("crates/assay-linux/src/lib.rs", "use assay_pure::stats;\nuse assay::run;\n"),
            [2]
        );
        assert_eq!(imports("crates/assay-harness/src/lib.rs", "use assay_pure::protocol;\n"), [1]);
    }

    #[test]
    fn sees_an_edge_between_rooms() {
        let lab = |room: &str| format!("crates/assay-lab/src/{room}.rs");
        assert_eq!(imports(&lab("run/worker"), "use crate::campaign::Asked;\n"), [1]);
        assert_eq!(imports(&lab("run/worker"), "use super::super::campaign::Asked;\n"), [1]);
        assert_eq!(imports(&lab("run/worker"), "use assay_report::page;\nuse assay_link::build;\n"), [1, 2]);
        assert_eq!(imports(&lab("store/mod"), "pub(crate) use assay_report::Page as P;\n"), [1]);
        assert_eq!(imports(&lab("campaign/turn"), "use crate::{store, run};\nuse crate::compare;\n"), [2]);
        assert_eq!(imports(&lab("campaign/turn"), "use assay_link::{build, adopt};\n"), [1]);
        assert_eq!(imports(&lab("fit/mod"), "fn f(_: assay_link::build::Artifact) {}\n"), [1]);
        assert_eq!(imports("crates/assay-link/src/build/mod.rs", "use crate::adopt::capture;\n"), [1]);
    }

    #[test]
    fn sees_a_crate_of_an_upper_floor() {
        assert_eq!(
            imports("crates/assay-report/src/page.rs", "fn f(_: assay_link::build::Artifact) {}\n"),
            [1]
        );
        assert_eq!(imports("crates/assay-report/src/page.rs", "use assay_linux::pin;\n"), [1]);
        assert_eq!(
            imports("crates/assay-trace/src/lib.rs", "use assay_lab::store;\nuse assay::cli;\n"),
            [1, 2]
        );
        assert_eq!(imports("crates/assay-lab/src/run/mod.rs", "use assay::cli;\n"), [1]);
    }

    #[test]
    fn lets_the_command_line_and_submodules_pass() {
        let all = "use assay_lab::{campaign, run, store};\nuse assay_link::build;\nuse assay_report::page;\n";
        assert_eq!(imports("crates/assay/src/cli/run.rs", all), [0_usize; 0]);
        let run = "crates/assay-lab/src/run/mod.rs";
        assert_eq!(
            imports(run, "use super::run::Worker;\nuse assay_pure::stats;\nuse assay_linux::pin;\n"),
            [0_usize; 0]
        );
        let own_submodule = "mod report;\nuse self::report::Progress;\nmod tests { use super::report::X; }\n";
        assert_eq!(imports(run, own_submodule), [0_usize; 0]);
    }

    #[test]
    fn looks_past_comments_and_literals() {
        let text = "// use std::fs;\n/* std::env /* std::net */ std::fs */\nconst A: &str = \"std::fs::read\";\n\
                    const B: &str = r#\"x \" std::fs \"#;\nconst C: char = '\"';\nuse std::process;\n";
        assert_eq!(imports("crates/assay-pure/src/lib.rs", text), [6]);
    }

    #[test]
    fn sees_a_forbidden_dependency() {
        let found = |path: &str, text: &str| lines(&rules::forbidden_dependencies(&file(path, text)));
        let none = [0_usize; 0];
        let on_pure =
            "[dependencies]\n# the meaning of messages\nassay-pure = { path = \"../assay-pure\" }\n";
        assert_eq!(found("crates/assay-linux/Cargo.toml", on_pure), none);
        assert_eq!(found("crates/assay-harness/Cargo.toml", on_pure), [3]);
        assert_eq!(found("crates/assay-harness/Cargo.toml", &on_pure.replace("[dep", "[dev-dep")), none);
        assert_eq!(
            found("crates/assay-pure/Cargo.toml", "[dependencies]\nassay = { path = \"../assay\" }\n"),
            [2]
        );
        assert_eq!(found("crates/assay-pure/Cargo.toml", "[dependencies.assay-linux]\npath = \"x\"\n"), [1]);
    }

    #[test]
    fn sees_a_dependency_without_a_reason() {
        let found =
            |text: &str| lines(&rules::unexplained_dependencies(&file("crates/assay/Cargo.toml", text)));
        assert_eq!(found("[dependencies]\n# errors with context\nanyhow = \"1\"\nclap = \"4\"\n"), [4]);
        assert_eq!(found("[dependencies]\n#\nanyhow = \"1\"\n"), [3]);
        let explained =
            "[dev-dependencies]\ntempfile = \"3\" # ledgers that vanish\n\n[lints]\nworkspace = true\n";
        assert_eq!(found(explained), [0_usize; 0]);
    }

    #[test]
    fn sees_misplaced_unsafe() {
        let text = "#![forbid(unsafe_code)]\n// unsafe\nfn f() { unsafe { g() } }\n";
        let found = |path: &str| lines(&rules::misplaced_unsafe(&file(path, text)));
        assert_eq!(found("crates/assay/src/run/mod.rs"), [3]);
        assert_eq!(found("crates/assay-linux/src/pin.rs"), [0_usize; 0]);
        assert_eq!(found("crates/assay-predict/src/predict/tage.rs"), [3]);
        for file in ["widest", "prefetch"] {
            assert_eq!(found(&format!("crates/assay-predict/src/predict/{file}.rs")), [0_usize; 0]);
        }
    }

    #[test]
    fn sees_a_name_that_says_nothing() {
        let found = |path: &str, text: &str| rules::empty_names(&file(path, text)).len();
        assert_eq!(found("crates/assay/src/utils.rs", ""), 1);
        assert_eq!(found("crates/assay/tests/common/mod.rs", ""), 1);
        assert_eq!(found("crates/assay/src/run/mod.rs", "mod a;\npub(crate) mod helpers { }\n"), 1);
        assert_eq!(found("crates/assay/src/run/worker.rs", "mod tests {}\n// mod utils\n"), 0);
    }

    #[test]
    fn sees_a_folder_of_somebodys_machine() {
        let found = |text: &str| lines(&rules::machine_paths(&file("README.md", text)));
        assert_eq!(found(concat!("see\n", "/ho", "me/ann/notes.md\n")), [2]);
        assert_eq!(found(concat!("include = \"/wo", "rk/main\"\n")), [1]);
        assert_eq!(found(concat!("https://example.org/ho", "me/x and src/wo", "rk/x\n")), [0_usize; 0]);
    }

    #[test]
    fn sees_a_wide_line() {
        let wide = "ä".repeat(121);
        let found = |path: &str, text: &str| lines(&rules::wide_lines(&file(path, text)));
        let none = [0_usize; 0];
        assert_eq!(found("docs/a.md", &format!("{}\n{wide}\n", "ä".repeat(120))), [2]);
        assert_eq!(
            found("docs/a.md", &format!("```sh\n{wide}\n```\n```console\n{wide}\n```\n{wide}\n")),
            [2, 7]
        );
        assert_eq!(found("docs/a.md", &format!("| {wide} |\n- [a](https://{wide})\n")), none);
        assert_eq!(found("docs/a.md", &format!("- [a](https://{wide}), see there\n")), [1]);
        assert_eq!(found("crates/assay-report/tests/golden/run.md", &wide), none);
        assert_eq!(found("src/a.rs", &wide), none);
    }

    #[test]
    fn sees_a_dead_link() {
        let readme = file(
            "README.md",
            "[a](GLOSSARY.md), [b](GONE.md),\n[c](https://x.org/y), [d](crates/assay/src#x)\n",
        );
        let paths = ["README.md", "GLOSSARY.md", "crates/assay/src/lib.rs"];
        let found = rules::dead_links(&readme, &paths);
        assert_eq!(lines(&found), [1]);
        assert!(found[0].what.contains("GONE.md"), "{}", found[0]);
        let nested =
            file("docs/a/b.md", "[a](../../GLOSSARY.md)\n[b](GLOSSARY.md)\n[c](#here)\n[d](../../crates/)\n");
        assert_eq!(lines(&rules::dead_links(&nested, &paths)), [2]);
    }
}
