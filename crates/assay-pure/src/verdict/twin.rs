//! The twin control: every contrast with its names swapped in half of the rotations, from data already taken.
//!
//! Question: would this campaign find a difference where there is none?
//! Method: the rotations are split into two disjoint halves, and in one of them candidate and baseline swap their names. Whatever
//! their code does then cancels, and what is left has the noise of the contrast itself, from the same rotations and rounds. It is
//! judged for each contrast, and for all of them pooled. The halves are compared within blocks of rotations that were measured side
//! by side in the same rounds, so that what the machine did meanwhile is common to both; inside a block they are taken in the order
//! A B B A, so that a steady drift cancels even where rotations were measured one after the other (then all of them are one block).
//! A rotation counts by how often it was visited, as in the contrast. Student's t over rotations, spreads moderated over the
//! contrasts. A false alarm takes verdicts back, so for that the control may spend a fifth of the error budget only: half of it on
//! the pooled comparison, half on the contrasts, by Holm. That what is the same comes out the same is no discovery and takes
//! nothing back: there the plain confidence is asked for, within the minimum effect or, where every verdict is a difference,
//! within the smallest of them.
//! Limits: a campaign of few rotations may leave it undecided; that changes no verdict. What slows both sides alike is not seen,
//! as it moves no verdict.
//! Checked: tests below; false alarms by simulation (docs/methodology/verdicts.md).

use super::build::Side;
use super::contrast::{ContrastVerdict, RatioInterval, Verdict};
use super::decide::decide;
use super::effect::CodeObservations;
use super::observed::ObservedContrast;
use super::options::VerdictOptions;
use super::wording::span;
use crate::experiment::matrix::CellId;
use crate::stats::interval::Interval;
use crate::stats::moderation::{estimate_prior, moderate};
use crate::stats::multiplicity::{MOST_SHARE, alpha_per_look, holm};
use crate::stats::rotation::{Effect, RESOLUTION, RotationRatio, weights};
use crate::words::{asked, confidence, list};

/// Fewest rotations of which two halves of two each can be made.
pub const MIN_TWIN_ROTATIONS: usize = 4;

/// What the twin control says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TwinVerdict {
    /// With the names swapped nothing is left beyond the minimum effect, or beyond the smallest difference found.
    Equivalent,
    /// A difference beyond the minimum effect is left where there is none: the campaign is not to be trusted.
    Different,
    /// The interval is too wide to say.
    Undecided,
}

/// One contrast, with its names swapped in half of the rotations.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct TwinContrast {
    /// The candidate.
    pub candidate: CellId,
    /// The baseline.
    pub baseline: CellId,
    /// What is said of it.
    pub verdict: TwinVerdict,
    /// What is left of the difference; absent with fewer than four rotations.
    pub ratio: Option<RatioInterval>,
    /// Rotations used, an even number.
    pub rotations: usize,
}

/// The twin control of a campaign.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct TwinControl {
    /// `different` if any contrast or all of them pooled are; else what they say pooled.
    pub verdict: TwinVerdict,
    /// What the contrasts say pooled.
    pub pooled: TwinVerdict,
    /// Pooled over the contrasts; absent where they have no four rotations in common.
    pub ratio: Option<RatioInterval>,
    /// Confidence of the pooled interval.
    pub confidence_level: f64,
    /// Each contrast that was measured.
    pub contrasts: Vec<TwinContrast>,
    /// The whole in one sentence.
    pub statement: String,
}

