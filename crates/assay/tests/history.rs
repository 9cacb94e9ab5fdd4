//! History, import and export by the binary: one campaign that is really measured, and copies of it in the ledger whose times
//! are known.

use super::robust::lab::{Lab, Running, Said};
use serde_json::Value;

fn said(lab: &Lab, verb: &str, arguments: &[&str]) -> Said {
    Running::start(lab.command(verb, arguments)).wait()
}

fn history(lab: &Lab, arguments: &[&str]) -> Value {
    let said = said(lab, "history", &[&["--json", "-"], arguments].concat());
    serde_json::from_str(&said.page).unwrap_or_else(|error| panic!("{error}: {said:?}"))
}

/// A lab with one campaign of two variants, and its ledger's copies of it a day apart: from the `step`th on the candidate takes
/// a fifth longer, from the `move_at`th on everything is measured on another machine that is twice as slow.
fn with_copies(copies: i64, step: i64, move_at: i64) -> Option<Lab> {
    let lab = Lab::with_program("#include \"good.c\"\n", &["plain", "backward"])?;
    lab.edit(|text| {
        text.replace("minimum_effect = 0.5", "minimum_effect = 0.02").replace("budget = 5", "budget = 1")
    });
    lab.run(&[]);
    let ledger = lab.ledger();
    for copy in 1..=copies {
        let wobble = 1.0 + 0.002 * ((copy * 7 % 5 - 2) as f64);
        let slower = if copy >= step { 1.2 } else { 1.0 };
        let machine = if copy >= move_at { 2.0 } else { 1.0 };
        let cpu = if copy >= move_at { "json_set(machine, '$.cpu', 'Another CPU')" } else { "machine" };
        let shift = copy * 100_000;
        let id = copy + 1;
        // About 1 ns for each unit; a thousandth between processes and rounds, so that intervals are narrow on any machine.
        let time = format!(
            "CAST(s.units * (1 + 0.001 * ((p.id * 7 + s.round * 3) % 5 - 2)) * {machine} * CASE p.variant WHEN 'backward' THEN \
             {wobble} * {slower} ELSE 1 END AS INTEGER)"
        );
        ledger
            .execute_batch(&format!(
                "INSERT INTO campaign SELECT {id}, experiment, question || {id}, experiment_text, spec, {cpu}, pinned_cpu, \
                   assay_version, started_at + 86400.0 * {copy}, finished_at + 86400.0 * {copy}, 'budget', sources, command \
                   FROM campaign WHERE id = 1; \
                 INSERT INTO campaign_input SELECT {id}, name, digest, windows, iterations, warmup, samples \
                   FROM campaign_input WHERE campaign = 1; \
                 INSERT INTO process SELECT id + {shift}, {id}, artifact, compiler, flags, variant, rotation, phase_bytes, \
                   entry_address, environment_bytes, region_wall_ns, region_cpu_ns, wall_read_ns, cpu_read_ns, started_at \
                   FROM process WHERE campaign = 1; \
                 INSERT INTO round SELECT {id}, round, rotations, started_at, elapsed_ns, waited_ns FROM round WHERE campaign = 1; \
                 INSERT INTO sample (campaign, round, process, input, start_window, position, warmup, wall_ns, cpu_ns, units, \
                   switches, flagged, at) SELECT {id}, s.round, s.process + {shift}, s.input, s.start_window, s.position, \
                   s.warmup, {time}, {time}, s.units, s.switches, s.flagged, s.at FROM sample s JOIN process p ON p.id = s.process \
                   WHERE s.campaign = 1;"
            ))
            .expect("the copy fits the schema");
    }
    Some(lab)
}

