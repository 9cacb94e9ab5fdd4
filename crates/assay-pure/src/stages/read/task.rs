//! What is run: the keys that roles and references share.

use super::placeholders::check_placeholders;
use super::schema;
use crate::experiment::read::convert;
use crate::experiment::read::reader::{TomlReader, TomlTable, WrongValue};
use crate::figures::pattern::Pattern;
use crate::stages::file::{Task, TimeReading, Units};
use toml_edit::{TableLike, Value};

/// What a table says of a task.
pub(super) struct Partial {
    command: Option<String>,
    units: Option<Units>,
    time: Option<TimeReading>,
    count: Option<bool>,
    empty_command: Option<String>,
}

impl Partial {
    pub(super) fn read(reader: &mut TomlReader, table: &TomlTable) -> Partial {
        let mut command_of = |name: &str| {
            let command = reader.read(table, name, convert::text);
            check_placeholders(reader, table, name, command.as_deref());
            command
        };
        let (command, empty_command) = (command_of("command"), command_of("empty_command"));
        Partial {
            command,
            empty_command,
            units: read_units(reader, table),
            time: read_figure(reader, table),
            count: reader.read(table, "count", convert::truth),
        }
    }

    /// The rest from the role's own task, or by default.
    pub(super) fn complete(self, role: Option<&Task>, units: Units) -> Task {
        // Another command starts up otherwise, too.
        let same_start = self.command.is_none();
        Task {
            units: self.units.unwrap_or(units),
            time: self.time.or_else(|| role.map(|role| role.time.clone())).unwrap_or(TimeReading::Wall),
            count: self.count.or_else(|| role.map(|role| role.count)).unwrap_or(true),
            empty_command: self
                .empty_command
                .or_else(|| role.filter(|_| same_start).and_then(|role| role.empty_command.clone())),
            command: self.command.or_else(|| role.map(|role| role.command.clone())).unwrap_or_default(),
        }
    }
}

fn read_units(reader: &mut TomlReader, table: &TomlTable) -> Option<Units> {
    let fixed = reader.read(table, "units", convert::whole(1..=1_000_000_000_000));
    let pattern = reader.read(table, "units_pattern", expression);
    if table.has("units") && table.has("units_pattern") {
        let path = table.path_of("units_pattern");
        reader.complain(&path, format!("`{path}` and `units` cannot be used together")).expected =
            Some("one of them".into());
    }
    fixed.map(|units| Units::Fixed(units as u64)).or_else(|| pattern.map(Units::Pattern))
}

/// A regular expression with a group `value`.
fn expression(value: &Value) -> Result<String, WrongValue> {
    let text = with_value(&convert::text(value)?);
    match Pattern::new(&text) {
        Ok(_) => Ok(text),
        Err(error) => Err(WrongValue::Because(format!("cannot be used: {error}"))),
    }
}

/// The expression with its only group named `value`, where it has one group and no name for it.
fn with_value(expression: &str) -> String {
    let Ok(known) = regex::Regex::new(expression) else { return expression.to_owned() };
    let unnamed = known.captures_len() == 2 && known.capture_names().flatten().next().is_none();
    let Some(at) = group_at(expression).filter(|_| unnamed) else { return expression.to_owned() };
    format!("{}?<value>{}", &expression[..at], &expression[at..])
}

/// Behind the first parenthesis that opens a group without a mark of its own.
fn group_at(expression: &str) -> Option<usize> {
    let (mut escaped, mut in_class) = (false, false);
    for (at, letter) in expression.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class && !expression[at + 1..].starts_with('?') => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn read_figure(reader: &mut TomlReader, table: &TomlTable) -> Option<TimeReading> {
    let item = table.item("figure")?;
    let Some(items) = item.as_table_like() else {
        let is_cpu = reader.read(table, "figure", convert::choice(&[("wall", false), ("cpu", true)]));
        return is_cpu.map(|is_cpu| if is_cpu { TimeReading::Cpu } else { TimeReading::Wall });
    };
    read_pattern(reader, &table.path_of("figure"), items)
}

fn read_pattern(reader: &mut TomlReader, path: &str, items: &dyn TableLike) -> Option<TimeReading> {
    let figure = TomlTable::new(path, Some(items), &[schema::FIGURE]);
    reader.unknown_keys(&figure);
    if !figure.has("pattern") {
        reader.missing(&figure, "pattern");
    }
    let per_unit = reader.read(&figure, "per", convert::choice(&[("command", false), ("unit", true)]));
    let pattern = reader.read(&figure, "pattern", expression)?;
    Some(TimeReading::Pattern { pattern, per_unit: per_unit.unwrap_or(false) })
}

/// `flags = "-O2 -g"` or `flags = ["-O2", "-g"]`.
pub(super) fn read_flags(reader: &mut TomlReader, table: &TomlTable) -> String {
    let is_list = table.item("flags").is_some_and(|item| item.as_array().is_some());
    if is_list {
        return reader.list(table, "flags", convert::line).unwrap_or_default().join(" ");
    }
    let text = |value: &Value| value.as_str().map(str::to_owned).ok_or(WrongValue::Type);
    reader.read(table, "flags", text).unwrap_or_default()
}
