//! Which gate is whose: one for all, or by name, as a file of the repository has it.
//!
//! A file has a line for each pattern, and the last line that matches a name counts:
//!
//! ```toml
//! "*" = "slower:5%"
//! "crc32/*" = "slower:1%,peak:5%"
//! "startup" = "off"
//! ```

use super::gate::{Gate, GateError};
use super::limit::{GateLimits, Rise};
use serde::{Deserialize, Serialize};
use wildmatch::WildMatch;

/// The gates of a comparison or of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "StoredGates")]
pub struct Gates {
    /// As the user gave them: "slower:2%", or the name of their file.
    pub given: String,
    rules: Vec<GateRule>,
}

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct GateRule {
    /// Of names; `*` is any text and `?` one character.
    pattern: String,
    /// Of time; none is "off", or a line that limits memory alone.
    gate: Option<Gate>,
    /// Of the most memory at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    peak: Option<Rise>,
    /// Of allocations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    allocations: Option<Rise>,
}

/// A ledger of before there were files has one gate.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredGates {
    Rules { given: String, rules: Vec<GateRule> },
    One(Gate),
}

impl From<StoredGates> for Gates {
    fn from(stored: StoredGates) -> Self {
        match stored {
            StoredGates::Rules { given, rules } => Self { given, rules },
            StoredGates::One(gate) => gate.into(),
        }
    }
}

impl From<Gate> for Gates {
    fn from(gate: Gate) -> Self {
        Self::for_all(&gate.to_string(), gate.into())
    }
}

/// What is wrong with a file of gates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatesError {
    /// Counted from 1.
    pub line: usize,
    /// A part of a sentence.
    pub message: String,
}

impl std::fmt::Display for GatesError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for GatesError {}

impl Gates {
    /// Reads a file of gates, named as the user gave it.
    ///
    /// # Errors
    /// It is no TOML, a line is not a pattern and a gate, or there is no line.
    pub fn read(given: &str, text: &str) -> Result<Self, GatesError> {
        let line = |at: usize| text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1;
        let wrong = |span: Option<std::ops::Range<usize>>, message: String| GatesError {
            line: line(span.map_or(0, |span| span.start)),
            message,
        };
        let document = toml_edit::Document::parse(text)
            .map_err(|error| wrong(error.span(), error.message().to_owned()))?;
        let mut rules = Vec::new();
        for (pattern, item) in document.as_table().iter() {
            let Some(value) = item.as_str() else {
                let example = "give a pattern and its gate in quotes, as in \"crc32/*\" = \"slower:2%\"";
                return Err(wrong(item.span(), format!("`{pattern}` has no gate: {example}")));
            };
            let gate = match value.trim() {
                "off" => GateLimits::default(),
                gate => gate.parse().map_err(|error: GateError| {
                    let off = if matches!(error, GateError::Limit(_)) { ", or `off`" } else { "" };
                    wrong(item.span(), format!("{error}{off}"))
                })?,
            };
            rules.push(GateRule::new(pattern, gate));
        }
        if rules.is_empty() {
            return Err(wrong(
                None,
                "there is no gate in it: write for example \"*\" = \"slower:2%\"".into(),
            ));
        }
        Ok(Self { given: given.to_owned(), rules })
    }

    /// One gate for all, as the user gave it.
    pub fn for_all(given: &str, limits: GateLimits) -> Self {
        Self { given: given.to_owned(), rules: vec![GateRule::new("*", limits)] }
    }

    /// The gate of the times of what has this name; none where no pattern matches it or its gate is off.
    pub fn of(&self, name: &str) -> Option<Gate> {
        self.limits(name).slower
    }

    /// All limits of what has this name.
    pub fn limits(&self, name: &str) -> GateLimits {
        let matching = self.rules.iter().rev().find(|rule| rule.matches(name));
        matching.map_or_else(GateLimits::default, |rule| GateLimits {
            slower: rule.gate,
            peak: rule.peak,
            allocations: rule.allocations,
        })
    }

    /// Whether anything limits allocations.
    pub fn limits_allocations(&self) -> bool {
        self.rules.iter().any(|rule| rule.allocations.is_some())
    }

    /// Whether anything limits the most memory at once.
    pub fn limits_peak(&self) -> bool {
        self.rules.iter().any(|rule| rule.peak.is_some())
    }

