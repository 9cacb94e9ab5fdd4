//! What was counted of a cell, and what that says of a contrast: more work, or worse prediction?
//!
//! Method: the difference in time is the code effect times the baseline's time. **Prediction**: the difference in
//! mispredictions times the penalty measured on this machine, as a share of it; its range is spanned by the ends of the
//! penalty's interval and by all predictors. **Work**: the difference in instructions, priced at what the baseline takes per
//! instruction outside its mispredictions. What has the other sign than the difference is no cause; it is said as a reason.
//! Known limits: both prices are averages. A misprediction that is found late costs more, an instruction off the critical path
//! nothing; the shares need not add up to 1.
//! Checked: by hand.

use super::build::Side;
use super::cause::{Cause, CauseEvidence};
use super::contrast::ContrastVerdict;
use crate::experiment::CountedEvent;
use crate::experiment::matrix::CellId;
use crate::stats::penalty::Penalty;
use crate::words::{fraction, sentence, short, signed_time, time};
use std::collections::BTreeMap;

/// A share of the difference below which a cause is not named.
const LEAST_SHARE: f64 = 0.05;

/// Instructions or branches that differ by less than this fraction are called the same.
const SAME_WORK: f64 = 0.01;

/// Stands for a predictor's name where mispredictions were counted.
pub const THIS_CPU: &str = "this CPU";

/// Where counts come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CountSource {
    /// Hardware counters.
    Counted,
    /// An emulator's exact trace; mispredictions are those of simulated predictors.
    Traced,
    /// The log of an instrumented build, exact; mispredictions are those of simulated predictors.
    Instrumented,
}

impl CountSource {
    /// As the ledger spells it.
    pub fn of(word: &str) -> Option<Self> {
        [CountSource::Counted, CountSource::Traced, CountSource::Instrumented]
            .into_iter()
            .find(|known| known.word() == word)
    }

    /// The word for mispredictions of this source.
    fn of_misses(self) -> &'static str {
        match self {
            CountSource::Counted => "counted",
            CountSource::Traced | CountSource::Instrumented => "simulated",
        }
    }

    /// The word for other events of this source, in the ledger too.
    pub fn word(self) -> &'static str {
        match self {
            CountSource::Counted => "counted",
            CountSource::Traced => "traced",
            CountSource::Instrumented => "instrumented",
        }
    }
}

/// Mispredictions by one predictor.
#[derive(Clone, Debug, PartialEq)]
pub struct MissCount {
    /// The predictor; [`THIS_CPU`] where they were counted.
    pub predictor: String,
    /// Mispredictions per unit.
    pub per_unit: f64,
}

/// Events per unit of one cell, in the state in which it was timed.
#[derive(Clone, Debug, PartialEq)]
pub struct CellCounts {
    /// Whose they are.
    pub cell: CellId,
    /// Where they come from.
    pub source: CountSource,
    /// Instructions per unit.
    pub instructions: f64,
    /// Branches of all classes per unit.
    pub branches: f64,
    /// Conditional branches per unit, where the source tells them apart.
    pub conditional: Option<f64>,
    /// Cycles per unit, where they were counted.
    pub cycles: Option<f64>,
    /// Events of the front end per unit, where they were counted.
    pub front_end: BTreeMap<CountedEvent, f64>,
    /// Mispredictions, those that stand for this CPU first; empty where none was asked for.
    pub misses: Vec<MissCount>,
    /// Units in one walk through the whole input.
    pub units: u64,
    /// Mispredictions per unit by the first of `misses` on the way through data that it sees for the first time; absent
    /// where it was not walked through that way.
    pub fresh_misses: Option<f64>,
}

impl CellCounts {
    /// The mispredictions that stand for this CPU.
    pub fn modern(&self) -> Option<&MissCount> {
        self.misses.first()
    }

    /// The least and the most over all predictors.
    pub fn miss_range(&self) -> Option<(f64, f64)> {
        let all = || self.misses.iter().map(|miss| miss.per_unit);
        (!self.misses.is_empty())
            .then(|| (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max)))
    }

    /// Whether this is the cell of a side of a contrast.
    pub fn is_of(&self, side: Side, contrast: &ContrastVerdict) -> bool {
        self.cell.name() == contrast.between().cell(side)
    }
}

