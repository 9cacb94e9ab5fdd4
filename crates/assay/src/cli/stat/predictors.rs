//! Which predictors are simulated, and what the reader must know of each.

use crate::campaign::Misuse;
use crate::report::stat::page::Ends;
use assay_pure::predict::{Judged, zoo};

/// The word for no simulation at all.
const NONE: &str = "none";

/// One simulated predictor.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Its name in the zoo.
    pub name: String,
    /// What it is, in one line.
    pub what: String,
    /// How well it is known to stand for a CPU; None for a textbook predictor.
    pub confidence: Option<String>,
    /// A hash of what it does.
    pub definition: u64,
    /// What it predicts.
    pub judges: &'static [Judged],
    /// Cycles that a misprediction costs on the CPU it stands for.
    pub penalty: Option<Ends>,
}

impl Model {
    fn of(name: &str) -> Result<Model, Misuse> {
        let found = zoo::describe(name).map_err(|error| {
            Misuse(format!("--predictor: {error}; `--predictor help` lists them, `none` simulates nothing"))
        })?;
        Ok(Model {
            name: name.to_owned(),
            what: found.what.to_owned(),
            confidence: None,
            definition: found.definition,
            judges: found.judges,
            penalty: None,
        })
    }
}

/// The predictors asked for, or else the range of CPUs for this architecture.
///
/// # Errors
/// An unknown name, `none` beside others.
pub fn choose(asked: &[String], architecture: Option<&str>) -> Result<Vec<Model>, Misuse> {
    let names: Vec<&str> = asked
        .iter()
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .collect();
    if names.contains(&NONE) {
        return match names.as_slice() {
            [NONE] => Ok(Vec::new()),
            _ => Err(Misuse("--predictor none stands alone".to_owned())),
        };
    }
    if names.is_empty() {
        return usual(architecture).iter().map(|name| Model::of(name)).collect();
    }
    let mut models: Vec<Model> = Vec::new();
    for name in names {
        if models.iter().all(|model| model.name != name) {
            models.push(Model::of(name)?);
        }
    }
    Ok(models)
}

fn usual(architecture: Option<&str>) -> Vec<&'static str> {
    let _ = architecture;
    vec!["bimodal", "gshare", "tournament", "perceptron"]
}

/// What there is, for `--predictor help`.
pub fn list() -> String {
    let mut text = "Predictors, by name (--predictor NAME,...; none simulates nothing):\n".to_owned();
    let width = zoo::entries().map(|entry| entry.name.len()).max().unwrap_or(0);
    for entry in zoo::entries() {
        text.push_str(&format!(
            "  {:width$}  {}\n  {:width$}  source: {}\n",
            entry.name, entry.what, "", entry.source
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(asked: &[&str]) -> Result<Vec<String>, String> {
        let asked: Vec<String> = asked.iter().map(|text| (*text).to_owned()).collect();
        choose(&asked, Some("x86-64"))
            .map(|models| models.into_iter().map(|model| model.name).collect())
            .map_err(|misuse| misuse.0)
    }

    #[test]
    fn names_are_taken_in_order_and_once() {
        assert_eq!(names(&["gshare,bimodal", "gshare"]).unwrap(), ["gshare", "bimodal"]);
        assert_eq!(names(&["none"]).unwrap(), Vec::<String>::new());
        assert!(!names(&[]).unwrap().is_empty());
    }

    #[test]
    fn unknown_names_are_refused_with_a_hint() {
        let message = names(&["gshar"]).unwrap_err();
        assert!(message.contains("`gshare`") && message.contains("--predictor help"), "{message}");
        assert!(names(&["none,gshare"]).unwrap_err().contains("alone"));
    }

    #[test]
    fn the_list_names_every_predictor_with_its_source() {
        let list = list();
        for entry in zoo::entries() {
            assert!(list.contains(entry.name) && list.contains(entry.source), "{}", entry.name);
        }
    }
}
