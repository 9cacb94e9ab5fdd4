//! Which processor measured: what is under way on one is not continued on another.

use serde_json::{Value, json};

/// What of a machine's facts is the processor: model name; vendor, family and model.
const FACTS: [&str; 2] = ["cpu", "cpu_id"];

/// This machine's, as kept with what is measured.
pub fn here() -> Value {
    let machine = assay_linux::machine::facts();
    json!({"cpu": machine.cpu, "cpu_id": machine.cpu_id})
}

/// The names of both if the processors differ; of facts that lack one nothing is known.
pub fn another(before: &Value, now: &Value) -> Option<(String, String)> {
    let differ = |key: &str| !before[key].is_null() && before[key] != now[key];
    let name = |machine: &Value| machine["cpu"].as_str().unwrap_or("an unknown CPU").to_owned();
    FACTS.iter().any(|key| differ(key)).then(|| (name(before), name(now)))
}
