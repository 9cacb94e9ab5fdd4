//! The terminal's text and the schema, held against the page.

use super::page::DOCTOR_SCHEMA;
use super::{render_doctor, sample};
use crate::golden::hold_against;
use crate::schema::assert_fits;
use unicode_width::UnicodeWidthStr as _;

#[test]
fn no_line_is_wider_than_asked() {
    for page in [sample::page(), sample::nothing()] {
        for width in 40..200 {
            for line in render_doctor(&page, width, false).lines() {
                assert!(line.width() <= width, "{width}: {line:?}");
            }
        }
    }
}

#[test]
fn the_page_is_the_golden_text_at_80_and_160_columns() {
    hold_against("doctor-80.txt", &render_doctor(&sample::page(), 80, false));
    hold_against("doctor-160.txt", &render_doctor(&sample::page(), 160, false));
    hold_against("doctor-nothing-80.txt", &render_doctor(&sample::nothing(), 80, false));
}

#[test]
fn the_answer_is_first_and_what_was_not_looked_for_is_said() {
    let text = render_doctor(&sample::page(), 100, false);
    assert!(text.starts_with("16 findings:"), "{text}");
    assert!(text.contains("not looked for  hints: --static"), "{text}");
    assert!(text.contains("not found  unoptimised, dispatch"), "{text}");
    assert!(
        text.contains("tiny.c:104 tiny_alloc") && text.contains("300,000 times, 3.00 per unit"),
        "{text}"
    );
}

#[test]
fn pages_fit_the_schema_and_the_rich_one_shows_every_key() {
    let json = |page| serde_json::to_value(page).expect("a page has only string keys");
    let root = assert_fits("doctor-1", &[json(sample::page())], &[json(sample::nothing())]);
    assert_eq!(root["properties"]["schema"]["const"], DOCTOR_SCHEMA);
}
