//! The diary's file, with everything that can be known of it before anything is built.

use crate::lead::Misuse;
use anyhow::{Context, Result};
use assay_linux::given;
use assay_pure::experiment::Diagnostic;
use assay_pure::experiment::diagnostic::{self, nearest};
use assay_pure::inputs::digest::digest;
use assay_pure::stages::file::{Component, PlaceholderValues};
use assay_pure::stages::{Diary, Entrant, ParsedDiary};
use assay_trace::sites::components::ComponentSpecs;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A diary that was read.
#[derive(Clone, Debug)]
pub struct OpenedDiary {
    /// What it says.
    pub diary: Diary,
    /// The folder of its file: what its paths begin at.
    pub folder: PathBuf,
    /// What the stages work on: the digest of each declared file, what each role does.
    pub inputs: Value,
}

/// Reads a STAGES.toml and the files that it declares.
///
/// # Errors
/// All mistakes of the file with their places, as [`Misuse`].
pub fn open(path: &Path) -> Result<OpenedDiary> {
    let file = path.display().to_string();
    let text = given::read_text(path).map_err(|error| {
        Misuse(format!("cannot read {file}: {error}; `assay stages --help` shows an example"))
    })?;
    let parsed = Diary::from_toml(&text, &file).map_err(|problems| misuse(&problems))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().with_context(|| format!("cannot enter {}", folder.display()))?;
    let mut problems = Vec::new();
    let files = digests(&parsed, &folder, &mut problems);
    problems.extend(missing_sources(&parsed, &folder));
    problems.extend(one_program_twice(&parsed));
    problems.extend(bad_components(&parsed));
    if !problems.is_empty() {
        return Err(misuse(&problems).into());
    }
    let inputs = json!({ "files": files, "roles": roles(&parsed.diary) });
    Ok(OpenedDiary { diary: parsed.diary, folder, inputs })
}

fn misuse(problems: &[Diagnostic]) -> Misuse {
    Misuse(diagnostic::shown(problems))
}

/// The digest of each declared file.
fn digests(parsed: &ParsedDiary, folder: &Path, problems: &mut Vec<Diagnostic>) -> Value {
    let mut found = Map::new();
    for (index, name) in parsed.diary.inputs.iter().enumerate() {
        match given::read(&folder.join(name), given::DATA) {
            Ok(bytes) => {
                found.insert(name.clone(), digest(&bytes).into());
            }
            Err(error) => {
                let key = format!("diary.inputs[{index}]");
                problems.push(parsed.diagnostic(&key, format!("`{key}` cannot be read: {error}")));
            }
        }
    }
    found.into()
}

/// What each role does in a stage that has no command of its own: another command is another input.
fn roles(diary: &Diary) -> Value {
    let first = diary.stages().next();
    let of_role = |(number, name): (usize, &String)| {
        let task = first.and_then(|stage| stage.task(number));
        (name.clone(), json!(task.map(|task| json!([task.command, task.units, task.time]))))
    };
    let names: Vec<&String> = diary.roles.iter().map(|role| &role.name).collect();
    names.into_iter().enumerate().map(of_role).collect::<Map<String, Value>>().into()
}

/// Components that cannot be told from code outside all of them.
fn bad_components(parsed: &ParsedDiary) -> Vec<Diagnostic> {
    let bad = |key: &str, components: &[Component]| {
        let globs = components.iter().map(|component| (&component.name, component.functions.clone()));
        ComponentSpecs::new(globs).err().map(|error| parsed.diagnostic(key, error.to_string()))
    };
    let own = bad("components", &parsed.diary.components);
    let theirs = parsed.diary.entrants.iter().filter_map(|entrant| bad("references", &entrant.components));
    own.into_iter().chain(theirs).collect()
}

fn missing_sources(parsed: &ParsedDiary, folder: &Path) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (index, stage) in parsed.diary.stages().enumerate() {
        let Some(recipe) = &stage.recipe else { continue };
        let Some(source) = recipe.source.as_ref().filter(|_| recipe.revision.is_none()) else { continue };
        if !folder.join(source).is_dir() {
            let key = format!("stages[{index}].source");
            let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let names: Vec<String> = names
                .filter(|entry| entry.path().is_dir())
                .map(|entry| entry.file_name().to_string_lossy().into_owned())
                .collect();
            let near = nearest(source, names.iter().map(String::as_str));
            problems.push(parsed.diagnostic(&key, format!("there is no folder {source}")).with_nearest(near));
        }
    }
    problems
}

/// Two stages that leave their program in the same place would each be measured as the other.
fn one_program_twice(parsed: &ParsedDiary) -> Vec<Diagnostic> {
    let place = |entrant: &Entrant| {
        let recipe = entrant.recipe.as_ref()?;
        // A revision is built in a tree of its own.
        if recipe.revision.is_some() {
            return None;
        }
        let places = PlaceholderValues {
            out: format!("/out of {}", entrant.name),
            stage: entrant.name.clone(),
            ..PlaceholderValues::default()
        };
        Some((recipe.source.clone().unwrap_or_default(), places.fill(&recipe.program)))
    };
    let mut problems = Vec::new();
    let mut first: HashMap<(String, String), &Entrant> = HashMap::new();
    for (index, stage) in parsed.diary.stages().enumerate() {
        let Some(place) = place(stage) else { continue };
        let earlier = *first.entry(place).or_insert(stage);
        if !std::ptr::eq(earlier, stage) {
            let message = format!(
                "`{}` and `{}` leave their program in the same place, so the later build would replace the earlier one",
                earlier.name, stage.name
            );
            let problem = parsed.diagnostic(&format!("stages[{index}]"), message);
            problems.push(
                problem
                    .with_expected("a program below {out}, which differs for each stage")
                    .with_example("[build]\ncommand = \"make OUT={out}\"\nprogram = \"{out}/bench\""),
            );
        }
    }
    problems
}
