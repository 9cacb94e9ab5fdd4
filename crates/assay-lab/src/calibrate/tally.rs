//! Confusion: what is true against what was said, counted per tool.

use super::pair::{PairKind, Truth};
use assay_pure::verdict::{TwinVerdict, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;

/// Effects from this size on must be found 95 times in 100.
pub const SURE_EFFECT: f64 = 0.03;
/// Of 100 effects that are smaller, so many must be found.
const SMALL_FOUND: u32 = 97;
/// Of 100 null pairs, so many may stay undecided.
const UNDECIDED_NULLS: u32 = 8;
/// Nominal effects are arithmetic (1 cycle in 33 is 2.94 %): what is called 3 % may be a little less.
const ROUNDING: f64 = 0.0015;

/// What a tool said of a pair, from the word of a page or of a peer; a peer that saw no difference says so by `not different`.
pub fn said_by(word: &str) -> Option<Verdict> {
    match word {
        "not different" => Some(Verdict::Equivalent),
        word => serde_json::from_value(word.into()).ok(),
    }
}

/// How it stands to the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
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
pub fn outcome(truth: Verdict, said: Verdict) -> TruthOutcome {
    match (truth, said) {
        (_, Verdict::Undecided) => TruthOutcome::Undecided,
        (truth, said) if truth == said => TruthOutcome::Right,
        (Verdict::Equivalent, _) => TruthOutcome::False,
        (_, Verdict::Equivalent) => TruthOutcome::Missed,
        _ => TruthOutcome::WrongSign,
    }
}

/// One verdict of one tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Who said it.
    pub tool: String,
    /// Built by.
    pub compiler: String,
    /// It said so by proof, not by measuring.
    pub proven: bool,
    /// Pair and input.
    pub what: String,
    /// Null or real.
    pub kind: PairKind,
    /// How the sides of a kernel differ.
    pub change: Option<String>,
    /// The truth.
    pub truth: Truth,
    /// What was said.
    pub said: Verdict,
    /// The difference it gave, as a fraction.
    pub difference: Option<f64>,
    /// What the twin control of its campaign said; none of who has no such control.
    pub twin: Option<TwinVerdict>,
}

/// Classes of truth, in the order of the table.
pub const CLASSES: [&str; 4] = ["null pair", "real, no effect here", "real, below 3 %", "real, 3 % and more"];

/// The class that a trial's truth belongs to.
pub fn class(kind: PairKind, truth: &Truth) -> &'static str {
    match kind {
        PairKind::Null => CLASSES[0],
        PairKind::Real if truth.verdict == Verdict::Equivalent => CLASSES[1],
        PairKind::Real if truth.nominal_effect.abs() < SURE_EFFECT - ROUNDING => CLASSES[2],
        PairKind::Real => CLASSES[3],
    }
}

/// Which trials are counted together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TallyKey {
    tool: String,
    compiler: String,
    class: &'static str,
}

impl TallyKey {
    fn is_of(&self, tool: &str, compiler: Option<&str>, class: &str) -> bool {
        self.tool == tool && compiler.is_none_or(|compiler| self.compiler == compiler) && self.class == class
    }
}

/// Counts by tool, compiler, class and outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutcomeTally {
    counts: BTreeMap<TallyKey, BTreeMap<TruthOutcome, u32>>,
    proven: BTreeMap<TallyKey, u32>,
    twins: BTreeMap<TallyKey, TwinCount>,
}

/// In how many trials the twin control said something, of those that had one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TwinCount {
    /// It found the baseline equal to itself, or different from itself.
    pub decided: u32,
    /// Trials with a twin control.
    pub of: u32,
}

impl OutcomeTally {
    /// Counts trials.
    pub fn of(trials: &[Trial]) -> Self {
        let mut tally = Self::default();
        for trial in trials {
            let key = TallyKey {
                tool: trial.tool.clone(),
                compiler: trial.compiler.clone(),
                class: class(trial.kind, &trial.truth),
            };
            *tally.proven.entry(key.clone()).or_default() += u32::from(trial.proven);
            if let Some(twin) = trial.twin {
                let count = tally.twins.entry(key.clone()).or_default();
                count.decided += u32::from(twin != TwinVerdict::Undecided);
                count.of += 1;
            }
            let outcome = outcome(trial.truth.verdict, trial.said);
            *tally.counts.entry(key).or_default().entry(outcome).or_default() += 1;
        }
        tally
    }

