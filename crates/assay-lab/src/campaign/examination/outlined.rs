//! What an examination starts from: the inputs as the file has them, and pieces of them that the variants are tried on.

use crate::campaign::inputs::{self, InputPlaces};
use crate::examine::facts::{ExaminedInput, ExperimentFacts};
use crate::examine::specimen::{Specimen, made, probe_units};
use crate::examine::started::Laid;
use crate::lead::Misuse;
use anyhow::{Context, Result};
use assay_linux::machine::Machine;
use assay_pure::experiment::Experiment;
use assay_pure::experiment::spec::{InputSource, InputSpec};
use std::path::Path;

/// What can be known without building anything: the file and its inputs.
///
/// # Errors
/// A recorded input cannot be read.
pub fn outlined(
    experiment: &Experiment,
    places: InputPlaces<'_>,
    machine: &Machine,
    production_units: Option<u64>,
) -> Result<ExperimentFacts> {
    let mut facts = ExperimentFacts {
        unit: experiment.unit.clone(),
        l1d_bytes: cache(machine, "L1d"),
        l2_bytes: cache(machine, "L2"),
        ..ExperimentFacts::default()
    };
    for spec in &experiment.file_inputs() {
        let (bytes, units) = beginning(spec, places)?;
        facts.inputs.push(input(spec, &bytes, units, production_units));
    }
    Ok(facts)
}

/// "L1d 32K" to bytes.
fn cache(machine: &Machine, level: &str) -> Option<u64> {
    let size = machine.caches.iter().find_map(|cache| cache.strip_prefix(level)?.strip_prefix(' '))?;
    let (digits, scale) = match size.strip_suffix('K') {
        Some(digits) => (digits, 1 << 10),
        None => (size.strip_suffix('M')?, 1 << 20),
    };
    Some(digits.parse::<u64>().ok()? * scale)
}

/// The beginning of an input's bytes, long enough for all pieces, and the units of the whole.
fn beginning(spec: &InputSpec, places: InputPlaces<'_>) -> Result<(Vec<u8>, u64)> {
    if let InputSource::Generated { units, distinct_units, .. } = spec.source
        // What repeats itself is walked over once.
        && let Some(bytes) = made(spec, probe_units(distinct_units.unwrap_or(units).min(units)), 0)
    {
        return Ok((bytes, units));
    }
    let bytes = inputs::bytes_of(spec, places)?;
    let windows = spec.windows(&bytes).with_context(|| format!("input `{}`", spec.name))?;
    Ok((bytes, windows.iter().map(|window| window.units).sum()))
}

fn input(spec: &InputSpec, bytes: &[u8], units: u64, production_units: Option<u64>) -> ExaminedInput {
    let begun = spec.format.count(bytes).unwrap_or(0).max(1);
    let family = match &spec.source {
        InputSource::Generated { generator, .. } => {
            serde_json::to_string(generator).expect("a generator has only string keys")
        }
        InputSource::Recorded { path } => path.clone(),
        InputSource::Command { command, .. } => command.join(" "),
        InputSource::Keys { hit_rate, exponent, .. } => format!("keys {hit_rate} {exponent}"),
        InputSource::Settings { .. } | InputSource::Empty => String::new(),
    };
    let distinct = match &spec.source {
        InputSource::Generated { distinct_units: Some(distinct), .. } => *distinct,
        _ => units,
    };
    // The beginning stands for the rest: only its length is estimated.
    let whole = if begun >= units {
        bytes.len() as u64
    } else {
        (bytes.len() as f64 * units as f64 / begun as f64) as u64
    };
    ExaminedInput {
        name: spec.name.clone(),
        family: format!("{family} as {:?}", spec.format),
        bytes: if matches!(spec.source, InputSource::Settings { .. }) { 0 } else { whole },
        is_generated: matches!(spec.source, InputSource::Generated { .. }),
        units,
        distinct,
        windows: if spec.window_units == 0 { 1 } else { units.div_ceil(spec.window_units).max(1) },
        production_units: spec.production_units.or(production_units),
    }
}

/// The inputs in pieces; none of those without bytes.
///
/// # Errors
/// A recorded input cannot be read, or is not of its format; the folder cannot be written.
pub fn lay(experiment: &Experiment, places: InputPlaces<'_>, scratch: &Path) -> Result<Vec<Laid>> {
    let mut laid = Vec::new();
    for (number, spec) in experiment.file_inputs().iter().enumerate() {
        let (bytes, _) = beginning(spec, places)?;
        let pieces = Specimen::of(spec, &bytes)
            .map_err(|problem| Misuse(format!("input `{}` is not of its format: {problem}", spec.name)))?;
        if let Some(specimen) = pieces {
            let seconds = inputs::seconds_of(spec, places)?;
            laid.push(Laid::write(specimen, scratch, number, &seconds)?);
        }
    }
    Ok(laid)
}