/// What counts say of one contrast.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// Causes, the one with the largest share first.
    pub causes: Vec<CauseEvidence>,
    /// What speaks against the difference, in sentences.
    pub reasons: Vec<String>,
}

/// Both sides of a contrast with what is needed to price their counts.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'a> {
    /// The candidate's counts.
    pub candidate: &'a CellCounts,
    /// The baseline's.
    pub baseline: &'a CellCounts,
    /// The baseline's time, nanoseconds per unit.
    pub baseline_ns: f64,
    /// What a misprediction costs here.
    pub penalty: Option<Penalty>,
    /// The item of work, singular.
    pub unit: &'a str,
}

/// Explains a contrast that has a winner; of others there is nothing to explain.
pub fn explain(found: &ContrastVerdict, sides: &Sides<'_>) -> Explanation {
    let Some(code) = found.code.filter(|_| found.verdict.is_difference()) else {
        return Explanation::default();
    };
    let difference_ns = sides.baseline_ns * (code.ratio - 1.0);
    let mut explanation = Explanation::default();
    for part in
        [prediction(found, sides, difference_ns), work(found, sides, difference_ns)].into_iter().flatten()
    {
        match part {
            CountPart::For(cause) => explanation.causes.push(cause),
            CountPart::Against(text) => explanation.reasons.push(sentence(&text)),
        }
    }
    explanation.causes.sort_by(|a, b| b.share.unwrap_or(0.0).total_cmp(&a.share.unwrap_or(0.0)));
    explanation
}

enum CountPart {
    For(CauseEvidence),
    Against(String),
}

fn prediction(found: &ContrastVerdict, sides: &Sides<'_>, difference_ns: f64) -> Option<CountPart> {
    let penalty = sides.penalty?;
    let (candidate, baseline) = (sides.candidate.modern()?, sides.baseline.modern()?);
    let missed = candidate.per_unit - baseline.per_unit;
    let share = missed * penalty.ns / difference_ns;
    // Every predictor's own difference, at both ends of what a misprediction costs.
    let (mut least, mut most) = (share, share);
    for other in &sides.candidate.misses {
        let Some(base) = sides.baseline.misses.iter().find(|base| base.predictor == other.predictor) else {
            continue;
        };
        for ns in [penalty.interval.lower, penalty.interval.upper] {
            let one = (other.per_unit - base.per_unit) * ns / difference_ns;
            (least, most) = (least.min(one), most.max(one));
        }
    }
    let source = sides.candidate.source.of_misses();
    let by = match sides.candidate.source {
        CountSource::Counted => String::new(),
        CountSource::Traced | CountSource::Instrumented => format!(" by {}", candidate.predictor),
    };
    let counts = format!(
        "{} mispredicts {} times per {} and {} {} times ({source}{by}); at {} each ({} to {}, measured here) that is {} of {}",
        found.between().name(Side::Candidate),
        short(candidate.per_unit),
        sides.unit,
        found.between().name(Side::Baseline),
        short(baseline.per_unit),
        time(penalty.ns),
        time(penalty.interval.lower),
        time(penalty.interval.upper),
        signed_time(missed * penalty.ns),
        signed_time(difference_ns),
    );
    if share >= LEAST_SHARE {
        let evidence = format!("{counts}: {} of the difference ({})", fraction(share), range(least, most));
        return Some(CountPart::For(CauseEvidence {
            cause: Cause::Prediction,
            share: Some(share.min(1.0)),
            evidence,
        }));
    }
    (share <= -LEAST_SHARE)
        .then(|| CountPart::Against(format!("{counts}: mispredictions point the other way")))
}

/// "90 % to 98 % over predictors and the penalty's interval".
fn range(least: f64, most: f64) -> String {
    let side = |share: f64| if share < 0.0 { format!("-{}", fraction(-share)) } else { fraction(share) };
    format!("{} to {} over predictors and the penalty's interval", side(least), side(most))
}

