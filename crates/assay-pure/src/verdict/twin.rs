//! The twin control: every variant against itself, from data already taken.
//!
//! Question: would this campaign find a difference where there is none?
//! Method: the mean time of each rotation is compared between two disjoint halves of the rotations, for each baseline by
//! itself and for all variants pooled: each has shuffles of its own, so that two variants know it as well as a contrast does. The
//! comparison is made within blocks of rotations that were measured side by side in the same rounds, so that what the
//! machine did meanwhile is common to both halves; inside a block the halves are taken in the order A B B A, so that a
//! steady drift cancels even where rotations were measured one after the other (then all of them are one block).
//! Student's t over rotations, spreads moderated over the groups. A false alarm takes verdicts back, so for that the
//! control may spend a fifth of the error budget only: half of it on the pooled comparison, half on the groups, by Holm.
//! That a variant equals itself is no discovery and takes nothing back: there the plain confidence is asked for, within
//! the minimum effect or, where every verdict is a difference, within the smallest of them.
//! Limits: a campaign of few rotations may leave it undecided; that changes no verdict.
//! Checked: tests below; false alarms by simulation (docs/methodology/verdicts.md).

use super::build::Side;
use super::contrast::RatioInterval;
use super::decide::decide;
use super::observed::ObservedContrast;
use super::options::VerdictOptions;
use super::profile::{RotationTimes, rotation_times};
use super::wording::span;
use super::{Verdict, contrast::ContrastVerdict};
use crate::experiment::matrix::{CellId, CellName};
use crate::stats::interval::Interval;
use crate::stats::moderation::{estimate_prior, moderate};
use crate::stats::multiplicity::{MOST_SHARE, alpha_per_look, holm};
use crate::stats::rotation::{Effect, RESOLUTION};
use crate::words::{asked, confidence, list};

/// Fewest rotations of which two halves of two each can be made.
pub const MIN_TWIN_ROTATIONS: usize = 4;

/// What the twin control says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TwinVerdict {
    /// The variants equal themselves within the minimum effect, or within the smallest difference found.
    Equivalent,
    /// The baseline differs from itself beyond the minimum effect: the campaign is not to be trusted.
    Different,
    /// The interval is too wide to say.
    Undecided,
}

/// The baseline against itself on one input, compiler and flag set.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct TwinGroup {
    /// The baseline.
    pub baseline: String,
    /// Input name.
    pub input: String,
    /// Compiler name.
    pub compiler: String,
    /// Flag set name.
    pub flags: String,
    /// What is said of it.
    pub verdict: TwinVerdict,
    /// Second half / first half; absent with fewer than four rotations.
    pub ratio: Option<RatioInterval>,
    /// Rotations used, an even number.
    pub rotations: usize,
}

/// The twin control of a campaign.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct TwinControl {
    /// `different` if any group or the pooled comparison is; else what the pooled comparison says.
    pub verdict: TwinVerdict,
    /// What the comparison pooled over the groups says.
    pub pooled: TwinVerdict,
    /// Pooled over the groups; absent where they have no four rotations in common.
    pub ratio: Option<RatioInterval>,
    /// Confidence of the pooled interval.
    pub confidence_level: f64,
    /// Each group.
    pub groups: Vec<TwinGroup>,
    /// The whole in one sentence.
    pub statement: String,
}

/// Compares the baseline of every group with itself.
pub fn twin_control(contrasts: &[ObservedContrast], options: &VerdictOptions) -> TwinControl {
    // What was not measured for a proof has no rotations to compare, and must not take theirs from the others.
    let rotations = |contrast: &ObservedContrast| rotation_times(contrast, Side::Baseline).len();
    let is_measured =
        |contrast: &&ObservedContrast| !contrast.is_proven() || rotations(contrast) >= MIN_TWIN_ROTATIONS;
    let contrasts: Vec<&ObservedContrast> = contrasts.iter().filter(is_measured).collect();
    let contrasts = contrasts.as_slice();
    let groups = groups(contrasts);
    let mut effects: Vec<Option<Effect>> = groups.iter().map(|(_, times)| halves(&timed(times))).collect();
    let prior = estimate_prior(&effects.iter().flatten().copied().collect::<Vec<_>>());
    if let Some(prior) = prior {
        effects.iter_mut().flatten().for_each(|effect| *effect = moderate(*effect, prior));
    }
    let (of_groups, pooled) = judge_all(&effects, halves(&pooled(&groups, contrasts)), options);
    let groups: Vec<TwinGroup> = groups
        .iter()
        .zip(&of_groups)
        .map(|((contrast, times), found)| {
            let CellId { variant, input, compiler, flags } = contrast.between().cell(Side::Baseline).into();
            TwinGroup {
                baseline: variant,
                input,
                compiler,
                flags,
                verdict: found.verdict,
                ratio: found.ratio,
                rotations: times.len() / 2 * 2,
            }
        })
        .collect();
    let any_different = groups.iter().any(|group| group.verdict == TwinVerdict::Different);
    let verdict = if any_different { TwinVerdict::Different } else { pooled.verdict };
    let statement = statement(verdict, &pooled, &groups, options);
    TwinControl {
        verdict,
        pooled: pooled.verdict,
        ratio: pooled.ratio,
        confidence_level: 1.0 - pooled.alpha,
        groups,
        statement,
    }
}

