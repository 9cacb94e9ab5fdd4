//! The inputs that a campaign used, with what was found in them.

use crate::campaign::known_input::KnownInput;
use crate::campaign::usage;
use crate::store::{CampaignRow, Ledger};
use anyhow::Result;
use assay_pure::experiment::Experiment;
use assay_pure::experiment::spec::{InputSource, InputSpec};
use assay_pure::inputs::Description;
use assay_report::page;
use serde_json::Value;
use std::collections::HashMap;

pub(super) fn inputs_of(
    ledger: &Ledger,
    row: &CampaignRow,
    experiment: &Experiment,
) -> Result<Vec<KnownInput>> {
    let used: HashMap<String, String> =
        ledger.campaign_inputs(row.id)?.into_iter().map(|input| (input.name, input.digest)).collect();
    let mut known = Vec::new();
    for spec in &experiment.inputs {
        let Some(kept) = used.get(&spec.name).map(|digest| ledger.input(digest)).transpose()?.flatten()
        else {
            continue;
        };
        let description: Option<Description> = serde_json::from_value(kept.description.clone()).ok();
        let shown = page::PageInput {
            name: spec.name.clone(),
            digest: kept.digest.clone(),
            bytes: kept.bytes,
            units: description.as_ref().map_or(0, |description| description.units),
            summary: spec.description.clone(),
            recipe: Some(recipe(&spec.source)),
            description: kept.description,
            state: spec.usage.state,
            measure: spec.usage.measure,
            copies: copies(spec, kept.bytes, row),
            of: spec.of.clone(),
        };
        known.push(KnownInput { spec: spec.clone(), shown, description });
    }
    Ok(known)
}

/// The copies that a campaign rotated over, as it reckoned them itself.
fn copies(spec: &InputSpec, bytes: u64, row: &CampaignRow) -> Option<u64> {
    let caches: Vec<String> = serde_json::from_value(row.machine["caches"].clone()).unwrap_or_default();
    let copies = usage::copies(spec.usage, bytes, usage::last_level_bytes(&caches));
    (copies > 0).then_some(copies)
}

/// A recipe in a few words.
pub fn recipe(source: &InputSource) -> String {
    match source {
        InputSource::Recorded { path } => format!("recorded: {path}"),
        InputSource::Empty => "nothing: the program makes its own".into(),
        InputSource::Settings { settings, .. } => {
            let text = String::from_utf8_lossy(&settings.bytes()).trim_end().replace('\n', ", ");
            format!("settings {text}")
        }
        InputSource::Command { command, units, seed } => {
            let units = units.map_or(String::new(), |units| format!("{units} units, "));
            format!("command: {} ({units}seed {seed})", command.join(" "))
        }
        InputSource::Keys { hit_rate, exponent, units, seed, .. } => {
            format!("keys hit_rate {hit_rate}, exponent {exponent} ({units} units, seed {seed})")
        }
        InputSource::Generated { generator, units, seed, distinct_units } => {
            let value = serde_json::to_value(generator).unwrap_or_default();
            let mut parts = Vec::new();
            if let Value::Object(fields) = &value {
                parts.extend(
                    fields
                        .iter()
                        .filter(|(key, _)| *key != "generator")
                        .map(|(key, value)| format!("{key} {value}")),
                );
            }
            let kind = value["generator"].as_str().unwrap_or("generated").to_owned();
            let repeated =
                distinct_units.map_or(String::new(), |distinct| format!(", the first {distinct} repeated"));
            format!("{kind} {} ({units} units, seed {seed}{repeated})", parts.join(", "))
        }
    }
}
