//! `[[accept]]`: findings of the doctor that are meant, each with its reason.

use toml_edit::{Item, TableLike};

use super::entries::{self, Element};
use super::reader::{TomlReader, TomlTable, WrongValue};
use super::{convert, schema};
use crate::experiment::acceptance::{Acceptance, CHECKS};
use crate::experiment::diagnostic::nearest;

pub(super) fn read(reader: &mut TomlReader, top: &TomlTable) -> Vec<Acceptance> {
    let Some(item) = top.item("accept") else {
        return Vec::new();
    };
    let Some(elements) = entries::elements(item) else {
        reader.complain_of(top, "accept", WrongValue::Type.sentence("accept", item));
        return Vec::new();
    };
    let mut accepted = Vec::new();
    for (index, element) in elements.into_iter().enumerate() {
        let path = format!("accept[{index}]");
        match element {
            Element::Table(items) => accepted.push(read_one(reader, &path, items)),
            Element::Value(value) => {
                let message = WrongValue::Type.sentence(&path, &Item::Value(value.clone()));
                let problem = reader.complain(&path, message);
                problem.example = Some(top.example_of("accept"));
            }
        }
    }
    accepted
}

fn read_one(reader: &mut TomlReader, path: &str, items: &dyn TableLike) -> Acceptance {
    let table = TomlTable::new(path, Some(items), &[schema::ACCEPT]);
    reader.unknown_keys(&table);
    // Without a reason, an exception is a way not to look.
    for required in ["check", "because"] {
        if !table.has(required) {
            reader.missing(&table, required);
        }
    }
    let check = reader.read(&table, "check", convert::text).unwrap_or_default();
    if !check.is_empty() && !CHECKS.contains(&check.as_str()) {
        let message = format!("`{path}.check` is not a check of `assay doctor`: \"{check}\"");
        let problem = reader.complain_of(&table, "check", message);
        problem.nearest = nearest(&check, CHECKS).map(str::to_owned);
        problem.expected = Some(format!("one of {}", CHECKS.join(", ")));
    }
    Acceptance {
        check,
        variants: reader.list(&table, "variants", convert::line).unwrap_or_default(),
        inputs: reader.list(&table, "inputs", convert::line).unwrap_or_default(),
        because: reader.read(&table, "because", convert::text).unwrap_or_default(),
    }
}
