//! Measured programs that do something wrong: the cell fails with a reason, the others are measured.

use super::lab::{Lab, Said};
use serde_json::Value;

/// The cell of a variant on a page.
fn cell<'a>(page: &'a Value, variant: &str) -> &'a Value {
    let cells = page["cells"].as_array().expect("a page has cells");
    cells.iter().find(|cell| cell["variant"] == variant).expect("every cell has a row, failed or not")
}

fn has_figure(page: &Value, variant: &str) -> bool {
    cell(page, variant)["ns_per_unit"]["median"].as_f64().is_some_and(|ns| ns > 0.0)
}

/// The candidates that have a verdict.
fn judged(page: &Value) -> Vec<&str> {
    let contrasts = page["contrasts"].as_array().expect("a page has contrasts");
    contrasts.iter().filter_map(|contrast| contrast["candidate"].as_str()).collect()
}

fn samples(lab: &Lab, variant: &str) -> i64 {
    lab.count(&format!(
        "SELECT count(*) FROM sample JOIN process ON process.id = sample.process \
         WHERE variant = '{variant}' AND (flagged IS NULL OR flagged <> 'failed-cell')"
    ))
}

fn reasons(lab: &Lab) -> Vec<String> {
    lab.column("SELECT reason FROM failure ORDER BY id")
}

#[track_caller]
fn assert_told(said: &Said, reasons: &[String], words: &[&str]) {
    assert_eq!(reasons.len(), 1, "one failure, told once: {reasons:#?}");
    for word in words {
        assert!(reasons[0].contains(word), "no `{word}` in {:?}", reasons[0]);
    }
    said.assert_errors(words);
    said.assert_page(words);
}

/// `faulty` fails at a stage with these words, and the campaign goes on for the others.
#[track_caller]
fn only_faulty_fails(fault: &str, stage: &str, words: &[&str]) {
    let Some((lab, said)) = undisturbed(|| Lab::with_fault(fault)) else { return };
    assert_only_faulty_failed(&lab, &said, stage, words);
}

/// A campaign whose every placement has a sample that other work on the machine did not spoil. These campaigns are short:
/// beside a compiler on every processor one of them may have none.
fn undisturbed(lab: impl Fn() -> Option<Lab>) -> Option<(Lab, Said)> {
    const TRIES: usize = 5;
    for left in (0..TRIES).rev() {
        let lab = lab()?;
        let said = lab.run(&[]);
        let spoiled = |cell: &Value| cell["failed"]["reason"] == "no rotation is complete";
        if left == 0 || !lab.page()["cells"].as_array().is_some_and(|cells| cells.iter().any(spoiled)) {
            return Some((lab, said));
        }
    }
    unreachable!("the last try is taken as it is")
}

#[track_caller]
fn assert_only_faulty_failed(lab: &Lab, said: &Said, stage: &str, words: &[&str]) {
    said.assert_code(1);
    assert_told(said, &reasons(lab), words);
    assert_eq!(
        lab.column("SELECT stage || ' ' || variant || ' ' || input FROM failure"),
        [format!("{stage} faulty bytes")]
    );
    let page = lab.page();
    assert!(
        cell(&page, "faulty")["failed"]["reason"].as_str().is_some_and(|reason| reason.contains(words[0]))
    );
    assert!(
        has_figure(&page, "plain") && has_figure(&page, "honest") && !has_figure(&page, "faulty"),
        "{page:#}"
    );
    assert_eq!(judged(&page), ["honest"]);
    assert!(lab.count("SELECT count(*) FROM round") >= 1);
    assert!(samples(lab, "plain") > 0 && samples(lab, "honest") > 0);
    assert_eq!(samples(lab, "faulty"), 0, "what a failed cell said is flagged, or was never a sample");
    lab.assert_ledger_is_whole();
}

/// The whole program fails at its start: nothing can be measured, and each variant says why.
#[track_caller]
fn nothing_can_be_measured(fault: &str, words: &[&str]) {
    let Some(mut lab) = Lab::with_fault(fault) else { return };
    lab.measure_out_of_turn();
    let said = lab.run(&["--timeout", "1"]);
    said.assert_code(3);
    said.assert_page(&["nothing could be measured"]);
    said.assert_page(words);
    said.assert_errors(words);
    for reason in reasons(&lab) {
        assert!(words.iter().all(|word| reason.contains(word)), "{reason}");
    }
    assert_eq!(
        lab.column("SELECT DISTINCT variant FROM failure ORDER BY variant"),
        ["faulty", "honest", "plain"]
    );
    assert_eq!(lab.column("SELECT DISTINCT stage FROM failure"), ["start"]);
    assert_eq!(lab.column("SELECT stopped_because FROM campaign"), ["nothing"]);
    assert_eq!(lab.count("SELECT count(*) FROM round"), 0, "a round of nothing is not walked");
}