#[test]
fn a_step_is_told_with_what_the_ledger_knows_and_a_machine_is_none() {
    let Some(lab) = with_copies(21, 12, 16) else { return };
    // What was measured first has its own noise; the copies are of known steps.
    let page = history(&lab, &["--since", "2"]);
    let series = page["series"].as_array().unwrap();
    let contrast = series.iter().find(|series| series["kind"] == "contrast").expect("a contrast");
    let changes = contrast["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{page:#}");
    let ratio = changes[0]["ratio"].as_f64().unwrap();
    assert!((ratio - 1.2).abs() < 0.02, "{ratio}");
    let run =
        |number: &Value| page["runs"][number.as_u64().unwrap() as usize]["id"].as_str().unwrap().to_owned();
    assert_eq!((run(&changes[0]["before"]), run(&changes[0]["at"])), ("12".into(), "13".into()));
    // The copies are of one binary: the ledger says so, and claims no cause.
    let sentence = changes[0]["sentence"].as_str().unwrap();
    assert!(
        sentence
            .contains("not the code; the same source files, the same machine code for backward and plain"),
        "{sentence}"
    );
    let time = series
        .iter()
        .find(|series| series["kind"] == "time" && series["variant"] == "plain")
        .expect("a time");
    assert_eq!(time["changes"].as_array().unwrap().len(), 0, "another machine is no change: {time:#}");
    assert_eq!(page["machines"].as_array().unwrap().len(), 2);
    let text = said(&lab, "history", &[]);
    text.assert_code(0);
    assert!(text.page.contains("backward / plain") && text.page.contains("not the code"), "{}", text.page);
    said(&lab, "history", &["nobody"]).assert_code(2);
    said(&lab, "history", &["-o", "history.html"]).assert_code(0);
    let html = std::fs::read_to_string(lab.file("history.html")).unwrap();
    for repeats in
        ["\"command\":\"assay run ", "\"compilers\":[{\"name\":\"gcc", "\"digest\":\"", "[\"kernel\","]
    {
        assert!(html.contains(repeats), "{repeats}");
    }
}

#[test]
fn the_gate_fails_for_slower_code_and_passes_what_was_accepted() {
    let Some(lab) = with_copies(10, 10, 99) else { return };
    let failed = said(&lab, "history", &["--gate", "slower:5%", "--since", "2"]);
    failed.assert_code(1);
    assert!(failed.page.contains("the gate slower:5% failed"), "{failed:?}");
    said(&lab, "history", &["--gate", "slower:50%", "--since", "2"]).assert_code(0);
    let only = said(&lab, "history", &["--gate", "slower:5%", "--since", "11"]);
    only.assert_code(3);
    assert!(only.page.contains("no earlier run on this machine"), "{only:?}");
}

#[test]
fn what_vanished_or_did_not_end_is_told_at_the_gate() {
    let Some(lab) = with_copies(8, 99, 99) else { return };
    let gate =
        |more: &[&str]| said(&lab, "history", &[&["--gate", "slower:50%", "--since", "2"], more].concat());
    gate(&[]).assert_code(0);
    // A newer campaign that was interrupted: the one before is judged, which decides nothing.
    lab.ledger().execute_batch("UPDATE campaign SET stopped_because = 'interrupted' WHERE id = 9").unwrap();
    let said_so = gate(&[]);
    said_so.assert_code(3);
    assert!(said_so.page.contains("Campaign 9 is newer, but did not end"), "{said_so:?}");
    assert!(said_so.page.contains("of run 8"), "{said_so:?}");
    lab.ledger().execute_batch("UPDATE campaign SET stopped_because = 'budget' WHERE id = 9").unwrap();
    // An import is never what is judged beside campaigns, however new it is.
    let file = lab.file("go.txt");
    std::fs::write(&file, "BenchmarkSum-8 100 250 ns/op\n").unwrap();
    let name = lab.page()["experiment"].as_str().unwrap().to_owned();
    let file = file.display().to_string();
    said(&lab, "import", &["go", &file, "--name", &name, "--at", "2040-01-01"]).assert_code(0);
    let with_import = gate(&[]);
    with_import.assert_code(0);
    assert!(with_import.page.contains("of run 9"), "{with_import:?}");
    // A copy of the ledger adds nothing.
    let copy = lab.file("copy.db").display().to_string();
    lab.ledger().execute("VACUUM INTO ?", [&copy]).unwrap();
    let twice = history(&lab, &["--also", &copy]);
    assert_eq!(twice["runs"].as_array().unwrap().len(), 10, "{twice:#}");
    assert!(twice["warnings"].to_string().contains("10 runs left out"), "{twice:#}");
    // The candidate crashed: what was measured passes, and what was not is missing.
    lab.ledger()
        .execute_batch(
            "DELETE FROM sample WHERE process IN (SELECT id FROM process WHERE campaign = 9 AND variant = 'backward')",
        )
        .unwrap();
    let crashed = gate(&[]);
    crashed.assert_code(3);
    let said = crashed.page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("it was last measured in run 8"), "{crashed:?}");
}

#[test]
fn an_unknown_name_is_told_what_there_is_and_a_ledger_is_no_place_for_a_page() {
    let Some(lab) = with_copies(0, 1, 1) else { return };
    let ledger = lab.ledger_path().display().to_string();
    let before = std::fs::read(&ledger).unwrap();
    for arguments in [["csv", "-o"], ["go", "-o"], ["parquet", "-o"]] {
        let refused = said(&lab, "export", &[&arguments[..], &[&ledger]].concat());
        refused.assert_code(2);
        refused.assert_errors(&["this command reads it"]);
    }
    said(&lab, "history", &["--json", &ledger]).assert_code(2);
    let missing = said(&lab, "history", &["--also", "nofile.db"]);
    missing.assert_code(2);
    missing.assert_errors(&["there is no ledger at nofile.db, which --also names"]);
    assert!(std::fs::read(&ledger).unwrap() == before, "the ledger is as it was");
    let unknown = said(&lab, "history", &["nobody"]);
    unknown.assert_code(2);
    unknown.assert_errors(&["is called `nobody`", "assay report --list"]);
}

