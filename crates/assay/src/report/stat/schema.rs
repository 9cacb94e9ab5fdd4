//! The published schema of `assay stat` held against the code, in both directions.

use super::page::{EndedBy, STAT_SCHEMA, Source};
use super::sample;
use crate::report::schema::{Check, described, schema_of};
use serde_json::Value;
use std::collections::BTreeSet;

fn json(page: &super::StatPage) -> Value {
    serde_json::from_str(&page.to_json()).expect("a page is JSON")
}

#[test]
fn every_page_fits_the_schema() {
    let root = schema_of("stat-1");
    for page in [sample::without_counters(), sample::rich(), sample::counted_only()] {
        assert_eq!(Check::of(&root, &json(&page)).problems, Vec::<String>::new());
    }
}

#[test]
fn the_pages_show_every_key_of_the_schema() {
    let root = schema_of("stat-1");
    let mut met: BTreeSet<String> = BTreeSet::new();
    for page in [sample::rich(), sample::without_counters()] {
        met.extend(Check::of(&root, &json(&page)).met);
    }
    let missing: Vec<String> = described(&root).into_iter().filter(|key| !met.contains(key)).collect();
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn every_key_is_required_as_pages_always_carry_all_keys() {
    let root = schema_of("stat-1");
    let definitions = root["$defs"].as_object().expect("definitions").values();
    for schema in definitions.chain([&root]).filter(|schema| schema["properties"].is_object()) {
        let keys: BTreeSet<&str> =
            schema["properties"].as_object().expect("an object").keys().map(String::as_str).collect();
        let required: BTreeSet<&str> =
            schema["required"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
        assert_eq!(keys, required, "{}", schema["description"]);
    }
}

#[test]
fn the_words_of_the_schema_are_those_of_the_code() {
    let root = schema_of("stat-1");
    let words = |values: Value, schema: &Value| assert_eq!(values, *schema);
    words(
        serde_json::to_value([Source::Counted, Source::Traced, Source::Simulated]).expect("words"),
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