/// Judges what is left of each contrast when its names are swapped in half of the rotations.
///
/// Input: the contrasts, and what was observed of each, in the same order.
pub fn twin_control<'c>(
    contrasts: impl IntoIterator<Item = (&'c ObservedContrast, &'c CodeObservations)>,
    options: &VerdictOptions,
) -> TwinControl {
    // What was not measured for a proof has no rotations to compare, and must not take theirs from the others.
    let is_measured = |(contrast, found): &(&ObservedContrast, &CodeObservations)| {
        !contrast.is_proven() || found.ratios.len() >= MIN_TWIN_ROTATIONS
    };
    let measured: Vec<(&ObservedContrast, Vec<TwinRotation>)> = contrasts
        .into_iter()
        .filter(is_measured)
        .map(|(contrast, found)| (contrast, rotations(contrast, found)))
        .collect();
    let mut effects: Vec<Option<Effect>> = measured.iter().map(|(_, rotations)| swapped(rotations)).collect();
    let prior = estimate_prior(&effects.iter().flatten().copied().collect::<Vec<_>>());
    if let Some(prior) = prior {
        effects.iter_mut().flatten().for_each(|effect| *effect = moderate(*effect, prior));
    }
    let of_all = pooled(&measured.iter().map(|(_, rotations)| rotations.as_slice()).collect::<Vec<_>>());
    let (of_contrasts, pooled) = judge_all(&effects, swapped(&of_all), options);
    let contrasts: Vec<TwinContrast> = measured
        .iter()
        .zip(&of_contrasts)
        .map(|((contrast, rotations), found)| TwinContrast {
            candidate: contrast.between().cell(Side::Candidate).into(),
            baseline: contrast.between().cell(Side::Baseline).into(),
            verdict: found.verdict,
            ratio: found.ratio,
            rotations: rotations.len() / 2 * 2,
        })
        .collect();
    let any_different = contrasts.iter().any(|contrast| contrast.verdict == TwinVerdict::Different);
    let verdict = if any_different { TwinVerdict::Different } else { pooled.verdict };
    let statement = statement(verdict, &pooled, &contrasts, options);
    TwinControl {
        verdict,
        pooled: pooled.verdict,
        ratio: pooled.ratio,
        confidence_level: 1.0 - pooled.alpha,
        contrasts,
        statement,
    }
}

impl TwinControl {
    /// An undecided control is good enough where every verdict is a difference, and the smallest is larger than what may be left
    /// where there is none.
    pub(super) fn beside(self, verdicts: &[ContrastVerdict]) -> TwinControl {
        let judged = || verdicts.iter().filter(|found| found.verdict != Verdict::Undecided && !found.proven);
        let clear = |found: &ContrastVerdict| found.code.map(|code| code.log_interval().nearest_to_zero());
        let smallest = judged().filter_map(clear).min_by(f64::total_cmp);
        let (Some(smallest), Some(ratio)) = (smallest, self.ratio) else { return self };
        let carries = judged().all(|found| found.verdict.is_difference())
            && ratio.log_interval().farthest_from_zero() < smallest;
        if self.verdict != TwinVerdict::Undecided || !carries {
            return self;
        }
        let statement = format!(
            "{HOLDS}: {} at {}, less than the smallest difference found.",
            span(&ratio),
            confidence(self.confidence_level)
        );
        TwinControl { verdict: TwinVerdict::Equivalent, statement, ..self }
    }
}

/// What the control did, where it holds.
const HOLDS: &str =
    "The twin control holds. With both names swapped in half of the rotations no difference is left";

/// Takes back the verdicts that the twin control does not bear out; returns the reason where it did.
///
/// A difference stands only when the whole of its interval lies farther from 0 than the whole of the twin's; an
/// equivalence never stands beside a twin that differs.
pub fn downgrade(found: &ContrastVerdict, twin: &TwinControl) -> Option<String> {
    let ratio = different_ratio(found, twin)?;
    let code = found.code?;
    let reach = ratio.log_interval().farthest_from_zero();
    if found.verdict.is_difference() && code.log_interval().nearest_to_zero() > reach {
        return None;
    }
    (found.verdict != Verdict::Undecided).then(|| {
        format!(
            "With both names swapped in half of the rotations {} is left in this campaign: \"{}\" is not clearly larger than that noise.",
            span(&ratio),
            found.verdict.word()
        )
    })
}

