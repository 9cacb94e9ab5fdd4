//! From the text of an experiment file to an [`Experiment`] with every default filled in, or to all of its problems.
//!
//! **Method.** The TOML tree is walked by hand rather than through serde, because a serde error ends the reading: here a
//! wrong value is noted at its place, a default stands in for it, and the walk goes on. What refers to something that
//! could not be read is not complained of as well.
//!
//! **Limits.** Only what the text itself tells is checked. Whether files exist, compilers are found and the program
//! registers its variants is for the lab, which complains through [`ParsedExperiment::diagnostic`].

mod accept;
mod beside;
mod claims;
mod contrasts;
pub(crate) mod convert;
pub(crate) mod entries;
mod flags;
mod generator;
mod input;
mod kinds;
mod parsed;
mod program;
pub(crate) mod quantity;
pub(crate) mod reader;
pub(crate) mod schema;
mod sweeps;
mod swept;
#[cfg(test)]
mod tests;
mod usage;

use std::path::Path;

use self::entries::Names;
pub use self::parsed::ParsedExperiment;
use self::reader::{TomlReader, TomlTable};
use super::spans::Spans;
use super::spec::{Clock, Experiment, InputSpec, Program, Variant};
use super::{CountedEvent, Diagnostic};
use crate::stats::margin::Margin;

pub use self::convert::to_name;

/// Variants compared without a baseline of their own: a file needs two to ask anything.
const FEWEST_VARIANTS: usize = 2;

impl Experiment {
    /// Reads an experiment file.
    ///
    /// Input: its text, and its path as the user named it (for messages, and for the experiment's name where the file
    /// gives none: the folder's, or else the file's without its ending).
    ///
    /// # Errors
    /// All problems of the file, in the order of their places; for a file that is not TOML, the first error of syntax.
    pub fn from_toml(text: &str, file: &str) -> Result<ParsedExperiment, Vec<Diagnostic>> {
        let (document, spans) = parse(text, file)?;
        let mut reader = TomlReader::new(spans, home_of);
        let top = TomlTable::new("", Some(document.as_table()), &[schema::TOP]);
        let experiment = read_top(&mut reader, &top, file);
        let (experiment, spans) = reader.conclude(experiment)?;
        let parsed = ParsedExperiment { experiment, spans };
        let problems = sweeps::outside_their_domain(&parsed, text);
        if problems.is_empty() { Ok(parsed) } else { Err(problems) }
    }
}

/// The tree of a file with the places of its keys.
///
/// # Errors
/// The first error of syntax.
pub(crate) fn parse<'a>(
    text: &'a str,
    file: &str,
) -> Result<(toml_edit::Document<&'a str>, Spans), Vec<Diagnostic>> {
    let mut spans = Spans::new(file, text);
    let document = toml_edit::Document::parse(text).map_err(|error| vec![syntax(&spans, text, &error)])?;
    spans.record("", document.as_table());
    Ok((document, spans))
}

/// Where a key of an experiment file belongs.
fn home_of(path: &str, name: &str) -> Option<(&'static str, &'static schema::SchemaKey)> {
    let find = |keys: &'static [schema::SchemaKey]| keys.iter().find(|key| key.name == name);
    if !path.is_empty() {
        return find(schema::TOP).map(|key| ("belongs at the top of the file, above the first [table]", key));
    }
    let homes = [
        ("belongs in [program]", schema::PROGRAM),
        ("belongs in [placement]", schema::PLACEMENT),
        ("belongs in [contrasts]", &schema::CONTRASTS[..1]),
        ("belongs in a sweep, [sweeps.NAME]", &schema::SWEEP[2..9]),
        ("belongs in an input, [inputs.NAME]", schema::GENERATED),
        ("belongs in an input, [inputs.NAME]", schema::DRAWN),
        ("belongs in an input, [inputs.NAME]", schema::INPUT),
        ("belongs in an input, [inputs.NAME]", schema::RECORDED),
    ];
    homes.into_iter().find_map(|(home, keys)| find(keys).map(|key| (home, key)))
}

/// The parser's complaint in our form.
fn syntax(spans: &Spans, text: &str, error: &toml_edit::TomlError) -> Diagnostic {
    let range = error.span().unwrap_or(0..0);
    let before = text.get(..range.start).unwrap_or_default();
    let mut place = spans.place(range);
    // An error of syntax is always somewhere: where a letter is missing, the caret marks where it should be.
    place.length = place.length.max(1);
    let no_value = before.trim_end_matches([' ', '\t']).ends_with('=')
        && place.skipped + place.source_line.chars().count() < place.column;
    let (message, expected) = match error.message().split_once(", expected ") {
        // The parser takes the missing value for a text without quotes.
        _ if no_value => ("no value after `=`", None),
        Some((message, "literal string")) => {
            (message, Some("a string in quotes, a number, true, false, a list or a table"))
        }
        Some((message, expected)) => (message, Some(expected)),
        None => (error.message(), None),
    };
    let problem = Diagnostic::new(spans.file(), place, "", format!("invalid TOML: {message}"));
    match expected {
        Some(expected) => problem.with_expected(expected),
        None => problem,
    }
}