    /// The tools and compilers of a class, by name.
    pub fn rows(&self, class: &'static str) -> Vec<(&str, &str)> {
        let of_class = self.counts.keys().filter(|key| key.class == class);
        of_class.map(|key| (key.tool.as_str(), key.compiler.as_str())).collect()
    }

    /// How many trials of a tool in a class had an outcome, built by one compiler or by any.
    pub fn count(
        &self,
        tool: &str,
        compiler: Option<&str>,
        class: &'static str,
        outcome: TruthOutcome,
    ) -> u32 {
        let found = self.counts.iter().filter(|(key, _)| key.is_of(tool, compiler, class));
        found.filter_map(|(_, outcomes)| outcomes.get(&outcome)).sum()
    }

    /// How many trials of a tool there are in a class, built by one compiler or by any.
    pub fn total(&self, tool: &str, compiler: Option<&str>, class: &'static str) -> u32 {
        let found = self.counts.iter().filter(|(key, _)| key.is_of(tool, compiler, class));
        found.flat_map(|(_, outcomes)| outcomes.values()).sum()
    }

    /// How many trials of a tool in a class were decided by proof, built by one compiler.
    pub fn proven(&self, tool: &str, compiler: &str, class: &'static str) -> u32 {
        let found = self.proven.iter().filter(|(key, _)| key.is_of(tool, Some(compiler), class));
        found.map(|(_, proven)| proven).sum()
    }

    /// How often the twin control decided in the campaigns of a tool's trials in a class, built by one compiler.
    pub fn twins(&self, tool: &str, compiler: &str, class: &'static str) -> TwinCount {
        let found = self.twins.iter().filter(|(key, _)| key.is_of(tool, Some(compiler), class));
        found.fold(TwinCount::default(), |sum, (_, count)| TwinCount {
            decided: sum.decided + count.decided,
            of: sum.of + count.of,
        })
    }

