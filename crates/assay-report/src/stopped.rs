//! How pages spell why measuring ended. Programs read these words, so they stay, also where the ledger has others.

use assay_pure::ledger::Stopped;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

/// A reason, its word, and what the word means. Of two reasons with one word, the first is read.
type ReasonWords = [(Stopped, &'static str, &'static str)];

fn write<S: Serializer>(words: &ReasonWords, stopped: Stopped, to: S) -> Result<S::Ok, S::Error> {
    match words.iter().find(|(reason, ..)| *reason == stopped) {
        Some((_, word, _)) => to.serialize_str(word),
        None => Err(S::Error::custom(format!("no measuring of this kind ends as {:?}", stopped.word()))),
    }
}

fn read<E: serde::de::Error>(words: &ReasonWords, word: &str) -> Result<Stopped, E> {
    let found = words.iter().find(|(_, known, _)| *known == word);
    found
        .map(|(reason, ..)| *reason)
        .ok_or_else(|| E::custom(format!("{word:?} is not a known reason to stop")))
}

#[cfg(test)]
fn choices(words: &ReasonWords) -> serde_json::Value {
    let mut choices: Vec<serde_json::Value> = Vec::new();
    for (_, word, about) in words {
        if choices.iter().all(|choice| choice["const"] != *word) {
            choices.push(serde_json::json!({ "const": word, "description": about, "type": "string" }));
        }
    }
    serde_json::json!({ "oneOf": choices })
}

/// Of campaigns, comparisons and sessions of a diary.
pub(crate) mod runs {
    use super::*;

    const ROTATIONS: &str = "The largest number of rotations is reached.";
    const WORDS: &ReasonWords = &[
        (Stopped::Decided, "decided", "Every contrast has a verdict other than undecided."),
        (Stopped::Budget, "budget_spent", "The budget of measuring is spent."),
        (Stopped::Rotations, "rotations_spent", ROTATIONS),
        (Stopped::Rounds, "rotations_spent", ROTATIONS),
        (Stopped::Interrupted, "interrupted", "The user interrupted it."),
        (Stopped::Nothing, "nothing_to_measure", "No cell could be measured."),
    ];

    pub fn serialize<S: Serializer>(stopped: &Stopped, to: S) -> Result<S::Ok, S::Error> {
        write(WORDS, *stopped, to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Stopped, D::Error> {
        read(WORDS, &String::deserialize(from)?)
    }

    #[cfg(test)]
    pub fn schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        choices(WORDS).try_into().expect("an object")
    }
}

/// Of sweeps, which may not have ended.
pub(crate) mod sweeps {
    use super::*;

    const WORDS: &ReasonWords = &[
        (
            Stopped::Refined,
            "refined",
            "Every crossover is as narrow as wanted or as noise allows, and no bend is left.",
        ),
        (Stopped::Points, "points", "All further points are spent."),
        (Stopped::Interrupted, "interrupted", "The user interrupted it."),
        (Stopped::Nothing, "nothing", "Nothing could be measured."),
    ];

    pub fn serialize<S: Serializer>(stopped: &Option<Stopped>, to: S) -> Result<S::Ok, S::Error> {
        match stopped {
            Some(stopped) => write(WORDS, *stopped, to),
            None => to.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Stopped>, D::Error> {
        Option::<String>::deserialize(from)?.map(|word| read(WORDS, &word)).transpose()
    }

    #[cfg(test)]
    pub fn schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let any_or_null = serde_json::json!({ "anyOf": [choices(WORDS), { "type": "null" }] });
        any_or_null.try_into().expect("an object")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_read_as_the_one_that_its_word_means() {
        for stopped in Stopped::ALL {
            let Ok(word) = runs::serialize(stopped, serde_json::value::Serializer) else { continue };
            let read = runs::deserialize(word).expect("a word just written");
            let meant = if *stopped == Stopped::Rounds { Stopped::Rotations } else { *stopped };
            assert_eq!(read, meant);
        }
        assert!(runs::serialize(&Stopped::Points, serde_json::value::Serializer).is_err());
        assert!(sweeps::deserialize(serde_json::json!("budget_spent")).is_err());
        assert_eq!(sweeps::deserialize(serde_json::Value::Null).ok(), Some(None));
    }
}
