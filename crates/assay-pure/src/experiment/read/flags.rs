//! The flags axis: `flags = [...]` for one set, `[flags]` for several.

use toml_edit::{Item, TableLike};

use super::entries::{self, Element};
use super::reader::{TomlReader, TomlTable, WrongValue};
use super::{convert, schema};
use crate::experiment::spec::{FlagSet, OwnBuild, Program};

/// A set before its flags have been judged.
struct FlagSetEntry {
    path: String,
    set: FlagSet,
}

/// All flag sets. The program's own flags come before those of each set; a build of its own needs none.
pub(super) fn read(reader: &mut TomlReader, top: &TomlTable, program: &Program) -> Vec<FlagSet> {
    let before = reader.problems.len();
    let sets = match top.item("flags") {
        None => vec![FlagSetEntry { path: "flags".into(), set: usual(program) }],
        Some(item) => match item.as_table_like() {
            Some(items) => read_table(reader, items),
            None => read_list(reader, top, item),
        },
    };
    let allowed = reader.read(top, "allow_unoptimised", convert::truth).unwrap_or(false);
    if reader.problems.len() > before {
        return Vec::new();
    }
    if sets.is_empty() {
        reader.complain_of(top, "flags", "`flags` has no flag set");
    }
    let judged = sets.into_iter().map(|FlagSetEntry { path, mut set }| {
        set.allow_unoptimised |= allowed;
        // Its own build decides over optimisation; what came of it is seen in the code.
        match &program.build {
            None => refuse_unoptimised(reader, &path, &set, &program.flags),
            Some(OwnBuild::Zig { .. } | OwnBuild::ZigBuild { .. }) => {
                refuse_debug(reader, &path, &set, &program.flags);
            }
            Some(OwnBuild::Cargo { profile, .. }) if ["dev", "test"].contains(&profile.as_str()) => {
                refuse_development(reader, &set, &program.flags, profile);
            }
            Some(_) => {}
        }
        set
    });
    judged.collect()
}

/// The set of a file that names none.
fn usual(program: &Program) -> FlagSet {
    match &program.build {
        None => named("O2", vec!["-O2".into()]),
        Some(OwnBuild::Cargo { profile, .. }) => named(profile, Vec::new()),
        Some(OwnBuild::Cmake { .. }) => named("Release", Vec::new()),
        Some(OwnBuild::Zig { .. }) => named("ReleaseFast", vec!["-OReleaseFast".into()]),
        Some(OwnBuild::ZigBuild { .. }) => named("ReleaseFast", Vec::new()),
        Some(OwnBuild::Command { .. }) => named("default", Vec::new()),
    }
}

fn named(name: &str, flags: Vec<String>) -> FlagSet {
    FlagSet { name: name.to_owned(), flags, allow_unoptimised: false }
}

/// `[flags]`: a list or a table for each name; `allow_unoptimised` among them speaks for all.
fn read_table(reader: &mut TomlReader, items: &dyn TableLike) -> Vec<FlagSetEntry> {
    let flags = TomlTable::new("flags", Some(items), &[schema::FLAG_SET]);
    let allowed = reader.read(&flags, "allow_unoptimised", convert::truth).unwrap_or(false);
    let mut sets = Vec::new();
    for (name, item) in items.iter().filter(|&(name, _)| name != "allow_unoptimised") {
        let path = format!("flags.{name}");
        if !convert::is_name(name) {
            let message = format!("\"{name}\" {}", convert::not_a_name(name));
            reader.complain_of_key(&path, message).example =
                Some(format!("{} = [\"-O2\"]", convert::to_name(name)));
        }
        let mut set = match item.as_table_like() {
            Some(items) => {
                let table = TomlTable::new(&path, Some(items), &[&schema::FLAG_SET[1..]]);
                read_long(reader, &table, name.to_owned())
            }
            None => named(name, read_short(reader, name, item)),
        };
        set.allow_unoptimised |= allowed;
        sets.push(FlagSetEntry { path, set });
    }
    sets
}

/// `NAME = ["-O2"]` in `[flags]`.
fn read_short(reader: &mut TomlReader, name: &str, item: &Item) -> Vec<String> {
    let path = format!("flags.{name}");
    let mut flags = Vec::new();
    let mut refuse = |path: &str, wrong: WrongValue, item: &Item| {
        let problem = reader.complain(path, wrong.sentence(path, item));
        problem.expected = Some("a list of compiler flags, each a separate string".into());
        problem.example = Some(format!("{name} = [\"-O2\", \"-march=native\"]"));
    };
    let Some(values) = item.as_array() else {
        refuse(&path, WrongValue::Type, item);
        return flags;
    };
    for (index, value) in values.iter().enumerate() {
        match convert::argument(value) {
            Ok(flag) => flags.push(flag),
            Err(wrong) => refuse(&format!("{path}[{index}]"), wrong, &Item::Value(value.clone())),
        }
    }
    flags
}