impl TwinControl {
    /// An undecided control is good enough where every verdict is a difference, and the smallest is larger than what the variants
    /// may differ from themselves.
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
            "The variants equal themselves over disjoint rotations: {} at {}, less than the smallest difference found.",
            span(&ratio),
            confidence(self.confidence_level)
        );
        TwinControl { verdict: TwinVerdict::Equivalent, statement, ..self }
    }
}

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
            "The baseline differs from itself by {} in this campaign: \"{}\" is not clearly larger than that noise.",
            span(&ratio),
            found.verdict.word()
        )
    })
}

/// The twin difference that concerns a contrast: its own group's; the pooled one where its own group could not be decided.
fn different_ratio(found: &ContrastVerdict, twin: &TwinControl) -> Option<RatioInterval> {
    let own = twin.groups.iter().find(|group| {
        let TwinGroup { baseline: variant, input, compiler, flags, .. } = group;
        CellName { variant, input, compiler, flags } == found.between().cell(Side::Baseline)
    });
    match own.map(|group| group.verdict) {
        Some(TwinVerdict::Different) => own.and_then(|group| group.ratio),
        Some(TwinVerdict::Equivalent) => None,
        _ if twin.pooled == TwinVerdict::Different => twin.ratio,
        _ => None,
    }
}

type CellGroup<'a> = (&'a ObservedContrast, Vec<RotationTimes>);

/// One entry per (baseline, input, compiler, flags): the contrast with most rotations of it, and its baseline's times.
fn groups<'c>(contrasts: &[&'c ObservedContrast]) -> Vec<CellGroup<'c>> {
    let mut groups: Vec<CellGroup<'c>> = Vec::new();
    for &contrast in contrasts {
        let times = rotation_times(contrast, Side::Baseline);
        let same = |other: &ObservedContrast| {
            other.between().cell(Side::Baseline) == contrast.between().cell(Side::Baseline)
        };
        match groups.iter_mut().find(|(other, _)| same(other)) {
            Some(group) if group.1.len() < times.len() => *group = (contrast, times),
            Some(_) => {}
            None => groups.push((contrast, times)),
        }
    }
    groups
}

/// One rotation of the baseline: which rounds it was measured in, and ln of its mean time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TwinRotation {
    rounds: (u32, u32),
    log_mean: f64,
}

fn timed(times: &[RotationTimes]) -> Vec<TwinRotation> {
    times
        .iter()
        .map(|rotation| TwinRotation { rounds: rotation.rounds, log_mean: rotation.mean_ns.ln() })
        .collect()
}

