//! The published schema of `assay compare` held against the code, in both directions.

use super::page::{COMPARE_SCHEMA, FunctionChange, Method};
use super::{ComparePage, sample};
use crate::schema::{assert_fits, schema_of};
use serde_json::Value;

fn json(page: &ComparePage) -> Value {
    serde_json::from_str(&page.to_json()).expect("a page is JSON")
}

#[test]
fn every_page_fits_the_schema_and_the_rich_ones_show_every_key() {
    assert_fits("comparison-1", &[json(&sample::two())], &[json(&sample::one()), json(&sample::commands())]);
}

#[test]
fn the_words_of_the_schema_are_those_of_the_code() {
    let root = schema_of("comparison-1");
    let words = |values: Value, schema: &Value| assert_eq!(values, *schema);
    words(
        serde_json::to_value([Method::Placements, Method::Surroundings]).expect("words"),
        &root["properties"]["method"]["enum"],
    );
    let changes = [
        FunctionChange::Changed,
        FunctionChange::OnlyBaseline,
        FunctionChange::OnlyCandidate,
        FunctionChange::Unknown,
    ];
    words(
        serde_json::to_value(changes).expect("words"),
        &root["$defs"]["function"]["properties"]["change"]["enum"],
    );
    words(Value::from(COMPARE_SCHEMA), &root["properties"]["schema"]["const"]);
}

#[test]
fn a_page_read_back_is_the_page_written() {
    for page in [sample::two(), sample::one(), sample::commands()] {
        let read: ComparePage = serde_json::from_str(&page.to_json()).expect("it fits");
        assert_eq!(read, page);
    }
}
