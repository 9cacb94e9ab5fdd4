//! The inputs of an experiment as files: made or copied once, kept by content, described, cut into windows.

pub use super::input_store::{InputPlaces, kept_in};
use super::input_store::{stored, write_once};
use super::made;
use crate::lead::Misuse;
use crate::run::LoadedInput;
use crate::store::{InputRow, Ledger};
use anyhow::{Context, Result};
use assay_linux::given;
use assay_pure::experiment::spec::{InputSource, InputSpec, SecondInput};
use assay_pure::inputs::keys::hit_share;
use assay_pure::inputs::{Description, FormatError, Window, digest};
use assay_pure::protocol::Request;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// One input, ready to be given to measured programs.
#[derive(Clone, Debug)]
pub struct ReadyInput {
    /// Name in the experiment.
    pub name: String,
    /// Content, recipe and description, as kept.
    pub row: InputRow,
    /// What a predictor sees in it.
    pub description: Description,
    /// Where its bytes lie.
    pub file: PathBuf,
    /// The stretches that one call gets.
    pub windows: Vec<Window>,
}

impl ReadyInput {
    /// As a measured program is told of it.
    pub fn loaded(&self, id: usize) -> LoadedInput {
        LoadedInput {
            name: self.name.clone(),
            digest: self.row.digest.clone(),
            windows: self.windows.len() as u64,
            units: self.description.units,
            request: Request::Load {
                id: id as u32,
                size: self.row.bytes,
                units: self.description.units,
                windows: self.windows.clone(),
                path: self.file.to_string_lossy().into_owned(),
            },
        }
    }
}

/// Makes one input ready. `folder` is the experiment file's, `store` where inputs are kept by content.
///
/// # Errors
/// A recorded file is missing or is not of its format; the store cannot be written.
pub fn ready(spec: &InputSpec, folder: &Path, store: &Path, ledger: &Ledger) -> Result<ReadyInput> {
    let format = spec.format.word();
    let mut recipe = recipe(&spec.source, folder)?;
    if !spec.with.is_empty() {
        recipe["with"] = serde_json::to_value(&spec.with)?;
    }
    let known = match spec.source {
        // Its second inputs are as quickly made as compared.
        _ if !spec.with.is_empty() => None,
        // A recorded file can change under its name, so only a recipe that determines the bytes is trusted.
        InputSource::Generated { .. } | InputSource::Settings { .. } | InputSource::Command { .. } => {
            ledger.input_by_recipe(&recipe, &format)?
        }
        InputSource::Recorded { .. } | InputSource::Keys { .. } | InputSource::Empty => None,
    };
    if let Some(row) = known
        && let Ok(bytes) = std::fs::read(stored(store, &row.digest))
        && digest::digest(&bytes) == row.digest
        && let Ok(description) = serde_json::from_value(row.description.clone())
    {
        let windows = spec.windows(&bytes)?;
        let file = stored(store, &row.digest);
        return Ok(ReadyInput { name: spec.name.clone(), row, description, file, windows });
    }
    let places = InputPlaces { folder, kept: store };
    let bytes = bytes_of(spec, places)?;
    let seconds = seconds_of(spec, places)?;
    make(spec, recipe, &bytes, &seconds, store, ledger)
}

/// What determines the bytes, as the ledger keeps it.
fn recipe(source: &InputSource, folder: &Path) -> Result<Value> {
    let mut recipe = serde_json::to_value(source)?;
    if let InputSource::Command { command, .. } = source {
        recipe["files"] = made::files(command, folder);
        recipe["folder"] = made::place(folder).into();
    }
    Ok(recipe)
}

/// A second input: the name that the program has for it, and its bytes.
pub type Second = (String, Vec<u8>);

/// What stands beside an input.
///
/// # Errors
/// As of [`bytes_of`].
pub fn seconds_of(spec: &InputSpec, places: InputPlaces<'_>) -> Result<Vec<Second>> {
    spec.with.iter().map(|second| Ok((second.name.clone(), second_of(second, places)?))).collect()
}

