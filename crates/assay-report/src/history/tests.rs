use super::page::{HISTORY_SCHEMA, HistoryLimits, HistoryPage, SeriesKind};
use super::{answer, render_history, sample};
use crate::golden::{assert_golden, assert_no_line_wider};
use crate::schema::assert_published;

fn without_gate() -> HistoryPage {
    let mut page = HistoryPage {
        gate: None,
        alike: Vec::new(),
        alike_note: None,
        left_out: Vec::new(),
        ..sample::history()
    };
    (page.answer, page.next) = answer(&page);
    page
}

#[test]
fn the_schema_is_that_of_the_page() {
    assert_published(HISTORY_SCHEMA, &[sample::history()], &[without_gate()]);
}

#[test]
fn the_page_is_the_golden_text_at_80_and_160_columns() {
    assert_golden("history-80.txt", &render_history(&without_gate(), 80, false, false));
    assert_golden("history-160-all.txt", &render_history(&sample::history(), 160, false, true));
}

#[test]
fn many_machines_are_the_golden_text_at_80_and_160_columns() {
    assert_golden("history-machines-80.txt", &render_history(&sample::many_machines(), 80, false, false));
    assert_golden("history-machines-160.txt", &render_history(&sample::many_machines(), 160, false, false));
}

#[test]
fn of_many_machines_those_of_one_verdict_are_told_together_and_a_few_by_name() {
    let page = sample::many_machines();
    assert_eq!(
        page.answer,
        "decode: the 8 machines disagree on 2 of 3 contrasts: fast / slow, mixed is faster (-38.0 to -19.0 %) on 5 machines, \
         slower (+31.0 to +44.0 %) on Old CPU and Older CPU and undecided on Small CPU."
    );
    assert_eq!(page.next.as_deref(), Some("`assay report 4` and `assay report 1` show both sides"));
    let text = render_history(&page, 100, false, false);
    let words: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("wide / slow, mixed faster -38.0 to -19.0 % all 5 machines"), "{text}");
}

#[test]
fn over_time_nothing_is_said_of_one_run_on_each_machine_and_its_times_are_shown_when_asked_for() {
    let mut page = sample::many_machines();
    let mut times = sample::history().series;
    times.retain(|series| series.kind == SeriesKind::Time);
    times.iter_mut().for_each(|series| series.points.truncate(page.runs.len()));
    page.series.extend(times);
    let [text, everything] = [false, true].map(|all| render_history(&page, 120, false, all));
    assert!(
        !text.contains("Series") && !text.contains("Times") && text.contains("--all shows times and runs"),
        "{text}"
    );
    assert!(!everything.contains("Series") && everything.contains("Times"), "{everything}");
    page.runs.push(page.runs[0].clone());
    assert!(render_history(&page, 120, false, false).contains("Series, the oldest run at the left"));
}

#[test]
fn each_machine_stands_with_its_limits_beside_what_it_says() {
    let text = render_history(&sample::many_machines(), 160, false, false);
    let row = |name: &str| {
        let line = text.lines().rfind(|line| line.trim_start().starts_with(name)).expect("a row");
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join(" | ")
    };
    assert_eq!(
        row("CPU of 2015"),
        "CPU of 2015 | -19.0 % | -7.0 % | x86-64-v3 | 7.00 ns, 28 cycles | 95.0 ns | L1d 48K, L2 1280K"
    );
    assert_eq!(
        row("Small CPU"),
        "Small CPU | +2.0 %, undecided | -4.0 % | x86-64-v2 | L1d 48K, L2 1280K",
        "nothing measured"
    );
    let mut page = sample::many_machines();
    page.machines[2].limits = Some(HistoryLimits { memory_ns: Some(80.0), ..HistoryLimits::default() });
    let text = render_history(&page, 160, false, false);
    assert!(text.contains("unknown  80.0 ns"), "no penalty was found there: {text}");
    page.machines.iter_mut().for_each(|machine| machine.limits = None);
    let text = render_history(&page, 160, false, false);
    assert!(text.contains("`assay limits` on each machine, ahead of `assay run`"), "{text}");
}

#[test]
fn no_line_is_wider_than_the_screen() {
    for page in [sample::history(), sample::many_machines()] {
        assert_no_line_wider([60, 72, 80, 100, 140], |width| render_history(&page, width, false, true));
    }
}

#[test]
fn the_change_is_told_first_and_drawn_where_it_is() {
    let text = render_history(&without_gate(), 100, false, false);
    assert!(
        text.lines()
            .next()
            .unwrap()
            .starts_with("decode: 1 change in 3 series over 12 runs; the newest: fast"),
        "{text}"
    );
    let line = text.lines().find(|line| line.contains("fast / slow") && line.contains('╎')).expect("a line");
    let drawn: String = line.chars().filter(|c| "▁▂▃▄▅▆▇█╎│".contains(*c)).collect();
    assert_eq!(
        (drawn.find('╎'), drawn.chars().filter(|c| *c == '│').count()),
        (Some(5 * '▁'.len_utf8()), 1),
        "{drawn}"
    );
}

#[test]
fn without_a_change_the_answer_says_so() {
    let mut page = without_gate();
    page.series.iter_mut().for_each(|series| series.changes.clear());
    assert_eq!(
        answer(&page).0,
        "decode: no change in 3 series over 12 runs. In all, the machines agree on 1 contrast."
    );
    page.series.drain(..2);
    super::machines::tell(&mut page);
    let (said, next) = answer(&page);
    assert_eq!(said, "decode: too few runs to detect changes in 1 series over 12 runs.");
    assert!(next.unwrap().contains("from 6 runs on"));
}
