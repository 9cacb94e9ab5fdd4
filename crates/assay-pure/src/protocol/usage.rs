//! How the calls of one `measure` are made: the optional fields of the request, and what a program announces of them.

use super::error::ProtocolError;
use super::fields::{Fields, digits};
use crate::experiment::usage::{CacheState, Measure};
use std::fmt::Write as _;

/// How the calls of a request are made. What is as ever is not said, so that a program that was built before there was a
/// choice is asked as ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallUsage {
    /// What is cold when a call begins.
    pub state: CacheState,
    /// Whether calls wait for each other.
    pub measure: Measure,
    /// Copies to rotate over, at least 1 where the state is [`CacheState::Rotating`], else 0.
    pub copies: u64,
    /// From the window of one call to that of the next, at least 1; counted around the end.
    pub step: u64,
    /// Bytes to walk over where memory is made cold without knowing which; 0 leaves it to the program.
    pub evict_bytes: u64,
    /// Bytes that the states of one sample may take, of a fresh variant; 0 leaves it to the program.
    pub fresh_bytes: u64,
}

impl Default for CallUsage {
    fn default() -> Self {
        Self {
            state: CacheState::Hot,
            measure: Measure::Throughput,
            copies: 0,
            step: 1,
            evict_bytes: 0,
            fresh_bytes: 0,
        }
    }
}

impl CallUsage {
    /// The fields that differ from the default, each with a space before it.
    pub(super) fn to_text(self) -> String {
        let mut text = String::new();
        let mut say = |differs: bool, key: &str, value: &dyn std::fmt::Display| {
            if differs {
                write!(text, " {key}={value}").expect("a String takes every write");
            }
        };
        say(self.state != CacheState::Hot, "state", &self.state);
        say(self.copies != 0, "copies", &self.copies);
        say(self.step != 1, "step", &self.step);
        say(self.evict_bytes != 0, "evict", &self.evict_bytes);
        say(self.fresh_bytes != 0, "fresh", &self.fresh_bytes);
        say(self.measure != Measure::Throughput, "measure", &self.measure);
        text
    }

    /// Reads them from the fields of a request.
    pub(super) fn read(fields: &Fields<'_>) -> Result<Self, ProtocolError> {
        Ok(Self {
            state: word(fields, "state", CacheState::ALL.map(|state| (state.word(), state)))?,
            measure: word(fields, "measure", Measure::ALL.map(|measure| (measure.word(), measure)))?,
            copies: number(fields, "copies", 0)?,
            step: number(fields, "step", 1)?,
            evict_bytes: number(fields, "evict", 0)?,
            fresh_bytes: number(fields, "fresh", 0)?,
        })
    }
}

/// A whole number that may be absent.
fn number(fields: &Fields<'_>, field: &'static str, absent: u64) -> Result<u64, ProtocolError> {
    match fields.optional(field) {
        None => Ok(absent),
        Some(value) => digits(value).ok_or_else(|| fields.wrong(field, value, "a whole number in range")),
    }
}

/// One of some words; the first where the field is absent.
fn word<T: Copy, const N: usize>(
    fields: &Fields<'_>,
    field: &'static str,
    words: [(&str, T); N],
) -> Result<T, ProtocolError> {
    let Some(value) = fields.optional(field) else { return Ok(words[0].1) };
    let found = words.iter().find(|(word, _)| *word == value);
    found.map(|(_, meaning)| *meaning).ok_or_else(|| fields.wrong(field, value, "a word known here"))
}

/// What a program announces that it can do beside hot and throughput.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    /// States, in its order; empty of a program that was built before there was a choice.
    pub states: Vec<CacheState>,
    /// Measures likewise.
    pub measures: Vec<Measure>,
    /// Stretches of memory that every call reads beside its input, as far as the program has declared them.
    pub declared: u64,
}

impl Abilities {
    /// Whether a usage may be asked for: a program that does not know a field ignores it, and would measure something
    /// else without saying so.
    #[must_use]
    pub fn has(&self, usage: &CallUsage) -> bool {
        let state = usage.state == CacheState::Hot || self.states.contains(&usage.state);
        let measure = usage.measure == Measure::Throughput || self.measures.contains(&usage.measure);
        state && measure && (usage.step == 1 || !self.states.is_empty())
    }

    /// The fields of `ready`, each with a space before it.
    pub(super) fn to_text(&self) -> String {
        let states: Vec<&str> = self.states.iter().map(|state| state.word()).collect();
        let measures: Vec<&str> = self.measures.iter().map(|measure| measure.word()).collect();
        let mut text = String::new();
        for (key, words) in [("states", states), ("measures", measures)] {
            if !words.is_empty() {
                write!(text, " {key}={}", words.join(",")).expect("a String takes every write");
            }
        }
        if self.declared != 0 {
            write!(text, " declared={}", self.declared).expect("a String takes every write");
        }
        text
    }

    /// Reads them; words that only later versions know are ignored, as unknown fields are.
    pub(super) fn read(fields: &Fields<'_>) -> Result<Self, ProtocolError> {
        fn known<T: Copy>(list: Option<&str>, all: &[T], word: fn(T) -> &'static str) -> Vec<T> {
            let words = list.unwrap_or_default().split(',');
            words.filter_map(|said| all.iter().copied().find(|&one| word(one) == said)).collect()
        }
        Ok(Self {
            states: known(fields.optional("states"), &CacheState::ALL, CacheState::word),
            measures: known(fields.optional("measures"), &Measure::ALL, Measure::word),
            declared: number(fields, "declared", 0)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cold() -> CallUsage {
        CallUsage { state: CacheState::ColdData, ..CallUsage::default() }
    }

    #[test]
    fn what_is_as_ever_is_not_said() {
        assert_eq!(CallUsage::default().to_text(), "");
        let all = CallUsage {
            state: CacheState::Rotating,
            measure: Measure::Latency,
            copies: 3,
            step: 5,
            evict_bytes: 9,
            fresh_bytes: 8,
        };
        assert_eq!(all.to_text(), " state=rotating copies=3 step=5 evict=9 fresh=8 measure=latency");
    }

    #[test]
    fn an_older_program_may_only_be_asked_as_ever() {
        let none = Abilities::default();
        assert!(none.has(&CallUsage::default()));
        assert!(!none.has(&cold()));
        assert!(!none.has(&CallUsage { measure: Measure::Latency, ..CallUsage::default() }));
        assert!(!none.has(&CallUsage { step: 2, ..CallUsage::default() }));
        let states = vec![CacheState::Rotating, CacheState::ColdData];
        let some = Abilities { states, ..Abilities::default() };
        assert!(some.has(&cold()) && some.has(&CallUsage { step: 2, ..cold() }));
        assert!(!some.has(&CallUsage { state: CacheState::ColdCode, ..cold() }));
        assert!(!some.has(&CallUsage { measure: Measure::Latency, ..cold() }));
    }
}
