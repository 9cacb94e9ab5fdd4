//! `assay run` on programs that have a build of their own: a cargo package, a CMake project, a makefile; and in Zig.

#[path = "programs/zig.rs"]
mod zig;

use crate::trace_fixtures;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A fixture in a folder of its own: builds write beside their sources.
struct Copied {
    folder: tempfile::TempDir,
    kind: &'static str,
}

impl Copied {
    /// The fixture; none where what builds it is missing.
    fn new(kind: &'static str, builder: &str) -> Option<Self> {
        if !Command::new(builder).arg("--version").output().is_ok_and(|output| output.status.success()) {
            println!("skipped: `{builder}` is not on PATH");
            return None;
        }
        Some(Self::from_fixture(kind))
    }

    fn from_fixture(kind: &'static str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let from = trace_fixtures::root().join("fixtures/programs");
        let copied = Command::new("cp").arg("-r").arg(&from).arg(folder.path()).status().expect("cp is here");
        assert!(copied.success());
        let own = Self { folder, kind };
        if kind == "cargo" {
            let harness = trace_fixtures::root().join("crates/assay-harness");
            own.edit("Cargo.toml", "../../../crates/assay-harness", harness.to_str().expect("UTF-8"));
        }
        own
    }

    fn place(&self) -> PathBuf {
        self.folder.path().join("programs").join(self.kind)
    }

    fn edit(&self, file: &str, from: &str, to: &str) {
        let path = self.place().join(file);
        let text = std::fs::read_to_string(&path).expect("a fixture");
        assert!(text.contains(from), "{text}");
        std::fs::write(path, text.replace(from, to)).expect("written");
    }

    /// Measured where one link has put it: for what is not about placements.
    fn place_once(&self) {
        let once = "rotations = 1\nmax_rotations = 1\nphases = [0]";
        self.edit("experiment.toml", "rotations = 3", once);
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command
            .args(["run", "experiment.toml", "--quiet", "--budget", "0.1", "--json", "page.json"])
            .current_dir(self.place());
        command
    }

    fn run(&self) -> Output {
        self.command().output().expect("assay starts")
    }

    /// The page of a run that is to succeed.
    fn page(&self) -> Value {
        let output = self.run();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stdout));
        page_of(&self.place())
    }
}

fn page_of(folder: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join("page.json")).expect("a page")).expect("JSON")
}

/// Every variant was at every offset, nothing failed, and the copy is known for one.
fn is_whole(page: &Value) {
    assert_eq!(page["failures"], serde_json::json!([]), "{}", page["answer"]);
    for cell in page["cells"].as_array().expect("cells") {
        assert_eq!(cell["reached"]["offsets"], serde_json::json!([0, 16, 32, 48]), "{cell}");
    }
    let same =
        page["contrasts"].as_array().expect("contrasts").iter().find(|found| found["candidate"] == "same");
    let same = same.expect("a contrast");
    assert_eq!(same["proven"], true, "{same}");
}

#[test]
fn a_cargo_package_is_built_by_its_cargo_and_placed() {
    let Some(package) = Copied::new("cargo", "cargo") else { return };
    let page = package.page();
    is_whole(&page);
    let compiler = &page["machine"]["compilers"][0]["name"];
    assert!(compiler.as_str().is_some_and(|name| name.starts_with("rustc-1.")), "{compiler}");
    assert_eq!(page["flag_sets"][0]["name"], "release");
    assert!(!package.place().join("target").exists(), "the user's own target folder is left alone");
    // What is up to date is linked again.
    is_whole(&package.page());
}

/// What `assay new` writes for a language is measured as it is, where its compiler is there.
fn new_is_measured(option: &str, compiler: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let assay = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.args(words).current_dir(folder.path()).output().expect("assay starts")
    };
    let made = assay(&["new", option, "sums"]);
    let said = String::from_utf8_lossy(&made.stdout).into_owned();
    assert!(said.ends_with("next: assay run sums/experiment.toml\n"), "{said}");
    assert!(!assay(&["new", option, "sums"]).status.success(), "what is there stays");
    if Command::new(compiler).arg("--version").output().is_err() {
        println!("skipped: there is no {compiler}");
        return;
    }
    let run = assay(&["run", "sums/experiment.toml", "--quiet", "--budget", "0.1", "--json", "page.json"]);
    assert!(
        run.status.success(),
        "{}{}",
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr)
    );
    assert_eq!(page_of(folder.path())["failures"], serde_json::json!([]));
}

