//! The published schema of `assay stat` held against the code, in both directions.

use super::page::{EndedBy, FigureSource, STAT_SCHEMA};
use super::sample;
use crate::schema::{assert_every_key_is_required, assert_fits, schema_of};
use serde_json::Value;

fn json(page: &super::StatPage) -> Value {
    serde_json::from_str(&page.to_json()).expect("a page is JSON")
}

#[test]
fn every_page_fits_the_schema_and_the_rich_ones_show_every_key() {
    assert_fits(
        "stat-1",
        &[json(&sample::rich()), json(&sample::without_counters())],
        &[json(&sample::counted_only())],
    );
}

#[test]
fn every_key_is_required_as_pages_always_carry_all_keys() {
    assert_every_key_is_required("stat-1");
}

#[test]
fn the_words_of_the_schema_are_those_of_the_code() {
    let root = schema_of("stat-1");
    let words = |values: Value, schema: &Value| assert_eq!(values, *schema);
    words(
        serde_json::to_value([FigureSource::Counted, FigureSource::Traced, FigureSource::Simulated])
            .expect("words"),
        &root["$defs"]["source"]["enum"],
    );
    words(
        serde_json::to_value([EndedBy::Itself, EndedBy::TimeLimit, EndedBy::Interrupt]).expect("words"),
        &root["$defs"]["execution"]["properties"]["ended_by"]["enum"],
    );
    words(Value::from(STAT_SCHEMA), &root["properties"]["schema"]["const"]);
}

#[test]
fn a_page_read_back_is_the_page_written() {
    for page in [sample::without_counters(), sample::rich()] {
        let read: super::StatPage = serde_json::from_str(&page.to_json()).expect("it fits");
        assert_eq!(read, page);
    }
}
