use super::page::{HISTORY_SCHEMA, HistoryPage};
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
fn no_line_is_wider_than_the_screen() {
    assert_no_line_wider([60, 72, 80, 100, 140], |width| {
        render_history(&sample::history(), width, false, true)
    });
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
    let (said, next) = answer(&page);
    assert_eq!(said, "decode: too few runs to detect changes in 1 series over 12 runs.");
    assert!(next.unwrap().contains("from 6 runs on"));
}