/// The twin difference that concerns a contrast: its own; the pooled one where its own could not be decided.
fn different_ratio(found: &ContrastVerdict, twin: &TwinControl) -> Option<RatioInterval> {
    let cell = |side: Side| -> CellId { found.between().cell(side).into() };
    let is_it =
        |own: &&TwinContrast| own.candidate == cell(Side::Candidate) && own.baseline == cell(Side::Baseline);
    let own = twin.contrasts.iter().find(is_it);
    match own.map(|own| own.verdict) {
        Some(TwinVerdict::Different) => own.and_then(|own| own.ratio),
        Some(TwinVerdict::Equivalent) => None,
        _ if twin.pooled == TwinVerdict::Different => twin.ratio,
        _ => None,
    }
}

/// One rotation of a contrast.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TwinRotation {
    /// The shuffle's number.
    number: u32,
    /// The earliest and the latest round that it was measured in.
    rounds: (u32, u32),
    /// ln(candidate / baseline).
    log_ratio: f64,
    /// What it counts in the mean.
    weight: f64,
}

fn rotations(contrast: &ObservedContrast, found: &CodeObservations) -> Vec<TwinRotation> {
    let weights = weights(&found.ratios);
    let rounds_of = |number: u32| {
        let rotation = contrast.rotations.iter().find(|rotation| rotation.rotation == number)?;
        let samples = || rotation.phases.iter().flat_map(|pair| [&pair.candidate, &pair.baseline]).flatten();
        let rounds = || samples().map(|sample| sample.round);
        Some((rounds().min()?, rounds().max()?))
    };
    let of = |((&number, ratio), weight): ((&u32, &RotationRatio), f64)| {
        Some(TwinRotation { number, rounds: rounds_of(number)?, log_ratio: ratio.log_ratio, weight })
    };
    found.numbers.iter().zip(&found.ratios).zip(weights).filter_map(of).collect()
}

/// The mean over contrasts of each rotation that all of them have.
fn pooled(contrasts: &[&[TwinRotation]]) -> Vec<TwinRotation> {
    let Some((first, others)) = contrasts.split_first() else {
        return Vec::new();
    };
    let count = contrasts.len() as f64;
    let in_all = |rotation: &TwinRotation| {
        let mut sum = *rotation;
        for other in others {
            let same = other.iter().find(|other| other.number == rotation.number)?;
            sum.log_ratio += same.log_ratio;
            sum.weight += same.weight;
        }
        Some(TwinRotation { log_ratio: sum.log_ratio / count, weight: sum.weight / count, ..sum })
    };
    first.iter().filter_map(in_all).collect()
}

/// Rotations measured side by side; all of them as one block where hardly any were, or where too few degrees would be left.
fn blocks(rotations: &[TwinRotation]) -> Vec<Vec<TwinRotation>> {
    let of_stretch = |(from, to): (u32, u32)| -> Vec<TwinRotation> {
        rotations.iter().filter(|rotation| (from..=to).contains(&rotation.rounds.0)).copied().collect()
    };
    let blocks: Vec<Vec<TwinRotation>> =
        stretches(rotations).into_iter().map(of_stretch).filter(|block| block.len() >= 2).collect();
    let side_by_side: usize = blocks.iter().map(Vec::len).sum();
    let used: usize = blocks.iter().map(|block| block.len() / 2 * 2).sum();
    if side_by_side * 2 > rotations.len() && used >= 2 * blocks.len() + 2 {
        blocks
    } else {
        vec![rotations.to_vec()]
    }
}

/// Stretches of rounds: those of rotations that overlap, made one. Where samples are left out, rotations of one batch do not all
/// begin and end in the same round.
fn stretches(rotations: &[TwinRotation]) -> Vec<(u32, u32)> {
    let mut rounds: Vec<(u32, u32)> = rotations.iter().map(|rotation| rotation.rounds).collect();
    rounds.sort_unstable();
    let mut found: Vec<(u32, u32)> = Vec::new();
    for (from, to) in rounds {
        match found.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => found.push((from, to)),
        }
    }
    found
}

