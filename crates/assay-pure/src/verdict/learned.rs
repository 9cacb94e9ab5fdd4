//! Does an input measure the predictor's memory instead of the code? A short one that is walked through again and again is
//! memorised, and nothing mispredicts any more.
//!
//! Method: what an input gives a predictor to remember is weighed in coin tosses: one toss is mispredicted half the time, so
//! twice the mispredictions of a first walk. Compared with the length that this CPU was seen to remember (`stats::predictor_memory`), and
//! against the mispredictions of repeated walks by a simulated predictor. The measured length decides where both speak: it is
//! the CPU's own.
//! Known limits: tosses of one branch are weighed like outcomes of many. A first walk also mispredicts because everything is
//! new; so few mispredictions that this may be all of them are never taken for data that was learned.
//! Checked: by hand.

use super::build::Side;
use super::cause::{Cause, CauseEvidence};
use super::contrast::ContrastVerdict;
use super::counts::CellCounts;
use super::wording::percent;
use crate::stats::margin::Margin;
use crate::stats::penalty::Penalty;
use crate::stats::predictor_memory::PredictorMemory;

/// Mispredictions of a whole first walk up to which they may all be due to its being the first.
const COLD: f64 = 300.0;

/// Repeated walks that mispredict less than this share of the first one know what comes.
const FAR_BELOW: f64 = 0.5;

/// Tosses from which on no predictor that was measured knew anything, where this CPU's own memory is not known.
const USUALLY_ENOUGH: u64 = 131_072;

/// An input that is memorised while it is measured.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Learned {
    /// Input name.
    pub input: String,
    /// The variant that showed it: the one with most mispredictions on fresh data.
    pub variant: String,
    /// Units in it.
    pub units: u64,
    /// What it weighs, coin tosses.
    pub tosses: u64,
    /// What this CPU memorises, coin tosses, where measured.
    pub remembered: Option<u64>,
    /// Only a part of it is memorised.
    pub in_part: bool,
    /// Mispredictions per unit of a first walk, simulated.
    pub fresh: f64,
    /// Of later ones.
    pub repeated: f64,
    /// The predictor.
    pub predictor: String,
    /// As many units would be enough not to be learned.
    pub enough_units: u64,
}

/// The inputs that are learned, in the order of the cells.
pub fn learned(cells: &[CellCounts], memory: Option<PredictorMemory>) -> Vec<Learned> {
    let mut inputs: Vec<&str> = Vec::new();
    for cell in cells {
        if !inputs.contains(&cell.cell.input.as_str()) {
            inputs.push(&cell.cell.input);
        }
    }
    let hardest = |input: &str| {
        let own = cells.iter().filter(|cell| cell.cell.input == input && cell.fresh_misses.is_some());
        own.max_by(|a, b| a.fresh_misses.unwrap_or(0.0).total_cmp(&b.fresh_misses.unwrap_or(0.0)))
    };
    inputs.into_iter().filter_map(hardest).filter_map(|cell| judge(cell, memory)).collect()
}

fn judge(cell: &CellCounts, memory: Option<PredictorMemory>) -> Option<Learned> {
    let (fresh, modern) = (cell.fresh_misses?, cell.modern()?);
    let missed = fresh * cell.units as f64;
    if missed < COLD {
        return None;
    }
    let tosses = (2.0 * missed).round() as u64;
    let simulated = modern.per_unit < FAR_BELOW * fresh;
    let (is_learned, in_part) = match memory {
        Some(memory) => {
            let known = tosses <= memory.learned_outcomes;
            let somewhat = memory.unlearned_outcomes.is_none_or(|unlearned| tosses < unlearned);
            (known || somewhat, !known)
        }
        None => (simulated, false),
    };
    is_learned.then(|| Learned {
        input: cell.cell.input.clone(),
        variant: cell.cell.variant.clone(),
        units: cell.units,
        tosses,
        remembered: memory.map(|memory| memory.learned_outcomes),
        in_part,
        fresh,
        repeated: modern.per_unit,
        predictor: modern.predictor.clone(),
        enough_units: enough(fresh, memory),
    })
}

/// Units of the same kind that hold more tosses than any predictor memorises, two digits of them, rounded up.
fn enough(fresh: f64, memory: Option<PredictorMemory>) -> u64 {
    let longest = memory.map(|memory| memory.unlearned_outcomes.unwrap_or(4 * memory.learned_outcomes));
    let units = longest.unwrap_or(USUALLY_ENOUGH) as f64 / (2.0 * fresh);
    let digit = 10f64.powf(units.max(1.0).log10().floor() - 1.0).max(1.0);
    ((units / digit).ceil() * digit) as u64
}