/// ln of the geometric mean over variants, by rotation, over the rotations that every baseline has. A candidate that lacks one of
/// them is left out.
fn pooled(groups: &[CellGroup<'_>], contrasts: &[&ObservedContrast]) -> Vec<TwinRotation> {
    let Some((_, first)) = groups.first() else {
        return Vec::new();
    };
    let mut cells: Vec<Vec<RotationTimes>> = groups.iter().map(|(_, times)| times.clone()).collect();
    let has = |times: &[RotationTimes], rotation: u32| times.iter().any(|own| own.rotation == rotation);
    let common = |rotation: &&RotationTimes| cells.iter().all(|times| has(times, rotation.rotation));
    let common: Vec<u32> = first.iter().filter(common).map(|rotation| rotation.rotation).collect();
    let mut known: Vec<CellName<'_>> =
        groups.iter().map(|(contrast, _)| contrast.between().cell(Side::Baseline)).collect();
    for &contrast in contrasts {
        let key = contrast.between().cell(Side::Candidate);
        let times = rotation_times(contrast, Side::Candidate);
        if !known.contains(&key) && common.iter().all(|rotation| has(&times, *rotation)) {
            known.push(key);
            cells.push(times);
        }
    }
    let in_all = |rotation: u32| -> Option<f64> {
        let means: Option<Vec<f64>> = cells
            .iter()
            .map(|times| {
                times.iter().find(|found| found.rotation == rotation).map(|found| found.mean_ns.ln())
            })
            .collect();
        means.map(|means| means.iter().sum::<f64>() / means.len() as f64)
    };
    first
        .iter()
        .filter_map(|rotation| {
            Some(TwinRotation { rounds: rotation.rounds, log_mean: in_all(rotation.rotation)? })
        })
        .collect()
}

/// Rotations measured side by side; all of them as one block where hardly any were, or where too few degrees would be left.
fn blocks(timed: &[TwinRotation]) -> Vec<Vec<f64>> {
    let of_stretch = |(from, to): (u32, u32)| -> Vec<f64> {
        let inside = timed.iter().filter(|rotation| (from..=to).contains(&rotation.rounds.0));
        inside.map(|rotation| rotation.log_mean).collect()
    };
    let blocks: Vec<Vec<f64>> =
        stretches(timed).into_iter().map(of_stretch).filter(|block| block.len() >= 2).collect();
    let side_by_side: usize = blocks.iter().map(Vec::len).sum();
    let used: usize = blocks.iter().map(|block| block.len() / 2 * 2).sum();
    if side_by_side * 2 > timed.len() && used >= 2 * blocks.len() + 2 {
        blocks
    } else {
        vec![timed.iter().map(|rotation| rotation.log_mean).collect()]
    }
}

/// Stretches of rounds: those of rotations that overlap, made one. Where samples are left out, rotations of one batch do not all
/// begin and end in the same round.
fn stretches(timed: &[TwinRotation]) -> Vec<(u32, u32)> {
    let mut rounds: Vec<(u32, u32)> = timed.iter().map(|rotation| rotation.rounds).collect();
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

/// Half B minus half A within blocks, taken A B B A; an odd one at the end of a block is left out.
///
/// Returns: `None` with fewer than four rotations. Source: two-sample t test with a block effect.
fn halves(timed: &[TwinRotation]) -> Option<Effect> {
    let blocks = blocks(timed);
    let mut used = 0;
    let mut weighted = 0.0;
    let mut squares = 0.0;
    for block in &blocks {
        let count = block.len() / 2 * 2;
        let half = |wanted: bool| -> Vec<f64> {
            let of_half = block[..count].iter().enumerate();
            of_half.filter(|(at, _)| matches!(at % 4, 1 | 2) == wanted).map(|(_, value)| *value).collect()
        };
        let means = [half(false), half(true)].map(|half| {
            let mean = half.iter().sum::<f64>() / half.len() as f64;
            squares += half.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
            mean
        });
        weighted += count as f64 * (means[1] - means[0]);
        used += count;
    }
    if used < MIN_TWIN_ROTATIONS {
        return None;
    }
    // Two halves of count / 2 values each differ with variance 4 v / count, and so does the mean of the blocks weighted
    // by their counts: what an Effect of `used` rotations with variance 4 v has.
    let degrees = (used - 2 * blocks.len()) as f64;
    let variance = (4.0 * squares / degrees).max(RESOLUTION.powi(2) * used as f64);
    Some(Effect::between_rotations(weighted / used as f64, variance, degrees, used))
}

struct JudgedTwin {
    verdict: TwinVerdict,
    ratio: Option<RatioInterval>,
    alpha: f64,
}

/// Judges the groups by Holm within half of the control's budget, and the pooled comparison with the other half.
fn judge_all(
    groups: &[Option<Effect>],
    pooled: Option<Effect>,
    options: &VerdictOptions,
) -> (Vec<JudgedTwin>, JudgedTwin) {
    let alpha = 0.5 * MOST_SHARE * alpha_per_look(options.confidence, options.planned_looks());
    let judge = |effect: &Option<Effect>, alpha: f64| match effect {
        Some(effect) => judge_one(effect, alpha, options),
        None => JudgedTwin { verdict: TwinVerdict::Undecided, ratio: None, alpha },
    };
    let p_values: Vec<f64> =
        groups.iter().map(|effect| effect.as_ref().map_or(1.0, Effect::p_value)).collect();
    let steps = holm(&p_values, alpha, alpha);
    let of_groups = groups.iter().zip(steps).map(|(effect, step)| judge(effect, step.alpha)).collect();
    (of_groups, judge(&pooled, alpha))
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
    groups: &[TwinGroup],
    options: &VerdictOptions,
) -> String {
    let margin = asked(options.margin.relative());
    let level = confidence(1.0 - pooled.alpha);
    let interval = pooled.ratio.map(|ratio| span(&ratio));
    match (verdict, interval) {
        (TwinVerdict::Different, interval) => {
            let wrong: Vec<String> = groups
                .iter()
                .filter(|group| group.verdict == TwinVerdict::Different)
                .map(|group| {
                    let by = group.ratio.map_or(String::new(), |ratio| format!(" by {}", span(&ratio)));
                    format!("{} ({}, {}){by}", group.input, group.compiler, group.flags)
                })
                .collect();
            let place = if wrong.is_empty() {
                interval.map_or(String::new(), |interval| format!("over all inputs by {interval}"))
            } else {
                format!("on {}", list(&wrong))
            };
            format!(
                "The twin control failed: the baseline differs from itself {place}, beyond the minimum effect of {margin}."
            )
        }
        (TwinVerdict::Equivalent, Some(interval)) => {
            format!(
                "The variants equal themselves over disjoint rotations: {interval} at {level}, inside the minimum effect of {margin}."
            )
        }
        (_, Some(interval)) => format!(
            "The twin control is undecided: over disjoint rotations the variants differ from themselves by {interval} at {level}, too wide for a minimum effect of {margin}."
        ),
        (_, None) => format!(
            "The twin control is undecided: it needs at least {MIN_TWIN_ROTATIONS} rotations that all inputs and compilers have in common."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_block(values: &[f64]) -> Vec<TwinRotation> {
        values.iter().map(|&log_mean| TwinRotation { rounds: (0, 0), log_mean }).collect()
    }

    #[test]
    fn a_steady_drift_cancels_between_the_halves() {
        let one_by_one: Vec<TwinRotation> = (0..8)
            .map(|rotation| TwinRotation {
                rounds: (rotation, rotation),
                log_mean: 0.05 * f64::from(rotation),
            })
            .collect();
        let effect = halves(&one_by_one).unwrap();
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
            .map(|(at, &log_mean)| TwinRotation { rounds: (at as u32 / 4, at as u32 / 4), log_mean })
            .collect();
        let effect = halves(&timed).unwrap();
        // each block: B = (.01 + .02) / 2, A = (0 + .01) / 2; squares 2 * (2 * .005^2) * 2 = 2e-4 on 4 degrees
        assert!((effect.estimate - 0.01).abs() < 1e-12);
        assert!((effect.variance - 4.0 * 2e-4 / 4.0).abs() < 1e-12);
        assert_eq!((effect.degrees, effect.rotations), (4.0, 8));
    }

    #[test]
    fn blocks_count_by_their_size() {
        // Four rotations say +0.02, two say -0.04: (4 * .02 - 2 * .04) / 6 = 0
        let values = [(0, 0.0), (0, 0.02), (0, 0.02), (0, 0.0), (9, 0.5), (9, 0.46)];
        let timed: Vec<TwinRotation> =
            values.map(|(round, log_mean)| TwinRotation { rounds: (round, round), log_mean }).to_vec();
        let effect = halves(&timed).unwrap();
        assert!(effect.estimate.abs() < 1e-12);
        assert_eq!((effect.degrees, effect.rotations), (2.0, 6));
    }

    #[test]
    fn the_halves_are_compared_by_a_two_sample_t_test() {
        // scipy: ttest_ind([.02,.01,.03,.05], [.00,-.01,.02,.01])
        let effect = halves(&one_block(&[0.0, 0.02, 0.01, -0.01, 0.02, 0.03, 0.05, 0.01])).unwrap();
        assert!((effect.estimate - 0.0225).abs() < 1e-12);
        assert!((effect.estimate / effect.standard_error() - 2.101_947_149_24).abs() < 1e-9);
        assert!((effect.p_value() - 0.080_261_326_219).abs() < 1e-9);
    }

    #[test]
    fn blocks_need_most_of_the_rotations_and_degrees_to_spare() {
        let degrees = |rounds: &[u32]| {
            let at = rounds.iter().enumerate();
            let timed: Vec<TwinRotation> = at
                .map(|(n, &round)| TwinRotation { rounds: (round, round), log_mean: 0.01 * (n % 3) as f64 })
                .collect();
            halves(&timed).unwrap().degrees
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
            rounds.iter().map(|&rounds| TwinRotation { rounds, log_mean: 0.0 }).collect()
        };
        let found = stretches(&timed(&[(1, 2), (0, 1), (5, 6), (2, 2), (4, 5), (9, 9)]));
        assert_eq!(found, [(0, 2), (4, 6), (9, 9)]);
        let sizes = |rounds: &[(u32, u32)]| blocks(&timed(rounds)).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(sizes(&[(0, 2), (1, 2), (0, 0), (0, 1), (3, 5), (4, 5), (3, 3), (3, 4)]), [4, 4]);
    }

    #[test]
    fn three_rotations_make_no_halves_and_a_fifth_is_left_out() {
        assert_eq!(halves(&one_block(&[0.0, 0.1, 0.2])), None);
        let four = halves(&one_block(&[0.0, 0.1, 0.2, 0.3])).unwrap();
        assert_eq!(four, halves(&one_block(&[0.0, 0.1, 0.2, 0.3, 9.0])).unwrap());
    }
}
