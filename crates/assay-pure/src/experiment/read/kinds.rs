//! The parameters of the kinds of generated inputs, read as their table says.

use super::convert;
use super::reader::{TomlReader, TomlTable};
use crate::inputs::Format;
use crate::inputs::kinds::{Argument, ArgumentError, Domain, InputRecipe, Kind, Parameter, Preset, kinds};
use crate::words;

/// The recipe of a kind for so many units; `None` if a parameter is missing or wrong, which is noted.
pub(super) fn read(
    reader: &mut TomlReader,
    table: &TomlTable,
    kind: &'static Kind,
    units: u64,
) -> Option<InputRecipe> {
    let before = reader.problems.len();
    let format = reader.read(table, "format", convert::format).unwrap_or(kind.formats[0]);
    // A wrong word is noted once, by whoever reads the format of all inputs.
    reader.problems.truncate(before);
    if !kind.formats.contains(&format) {
        refuse_format(reader, table, kind, format);
        return None;
    }
    let recipe = InputRecipe::new(kind, format, |parameter| read_one(reader, table, parameter));
    if reader.problems.len() > before {
        return None;
    }
    let checked = recipe.and_then(|recipe| recipe.check(units).map(|()| recipe));
    checked.map_err(|error| complain(reader, table, &error)).ok()
}

fn read_one(reader: &mut TomlReader, table: &TomlTable, parameter: &Parameter) -> Option<Argument> {
    let name = parameter.name;
    if !table.has(name) && matches!(parameter.preset, Preset::Required) {
        reader.missing(table, name);
    }
    match parameter.domain {
        Domain::Whole(min, max) => {
            reader.read(table, name, convert::wide_whole(min, max)).map(Argument::Whole)
        }
        Domain::Value => {
            let wide = convert::wide_whole(i128::from(i64::MIN), i128::from(u64::MAX));
            reader.read(table, name, wide).map(Argument::Whole)
        }
        Domain::Number(min, max) => {
            reader.read(table, name, convert::number_from(min, max)).map(Argument::Number)
        }
        Domain::Share => {
            let share = convert::fraction(|share| (0.0..=1.0).contains(&share));
            reader.read(table, name, share).map(Argument::Number)
        }
    }
}

/// Values that do not go together, at the one to change where the file has it.
fn complain(reader: &mut TomlReader, table: &TomlTable, error: &ArgumentError) {
    let at = if table.has(error.parameter) { error.parameter } else { "generator" };
    let path = table.path_of(at);
    reader.complain(&path, format!("`{path}`: {}", error.message)).expected = (at == "generator")
        .then(|| format!("another `{}`, or values that go with its default", error.parameter));
}

/// A format that the kind does not make, and the kinds that make it.
fn refuse_format(reader: &mut TomlReader, table: &TomlTable, kind: &Kind, format: Format) {
    let path = table.path_of("format");
    let makes: Vec<String> = kind.formats.iter().map(|format| format!("\"{}\"", format.word())).collect();
    let others: Vec<&str> =
        kinds().filter(|kind| kind.formats.contains(&format)).map(|kind| kind.name).collect();
    let message = format!("`{path}`: the generator \"{}\" makes no {}", kind.name, format.word());
    let problem = reader.complain(&path, message);
    problem.expected = Some(match others.as_slice() {
        [] => words::list(&makes),
        others => {
            format!("{}; or for {} a generator of {}", words::list(&makes), format.word(), others.join(", "))
        }
    });
}

#[cfg(test)]
mod tests;
