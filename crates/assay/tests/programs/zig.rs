//! `assay run` on programs in Zig. Without zig 0.15 all but one are skipped.

use super::{Copied, page_of};
use crate::trace_fixtures;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::{Command, Output};

/// The command that is zig; none where there is none.
fn zig() -> Option<String> {
    let found = Command::new(trace_fixtures::root().join("casebook/transport/find_zig.sh")).output();
    match found {
        Ok(found) if found.status.success() => {
            Some(String::from_utf8(found.stdout).expect("UTF-8").trim().to_owned())
        }
        _ => {
            println!("skipped: there is no zig 0.15");
            None
        }
    }
}

fn run(project: &Copied, zig: &str) -> Output {
    project.command().env("ZIG", zig).output().expect("assay starts")
}

fn page(project: &Copied, zig: &str) -> Value {
    let output = run(project, zig);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stdout));
    page_of(&project.place())
}

fn is_measured(page: &Value) {
    assert_eq!(page["failures"], json!([]), "{}", page["answer"]);
    for cell in page["cells"].as_array().expect("cells") {
        assert_eq!(cell["reached"]["offsets"], json!([0, 16, 32, 48]), "{cell}");
    }
    let contrast = |candidate: &str| {
        let mut all = page["contrasts"].as_array().expect("contrasts").iter();
        all.find(|found| found["candidate"] == candidate).expect("a contrast")
    };
    assert_eq!(contrast("same")["proven"], true, "{}", contrast("same"));
    let eight = contrast("eight");
    assert_ne!(eight["proven"], true);
    assert!(!["faster", "equivalent"].contains(&eight["verdict"].as_str().expect("a verdict")), "{eight}");
}

#[test]
fn files_in_zig_are_compiled_and_placed() {
    let Some(zig) = zig() else { return };
    let project = Copied::from_fixture("zig");
    let found = page(&project, &zig);
    is_measured(&found);
    assert_eq!(found["machine"]["compilers"][0]["name"], "zig-0.15");
    assert_eq!(found["flag_sets"], json!([{ "name": "ReleaseFast", "flags": ["-OReleaseFast"] }]));
    // What does not fit is told in the words of assay.zig, with the line of the call.
    project.edit("bench.zig", "fn digestEight(data: []const u8)", "fn digestEight(data: []u8)");
    let output = run(&project, &zig);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success(), "{printed}");
    // The terminal breaks the compiler's lines, also within words.
    let without_blanks = |text: &str| text.split_whitespace().collect::<String>();
    let said = without_blanks("assay: \"eight\" is given fn ([]u8) u64; a variant is");
    assert!(without_blanks(&printed).contains(&said), "{printed}");
    assert!(printed.contains("bench.zig:"), "{printed}");
}

#[test]
fn what_is_compiled_for_a_processor_that_the_emulator_is_not_is_counted_in_another_build() {
    let Some(zig) = zig() else { return };
    let project = Copied::from_fixture("zig");
    project.place_once();
    project.edit("experiment.toml", "unit = ", "events = [\"instructions\"]\nunit = ");
    trace_fixtures::plugin();
    for cell in page(&project, &zig)["cells"].as_array().expect("cells") {
        let executed = &cell["per_unit"]["instructions"]["value"];
        assert!(executed.as_f64().is_some_and(|executed| executed > 0.1), "{cell}");
    }
}

/// The fixture in this mode with counted events, a variant in C beside its own and one that the C library copies for.
fn counted_project(mode: &str) -> Copied {
    let project = Copied::from_fixture("zig");
    project.place_once();
    let events = "events = [\"instructions\", \"branches\", \"branch-misses\"]\nunit = ";
    project.edit("experiment.toml", "unit = ", events);
    project.edit("experiment.toml", "\"fresh\"]", "\"fresh\", \"in_c\", \"copies\"]");
    // No AVX-512: the emulator does not execute it.
    let flags = format!("[flags]\nset = [\"-O{mode}\", \"-mcpu=x86_64_v3\"]\n\n[inputs.bytes]");
    project.edit("experiment.toml", "[inputs.bytes]", &flags);
    project.edit("experiment.toml", "units = 10_000", "units = 1_000");
    let variants = "extern fn digest_in_c(data: [*]const u8, size: usize) u64;\n\
                    fn digestInC(data: []const u8) u64 {\n    return digest_in_c(data.ptr, data.len);\n}\n\
                    var room: [65536]u8 = undefined;\n\
                    fn digestOfCopy(data: []const u8) u64 {\n    @memcpy(room[0..data.len], data);\n    \
                    return digestLoop(room[0..data.len]);\n}\n\ncomptime {\n    \
                    assay.variant(\"in_c\", digestInC);\n    assay.variant(\"copies\", digestOfCopy);";
    project.edit("bench.zig", "comptime {", variants);
    let in_c = "unsigned long digest_in_c(const unsigned char *data, unsigned long size)\n{\n    unsigned long digest = 0;\n    \
                for (unsigned long at = 0; at < size; at++) digest = digest * 31 + data[at];\n    return digest;\n}\n";
    std::fs::write(project.place().join("digest.c"), in_c).expect("written");
    project
}