#[test]
fn figures_of_other_tools_are_a_history_of_their_own() {
    let Some(lab) = Lab::with_program("#include \"good.c\"\n", &["plain", "backward"]) else { return };
    let import = |number: usize, ns: f64| {
        let file = lab.file(&format!("{number}.txt"));
        std::fs::write(
            &file,
            format!("cpu: A CPU\nBenchmarkSum-8 100 {ns} ns/op\nBenchmarkSum-8 100 {ns} ns/op\n"),
        )
        .unwrap();
        let day = format!("2026-11-{:02}", number + 1);
        let file = file.display().to_string();
        said(
            &lab,
            "import",
            &["go", &file, "--name", "sums", "--at", &day, "--revision", &format!("c{number}")],
        )
    };
    for number in 0..12 {
        let wobble = 0.1 * (number * 7 % 5) as f64;
        import(number, if number < 6 { 100.0 } else { 110.0 } + wobble).assert_code(0);
    }
    let again = import(3, 100.1);
    assert!(again.page.contains("was imported before") || again.page.contains("Import 13"), "{again:?}");
    let page = history(&lab, &["sums"]);
    let series = &page["series"][0];
    assert_eq!(
        (series["kind"].as_str(), series["label"].as_str()),
        (Some("imported"), Some("go: BenchmarkSum"))
    );
    let sentence = series["changes"][0]["sentence"].as_str().unwrap_or_else(|| panic!("{page:#}"));
    assert!(
        sentence.contains("+10 %") || sentence.contains("+9.") || sentence.contains("+10."),
        "{sentence}"
    );
    assert!(sentence.contains("commit c5 to c6"), "{sentence}");
    assert!(page["warnings"][0].as_str().unwrap().contains("of other tools"), "{page:#}");
    let wrong = lab.file("wrong.json");
    std::fs::write(&wrong, "{}").unwrap();
    let refused = said(&lab, "import", &["hyperfine", &wrong.display().to_string()]);
    refused.assert_code(2);
    refused.assert_errors(&["wrong.json", "hyperfine"]);
}

#[test]
fn what_is_exported_is_imported_again() {
    let Some(lab) = with_copies(0, 1, 1) else { return };
    let folder = lab.file("criterion").display().to_string();
    for (format, place) in
        [("google-benchmark", "g.json"), ("hyperfine", "h.json"), ("go", "g.txt"), ("bmf", "b.json")]
    {
        let place = lab.file(place).display().to_string();
        said(&lab, "export", &[format, "-o", &place]).assert_code(0);
        said(&lab, "import", &[format, &place, "--name", "again"]).assert_code(0);
    }
    said(&lab, "export", &["criterion", "-o", &folder]).assert_code(0);
    said(&lab, "import", &["criterion", &folder, "--name", "again"]).assert_code(0);
    let page = history(&lab, &["again"]);
    let ours = lab.page();
    let cell =
        ours["cells"].as_array().unwrap().iter().find(|cell| cell["variant"] == "backward").expect("a cell");
    let ns = |value: &Value| value.as_f64().expect("a time");
    let time = ns(&cell["ns_per_unit"]["median"]);
    let placements = ns(&cell["range"]["fastest_ns"])..=ns(&cell["range"]["slowest_ns"]);
    let imported = page["series"].as_array().unwrap().iter().filter(|series| {
        series["variant"].as_str().is_some_and(|name| name.contains("backward"))
            && series["unit"].as_str().is_some_and(|unit| unit.starts_with("ns"))
    });
    // Two formats have the page's median, over placements by its own weights; the others that of the placements' medians.
    let file: Value = serde_json::from_slice(&std::fs::read(lab.file("g.json")).unwrap()).unwrap();
    let is_median = |row: &&Value| {
        row["aggregate_name"] == "median"
            && row["name"].as_str().is_some_and(|name| name.contains("backward"))
    };
    let medians = file["benchmarks"].as_array().unwrap().iter().find(is_median).expect("a median");
    let (wall, cpu) = (ns(&medians["real_time"]), ns(&medians["cpu_time"]));
    assert!(placements.contains(&wall), "{wall} beside {placements:?}");
    let mut tools = 0;
    for series in imported {
        let label = series["label"].as_str().expect("a label");
        let expected = match label.split(':').next() {
            Some("bmf" | "criterion") => time,
            Some("go" | "hyperfine") => wall,
            Some("google-benchmark") => cpu,
            _ => panic!("{label}"),
        };
        let value = ns(&series["points"][0]["value"]);
        assert!((value / expected - 1.0).abs() < 1e-3, "{label}: {value} beside {expected}");
        tools += 1;
    }
    assert_eq!(tools, 5, "{page:#}");
    let samples = said(&lab, "export", &["csv"]);
    assert!(samples.page.starts_with("campaign,round,process,variant"), "{samples:?}");
    let parquet = lab.file("s.parquet");
    said(&lab, "export", &["parquet", "-o", &parquet.display().to_string()]).assert_code(0);
    assert!(std::fs::read(&parquet).unwrap().ends_with(b"PAR1"));
    said(&lab, "export", &["parquet"]).assert_code(2);
    said(&lab, "export", &["catch2"]).assert_code(2);
}

