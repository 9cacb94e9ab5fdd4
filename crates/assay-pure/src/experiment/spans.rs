//! Where each key of an experiment file stands, so that a complaint made long after reading still points at it.

use std::collections::BTreeMap;
use std::ops::Range;

use toml_edit::{Item, TableLike, Value};

/// A stretch of one line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePlace {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The text of the line, without its end; of a long one, what is around the place.
    pub source_line: String,
    /// Characters of the line before that text.
    pub skipped: usize,
    /// Length in characters, to the end of the line at most.
    pub length: usize,
}

/// The places of all keys of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spans {
    file: String,
    text: String,
    /// Where each line begins.
    lines: Vec<usize>,
    ranges: BTreeMap<String, Range<usize>>,
    keys: BTreeMap<String, Range<usize>>,
}

/// Bytes of a line that are kept on each side of a place. Ten thousand complaints about a list on one line had a copy of it each:
/// 1.5 GB.
const AROUND: usize = 1000;

impl Spans {
    /// The file as the user named it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Where the value of a key stands; for a table with a header, the header.
    ///
    /// Input: a dotted key as in `program.sources[0]`, `inputs[2].path`, `inputs.NAME.path`, `claims[0].inputs[0]`. Entries
    /// of `variants`, `inputs` and `flags` are found by number whichever form the file has. Returns: the place of the key, or of the nearest part of the
    /// file around it (`variants[1]` for `variants[1].name` in a plain list of names); `None` if the file has nothing of it, because a default stands.
    pub fn locate(&self, key: &str) -> Option<FilePlace> {
        let mut key = key;
        loop {
            if let Some(range) = self.ranges.get(key) {
                return Some(self.place(range.clone()));
            }
            key = &key[..key.rfind(['.', '['])?];
        }
    }

    /// Where a key itself stands, rather than its value; the file's beginning if it is not there.
    pub(super) fn locate_key(&self, key: &str) -> FilePlace {
        self.keys.get(key).map_or_else(|| self.beginning(), |range| self.place(range.clone()))
    }

    /// The place of a byte range of the file.
    pub(super) fn place(&self, range: Range<usize>) -> FilePlace {
        // A syntax error may lie behind the last character.
        let start = self.boundary(range.start);
        let number = self.lines.partition_point(|line| *line <= start);
        let line_start = self.lines[number - 1];
        let line_end = self.text[start..].find('\n').map_or(self.text.len(), |length| start + length);
        let end = self.boundary(range.end).clamp(start, line_end);
        let from = self.boundary(start.saturating_sub(AROUND)).max(line_start);
        let to = self.boundary(start + AROUND).min(line_end);
        let skipped = self.text[line_start..from].chars().count();
        FilePlace {
            line: number,
            column: skipped + self.text[from..start].chars().count() + 1,
            source_line: self.text[from..to].trim_end_matches('\r').to_owned(),
            skipped,
            length: self.text[start..end].trim_end_matches('\r').chars().count(),
        }
    }

    /// The nearest beginning of a character at or before a byte.
    fn boundary(&self, byte: usize) -> usize {
        let mut byte = byte.min(self.text.len());
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        byte
    }

    /// The place of something that is nowhere: the file's beginning, nothing marked.
    pub(crate) fn beginning(&self) -> FilePlace {
        FilePlace { length: 0, ..self.place(0..0) }
    }

    /// A file of which no key is known yet.
    pub(super) fn new(file: &str, text: &str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Spans {
            file: file.to_owned(),
            text: text.to_owned(),
            lines: std::iter::once(0).chain(ends).collect(),
            ranges: BTreeMap::new(),
            keys: BTreeMap::new(),
        }
    }

    /// Notes the places of everything in a table, under the given path.
    pub(super) fn record(&mut self, path: &str, table: &dyn TableLike) {
        for (index, (name, item)) in table.iter().enumerate() {
            let key_range = table.get_key_value(name).and_then(|(key, _)| key.span());
            let range = item.span().or_else(|| key_range.clone());
            let child = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            self.keys.extend(key_range.map(|range| (child.clone(), range)));
            self.record_item(&child, item, range.clone());
            // `[inputs.NAME]` is the entry of some number in the experiment's list, by which the lab knows it.
            if ["variants", "inputs", "flags"].contains(&path) {
                self.record_item(&format!("{path}[{index}]"), item, range);
            }
        }
    }

