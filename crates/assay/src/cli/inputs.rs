//! `assay inputs`: what a file or an experiment's inputs look like to a decoder and its branch predictor.

mod encode;
mod fit;

use super::help::OUTPUT;
use super::{DONE, screen};
use anyhow::{Context, Result};
use assay_lab::campaign::inputs::parse_format;
use assay_lab::lead::Misuse;
use assay_linux::given;
use assay_pure::experiment::Experiment;
use assay_pure::experiment::spec::InputSource;
use assay_pure::inputs::fit::{RecordingKind, kind};
use assay_pure::inputs::{Description, Format, FormatError, describe::describe, digest};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Describe, generate or encode inputs, or fit a generator to data
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/inputs.txt"))]
pub struct InputsArguments {
    #[command(subcommand)]
    verb: InputsVerb,
}

#[derive(clap::Subcommand, Clone, Debug)]
enum InputsVerb {
    Describe(Describe),
    Generate(Generate),
    Encode(encode::EncodeArguments),
    Fit(Box<fit::FitArguments>),
}

/// Describe inputs: length histogram, entropy, predictability and period
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/describe.txt"))]
struct Describe {
    /// Files to describe; an experiment file (.toml) stands for all its inputs
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Format of a unit: varint, lines, bytes or whole
    #[arg(long, value_name = "FORMAT", default_value = "varint")]
    format: String,
    /// Print JSON instead of the report
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

/// Write an input of an experiment to a file
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/generate.txt"))]
struct Generate {
    /// The experiment file
    experiment: PathBuf,
    /// Name of the input
    input: String,
    /// File to write
    output: PathBuf,
}

/// Runs the verb.
///
/// # Errors
/// A file cannot be read or is not of its format.
pub fn run(arguments: &InputsArguments) -> Result<u8> {
    match &arguments.verb {
        InputsVerb::Describe(describe) => describe_all(describe)?,
        InputsVerb::Generate(generate) => generate_one(generate)?,
        InputsVerb::Encode(arguments) => encode::run(arguments)?,
        InputsVerb::Fit(arguments) => return fit::run(arguments),
    }
    Ok(DONE)
}

fn read(path: &Path) -> Result<Vec<u8>, Misuse> {
    given::read(path, given::DATA).map_err(|error| Misuse(format!("cannot read {}: {error}", path.display())))
}

fn experiment(path: &Path) -> Result<Experiment> {
    let text = String::from_utf8(read(path)?)
        .map_err(|_| Misuse(format!("{} is not a text file", path.display())))?;
    let parsed = Experiment::from_toml(&text, &path.display().to_string()).map_err(|problems| {
        Misuse(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n"))
    })?;
    Ok(parsed.experiment)
}

fn bytes_of(source: &InputSource, folder: &Path) -> Result<Vec<u8>, Misuse> {
    match source {
        InputSource::Recorded { path } => read(&folder.join(path)),
        made => Ok(made.bytes().expect("only a recorded input is read")),
    }
}

fn describe_all(asked: &Describe) -> Result<()> {
    let mut found: Vec<(String, String, Description)> = Vec::new();
    let mut doubts: Vec<(String, RecordingKind)> = Vec::new();
    for file in &asked.files {
        if file.extension().is_some_and(|extension| extension == "toml") {
            let folder = file.parent().unwrap_or(Path::new("."));
            for input in experiment(file)?.file_inputs() {
                let bytes = bytes_of(&input.source, folder)?;
                found.push(described(&input.name, &bytes, input.describe(&bytes))?);
            }
        } else {
            let Some(format) = parse_format(&asked.format) else {
                let message = format!(
                    "there is no format `{}`; the formats are varint, lines, bytes and whole",
                    asked.format
                );
                return Err(Misuse(message).into());
            };
            let bytes = read(file)?;
            if let Some(kind) = kind(&bytes).filter(|_| format == Format::Varint) {
                doubts.push((file.display().to_string(), kind));
            }
            found.push(described(&file.display().to_string(), &bytes, describe(&bytes, format))?);
        }
    }
    if asked.json {
        let list: Vec<_> = found
            .iter()
            .map(|(name, digest, description)| json!({"name": name, "digest": digest, "description": description}))
            .collect();
        screen::print(&format!("{}\n", serde_json::to_string_pretty(&list)?));
        return Ok(());
    }
    let mut text = String::new();
    for (name, digest, description) in &found {
        text.push_str(&format!("{name}  sha256 {}\n", digest::short_digest(digest)));
        for line in description.summary_lines() {
            text.push_str(format!("  {line}").trim_end());
            text.push('\n');
        }
        if let Some((_, kind)) = doubts.iter().find(|(doubted, _)| doubted == name) {
            let remedy = "use --format lines, bytes or whole if it is none";
            text.push_str(&format!("  ! This looks like {kind} but is read as varints: {remedy}.\n"));
        }
        text.push('\n');
    }
    screen::print(&text);
    Ok(())
}

fn described(
    name: &str,
    bytes: &[u8],
    found: Result<Description, FormatError>,
) -> Result<(String, String, Description), Misuse> {
    let description = found.map_err(|error| {
        Misuse(format!(
            "{name} is not in this format: {error}. Other formats: --format lines, bytes or whole"
        ))
    })?;
    Ok((name.to_owned(), digest::digest(bytes), description))
}

fn generate_one(asked: &Generate) -> Result<()> {
    let experiment = experiment(&asked.experiment)?;
    let inputs = experiment.file_inputs();
    let Some(input) = inputs.iter().find(|input| input.name == asked.input) else {
        let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
        let message = format!(
            "there is no input `{}` in {}; its inputs are: {}",
            asked.input,
            asked.experiment.display(),
            names.join(", ")
        );
        return Err(Misuse(message).into());
    };
    let folder = asked.experiment.parent().unwrap_or(Path::new("."));
    screen::find_place(&asked.output)?;
    let bytes = bytes_of(&input.source, folder)?;
    assay_linux::output::write(&asked.output, &bytes)
        .with_context(|| format!("cannot write {}", asked.output.display()))?;
    let line = format!(
        "wrote {} ({} bytes, sha256 {})\n",
        asked.output.display(),
        bytes.len(),
        digest::short_digest(&digest::digest(&bytes))
    );
    screen::print(&line);
    Ok(())
}
