//! May a session go into the same table as those before it?
//!
//! What counts as another machine is its processor: model name, vendor, family, model. Another kernel, microcode or
//! governor is told but not refused: times are compared within a session only, and counts do not depend on them. What
//! counts as another input is the content of a declared file, or the command, units or figure of a role.

use crate::lead::processor;
use crate::store::SessionRow;
use serde_json::Value;

/// Why a session does not belong, a sentence each; none if it does.
pub fn strange(earlier: &SessionRow, machine: &Value, inputs: &Value) -> Vec<String> {
    let names = processor::another(&earlier.machine, machine);
    let told = |(before, now)| {
        format!("the earlier stages were measured on another machine ({before}; this is {now})")
    };
    let mut found: Vec<String> = names.map(told).into_iter().collect();
    found.extend(other_inputs(&earlier.inputs, inputs));
    found
}

fn other_inputs(before: &Value, now: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let both = |key: &str| {
        (
            before[key].as_object().cloned().unwrap_or_default(),
            now[key].as_object().cloned().unwrap_or_default(),
        )
    };
    let (old, new) = both("files");
    for (name, digest) in &old {
        match new.get(name) {
            Some(other) if other != digest => {
                found.push(format!("{name} has changed since the earlier stages were measured"))
            }
            Some(_) => {}
            None => {
                found.push(format!("{name} was an input of the earlier stages and is no longer declared"))
            }
        }
    }
    found.extend(
        new.keys()
            .filter(|name| !old.contains_key(*name))
            .map(|name| format!("{name} was not an input of the earlier stages")),
    );
    let (old, new) = both("roles");
    for (name, task) in &old {
        if let Some(other) = new.get(name).filter(|other| *other != task) {
            found.push(format!(
                "the role {name} does something else now: {} before, {} now",
                told(task),
                told(other)
            ));
        }
    }
    found
}

fn told(task: &Value) -> String {
    let units = &task[1];
    let units =
        units["fixed"].as_u64().map_or_else(|| "its own units".to_owned(), |units| format!("{units} units"));
    format!("`{}` ({units})", task[0].as_str().unwrap_or("nothing"))
}

/// What is other about the machine that does not forbid a common table.
pub fn differing(before: &Value, now: &Value) -> Vec<String> {
    let facts = [("kernel", "kernel"), ("microcode", "microcode"), ("governor", "frequency governor")];
    let text = |value: &Value| value.as_str().unwrap_or("unknown").to_owned();
    facts
        .into_iter()
        .filter(|(key, _)| before[*key] != now[*key])
        .map(|(key, word)| format!("{word} {} before, {} now", text(&before[key]), text(&now[key])))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_pure::ledger::Stopped;
    use serde_json::json;

    fn row(machine: Value, inputs: Value) -> SessionRow {
        SessionRow {
            comparison: 1,
            asked: json!({}),
            spec: json!({}),
            inputs,
            machine,
            started_at: 0.0,
            stopped: Some(Stopped::Rounds),
        }
    }

    fn machine() -> Value {
        json!({"cpu": "EPYC", "cpu_id": "AuthenticAMD 25 17", "kernel": "6.1", "microcode": "0x1", "governor": null})
    }

    fn inputs() -> Value {
        json!({"files": {"a": "1"}, "roles": {"alloc": ["./b", {"fixed": 10}, "wall"]}})
    }

    #[test]
    fn the_same_belongs_and_a_new_kernel_is_only_told() {
        let newer = json!({"cpu": "EPYC", "cpu_id": "AuthenticAMD 25 17", "kernel": "6.2", "microcode": "0x1", "governor": null});
        let before = row(machine(), inputs());
        assert!(strange(&before, &machine(), &inputs()).is_empty());
        assert!(strange(&before, &newer, &inputs()).is_empty());
        assert_eq!(differing(&machine(), &newer), ["kernel 6.1 before, 6.2 now"]);
        assert!(differing(&machine(), &machine()).is_empty());
    }

    #[test]
    fn another_processor_file_or_command_is_named() {
        let other = json!({"cpu": "Xeon", "cpu_id": "GenuineIntel 6 85"});
        let found = strange(&row(other, inputs()), &machine(), &inputs());
        assert_eq!(found, ["the earlier stages were measured on another machine (Xeon; this is EPYC)"]);
        let changed = json!({"files": {"a": "2", "b": "1"}, "roles": {"alloc": ["./b", {"fixed": 20}, "wall"], "free": []}});
        let found = strange(&row(machine(), inputs()), &machine(), &changed);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].starts_with("a has changed since"), "{found:?}");
        assert_eq!(found[1], "b was not an input of the earlier stages");
        assert_eq!(
            found[2],
            "the role alloc does something else now: `./b` (10 units) before, `./b` (20 units) now"
        );
        let fewer = json!({"files": {}, "roles": {"alloc": ["./b", {"fixed": 10}, "wall"]}});
        assert!(strange(&row(machine(), inputs()), &machine(), &fewer)[0].contains("no longer declared"));
    }
}