#[test]
fn a_program_with_nothing_wrong_is_measured() {
    let good = || Lab::with_program("#include \"good.c\"\n", &["plain", "backward", "absent"]);
    let Some((lab, said)) = undisturbed(good) else { return };
    said.assert_code(1);
    said.assert_page(&["`absent` cannot run here: no machine can run this"]);
    let page = lab.page();
    assert!(has_figure(&page, "plain") && has_figure(&page, "backward"));
    assert_eq!(judged(&page), ["backward"]);
}

#[test]
fn a_program_of_an_older_harness_is_measured_hot_and_never_cold() {
    let older = || {
        let lab = Lab::with_fault("older_harness")?;
        lab.edit(|text| {
            text.replace("[inputs.bytes]\n", "[inputs.bytes]\nstates = [\"hot\", \"cold_data\"]\n")
        });
        Some(lab)
    };
    let Some((lab, said)) = undisturbed(older) else { return };
    said.assert_code(1);
    said.assert_page(&["a harness that cannot measure cold_data, throughput", "build it again"]);
    let page = lab.page();
    let cells = page["cells"].as_array().expect("a page has cells");
    assert_eq!(cells.len(), 6);
    for cell in cells {
        let cold = cell["input"] == "bytes@cold-data";
        assert_eq!(cell["ns_per_unit"].is_null(), cold, "{cell:#}");
        assert_eq!(cell["failed"].is_null(), !cold, "{cell:#}");
    }
    assert_eq!(
        lab.column("SELECT DISTINCT input FROM sample"),
        ["bytes"],
        "nothing was measured hot under another name"
    );
}

#[test]
fn every_state_and_measure_is_an_input_of_its_own_with_a_figure() {
    let every = || {
        let lab = Lab::with_program("#include \"good.c\"\n", &["plain", "backward", "looped"])?;
        lab.edit(|text| {
            let states = "states = [\"hot\", \"rotating\", \"cold_data\", \"cold_code\"]\ncopies = 3\n";
            let measure = "measure = [\"throughput\", \"latency\"]\nwindow_units = 100\n";
            text.replace("[inputs.bytes]\n", &format!("[inputs.bytes]\n{states}{measure}"))
        });
        Some(lab)
    };
    let Some((lab, said)) = undisturbed(every) else { return };
    said.assert_page(&["Hot and cold", "rotating, 3 copies", "so only its hot throughput can be measured"]);
    let page = lab.page();
    let inputs: Vec<(&str, &str, &str)> = page["inputs"]
        .as_array()
        .expect("a page has inputs")
        .iter()
        .map(|input| {
            let text = |key: &str| input[key].as_str().expect("a word");
            (text("name"), text("state"), text("measure"))
        })
        .collect();
    assert_eq!(
        inputs,
        [
            ("bytes", "hot", "throughput"),
            ("bytes@latency", "hot", "latency"),
            ("bytes@rotating-3", "rotating", "throughput"),
            ("bytes@rotating-3,latency", "rotating", "latency"),
            ("bytes@cold-data", "cold_data", "throughput"),
            ("bytes@cold-data,latency", "cold_data", "latency"),
            ("bytes@cold-code", "cold_code", "throughput"),
        ]
    );
    assert_eq!(page["inputs"][2]["copies"], 3);
    assert_eq!((&page["inputs"][0]["of"], &page["inputs"][6]["of"]), (&Value::Null, &"bytes".into()));
    for cell in page["cells"].as_array().expect("a page has cells") {
        let looped_otherwise = cell["variant"] == "looped" && cell["input"] != "bytes";
        assert_eq!(cell["ns_per_unit"].is_null(), looped_otherwise, "{cell:#}");
    }
    assert_eq!(
        lab.column(
            "SELECT DISTINCT input FROM sample JOIN process ON process.id = sample.process WHERE variant = 'looped'"
        ),
        ["bytes"]
    );
    assert_eq!(
        lab.column(
            "SELECT DISTINCT name || ' ' || iterations FROM campaign_input WHERE name LIKE '%cold-code'"
        ),
        ["bytes@cold-code 1"]
    );
}

#[test]
fn a_crash_while_measuring_is_told_by_its_signal() {
    only_faulty_fails(
        "crash_in_measure",
        "measure",
        &[
            "ended by signal 11 (SIGSEGV",
            "while measuring",
            "; to run it alone or with gdb --args: ",
            " --variant faulty --input ",
        ],
    );
}

#[test]
fn an_early_exit_while_measuring_is_told_by_its_code() {
    only_faulty_fails("exit_in_measure", "measure", &["exited with code 0 while measuring"]);
}

