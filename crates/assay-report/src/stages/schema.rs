//! The published schema of `assay stages` held against the code, in both directions.

use super::page::{Against, Brought, EntrantKind, STAGES_SCHEMA};
use super::{StagesPage, sample};
use crate::page::CountSource;
use crate::schema::{assert_fits, schema_of};
use serde_json::Value;

fn json(page: &StagesPage) -> Value {
    serde_json::from_str(&page.to_json()).expect("a page is JSON")
}

#[test]
fn every_page_fits_the_schema_and_the_rich_ones_show_every_key() {
    assert_fits("stages-1", &[json(&sample::diary())], &[json(&sample::one())]);
}

#[test]
fn the_words_of_the_schema_are_those_of_the_code() {
    let root = schema_of("stages-1");
    let words = |values: Value, schema: &Value| assert_eq!(values, *schema);
    let of = |definition: &str, key: &str| root["$defs"][definition]["properties"][key]["enum"].clone();
    let all = [
        Brought::Faster,
        Brought::Slower,
        Brought::Ghost,
        Brought::OnlyCounts,
        Brought::Nothing,
        Brought::Open,
    ];
    words(serde_json::to_value(all).expect("words"), &of("step", "brought"));
    let all = [Against::Before, Against::First, Against::Reference];
    words(serde_json::to_value(all).expect("words"), &of("step", "against"));
    words(
        serde_json::to_value([EntrantKind::Stage, EntrantKind::Reference]).expect("words"),
        &of("entrant", "kind"),
    );
    words(
        serde_json::to_value([CountSource::Counted, CountSource::Traced]).expect("words"),
        &of("counts", "source"),
    );
    words(Value::from(STAGES_SCHEMA), &root["properties"]["schema"]["const"]);
}

#[test]
fn a_page_read_back_is_the_page_written() {
    for page in [sample::diary(), sample::one()] {
        let read: StagesPage = serde_json::from_str(&page.to_json()).expect("it fits");
        assert_eq!(read, page);
    }
}