/// The copies as runs of three machines of one kind in turn; what the second one measured is slower by this factor.
fn on_three_machines(lab: &Lab, slower: f64) {
    lab.ledger()
        .execute_batch(&format!(
            "UPDATE campaign SET machine = json_set(machine, '$.host', 'node' || (id % 3 + 1), '$.governor', \
               CASE id % 3 WHEN 1 THEN 'powersave' ELSE 'performance' END); \
             UPDATE sample SET wall_ns = CAST(wall_ns * {slower} AS INTEGER), cpu_ns = CAST(cpu_ns * {slower} AS INTEGER) \
               WHERE campaign % 3 = 1;"
        ))
        .expect("three machines");
}

#[test]
fn a_machine_that_is_slower_than_others_of_its_kind_is_named_and_left_out_if_asked() {
    let Some(lab) = with_copies(6, 99, 99) else { return };
    on_three_machines(&lab, 1.15);
    let page = history(&lab, &["--since", "2"]);
    let kind = &page["alike"][0];
    let hosts: Vec<&str> =
        kind["hosts"].as_array().expect("hosts").iter().filter_map(|host| host["name"].as_str()).collect();
    assert_eq!(hosts.len(), 3, "{page:#}");
    let findings = kind["findings"].as_array().expect("findings");
    assert_eq!(findings.len(), 2, "both times, and no contrast: {findings:?}");
    for found in findings {
        let at = found["host"].as_u64().expect("a host") as usize;
        assert_eq!((hosts[at], &found["from"], &found["kind"]), ("node2", &Value::Null, &"time".into()));
        let ratio = found["ratio"].as_f64().expect("a ratio");
        assert!((ratio - 1.15).abs() < 0.02, "{ratio}");
    }
    let text = said(&lab, "history", &["--since", "2"]);
    for word in [
        "experiment: node2 is out of line (",
        "more time in 2 of 2 times",
        "check its clock there",
        "node2 has governor powersave, not performance",
        "`assay history experiment --leave-out node2` shows the others",
        "in at most 1 of 100 such reports",
    ] {
        assert!(text.page.contains(word), "{word}: {text:?}");
    }
    let others = history(&lab, &["--since", "2", "--leave-out", "node2"]);
    assert_eq!(
        (&others["left_out"], others["runs"].as_array().map(Vec::len)),
        (&serde_json::json!(["node2"]), Some(4))
    );
    assert_eq!(others["alike"][0]["findings"], serde_json::json!([]), "{others:#}");
    let none = said(&lab, "history", &["--leave-out", "node9"]);
    none.assert_code(2);
    none.assert_errors(&["called `node9`; the machines are: node1, node2 and node3"]);
}

#[test]
fn machines_of_one_kind_that_are_alike_or_ran_other_programs_are_not_said_to_differ() {
    let Some(lab) = with_copies(6, 99, 99) else { return };
    on_three_machines(&lab, 1.0);
    let page = history(&lab, &["--since", "2"]);
    assert_eq!(
        (page["alike"][0]["times"].as_u64(), &page["alike"][0]["findings"]),
        (Some(2), &serde_json::json!([]))
    );
    assert!(
        said(&lab, "history", &["--since", "2"])
            .page
            .contains("none is out of line in 2 times and 1 contrast")
    );
    // A machine that built something else is beside nobody.
    lab.ledger()
        .execute_batch("PRAGMA foreign_keys = OFF; UPDATE process SET artifact = artifact || campaign")
        .expect("other programs");
    assert_eq!(history(&lab, &["--since", "2"])["alike"], serde_json::json!([]));
}