#[test]
fn a_program_that_hangs_while_measuring_is_killed_and_waited_for_once_a_round() {
    let Some(mut lab) = Lab::with_fault("hang_in_measure") else { return };
    lab.measure_out_of_turn();
    let said = lab.run(&["--timeout", "1"]);
    let words = ["gave no reply within 1 s and was killed", "--timeout allows more", "while measuring"];
    assert_only_faulty_failed(&lab, &said, "measure", &words);
}

#[test]
fn a_program_that_closes_its_channel_is_killed() {
    only_faulty_fails("closes_channel", "measure", &["closed its channel and was killed while measuring"]);
}

#[test]
fn a_program_that_takes_all_memory_it_is_given_ends_alone() {
    only_faulty_fails("allocates", "measure", &["ended by signal 6 (SIGABRT", "while measuring"]);
}

#[test]
fn garbage_on_the_channel_is_shown_fit_to_print() {
    only_faulty_fails("garbage", "measure", &["not in the protocol", r"the line was ", r"\u{1}"]);
}

#[test]
fn a_line_without_end_is_not_waited_for() {
    only_faulty_fails("endless_line", "measure", &["a line longer than 16384 bytes", "killed"]);
}

#[test]
fn samples_without_end_are_counted() {
    only_faulty_fails("endless_samples", "measure", &["gave more than the", "samples it was asked for"]);
}

#[test]
fn a_wrong_answer_is_refused_before_anything_is_timed() {
    let words = [
        "on the whole input where `plain` answers",
        "the two compute different results",
        "; to run it alone or with gdb --args: ",
    ];
    only_faulty_fails("wrong_answer", "answer", &words);
}

#[test]
fn an_answer_that_changes_under_measurement_takes_its_samples_with_it() {
    let words = ["answered 0000000000000000 where the first variant answered", "while measuring"];
    only_faulty_fails("wrong_while_measured", "measure", &words);
}

#[test]
fn a_variant_built_without_optimisation_is_refused_unless_it_is_asked_for() {
    let Some(lab) = Lab::with_fault("unoptimised") else { return };
    let said = lab.run(&[]);
    said.assert_code(1);
    let words = ["its code is unoptimised: faulty loads", "allow_unoptimised = true"];
    assert_told(&said, &reasons(&lab), &words);
    assert_eq!(lab.column("SELECT stage || ' ' || variant FROM failure"), ["compile faulty"]);
    assert_eq!(judged(&lab.page()), ["honest"]);
    assert_eq!(samples(&lab, "faulty"), 0);

    let Some(lab) = Lab::with_fault("unoptimised") else { return };
    lab.edit(|text| format!("allow_unoptimised = true\n{text}"));
    lab.run(&[]).assert_code(0);
    assert!(samples(&lab, "faulty") > 0 && lab.column("SELECT stage FROM failure").is_empty());
}

#[test]
fn a_sample_that_took_no_time_is_not_believed() {
    only_faulty_fails("zero_time", "measure", &["a sample of 0 ns, which is impossible"]);
}