fn work(found: &ContrastVerdict, sides: &Sides<'_>, difference_ns: f64) -> Option<CountPart> {
    let (candidate, baseline) = (sides.candidate, sides.baseline);
    let differs = |a: f64, b: f64| (a - b).abs() > SAME_WORK * b.abs().max(f64::MIN_POSITIVE);
    if !differs(candidate.instructions, baseline.instructions)
        && !differs(candidate.branches, baseline.branches)
    {
        return None;
    }
    let more = candidate.instructions - baseline.instructions;
    let counts = format!(
        "{} executes {:.2} instructions and {:.2} branches per {}, {} {:.2} and {:.2} ({}): {:+.2} and {:+.2}",
        found.between().name(Side::Candidate),
        candidate.instructions,
        candidate.branches,
        sides.unit,
        found.between().name(Side::Baseline),
        baseline.instructions,
        baseline.branches,
        candidate.source.word(),
        more,
        candidate.branches - baseline.branches,
    );
    let Some(pace) = pace(sides) else {
        return Some(CountPart::For(CauseEvidence { cause: Cause::Work, share: None, evidence: counts }));
    };
    let share = more * pace / difference_ns;
    let priced = format!(
        "{counts}; at {} per instruction, {}'s own outside mispredictions, that is {} of {}",
        time(pace),
        found.between().name(Side::Baseline),
        signed_time(more * pace),
        signed_time(difference_ns)
    );
    if share >= LEAST_SHARE {
        let evidence = format!("{priced}: {} of the difference", fraction(share));
        return Some(CountPart::For(CauseEvidence {
            cause: Cause::Work,
            share: Some(share.min(1.0)),
            evidence,
        }));
    }
    (share <= -LEAST_SHARE)
        .then(|| CountPart::Against(format!("{priced}: instruction counts point the other way")))
}

