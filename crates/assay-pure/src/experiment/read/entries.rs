//! Named entries (variants, inputs) in each form that TOML offers for them, and references to them by name.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use toml_edit::{Item, TableLike, Value};

use super::convert;
use super::reader::{TomlReader, TomlTable, WrongValue};
use super::schema::SchemaKey;

/// One entry of a list, or one table in a table of tables.
pub(crate) struct ListEntry<'a> {
    /// Dotted path as the file has it: `variants[1]`, `inputs.mixed`.
    pub(crate) path: String,
    /// Its name; `None` if that is missing or wrong, which has been noted.
    pub(crate) name: Option<String>,
    /// Its keys; `None` for a plain name.
    pub(crate) items: Option<&'a dyn TableLike>,
}

/// The names that others may refer to.
pub(crate) struct Names {
    kind: &'static str,
    names: Vec<String>,
    /// False if an entry has no readable name: then a reference to an unknown name may be right.
    complete: bool,
}

impl Names {
    pub(crate) fn new(kind: &'static str, entries: &[ListEntry]) -> Self {
        let names: Vec<String> = entries.iter().filter_map(|entry| entry.name.clone()).collect();
        Names { kind, complete: names.len() == entries.len() && !entries.is_empty(), names }
    }

    /// The same kind under other names; not `complete` where some have none because they could not be read.
    pub(crate) fn renamed(self, names: Vec<String>, complete: bool) -> Self {
        Names { names, complete: self.complete && complete, ..self }
    }

    /// Notes a reference to a name that nothing has.
    pub(crate) fn check(&self, reader: &mut TomlReader, path: &str, name: &str) {
        if !self.complete || self.names.iter().any(|known| known == name) {
            return;
        }
        let names = || self.names.iter().map(String::as_str);
        let near = reader.nearest(name, names());
        let problem = reader.complain(path, format!("`{path}` names an unknown {}: \"{name}\"", self.kind));
        problem.nearest = near;
        problem.expected = Some(one_of(names()));
    }
}

/// What a name may be, as far as anybody reads on.
pub(crate) fn one_of<'a>(names: impl Iterator<Item = &'a str> + Clone) -> String {
    const LISTED: usize = 50;
    let listed: Vec<&str> = names.clone().take(LISTED).collect();
    match names.skip(LISTED).count() {
        0 => format!("one of {}", listed.join(", ")),
        more => format!("one of {} and {more} more", listed.join(", ")),
    }
}

/// One element of a list: a table, or a plain value.
pub(crate) enum Element<'a> {
    Table(&'a dyn TableLike),
    Value(&'a Value),
}

/// The elements of `[[list]]` or `list = [...]`; `None` if it is no list.
pub(crate) fn elements(item: &Item) -> Option<Vec<Element<'_>>> {
    match item {
        Item::ArrayOfTables(tables) => Some(tables.iter().map(|table| Element::Table(table)).collect()),
        Item::Value(Value::Array(values)) => Some(values.iter().map(element).collect()),
        _ => None,
    }
}

fn element(value: &Value) -> Element<'_> {
    match value {
        Value::InlineTable(table) => Element::Table(table),
        other => Element::Value(other),
    }
}

/// All entries of a key of the file, in file order, with distinct names. `plain`: a name alone is an entry.
pub(crate) fn entries<'a>(
    reader: &mut TomlReader,
    top: &TomlTable<'a>,
    list: &str,
    keys: &'static [SchemaKey],
    plain: bool,
) -> Vec<ListEntry<'a>> {
    let Some(item) = top.item(list) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if let Some(tables) = item.as_table_like() {
        for (name, item) in tables.iter() {
            found.push(keyed(reader, top, list, name, item, keys));
        }
    } else if let Some(elements) = elements(item) {
        for (index, element) in elements.into_iter().enumerate() {
            let path = format!("{list}[{index}]");
            found.push(listed(reader, top, list, path, element, keys, plain));
        }
    } else {
        reader.complain_of(top, list, WrongValue::Type.sentence(list, item));
    }
    distinct(reader, &found);
    found
}

