//! Which predictors are simulated, and what the reader must know of each.

use assay_lab::lead::Misuse;
use assay_pure::predict::profile;
use assay_pure::predict::{PredictionKind, zoo};
use assay_pure::trace::classify::InstructionSet;
use assay_report::stat::page::Ends;

/// The word for no simulation at all.
const NONE: &str = "none";
/// What is simulated for a program of an architecture whose CPUs have no profile.
const TEXTBOOK: &[&str] = &["gshare", "tournament", "perceptron"];

/// One simulated predictor.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedModel {
    /// Its name in the zoo.
    pub name: String,
    /// What it is, in one line.
    pub what: String,
    /// How well it is known to stand for a CPU; None for a textbook predictor.
    pub confidence: Option<String>,
    /// A hash of what it does.
    pub definition: u64,
    /// What it predicts.
    pub judges: &'static [PredictionKind],
    /// Cycles that a misprediction costs on the CPU it stands for.
    pub penalty: Option<Ends>,
}

impl SimulatedModel {
    fn of(name: &str) -> Result<SimulatedModel, Misuse> {
        let found = zoo::describe(name).map_err(|error| {
            Misuse(format!(
                "--predictor: {error}; `--predictor help` lists them, `none` is for no simulation"
            ))
        })?;
        let cpu = profile::find(name);
        let penalty = |cpu: &profile::Cpu| Ends {
            low: f64::from(cpu.penalty.low_cycles),
            high: f64::from(cpu.penalty.high_cycles),
        };
        Ok(SimulatedModel {
            name: name.to_owned(),
            what: found.what.to_owned(),
            confidence: cpu.map(|cpu| cpu.confidence().to_string()),
            definition: found.definition,
            judges: found.judges,
            penalty: cpu.map(penalty),
        })
    }
}

/// The predictors asked for, or else the range of CPUs for this architecture.
///
/// # Errors
/// An unknown name, `none` beside others.
pub fn choose(asked: &[String], architecture: Option<&str>) -> Result<Vec<SimulatedModel>, Misuse> {
    let names: Vec<&str> = asked
        .iter()
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .collect();
    if names.contains(&NONE) {
        return match names.as_slice() {
            [NONE] => Ok(Vec::new()),
            _ => Err(Misuse("--predictor none cannot be combined with others".to_owned())),
        };
    }
    if names.is_empty() {
        return usual(architecture).iter().map(|name| SimulatedModel::of(name)).collect();
    }
    let mut models: Vec<SimulatedModel> = Vec::new();
    for name in names {
        if models.iter().all(|model| model.name != name) {
            models.push(SimulatedModel::of(name)?);
        }
    }
    Ok(models)
}

fn usual(architecture: Option<&str>) -> Vec<&'static str> {
    match architecture {
        Some("x86-64") => profile::default_range(InstructionSet::X86_64).to_vec(),
        Some("aarch64") => profile::default_range(InstructionSet::Aarch64).to_vec(),
        _ => TEXTBOOK.to_vec(),
    }
}

/// Whether `--predictor help` was given, which asks for [`list`] alone.
pub fn is_list_asked(names: &[String]) -> bool {
    names.iter().any(|name| name == "help")
}

/// What there is, for `--predictor help`.
pub fn list() -> String {
    let mut text = "Predictors, by name (--predictor NAME,...; `none` for no simulation):\n".to_owned();
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
    }

    #[test]
    fn the_usual_range_is_of_cpus_that_run_the_program() {
        let usual = |architecture| choose(&[], architecture).unwrap();
        for architecture in ["x86-64", "aarch64"] {
            for model in usual(Some(architecture)) {
                let penalty = model.penalty.expect("a CPU has a penalty");
                assert!(penalty.low > 0.0 && penalty.low <= penalty.high, "{model:?}");
                assert!(model.confidence.is_some(), "{model:?}");
            }
        }
        assert_ne!(usual(Some("x86-64")), usual(Some("aarch64")));
        // A textbook predictor stands for no CPU, so nothing is said of cycles.
        for model in usual(Some("riscv")).into_iter().chain(usual(None)) {
            assert_eq!((model.penalty, model.confidence), (None, None));
        }
    }

    #[test]
    fn unknown_names_are_refused_with_a_hint() {
        let message = names(&["gshar"]).unwrap_err();
        assert!(message.contains("`gshare`") && message.contains("--predictor help"), "{message}");
        assert!(names(&["none,gshare"]).unwrap_err().contains("cannot be combined"));
    }

    #[test]
    fn the_list_names_every_predictor_with_its_source() {
        let list = list();
        for entry in zoo::entries() {
            assert!(list.contains(entry.name) && list.contains(entry.source), "{}", entry.name);
        }
    }
}