#[test]
fn a_new_package_in_rust_is_measured_as_it_was_written() {
    new_is_measured("--rust", "cargo");
}

#[test]
fn a_new_experiment_in_cpp_is_measured_as_it_was_written() {
    new_is_measured("--cpp", "g++");
}

#[test]
fn what_a_cargo_package_lacks_is_told_in_cargos_words() {
    let Some(package) = Copied::new("cargo", "cargo") else { return };
    package.edit("experiment.toml", "features = [\"pair\"]", "bin = \"summs\"");
    let output = package.run();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success() && printed.contains("no bin target named `summs`"), "{printed}");
    assert!(printed.contains("`sums`"), "cargo names the nearest: {printed}");
}

#[test]
fn a_cmake_project_is_built_as_release_outside_of_its_folder_and_placed() {
    let Some(project) = Copied::new("cmake", "cmake") else { return };
    is_whole(&project.page());
    assert!(!project.place().join("CMakeCache.txt").exists());
}

#[test]
fn what_a_command_builds_is_placed_and_built_again_where_it_is_up_to_date() {
    let Some(project) = Copied::new("make", "make") else { return };
    is_whole(&project.page());
    let built = std::fs::metadata(project.place().join("sums")).expect("built").modified().expect("a time");
    is_whole(&project.page());
    assert!(
        std::fs::metadata(project.place().join("sums")).expect("there").modified().expect("a time") > built
    );
    // A build that fails takes nothing away.
    project.edit("sums.mk", "-O2", "-O2 -no-such-flag");
    let output = project.run();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success() && printed.contains("no-such-flag"), "{printed}");
    assert!(project.place().join("sums").is_file());
}

/// A makefile with objects, which make does not compile again when only flags change.
const OF_OBJECTS: &str =
    "sums: main.o loops.o\n\t$(CC) -o $@ $^\n%.o: ../%.c\n\t$(CC) -Og $(CFLAGS) -c -o $@ $<\n";

/// Whether `same` is proven to be `loop`, by flag set.
fn proven(page: &Value) -> std::collections::BTreeMap<String, bool> {
    let contrasts = page["contrasts"].as_array().expect("contrasts").iter();
    let same = contrasts.filter(|found| found["candidate"] == "same");
    same.map(|found| (found["flags"].as_str().expect("a name").to_owned(), found["proven"] == true)).collect()
}

#[test]
fn each_flag_set_of_a_command_is_compiled_and_linked_apart() {
    let Some(project) = Copied::new("make", "make") else { return };
    std::fs::write(project.place().join("sums.mk"), OF_OBJECTS).expect("written");
    project.edit(
        "experiment.toml",
        "[inputs.bytes]",
        "[flags]\nplain = [\"-DPLAIN\"]\napart = [\"-DAPART\"]\n\n[inputs.bytes]",
    );
    project.place_once();
    with_apart(&project);
    for _ in 0..2 {
        let found = proven(&project.page());
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [("apart".into(), false), ("plain".into(), true)]);
    }
}

/// `digest_same` of the project becomes other code where `APART` is defined.
fn with_apart(project: &Copied) {
    let loops = project.folder.path().join("programs/loops.c");
    let text = std::fs::read_to_string(&loops).expect("a fixture");
    let (ahead, same) = text.split_once("digest_same").expect("a function");
    let apart = "#ifdef APART\n    volatile uint64_t begin = 0;\n    uint64_t digest = begin;\n#else\n    uint64_t digest = 0;\n#endif";
    let same = same.replacen("    uint64_t digest = 0;", apart, 1);
    std::fs::write(&loops, format!("{ahead}digest_same{same}")).expect("written");
}

#[test]
fn what_a_makefile_defaults_to_is_what_is_measured_and_its_functions_are_placed_one_by_one() {
    let Some(project) = Copied::new("make", "make") else { return };
    project.place_once();
    with_apart(&project);
    std::fs::write(project.place().join("sums.mk"), format!("CFLAGS ?= -DAPART\n{OF_OBJECTS}"))
        .expect("written");
    let page = project.page();
    assert_eq!(proven(&page).into_values().collect::<Vec<_>>(), [false], "the default of CFLAGS was lost");
    let warnings = page["warnings"].to_string();
    assert!(!warnings.contains("move together"), "{warnings}");
}