/// What each variant counts, and the reason of those that `source` does not count.
fn counted(project: &Copied, zig: &str, source: &str) -> BTreeMap<String, Result<Value, String>> {
    trace_fixtures::plugin();
    let mut command = project.command();
    command.args(["--source", source, "--predictor", "always-taken,bimodal,gshare,ittage,return-stack-16"]);
    let output = command.env("ZIG", zig).output().expect("assay starts");
    let said = [output.stderr, output.stdout].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
    let page = page_of(&project.place());
    assert_eq!(page["failures"], json!([]), "{}", page["answer"]);
    let of = |cell: &Value| {
        let variant = cell["variant"].as_str().expect("a name").to_owned();
        let figures = &cell["per_unit"];
        let counts = json!([
            figures["instructions"]["value"],
            figures["branches"]["value"],
            figures["branch-misses"]["by_predictor"]
        ]);
        let told = if figures["branches"]["source"] == source {
            Ok(counts)
        } else {
            Err(cell["count_note"].as_str().unwrap_or_else(|| panic!("no reason: {cell}")).to_owned())
        };
        (variant, told)
    };
    page["cells"].as_array().expect("cells").iter().map(of).collect()
}

/// All but the variant that calls the C library are counted in an instrumented build, as the emulator counts them.
fn are_instrumented_as_emulated(project: &Copied, zig: &str) {
    let (mut instrumented, mut emulated) =
        (counted(project, zig, "instrumented"), counted(project, zig, "traced"));
    let copies = instrumented.remove("copies").expect("a cell");
    assert!(copies.as_ref().is_err_and(|why| why.contains("as that of a library")), "{copies:?}");
    emulated.remove("copies");
    assert_eq!(instrumented.len(), 5);
    assert!(instrumented.values().all(Result::is_ok), "{instrumented:?}");
    assert_eq!(instrumented, emulated);
}

#[test]
fn files_in_zig_and_c_are_counted_in_an_instrumented_build_as_the_emulator_counts_them() {
    let Some(zig) = zig() else { return };
    let project = counted_project("ReleaseSafe");
    project.edit("experiment.toml", "[\"bench.zig\"]", "[\"bench.zig\", \"digest.c\"]");
    are_instrumented_as_emulated(&project, &zig);
}

#[test]
fn a_program_of_a_build_file_is_counted_in_an_instrumented_build_as_the_emulator_counts_it() {
    let Some(zig) = zig() else { return };
    let project = counted_project("ReleaseFast");
    let mut harness = Command::new(env!("CARGO_BIN_EXE_assay"));
    let written = harness.args(["harness", "zig", "assay"]).current_dir(project.place()).output();
    assert!(written.expect("assay starts").status.success());
    project.edit("experiment.toml", "zig = [\"bench.zig\"]", "zig = \"build.zig\"\nbin = \"bench\"");
    let with_c =
        "assay.addTo(b, bench);\n    bench.root_module.addCSourceFile(.{ .file = b.path(\"digest.c\") });";
    project.edit("build.zig", "assay.addTo(b, bench);", with_c);
    are_instrumented_as_emulated(&project, &zig);
}

#[test]
fn a_program_of_a_build_file_is_built_by_zig_and_placed_also_when_it_is_up_to_date() {
    let Some(zig) = zig() else { return };
    let project = Copied::from_fixture("zig");
    let mut harness = Command::new(env!("CARGO_BIN_EXE_assay"));
    let written = harness.args(["harness", "zig", "assay"]).current_dir(project.place()).output();
    assert!(written.expect("assay starts").status.success());
    project.edit("experiment.toml", "zig = [\"bench.zig\"]", "zig = \"build.zig\"\nbin = \"bench\"");
    is_measured(&page(&project, &zig));
    is_measured(&page(&project, &zig));
    assert!(!project.place().join("zig-out").exists() && !project.place().join(".zig-cache").exists());
    project.edit("experiment.toml", "bin = \"bench\"", "bin = \"bensh\"");
    let output = run(&project, &zig);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains("installs no program bensh; it installs bench"), "{printed}");
}

