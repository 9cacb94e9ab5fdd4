//! hyperfine's JSON, as `--export-json` writes it: seconds, one run per placement.
//!
//! Source: hyperfine 1.15 to 1.19. Checked by: assay's own reader, the keys of its export in fixtures/adapters.

use super::{Export, Summary};
use serde_json::{Map, Value, json};

const SECOND_NS: f64 = 1e9;

/// The export.
pub fn json(export: &Export) -> String {
    let results: Vec<Value> = export
        .cells
        .iter()
        .map(|cell| {
            let seconds: Vec<f64> = cell.wall.iter().map(|ns| ns / SECOND_NS).collect();
            let (times, user) = (Summary::of(&seconds), Summary::of(&cell.cpu).mean / SECOND_NS);
            let parameters: Map<String, Value> =
                cell.axes.iter().map(|(axis, value)| ((*axis).to_owned(), value.clone().into())).collect();
            json!({
                "command": format!("{}/{}", export.experiment, cell.name()),
                "mean": times.mean,
                "stddev": (seconds.len() > 1).then_some(times.deviation),
                "median": times.median, "user": user, "system": 0.0, "min": times.least, "max": times.most,
                "times": seconds, "exit_codes": vec![0; seconds.len()], "parameters": parameters
            })
        })
        .collect();
    crate::json::written(&json!({ "results": results }))
}
