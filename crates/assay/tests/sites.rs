//! Hints of known truth, built by several compilers at several levels, traced and judged.
//!
//! The fixtures say behind each hint whether it is right, wrong or unclear. What must never happen is the opposite verdict;
//! what a compiler made unrecognisable may be unclear, but with the usual flags most must be decided.

use crate::trace_fixtures;
use assay_pure::predict::{Zoo, zoo};
use assay_report::sites::page::{HintOrigin, HintVerdict, JudgedHint, SitesPage};
use assay_trace::sites::{SimulatedPredictor, SiteSelection, Watch, compose};
use assay_trace::{TraceOptions, command};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PREDICTORS: [&str; 2] = ["bimodal", "gshare"];

/// A fixture, built beside a copy of its source, which is older than the program.
struct Built {
    source: String,
    program: PathBuf,
    _folder: tempfile::TempDir,
}

/// Builds a fixture; `None`, with a printed reason, where the compiler is missing or does not know the flags.
fn build(name: &str, compiler: &[&str]) -> Option<Built> {
    let folder = tempfile::tempdir().expect("a folder");
    let from = trace_fixtures::root().join("fixtures/hints").join(name);
    let source = std::fs::read_to_string(from).expect("the fixture is there");
    let copy = folder.path().join(name);
    std::fs::write(&copy, &source).expect("written");
    let program = folder.path().join("program");
    let mut words = compiler.iter();
    let mut build = Command::new(words.next().expect("a compiler"));
    build.args(words).arg(&copy).arg("-o").arg(&program).stderr(Stdio::null());
    match build.status() {
        Ok(status) if status.success() => Some(Built { source, program, _folder: folder }),
        _ => {
            println!("skipped: {} can't be built by {}", name, compiler.join(" "));
            None
        }
    }
}

/// Traces a program; `None`, with a printed reason, where this machine can't.
fn page(program: &Path, arguments: &[&str], wish: SiteSelection) -> Option<SitesPage> {
    let options =
        TraceOptions { plugin: Some(trace_fixtures::plugin().to_owned()), ..TraceOptions::default() };
    let mut line = vec![program.as_os_str().to_owned()];
    line.extend(arguments.iter().map(OsString::from));
    let traced = command(&line, &options, || Watch::new(Zoo::new(&PREDICTORS).expect("known names")));
    match traced {
        Ok(trace) => Some(compose(&trace, &wish)),
        Err(refusal) => {
            println!("skipped: {refusal}");
            None
        }
    }
}

fn wish() -> SiteSelection {
    let model = |name: &&str| {
        let found = zoo::describe(name).expect("a known name");
        SimulatedPredictor {
            name: (*name).to_owned(),
            what: found.what,
            definition: found.definition,
            judges: found.judges,
        }
    };
    SiteSelection {
        models: PREDICTORS.iter().map(model).collect(),
        top: 20,
        detailed: 2,
        hints: true,
        ..SiteSelection::default()
    }
}

/// What the fixture says of a hint.
fn truth(hint: &JudgedHint, source: &str) -> Option<HintVerdict> {
    let line = source.lines().nth(hint.line? as usize - 1)?;
    match line.rsplit_once("// ")?.1.trim() {
        "right" => Some(HintVerdict::Right),
        "wrong" => Some(HintVerdict::Wrong),
        "unclear" => Some(HintVerdict::Unclear),
        _ => None,
    }
}

/// Traces and judges; checks that nothing false is said; returns how many hints of the file were decided.
fn decided(name: &str, compiler: &[&str]) -> Option<usize> {
    let built = build(name, compiler)?;
    let page = page(&built.program, &["3000"], wish())?;
    let hints = page.hints.expect("asked for");
    let own = hints.list.iter().filter(|hint| hint.file.as_deref().is_some_and(|file| file.ends_with(name)));
    let mut decided = 0;
    for hint in own {
        let Some(truth) = truth(hint, &built.source) else {
            // The declarations of the macros and of the functions.
            assert_eq!(hint.verdict, HintVerdict::NotExecuted, "{compiler:?}: {hint:?}");
            continue;
        };
        if matches!(hint.verdict, HintVerdict::Right | HintVerdict::Wrong) {
            assert_eq!(hint.verdict, truth, "{compiler:?}: {hint:?}");
            decided += 1;
        }
    }
    Some(decided)
}

/// Every fixture marks this many hints as right or wrong.
fn decidable(name: &str) -> usize {
    let path = trace_fixtures::root().join("fixtures/hints").join(name);
    let source = std::fs::read_to_string(path).expect("the fixture is there");
    source.lines().filter(|line| line.ends_with("// right") || line.ends_with("// wrong")).count()
}

#[test]
fn most_hints_of_optimised_c_are_decided_and_none_falsely() {
    for compiler in [["gcc", "-g", "-O2"], ["clang", "-g", "-O2"]] {
        let Some(decided) = decided("hints.c", &compiler) else { continue };
        assert!(decided + 1 >= decidable("hints.c"), "{compiler:?}: {decided}");
    }
}

#[test]
fn most_hints_of_optimised_cpp_are_decided_and_none_falsely() {
    for compiler in [["g++", "-std=c++20", "-g", "-O2"], ["clang++", "-std=c++20", "-g", "-O2"]] {
        let Some(decided) = decided("hints.cpp", &compiler) else { continue };
        assert!(decided + 2 >= decidable("hints.cpp"), "{compiler:?}: {decided}");
    }
}

