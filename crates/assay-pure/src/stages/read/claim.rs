//! `[[claims]]` of a diary.

use super::ReadRoles;
use super::schema;
use crate::experiment::read::convert;
use crate::experiment::read::entries::{self, Element};
use crate::experiment::read::reader::{TomlReader, TomlTable, WrongValue};
use crate::stages::claims::{ComparedWith, DiaryClaim, Direction};
use crate::stages::file::Entrant;
use crate::stages::quantity::Quantity;
use toml_edit::TableLike;

const OF: &[(&str, Quantity)] = &[
    ("branches", Quantity::Branches),
    ("misses", Quantity::Misses),
    ("miss_rate", Quantity::MissRate),
    ("instructions", Quantity::Instructions),
    ("time", Quantity::Time),
    ("size", Quantity::Size),
];
const SAYS: &[(&str, Direction)] = &[
    ("fewer", Direction::Less),
    ("less", Direction::Less),
    ("faster", Direction::Less),
    ("smaller", Direction::Less),
    ("more", Direction::More),
    ("slower", Direction::More),
    ("larger", Direction::More),
    ("same", Direction::Same),
    ("equivalent", Direction::Same),
];

pub(super) fn read(
    reader: &mut TomlReader,
    top: &TomlTable,
    entrants: &[Entrant],
    roles: &ReadRoles<'_>,
) -> Vec<DiaryClaim> {
    let Some(item) = top.item("claims") else { return Vec::new() };
    let Some(elements) = entries::elements(item) else {
        reader.complain_of(top, "claims", WrongValue::Type.sentence("claims", item));
        return Vec::new();
    };
    let mut claims = Vec::new();
    for (index, element) in elements.into_iter().enumerate() {
        let path = format!("claims[{index}]");
        match element {
            Element::Table(items) => claims.push(read_claim(reader, &path, items, entrants, roles)),
            Element::Value(_) => {
                reader.complain(&path, format!("`{path}` is not a table")).example =
                    Some(top.example_of("claims"));
            }
        }
    }
    claims
}

fn read_claim(
    reader: &mut TomlReader,
    path: &str,
    items: &dyn TableLike,
    entrants: &[Entrant],
    roles: &ReadRoles<'_>,
) -> DiaryClaim {
    let table = TomlTable::new(path, Some(items), &[schema::CLAIM]);
    reader.unknown_keys(&table);
    if !table.has("text") {
        reader.missing(&table, "text");
    }
    let stage = reader.read(&table, "stage", convert::text);
    let stage = stage.and_then(|name| entrant(reader, &table, "stage", &name, entrants));
    let role = reader.read(&table, "role", convert::text).and_then(|name| {
        roles.names.check(reader, &table.path_of("role"), &name);
        roles.number(&name)
    });
    let against = match reader.read(&table, "against", convert::text).as_deref() {
        None | Some("before") => ComparedWith::Before,
        Some("first") => ComparedWith::First,
        Some(name) => entrant(reader, &table, "against", name, entrants)
            .map_or(ComparedWith::Before, ComparedWith::Entrant),
    };
    let claim = numbers(reader, &table);
    let of = reader.read(&table, "of", convert::choice(OF));
    let says = reader.read(&table, "says", convert::choice(SAYS));
    let claim = DiaryClaim { stage, role, against, of, says, ..claim };
    check_statement(reader, &table);
    claim
}

fn numbers(reader: &mut TomlReader, table: &TomlTable) -> DiaryClaim {
    let any = convert::fraction(|_| true);
    let from_0 = convert::fraction(|number| number >= 0.0);
    let above_0 = convert::number(|number| number > 0.0);
    let per = reader.read(table, "per", convert::choice(&[("total", false), ("unit", true)]));
    DiaryClaim {
        text: reader.read(table, "text", convert::text).unwrap_or_default(),
        source: reader.read(table, "source", convert::text),
        ratio: reader.read(table, "ratio", &above_0),
        change: reader.read(table, "change", &any),
        value: reader.read(table, "value", &from_0),
        per_unit: per.unwrap_or(false),
        tolerance: reader.read(table, "tolerance", &from_0),
        before: reader.read(table, "before", &above_0),
        after: reader.read(table, "after", &from_0),
        part: reader.read(table, "part", &from_0),
        whole: reader.read(table, "whole", &from_0),
        share: reader.read(table, "share", &any),
        ..DiaryClaim::default()
    }
}

fn entrant(
    reader: &mut TomlReader,
    table: &TomlTable,
    key: &str,
    name: &str,
    entrants: &[Entrant],
) -> Option<usize> {
    let found =
        entrants.iter().position(|entrant| entrant.name == name && (key != "stage" || entrant.is_stage()));
    if found.is_none() {
        let path = table.path_of(key);
        let near = reader.nearest(name, entrants.iter().map(|entrant| entrant.name.as_str()));
        let problem = reader.complain_of(
            table,
            key,
            format!("`{path}` is not a stage or reference of this diary: \"{name}\""),
        );
        problem.nearest = near;
    }
    found
}

/// Notes a claim of which nothing can be checked.
fn check_statement(reader: &mut TomlReader, table: &TomlTable) {
    let measured = ["says", "ratio", "change", "value"].iter().any(|key| table.has(key));
    let pairs = [("before", "after"), ("part", "whole")];
    let own = pairs.iter().any(|(one, other)| table.has(one) && table.has(other)) || table.has("share");
    if !measured && !own {
        let problem =
            reader.complain(&table.path, format!("`{}` states nothing that can be checked", table.path));
        problem.expected = Some(
            "says, ratio, change or value; or its own numbers: before and after, part and whole, share"
                .into(),
        );
    }
    for (given, other) in pairs.iter().flat_map(|(one, other)| [(one, other), (other, one)]) {
        if table.has(given) && !table.has(other) {
            let message = format!("`{}` needs `{other}` too", table.path_of(given));
            reader.complain(&table.path_of(given), message).example = Some(table.example_of(other));
        }
    }
    if measured && !own {
        for needed in ["stage", "of"] {
            if !table.has(needed) {
                reader.missing(table, needed);
            }
        }
    }
}
