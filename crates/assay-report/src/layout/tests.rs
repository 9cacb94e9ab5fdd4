//! The terminal's text and the schema, held against the page.

use super::page::{Became, LAYOUT_SCHEMA};
use super::{render_layout, sample};
use crate::schema::{assert_every_key_is_required, assert_fits, schema_of};
use unicode_width::UnicodeWidthStr as _;

#[test]
fn no_line_is_wider_than_asked() {
    for page in [sample::page(), sample::plain()] {
        for width in 40..200 {
            for line in render_layout(&page, width, false, 20).lines() {
                assert!(line.width() <= width, "{width}: {line:?}");
            }
        }
    }
}

/// A text without its line ends.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_host_that_is_not_known_gets_the_facts_of_addresses_alone() {
    let text = unwrapped(&render_layout(&sample::plain(), 80, false, 20));
    assert!(text.contains("some CPU: how it fetches code is unknown"), "{text}");
    assert!(!text.contains("op cache "), "{text}");
    assert!(text.contains("head @64"), "{text}");
}

#[test]
fn what_a_function_costs_to_pin_and_what_it_brings_stand_together() {
    let text = unwrapped(&render_layout(&sample::page(), 160, false, 20));
    let advice = text.split("aligned(64) adds 48 bytes").nth(1).expect("advice");
    let own = advice.split("aligned(64)").next().unwrap_or_default();
    assert!(own.contains("-8.7 %"), "{own}");
}

#[test]
fn changes_beyond_the_top_are_counted() {
    let text = render_layout(&sample::page(), 80, false, 1);
    assert!(text.contains("and 3 functions; --top N shows more"), "{text}");
    assert!(text.contains("src/cold.c:17 and 2 more"), "{text}");
    assert!(!text.contains("calls_cold"), "what only moved is counted: {text}");
}

#[test]
fn pages_fit_the_schema_and_the_rich_one_shows_every_key() {
    let json = |page| serde_json::to_value(page).expect("a page has only string keys");
    let root = assert_fits("layout-1", &[json(sample::page())], &[json(sample::plain())]);
    assert_eq!(root["properties"]["schema"]["const"], LAYOUT_SCHEMA);
}

#[test]
fn every_key_is_required_and_the_words_are_those_of_the_code() {
    let root = schema_of("layout-1");
    assert_every_key_is_required("layout-1");
    let words = [
        Became::Identical,
        Became::Moved,
        Became::Respaced,
        Became::Changed,
        Became::OnlyOld,
        Became::OnlyNew,
        Became::Unknown,
    ];
    assert_eq!(root["$defs"]["became"]["enum"], serde_json::json!(words));
}
