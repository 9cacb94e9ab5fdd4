//! The published schema of `assay sweep` held against the code, in both directions.

use super::page::{Limit, SWEEP_SCHEMA, StepCause, Stopped, SweepPage};
use super::sample;
use crate::schema::{assert_every_key_is_required, assert_fits, schema_of};
use assay_pure::sweep::refine::Why;
use assay_pure::sweep::{Scale, Winner};
use serde_json::Value;
use std::collections::BTreeSet;

fn json(page: &SweepPage) -> Value {
    serde_json::from_str(&page.to_json()).expect("a page is JSON")
}

/// The words of an enumeration's values.
fn values<T: serde::Serialize>(words: &[T]) -> Value {
    serde_json::to_value(words).expect("words")
}

#[test]
fn every_page_fits_the_schema_and_the_rich_ones_show_every_key() {
    assert_fits("sweep-2", &[json(&sample::share()), json(&sample::size())], &[json(&sample::stopped())]);
}

#[test]
fn every_key_is_required_as_pages_always_carry_all_keys() {
    assert_every_key_is_required("sweep-2");
}

#[test]
fn the_words_of_the_schema_are_those_of_the_code() {
    let root = schema_of("sweep-2");
    let words = |values: Value, schema: &Value| {
        let sorted = |list: &Value| {
            let words: BTreeSet<String> =
                list.as_array().expect("a list").iter().map(ToString::to_string).collect();
            words
        };
        assert_eq!(sorted(&values), sorted(schema));
    };
    words(values(&[Scale::Linear, Scale::Geometric]), &root["$defs"]["key"]["properties"]["scale"]["enum"]);
    words(
        values(&[Why::Grid, Why::Crossover, Why::Bend, Why::Again]),
        &root["$defs"]["point"]["properties"]["why"]["enum"],
    );
    let winners = [Winner::Candidate, Winner::Baseline, Winner::Neither, Winner::Unclear];
    words(values(&winners), &root["$defs"]["zone"]["properties"]["winner"]["enum"]);
    words(values(&winners), &root["$defs"]["ratio_at"]["properties"]["winner"]["enum"]);
    let causes =
        [StepCause::Cache, StepCause::PredictorMemory, StepCause::Mispredictions, StepCause::Unexplained];
    words(values(&causes), &root["$defs"]["step"]["properties"]["cause"]["enum"]);
    let stopped = &root["$defs"]["measured"]["properties"]["stopped_because"]["anyOf"][0]["enum"];
    words(values(&[Stopped::Refined, Stopped::Points, Stopped::Interrupted, Stopped::Nothing]), stopped);
    let limits = &root["$defs"]["crossover"]["properties"]["limited_by"]["anyOf"][0]["enum"];
    words(values(&[Limit::Noise, Limit::Points]), limits);
    assert_eq!(Value::from(SWEEP_SCHEMA), root["properties"]["schema"]["const"]);
}

#[test]
fn a_page_read_back_is_the_page_written() {
    for page in [sample::share(), sample::size(), sample::stopped()] {
        let read: SweepPage = serde_json::from_str(&page.to_json()).expect("it fits");
        assert_eq!(read, page);
    }
}
