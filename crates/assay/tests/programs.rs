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
    // One of each family is enough; each takes seconds.
    let clang = Command::new("clang").arg("--version").output().is_ok();
    let one: &[&str] = match option {
        "--cpp" if clang => &["--compiler", "gcc", "--compiler", "clang"],
        "--cpp" => &["--compiler", "gcc"],
        _ => &[],
    };
    let words = ["run", "sums/experiment.toml", "--quiet", "--budget", "0.1", "--json", "page.json"];
    let run = assay(&[&words[..], one].concat());
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

/// The first line of what is told of a build that fails.
fn told_of_the_build(project: &Copied) -> String {
    let output = project.run();
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let page = page_of(&project.place());
    let reason = page["failures"][0]["reason"].as_str().expect("a failure").to_owned();
    reason.lines().next().expect("a line").to_owned()
}

#[test]
fn a_symbol_that_a_makefiles_link_misses_is_told_with_its_remedy_in_the_first_line() {
    let Some(project) = Copied::new("make", "make") else { return };
    if Command::new("g++").arg("--version").output().is_err() {
        println!("skipped: there is no g++");
        return;
    }
    let above = project.folder.path().join("programs");
    let main = std::fs::read_to_string(above.join("main.c")).expect("a fixture");
    let calling =
        "uint64_t helper(const uint8_t *data, size_t size);\nASSAY_VARIANT(\"helper\", helper)\nASSAY_MAIN()";
    std::fs::write(above.join("main.c"), main.replace("ASSAY_MAIN()", calling)).expect("written");
    let helper = "#include <stddef.h>\n#include <stdint.h>\n\
                  uint64_t helper(const uint8_t *data, size_t size) { return data[0] + size; }\n";
    std::fs::write(above.join("helper.cpp"), helper).expect("written");
    let with = "sums: main.o loops.o helper.o\n\t$(CC) -o $@ $^\nhelper.o: ../helper.cpp\n\t$(CXX) -c -o $@ $<\n\
                %.o: ../%.c\n\t$(CC) -O2 $(CFLAGS) -c -o $@ $<\n";
    std::fs::write(project.place().join("sums.mk"), with).expect("written");
    let in_cpp = told_of_the_build(&project);
    assert!(in_cpp.contains("helper.cpp defines `helper` in C++, but main.c calls a C function"), "{in_cpp}");
    assert!(in_cpp.ends_with("define it as extern \"C\" in helper.cpp"), "{in_cpp}");
    // Objects that are up to date are told of, too.
    std::fs::write(project.place().join("sums.mk"), OF_OBJECTS).expect("written");
    let left_out = told_of_the_build(&project);
    assert!(
        left_out.contains(
            "`helper`, which main.c calls, is defined in nothing that is linked: link the file or library"
        ),
        "{left_out}"
    );
}

#[test]
fn a_symbol_that_a_rust_program_misses_is_told_with_what_declares_its_library() {
    let Some(package) = Copied::new("cargo", "cargo") else { return };
    package.edit(
        "src/main.rs",
        "fn main() -> ExitCode {",
        "unsafe extern \"C\" { fn helper() -> u64; }\n\nfn main() -> ExitCode {\n    unsafe { helper() };",
    );
    let told = told_of_the_build(&package);
    assert!(
        told.contains("`helper` is defined in nothing that is linked: declare its library in build.rs (cargo:rustc-link-lib)"),
        "{told}"
    );
}

/// A page without failures, each cell of which was at these offsets.
fn is_at(page: &Value, offsets: &Value) {
    assert_eq!(page["failures"], serde_json::json!([]), "{}", page["answer"]);
    for cell in page["cells"].as_array().expect("cells") {
        assert_eq!(cell["reached"]["offsets"], *offsets, "{cell}");
    }
}

#[test]
fn symbols_that_a_profile_strips_are_there_in_what_is_measured() {
    let Some(package) = Copied::new("cargo", "cargo") else { return };
    package.edit("Cargo.toml", "[workspace]", "[workspace]\n\n[profile.release]\nstrip = true");
    let page = package.page();
    is_whole(&page);
    assert!(!page["warnings"].to_string().contains("symbols"), "{}", page["warnings"]);
}

