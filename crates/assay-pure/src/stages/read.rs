//! From the text of a STAGES.toml to a [`Diary`], or to all of its problems, in the way of experiment files.

mod claim;
mod placeholders;
mod schema;
mod task;
#[cfg(test)]
mod tests;

use self::placeholders::check_placeholders;
use super::file::{BuildRecipe, Component, Diary, Entrant, EntrantKind, Role, Task, Units};
use crate::experiment::Diagnostic;
use crate::experiment::read::entries::{self, ListEntry, Names};
use crate::experiment::read::reader::{TomlReader, TomlTable, WrongValue};
use crate::experiment::read::{convert, parse, schema::SchemaKey};
use crate::experiment::spans::Spans;
use crate::stats::margin::Margin;
use std::collections::BTreeMap;
use toml_edit::{TableLike, Value};

/// A diary, and where each of its keys stands in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedDiary {
    /// The diary.
    pub diary: Diary,
    /// The places of its keys.
    pub spans: Spans,
}

impl ParsedDiary {
    /// A complaint about a value that only the lab can check: a file that is not there, an unknown predictor.
    pub fn diagnostic(&self, key: &str, message: impl Into<String>) -> Diagnostic {
        let place = self.spans.locate(key).unwrap_or_else(|| self.spans.beginning());
        Diagnostic::new(self.spans.file(), place, key, message)
    }
}

impl Diary {
    /// Reads a STAGES.toml.
    ///
    /// Input: its text, and its path as the user named it.
    ///
    /// # Errors
    /// All problems of the file, in the order of their places; for a file that is not TOML, the first error of syntax.
    pub fn from_toml(text: &str, file: &str) -> Result<ParsedDiary, Vec<Diagnostic>> {
        let (document, spans) = parse(text, file)?;
        let mut reader = TomlReader::new(spans, home_of);
        let top = TomlTable::new("", Some(document.as_table()), &[schema::TOP]);
        let diary = read_top(&mut reader, &top);
        let (diary, spans) = reader.conclude(diary)?;
        Ok(ParsedDiary { diary, spans })
    }
}

/// Where a key belongs that stands under the wrong table.
fn home_of(path: &str, name: &str) -> Option<(&'static str, &'static SchemaKey)> {
    let homes: [(&str, &'static str, &[SchemaKey]); 4] = [
        ("diary", "belongs in [diary]", schema::DIARY),
        ("build", "belongs in [build]", schema::BUILD),
        ("build", "belongs in [build], or in a stage", schema::RECIPE),
        ("roles", "belongs in a role, [[roles]]", schema::TASK),
    ];
    let elsewhere = homes.into_iter().filter(|(home, ..)| !path.starts_with(home));
    let mut found =
        elsewhere.filter_map(|(_, home, keys)| Some((home, keys.iter().find(|key| key.name == name)?)));
    found.next()
}

/// The keys of a role, a stage, a reference.
const ROLE: &[&[SchemaKey]] = &[schema::ROLE, schema::TASK];
const STAGE: &[&[SchemaKey]] = &[schema::ENTRANT, schema::RECIPE, schema::STAGE];
const REFERENCE: &[&[SchemaKey]] = &[schema::ENTRANT, schema::RECIPE, schema::TASK, schema::REFERENCE];

/// The roles of a diary, as far as they could be read.
struct ReadRoles<'t> {
    entries: Vec<ListEntry<'t>>,
    /// What each does where nothing else is said.
    tasks: Vec<Option<Task>>,
    names: Names,
}

impl ReadRoles<'_> {
    fn number(&self, name: &str) -> Option<usize> {
        self.entries.iter().position(|entry| entry.name.as_deref() == Some(name))
    }
}

fn read_top(reader: &mut TomlReader, top: &TomlTable) -> Diary {
    reader.unknown_keys(top);
    for required in ["diary", "roles", "stages"] {
        if !top.has(required) {
            reader.missing(top, required);
        }
    }
    let base = BuildDefaults::read(reader, top);
    let entries = entries::entries(reader, top, "roles", schema::ROLE, false);
    let tasks = entries.iter().map(|role| read_role(reader, role)).collect();
    let roles = ReadRoles { names: Names::new("role", &entries), tasks, entries };
    let components = read_components(reader, top, "components");
    let mut entrants = read_stages(reader, top, &base, &roles);
    read_references(reader, top, &base, &roles, &mut entrants);
    let claims = claim::read(reader, top, &entrants, &roles);
    let roles = roles
        .entries
        .into_iter()
        .map(|role| Role { note: note_of(reader, &role), name: role.name.unwrap_or_default() });
    let roles = roles.collect();
    Diary { roles, components, entrants, claims, ..read_diary(reader, top) }
}

