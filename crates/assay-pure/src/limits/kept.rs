//! Limits as they are kept: which machine they are of, and what a file must be to be believed.

use super::{Limits, MeasuredMachine};
use crate::inputs::digest::digest;
use serde::Deserialize;
use std::fmt;

/// The value of `schema` in every file written by this version.
pub const SCHEMA: &str = "assay.limits/1";

/// Why a text is not a machine's limits.
#[derive(Debug)]
pub enum LimitsError {
    /// Not JSON, or a key is missing or of another type.
    Json(serde_json::Error),
    /// Of another schema, with the schema found.
    Schema(String),
    /// It has no figure, or one that no machine has.
    Figure(String),
}

impl fmt::Display for LimitsError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            LimitsError::Json(error) => write!(out, "it is not of schema {SCHEMA}: {error}"),
            LimitsError::Schema(found) => {
                write!(out, "it has schema \"{found}\"; this assay reads \"{SCHEMA}\"")
            }
            LimitsError::Figure(what) => write!(out, "{what} is not a possible value"),
        }
    }
}

impl std::error::Error for LimitsError {}

impl Limits {
    /// As JSON with a newline at its end.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("limits have only string keys");
        text.push('\n');
        text
    }

    /// Reads what [`Limits::to_json`] wrote.
    ///
    /// # Errors
    /// The text is not JSON, carries another schema, lacks a key, or has a figure that is not positive.
    pub fn from_json(text: &str) -> Result<Limits, LimitsError> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        // The schema first: "missing field" is no help to somebody who has a file of a newer version.
        let head: Head = serde_json::from_str(text).map_err(LimitsError::Json)?;
        if head.schema != SCHEMA {
            return Err(LimitsError::Schema(head.schema));
        }
        let limits: Limits = serde_json::from_str(text).map_err(LimitsError::Json)?;
        limits.check()?;
        Ok(limits)
    }

    /// Everything that is divided by must be positive.
    fn check(&self) -> Result<(), LimitsError> {
        let costs = self.costs.iter().map(|cost| (cost.name.as_str(), cost.ns));
        let moved = self
            .bandwidth
            .iter()
            .flat_map(|curve| curve.points.iter().map(|p| (curve.by.as_str(), p.figure)));
        let loads = self.latency.iter().flat_map(|curve| curve.points.iter().map(|p| ("a load", p.figure)));
        let cycle = self.clock.iter().map(|clock| ("a cycle", clock.cycle_ns));
        let mut all = costs.chain(moved).chain(loads).chain(cycle);
        match all.find(|(_, figure)| !(figure.median > 0.0 && figure.median.is_finite())) {
            Some((what, figure)) => Err(LimitsError::Figure(format!("{what}: {}", figure.median))),
            None => Ok(()),
        }
    }
}

impl MeasuredMachine {
    /// The name of its file, without an ending: the CPU's model, and a digest of what makes it another machine.
    ///
    /// The kernel and the governor are no part of it: what depends on them is told apart (see
    /// [`MeasuredMachine::changes`]).
    pub fn key(&self) -> String {
        let identity =
            serde_json::json!([self.cpu, self.cpu_id, self.microcode, self.virtual_machine, self.caches]);
        let mut name: String = self
            .cpu
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' })
            .collect();
        while name.contains("--") {
            name = name.replace("--", "-");
        }
        let name: String = name.trim_matches('-').chars().take(40).collect();
        format!("{}-{}", name.trim_end_matches('-'), &digest(identity.to_string().as_bytes())[..12])
    }

    /// Whether two are the same machine, as far as its hardware goes.
    pub fn is_same(&self, other: &MeasuredMachine) -> bool {
        self.key() == other.key()
    }

    /// What is different now, in a few words each.
    pub fn changes(&self, now: &MeasuredMachine) -> Vec<String> {
        let or_none = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
        let facts = [
            ("CPU", self.cpu.clone(), now.cpu.clone()),
            ("CPU id", self.cpu_id.clone(), now.cpu_id.clone()),
            ("microcode", or_none(&self.microcode), or_none(&now.microcode)),
            ("virtual machine", self.virtual_machine.to_string(), now.virtual_machine.to_string()),
            ("caches", self.caches.join(", "), now.caches.join(", ")),
            ("kernel", self.kernel.clone(), now.kernel.clone()),
            ("governor", or_none(&self.governor), or_none(&now.governor)),
        ];
        let changed = facts.into_iter().filter(|(_, then, now)| then != now);
        changed.map(|(what, then, now)| format!("{what}: {then} then, {now} now")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn limits_survive_their_json() {
        let limits = sample::limits();
        assert_eq!(Limits::from_json(&limits.to_json()).unwrap(), limits);
    }

    #[test]
    fn what_is_no_such_file_is_refused_by_what_is_wrong_with_it() {
        let error = |text: &str| Limits::from_json(text).unwrap_err().to_string();
        assert!(error("{\"sch").starts_with("it is not of schema assay.limits/1: EOF"));
        assert!(error("{}").contains("missing field `schema`"));
        let newer = sample::limits().to_json().replace("assay.limits/1", "assay.limits/2");
        assert_eq!(error(&newer), "it has schema \"assay.limits/2\"; this assay reads \"assay.limits/1\"");
        assert!(error("{\"schema\": \"assay.limits/1\"}").contains("missing field"));
        let mut zero = sample::limits();
        zero.costs[0].ns.median = 0.0;
        assert_eq!(error(&zero.to_json()), "instruction: 0 is not a possible value");
        let mut negative = sample::limits();
        negative.bandwidth[0].points[0].figure.median = -3.0;
        assert_eq!(error(&negative.to_json()), "8-byte: -3 is not a possible value");
        let mut still = sample::limits();
        still.clock.as_mut().unwrap().cycle_ns.median = 0.0;
        assert_eq!(error(&still.to_json()), "a cycle: 0 is not a possible value");
    }

    #[test]
    fn the_key_goes_by_the_hardware_alone() {
        let machine = sample::machine();
        let key = machine.key();
        assert!(key.starts_with("amd-epyc-"), "{key}");
        assert_eq!(key.len(), "amd-epyc-".len() + 12);
        assert!(key.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-'));
        let kernel = MeasuredMachine {
            kernel: "6.12".to_owned(),
            governor: Some("powersave".to_owned()),
            ..machine.clone()
        };
        assert!(machine.is_same(&kernel) && kernel.key() == key);
        for other in [
            MeasuredMachine { cpu: "AMD EPYC 2".to_owned(), ..machine.clone() },
            MeasuredMachine { cpu_id: "AuthenticAMD 25 18".to_owned(), ..machine.clone() },
            MeasuredMachine { microcode: Some("0xb".to_owned()), ..machine.clone() },
            MeasuredMachine { virtual_machine: false, ..machine.clone() },
            MeasuredMachine { caches: vec!["L1d 48K".to_owned()], ..machine.clone() },
        ] {
            assert!(!machine.is_same(&other), "{other:?}");
        }
        let odd = MeasuredMachine {
            cpu: "  Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz, and a long tail".to_owned(),
            ..machine
        };
        assert!(odd.key().starts_with("intel-r-xeon-r-gold-6130-cpu-2-10ghz-and-"), "{}", odd.key());
    }

    #[test]
    fn what_changed_is_named_with_both_values() {
        let machine = sample::machine();
        assert_eq!(machine.changes(&machine), [""; 0]);
        let now = MeasuredMachine { kernel: "6.12".to_owned(), microcode: None, ..machine.clone() };
        assert_eq!(machine.changes(&now), ["microcode: 0xa then, unknown now", "kernel: 6.1 then, 6.12 now"]);
    }
}