#[test]
fn no_level_of_optimisation_leads_to_a_false_verdict() {
    for level in ["-O0", "-O1", "-O3", "-Os"] {
        for (name, compiler) in [
            ("hints.c", vec!["gcc", "-g", level]),
            ("hints.c", vec!["clang", "-g", level]),
            ("hints.cpp", vec!["g++", "-std=c++20", "-g", level]),
            ("hints.cpp", vec!["clang++", "-std=c++20", "-g", level]),
        ] {
            if let Some(decided) = decided(name, &compiler) {
                assert!(decided >= 4, "{compiler:?}: {decided}");
            }
        }
    }
}

#[test]
fn hints_of_another_architecture_are_judged_alike() {
    let compiler = ["aarch64-linux-gnu-gcc", "-static", "-g", "-O2"];
    if let Some(decided) = decided("hints.c", &compiler) {
        assert!(decided + 1 >= decidable("hints.c"), "{decided}");
    }
}

#[test]
fn lines_without_columns_are_enough_for_hints_that_have_lines_of_their_own() {
    let compiler = ["gcc", "-g", "-O2", "-gno-column-info"];
    if let Some(decided) = decided("hints.c", &compiler) {
        assert!(decided >= 8, "{decided}");
    }
}

#[test]
fn calls_of_functions_marked_cold_are_judged_in_rust() {
    for flags in [vec!["rustc", "-g", "-O"], vec!["rustc", "-g"]] {
        let Some(decided) = decided("hints.rs", &flags) else { continue };
        assert_eq!(decided, 2, "{flags:?}");
    }
}

#[test]
fn without_debug_information_functions_are_known_and_lines_are_asked_for() {
    let Some(built) = build("hints.c", &["gcc", "-O2"]) else { return };
    let Some(page) = page(&built.program, &["3000"], wish()) else { return };
    let worst = &page.sites[0];
    assert_eq!((worst.function.as_deref(), worst.file.as_deref()), (Some("inner_loop"), None));
    let asked = |warning: &String| warning.contains("no debug information") && warning.contains("-g");
    assert!(page.warnings.iter().any(asked), "{:?}", page.warnings);
    let hints = page.hints.expect("asked for").list;
    assert!(hints.iter().all(|hint| hint.origin != HintOrigin::Source));
}

#[test]
fn a_source_changed_after_the_build_gives_no_verdict() {
    let Some(built) = build("hints.c", &["gcc", "-g", "-O2"]) else { return };
    let program = std::fs::File::options().append(true).open(&built.program).expect("writable");
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    program.set_modified(long_ago).expect("settable");
    drop(program);
    let Some(page) = page(&built.program, &["3000"], wish()) else { return };
    let hints = page.hints.expect("asked for");
    let judged = |hint: &&JudgedHint| matches!(hint.verdict, HintVerdict::Right | HintVerdict::Wrong);
    let own = hints
        .list
        .iter()
        .filter(judged)
        // A call of a cold function is read from the machine code, which has not changed.
        .filter(|hint| hint.origin == HintOrigin::Source)
        .filter(|hint| hint.file.as_deref().is_some_and(|file| file.ends_with("hints.c")));
    assert_eq!(own.count(), 0);
    assert!(
        hints.list.iter().any(|hint| hint.reason.as_deref().is_some_and(|reason| reason.contains("newer")))
    );
}

#[test]
fn the_worst_site_is_named_with_line_code_figures_and_floor() {
    let Some(built) = build("hints.c", &["gcc", "-g", "-O2"]) else { return };
    let Some(page) = page(&built.program, &["3000"], wish()) else { return };
    let even = page
        .sites
        .iter()
        .find(|site| site.function.as_deref() == Some("even"))
        .expect("it is among the worst");
    assert_eq!((even.executed, even.class.as_str()), (3000, "conditional jump"));
    let line =
        built.source.lines().position(|line| line.contains("likely(x & 1)")).expect("the line") as u32 + 1;
    assert_eq!(even.line, Some(line));
    let floor = even.floor.as_ref().expect("a floor");
    assert_eq!(floor.constant, even.taken.min(3000 - even.taken));
    assert!(floor.best.expect("room") > 1200.0, "a coin can't be foretold");
    assert!(even.mispredictions.iter().all(|missed| missed.count > 1200), "{even:?}");
    let shares: f64 = page.sites.iter().filter_map(|site| site.share).sum();
    let last = page.sites.last().and_then(|site| site.running).expect("a total");
    assert!((shares - last).abs() < 1e-9 && last <= 1.0);
    let left = page.left_out.share.expect("a share");
    assert!((last + left - 1.0).abs() < 1e-9);
    let worst = &page.sites[0];
    assert!(worst.source.iter().any(|line| line.here && line.text.contains("while (likely(i < x))")));
    assert_eq!(worst.code.iter().filter(|line| line.here).count(), 1);
    assert_eq!(page.sites[2].source, []);
}

#[test]
fn a_pattern_chooses_functions() {
    let Some(built) = build("hints.c", &["gcc", "-g", "-O2"]) else { return };
    let chosen = SiteSelection { function: Some("*_of_two".to_owned()), ..wish() };
    let Some(page) = page(&built.program, &["300"], chosen) else { return };
    let fits = |name: &str| name.ends_with("_of_two");
    assert!(
        page.sites.iter().all(|site| site.function.as_deref().is_some_and(fits)) && page.sites.len() >= 4
    );
    let none = SiteSelection { function: Some("nothing*".to_owned()), ..wish() };
    let page = self::page(&built.program, &["300"], none).expect("as before");
    assert_eq!(page.sites, []);
    assert!(page.warnings.iter().any(|warning| warning.contains("`nothing*`")), "{:?}", page.warnings);
}