#[test]
fn flags_and_profiles_of_cargo_are_an_axis_and_what_its_configuration_says_still_holds() {
    let Some(package) = Copied::new("cargo", "cargo") else { return };
    package.edit(
        "Cargo.toml",
        "[workspace]",
        "[workspace]\n\n[profile.dist]\ninherits = \"release\"\ndebug-assertions = true",
    );
    std::fs::create_dir(package.place().join(".cargo")).expect("made");
    let configured = "[build]\nrustflags = [\"--cfg\", \"configured\"]\n";
    std::fs::write(package.place().join(".cargo/config.toml"), configured).expect("written");
    let asserted = "#[cfg(not(configured))]\ncompile_error!(\"the configuration's flags are lost\");\n\
                    #[cfg(all(dist, not(debug_assertions)))]\ncompile_error!(\"it is another profile\");\n\n\
                    fn main() -> ExitCode {";
    package.edit("src/main.rs", "fn main() -> ExitCode {", asserted);
    package.edit(
        "experiment.toml",
        "[inputs.bytes]",
        "[flags]\nlto = [\"-C lto=fat\", \"-C codegen-units=1\"]\nnative = [\"-C target-cpu=native\"]\n\
         dist = [\"--profile=dist\", \"--cfg\", \"dist\"]\n\n[inputs.bytes]",
    );
    package.edit("experiment.toml", "rotations = 3", "rotations = 1\nmax_rotations = 1");
    let page = package.page();
    is_at(&page, &serde_json::json!([0, 16, 32, 48]));
    assert_eq!(page["flag_sets"].as_array().map(Vec::len), Some(3), "{}", page["flag_sets"]);
}

#[test]
fn toolchains_of_rustup_are_an_axis() {
    let Some(package) = Copied::new("cargo", "cargo") else { return };
    let nightly = Command::new("rustc").args(["+nightly", "-V"]).output();
    if !nightly.is_ok_and(|output| output.status.success()) {
        println!("skipped: rustup has no nightly here");
        return;
    }
    let text = std::fs::read_to_string(package.place().join("experiment.toml")).expect("a fixture");
    let text = text.replace("rotations = 3", "rotations = 1\nmax_rotations = 1\nphases = [0]");
    let asked = format!("compilers = [\"stable\", \"nightly\"]\n{text}");
    std::fs::write(package.place().join("experiment.toml"), asked).expect("written");
    let page = package.page();
    assert_eq!(page["failures"], serde_json::json!([]), "{}", page["answer"]);
    let compilers = page["machine"]["compilers"].as_array().expect("compilers");
    let names: Vec<&str> = compilers.iter().filter_map(|compiler| compiler["name"].as_str()).collect();
    assert!(names.len() == 2 && names.iter().all(|name| name.contains("rustc")), "{names:?}");
}

#[test]
fn a_second_input_is_read_by_a_program_in_rust() {
    let Some(package) = Copied::new("cargo", "cargo") else { return };
    let source = package.place().join("src/main.rs");
    let text = std::fs::read_to_string(&source).expect("a fixture");
    // Zeros that are there: adding one changes no answer, and without the table there is none.
    let reading = text
        .replace("data.iter().fold(0,", "data.iter().fold(u64::from(assay_harness::input(\"table\")[99]),");
    assert_ne!(text, reading);
    std::fs::write(source, reading).expect("written");
    package.edit(
        "experiment.toml",
        "format = \"bytes\"",
        "format = \"bytes\"\nwith = { table = \"zeros\" }\n\n[inputs.zeros]\ngenerator = \"uniform_value\"\nmax = 0\nunits = 100\n\
         format = \"bytes\"",
    );
    package.edit("experiment.toml", "rotations = 3", "rotations = 1\nmax_rotations = 1\nphases = [0]");
    assert_eq!(package.page()["failures"], serde_json::json!([]));
}