    /// Patterns that match none of these names: misspelt, or of what is gone.
    pub fn unmatched(&self, names: &[String]) -> Vec<String> {
        let idle = |rule: &&GateRule| !names.iter().any(|name| rule.matches(name));
        self.rules.iter().filter(idle).map(|rule| rule.pattern.clone()).collect()
    }

    /// The finest of them all.
    pub fn finest(&self) -> Option<Gate> {
        let slowdowns = self.rules.iter().filter_map(|rule| rule.gate).filter(|gate| gate.slower > 0.0);
        slowdowns.min_by(|one, other| one.slower.total_cmp(&other.slower))
    }
}

impl std::fmt::Display for Gates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.given)
    }
}

impl GateRule {
    fn new(pattern: &str, limits: GateLimits) -> Self {
        let GateLimits { slower, peak, allocations } = limits;
        Self { pattern: pattern.to_owned(), gate: slower, peak, allocations }
    }

    fn matches(&self, name: &str) -> bool {
        WildMatch::new(&self.pattern).matches(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str =
        "# gates\n\"*\" = \"slower:5%\"\n\"crc32/*\" = \"slower:1%\"\n\"crc32/cold\" = \"off\"\n";

    #[test]
    fn the_last_line_that_matches_counts() {
        let gates = Gates::read("gates.toml", FILE).unwrap();
        let of = |name: &str| gates.of(name).map(|gate| gate.to_string());
        assert_eq!(of("itoa").as_deref(), Some("slower:5%"));
        assert_eq!(of("crc32/64").as_deref(), Some("slower:1%"));
        assert_eq!(of("crc32/cold"), None);
        assert_eq!(gates.finest().map(|gate| gate.slower), Some(0.01));
        assert_eq!(Gates::read("g", "a = 'slower'").unwrap().of("b"), None);
    }

    #[test]
    fn a_pattern_that_matches_nothing_is_found() {
        let gates = Gates::read("gates.toml", FILE).unwrap();
        let names = ["itoa".to_owned(), "crc32/64".to_owned()];
        assert_eq!(gates.unmatched(&names), ["crc32/cold"]);
        assert_eq!(gates.unmatched(&[]).len(), 3);
    }

    #[test]
    fn one_gate_is_for_all_also_as_ledgers_of_before_have_it() {
        let gate: Gate = "slower:2%".parse().unwrap();
        let read: Gates = serde_json::from_str(r#"{"slower":0.02}"#).unwrap();
        assert_eq!((read.of("anything"), read.to_string()), (Some(gate), "slower:2%".to_owned()));
        let gates = Gates::read("gates.toml", FILE).unwrap();
        let again: Gates = serde_json::from_str(&serde_json::to_string(&gates).unwrap()).unwrap();
        assert_eq!(again, gates);
    }

    #[test]
    fn a_line_may_limit_memory_with_time_or_alone() {
        let text =
            "'*' = 'slower:5%'\n'crc/*' = 'slower:1%,peak:5%'\n'start' = 'allocations:0'\n'x' = 'off'\n";
        let gates = Gates::read("gates.toml", text).unwrap();
        assert_eq!(gates.limits("crc/64").peak, Some(Rise::Share(0.05)));
        assert_eq!((gates.of("start"), gates.limits("start").allocations), (None, Some(Rise::Count(0.0))));
        assert_eq!(gates.limits("x"), GateLimits::default());
        assert_eq!(gates.limits("other").peak, None);
        assert!(gates.limits_allocations() && gates.limits_peak());
        let again: Gates = serde_json::from_str(&serde_json::to_string(&gates).unwrap()).unwrap();
        assert_eq!(again, gates);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, line, part) in [
            ("", 1, "no gate in it"),
            (
                "\"*\" = \"slower\"\n\"a\" = \"faster\"\n",
                2,
                "`faster` is not a gate: write `slower:2%`, `peak:5%` or `allocations:0`, several with commas, or `off`",
            ),
            ("\"*\" = 2\n", 1, "`*` has no gate"),
            ("[gates]\n\"*\" = \"slower\"\n", 1, "`gates` has no gate"),
            ("\n\"*\" = \"slower:x\"\n", 2, "`x` is not a percentage"),
            ("\n\n* = \"slower\"\n", 3, ""),
        ] {
            let error = Gates::read("gates.toml", text).unwrap_err();
            assert_eq!(error.line, line, "{error}");
            assert!(error.message.contains(part), "{error}");
        }
    }
}