/// Nanoseconds per instruction of the baseline outside its mispredictions; unknown where its mispredictions alone would take
/// longer than it takes.
fn pace(sides: &Sides<'_>) -> Option<f64> {
    let missed = match (sides.penalty, sides.baseline.modern()) {
        (Some(penalty), Some(misses)) => misses.per_unit * penalty.ns,
        _ => 0.0,
    };
    let left = sides.baseline_ns - missed;
    (left > 0.0 && sides.baseline.instructions > 0.0).then(|| left / sides.baseline.instructions)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::experiment::matrix::CellName;
    use crate::stats::interval::Interval;
    use crate::verdict::contrast::{RatioInterval, Verdict};

    pub(in crate::verdict) fn cell(variant: &str, instructions: f64, misses: &[(&str, f64)]) -> CellCounts {
        CellCounts {
            cell: CellName { variant, input: "random", compiler: "gcc-12", flags: "O2" }.into(),
            source: CountSource::Traced,
            instructions,
            branches: instructions / 4.0,
            conditional: Some(instructions / 5.0),
            cycles: None,
            front_end: BTreeMap::new(),
            misses: misses
                .iter()
                .map(|(name, per_unit)| MissCount { predictor: (*name).into(), per_unit: *per_unit })
                .collect(),
            units: 1000,
            fresh_misses: None,
        }
    }

    pub(in crate::verdict) fn penalty() -> Penalty {
        Penalty {
            ns: 5.0,
            interval: Interval { lower: 4.5, upper: 5.5 },
            fresh_ns: 3.0,
            learned_ns: 0.5,
            series: 8,
        }
    }

    pub(in crate::verdict) fn contrast(verdict: Verdict, ratio: f64) -> ContrastVerdict {
        ContrastVerdict {
            candidate: "bmi2".into(),
            baseline: "branch".into(),
            against: None,
            input: "random".into(),
            compiler: "gcc-12".into(),
            flags: "O2".into(),
            as_built: None,
            as_built_verdict: None,
            code: Some(RatioInterval { ratio, lower: ratio * 0.99, upper: ratio * 1.01 }),
            placement_ratio: None,
            placement_share: None,
            verdict,
            as_built_says: None,
            causes: Vec::new(),
            modes: None,
            reasons: Vec::new(),
            rotations: 8,
            rotations_lost: 0,
            minimum_detectable_effect: None,
            rotations_needed: None,
            seconds_needed: None,
            proven: false,
            decided: true,
            confidence_level: 0.95,
        }
    }

    fn explained(candidate: &CellCounts, baseline: &CellCounts, verdict: Verdict, ratio: f64) -> Explanation {
        let sides = Sides { candidate, baseline, baseline_ns: 8.0, penalty: Some(penalty()), unit: "varint" };
        explain(&contrast(verdict, ratio), &sides)
    }

    #[test]
    fn mispredictions_saved_explain_their_price_of_the_difference() {
        // Ratio 0.5 of 8 ns: -4 ns. Modern: -0.8 misses at 5 ns, the whole of it. The other predictor: -0.6; so from
        // 0.6 · 4.5 / 4 = 0.675 to 0.8 · 5.5 / 4 = 1.1.
        let candidate = cell("bmi2", 20.0, &[("tage", 0.0), ("gshare", 0.1)]);
        let baseline = cell("branch", 20.0, &[("tage", 0.8), ("gshare", 0.7)]);
        let found = explained(&candidate, &baseline, Verdict::Faster, 0.5);
        assert_eq!(found.causes.len(), 1, "{found:?}");
        assert_eq!((found.causes[0].cause, found.causes[0].share), (Cause::Prediction, Some(1.0)));
        let said = &found.causes[0].evidence;
        for figure in [
            "bmi2 mispredicts 0 times per varint and branch 0.80 times (simulated by tage)",
            "5.00 ns each (4.50 ns to 5.50 ns, measured here)",
            "-4.00 ns of -4.00 ns: 100 % of the difference",
            "(68 % to 110 % over",
        ] {
            assert!(said.contains(figure), "{figure}: {said}");
        }
        assert!(found.reasons.is_empty());
    }

    #[test]
    fn a_share_above_the_whole_is_said_and_kept_at_one() {
        let candidate = cell("bmi2", 20.0, &[("tage", 0.0)]);
        let baseline = cell("branch", 20.0, &[("tage", 1.2)]);
        let found = explained(&candidate, &baseline, Verdict::Faster, 0.5);
        assert_eq!(found.causes[0].share, Some(1.0));
        assert!(
            found.causes[0].evidence.contains("-6.00 ns of -4.00 ns: 150 % of the difference"),
            "{found:?}"
        );
    }

    #[test]
    fn more_instructions_are_priced_at_the_baselines_own_pace() {
        // The baseline: 8 ns less 0.4 · 5 of mispredictions, over 12 instructions: 0.5 ns each. 6 more are 3 of 4 ns.
        let candidate = cell("bmi2", 18.0, &[("tage", 0.4)]);
        let baseline = cell("branch", 12.0, &[("tage", 0.4)]);
        let found = explained(&candidate, &baseline, Verdict::Slower, 1.5);
        assert_eq!(found.causes.len(), 1, "{found:?}");
        assert_eq!((found.causes[0].cause, found.causes[0].share), (Cause::Work, Some(0.75)));
        let said = &found.causes[0].evidence;
        for figure in ["18.00 instructions and 4.50 branches per varint", "(traced): +6.00 and +1.50"] {
            assert!(said.contains(figure), "{figure}: {said}");
        }
        assert!(
            said.contains("at 0.500 ns per instruction") && said.contains("75 % of the difference"),
            "{said}"
        );
    }

    #[test]
    fn what_works_against_the_difference_is_a_reason_and_no_cause() {
        let candidate = cell("bmi2", 24.0, &[("tage", 0.0)]);
        let baseline = cell("branch", 12.0, &[("tage", 0.8)]);
        let found = explained(&candidate, &baseline, Verdict::Faster, 0.5);
        assert_eq!(found.causes.iter().map(|cause| cause.cause).collect::<Vec<_>>(), [Cause::Prediction]);
        // 8 - 0.8 · 5 over 12: a third of a ns; 12 more are +4 ns.
        assert!(
            found.reasons[0].contains("+4.00 ns of -4.00 ns: instruction counts point the other way."),
            "{found:?}"
        );
        let slower = explained(&candidate, &baseline, Verdict::Slower, 1.5);
        assert_eq!(slower.causes.iter().map(|cause| cause.cause).collect::<Vec<_>>(), [Cause::Work]);
        assert!(slower.reasons[0].contains("mispredictions point the other way."), "{slower:?}");
    }

    #[test]
    fn the_larger_share_comes_first() {
        let candidate = cell("bmi2", 6.0, &[("tage", 0.3)]);
        let baseline = cell("branch", 12.0, &[("tage", 0.4)]);
        // Work: 6 · (8 - 2) / 12 = 3 of 4 ns; prediction 0.5 of 4 ns.
        let found = explained(&candidate, &baseline, Verdict::Faster, 0.5);
        let shares: Vec<_> = found.causes.iter().map(|cause| (cause.cause, cause.share)).collect();
        assert!(shares[0] == (Cause::Work, Some(0.75)) && shares[1].0 == Cause::Prediction, "{shares:?}");
        assert!((shares[1].1.unwrap() - 0.125).abs() < 1e-12);
    }

    #[test]
    fn counts_that_are_the_same_explain_nothing() {
        let candidate = cell("bmi2", 12.1, &[("tage", 0.41)]);
        let baseline = cell("branch", 12.0, &[("tage", 0.4)]);
        assert_eq!(explained(&candidate, &baseline, Verdict::Slower, 1.5), Explanation::default());
        let branches = CellCounts { branches: 4.0, ..candidate };
        let found = explained(&branches, &baseline, Verdict::Slower, 1.5);
        assert_eq!(found, Explanation::default(), "0.1 instructions more are 1 % of the difference");
    }

    #[test]
    fn nothing_is_explained_where_nobody_won() {
        let candidate = cell("bmi2", 24.0, &[("tage", 0.0)]);
        let baseline = cell("branch", 12.0, &[("tage", 0.8)]);
        for verdict in [Verdict::Equivalent, Verdict::Undecided] {
            assert_eq!(explained(&candidate, &baseline, verdict, 0.5), Explanation::default());
        }
    }

    #[test]
    fn without_a_penalty_work_is_named_and_prediction_is_not() {
        let (candidate, baseline) = (cell("bmi2", 6.0, &[]), cell("branch", 12.0, &[]));
        let sides = Sides {
            candidate: &candidate,
            baseline: &baseline,
            baseline_ns: 8.0,
            penalty: None,
            unit: "call",
        };
        let found = explain(&contrast(Verdict::Faster, 0.5), &sides);
        assert_eq!(
            (found.causes.len(), found.causes[0].share),
            (1, Some(1.0)),
            "6 · 8 / 12 = 4 ns of 4: {found:?}"
        );
    }

    #[test]
    fn a_baseline_that_would_take_longer_by_its_mispredictions_alone_has_no_pace() {
        let candidate = cell("bmi2", 6.0, &[("tage", 1.9)]);
        let baseline = cell("branch", 12.0, &[("tage", 1.9)]);
        let found = explained(&candidate, &baseline, Verdict::Faster, 0.5);
        assert_eq!(
            found.causes.iter().map(|cause| (cause.cause, cause.share)).collect::<Vec<_>>(),
            [(Cause::Work, None)]
        );
    }

    #[test]
    fn counted_mispredictions_are_called_so() {
        let counted = |name, misses| CellCounts {
            source: CountSource::Counted,
            ..cell(name, 20.0, &[("this CPU", misses)])
        };
        let found = explained(&counted("bmi2", 0.0), &counted("branch", 0.8), Verdict::Faster, 0.5);
        assert!(found.causes[0].evidence.contains("branch 0.80 times (counted); at"), "{found:?}");
    }

    #[test]
    fn the_range_spans_all_predictors() {
        let found = cell("branch", 20.0, &[("tage", 0.5), ("gshare", 0.9), ("bimodal", 0.7)]);
        assert_eq!(found.miss_range(), Some((0.5, 0.9)));
        assert_eq!(found.modern().map(|miss| miss.predictor.as_str()), Some("tage"));
        assert_eq!(cell("branch", 20.0, &[]).miss_range(), None);
    }
}