fn note_of(reader: &mut TomlReader, entry: &ListEntry) -> Option<String> {
    let table = TomlTable::new(&entry.path, entry.items, ROLE);
    reader.read(&table, "note", convert::text)
}

/// `[diary]`; what belongs elsewhere is left empty.
fn read_diary(reader: &mut TomlReader, top: &TomlTable) -> Diary {
    let table = sub_table(reader, top, "diary", &[schema::DIARY]);
    reader.unknown_keys(&table);
    if top.has("diary") && !table.has("name") {
        reader.missing(&table, "name");
    }
    let count = |range| move |value: &Value| convert::whole(range)(value).map(|number| number as u32);
    Diary {
        name: reader.read(&table, "name", convert::name).unwrap_or_default(),
        question: reader.read(&table, "question", convert::text).unwrap_or_default(),
        unit: reader.read(&table, "unit", convert::line).unwrap_or_else(|| "command".into()),
        minimum_effect: reader
            .read(&table, "minimum_effect", convert::fraction(|effect| (0.0..1.0).contains(&effect)))
            .map_or(Margin::of(0.02), Margin::of),
        confidence: reader
            .read(&table, "confidence", convert::fraction(|confidence| 0.0 < confidence && confidence < 1.0))
            .unwrap_or(0.95),
        budget_seconds: reader.read(&table, "budget", convert::seconds).unwrap_or(300.0),
        rotations: reader.read(&table, "rotations", count(3..=1000)),
        rounds: reader.read(&table, "rounds", count(1..=1000)),
        seed: reader.read(&table, "seed", convert::whole_64).unwrap_or(1),
        predictors: reader.list(&table, "predictors", convert::line).unwrap_or_default(),
        inputs: reader.list(&table, "inputs", convert::line).unwrap_or_default(),
        roles: Vec::new(),
        components: Vec::new(),
        entrants: Vec::new(),
        claims: Vec::new(),
    }
}

/// A table by its header; an empty one, noted, where something else stands under that name.
fn sub_table<'a>(
    reader: &mut TomlReader,
    top: &TomlTable<'a>,
    name: &str,
    keys: &[&'static [SchemaKey]],
) -> TomlTable<'a> {
    let path = top.path_of(name);
    let items = top.item(name).and_then(|item| {
        let found = item.as_table_like();
        if found.is_none() {
            reader.complain_of(top, name, WrongValue::Type.sentence(&path, item));
        }
        found
    });
    TomlTable::new(&path, items, keys)
}

/// What `[build]` says for all stages.
struct BuildDefaults {
    command: Option<String>,
    own: BuildTable,
}

/// What a table says of building, whoever's it is.
struct BuildTable {
    source: Option<String>,
    environment: Vec<(String, String)>,
    program: Option<String>,
    size: Option<String>,
}

impl BuildTable {
    fn read(reader: &mut TomlReader, table: &TomlTable) -> BuildTable {
        BuildTable {
            source: reader.read(table, "source", convert::line),
            environment: read_texts(reader, table, "env"),
            program: reader.read(table, "program", convert::line),
            size: reader.read(table, "size", convert::line),
        }
    }
}

impl BuildDefaults {
    fn read(reader: &mut TomlReader, top: &TomlTable) -> BuildDefaults {
        let table = sub_table(reader, top, "build", &[schema::BUILD, schema::RECIPE]);
        reader.unknown_keys(&table);
        let command = reader.read(&table, "command", convert::text);
        check_placeholders(reader, &table, "command", command.as_deref());
        BuildDefaults { command, own: BuildTable::read(reader, &table) }
    }
}

/// A table of texts: variables, commands.
fn read_texts(reader: &mut TomlReader, table: &TomlTable, name: &str) -> Vec<(String, String)> {
    let Some(item) = table.item(name) else { return Vec::new() };
    let Some(items) = item.as_table_like() else {
        reader.complain_of(table, name, WrongValue::Type.sentence(&table.path_of(name), item));
        return Vec::new();
    };
    let mut found = Vec::new();
    for (key, item) in items.iter() {
        match item.as_str() {
            Some(text) => found.push((key.to_owned(), text.to_owned())),
            None => {
                let path = format!("{}.{key}", table.path_of(name));
                let problem = reader.complain(&path, WrongValue::Type.sentence(&path, item));
                problem.expected = Some("a string".into());
            }
        }
    }
    found
}