#[test]
fn a_sample_that_took_negative_time_is_not_a_sample() {
    only_faulty_fails("negative_time", "measure", &[r#"wall="-98123" is not a whole number"#]);
}

#[test]
fn samples_longer_than_they_were_waited_for_are_not_believed() {
    only_faulty_fails("absurd_time", "measure", &["claims to have measured", "ns had passed"]);
}

#[test]
fn a_program_that_forks_is_out_and_its_child_is_killed() {
    let Some(lab) = Lab::with_fault("lingering_child") else { return };
    let said = lab.run(&[]);
    assert_only_faulty_failed(&lab, &said, "measure", &["started other processes", "it must not fork"]);
    assert_eq!(programs_of(&lab), [0; 0], "nothing that it started is left");
}

#[test]
fn a_child_left_behind_at_the_end_is_told_of_and_killed() {
    let Some(lab) = Lab::with_fault("child_at_exit") else { return };
    let said = lab.run(&[]);
    said.assert_code(0);
    said.assert_errors(&[
        "warning: faulty: the program exited with code 0, leaving other processes behind at its end",
    ]);
    assert!(has_figure(&lab.page(), "faulty"), "what it measured before stands");
    assert_eq!(programs_of(&lab), [0; 0], "nothing that it started is left");
}

#[test]
fn a_megabyte_on_its_standard_output_disturbs_nobody() {
    let Some(lab) = Lab::with_fault("megabyte") else { return };
    let said = lab.run(&[]);
    said.assert_code(0);
    said.assert_errors(&["warning: faulty: the program printed", "while it was measured"]);
    assert!(
        !said.errors.contains("printed too often") && !said.page.contains("printed too often"),
        "{said:#?}"
    );
    let page = lab.page();
    assert!(has_figure(&page, "plain") && has_figure(&page, "honest") && has_figure(&page, "faulty"));
    assert_eq!(judged(&page), ["faulty", "honest"]);
    assert_eq!(reasons(&lab), [""; 0]);
}

#[test]
fn a_loop_that_leaves_its_region_early_says_so_itself() {
    let Some(lab) = Lab::with_program("#include \"unfinished_loop.c\"\n", &["plain", "faulty"]) else {
        return;
    };
    let said = lab.run(&[]);
    said.assert_code(1);
    assert_told(&said, &reasons(&lab), &["the loop did not call assay_next until it returned 0"]);
    let page = lab.page();
    assert!(
        has_figure(&page, "plain"),
        "the baseline has a figure though nothing is left to compare it with"
    );
    said.assert_page(&["nothing is left to compare"]);
}

#[test]
fn a_baseline_that_crashes_leaves_the_others_their_figures() {
    let Some(lab) = Lab::with_fault("crash_in_measure") else { return };
    lab.edit(|text| text.replace("baseline = \"plain\"", "baseline = \"faulty\""));
    let said = lab.run(&[]);
    said.assert_code(1);
    assert_told(&said, &reasons(&lab), &["ended by signal 11"]);
    let page = lab.page();
    assert!(
        has_figure(&page, "plain") && has_figure(&page, "honest") && !has_figure(&page, "faulty"),
        "{page:#}"
    );
    assert_eq!(judged(&page), [""; 0], "nothing can be said against a baseline that failed");
}

#[test]
fn a_crash_at_the_start_is_told_of_every_variant() {
    nothing_can_be_measured("crash_at_start", &["ended by signal 11 (SIGSEGV", "at its start", " --list"]);
}

#[test]
fn an_exit_at_the_start_is_told_with_what_was_printed() {
    nothing_can_be_measured("exit_at_start", &["exited with code 3 at its start; it printed: "]);
}

#[test]
fn a_program_that_hangs_at_its_start_is_killed() {
    nothing_can_be_measured("hang_at_start", &["gave no reply within 1 s and was killed", "at its start"]);
}

#[test]
fn a_program_that_is_no_measured_program_is_told_what_to_be_built_with() {
    nothing_can_be_measured(
        "not_assay",
        &["exited with code 0 before it said hello (is it built with assay.h"],
    );
}

#[test]
fn two_variants_of_one_name_are_told() {
    nothing_can_be_measured("same_name", &["two variants are named \"plain\""]);
}

#[test]
fn another_version_of_the_protocol_is_told_with_the_remedy() {
    nothing_can_be_measured(
        "other_version",
        &[
            "speaks version 2 of the protocol, this assay speaks version 1 (rebuild it with this version's harness)",
        ],
    );
}

#[test]
fn a_variant_that_the_program_lacks_is_told_with_those_it_has() {
    let Some(lab) = Lab::with_fault("no_variant") else { return };
    let said = lab.run(&[]);
    said.assert_code(3);
    assert_eq!(lab.column("SELECT variant FROM failure ORDER BY variant"), ["faulty", "plain"]);
    said.assert_errors(&["does not register a variant `plain` (it registers: honest; "]);
    assert_eq!(
        lab.count("SELECT count(*) FROM sample"),
        0,
        "nothing is left to compare, so nothing is measured"
    );
}

#[test]
fn one_of_two_variants_that_is_not_registered_is_told_before_anything_is_measured() {
    let function = |name: &str| {
        format!(
            "static uint64_t {name}(const uint8_t *data, size_t size)\n{{\n    return data[0] + size;\n}}\n"
        )
    };
    let program = format!(
        "#include <assay.h>\n{}{}ASSAY_VARIANT(\"honest\", honest)\nASSAY_MAIN()\n",
        function("forgotten"),
        function("honest")
    );
    for (asked, told) in [
        ("forgotten", "`forgotten` is a function of program.c, but no ASSAY_VARIANT registers it"),
        ("honesd", "does not register a variant `honesd`; did you mean `honest`? (it registers: honest"),
    ] {
        let Some(lab) = Lab::with_program(&program, &["honest", asked]) else { return };
        let said = lab.run(&[]);
        said.assert_code(3);
        said.assert_errors(&[told]);
        assert_eq!(lab.count("SELECT count(*) FROM sample"), 0, "{asked}");
    }
}

/// Each program of `fixtures/faults` is run by a test here.
#[test]
fn no_fault_is_left_out() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/faults");
    let tests = include_str!("programs.rs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(name) = name.strip_suffix(".c") {
            assert!(
                tests.contains(&format!("\"{name}\"")) || tests.contains(&format!("{name}.c\\\"")),
                "no test runs {name}.c"
            );
        }
    }
}

/// Processes whose executable lies in the experiment's store.
fn programs_of(lab: &Lab) -> Vec<u32> {
    super::lab::processes_from(&lab.file("store"))
}