/// The bytes of an input that stands beside another.
///
/// # Errors
/// As of [`bytes_of`]; they are not of its format.
pub fn second_of(second: &SecondInput, places: InputPlaces<'_>) -> Result<Vec<u8>> {
    let bytes = bytes_from(&second.input, &second.source, places)?;
    second
        .format
        .count(&bytes)
        .with_context(|| format!("input `{}` is not in the format {}", second.input, second.format.word()))?;
    Ok(bytes)
}

/// Where a second input lies: beside the file of the first, as programs look for it.
pub fn beside(file: &Path, name: &str) -> PathBuf {
    let mut path = file.as_os_str().to_owned();
    path.push(".");
    path.push(name);
    PathBuf::from(path)
}

/// The digest of an input with what stands beside it, which an answer depends on as well.
fn identity(bytes: &[u8], seconds: &[Second]) -> String {
    let own = digest::digest(bytes);
    if seconds.is_empty() {
        return own;
    }
    let others = seconds.iter().map(|(name, bytes)| format!("\n{name} {}", digest::digest(bytes)));
    digest::digest(format!("{own}{}", others.collect::<String>()).as_bytes())
}

/// Describes an input with what stands beside it.
///
/// # Errors
/// The bytes are not of the input's format.
pub fn describe(spec: &InputSpec, bytes: &[u8], seconds: &[Second]) -> Result<Description, FormatError> {
    let table = spec.with.iter().zip(seconds).find(|(second, _)| second.format == spec.format);
    let hit_share = table.and_then(|(_, (_, table))| hit_share(bytes, table, spec.format));
    Ok(Description { hit_share, ..spec.describe(bytes)? })
}

fn make(
    spec: &InputSpec,
    recipe: Value,
    bytes: &[u8],
    seconds: &[Second],
    store: &Path,
    ledger: &Ledger,
) -> Result<ReadyInput> {
    let format = spec.format.word();
    let context = || format!("input `{}` is not in the format {format}", spec.name);
    let windows = spec.windows(bytes).with_context(context)?;
    let description = describe(spec, bytes, seconds).with_context(context)?;
    let digest = identity(bytes, seconds);
    let file = stored(store, &digest);
    write_once(&file, bytes)?;
    for (name, bytes) in seconds {
        write_once(&beside(&file, name), bytes)?;
    }
    let row = InputRow {
        digest,
        bytes: bytes.len() as u64,
        recipe,
        format,
        description: serde_json::to_value(&description)?,
    };
    ledger.put_input(&row)?;
    Ok(ReadyInput { name: spec.name.clone(), row, description, file, windows })
}

/// The bytes of an input: read, made, or what its command printed before.
///
/// # Errors
/// A recorded file cannot be read or is empty; a command fails.
pub fn bytes_of(spec: &InputSpec, places: InputPlaces<'_>) -> Result<Vec<u8>> {
    bytes_from(&spec.name, &spec.source, places)
}

fn bytes_from(name: &str, source: &InputSource, places: InputPlaces<'_>) -> Result<Vec<u8>> {
    match source {
        InputSource::Recorded { path } => {
            let path = places.folder.join(path);
            let bytes = given::read(&path, given::DATA)
                .with_context(|| format!("input `{name}`: cannot read {}", path.display()))?;
            if bytes.is_empty() {
                let message = format!(
                    "input `{name}`: {} is empty; record at least one unit, or remove the input",
                    path.display()
                );
                return Err(Misuse(message).into());
            }
            Ok(bytes)
        }
        InputSource::Command { command, units, seed } => {
            made::bytes(&made::InputCommand { name, words: command, units: *units, seed: *seed, places })
        }
        InputSource::Keys { table, .. } => {
            let table = bytes_from(name, table, places)?;
            let keys = source.keys_of(&table).expect("it is keys");
            keys.map_err(|error| Misuse(format!("input `{name}`: {error}")).into())
        }
        made => Ok(made.bytes().expect("only a recorded input is read, only a command run")),
    }
}
