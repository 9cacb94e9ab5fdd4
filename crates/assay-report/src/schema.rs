//! The published schemas, generated from the pages and compared with the files in `schema/`;
//! `ASSAY_UPDATE_GOLDEN=1 cargo test -p assay-report` writes them anew.
//!
//! Stricter than a schema: each described key has a description of its own and is shown by a rich sample page, and a page has
//! no key that isn't described. What schemars derives from the types that serde writes needs no validator beyond that; the one
//! tried (jsonschema 0.61 without its default features, 60 crates) took 84 s of processor time to compile.

use std::collections::BTreeSet;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::page::SCHEMA;
use super::plan::PLAN_SCHEMA;
use super::sample;
use super::unmeasured::{UNMEASURED_SCHEMA, Unmeasured};

/// What holds for every page that other programs read.
const PROMISE: &str = "Keys may be added within a version; none is renamed or removed.";

/// Name and version are one text, as in the page: "assay.sweep/2" is described in `sweep-2.schema.json`.
fn file_of(name: &str) -> std::path::PathBuf {
    let short = name.trim_start_matches("assay.").replace('/', "-");
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema");
    folder.join(format!("{short}.schema.json"))
}

fn generated<T: JsonSchema>(name: &str) -> Value {
    let mut schema: Schema =
        SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>();
    let about = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let about = format!("{about} {PROMISE}");
    schema.insert("title".into(), name.into());
    schema.insert("description".into(), about.trim_start().into());
    let mut root = schema.to_value();
    root["properties"]["schema"]["const"] = name.into();
    root
}

/// What a page has and a schema describes.
struct Walk<'a> {
    root: &'a Value,
    problems: Vec<String>,
    /// Described keys that were met, as "definition.key".
    met: BTreeSet<String>,
}

impl<'a> Walk<'a> {
    /// The schema itself, behind a reference; with its name.
    fn resolved(&self, schema: &'a Value, at: &str) -> (&'a Value, String) {
        match schema["$ref"].as_str().and_then(|target| target.strip_prefix("#/$defs/")) {
            Some(name) => (&self.root["$defs"][name], name.to_owned()),
            None => (schema, at.to_owned()),
        }
    }

    fn value(&mut self, schema: &'a Value, value: &Value, at: &str) {
        let (schema, at) = self.resolved(schema, at);
        if let Some(choices) = schema["anyOf"].as_array() {
            // Null, or what is described.
            if let Some(choice) =
                choices.iter().find(|choice| choice["type"] != "null").filter(|_| !value.is_null())
            {
                self.value(choice, value, &at);
            }
            return;
        }
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            let of_item = schema["prefixItems"].get(index).unwrap_or(&schema["items"]);
            self.value(of_item, item, &format!("{at}[]"));
        }
        for (key, item) in value.as_object().into_iter().flatten() {
            match (schema["properties"].get(key), &schema["additionalProperties"]) {
                (Some(described), _) => {
                    if !item.is_null() {
                        self.met.insert(format!("{at}.{key}"));
                    }
                    self.value(described, item, &format!("{at}.{key}"));
                }
                (None, any @ Value::Object(_)) => self.value(any, item, &format!("{at}.*")),
                // A value that is anything, as a description of an input is.
                (None, _) if schema["type"].is_null() => {}
                (None, _) => self.problems.push(format!("{at}.{key} is not in the schema")),
            }
        }
    }
}

/// Every "definition.key" of a schema; each has a description and is required, as pages always carry all keys.
fn described(root: &Value) -> BTreeSet<String> {
    let mut described = BTreeSet::new();
    let definitions = root["$defs"].as_object().into_iter().flatten();
    for (name, schema) in definitions.chain([(&"page".to_owned(), root)]) {
        let Some(properties) = schema["properties"].as_object() else { continue };
        let required: BTreeSet<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (key, property) in properties {
            assert!(property["description"].is_string(), "{name}.{key} has no description");
            assert!(required.contains(key.as_str()), "{name}.{key} is not required");
            described.insert(format!("{name}.{key}"));
        }
    }
    described
}

/// The schema of a page is the published one, the rich pages together show every key that it describes, no page has another,
/// and each page read back is the page written.
#[track_caller]
pub(super) fn assert_published<T>(name: &str, rich: &[T], others: &[T])
where
    T: JsonSchema + Serialize + DeserializeOwned + PartialEq + std::fmt::Debug,
{
    let root = generated::<T>(name);
    let text = crate::json::written(&root);
    super::golden::assert_golden_file(&file_of(name), &text);
    let mut met = BTreeSet::new();
    for (at, page) in rich.iter().chain(others).enumerate() {
        let json = serde_json::to_value(page).expect("a page has only string keys");
        let mut walk = Walk { root: &root, problems: Vec::new(), met: BTreeSet::new() };
        walk.value(&root, &json, "page");
        assert_eq!(walk.problems, Vec::<String>::new());
        assert_eq!(json["schema"], name);
        if at < rich.len() {
            met.extend(walk.met);
        }
        let read: T = serde_json::from_value(json).expect("a page is read as it was written");
        assert_eq!(read, *page);
    }
    let missing: Vec<String> = described(&root).difference(&met).cloned().collect();
    assert_eq!(missing, Vec::<String>::new(), "no rich page shows these");
}

#[test]
fn the_campaign_s_schema_is_that_of_its_page() {
    let rich =
        [sample::page(), sample::builds(), sample::in_uses(&[]), sample::misleading(), sample::modes()];
    assert_published(SCHEMA, &rich, &[sample::many(), sample::nothing()]);
}

#[test]
fn the_plan_s_schema_is_that_of_its_page() {
    assert_published(PLAN_SCHEMA, &[sample::plan()], &[]);
}

#[test]
fn what_was_not_measured_has_a_schema_too() {
    let found = Unmeasured::new("b/x.toml".into(), "there is no gcc".into());
    assert_published(UNMEASURED_SCHEMA, &[found], &[]);
}

#[test]
fn a_key_that_is_not_described_is_found() {
    let root = generated::<super::Page>(SCHEMA);
    let mut page = serde_json::to_value(sample::page()).expect("a page has only string keys");
    page["contrasts"][0]["extra"] = 3.into();
    let mut walk = Walk { root: &root, problems: Vec::new(), met: BTreeSet::new() };
    walk.value(&root, &page, "page");
    assert_eq!(walk.problems, ["PageContrast.extra is not in the schema"]);
}