/// The modes of zig as flag sets, each in one placement.
fn with_modes(project: &Copied) {
    project.edit("experiment.toml", "rotations = 3", "rotations = 1\nmax_rotations = 1\nphases = [0]");
    let modes = "[flags]\nfast = [\"-OReleaseFast\"]\nsafe = [\"-OReleaseSafe\"]\nsmall = [\"-OReleaseSmall\"]\n\n\
                 [flags.debug]\nflags = [\"-ODebug\"]\nallow_unoptimised = true\n\n[inputs.bytes]";
    project.edit("experiment.toml", "[inputs.bytes]", modes);
}

/// No cell failed, and there is one of each mode.
fn has_all_modes(page: &Value) {
    assert_eq!(page["failures"], json!([]), "{}", page["answer"]);
    let sets = page["flag_sets"].as_array().expect("flag sets");
    let names: Vec<&str> = sets.iter().filter_map(|set| set["name"].as_str()).collect();
    assert_eq!(names, ["fast", "safe", "small", "debug"]);
    for name in names {
        let mut cells = page["cells"].as_array().expect("cells").iter();
        assert!(cells.any(|cell| cell["flags"] == name && cell["ns_per_unit"].is_object()), "{name}");
    }
}

#[test]
fn modes_from_debug_to_release_fast_are_an_axis_of_files_and_of_a_build_file() {
    let Some(zig) = zig() else { return };
    let project = Copied::from_fixture("zig");
    with_modes(&project);
    has_all_modes(&page(&project, &zig));
    let mut harness = Command::new(env!("CARGO_BIN_EXE_assay"));
    let written = harness.args(["harness", "zig", "assay"]).current_dir(project.place()).output();
    assert!(written.expect("assay starts").status.success());
    project.edit("experiment.toml", "zig = [\"bench.zig\"]", "zig = \"build.zig\"\nbin = \"bench\"");
    has_all_modes(&page(&project, &zig));
}

#[test]
fn a_second_input_is_read_by_a_program_in_zig() {
    let Some(zig) = zig() else { return };
    let project = Copied::from_fixture("zig");
    let reading = "var digest: u64 = assay.input(data, \"table\")[99];\n    for (data)";
    project.edit("bench.zig", "var digest: u64 = 0;\n    for (data)", reading);
    project.edit("experiment.toml", "rotations = 3", "rotations = 1\nmax_rotations = 1\nphases = [0]");
    let with = "format = \"bytes\"\nwith = { table = \"zeros\" }\n\n[inputs.zeros]\ngenerator = \"uniform_value\"\nmax = 0\n\
                units = 100\nformat = \"bytes\"";
    project.edit("experiment.toml", "format = \"bytes\"", with);
    project.edit("experiment.toml", "[\"loop\", \"same\", \"eight\", \"fresh\"]", "[\"loop\", \"same\"]");
    assert_eq!(page(&project, &zig)["failures"], json!([]));
}

#[test]
fn a_new_experiment_in_zig_is_measured_as_it_was_written() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let assay = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.args(words).current_dir(folder.path());
        command
    };
    let made = assay(&["new", "--zig", "sums"]).output().expect("assay starts");
    let said = String::from_utf8_lossy(&made.stdout).into_owned();
    assert!(said.ends_with("next: assay run sums/experiment.toml\n"), "{said}");
    let Some(zig) = zig() else { return };
    let words = ["run", "sums/experiment.toml", "--quiet", "--budget", "0.1", "--json", "page.json"];
    let run = assay(&words).env("ZIG", zig).output().expect("assay starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
    assert_eq!(page_of(folder.path())["failures"], json!([]));
}

#[test]
fn without_zig_the_remedy_is_named() {
    let project = Copied::from_fixture("zig");
    let nothing = tempfile::tempdir().expect("a temporary folder");
    let output =
        project.command().env_remove("ZIG").env("PATH", nothing.path()).output().expect("assay starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("pip install ziglang"), "{said}");
}
