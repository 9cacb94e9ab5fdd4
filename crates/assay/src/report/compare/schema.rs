//! The published schema of `assay compare` held against the code, in both directions.

use super::page::{COMPARE_SCHEMA, FunctionChange, Method};
use super::{ComparePage, sample};
use crate::report::schema::{Check, described, schema_of};
use serde_json::Value;
use std::collections::BTreeSet;

fn json(page: &ComparePage) -> Value {
    serde_json::from_str(&page.to_json()).expect("a page is JSON")
}

#[test]
fn every_page_fits_the_schema() {
    let root = schema_of("comparison-1");
    for page in [sample::two(), sample::one(), sample::commands()] {
        assert_eq!(Check::of(&root, &json(&page)).problems, Vec::<String>::new());
    }
}

#[test]
fn the_pages_show_every_key_of_the_schema() {
    let root = schema_of("comparison-1");
    let met: BTreeSet<String> = Check::of(&root, &json(&sample::two())).met.into_iter().collect();
    let missing: Vec<String> = described(&root).into_iter().filter(|key| !met.contains(key)).collect();
    assert_eq!(missing, Vec::<String>::new());
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
