//! The terminal's text and the schema, held against the page.

use super::page::EXAMINATION_SCHEMA;
use super::{render_examination, sample};
use crate::golden::hold_against;
use crate::schema::assert_fits;
use unicode_width::UnicodeWidthStr as _;

#[test]
fn no_line_is_wider_than_asked() {
    for page in [sample::experiment(), sample::machine()] {
        for width in 40..200 {
            for line in render_examination(&page, width, false).lines() {
                assert!(line.width() <= width, "{width}: {line:?}");
            }
        }
    }
}

#[test]
fn the_page_is_the_golden_text_at_80_and_160_columns() {
    hold_against("doctor-experiment-80.txt", &render_examination(&sample::experiment(), 80, false));
    hold_against("doctor-experiment-160.txt", &render_examination(&sample::experiment(), 160, false));
    hold_against("doctor-machine-80.txt", &render_examination(&sample::machine(), 80, false));
}

#[test]
fn the_answer_is_first_and_what_is_accepted_is_shown_with_its_reason() {
    let text = render_examination(&sample::experiment(), 120, false);
    assert!(text.starts_with("3 findings"), "{text}");
    assert!(
        text.contains("accepted  setup-inside: libc on mixed and 1 more; the file says: the C library's"),
        "{text}"
    );
    assert!(text.contains("cannot tell  memorised: there is no emulator"), "{text}");
    assert!(text.contains("not asked  smaller-than-production: no input says"), "{text}");
    assert!(
        text.contains("well  too-few-units: the shortest") && text.contains("not found  hoisted-work"),
        "{text}"
    );
    assert!(text.contains("Everything in the first-level cache (worth knowing)"), "{text}");
}

#[test]
fn pages_fit_the_schema_and_the_rich_one_shows_every_key() {
    let json = |page| serde_json::to_value(page).expect("a page has only string keys");
    let root = assert_fits("doctor-2", &[json(sample::experiment())], &[json(sample::machine())]);
    assert_eq!(root["properties"]["schema"]["const"], EXAMINATION_SCHEMA);
}