fn read_components(reader: &mut TomlReader, table: &TomlTable, name: &str) -> Vec<Component> {
    let Some(item) = table.item(name) else { return Vec::new() };
    let Some(items) = item.as_table_like() else {
        reader.complain_of(table, name, WrongValue::Type.sentence(&table.path_of(name), item));
        return Vec::new();
    };
    let mut found = Vec::new();
    for (component, item) in items.iter() {
        let texts: Option<Vec<String>> = item
            .as_array()
            .and_then(|globs| globs.iter().map(|glob| glob.as_str().map(str::to_owned)).collect());
        match texts.filter(|globs| !globs.is_empty()) {
            Some(functions) => found.push(Component { name: component.to_owned(), functions }),
            None => {
                let path = format!("{}.{component}", table.path_of(name));
                let problem = reader.complain(&path, WrongValue::Type.sentence(&path, item));
                problem.expected = Some("a list of function globs".into());
                problem.example = Some(format!("{component} = [\"tiny_*\", \"malloc\"]"));
            }
        }
    }
    found
}

fn read_role(reader: &mut TomlReader, role: &ListEntry) -> Option<Task> {
    let table = TomlTable::new(&role.path, Some(role.items?), ROLE);
    reader.unknown_keys(&table);
    if !table.has("command") {
        reader.missing(&table, "command");
    }
    let found = task::Partial::read(reader, &table);
    let default = Units::Fixed(1);
    Some(found.complete(None, default))
}

fn read_stages(
    reader: &mut TomlReader,
    top: &TomlTable,
    base: &BuildDefaults,
    roles: &ReadRoles<'_>,
) -> Vec<Entrant> {
    let entries = entries::entries(reader, top, "stages", schema::ENTRANT, false);
    let mut found: Vec<Entrant> = Vec::new();
    for entry in &entries {
        let table = TomlTable::new(&entry.path, entry.items, STAGE);
        reader.unknown_keys(&table);
        let after = read_after(reader, &table, &found);
        let commands = read_texts(reader, &table, "commands");
        for (role, _) in &commands {
            roles.names.check(reader, &format!("{}.commands", entry.path), role);
        }
        let of_role = |task: &Task, role: usize| {
            let other = commands.iter().find(|(name, _)| roles.entries[role].name.as_ref() == Some(name));
            Task {
                command: other.map_or_else(|| task.command.clone(), |(_, command)| command.clone()),
                ..task.clone()
            }
        };
        let tasks = roles
            .tasks
            .iter()
            .enumerate()
            .filter_map(|(role, task)| Some((role, of_role(task.as_ref()?, role))));
        let recipe = read_recipe(reader, &table, base, "command");
        if recipe.is_none() {
            let problem = reader.complain(&entry.path, format!("`{}` has no build command", entry.path));
            problem.expected = Some("`command` and `program` in [build], or here".into());
            problem.example = Some(
                "[build]\ncommand = \"make FLAGS='{flags}' OUT={out}\"\nprogram = \"{out}/bench\"".into(),
            );
        }
        found.push(Entrant {
            name: entry.name.clone().unwrap_or_default(),
            kind: EntrantKind::Stage,
            after,
            note: reader.read(&table, "note", convert::text),
            recipe,
            tasks: tasks.collect(),
            components: Vec::new(),
        });
    }
    found
}

fn read_after(reader: &mut TomlReader, table: &TomlTable, earlier: &[Entrant]) -> Option<usize> {
    let Some(name) = reader.read(table, "after", convert::text) else { return earlier.len().checked_sub(1) };
    // Most often a stage follows the one before it, or one shortly before.
    let found = earlier.iter().rposition(|stage| stage.name == name);
    if found.is_none() {
        let near = reader.nearest(&name, earlier.iter().map(|stage| stage.name.as_str()));
        let problem = reader.complain_of(
            table,
            "after",
            format!("`{}.after` is not the name of an earlier stage: \"{name}\"", table.path),
        );
        problem.nearest = near;
    }
    found
}