#[test]
fn a_function_in_rust_that_takes_something_else_is_told_with_what_a_variant_is() {
    let Some(package) = Copied::new("cargo", "cargo") else { return };
    package.edit(
        "src/main.rs",
        "fn digest_same(data: &[u8]) -> u64",
        "fn digest_same(data: &[u8], _: usize) -> u64",
    );
    let told = told_of_the_build(&package);
    assert!(told.contains("mismatched types"), "{told}");
    let reason = page_of(&package.place())["failures"][0]["reason"].to_string();
    assert!(
        reason.contains("fn(&[u8]) -> u64") || reason.contains("for<'a> fn(&'a [u8]) -> u64"),
        "{reason}"
    );
    assert!(reason.contains("src/main.rs:"), "{reason}");
}

#[test]
fn modules_of_cpp_are_built_by_their_own_rules_and_placed() {
    let Some(project) = Copied::new("make", "make") else { return };
    let above = project.folder.path().join("programs");
    let module = "module;\n#include <stddef.h>\n#include <stdint.h>\nexport module loops;\n\
                  export uint64_t digest(const uint8_t *data, size_t size)\n{\n    uint64_t digest = 0;\n    \
                  for (size_t i = 0; i < size; i++)\n        digest = digest * 31 + data[i];\n    return digest;\n}\n";
    std::fs::write(above.join("make/module.cpp"), module).expect("written");
    let probed = Command::new("g++")
        .args(["-std=c++20", "-fmodules-ts", "-c", "module.cpp", "-o", "probe.o"])
        .current_dir(project.place())
        .output();
    if !probed.is_ok_and(|output| output.status.success()) {
        println!("skipped: there is no g++ with -fmodules-ts");
        return;
    }
    let main = "#include <assay.h>\nimport loops;\n\
                static uint64_t loop(const uint8_t *data, size_t size) { return digest(data, size); }\n\
                static uint64_t same(const uint8_t *data, size_t size) { return digest(data, size); }\n\
                ASSAY_VARIANT(\"loop\", loop)\nASSAY_VARIANT(\"same\", same)\nASSAY_MAIN()\n";
    std::fs::write(above.join("make/user.cpp"), main).expect("written");
    let rules = "sums: module.o user.o\n\tg++ -o $@ $^\nuser.o: module.o\n%.o: %.cpp\n\tg++ -std=c++20 -fmodules-ts -O2 -c -o $@ $<\n";
    std::fs::write(project.place().join("sums.mk"), rules).expect("written");
    project.edit("experiment.toml", "[\"loop\", \"same\", \"pair\"]", "[\"loop\", \"same\"]");
    project.edit("experiment.toml", "rotations = 3", "rotations = 1\nmax_rotations = 1");
    is_at(&project.page(), &serde_json::json!([0, 16, 32, 48]));
}

#[test]
fn a_cmake_project_is_built_as_release_outside_of_its_folder_and_placed() {
    let Some(project) = Copied::new("cmake", "cmake") else { return };
    is_whole(&project.page());
    assert!(!project.place().join("CMakeCache.txt").exists());
}

/// What each cell executes per unit, all counted in this way.
fn counted(project: &Copied, source: &str) -> Vec<[f64; 2]> {
    let output = project.command().args(["--source", source]).output().expect("assay starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let of = |cell: &Value, event: &str| {
        let figure = &cell["per_unit"][event];
        assert_eq!(figure["source"], source, "{cell}");
        figure["value"].as_f64().unwrap_or_else(|| panic!("no {event}: {cell}"))
    };
    let page = page_of(&project.place());
    let cells = page["cells"].as_array().expect("cells").iter();
    cells.map(|cell| ["instructions", "branches"].map(|event| of(cell, event))).collect()
}

#[test]
fn what_cmake_a_command_or_the_linker_makes_is_counted_in_an_instrumented_build_as_the_emulator_counts_it() {
    if !cfg!(target_arch = "x86_64") {
        println!("skipped: only x86-64 is instrumented");
        return;
    }
    trace_fixtures::plugin();
    for (kind, builder) in [("make", "make"), ("cmake", "cmake"), ("sources", "gcc")] {
        let Some(project) = Copied::new(kind, builder) else { return };
        project.place_once();
        project.edit("experiment.toml", "unit = ", "events = [\"instructions\", \"branches\"]\nunit = ");
        let instrumented = counted(&project, "instrumented");
        assert_eq!(instrumented.len(), 3, "all variants");
        assert_eq!(instrumented, counted(&project, "traced"), "{kind}");
    }
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