    /// Where a tool falls short of what assay must reach, in sentences; empty if nowhere.
    pub fn shortcomings(&self, tool: &str) -> Vec<String> {
        let mut found = Vec::new();
        let count = |class, outcome| self.count(tool, None, class, outcome);
        for class in &CLASSES[..2] {
            let (wrong, all) = (count(class, TruthOutcome::False), self.total(tool, None, class));
            if wrong * 100 > all {
                found.push(format!("{class}: {wrong} of {all} called different, at most 1 in 100 allowed"));
            }
        }
        let null = CLASSES[0];
        let (undecided, all) = (count(null, TruthOutcome::Undecided), self.total(tool, None, null));
        if undecided * 100 > all * UNDECIDED_NULLS {
            let allowed = format!("at most {UNDECIDED_NULLS} in 100 allowed");
            found.push(format!("{null}: {undecided} of {all} undecided, {allowed}"));
        }
        for (class, required) in [(CLASSES[2], SMALL_FOUND), (CLASSES[3], 95)] {
            let (right, all) = (count(class, TruthOutcome::Right), self.total(tool, None, class));
            if right * 100 < all * required {
                found.push(format!("{class}: {right} of {all} right, at least {required} in 100 required"));
            }
        }
        for class in &CLASSES[2..] {
            let wrong = count(class, TruthOutcome::WrongSign);
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

    fn trial(kind: PairKind, verdict: Verdict, nominal_effect: f64, said: Verdict) -> Trial {
        let truth = Truth { verdict, nominal_effect };
        let (tool, compiler, what) = ("t".into(), "gcc-12".into(), "p".into());
        let (change, difference, twin) = (None, None, None);
        Trial { tool, compiler, proven: false, what, kind, change, truth, said, difference, twin }
    }

    #[test]
    fn holds_each_word_against_each_truth() {
        assert_eq!(outcome(Verdict::Equivalent, Verdict::Equivalent), TruthOutcome::Right);
        assert_eq!(outcome(Verdict::Equivalent, Verdict::Slower), TruthOutcome::False);
        assert_eq!(outcome(Verdict::Faster, Verdict::Faster), TruthOutcome::Right);
        assert_eq!(outcome(Verdict::Faster, Verdict::Slower), TruthOutcome::WrongSign);
        assert_eq!(outcome(Verdict::Slower, Verdict::Equivalent), TruthOutcome::Missed);
        assert_eq!(outcome(Verdict::Slower, Verdict::Undecided), TruthOutcome::Undecided);
    }

    #[test]
    fn counts_a_cycle_in_thirty_three_among_the_three_per_cent() {
        let truth = |nominal_effect| Truth { verdict: Verdict::Slower, nominal_effect };
        assert_eq!(class(PairKind::Real, &truth(1.0 / 33.0)), CLASSES[3]);
        assert_eq!(class(PairKind::Real, &truth(-1.0 / 34.0)), CLASSES[3]);
        assert_eq!(class(PairKind::Real, &truth(1.0 / 48.0)), CLASSES[2]);
    }

    #[test]
    fn names_each_shortcoming() {
        let mut trials = vec![trial(PairKind::Null, Verdict::Equivalent, 0.0, Verdict::Equivalent); 99];
        trials.push(trial(PairKind::Null, Verdict::Equivalent, 0.0, Verdict::Faster));
        trials.extend(vec![trial(PairKind::Real, Verdict::Slower, 0.05, Verdict::Slower); 95]);
        trials.extend(vec![trial(PairKind::Real, Verdict::Slower, 0.05, Verdict::Undecided); 5]);
        assert!(OutcomeTally::of(&trials).shortcomings("t").is_empty());
        trials.push(trial(PairKind::Null, Verdict::Equivalent, 0.0, Verdict::Faster));
        trials.push(trial(PairKind::Real, Verdict::Slower, 0.02, Verdict::Faster));
        trials.push(trial(PairKind::Real, Verdict::Slower, 0.05, Verdict::Equivalent));
        let found = OutcomeTally::of(&trials).shortcomings("t");
        assert_eq!(
            found,
            [
                "null pair: 2 of 101 called different, at most 1 in 100 allowed",
                "real, below 3 %: 0 of 1 right, at least 97 in 100 required",
                "real, 3 % and more: 95 of 101 right, at least 95 in 100 required",
                "real, below 3 %: 1 with the wrong sign, none allowed",
            ]
        );
    }

    #[test]
    fn null_pairs_that_stay_undecided_are_a_shortcoming_from_nine_in_a_hundred_on() {
        let mut trials = vec![trial(PairKind::Null, Verdict::Equivalent, 0.0, Verdict::Equivalent); 92];
        trials.extend(vec![trial(PairKind::Null, Verdict::Equivalent, 0.0, Verdict::Undecided); 8]);
        assert!(OutcomeTally::of(&trials).shortcomings("t").is_empty());
        trials.push(trial(PairKind::Null, Verdict::Equivalent, 0.0, Verdict::Undecided));
        let found = OutcomeTally::of(&trials).shortcomings("t");
        assert_eq!(found, ["null pair: 9 of 101 undecided, at most 8 in 100 allowed"]);
    }

    #[test]
    fn counts_how_often_the_twin_control_decided() {
        let of =
            |twin| Trial { twin, ..trial(PairKind::Null, Verdict::Equivalent, 0.0, Verdict::Equivalent) };
        let said = [TwinVerdict::Equivalent, TwinVerdict::Different, TwinVerdict::Undecided].map(Some);
        let trials: Vec<Trial> = said.into_iter().chain([None]).map(of).collect();
        let tally = OutcomeTally::of(&trials);
        assert_eq!(tally.twins("t", "gcc-12", CLASSES[0]), TwinCount { decided: 2, of: 3 });
        assert_eq!(tally.twins("t", "clang-14", CLASSES[0]), TwinCount::default());
    }

    #[test]
    fn counts_each_compiler_apart_and_all_together() {
        let gcc = trial(PairKind::Null, Verdict::Equivalent, 0.0, Verdict::Equivalent);
        let clang = Trial { compiler: "clang-14".into(), proven: true, ..gcc.clone() };
        let tally = OutcomeTally::of(&[gcc.clone(), gcc, clang]);
        let null = CLASSES[0];
        assert_eq!(tally.rows(null), [("t", "clang-14"), ("t", "gcc-12")]);
        let right = |compiler| tally.count("t", compiler, null, TruthOutcome::Right);
        assert_eq!((right(None), right(Some("gcc-12")), right(Some("clang-14"))), (3, 2, 1));
        assert_eq!(tally.total("t", Some("gcc-12"), null), 2);
        assert_eq!((tally.proven("t", "gcc-12", null), tally.proven("t", "clang-14", null)), (0, 1));
    }
}