/// The recipe of a stage or reference; `None` if nothing says how it is built.
fn read_recipe(
    reader: &mut TomlReader,
    table: &TomlTable,
    base: &BuildDefaults,
    key: &str,
) -> Option<BuildRecipe> {
    let own = BuildTable::read(reader, table);
    let build = reader.read(table, key, convert::text);
    check_placeholders(reader, table, key, build.as_deref());
    let flags = task::read_flags(reader, table);
    let defines = reader.list(table, "defines", convert::line).unwrap_or_default();
    let revision = reader.read(table, "revision", convert::line);
    let command = build.or_else(|| base.command.clone())?;
    let defines = defines.iter().map(|define| format!("-D{define}")).collect::<Vec<_>>().join(" ");
    let mut environment = base.own.environment.clone();
    environment.retain(|(name, _)| own.environment.iter().all(|(other, _)| other != name));
    environment.extend(own.environment);
    // Where the command has no place of their own for them, defines are flags.
    let (flags, defines) = if command.contains("{defines}") {
        (flags, defines)
    } else {
        (format!("{flags} {defines}").trim().to_owned(), String::new())
    };
    Some(BuildRecipe {
        command,
        flags,
        defines,
        environment,
        source: own.source.or_else(|| base.own.source.clone()),
        revision,
        program: own.program.or_else(|| base.own.program.clone())?,
        size: own.size.or_else(|| base.own.size.clone()),
    })
}

/// References: those of one name are one entrant with several roles.
fn read_references(
    reader: &mut TomlReader,
    top: &TomlTable,
    base: &BuildDefaults,
    roles: &ReadRoles<'_>,
    entrants: &mut Vec<Entrant>,
) {
    for (path, items) in reference_tables(reader, top) {
        let table = TomlTable::new(&path, Some(items), REFERENCE);
        reader.unknown_keys(&table);
        if !table.has("name") {
            reader.missing(&table, "name");
        }
        let name = reader.read(&table, "name", convert::name).unwrap_or_default();
        let role = reader.read(&table, "role", convert::text);
        let role = match &role {
            Some(role) => {
                roles.names.check(reader, &format!("{path}.role"), role);
                roles.number(role)
            }
            None if roles.entries.len() > 1 => {
                reader.missing(&table, "role");
                None
            }
            None => (!roles.entries.is_empty()).then_some(0),
        };
        let Some(of_role) = role.and_then(|role| roles.tasks[role].as_ref()) else { continue };
        let partial = task::Partial::read(reader, &table);
        let task = partial.complete(Some(of_role), of_role.units.clone());
        let is_built = ["{program}", "{out}"].iter().any(|place| task.command.contains(place))
            || ["build", "program", "flags", "defines", "source", "revision"]
                .iter()
                .any(|key| table.has(key));
        let recipe = read_recipe(reader, &table, base, "build").filter(|_| is_built);
        if is_built && recipe.is_none() {
            let problem = reader.complain(&path, format!("`{path}` has no build command"));
            problem.expected = Some(
                "`build` and `program` here or in [build], or a command without {program} and {out}".into(),
            );
        }
        let entrant = Entrant {
            name,
            kind: EntrantKind::Reference,
            after: None,
            note: reader.read(&table, "note", convert::text),
            recipe,
            tasks: BTreeMap::from([(role.unwrap_or(0), task)]),
            components: read_components(reader, &table, "components"),
        };
        add_reference(reader, &path, entrant, entrants);
    }
}

fn reference_tables<'a>(reader: &mut TomlReader, top: &TomlTable<'a>) -> Vec<(String, &'a dyn TableLike)> {
    let Some(item) = top.item("references") else { return Vec::new() };
    let mut found = Vec::new();
    match entries::elements(item) {
        None => {
            reader.complain_of(top, "references", WrongValue::Type.sentence("references", item));
        }
        Some(elements) => {
            for (index, element) in elements.into_iter().enumerate() {
                let path = format!("references[{index}]");
                match element {
                    entries::Element::Table(items) => found.push((path, items)),
                    entries::Element::Value(_) => {
                        let problem = reader.complain(&path, format!("`{path}` is not a table"));
                        problem.example = Some(top.example_of("references"));
                    }
                }
            }
        }
    }
    found
}

fn add_reference(reader: &mut TomlReader, path: &str, entrant: Entrant, entrants: &mut Vec<Entrant>) {
    let Some(known) = entrants.iter_mut().find(|known| known.name == entrant.name) else {
        entrants.push(entrant);
        return;
    };
    let name = &entrant.name;
    if known.is_stage() {
        reader.complain(&format!("{path}.name"), format!("`{name}` is already the name of a stage"));
    } else if known.recipe != entrant.recipe {
        let message = format!("`{name}` is built differently above: give this one another name");
        reader.complain(&format!("{path}.name"), message);
    } else if entrant.tasks.keys().any(|role| known.tasks.contains_key(role)) {
        reader.complain(&format!("{path}.role"), format!("`{name}` has this role already"));
    } else {
        known.tasks.extend(entrant.tasks);
        if known.components.is_empty() {
            known.components = entrant.components;
        }
    }
}