/// Half of what halves B and A differ by, within blocks, taken A B B A; an odd one at the end of a block is left out.
///
/// That is the mean over rotations, with the sign of those in A turned. Returns: `None` with fewer than four rotations. Source:
/// two-sample t test with a block effect and weights.
fn swapped(rotations: &[TwinRotation]) -> Option<Effect> {
    let blocks = blocks(rotations);
    let (mut used, mut weighted, mut precision, mut squares) = (0, 0.0, 0.0, 0.0);
    for block in &blocks {
        let count = block.len() / 2 * 2;
        let half = |wanted: bool| {
            let of_half = block[..count].iter().enumerate();
            of_half.filter(move |(at, _)| matches!(at % 4, 1 | 2) == wanted).map(|(_, rotation)| rotation)
        };
        let [(of_a, a), (of_b, b)] = [false, true].map(|wanted| {
            let weight: f64 = half(wanted).map(|rotation| rotation.weight).sum();
            let mean =
                half(wanted).map(|rotation| rotation.weight * rotation.log_ratio).sum::<f64>() / weight;
            squares += half(wanted)
                .map(|rotation| rotation.weight * (rotation.log_ratio - mean).powi(2))
                .sum::<f64>();
            (weight, mean)
        });
        // With a variance of v / weight each, the halves differ with v (1 / of_a + 1 / of_b).
        let of_block = of_a * of_b / (of_a + of_b);
        weighted += of_block * (b - a);
        precision += of_block;
        used += count;
    }
    if used < MIN_TWIN_ROTATIONS {
        return None;
    }
    let degrees = (used - 2 * blocks.len()) as f64;
    let of_difference = squares / degrees / precision;
    let variance = (0.25 * of_difference * used as f64).max(RESOLUTION.powi(2) * used as f64);
    Some(Effect::between_rotations(0.5 * weighted / precision, variance, degrees, used))
}

struct JudgedTwin {
    verdict: TwinVerdict,
    ratio: Option<RatioInterval>,
    alpha: f64,
}

/// Judges the contrasts by Holm within half of the control's budget, and all of them pooled with the other half.
fn judge_all(
    contrasts: &[Option<Effect>],
    pooled: Option<Effect>,
    options: &VerdictOptions,
) -> (Vec<JudgedTwin>, JudgedTwin) {
    let alpha = 0.5 * MOST_SHARE * alpha_per_look(options.confidence, options.planned_looks());
    let judge = |effect: &Option<Effect>, alpha: f64| match effect {
        Some(effect) => judge_one(effect, alpha, options),
        None => JudgedTwin { verdict: TwinVerdict::Undecided, ratio: None, alpha },
    };
    let p_values: Vec<f64> =
        contrasts.iter().map(|effect| effect.as_ref().map_or(1.0, Effect::p_value)).collect();
    let steps = holm(&p_values, alpha, alpha);
    let of_contrasts = contrasts.iter().zip(steps).map(|(effect, step)| judge(effect, step.alpha)).collect();
    (of_contrasts, judge(&pooled, alpha))
}

/// Different by an interval at `alpha`; the same by one at the plain confidence, which is the one that is told.
fn judge_one(effect: &Effect, alpha: f64, options: &VerdictOptions) -> JudgedTwin {
    let at = |alpha: f64| -> Option<Interval> { effect.interval(alpha).ok() };
    let told = |verdict: TwinVerdict, interval: Option<Interval>, alpha: f64| JudgedTwin {
        verdict,
        ratio: interval.map(|interval| RatioInterval::from_log(effect.estimate, interval)),
        alpha,
    };
    let strict = at(alpha);
    if strict.is_some_and(|strict| decide(effect.estimate, strict, options.margin).is_difference()) {
        return told(TwinVerdict::Different, strict, alpha);
    }
    let plain_alpha = 1.0 - options.confidence;
    let plain = at(plain_alpha);
    let same = plain.is_some_and(|plain| plain.inside(options.margin));
    told(if same { TwinVerdict::Equivalent } else { TwinVerdict::Undecided }, plain, plain_alpha)
}