/// A set with keys of its own.
fn read_long(reader: &mut TomlReader, table: &TomlTable, name: String) -> FlagSet {
    reader.unknown_keys(table);
    if !table.has("flags") {
        reader.missing(table, "flags");
    }
    FlagSet {
        name,
        flags: reader.list(table, "flags", convert::argument).unwrap_or_default(),
        allow_unoptimised: reader.read(table, "allow_unoptimised", convert::truth).unwrap_or(false),
    }
}

/// `flags = ["-O2"]`, one set; or `[[flags]]`, one per table.
fn read_list(reader: &mut TomlReader, top: &TomlTable, item: &Item) -> Vec<FlagSetEntry> {
    let elements = entries::elements(item).unwrap_or_default();
    if !elements.iter().any(|element| matches!(element, Element::Table(_))) {
        let flags = reader.list(top, "flags", convert::argument).unwrap_or_default();
        return vec![FlagSetEntry { path: "flags".into(), set: named(&name_of(&flags), flags) }];
    }
    let entries = entries::entries(reader, top, "flags", schema::FLAG_SET, false);
    let sets = entries.into_iter().filter_map(|entry| {
        let table = TomlTable::new(&entry.path, Some(entry.items?), &[schema::FLAG_SET]);
        let set = read_long(reader, &table, entry.name.unwrap_or_default());
        Some(FlagSetEntry { path: entry.path, set })
    });
    sets.collect()
}

/// The name of a set that has none: its flags without their dashes, "O2+march:native".
fn name_of(flags: &[String]) -> String {
    let words: Vec<String> =
        flags.iter().map(|flag| flag.trim_start_matches('-').replace('=', ":")).collect();
    if words.is_empty() { "none".into() } else { convert::to_name(&words.join("+")) }
}

/// Notes a set that builds unoptimised code, unless that is what is asked about.
fn refuse_unoptimised(reader: &mut TomlReader, path: &str, set: &FlagSet, common: &[String]) {
    // The last one counts, as it does for gcc and clang.
    let level = common.iter().chain(&set.flags).rfind(|flag| is_level(flag));
    let reason = match level.map(String::as_str) {
        None => "has no -O flag",
        Some("-O0") => "ends with -O0",
        Some(_) => return,
    };
    // Where the program's own flags could not be read, they may hold the level.
    let unread = reader.problems.iter().any(|problem| problem.key.starts_with("program.flags"));
    if set.allow_unoptimised || unread {
        return;
    }
    let problem =
        reader.complain(path, format!("flag set `{}` {reason}: its code would be unoptimised", set.name));
    problem.expected = Some(
        "an optimisation level such as -O2, because timings of unoptimised code say nothing about the code in \
         use; or allow_unoptimised = true to measure unoptimised code on purpose"
            .into(),
    );
    problem.example = Some("[flags]\nO0 = { flags = [\"-O0\"], allow_unoptimised = true }".into());
}

/// Notes a profile of cargo that does not optimise, unless that is what is asked about.
fn refuse_development(reader: &mut TomlReader, set: &FlagSet, common: &[String], profile: &str) {
    if set.allow_unoptimised || common.iter().chain(&set.flags).any(|flag| flag.contains("opt-level=")) {
        return;
    }
    let message = format!("cargo's profile `{profile}` does not optimise");
    let problem = reader.complain("program.profile", message);
    problem.expected = Some(
        "a profile such as \"release\", because timings of unoptimised code say nothing about the code in use; or \
         allow_unoptimised = true to measure unoptimised code on purpose"
            .into(),
    );
    problem.example = Some("profile = \"release\"".into());
}

/// Notes a set of zig's mode Debug, unless that is what is asked about.
fn refuse_debug(reader: &mut TomlReader, path: &str, set: &FlagSet, common: &[String]) {
    let modes = zig_modes(common.iter().chain(&set.flags));
    if set.allow_unoptimised || modes.last().is_none_or(|mode| *mode != "Debug") {
        return;
    }
    let problem = reader
        .complain(path, format!("flag set `{}` is zig's mode Debug, which does not optimise", set.name));
    problem.expected = Some(
        "-OReleaseFast, -OReleaseSafe or -OReleaseSmall, because timings of unoptimised code say nothing about the code in \
         use; or allow_unoptimised = true to measure unoptimised code on purpose"
            .into(),
    );
    problem.example = Some("[flags]\nDebug = { flags = [\"-ODebug\"], allow_unoptimised = true }".into());
}

/// The optimisation modes that flags name, in their order: "-ODebug", "-O Debug", "-Doptimize=Debug".
fn zig_modes<'a>(flags: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut words = flags.flat_map(|flag| flag.split_whitespace());
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        let mode = word.strip_prefix("-Doptimize=").or_else(|| word.strip_prefix("-O"));
        found.extend(mode.map(|mode| if mode.is_empty() { words.next().unwrap_or_default() } else { mode }));
    }
    found
}

/// Whether a flag sets the optimisation level: -O, -O2, -Os, -Ofast, but not an object file (-o).
fn is_level(flag: &str) -> bool {
    flag.starts_with("-O")
}
