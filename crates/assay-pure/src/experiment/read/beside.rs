//! Inputs beside inputs: `with`, and the table that keys are looked up in.

use toml_edit::{Item, TableLike, Value};

use super::convert;
use super::entries::{ListEntry, one_of};
use super::input::too_large;
use super::reader::{TomlReader, TomlTable, WrongValue};
use super::schema;
use crate::experiment::spec::{InputSource, InputSpec, SecondInput};
use crate::inputs::{Format, keys};

/// What the program calls the table of keys.
const TABLE: &str = "table";

/// The second inputs that an entry wants: the path in the file, the program's name, the input's.
fn wanted(entry: &ListEntry) -> Vec<(String, String, String)> {
    let Some(items) = entry.items else { return Vec::new() };
    let mut found = Vec::new();
    if let Some(with) = items.get("with").and_then(Item::as_table_like) {
        for (name, item) in with.iter() {
            if let Some(input) = item.as_str() {
                found.push((format!("{}.with.{name}", entry.path), name.to_owned(), input.to_owned()));
            }
        }
    }
    if let Some(input) = table_of_keys(items) {
        found.push((format!("{}.{TABLE}", entry.path), TABLE.to_owned(), input.to_owned()));
    }
    found
}

fn table_of_keys(items: &dyn TableLike) -> Option<&str> {
    let is_keys = items.get("generator").and_then(Item::as_str) == Some(schema::KEYS.0);
    items.get(TABLE).filter(|_| is_keys).and_then(Item::as_str)
}

/// The inputs that stand beside others.
pub(super) fn names(entries: &[ListEntry]) -> Vec<String> {
    entries.iter().flat_map(wanted).map(|(_, _, input)| input).collect()
}

/// Keys, whose table is not known yet; `None` if something is wrong, which is noted.
pub(super) fn read_keys(reader: &mut TomlReader, table: &TomlTable, units: u64) -> Option<InputSource> {
    if !table.has(TABLE) {
        reader.missing(table, TABLE);
    }
    let name = reader.read(table, TABLE, convert::name);
    let before = reader.problems.len();
    let share = convert::fraction(|share| (0.0..=1.0).contains(&share));
    let hit_rate = reader.read(table, "hit_rate", share).unwrap_or(0.5);
    let exponent = reader.read(table, "exponent", convert::number_from(0.0, 10.0)).unwrap_or(0.0);
    let seed = reader.read(table, "seed", convert::whole_64).unwrap_or(1);
    name.filter(|_| reader.problems.len() == before)?;
    let table = Box::new(InputSource::Empty);
    Some(InputSource::Keys { table, format: Format::Bytes, hit_rate, exponent, units, seed })
}

/// Gives each input what stands beside it. An input whose second one is missing or wrong is left out, which is noted.
pub(super) fn resolve(
    reader: &mut TomlReader,
    entries: &[ListEntry],
    inputs: Vec<Option<InputSpec>>,
) -> Vec<Option<InputSpec>> {
    entries.iter().for_each(|entry| check_form(reader, entry));
    let known = inputs.clone();
    let resolved = entries.iter().zip(inputs).map(|(entry, input)| {
        let mut input = input?;
        for (path, name, second) in wanted(entry) {
            let found = known.iter().flatten().find(|known| known.name == second);
            let Some(found) = found else {
                // An input that is there but wrong has been noted.
                if entries.iter().all(|entry| entry.name.as_ref() != Some(&second)) {
                    unknown(reader, entries, &path, &second);
                }
                return None;
            };
            let is_plain = !matches!(found.source, InputSource::Keys { .. } | InputSource::Settings { .. });
            if !is_plain || found.name == input.name || !convert::is_name(&name) {
                let problem = reader.complain(
                    &path,
                    format!("`{path}`: \"{second}\" cannot stand beside \"{}\"", input.name),
                );
                problem.expected =
                    Some("another input that is generated, recorded or made by a command".into());
                return None;
            }
            if let InputSource::Keys { table, format, units, .. } = &mut input.source
                && path.ends_with(".table")
                && !path.contains(".with.")
            {
                if !matches!(found.format, Format::Numbers(_) | Format::Records(_)) {
                    let message = format!("`{path}`: \"{second}\" is {}", found.format.word());
                    let problem = reader.complain(&path, message);
                    problem.expected =
                        Some("an input of numbers or records, whose units are the keys".into());
                    return None;
                }
                let unit_bytes = keys::unit_bytes(found.format).map_or(1, |size| size as u128);
                if let Some(why) = too_large(*units, u128::from(*units) * unit_bytes) {
                    let path = format!("{}.units", entry.path);
                    reader.complain(&path, format!("`{path}`: {why}"));
                    return None;
                }
                **table = found.source.clone();
                *format = found.format;
                input.format = found.format;
            }
            let (source, format) = (found.source.clone(), found.format);
            input.with.push(SecondInput { name, input: second, source, format });
        }
        Some(input)
    });
    resolved.collect()
}

