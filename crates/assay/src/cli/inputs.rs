//! `assay inputs`: what a file or an experiment's inputs look like to a decoder and its branch predictor.

mod encode;
mod fit;
mod generators;
mod record;

use super::help::OUTPUT;
use super::run::StoragePaths;
use super::{DONE, reads, screen};
use anyhow::{Context, Result};
use assay_lab::campaign::inputs::{self, InputPlaces};
use assay_lab::lead::Misuse;
use assay_linux::{given, interrupt};
use assay_pure::experiment::Experiment;
use assay_pure::inputs::{
    Description, FORMATS, Format, FormatError, Guess, describe::describe, digest, guess,
};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Describe, generate, record or encode inputs, or fit a generator to data
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
    Generators(generators::GeneratorsArguments),
    Record(record::InputRecordArguments),
}

/// Describe inputs: histogram, order, entropy, predictability and period
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/describe.txt"))]
struct Describe {
    /// Files to describe; an experiment file (.toml) stands for all its inputs
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// How units are found, as in experiments: varint, lines, json-lines, bytes, u8 to f64, records:K, messages or whole;
    /// default: guessed from the file
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// Print JSON instead of the report
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
    #[command(flatten)]
    places: StoragePaths,
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
    #[command(flatten)]
    places: StoragePaths,
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
        InputsVerb::Generators(arguments) => generators::run(arguments)?,
        InputsVerb::Record(arguments) => return record::run(arguments),
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

/// An input with what was found in it.
struct Described {
    name: String,
    digest: String,
    description: Description,
    /// Where nobody said how units are found.
    guess: Option<Guess>,
}

/// The format of a word.
fn format_of(word: &str) -> Result<Format, Misuse> {
    Format::parse(word)
        .ok_or_else(|| Misuse(format!("there is no format `{word}`; the formats are {FORMATS}")))
}

fn describe_all(asked: &Describe) -> Result<()> {
    let format = asked.format.as_deref().map(format_of).transpose()?;
    interrupt::catch();
    let kept = inputs::kept_in(&asked.places.store());
    let mut found: Vec<Described> = Vec::new();
    for file in &asked.files {
        if file.extension().is_some_and(|extension| extension == "toml") {
            let folder = file.parent().unwrap_or(Path::new("."));
            let places = InputPlaces { folder, kept: &kept };
            for input in experiment(file)?.file_inputs() {
                let bytes = inputs::bytes_of(&input, places)?;
                let seconds = inputs::seconds_of(&input, places)?;
                found.push(described(&input.name, &bytes, inputs::describe(&input, &bytes, &seconds), None)?);
                for (second, (_, bytes)) in input.with.iter().zip(&seconds) {
                    let name = format!("{} (beside {} as {})", second.input, input.name, second.name);
                    found.push(described(&name, bytes, describe(bytes, second.format), None)?);
                }
            }
        } else {
            let bytes = read(file)?;
            let guessed = format.is_none().then(|| guess(&bytes, &file.to_string_lossy()));
            let format = format.or(guessed.as_ref().map(|guess| guess.format)).expect("given or guessed");
            found.push(described(&file.display().to_string(), &bytes, describe(&bytes, format), guessed)?);
        }
    }
    if asked.json {
        let list: Vec<_> = found.iter().map(as_json).collect();
        screen::print(&format!("{}\n", serde_json::to_string_pretty(&list)?));
        return Ok(());
    }
    screen::print(&found.iter().map(as_text).collect::<String>());
    Ok(())
}

fn as_json(found: &Described) -> serde_json::Value {
    let mut value = json!({"name": found.name, "digest": found.digest, "description": found.description});
    if let Some(guess) = &found.guess {
        value["guessed_from"] = json!(guess.from);
    }
    value
}

fn as_text(found: &Described) -> String {
    let mut text = format!("{}  sha256 {}\n", found.name, digest::short_digest(&found.digest));
    if let Some(guess) = &found.guess {
        let word = guess.format.word();
        text.push_str(&format!("  read as {word}, guessed from {}\n", guess.from));
        // An experiment does not guess, so that a file always means the same.
        if guess.format != Format::Bytes {
            text.push_str(&format!("  --format changes it; an experiment needs format = \"{word}\"\n"));
        } else {
            text.push_str("  --format changes it; an experiment reads it as bytes too\n");
        }
    }
    for line in found.description.summary_lines() {
        text.push_str(format!("  {line}").trim_end());
        text.push('\n');
    }
    text.push('\n');
    text
}

fn described(
    name: &str,
    bytes: &[u8],
    found: Result<Description, FormatError>,
    guess: Option<Guess>,
) -> Result<Described, Misuse> {
    let description = found.map_err(|error| {
        Misuse(format!("{name} is not in this format: {error}. Other formats (--format): {FORMATS}"))
    })?;
    Ok(Described { name: name.to_owned(), digest: digest::digest(bytes), description, guess })
}

fn generate_one(asked: &Generate) -> Result<()> {
    interrupt::catch();
    let experiment = experiment(&asked.experiment)?;
    let known = experiment.file_inputs();
    let folder = asked.experiment.parent().unwrap_or(Path::new("."));
    let kept = inputs::kept_in(&asked.places.store());
    let places = InputPlaces { folder, kept: &kept };
    let reads = reads::of_text(&asked.experiment);
    let seconds = known.iter().filter(|input| input.name == asked.input).flat_map(|input| &input.with);
    let beside = seconds.map(|second| inputs::beside(&asked.output, &second.name));
    for file in [asked.output.clone()].into_iter().chain(beside) {
        screen::find_place(&file, &reads)?;
    }
    if let Some(input) = known.iter().find(|input| input.name == asked.input) {
        write(&asked.output, &inputs::bytes_of(input, places)?, "")?;
        for (name, bytes) in inputs::seconds_of(input, places)? {
            write(&inputs::beside(&asked.output, &name), &bytes, ", which stands beside it")?;
        }
        return Ok(());
    }
    let seconds = known.iter().flat_map(|input| &input.with);
    if let Some(second) = seconds.clone().find(|second| second.input == asked.input) {
        return write(&asked.output, &inputs::second_of(second, places)?, "");
    }
    let mut names: Vec<&str> = known.iter().map(|input| input.name.as_str()).collect();
    for second in seconds {
        if !names.contains(&second.input.as_str()) {
            names.push(&second.input);
        }
    }
    let message = format!(
        "there is no input `{}` in {}; its inputs are: {}",
        asked.input,
        asked.experiment.display(),
        names.join(", ")
    );
    Err(Misuse(message).into())
}

fn write(file: &Path, bytes: &[u8], what: &str) -> Result<()> {
    assay_linux::output::write(file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
    screen::print(&format!(
        "wrote {} ({} bytes, sha256 {}){what}\n",
        file.display(),
        bytes.len(),
        digest::short_digest(&digest::digest(bytes))
    ));
    Ok(())
}
