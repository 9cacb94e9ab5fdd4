//! Reads typed values out of TOML tables and notes every problem at its place, so that one pass finds them all.

use toml_edit::{Item, TableLike, Value};

use super::schema::SchemaKey;
use crate::experiment::diagnostic::{Diagnostic, MOST, nearest};
use crate::experiment::spans::{FilePlace, Spans};

/// What has been found wrong so far, and where everything stands.
pub(crate) struct TomlReader {
    pub(crate) spans: Spans,
    /// Those behind the first [`MOST`] are only counted: they have no place.
    pub(crate) problems: Vec<Diagnostic>,
    /// Where else in such a file a key may stand.
    homes: Homes,
}

/// Where a key of this name belongs, if it is known in another part of the file than the table at this path: most often
/// a key that stands under a `[table]` whose author did not mean it to.
pub(crate) type Homes = fn(path: &str, name: &str) -> Option<(&'static str, &'static SchemaKey)>;

/// A table of the file with the keys that it may have.
pub(crate) struct TomlTable<'a> {
    /// Its dotted path; empty for the file itself.
    pub(crate) path: String,
    /// `None` if the file has no such table: then every key has its default.
    pub(crate) items: Option<&'a dyn TableLike>,
    keys: Vec<&'static SchemaKey>,
}

/// Why a value is not taken.
#[derive(Debug, PartialEq)]
pub(crate) enum WrongValue {
    /// It is not of the right type.
    Type,
    /// It is a text that should tell a number, but does not.
    Unreadable,
    /// It is of the right type, but outside the domain.
    Range,
    /// It is none of the words known here.
    Unknown { nearest: Option<String> },
    /// The key does something else that is wrong: a sentence without its subject.
    Because(String),
}

impl WrongValue {
    /// The complaint about a value at a path.
    pub(crate) fn sentence(&self, path: &str, item: &Item) -> String {
        let written = item.to_string();
        match self {
            WrongValue::Type => format!("`{path}` has the wrong type: {}", type_of(item)),
            WrongValue::Unreadable => format!("`{path}` has an invalid value: {}", written.trim()),
            WrongValue::Range => format!("`{path}` is out of range: {}", written.trim()),
            WrongValue::Unknown { .. } => format!("`{path}` has an unknown value: {}", written.trim()),
            WrongValue::Because(reason) => format!("`{path}` {reason}"),
        }
    }
}

impl<'a> TomlTable<'a> {
    pub(crate) fn new(path: &str, items: Option<&'a dyn TableLike>, keys: &[&'static [SchemaKey]]) -> Self {
        TomlTable { path: path.to_owned(), items, keys: keys.iter().copied().flatten().collect() }
    }

    /// The item of a key, if the file has it.
    pub(crate) fn item(&self, name: &str) -> Option<&'a Item> {
        self.items?.get(name)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.item(name).is_some()
    }

    /// The dotted path of a key of this table.
    pub(crate) fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// The schema's example of a key.
    pub(crate) fn example_of(&self, name: &str) -> String {
        self.key(name).example.to_owned()
    }

    fn key(&self, name: &str) -> &'static SchemaKey {
        self.keys.iter().find(|key| key.name == name).expect("readers ask for keys of the schema only")
    }
}

impl TomlReader {
    /// Nothing is wrong so far.
    pub(crate) fn new(spans: Spans, homes: Homes) -> Self {
        TomlReader { spans, problems: Vec::new(), homes }
    }

    /// What was read, or all problems in the order of their places.
    pub(crate) fn conclude<T>(mut self, value: T) -> Result<(T, Spans), Vec<Diagnostic>> {
        if self.problems.is_empty() {
            return Ok((value, self.spans));
        }
        let untold = self.problems.len().saturating_sub(MOST);
        self.problems.truncate(MOST);
        self.problems.sort_by_key(|problem| (problem.line, problem.column));
        if untold > 0 {
            let more = format!("{untold} more problems");
            self.problems.push(Diagnostic::new(self.spans.file(), self.spans.beginning(), "", more));
        }
        Err(self.problems)
    }

