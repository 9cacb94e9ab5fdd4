//! The published schemas held against the code, in both directions.
//!
//! A small reader of the keywords that our schema uses; any other keyword fails the test, so that it can't be silently
//! unchecked. Stricter than the schema itself: a key of the JSON that the schema doesn't describe is an error here, and
//! so is a described key or word that the rich page never shows.

use std::collections::BTreeSet;

use serde_json::Value;

use super::page::{
    AsBuiltSays, Axis, Cause, ClaimStatus, CountSource, Dependence, FailureKind, LimitKind, LimitSource,
    LimitStanding, SCHEMA, StoppedBecause, TwinVerdict, Verdict,
};
use super::plan::PLAN_SCHEMA;
use super::sample;

const KEYWORDS: [&str; 15] = [
    "$schema",
    "$defs",
    "$ref",
    "title",
    "description",
    "type",
    "properties",
    "required",
    "items",
    "enum",
    "const",
    "anyOf",
    "minimum",
    "additionalProperties",
    "format",
];

pub(super) fn schema_of(name: &str) -> Value {
    let path = format!("{}/../../schema/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the schema is in the repository");
    serde_json::from_str(&text).expect("the schema is JSON")
}

fn schema() -> Value {
    schema_of("campaign-1")
}

struct SchemaCheck<'a> {
    root: &'a Value,
    problems: Vec<String>,
    /// Described keys that were met, as "definition.key".
    met: BTreeSet<String>,
}

impl SchemaCheck<'_> {
    fn of<'a>(root: &'a Value, page: &Value) -> SchemaCheck<'a> {
        let mut check = SchemaCheck { root, problems: Vec::new(), met: BTreeSet::new() };
        check.value(root, page, "page");
        check
    }

    fn value(&mut self, schema: &Value, value: &Value, at: &str) {
        let keywords = schema.as_object().expect("a schema is an object");
        for keyword in keywords.keys().filter(|keyword| !KEYWORDS.contains(&keyword.as_str())) {
            self.problems.push(format!("{at}: the keyword {keyword} is not checked"));
        }
        if let Some(target) = schema["$ref"].as_str() {
            let name = target.strip_prefix("#/$defs/").expect("references are local");
            let target = &self.root["$defs"][name];
            return self.value(target, value, name);
        }
        if let Some(choices) = schema["anyOf"].as_array() {
            return self.any_of(choices, value, at);
        }
        if !type_matches(&schema["type"], value) {
            self.problems.push(format!("{at}: {value} is not of type {}", schema["type"]));
        }
        let constant = &schema["const"];
        if !constant.is_null() && constant != value {
            self.problems.push(format!("{at}: {value} is not {constant}"));
        }
        if schema["enum"].as_array().is_some_and(|words| !words.contains(value)) {
            self.problems.push(format!("{at}: {value} is not a word of the schema"));
        }
        let minimum = schema["minimum"].as_f64().unwrap_or(f64::NEG_INFINITY);
        if let Some(number) = value.as_f64().filter(|number| *number < minimum) {
            self.problems.push(format!("{at}: {number} is below {minimum}"));
        }
        for item in value.as_array().into_iter().flatten() {
            self.value(&schema["items"], item, &format!("{at}[]"));
        }
        if value.is_object() {
            self.object(schema, value, at);
        }
    }

    /// A null may be null; anything else must be the choice that isn't.
    fn any_of(&mut self, choices: &[Value], value: &Value, at: &str) {
        if !value.is_null() {
            let choice =
                choices.iter().find(|choice| choice["type"] != "null").expect("one choice is not null");
            self.value(choice, value, at);
        }
    }

    fn object(&mut self, schema: &Value, value: &Value, at: &str) {
        let Some(properties) = schema["properties"].as_object() else {
            for (key, item) in value.as_object().into_iter().flatten() {
                match &schema["additionalProperties"] {
                    Value::Null if schema["type"].is_null() => {}
                    Value::Null => self.problems.push(format!("{at}.{key} is not in the schema")),
                    any => self.value(any, item, &format!("{at}.*")),
                }
            }
            return;
        };
        for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if value.get(required).is_none() {
                self.problems.push(format!("{at}.{required} is missing"));
            }
        }
        for (key, item) in value.as_object().into_iter().flatten() {
            match properties.get(key) {
                None => self.problems.push(format!("{at}.{key} is not in the schema")),
                Some(schema) => {
                    if !item.is_null() {
                        self.met.insert(format!("{at}.{key}"));
                    }
                    self.value(schema, item, &format!("{at}.{key}"));
                }
            }
        }
    }
}

fn type_matches(wanted: &Value, value: &Value) -> bool {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => false,
    };
    match wanted {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        _ => true,
    }
}

/// Every "definition.key" that the schema describes.
fn described(root: &Value) -> BTreeSet<String> {
    let mut described = BTreeSet::new();
    let mut describe = |name: &str, schema: &Value| {
        for key in schema["properties"].as_object().into_iter().flat_map(|properties| properties.keys()) {
            described.insert(format!("{name}.{key}"));
        }
    };
    describe("page", root);
    for (name, schema) in root["$defs"].as_object().into_iter().flatten() {
        describe(name, schema);
    }
    described
}

/// All pages fit a schema, and the rich ones together show every key that it describes. Returns the schema.
#[track_caller]
pub(super) fn assert_fits(name: &str, rich: &[Value], others: &[Value]) -> Value {
    let root = schema_of(name);
    let mut met = BTreeSet::new();
    for page in rich {
        let check = SchemaCheck::of(&root, page);
        assert_eq!(check.problems, Vec::<String>::new());
        met.extend(check.met);
    }
    for page in others {
        assert_eq!(SchemaCheck::of(&root, page).problems, Vec::<String>::new());
    }
    let missing: Vec<String> = described(&root).difference(&met).cloned().collect();
    assert_eq!(missing, Vec::<String>::new());
    root
}