fn unknown(reader: &mut TomlReader, entries: &[ListEntry], path: &str, second: &str) {
    let names = || entries.iter().filter_map(|entry| entry.name.as_deref());
    let near = reader.nearest(second, names());
    let expected = one_of(names());
    let problem = reader.complain(path, format!("`{path}` names an unknown input: \"{second}\""));
    problem.nearest = near;
    problem.expected = Some(expected);
}

/// Notes a `with` that is no table of texts.
fn check_form(reader: &mut TomlReader, entry: &ListEntry) {
    let Some(item) = entry.items.and_then(|items| items.get("with")) else { return };
    let is_text = |item: &Item| matches!(item.as_value(), Some(Value::String(_)));
    let good = item
        .as_table_like()
        .is_some_and(|table| !table.is_empty() && table.iter().all(|(_, item)| is_text(item)));
    if !good {
        let table = TomlTable::new(&entry.path, entry.items, &[schema::BESIDE]);
        let path = table.path_of("with");
        reader.complain_of(
            &table,
            "with",
            WrongValue::Because("must name inputs".into()).sentence(&path, item),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;
    use crate::experiment::spec::InputSource;
    use crate::inputs::keys::hit_share;

    const HEAD: &str =
        "question = \"q\"\nbaseline = \"a\"\nvariants = [\"a\", \"b\"]\n[program]\nsources = [\"x.c\"]\n";
    const TABLE: &str = "[inputs.known]\ngenerator = \"uniform\"\nformat = \"u64\"\nunits = 500\n";

    fn read(inputs: &str) -> Result<Experiment, String> {
        let read = Experiment::from_toml(&format!("{HEAD}{inputs}\n"), "x/x.toml");
        read.map(|parsed| parsed.experiment)
            .map_err(|problems| problems.iter().map(|problem| format!("{problem}\n")).collect())
    }

    #[test]
    fn keys_come_with_their_table_which_is_not_measured_by_itself() {
        let keys =
            "[inputs.probes]\ngenerator = \"keys\"\ntable = \"known\"\nhit_rate = \"75 %\"\nunits = 20_000\n";
        let inputs = read(&format!("{keys}{TABLE}")).expect("a good file").inputs;
        assert_eq!(inputs.len(), 1);
        let (probes, table) = (&inputs[0], &inputs[0].with[0]);
        assert_eq!(
            (table.name.as_str(), table.input.as_str(), probes.format.word()),
            ("table", "known", "u64".to_owned())
        );
        let (bytes, table) = (probes.source.bytes().expect("made"), table.source.bytes().expect("made"));
        assert_eq!((bytes.len(), table.len()), (160_000, 4000));
        // Five standard errors.
        assert!((hit_share(&bytes, &table, probes.format).unwrap() - 0.75).abs() < 0.016);
        let kept = serde_json::to_value(&probes.source).expect("plain data");
        assert_eq!(serde_json::from_value::<InputSource>(kept).expect("readable"), probes.source);
    }

    #[test]
    fn any_input_may_stand_beside_another_under_a_name() {
        let inputs = format!(
            "[inputs.text]\npath = \"x.txt\"\nformat = \"lines\"\nwith = {{ rules = \"known\", more = \"known\" }}\n{TABLE}"
        );
        let inputs = read(&inputs).expect("a good file").inputs;
        let names: Vec<&str> = inputs[0].with.iter().map(|second| second.name.as_str()).collect();
        assert_eq!((inputs.len(), names), (1, vec!["rules", "more"]));
    }

    #[test]
    fn what_cannot_stand_beside_an_input_is_refused() {
        let keys = "[inputs.x]\ngenerator = \"keys\"\n";
        for (inputs, part) in [
            (format!("{keys}table = \"knwon\"\n{TABLE}"), "nearest:  `known`"),
            (format!("{keys}{TABLE}"), "`inputs.x.table` is missing"),
            (format!("{keys}table = \"x\"\n{TABLE}"), "cannot stand beside"),
            (format!("{keys}table = \"known\"\nhit_rate = 2\n{TABLE}"), "out of range"),
            (format!("{keys}table = \"text\"\n[inputs.text]\ngenerator = \"text\"\n"), "is lines"),
            (format!("[inputs.x]\npath = \"x\"\nwith = 3\n{TABLE}"), "must name inputs"),
        ] {
            let said = read(&inputs).expect_err(part);
            assert!(said.contains(part), "{said}");
        }
    }
}