    fn record_item(&mut self, path: &str, item: &Item, range: Option<Range<usize>>) {
        if let Some(range) = range {
            self.ranges.insert(path.to_owned(), range);
        }
        match item {
            Item::ArrayOfTables(tables) => {
                for (index, table) in tables.iter().enumerate() {
                    let path = format!("{path}[{index}]");
                    self.ranges.extend(table.span().map(|range| (path.clone(), range)));
                    self.record(&path, table);
                }
            }
            Item::Table(table) => self.record(path, table),
            Item::Value(value) => self.record_value(path, value),
            Item::None => {}
        }
    }

    fn record_value(&mut self, path: &str, value: &Value) {
        match value {
            Value::InlineTable(table) => self.record(path, table),
            Value::Array(values) => {
                for (index, value) in values.iter().enumerate() {
                    let path = format!("{path}[{index}]");
                    self.ranges.extend(value.span().map(|range| (path.clone(), range)));
                    self.record_value(&path, value);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
question = \"wie schnell? äöü\"
variants = [\"a\", \"b\"]
flags = { O2 = [\"-O2\"], O3 = { flags = [\"-O3\"] } }

[program]
sources = [\"x.c\",
           \"y.c\"]

[inputs.first]
path = \"one\"
[inputs.\"a.b\"]
path = \"two\"

[[claims]]
text = \"it is\"
[[claims]]
inputs = [\"first\"]
";

    fn spans() -> Spans {
        let document = toml_edit::Document::parse(TEXT).expect("valid TOML");
        let mut spans = Spans::new("x.toml", TEXT);
        spans.record("", document.as_table());
        spans
    }

    /// Line, column and the marked text.
    fn located(key: &str) -> Option<(usize, usize, String)> {
        let place = spans().locate(key)?;
        let marked = place.source_line.chars().skip(place.column - 1).take(place.length).collect();
        Some((place.line, place.column, marked))
    }

    #[test]
    fn finds_each_kind_of_key() {
        for (key, line, column, marked) in [
            ("question", 1, 12, "\"wie schnell? äöü\""),
            ("variants", 2, 12, "[\"a\", \"b\"]"),
            ("variants[1]", 2, 18, "\"b\""),
            ("variants[1].name", 2, 18, "\"b\""),
            ("flags.O2", 3, 16, "[\"-O2\"]"),
            ("flags[0][0]", 3, 17, "\"-O2\""),
            ("flags[1].flags[0]", 3, 41, "\"-O3\""),
            ("program", 5, 1, "[program]"),
            ("program.sources", 6, 11, "[\"x.c\","),
            ("program.sources[1]", 7, 12, "\"y.c\""),
            ("inputs.first", 9, 1, "[inputs.first]"),
            ("inputs[0].path", 10, 8, "\"one\""),
            ("inputs.a.b.path", 12, 8, "\"two\""),
            ("inputs[1].units", 11, 1, "[inputs.\"a.b\"]"),
            ("claims[0].source", 14, 1, "[[claims]]"),
            ("claims[1].inputs[0]", 17, 11, "\"first\""),
        ] {
            assert_eq!(located(key), Some((line, column, marked.to_owned())), "{key}");
        }
    }

    #[test]
    fn finds_nothing_of_a_key_that_the_file_leaves_to_its_default() {
        assert_eq!(located("compilers[0]"), None);
        assert_eq!(located(""), None);
    }

    #[test]
    fn places_what_lies_behind_the_end_at_the_end() {
        let spans = Spans::new("x.toml", "a = 1\nb = ");
        let place = spans.place(10..12);
        assert_eq!((place.line, place.column, place.length), (2, 5, 0));
    }

    #[test]
    fn keeps_of_a_long_line_what_is_around_the_place() {
        let text = format!("a = 1\nb = [{}]", "\"ä\", ".repeat(5000));
        let place = Spans::new("x.toml", &text).place(text.find('[').unwrap() + 1 + 6 * 3000..text.len());
        assert_eq!((place.line, place.column), (2, 6 + 5 * 3000), "six bytes and five characters each");
        assert!(place.source_line.len() <= 2 * AROUND + 4, "{}", place.source_line.len());
        let marked: String =
            place.source_line.chars().skip(place.column - 1 - place.skipped).take(5).collect();
        assert_eq!(marked, "\"ä\", ");
    }

    #[test]
    fn leaves_the_line_end_of_other_systems_out() {
        let spans = Spans::new("x.toml", "a = [\r\n1]\r\n");
        let place = spans.place(4..9);
        assert_eq!((place.source_line.as_str(), place.length), ("a = [", 1));
    }
}