/// `[list.NAME]`
fn keyed<'a>(
    reader: &mut TomlReader,
    top: &TomlTable,
    list: &str,
    name: &str,
    item: &'a Item,
    keys: &'static [SchemaKey],
) -> ListEntry<'a> {
    let path = format!("{list}.{name}");
    let Some(items) = item.as_table_like() else {
        let problem = reader.complain(&path, WrongValue::Type.sentence(&path, item));
        problem.expected = Some("a table for each name".into());
        problem.example = Some(top.example_of(list));
        return ListEntry { path, name: check_name(reader, &format!("{list}.{name}"), name), items: None };
    };
    if items.contains_key("name") {
        let table = TomlTable::new(&path, Some(items), &[keys]);
        reader.complain_of(&table, "name", format!("`{path}.name` gives `{path}` a second name"));
    }
    let name = check_name(reader, &path, name);
    ListEntry { path, name, items: Some(items) }
}

/// `[[list]]`, or an element of `list = [...]`
fn listed<'a>(
    reader: &mut TomlReader,
    top: &TomlTable,
    list: &str,
    path: String,
    element: Element<'a>,
    keys: &'static [SchemaKey],
    plain: bool,
) -> ListEntry<'a> {
    match element {
        Element::Table(items) => {
            let table = TomlTable::new(&path, Some(items), &[keys]);
            if !table.has("name") {
                reader.missing(&table, "name");
            }
            let name = reader.read(&table, "name", convert::name);
            ListEntry { path, name, items: Some(items) }
        }
        Element::Value(Value::String(name)) if plain => {
            let name = check_name(reader, &path, name.value());
            ListEntry { path, name, items: None }
        }
        Element::Value(value) => {
            let message = WrongValue::Type.sentence(&path, &Item::Value(value.clone()));
            let problem = reader.complain(&path, message);
            problem.expected = Some(if plain { "a name or a table" } else { "a table" }.into());
            problem.example = Some(top.example_of(list));
            ListEntry { path, name: None, items: None }
        }
    }
}

fn check_name(reader: &mut TomlReader, path: &str, name: &str) -> Option<String> {
    if convert::is_name(name) {
        return Some(name.to_owned());
    }
    let problem = reader.complain(path, format!("\"{name}\" {}", convert::not_a_name(name)));
    problem.expected = Some("a name made of A-Z a-z 0-9 _ . : / + -".into());
    problem.example = Some(convert::to_name(name.trim())).filter(|name| !name.is_empty());
    None
}

/// Notes each name that an earlier entry has.
fn distinct(reader: &mut TomlReader, entries: &[ListEntry]) {
    let mut first: HashMap<&str, &str> = HashMap::new();
    for entry in entries {
        let Some(name) = &entry.name else { continue };
        match first.entry(name) {
            Entry::Vacant(new) => drop(new.insert(&entry.path)),
            Entry::Occupied(earlier) => {
                duplicate(reader, &format!("{}.name", entry.path), &format!("{}.name", earlier.get()), name);
            }
        }
    }
}

/// Notes each element of a list that is there before.
pub(crate) fn refuse_repeats<T: ToString>(reader: &mut TomlReader, path: &str, values: &[T]) {
    let mut first: HashMap<String, usize> = HashMap::new();
    for (index, value) in values.iter().map(ToString::to_string).enumerate() {
        match first.entry(value) {
            Entry::Vacant(new) => drop(new.insert(index)),
            Entry::Occupied(earlier) => {
                let (path, before) = (format!("{path}[{index}]"), format!("{path}[{}]", earlier.get()));
                duplicate(reader, &path, &before, earlier.key());
            }
        }
    }
}

/// Notes a name or value that stands at an earlier path already.
fn duplicate(reader: &mut TomlReader, path: &str, earlier: &str, value: &str) {
    let first = reader.spans.locate(earlier).map_or(1, |place| place.line);
    let problem = reader.complain(path, format!("`{value}` appears twice, first on line {first}"));
    problem.expected = Some("each value once".into());
}
