//! The twin control: the baseline against itself, from data already taken.
//!
//! Question: would this campaign find a difference where there is none?
//! Method: the baseline's mean time of each rotation is compared between two disjoint halves of the rotations, taken
//! in the order A B B A so that a steady drift of the machine cancels; Student's t over rotations, spreads moderated
//! over the groups, Holm over the groups and the pooled comparison. Unlike a contrast it is not paired in time: it sees
//! the drift that pairing removes, and then comes out undecided rather than different.
//! Limits: with eight rotations it is often undecided; that is a warning and changes no verdict.
//! Checked: tests below; false alarms by simulation (METHODOLOGY.md).

use super::contrast::RatioInterval;
use super::decide::decide;
use super::observed::ObservedContrast;
use super::options::Options;
use super::profile::{RotationTimes, Side, rotation_times};
use super::wording::{confidence, fraction, list, span};
use super::{Verdict, contrast::ContrastVerdict};
use crate::stats::interval::{Interval, mean_and_variance};
use crate::stats::moderation::{estimate_prior, moderate};
use crate::stats::multiplicity::{MOST_SHARE, alpha_per_look, holm};
use crate::stats::rotation::{Effect, RESOLUTION};

/// Fewest rotations of which two halves of two each can be made.
pub const MIN_TWIN_ROTATIONS: usize = 4;

/// What the twin control says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TwinVerdict {
    /// The baseline equals itself within the minimum effect.
    Equivalent,
    /// The baseline differs from itself beyond the minimum effect: the campaign is not to be trusted.
    Different,
    /// The interval is too wide to say.
    Undecided,
}

impl TwinVerdict {
    fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Equivalent => TwinVerdict::Equivalent,
            Verdict::Faster | Verdict::Slower => TwinVerdict::Different,
            Verdict::Inconclusive => TwinVerdict::Undecided,
        }
    }
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
pub fn twin_control(contrasts: &[ObservedContrast], options: &Options) -> TwinControl {
    let groups = groups(contrasts);
    let mut effects: Vec<Option<Effect>> = groups
        .iter()
        .map(|(_, times)| halves(&log_means(times)))
        .collect();
    let prior = estimate_prior(&effects.iter().flatten().copied().collect::<Vec<_>>());
    if let Some(prior) = prior {
        effects
            .iter_mut()
            .flatten()
            .for_each(|effect| *effect = moderate(*effect, prior));
    }
    effects.push(halves(&pooled_means(&groups)));
    let judged = judge_all(&effects, options);
    let (pooled, of_groups) = judged.split_last().expect("the pooled effect was pushed");
    let groups: Vec<TwinGroup> = groups
        .iter()
        .zip(of_groups)
        .map(|((contrast, times), found)| TwinGroup {
            baseline: contrast.baseline.clone(),
            input: contrast.input.clone(),
            compiler: contrast.compiler.clone(),
            flags: contrast.flags.clone(),
            verdict: found.verdict,
            ratio: found.ratio,
            rotations: times.len() / 2 * 2,
        })
        .collect();
    let any_different = groups
        .iter()
        .any(|group| group.verdict == TwinVerdict::Different);
    let verdict = if any_different {
        TwinVerdict::Different
    } else {
        pooled.verdict
    };
    let statement = statement(verdict, pooled, &groups, options);
    TwinControl {
        verdict,
        ratio: pooled.ratio,
        confidence_level: 1.0 - pooled.alpha,
        groups,
        statement,
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
    (found.verdict != Verdict::Inconclusive).then(|| {
        format!(
            "The baseline differs from itself by {} in this campaign: \"{}\" is not clearly larger than that noise.",
            span(&ratio),
            found.verdict.word()
        )
    })
}

/// The twin difference that concerns a contrast: its own group's, or the pooled one.
fn different_ratio(found: &ContrastVerdict, twin: &TwinControl) -> Option<RatioInterval> {
    let own = twin.groups.iter().find(|group| {
        group.verdict == TwinVerdict::Different
            && group.baseline == found.baseline
            && group.input == found.input
            && group.compiler == found.compiler
            && group.flags == found.flags
    });
    let only_pooled = !twin
        .groups
        .iter()
        .any(|group| group.verdict == TwinVerdict::Different);
    match own {
        Some(group) => group.ratio,
        None if only_pooled && twin.verdict == TwinVerdict::Different => twin.ratio,
        None => None,
    }
}

type Group<'a> = (&'a ObservedContrast, Vec<RotationTimes>);

