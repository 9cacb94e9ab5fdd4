//! `[program]` and `[placement]`.

mod zig;

use super::entries::refuse_repeats;
use super::reader::{TomlReader, TomlTable, WrongValue};
use super::{convert, schema};
use crate::experiment::spec::{CargoTarget, OwnBuild, PlacementSpec, Program};
use crate::words::list_or;

/// Bytes of a cache line: paddings repeat their effect after so many.
const LINE_BYTES: i64 = 64;
const MOST_ROTATIONS: i64 = 1000;
const ROTATIONS: u32 = 8;
const MAX_ROTATIONS: u32 = 32;

/// A table of the file by its key; one without content if it is missing or no table, which is noted.
pub(super) fn table<'a>(
    reader: &mut TomlReader,
    top: &TomlTable<'a>,
    name: &str,
    keys: &'static [schema::SchemaKey],
) -> TomlTable<'a> {
    let item = top.item(name);
    let items = item.and_then(|item| item.as_table_like());
    if let (Some(item), None) = (item, items) {
        reader.complain_of(top, name, WrongValue::Type.sentence(name, item));
    }
    let table = TomlTable::new(name, items, &[keys]);
    reader.unknown_keys(&table);
    table
}

pub(super) fn read(reader: &mut TomlReader, top: &TomlTable) -> Program {
    let program = table(reader, top, "program", schema::PROGRAM);
    let ways: Vec<&str> = WAYS.iter().map(|(way, _)| *way).filter(|way| program.has(way)).collect();
    if program.items.is_some() && ways.is_empty() {
        reader.missing(&program, "sources");
        if let Some(problem) = reader.problems.last_mut() {
            problem.expected =
                Some("a list of source files; or `zig`, `cargo`, `cmake` or `build`, for programs built in another way"
                        .into());
        }
    }
    if let [first, second, ..] = ways[..] {
        let message =
            format!("`program.{second}` stands beside `program.{first}`: a program is built in one way");
        reader.complain_of(&program, second, message);
    }
    let build = own_build(reader, &program, ways.first().copied().unwrap_or("sources"));
    let sources = reader.list(&program, "sources", convert::line);
    if sources.as_ref().is_some_and(Vec::is_empty) {
        reader.complain_of(&program, "sources", "`program.sources` is empty");
    }
    let sources = sources.unwrap_or_default();
    refuse_repeats(reader, "program.sources", &sources);
    Program {
        sources,
        build,
        include_dirs: reader.list(&program, "include_dirs", convert::line).unwrap_or_default(),
        flags: reader.list(&program, "flags", convert::argument).unwrap_or_default(),
        link_flags: reader.list(&program, "link_flags", convert::argument).unwrap_or_default(),
    }
}

/// The ways in which a program is built, each with the keys that belong to it alone.
pub(super) const WAYS: [(&str, &[&str]); 5] = [
    ("sources", &["include_dirs", "link_flags"]),
    ("zig", &["bin"]),
    ("cargo", &["bin", "bench", "example", "features", "profile"]),
    ("cmake", &["target"]),
    ("build", &["binary"]),
];

/// The build of the user's own, if the program is built in such a way.
fn own_build(reader: &mut TomlReader, program: &TomlTable, way: &str) -> Option<OwnBuild> {
    foreign_keys(reader, program, way);
    let line = |reader: &mut TomlReader, key: &str| {
        if !program.has(key) {
            reader.missing(program, key);
        }
        reader.read(program, key, convert::line).unwrap_or_default()
    };
    match way {
        "cargo" => {
            let target = cargo_target(reader, program);
            let usual = if matches!(target, CargoTarget::Bench(_)) { "bench" } else { "release" };
            Some(OwnBuild::Cargo {
                manifest: line(reader, "cargo"),
                target,
                features: reader.list(program, "features", convert::line).unwrap_or_default(),
                profile: reader.read(program, "profile", convert::line).unwrap_or_else(|| usual.into()),
            })
        }
        "zig" => zig::read(reader, program),
        "cmake" => Some(OwnBuild::Cmake { folder: line(reader, "cmake"), target: line(reader, "target") }),
        "build" => Some(OwnBuild::Command { command: line(reader, "build"), binary: line(reader, "binary") }),
        _ => None,
    }
}

/// Notes keys that belong to other ways only.
fn foreign_keys(reader: &mut TomlReader, program: &TomlTable, way: &str) {
    let own = WAYS.iter().find(|(name, _)| *name == way).map_or(&[][..], |(_, keys)| *keys);
    let mut others: Vec<&str> = WAYS.iter().flat_map(|(_, keys)| *keys).copied().collect();
    others.dedup();
    for key in schema::PROGRAM.iter().map(|key| key.name).filter(|key| others.contains(key)) {
        if program.has(key) && !own.contains(&key) {
            let owners = WAYS.iter().filter(|(_, keys)| keys.contains(&key));
            let owners: Vec<String> = owners.map(|(way, _)| format!("`program.{way}`")).collect();
            let message = format!("`program.{key}` goes with {} only", list_or(&owners));
            reader.complain_of(program, key, message);
        }
    }
}

fn cargo_target(reader: &mut TomlReader, program: &TomlTable) -> CargoTarget {
    type Named = fn(String) -> CargoTarget;
    let kinds: [(&str, Named); 3] =
        [("bin", CargoTarget::Bin), ("bench", CargoTarget::Bench), ("example", CargoTarget::Example)];
    let mut found = CargoTarget::OnlyBin;
    for (key, named) in kinds.into_iter().filter(|(key, _)| program.has(key)) {
        if found != CargoTarget::OnlyBin {
            reader.complain_of(program, key, "`program` names more than one of `bin`, `bench` and `example`");
        }
        found = reader.read(program, key, convert::line).map_or(found, named);
    }
    found
}

pub(super) fn read_placement(reader: &mut TomlReader, top: &TomlTable) -> PlacementSpec {
    let placement = table(reader, top, "placement", schema::PLACEMENT);
    let count = convert::whole(1..=MOST_ROTATIONS);
    let rotations = reader.read(&placement, "rotations", &count).map_or(ROTATIONS, |n| n as u32);
    let max_rotations = reader.read(&placement, "max_rotations", &count).map(|n| n as u32);
    if let Some(most) = max_rotations.filter(|&most| most < rotations) {
        let message = format!("`placement.max_rotations` is {most}, below `rotations`, which is {rotations}");
        reader.complain_of(&placement, "max_rotations", message);
    }
    PlacementSpec {
        rotations,
        // Who asks for more to start with than the default maximum has not asked for a contradiction.
        max_rotations: max_rotations.unwrap_or(MAX_ROTATIONS.max(rotations)),
        phases: read_phases(reader, &placement),
    }
}

fn read_phases(reader: &mut TomlReader, placement: &TomlTable) -> Vec<u32> {
    let phases =
        reader.list(placement, "phases", |value| convert::whole(0..=LINE_BYTES - 1)(value).map(|n| n as u32));
    let Some(phases) = phases else {
        return vec![0, 16, 32, 48];
    };
    if phases.is_empty() {
        reader.complain_of(placement, "phases", "`placement.phases` is empty");
    }
    refuse_repeats(reader, "placement.phases", &phases);
    phases
}