/// The input as the cause of a verdict that would turn round on fresh data of the same kind.
///
/// Input: a contrast on a learned input with both sides' counts and the baseline's time, nanoseconds per unit. What each side
/// would take on fresh data is its time and the price of the mispredictions that it is spared.
pub fn flips(
    found: &ContrastVerdict,
    (candidate, baseline): (&CellCounts, &CellCounts),
    baseline_ns: f64,
    penalty: Penalty,
    margin: Margin,
) -> Option<CauseEvidence> {
    let code = found.code.filter(|_| found.verdict.is_difference())?;
    let spared =
        |cell: &CellCounts| Some((cell.fresh_misses? - cell.modern()?.per_unit).max(0.0) * penalty.ns);
    let (spared_candidate, spared_baseline) = (spared(candidate)?, spared(baseline)?);
    let fresh = (baseline_ns * code.ratio + spared_candidate) / (baseline_ns + spared_baseline);
    let turns = fresh.ln() * code.ratio.ln() < 0.0 && margin.is_exceeded_by(fresh);
    turns.then(|| CauseEvidence {
        cause: Cause::Input,
        share: None,
        evidence: format!(
            "{} is memorised by the predictor, which saves {} {} and {} {} of mispredictions: the \
             effect here is {}, on fresh data about {}",
            found.input,
            found.between().name(Side::Baseline),
            crate::words::time(spared_baseline),
            found.between().name(Side::Candidate),
            crate::words::time(spared_candidate),
            percent(code.ratio.ln()),
            percent(fresh.ln())
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::super::counts::tests::{cell, contrast, penalty};
    use super::*;
    use crate::experiment::matrix::{CellId, CellName};
    use crate::verdict::contrast::Verdict;

    fn of(variant: &str, input: &str) -> CellId {
        CellName { variant, input, compiler: "gcc-12", flags: "O2" }.into()
    }

    fn walked(units: u64, fresh: f64, repeated: f64) -> CellCounts {
        CellCounts { units, fresh_misses: Some(fresh), ..cell("branch", 12.0, &[("tage", repeated)]) }
    }

    const MEMORY: PredictorMemory = PredictorMemory::of(46_000, Some(131_000));

    #[test]
    fn a_short_random_input_is_learned_and_the_length_that_is_enough_is_said() {
        let found = learned(&[walked(10_000, 0.8, 0.1)], Some(MEMORY));
        // 2 · 0.8 · 10,000 = 16,000 tosses; 131,000 / 1.6 = 81,875.
        assert_eq!((found.len(), found[0].tosses, found[0].enough_units), (1, 16_000, 82_000));
        assert_eq!((found[0].remembered, found[0].in_part), (Some(46_000), false));
        assert_eq!((found[0].fresh, found[0].repeated, found[0].predictor.as_str()), (0.8, 0.1, "tage"));
    }

    #[test]
    fn between_both_lengths_it_is_learned_in_part() {
        let in_part =
            |units| learned(&[walked(units, 0.5, 0.5)], Some(MEMORY)).first().map(|found| found.in_part);
        assert_eq!(in_part(46_000), Some(false));
        assert_eq!(in_part(46_001), Some(true));
        assert_eq!(in_part(130_999), Some(true));
        assert_eq!(in_part(131_000), None);
        let endless = PredictorMemory { unlearned_outcomes: None, ..MEMORY };
        assert!(learned(&[walked(1_000_000, 0.5, 0.5)], Some(endless))[0].in_part);
        // Four times what is known, for want of better.
        assert_eq!(learned(&[walked(1_000_000, 0.5, 0.5)], Some(endless))[0].enough_units, 190_000);
    }

    #[test]
    fn a_long_input_raises_no_alarm_whatever_a_simulation_remembers() {
        assert_eq!(learned(&[walked(1_000_000, 0.8, 0.0)], Some(MEMORY)), []);
    }

    #[test]
    fn data_without_anything_to_learn_raises_no_alarm() {
        for (units, fresh) in [(1_000_000, 0.0), (1_000_000, 0.0002), (512, 0.1), (10, 1.0)] {
            assert_eq!(learned(&[walked(units, fresh, 0.0)], Some(MEMORY)), [], "{units} {fresh}");
            assert_eq!(learned(&[walked(units, fresh, 0.0)], None), [], "{units} {fresh}");
        }
    }

    #[test]
    fn three_hundred_mispredictions_are_more_than_a_cold_start() {
        assert_eq!(learned(&[walked(10_000, 0.030, 0.0)], None).len(), 1);
        assert_eq!(learned(&[walked(10_000, 0.029, 0.0)], None), []);
    }

    #[test]
    fn the_length_that_is_enough_has_two_digits_and_is_rounded_up_at_any_size() {
        let enough_for = |unlearned| enough(0.8, Some(PredictorMemory::of(1, Some(unlearned))));
        // 312.5, 6.25 and 0.625 units.
        assert_eq!([500, 10, 1].map(enough_for), [320, 7, 1]);
    }

    #[test]
    fn without_the_cpus_own_memory_a_simulated_repeat_far_below_the_first_walk_decides() {
        let found = learned(&[walked(10_000, 0.8, 0.39)], None);
        assert_eq!((found.len(), found[0].remembered), (1, None));
        // 131,072 / 1.6 = 81,920.
        assert_eq!(found[0].enough_units, 82_000);
        assert_eq!(learned(&[walked(10_000, 0.8, 0.41)], None), []);
    }

    #[test]
    fn the_variant_that_mispredicts_most_speaks_for_an_input() {
        let easy = CellCounts { cell: of("bmi2", "random"), ..walked(10_000, 0.001, 0.001) };
        let other = CellCounts { cell: of("branch", "other"), ..walked(10_000, 0.5, 0.0) };
        let unknown = CellCounts { fresh_misses: None, cell: of("bmi2", "third"), ..easy.clone() };
        let found = learned(&[easy, walked(10_000, 0.8, 0.1), other, unknown], Some(MEMORY));
        let names: Vec<_> =
            found.iter().map(|found| (found.input.as_str(), found.variant.as_str())).collect();
        assert_eq!(names, [("random", "branch"), ("other", "branch")]);
    }

    #[test]
    fn a_verdict_that_would_turn_round_on_fresh_data_has_the_input_as_its_cause() {
        let branch = walked(10_000, 0.8, 0.0);
        let bmi2 = CellCounts { cell: of("bmi2", "random"), ..walked(10_000, 0.0, 0.0) };
        let slower = contrast(Verdict::Slower, 1.25);
        // 2 ns and 2.5 ns; fresh 2 + 0.8 · 5 = 6 and 2.5: ratio 0.4167.
        let found = flips(&slower, (&bmi2, &branch), 2.0, penalty(), Margin::of(0.01)).expect("it turns");
        assert_eq!(found.cause, Cause::Input);
        assert!(
            found.evidence.contains("the effect here is +25.0 %, on fresh data about -58.3 %"),
            "{}",
            found.evidence
        );
        assert!(found.evidence.contains("saves branch 4.00 ns and bmi2 0 ns"), "{}", found.evidence);
        let faster = contrast(Verdict::Faster, 0.8);
        assert_eq!(flips(&faster, (&bmi2, &branch), 2.0, penalty(), Margin::of(0.01)), None, "faster still");
        let equal = contrast(Verdict::Equivalent, 1.25);
        assert_eq!(flips(&equal, (&bmi2, &branch), 2.0, penalty(), Margin::of(0.01)), None);
        // 2 + 0.1 · 5 = 2.5 and 2.5: no difference left, so nothing has turned.
        let barely = walked(10_000, 0.1, 0.0);
        assert_eq!(flips(&slower, (&bmi2, &barely), 2.0, penalty(), Margin::of(0.01)), None);
        // 2 + 0.102 · 5 = 2.51 and 2.5: turned, but by less than the margin.
        let hardly = walked(10_000, 0.102, 0.0);
        assert_eq!(flips(&slower, (&bmi2, &hardly), 2.0, penalty(), Margin::of(0.01)), None);
        assert!(flips(&slower, (&bmi2, &hardly), 2.0, penalty(), Margin::of(0.001)).is_some());
        // A repeated walk that mispredicts more than the first is spared nothing, and owes nothing either.
        let worse = CellCounts { cell: of("bmi2", "random"), ..walked(10_000, 0.0, 0.4) };
        let found = flips(&slower, (&worse, &branch), 2.0, penalty(), Margin::of(0.01)).expect("it turns");
        assert!(found.evidence.contains("and bmi2 0 ns"), "{}", found.evidence);
        let unknown = CellCounts { fresh_misses: None, ..branch };
        assert_eq!(flips(&slower, (&bmi2, &unknown), 2.0, penalty(), Margin::of(0.01)), None);
    }
}