fn statement(
    verdict: TwinVerdict,
    pooled: &JudgedTwin,
    contrasts: &[TwinContrast],
    options: &VerdictOptions,
) -> String {
    let margin = asked(options.margin.relative());
    let level = confidence(1.0 - pooled.alpha);
    let interval = pooled.ratio.map(|ratio| span(&ratio));
    match (verdict, interval) {
        (TwinVerdict::Different, interval) => {
            let wrong: Vec<String> = contrasts
                .iter()
                .filter(|contrast| contrast.verdict == TwinVerdict::Different)
                .map(|contrast| {
                    let CellId { variant, input, compiler, flags } = &contrast.candidate;
                    let left = contrast.ratio.map_or(String::new(), |ratio| format!("{} ", span(&ratio)));
                    format!("{left}of {variant} on {input} ({compiler}, {flags})")
                })
                .collect();
            let left = if wrong.is_empty() {
                interval.map_or(String::new(), |interval| format!("{interval} over all inputs"))
            } else {
                list(&wrong)
            };
            format!(
                "The twin control failed: with both names swapped in half of the rotations a difference is left, {left}, beyond the minimum effect of {margin}."
            )
        }
        (TwinVerdict::Equivalent, Some(interval)) => {
            format!("{HOLDS}: {interval} at {level}, inside the minimum effect of {margin}.")
        }
        (_, Some(interval)) => format!(
            "The twin control is undecided: with both names swapped in half of the rotations {interval} may be left at {level}, too wide for a minimum effect of {margin}."
        ),
        (_, None) => format!(
            "The twin control is undecided: it needs at least {MIN_TWIN_ROTATIONS} rotations that all inputs and compilers have in common."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rotation(rounds: (u32, u32), log_ratio: f64) -> TwinRotation {
        TwinRotation { number: 0, rounds, log_ratio, weight: 0.1 }
    }

    fn one_block(values: &[f64]) -> Vec<TwinRotation> {
        values.iter().map(|&log_ratio| rotation((0, 0), log_ratio)).collect()
    }

    #[test]
    fn a_steady_drift_cancels_between_the_halves() {
        let one_by_one: Vec<TwinRotation> =
            (0..8).map(|at| rotation((at, at), 0.05 * f64::from(at))).collect();
        let effect = swapped(&one_by_one).unwrap();
        assert!(effect.estimate.abs() < 1e-12);
        assert_eq!(effect.degrees, 6.0);
    }

    #[test]
    fn what_changes_between_blocks_is_no_difference_and_no_noise() {
        // The machine is 30 % slower when the second batch of four rotations is measured.
        let values = [0.0, 0.01, 0.02, 0.01, 0.30, 0.31, 0.32, 0.31];
        let timed: Vec<TwinRotation> = values
            .iter()
            .enumerate()
            .map(|(at, &log_ratio)| rotation((at as u32 / 4, at as u32 / 4), log_ratio))
            .collect();
        let effect = swapped(&timed).unwrap();
        // each block: B = (.01 + .02) / 2, A = (0 + .01) / 2; squares 2 * (2 * .005^2) * 2 = 2e-4 on 4 degrees
        assert!((effect.estimate - 0.005).abs() < 1e-12);
        assert!((effect.variance - 2e-4 / 4.0).abs() < 1e-12);
        assert_eq!((effect.degrees, effect.rotations), (4.0, 8));
    }

    #[test]
    fn blocks_count_by_their_size() {
        // Four rotations say +0.02, two say -0.04: (4 * .02 - 2 * .04) / 6 = 0
        let values = [(0, 0.0), (0, 0.02), (0, 0.02), (0, 0.0), (9, 0.5), (9, 0.46)];
        let timed: Vec<TwinRotation> =
            values.map(|(round, log_ratio)| rotation((round, round), log_ratio)).to_vec();
        let effect = swapped(&timed).unwrap();
        assert!(effect.estimate.abs() < 1e-12);
        assert_eq!((effect.degrees, effect.rotations), (2.0, 6));
    }

    #[test]
    fn the_halves_are_compared_by_a_two_sample_t_test() {
        // scipy: ttest_ind([.02,.01,.03,.05], [.00,-.01,.02,.01])
        let effect = swapped(&one_block(&[0.0, 0.02, 0.01, -0.01, 0.02, 0.03, 0.05, 0.01])).unwrap();
        assert!((effect.estimate - 0.5 * 0.0225).abs() < 1e-12);
        assert!((effect.estimate / effect.standard_error() - 2.101_947_149_24).abs() < 1e-9);
        assert!((effect.p_value() - 0.080_261_326_219).abs() < 1e-9);
    }

    #[test]
    fn a_rotation_that_was_visited_less_often_counts_less() {
        // By hand: A has 0 and .04 with weights 3 and 1, B has .02 and .06 with 3 and 1.
        let weighed = [(0.0, 3.0), (0.02, 3.0), (0.06, 1.0), (0.04, 1.0)]
            .map(|(log_ratio, weight)| TwinRotation { weight, ..rotation((0, 0), log_ratio) });
        let effect = swapped(&weighed).unwrap();
        // Means .01 and .03; squares 2 (3 .01² + .03²) = .0024 on 2 degrees; precision 4 4 / 8 = 2.
        assert!((effect.estimate - 0.01).abs() < 1e-12, "{effect:?}");
        assert!((effect.standard_error().powi(2) - 0.25 * 0.0012 / 2.0).abs() < 1e-12, "{effect:?}");
    }

    #[test]
    fn blocks_need_most_of_the_rotations_and_degrees_to_spare() {
        let degrees = |rounds: &[u32]| {
            let at = rounds.iter().enumerate();
            let timed: Vec<TwinRotation> =
                at.map(|(n, &round)| rotation((round, round), 0.01 * (n % 3) as f64)).collect();
            swapped(&timed).unwrap().degrees
        };
        // a block of four of ten: everything is one block
        assert_eq!(degrees(&[0, 0, 0, 0, 1, 2, 3, 4, 5, 6]), 8.0);
        // two blocks of two would leave no degrees
        assert_eq!(degrees(&[0, 0, 1, 1]), 2.0);
        assert_eq!(degrees(&[0, 0, 0, 0, 1, 1, 2, 3]), 2.0);
        assert_eq!(degrees(&[0, 0, 0, 0, 1, 1, 1, 1]), 4.0);
        // two blocks of three, of which two each are used, would leave none either
        assert_eq!(degrees(&[0, 0, 0, 1, 1, 1]), 4.0);
    }

    #[test]
    fn rotations_whose_rounds_overlap_are_one_block_wherever_they_begin() {
        let timed = |rounds: &[(u32, u32)]| -> Vec<TwinRotation> {
            rounds.iter().map(|&rounds| rotation(rounds, 0.0)).collect()
        };
        let found = stretches(&timed(&[(1, 2), (0, 1), (5, 6), (2, 2), (4, 5), (9, 9)]));
        assert_eq!(found, [(0, 2), (4, 6), (9, 9)]);
        let sizes = |rounds: &[(u32, u32)]| blocks(&timed(rounds)).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(sizes(&[(0, 2), (1, 2), (0, 0), (0, 1), (3, 5), (4, 5), (3, 3), (3, 4)]), [4, 4]);
    }

    #[test]
    fn three_rotations_make_no_halves_and_a_fifth_is_left_out() {
        assert_eq!(swapped(&one_block(&[0.0, 0.1, 0.2])), None);
        let four = swapped(&one_block(&[0.0, 0.1, 0.2, 0.3])).unwrap();
        assert_eq!(four, swapped(&one_block(&[0.0, 0.1, 0.2, 0.3, 9.0])).unwrap());
    }
}
