//! A session as it was planned, in the ledger's words.

use assay_pure::stages::Diary;
use serde_json::{Map, Value, json};

/// What an entrant is: how it is built and what is run of it. If that changes, it is measured anew.
pub fn definition(diary: &Diary, entrant: usize) -> Value {
    let entrant = &diary.entrants[entrant];
    let tasks: Map<String, Value> =
        entrant.tasks.iter().map(|(role, task)| (diary.roles[*role].name.clone(), json!(task))).collect();
    json!({ "recipe": entrant.recipe, "tasks": tasks })
}