/// Pages always carry all keys, so a schema requires each.
#[track_caller]
pub(super) fn assert_every_key_is_required(name: &str) {
    let root = schema_of(name);
    let definitions = root["$defs"].as_object().expect("definitions").values();
    for schema in definitions.chain([&root]).filter(|schema| schema["properties"].is_object()) {
        let properties = schema["properties"].as_object().expect("an object");
        let required = schema["required"].as_array().expect("a list");
        let keys: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
        let required: BTreeSet<&str> = required.iter().filter_map(Value::as_str).collect();
        assert_eq!(keys, required, "{}", schema["description"]);
    }
}

fn json(page: &super::Page) -> Value {
    serde_json::to_value(page).expect("a page has only string keys")
}

#[test]
fn every_page_fits_the_schema_and_the_rich_ones_show_every_key() {
    let rich = [sample::page(), sample::builds(), sample::in_uses(&[])];
    let others = [sample::many(), sample::nothing()];
    assert_fits("campaign-1", &rich.map(|page| json(&page)), &others.map(|page| json(&page)));
}

#[test]
fn the_plan_fits_its_schema_and_shows_every_key() {
    let plan = serde_json::to_value(sample::plan()).expect("a plan has only string keys");
    let root = assert_fits("plan-1", &[plan], &[]);
    assert_eq!(root["properties"]["schema"]["const"], PLAN_SCHEMA);
}

#[test]
fn every_key_is_required_as_pages_always_carry_all_keys() {
    assert_every_key_is_required("campaign-1");
    assert_every_key_is_required("plan-1");
}

/// The words of an enum as JSON; the closure of matches is the caller's list.
fn words<T: serde::Serialize>(values: &[T]) -> Value {
    serde_json::to_value(values).expect("words are strings")
}

#[test]
fn the_words_of_the_schema_are_those_of_the_code() {
    let root = schema();
    let defs = &root["$defs"];
    use {AsBuiltSays as A, Cause as C, StoppedBecause as S, Verdict as V};
    let pairs = [
        (&defs["verdict"]["enum"], words(&[V::Faster, V::Slower, V::Equivalent, V::Inconclusive])),
        (
            &defs["as_built_says"]["enum"],
            words(&[A::Reversed, A::Ghost, A::Masked, A::Inflated, A::Deflated, A::Confirmed]),
        ),
        (
            &defs["cause"]["properties"]["cause"]["enum"],
            words(&[
                C::Placement,
                C::IdenticalCode,
                C::Work,
                C::Prediction,
                C::Input,
                C::Memory,
                C::CodegenDrift,
                C::Noise,
                C::Build,
            ]),
        ),
        (
            &defs["stopped_because"]["enum"],
            words(&[S::Decided, S::BudgetSpent, S::RotationsSpent, S::Interrupted, S::NothingToMeasure]),
        ),
        (&defs["count"]["properties"]["source"]["enum"], words(&[CountSource::Counted, CountSource::Traced])),
        (
            &defs["claim"]["properties"]["status"]["enum"],
            words(&[ClaimStatus::Confirmed, ClaimStatus::Refuted, ClaimStatus::Undecided]),
        ),
        (&defs["failure"]["properties"]["kind"]["enum"], words(&[FailureKind::Failed, FailureKind::Skipped])),
        (
            &defs["input_dependence"]["properties"]["flips"]["enum"],
            words(&[Dependence::Sign, Dependence::Size]),
        ),
        (
            &defs["cell_limit"]["properties"]["limit"]["enum"],
            words(&[
                LimitKind::Bytes,
                LimitKind::Latency,
                LimitKind::Mispredictions,
                LimitKind::Instructions,
                LimitKind::Branches,
            ]),
        ),
        (
            &defs["cell_limit"]["properties"]["source"]["enum"],
            words(&[LimitSource::Given, LimitSource::Counted, LimitSource::Traced, LimitSource::Entropy]),
        ),
        (
            &defs["cell_limit"]["properties"]["standing"]["enum"],
            words(&[
                LimitStanding::Binds,
                LimitStanding::Leaves,
                LimitStanding::Assumed,
                LimitStanding::Exceeded,
            ]),
        ),
        (&defs["axis"]["enum"], words(&[Axis::Variant, Axis::Compiler, Axis::Flags])),
        (
            &defs["twin_control"]["properties"]["verdict"]["enum"],
            words(&[TwinVerdict::Equivalent, TwinVerdict::Different, TwinVerdict::Undecided]),
        ),
        (&root["properties"]["schema"]["const"], Value::from(SCHEMA)),
    ];
    for (schema, code) in pairs {
        assert_eq!(*schema, code);
    }
}

#[test]
fn the_check_itself_finds_wrong_pages() {
    let root = schema();
    let problems = |change: &dyn Fn(&mut Value)| {
        let mut page = json(&sample::page());
        change(&mut page);
        SchemaCheck::of(&root, &page).problems.len()
    };
    assert_eq!(problems(&|_| {}), 0);
    assert_eq!(problems(&|page| page["unit"] = 3.into()), 1);
    assert_eq!(problems(&|page| page["extra"] = 3.into()), 1);
    assert_eq!(problems(&|page| page["contrasts"][0]["verdict"] = "quick".into()), 1);
    assert_eq!(problems(&|page| page["contrasts"][0]["code"]["ratio"] = Value::Null), 1);
    assert_eq!(problems(&|page| page["campaign"]["rounds"] = (-1).into()), 1);
    let without = |page: &mut Value| drop(page["cells"][0].as_object_mut().expect("a cell").remove("failed"));
    assert_eq!(problems(&without), 1);
}