/// One entry per (baseline, input, compiler, flags): the contrast with most rotations of it, and its baseline's times.
fn groups(contrasts: &[ObservedContrast]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for contrast in contrasts {
        let times = rotation_times(contrast, Side::Baseline);
        let same = |other: &ObservedContrast| {
            (&other.baseline, &other.input, &other.compiler, &other.flags)
                == (
                    &contrast.baseline,
                    &contrast.input,
                    &contrast.compiler,
                    &contrast.flags,
                )
        };
        match groups.iter_mut().find(|(other, _)| same(other)) {
            Some(group) if group.1.len() < times.len() => *group = (contrast, times),
            Some(_) => {}
            None => groups.push((contrast, times)),
        }
    }
    groups
}

fn log_means(times: &[RotationTimes]) -> Vec<f64> {
    times.iter().map(|rotation| rotation.mean_ns.ln()).collect()
}

/// ln of the geometric mean over groups, by rotation, over the rotations that every group has.
fn pooled_means(groups: &[Group<'_>]) -> Vec<f64> {
    let Some((_, first)) = groups.first() else {
        return Vec::new();
    };
    let in_all = |rotation: u32| -> Option<f64> {
        let means: Option<Vec<f64>> = groups
            .iter()
            .map(|(_, times)| {
                times
                    .iter()
                    .find(|found| found.rotation == rotation)
                    .map(|found| found.mean_ns.ln())
            })
            .collect();
        means.map(|means| means.iter().sum::<f64>() / means.len() as f64)
    };
    first
        .iter()
        .filter_map(|rotation| in_all(rotation.rotation))
        .collect()
}

/// Half B minus half A, taken A B B A; an odd one at the end is left out. `None` with fewer than four values.
fn halves(log_means: &[f64]) -> Option<Effect> {
    let count = log_means.len() / 2 * 2;
    if count < MIN_TWIN_ROTATIONS {
        return None;
    }
    let half = |wanted: bool| -> Vec<f64> {
        let of_half = log_means[..count].iter().enumerate();
        of_half
            .filter(|(at, _)| matches!(at % 4, 1 | 2) == wanted)
            .map(|(_, value)| *value)
            .collect()
    };
    let (mean_a, variance_a) = mean_and_variance(&half(false))?;
    let (mean_b, variance_b) = mean_and_variance(&half(true))?;
    // Both halves have count / 2 values, so the pooled variance is the plain mean; the difference of two means of
    // count / 2 values has variance 4 v / count, which is what an Effect of `count` rotations with variance 4 v has.
    let variance = (4.0 * 0.5 * (variance_a + variance_b)).max(RESOLUTION.powi(2) * count as f64);
    Some(Effect {
        estimate: mean_b - mean_a,
        variance,
        degrees: (count - 2) as f64,
        rotations: count,
    })
}

struct JudgedTwin {
    verdict: TwinVerdict,
    ratio: Option<RatioInterval>,
    alpha: f64,
}

/// Holm over all comparisons there are.
fn judge_all(effects: &[Option<Effect>], options: &Options) -> Vec<JudgedTwin> {
    let alpha = alpha_per_look(options.confidence, options.planned_looks());
    let present: Vec<Effect> = effects.iter().flatten().copied().collect();
    let p_values: Vec<f64> = present.iter().map(Effect::p_value).collect();
    let steps = holm(&p_values, alpha, MOST_SHARE * alpha);
    let mut steps = steps.iter();
    effects
        .iter()
        .map(
            |effect| match (effect, effect.as_ref().and_then(|_| steps.next())) {
                (Some(effect), Some(step)) => judge_one(effect, step.alpha, options.margin()),
                _ => JudgedTwin {
                    verdict: TwinVerdict::Undecided,
                    ratio: None,
                    alpha,
                },
            },
        )
        .collect()
}

fn judge_one(effect: &Effect, alpha: f64, margin: f64) -> JudgedTwin {
    let interval: Option<Interval> = effect.interval(alpha).ok();
    let verdict = interval.map_or(Verdict::Inconclusive, |interval| {
        decide(effect.estimate, interval, margin)
    });
    JudgedTwin {
        verdict: TwinVerdict::of(verdict),
        ratio: interval.map(|interval| RatioInterval::from_log(effect.estimate, interval)),
        alpha,
    }
}

fn statement(
    verdict: TwinVerdict,
    pooled: &JudgedTwin,
    groups: &[TwinGroup],
    options: &Options,
) -> String {
    let margin = fraction(options.minimum_effect);
    let level = confidence(1.0 - pooled.alpha);
    let interval = pooled.ratio.map(|ratio| span(&ratio));
    match (verdict, interval) {
        (TwinVerdict::Different, interval) => {
            let wrong: Vec<String> = groups
                .iter()
                .filter(|group| group.verdict == TwinVerdict::Different)
                .map(|group| {
                    let by = group
                        .ratio
                        .map_or(String::new(), |ratio| format!(" by {}", span(&ratio)));
                    format!("{} ({}, {}){by}", group.input, group.compiler, group.flags)
                })
                .collect();
            let place = if wrong.is_empty() {
                interval.map_or(String::new(), |interval| {
                    format!("over all inputs by {interval}")
                })
            } else {
                format!("on {}", list(&wrong))
            };
            format!(
                "The twin control failed: the baseline differs from itself {place}, beyond the minimum effect of {margin}."
            )
        }
        (TwinVerdict::Equivalent, Some(interval)) => {
            format!(
                "The baseline equals itself over disjoint rotations: {interval} at {level}, inside the minimum effect of {margin}."
            )
        }
        (_, Some(interval)) => format!(
            "The twin control is undecided: over disjoint rotations the baseline differs from itself by {interval} at {level}, too wide for a minimum effect of {margin}."
        ),
        (_, None) => format!(
            "The twin control is undecided: it needs at least {MIN_TWIN_ROTATIONS} rotations that all inputs and compilers have in common."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_drift_cancels_between_the_halves() {
        let drifting: Vec<f64> = (0..8).map(|rotation| 0.05 * f64::from(rotation)).collect();
        assert!(halves(&drifting).unwrap().estimate.abs() < 1e-12);
        assert_eq!(halves(&drifting).unwrap().degrees, 6.0);
    }

    #[test]
    fn the_halves_are_compared_by_a_two_sample_t_test() {
        // scipy: ttest_ind([.02,.01,.03,.05], [.00,-.01,.02,.01])
        let values = [0.0, 0.02, 0.01, -0.01, 0.02, 0.03, 0.05, 0.01];
        let effect = halves(&values).unwrap();
        assert!((effect.estimate - 0.0225).abs() < 1e-12);
        assert!((effect.estimate / effect.standard_error() - 2.10194714924).abs() < 1e-9);
        assert!((effect.p_value() - 0.080261326219).abs() < 1e-9);
    }

    #[test]
    fn three_rotations_make_no_halves_and_a_fifth_is_left_out() {
        assert_eq!(halves(&[0.0, 0.1, 0.2]), None);
        assert_eq!(
            halves(&[0.0, 0.1, 0.2, 0.3]).unwrap(),
            halves(&[0.0, 0.1, 0.2, 0.3, 9.0]).unwrap()
        );
    }
}
