//! The views as golden texts in `tests/golden` (`ASSAY_UPDATE_GOLDEN=1` writes them anew), and perf's forms line by line.

use super::page::FigureSource;
use super::{StatPage, lines_of_json, render_stat, sample, separated};
use crate::golden::{assert_golden, assert_no_line_wider};

#[test]
fn a_traced_command_at_80_columns_is_the_golden_text() {
    assert_golden("stat-traced-80.txt", &render_stat(&sample::without_counters(), 80, false));
}

#[test]
fn counted_and_traced_at_160_columns_is_the_golden_text() {
    assert_golden("stat-both-160.txt", &render_stat(&sample::rich(), 160, false));
}

#[test]
fn counted_alone_at_100_columns_is_the_golden_text() {
    assert_golden("stat-counted-100.txt", &render_stat(&sample::counted_only(), 100, false));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for page in [sample::without_counters(), sample::rich(), sample::counted_only()] {
        assert_no_line_wider(40..170, |width| render_stat(&page, width, false));
    }
}

#[test]
fn the_first_line_says_branches_mispredictions_and_whether_they_were_traced() {
    let first = |page: &StatPage| render_stat(page, 160, false).lines().next().unwrap_or_default().to_owned();
    assert_eq!(
        first(&sample::without_counters()),
        "Traced, not counted: 256,402,113 branches, 3.17 to 3.71 % of them mispredicted (simulated by 3 models, \
         not by this CPU)."
    );
    assert_eq!(first(&sample::counted_only()), "Counted: 256,402,130 branches, 3.47 % of them mispredicted.");
    assert!(first(&sample::rich()).starts_with("Counted: 256,402,130 branches, 3.47 % of them"));
    let mut refused = sample::rich();
    refused.events.retain(|row| row.source == FigureSource::Traced || row.event == "page-faults");
    assert!(first(&refused).starts_with("Traced, not counted: 256,402,113"), "{}", first(&refused));
    let mut counts = sample::without_counters();
    counts.predictors.clear();
    counts.mispredictions = None;
    assert_eq!(first(&counts), "Traced, not counted: 256,402,113 branches.");
    let native = StatPage { emulator: None, ..counts.clone() };
    assert_eq!(first(&native), "Traced at native speed: 256,402,113 branches.");
    counts.events.retain(|row| row.event == "returns");
    assert_eq!(first(&counts), "Traced, not counted: 20,400,120 returns.");
    counts.events.clear();
    assert_eq!(first(&counts), "Traced, not counted: none of the events asked for.");
}

#[test]
fn a_reason_told_above_is_not_told_again_for_each_event() {
    let mut page = sample::without_counters();
    let times = |page: &StatPage| render_stat(page, 160, false).matches("no performance counters").count();
    assert_eq!(times(&page), 1);
    page.reasons.clear();
    assert_eq!(times(&page), 1, "told nowhere else, it is told beside the event");
}

#[test]
fn separated_fields_are_in_perfs_order() {
    let text = separated(&sample::without_counters(), ",");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "256402113,,traced/branches/,0,100.00,,");
    assert_eq!(lines[10], "<not supported>,,branch-misses:u,0,100.00,,");
    assert_eq!(lines[11], "8123456,,simulated/skylake-mispredictions/,0,100.00,3.168,of all branches");
    assert!(lines.iter().all(|line| line.split(',').count() == 7), "{text}");
    // perf 6.1: perf stat -r 3 -x, -e task-clock,page-faults true
    //   0.70,msec,task-clock,12.52%,696279,100.00,0.163,CPUs utilized
    let text = separated(&sample::counted_only(), ";");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[1], "8904295;;branch-misses:u;0.04%;150123456;42.00;3.473;of all branches");
    assert_eq!(lines[4], "151.73;msec;task-clock;0.74%;150123456;100.00;0.960;CPUs utilized");
    assert_eq!(lines[5], "1071;;page-faults;0.00%;150123456;100.00;;");
    assert_eq!(lines[6], "<not supported>;;context-switches;0;100.00;;");
    assert_eq!(lines[7], "<not counted>;;cache-misses:u;150123456;0.00;;");
    assert!(text.contains("of 2.31") || lines[2].ends_with(";2.309;insn per cycle"), "{text}");
}

#[test]
fn lines_of_json_have_perfs_keys_and_strings() {
    // perf 6.1: {"counter-value" : "49.000000", "unit" : "", "event" : "page-faults", "variance" : 1.80, "event-runtime" :
    // 406816, "pcnt-running" : 100.00, "metric-value" : 88.586770, "metric-unit" : "K/sec"}
    let text = lines_of_json(&sample::counted_only());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[5],
        "{\"counter-value\" : \"1071.000000\", \"unit\" : \"\", \"event\" : \"page-faults\", \"variance\" : 0.00, \
         \"event-runtime\" : 150123456, \"pcnt-running\" : 100.00, \"metric-value\" : 0.000000, \"metric-unit\" : \"\"}"
    );
    for page in [sample::without_counters(), sample::rich()] {
        for line in lines_of_json(&page).lines() {
            let object: serde_json::Value = serde_json::from_str(line).expect("each line is JSON");
            assert!(object["counter-value"].is_string() && object["pcnt-running"].is_number(), "{line}");
        }
    }
    let text = lines_of_json(&sample::without_counters());
    assert!(text.lines().next().unwrap().starts_with("{\"counter-value\" : \"256402113.000000\""));
    assert!(!text.contains("variance"), "one execution varies in nothing");
}

#[test]
fn simulated_figures_are_never_called_branch_misses() {
    for page in [sample::without_counters(), sample::rich()] {
        for row in &page.predictors {
            assert!(
                !row.label.contains("branch-misses") && row.label.starts_with("simulated/"),
                "{}",
                row.label
            );
        }
    }
}