    /// The known word that was meant; not looked for where nobody will read of it.
    pub(crate) fn nearest<'a>(&self, word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
        (self.problems.len() < MOST).then(|| nearest(word, known).map(str::to_owned)).flatten()
    }

    /// Keeps a problem, without its place where nobody will read of it.
    fn note(&mut self, path: &str, problem: impl FnOnce(&Spans) -> Diagnostic) -> &mut Diagnostic {
        let is_told = self.problems.len() < MOST;
        let nowhere = || FilePlace { line: 0, column: 0, source_line: String::new(), skipped: 0, length: 0 };
        let problem = if is_told { problem(&self.spans) } else { Diagnostic::new("", nowhere(), path, "") };
        self.problems.push(problem);
        self.problems.last_mut().expect("one was just pushed")
    }

    /// Notes a problem with the value at a path; to be given advice by the caller.
    pub(crate) fn complain(&mut self, path: &str, message: impl Into<String>) -> &mut Diagnostic {
        self.note(path, |spans| {
            let place = spans.locate(path).unwrap_or_else(|| spans.beginning());
            Diagnostic::new(spans.file(), place, path, message)
        })
    }

    /// Notes a problem with the value of a key, with the schema's advice.
    pub(crate) fn complain_of(
        &mut self,
        table: &TomlTable,
        name: &str,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let key = table.key(name);
        let problem = self.complain(&table.path_of(name), message);
        problem.expected = Some(key.expected.to_owned());
        problem.example = Some(key.example.to_owned());
        problem
    }

    /// Notes that a required key is missing, at its table.
    pub(crate) fn missing(&mut self, table: &TomlTable, name: &str) {
        let path = table.path_of(name);
        let key = table.key(name);
        self.note(&path, |spans| {
            let place = spans.locate(&table.path).unwrap_or_else(|| spans.beginning());
            let problem = Diagnostic::new(spans.file(), place, &path, format!("`{path}` is missing"));
            problem.with_expected(key.expected).with_example(key.example)
        });
    }

    /// Notes each key that the table does not know.
    pub(crate) fn unknown_keys(&mut self, table: &TomlTable) {
        let Some(items) = table.items else { return };
        for (name, _) in items.iter() {
            if !table.keys.iter().any(|key| key.name == name) {
                self.unknown_key(table, name);
            }
        }
    }

    fn unknown_key(&mut self, table: &TomlTable, name: &str) {
        let path = table.path_of(name);
        let homes = self.homes;
        self.note(&path, |spans| {
            let place = spans.locate_key(&path);
            let problem = Diagnostic::new(spans.file(), place, &path, format!("unknown key `{path}`"));
            let names = || table.keys.iter().map(|key| key.name);
            if let Some((home, key)) = homes(&table.path, name) {
                problem.with_expected(format!("`{name}` {home}")).with_example(key.example)
            } else if let Some(near) = nearest(name, names()) {
                problem.with_nearest(Some(near)).with_example(table.key(near).example)
            } else {
                problem.with_expected(format!("one of {}", names().collect::<Vec<_>>().join(", ")))
            }
        });
    }

    /// The value of a key, if the file has it and it is right.
    pub(crate) fn read<'a, T>(
        &mut self,
        table: &TomlTable<'a>,
        name: &str,
        convert: impl FnOnce(&'a Value) -> Result<T, WrongValue>,
    ) -> Option<T> {
        let item = table.item(name)?;
        match item.as_value().ok_or(WrongValue::Type).and_then(convert) {
            Ok(value) => Some(value),
            Err(wrong) => {
                self.wrong(table, name, &table.path_of(name), item, wrong);
                None
            }
        }
    }

    /// The values of a list, if the file has it and all are right.
    pub(crate) fn list<'a, T>(
        &mut self,
        table: &TomlTable<'a>,
        name: &str,
        convert: impl Fn(&'a Value) -> Result<T, WrongValue>,
    ) -> Option<Vec<T>> {
        let values = self.read(table, name, |value| value.as_array().ok_or(WrongValue::Type))?;
        let before = self.problems.len();
        let mut converted = Vec::new();
        for (index, value) in values.iter().enumerate() {
            match convert(value) {
                Ok(value) => converted.push(value),
                Err(wrong) => {
                    let path = format!("{}[{index}]", table.path_of(name));
                    self.wrong(table, name, &path, &Item::Value(value.clone()), wrong);
                }
            }
        }
        (self.problems.len() == before).then_some(converted)
    }

    /// Notes a problem with a key that the user has named, at the key itself.
    pub(crate) fn complain_of_key(&mut self, path: &str, message: impl Into<String>) -> &mut Diagnostic {
        self.note(path, |spans| Diagnostic::new(spans.file(), spans.locate_key(path), path, message))
    }

    fn wrong(&mut self, table: &TomlTable, name: &str, path: &str, item: &Item, wrong: WrongValue) {
        let key = table.key(name);
        let message = wrong.sentence(path, item);
        let problem = self.complain(path, message);
        problem.expected = Some(key.expected.to_owned());
        problem.example = Some(key.example.to_owned());
        if let WrongValue::Unknown { nearest } = wrong {
            problem.nearest = nearest;
        }
    }
}

/// The type of a value in words.
fn type_of(item: &Item) -> &'static str {
    match item {
        Item::Value(Value::String(_)) => "a string",
        Item::Value(Value::Integer(_)) => "an integer",
        Item::Value(Value::Float(_)) => "a number",
        Item::Value(Value::Boolean(_)) => "a boolean",
        Item::Value(Value::Datetime(_)) => "a date",
        Item::Value(Value::Array(_)) => "a list",
        Item::ArrayOfTables(_) => "a list of tables",
        Item::Value(Value::InlineTable(_)) | Item::Table(_) => "a table",
        Item::None => "nothing",
    }
}
