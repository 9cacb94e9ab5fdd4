//! Which predictors are simulated, and what the reader must know of each.

use super::compared;
use assay_lab::lead::Misuse;
use assay_pure::predict::profile;
use assay_pure::predict::{self, PredictionKind, UnknownPredictor, zoo};
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
        let found = zoo::describe(name).map_err(refused)?;
        let cpu = profile::find(name);
        let penalty = |cpu: &profile::Cpu| Ends {
            low: f64::from(cpu.penalty.low_cycles),
            high: f64::from(cpu.penalty.high_cycles),
        };
        Ok(SimulatedModel {
            name: name.to_owned(),
            what: found.what,
            confidence: cpu.map(|cpu| cpu.confidence().to_string()),
            definition: found.definition,
            judges: found.judges,
            penalty: cpu.map(penalty),
        })
    }
}

fn refused(error: UnknownPredictor) -> Misuse {
    Misuse(format!("--predictor: {error}; `--predictor help` lists them, `none` is for no simulation"))
}

/// The predictors asked for, or else the range of CPUs for this architecture.
///
/// # Errors
/// An unknown name, `none` beside others.
pub fn choose(asked: &[String], architecture: Option<&str>) -> Result<Vec<SimulatedModel>, Misuse> {
    let mut words =
        asked.iter().flat_map(|list| list.split(',')).map(str::trim).filter(|word| !word.is_empty());
    if words.clone().any(|word| word == NONE) {
        return match (words.next(), words.next()) {
            (Some(_), None) => Ok(Vec::new()),
            _ => Err(Misuse("--predictor none cannot be combined with others".to_owned())),
        };
    }
    if words.next().is_none() {
        return usual(architecture).iter().map(|name| SimulatedModel::of(name)).collect();
    }
    predict::expand(asked).map_err(refused)?.iter().map(|name| SimulatedModel::of(name)).collect()
}

/// The names that a campaign is asked for, ranges spread out; none where none were given.
///
/// # Errors
/// An unknown name; `none`, which would leave a campaign without what its file asks for.
pub fn named(asked: &[String]) -> Result<Vec<String>, Misuse> {
    if asked.iter().flat_map(|list| list.split(',')).any(|word| word.trim() == NONE) {
        return Err(Misuse(
            "--predictor none: a campaign simulates none where its `events` do not ask for branch-misses"
                .to_owned(),
        ));
    }
    predict::expand(asked).map_err(refused)
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
        for found in compared::of(entry.name) {
            text.push_str(&format!("  {:width$}  compared: {found}\n", ""));
        }
    }
    text.push_str(
        "\nWith parameters, as gshare:bits=15,history=12; a range, as bits=12..20 or 64..1024..64, is one for each number:\n",
    );
    for family in zoo::families() {
        text.push_str(&format!("  {}:\n", family.name));
        for parameter in family.parameters {
            let (least, most) = parameter.domain;
            let domain = format!("{}={least}..{most}", parameter.name);
            text.push_str(&format!("    {domain:18}  {} (default {})\n", parameter.what, parameter.usual));
        }
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
        assert_eq!(names(&["gshare:history=3..4,bits=9", "tage"]).unwrap().len(), 3);
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
        let refused = |word: &str| super::named(&[word.to_owned()]).unwrap_err().0;
        assert!(refused("zen44").contains("did you mean `zen4`?"), "{}", refused("zen44"));
        assert!(refused("gshare,none").contains("its `events`"), "{}", refused("gshare,none"));
    }

    #[test]
    fn a_campaign_has_the_named_predictors_in_order_or_none_of_its_own() {
        let named = |text: &str| super::named(&[text.to_owned()]).unwrap();
        assert_eq!(named("zen2,gshare:bits=9..10,zen2"), ["zen2", "gshare:bits=9", "gshare:bits=10"]);
        assert_eq!(super::named(&[]).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn the_list_names_every_predictor_with_its_source() {
        let list = list();
        for entry in zoo::entries() {
            assert!(list.contains(entry.name) && list.contains(entry.source), "{}", entry.name);
            for found in compared::of(entry.name) {
                assert!(list.contains(&format!("  compared: {found}\n")), "{}", entry.name);
            }
        }
        assert!(list.contains("    bits=4..20          2^bits two-bit counters (default 16)\n"), "{list}");
    }
}