/// The phases of reading. Names first, as everything else refers to them.
fn read_top(reader: &mut TomlReader, top: &TomlTable, file: &str) -> Experiment {
    reader.unknown_keys(top);
    for required in ["question", "baseline", "variants", "program"] {
        if !top.has(required) {
            reader.missing(top, required);
        }
    }
    let (variants, variant_names) = read_variants(reader, top);
    let (inputs, input_names) = input::read(reader, top);
    let program = program::read(reader, top);
    let compilers = read_compilers(reader, top, &program);
    let flags = flags::read(reader, top, &program);

    let baseline = read_baseline(reader, top, &variant_names);
    let contrasts = contrasts::read(reader, top, &flags);
    let claims = claims::ClaimScope { variants: &variants, baseline: &baseline, variant_names, input_names };
    let claims = claims::read(reader, top, &claims);
    Experiment {
        name: reader.read(top, "name", convert::name).unwrap_or_else(|| default_name(file)),
        question: reader.read(top, "question", convert::text).unwrap_or_default(),
        unit: reader.read(top, "unit", convert::line).unwrap_or_else(|| default_unit(&inputs).into()),
        prediction: reader.read(top, "prediction", convert::text),
        program,
        baseline,
        contrasts,
        variants,
        inputs,
        compilers,
        flags,
        placement: program::read_placement(reader, top),
        minimum_effect: reader
            .read(top, "minimum_effect", convert::fraction(|effect| (0.0..1.0).contains(&effect)))
            .map_or(Margin::of(0.01), Margin::of),
        measured_only: false,
        confidence: reader
            .read(top, "confidence", convert::fraction(|confidence| 0.0 < confidence && confidence < 1.0))
            .unwrap_or(0.95),
        budget_seconds: reader.read(top, "budget", convert::seconds).unwrap_or(60.0),
        clock: reader
            .read(top, "clock", convert::choice(&[("wall", Clock::Wall), ("thread_cpu", Clock::ThreadCpu)]))
            .unwrap_or(Clock::Wall),
        events: read_events(reader, top),
        predictors: Vec::new(),
        fresh_memory: reader.read(top, "fresh_memory", convert::bytes),
        seed: reader.read(top, "seed", convert::whole_64).unwrap_or(1),
        sweeps: sweeps::read(reader, top),
        claims,
        accept: accept::read(reader, top),
    }
}

fn read_baseline(reader: &mut TomlReader, top: &TomlTable, variants: &Names) -> String {
    let Some(baseline) = reader.read(top, "baseline", convert::text) else {
        return String::new();
    };
    variants.check(reader, "baseline", &baseline);
    baseline
}

fn read_variants(reader: &mut TomlReader, top: &TomlTable) -> (Vec<Variant>, Names) {
    let entries = entries::entries(reader, top, "variants", schema::VARIANT, true);
    let is_list =
        top.item("variants").is_some_and(|item| item.is_table_like() || entries::elements(item).is_some());
    if is_list && entries.len() < FEWEST_VARIANTS {
        let message = "a comparison needs at least 2 variants";
        let problem = reader.complain_of(top, "variants", message);
        problem.expected = Some("the baseline and at least one candidate".into());
    }
    let names = Names::new("variant", &entries);
    let mut variants = Vec::new();
    for entry in entries {
        let table = TomlTable::new(&entry.path, entry.items, &[schema::VARIANT]);
        reader.unknown_keys(&table);
        variants.push(Variant {
            name: entry.name.unwrap_or_default(),
            description: reader.read(&table, "description", convert::text),
            needs: reader.list(&table, "needs", convert::name).unwrap_or_default(),
            functions: reader.list(&table, "functions", convert::line).unwrap_or_default(),
        });
    }
    (variants, names)
}

/// None by default: counting takes a tracer or counters, which not every machine has, and time of its own.
fn read_events(reader: &mut TomlReader, top: &TomlTable) -> Vec<CountedEvent> {
    let words = CountedEvent::ALL.map(|event| (event.name(), event));
    let events = reader.list(top, "events", convert::choice(&words)).unwrap_or_default();
    entries::refuse_repeats(reader, "events", &events);
    events
}

fn read_compilers(reader: &mut TomlReader, top: &TomlTable, program: &Program) -> Vec<String> {
    let Some(compilers) = reader.list(top, "compilers", convert::line) else {
        // A build of its own chooses its compiler itself.
        return if program.build.is_some() { Vec::new() } else { vec!["all".into()] };
    };
    if compilers.is_empty() {
        reader.complain_of(top, "compilers", "`compilers` is empty");
    }
    entries::refuse_repeats(reader, "compilers", &compilers);
    compilers
}

/// What the inputs consist of: the word of their format, or "unit" where they consist of different things.
fn default_unit(inputs: &[InputSpec]) -> &'static str {
    let mut words = inputs.iter().map(InputSpec::unit_word);
    let first = words.next().unwrap_or("call");
    if words.all(|word| word == first) { first } else { "unit" }
}

/// The name of the file's folder, which usually says more than `experiment.toml`; else the file's own.
fn default_name(file: &str) -> String {
    let path = Path::new(file);
    let folder = path.parent().and_then(Path::file_name);
    let name = folder.or_else(|| path.file_stem()).and_then(|name| name.to_str()).unwrap_or_default();
    if name.is_empty() { "experiment".into() } else { to_name(name) }
}
