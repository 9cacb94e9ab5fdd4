//! Confusion: what is true against what was said, counted per tool.

use super::truth::{PairKind, Truth};
use std::collections::BTreeMap;

/// Effects from this size on must be found 95 times in 100.
pub const SURE_EFFECT: f64 = 0.03;
/// Nominal effects are arithmetic (1 cycle in 33 is 2.94 %): what is called 3 % may be a little less.
const ROUNDING: f64 = 0.0015;

/// What a tool said of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// b takes less time.
    Faster,
    /// b takes more time.
    Slower,
    /// No difference, or none that it saw.
    Same,
    /// It declined to say.
    Undecided,
}

impl Said {
    /// From the word of a page or of a peer.
    pub fn of_word(word: &str) -> Option<Self> {
        match word {
            "faster" => Some(Self::Faster),
            "slower" => Some(Self::Slower),
            "equivalent" | "not different" => Some(Self::Same),
            "inconclusive" => Some(Self::Undecided),
            _ => None,
        }
    }
}

/// How it stands to the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TruthOutcome {
    /// The true verdict.
    Right,
    /// It declined to say.
    Undecided,
    /// It saw no difference where there is one.
    Missed,
    /// It saw a difference where there is none.
    False,
    /// It saw the opposite.
    WrongSign,
}

/// Compares what was said with the truth.
pub fn outcome(truth: &str, said: Said) -> TruthOutcome {
    match (truth, said) {
        (_, Said::Undecided) => TruthOutcome::Undecided,
        ("equivalent", Said::Same) | ("faster", Said::Faster) | ("slower", Said::Slower) => {
            TruthOutcome::Right
        }
        ("equivalent", _) => TruthOutcome::False,
        (_, Said::Same) => TruthOutcome::Missed,
        _ => TruthOutcome::WrongSign,
    }
}

/// One verdict of one tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Who said it.
    pub tool: String,
    /// Pair and input.
    pub what: String,
    /// Null or real.
    pub kind: PairKind,
    /// The truth.
    pub truth: Truth,
    /// What was said.
    pub said: Said,
    /// The difference it gave, as a fraction.
    pub difference: Option<f64>,
}

/// Classes of truth, in the order of the table.
pub const CLASSES: [&str; 4] = ["null pair", "real, no effect here", "real, below 3 %", "real, 3 % and more"];

/// The class that a trial's truth belongs to.
pub fn class(kind: PairKind, truth: &Truth) -> &'static str {
    match kind {
        PairKind::Null => CLASSES[0],
        PairKind::Real if truth.verdict == "equivalent" => CLASSES[1],
        PairKind::Real if truth.nominal_effect.abs() < SURE_EFFECT - ROUNDING => CLASSES[2],
        PairKind::Real => CLASSES[3],
    }
}

/// Counts by tool, class and outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutcomeTally {
    counts: BTreeMap<(String, &'static str), BTreeMap<TruthOutcome, u32>>,
}

impl OutcomeTally {
    /// Counts trials.
    pub fn of(trials: &[Trial]) -> Self {
        let mut tally = Self::default();
        for trial in trials {
            let key = (trial.tool.clone(), class(trial.kind, &trial.truth));
            let outcome = outcome(&trial.truth.verdict, trial.said);
            *tally.counts.entry(key).or_default().entry(outcome).or_default() += 1;
        }
        tally
    }

    /// How many trials of a tool in a class had an outcome.
    pub fn count(&self, tool: &str, class: &'static str, outcome: TruthOutcome) -> u32 {
        let found = self.counts.get(&(tool.to_owned(), class));
        found.and_then(|outcomes| outcomes.get(&outcome)).copied().unwrap_or(0)
    }

    /// How many trials of a tool there are in a class.
    pub fn total(&self, tool: &str, class: &'static str) -> u32 {
        self.counts.get(&(tool.to_owned(), class)).map_or(0, |outcomes| outcomes.values().sum())
    }

    /// Where a tool falls short of what assay must reach, in sentences; empty if nowhere.
    pub fn shortcomings(&self, tool: &str) -> Vec<String> {
        let mut found = Vec::new();
        for class in &CLASSES[..2] {
            let (wrong, all) = (self.count(tool, class, TruthOutcome::False), self.total(tool, class));
            if wrong * 100 > all {
                found.push(format!("{class}: {wrong} of {all} called different, at most 1 in 100 allowed"));
            }
        }
        let sure = CLASSES[3];
        let (right, all) = (self.count(tool, sure, TruthOutcome::Right), self.total(tool, sure));
        if right * 100 < all * 95 {
            found.push(format!("{sure}: {right} of {all} right, at least 95 in 100 required"));
        }
        for class in &CLASSES[2..] {
            let wrong = self.count(tool, class, TruthOutcome::WrongSign);
            if wrong > 0 {
                found.push(format!("{class}: {wrong} with the wrong sign, none allowed"));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(kind: PairKind, verdict: &str, nominal_effect: f64, said: Said) -> Trial {
        let truth = Truth { verdict: verdict.into(), nominal_effect };
        Trial { tool: "t".into(), what: "p".into(), kind, truth, said, difference: None }
    }

    #[test]
    fn holds_each_word_against_each_truth() {
        assert_eq!(outcome("equivalent", Said::Same), TruthOutcome::Right);
        assert_eq!(outcome("equivalent", Said::Slower), TruthOutcome::False);
        assert_eq!(outcome("faster", Said::Faster), TruthOutcome::Right);
        assert_eq!(outcome("faster", Said::Slower), TruthOutcome::WrongSign);
        assert_eq!(outcome("slower", Said::Same), TruthOutcome::Missed);
        assert_eq!(outcome("slower", Said::Undecided), TruthOutcome::Undecided);
    }

    #[test]
    fn counts_a_cycle_in_thirty_three_among_the_three_per_cent() {
        let truth = |nominal_effect| Truth { verdict: "slower".into(), nominal_effect };
        assert_eq!(class(PairKind::Real, &truth(1.0 / 33.0)), CLASSES[3]);
        assert_eq!(class(PairKind::Real, &truth(-1.0 / 34.0)), CLASSES[3]);
        assert_eq!(class(PairKind::Real, &truth(1.0 / 48.0)), CLASSES[2]);
    }

    #[test]
    fn names_each_shortcoming() {
        let mut trials = vec![trial(PairKind::Null, "equivalent", 0.0, Said::Same); 99];
        trials.push(trial(PairKind::Null, "equivalent", 0.0, Said::Faster));
        trials.extend(vec![trial(PairKind::Real, "slower", 0.05, Said::Slower); 95]);
        trials.extend(vec![trial(PairKind::Real, "slower", 0.05, Said::Undecided); 5]);
        assert!(OutcomeTally::of(&trials).shortcomings("t").is_empty());
        trials.push(trial(PairKind::Null, "equivalent", 0.0, Said::Faster));
        trials.push(trial(PairKind::Real, "slower", 0.02, Said::Faster));
        trials.push(trial(PairKind::Real, "slower", 0.05, Said::Same));
        let found = OutcomeTally::of(&trials).shortcomings("t");
        assert_eq!(
            found,
            [
                "null pair: 2 of 101 called different, at most 1 in 100 allowed",
                "real, 3 % and more: 95 of 101 right, at least 95 in 100 required",
                "real, below 3 %: 1 with the wrong sign, none allowed",
            ]
        );
    }
}