#[test]
fn a_compiler_that_the_build_does_not_take_is_not_credited_and_flags_without_effect_are_questioned() {
    let Some(project) = Copied::new("make", "make") else { return };
    if Command::new("clang").arg("--version").output().is_err() {
        eprintln!("skipped: there is no clang");
        return;
    }
    project.place_once();
    let deaf = "sums: ../main.c ../loops.c\n\tgcc -Og -o $@ $^\n";
    std::fs::write(project.place().join("sums.mk"), deaf).expect("written");
    let asked = "[flags]\nplain = [\"-O2\"]\nhigh = [\"-O3\"]\n\n[inputs.bytes]";
    project.edit("experiment.toml", "[inputs.bytes]", asked);
    let text = std::fs::read_to_string(project.place().join("experiment.toml")).expect("a fixture");
    let asked = format!("compilers = [\"gcc\", \"clang\"]\n{text}");
    std::fs::write(project.place().join("experiment.toml"), asked).expect("written");
    // Not all could be measured, so it is no success.
    assert!(!project.run().status.success());
    let page = page_of(&project.place());
    let failures = page["failures"].to_string();
    assert!(failures.contains("does not compile with clang") && failures.contains("GCC: "), "{failures}");
    let compilers =
        page["contrasts"].as_array().expect("contrasts").iter().map(|found| found["compiler"].to_string());
    assert!(compilers.into_iter().all(|name| name.contains("gcc")));
    assert!(
        page["warnings"].to_string().contains("the build makes the same program with plain and high"),
        "{}",
        page["warnings"]
    );
}

#[test]
fn flags_that_a_build_cannot_have_followed_are_no_answer() {
    let Some(project) = Copied::new("make", "make") else { return };
    // As if somebody else had compiled it, without a rule of how.
    std::fs::write(project.place().join("sums.mk"), OF_OBJECTS).expect("written");
    let mut make = Command::new("make");
    make.args(["-f", "sums.mk"])
        .env("CPATH", trace_fixtures::root().join("harness"))
        .current_dir(project.place());
    assert!(make.status().expect("make starts").success());
    std::fs::write(project.place().join("sums.mk"), "sums: main.o loops.o\n\t$(CC) -o $@ $^\n")
        .expect("written");
    project.edit("experiment.toml", "[inputs.bytes]", "[flags]\nhigh = [\"-O3\"]\n\n[inputs.bytes]");
    let output = project.run();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success() && printed.contains("main.o"), "{printed}");
    assert!(project.place().join("main.o").is_file() && project.place().join("sums").is_file());
}

#[test]
fn an_archive_that_no_rule_makes_stays_and_is_linked_as_it_is() {
    let Some(project) = Copied::new("make", "make") else { return };
    let rules = "sums: main.o libloops.a\n\t$(CC) -o $@ $^\n%.o: ../%.c\n\t$(CC) -Og $(CFLAGS) -c -o $@ $<\n";
    std::fs::write(project.place().join("sums.mk"), OF_OBJECTS).expect("written");
    let ran = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("CPATH", trace_fixtures::root().join("harness"))
            .current_dir(project.place());
        assert!(command.status().expect("it starts").success());
    };
    ran("make", &["-f", "sums.mk"]);
    ran("ar", &["rc", "libloops.a", "loops.o"]);
    ran("rm", &["loops.o", "sums"]);
    std::fs::write(project.place().join("sums.mk"), rules).expect("written");
    project.edit("experiment.toml", "[inputs.bytes]", "[flags]\nhigh = [\"-O3\"]\n\n[inputs.bytes]");
    project.place_once();
    // Not quiet: what the build is warned of is told as it happens.
    let mut run = Command::new(env!("CARGO_BIN_EXE_assay"));
    run.args(["run", "experiment.toml", "--budget", "0.1"]).current_dir(project.place());
    let output = run.output().expect("assay starts");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stdout));
    assert!(told.contains("libloops.a: no rule of the build recompiles it"), "{told}");
    assert!(project.place().join("libloops.a").is_file());
}
