//! One contrast before the controls had their say: its effect, moderated by those of the others, and a first verdict.
//!
//! An estimate beyond the margin is tested for being different from 0, one within it for being equivalent, by two one-sided
//! tests; no true effect makes both null hypotheses true. All contrasts share one budget by Holm, each with the p-value of
//! its own test; what one is called takes its place from the others, whichever of the two it is. Checked: tests/calibration.

use super::as_built::judge_as_built;
use super::decide::{DecidedEstimate, decide};
use super::effect::{CodeObservations, code_effect, observe};
use super::identity::CodeIdentity;
use super::observed::ObservedContrast;
use super::options::VerdictOptions;
use crate::stats::StatsError;
use crate::stats::margin::Margin;
use crate::stats::moderation::moderate_all;
use crate::stats::multiplicity::{MOST_SHARE, alpha_per_look, holm};
use crate::stats::rotation::Effect;

/// One contrast before the controls had their say.
pub(super) struct Draft {
    pub(super) observations: CodeObservations,
    /// The effect as judged (moderated), or why there is none.
    pub(super) effect: Result<Effect, StatsError>,
    /// Two-sided level of its interval.
    pub(super) alpha: f64,
    /// Two-sided level at which it would be called different.
    pub(super) difference_alpha: f64,
    /// Interval and word; absent with the effect.
    pub(super) code: Option<DecidedEstimate>,
    pub(super) as_built: Option<DecidedEstimate>,
}

pub(super) fn draft_all(contrasts: &[ObservedContrast], options: &VerdictOptions) -> Vec<Draft> {
    let observations: Vec<CodeObservations> = contrasts.iter().map(observe).collect();
    let mut effects: Vec<Result<Effect, StatsError>> = observations.iter().map(code_effect).collect();
    moderate_all(&mut effects.iter_mut().flatten().collect::<Vec<&mut Effect>>());
    let tests: Vec<Test> =
        effects.iter().map(|effect| Test::of(effect.as_ref().ok(), options.margin)).collect();
    // A contrast without an effect keeps its place in the family, as it may be decided at a later look, but for one that was
    // not measured because its code is proven to be the same: no figure ever decides it.
    let family: Vec<bool> = effects
        .iter()
        .zip(contrasts)
        .map(|(effect, contrast)| effect.is_ok() || contrast.identity != Some(CodeIdentity::Proven))
        .collect();
    let levels = levels(&tests, &family, options);
    let difference_most = most_for_difference(options);
    let plain_alpha = 1.0 - options.confidence;
    observations
        .into_iter()
        .zip(effects)
        .zip(tests.iter().zip(levels))
        .zip(contrasts)
        .map(|(((observations, effect), (test, level)), contrast)| Draft {
            code: effect
                .as_ref()
                .ok()
                .and_then(|effect| judge_code(effect, test.interval_alpha(level), options.margin)),
            as_built: contrast
                .as_built
                .as_ref()
                .and_then(|at| judge_as_built(at, plain_alpha, options.margin)),
            observations,
            effect,
            alpha: test.interval_alpha(level),
            difference_alpha: level.min(difference_most),
        })
        .collect()
}

/// What each test's p-value is compared with, by Holm over those of the family.
fn levels(tests: &[Test], family: &[bool], options: &VerdictOptions) -> Vec<f64> {
    let alpha = alpha_per_look(options.confidence, options.planned_looks());
    let members: Vec<usize> = (0..tests.len()).filter(|at| family[*at]).collect();
    let p_values: Vec<f64> = members.iter().map(|at| tests[*at].p_value).collect();
    // Told equal or not, no interval has less confidence than was asked for.
    let equivalence_most = 0.5 * (1.0 - options.confidence);
    let most = |member: usize| {
        if tests[members[member]].of_equivalence { equivalence_most } else { most_for_difference(options) }
    };
    let mut levels = vec![alpha; tests.len()];
    for (at, step) in members.iter().zip(holm(&p_values, alpha, most)) {
        levels[*at] = step.alpha;
    }
    levels
}

/// The largest level at which a contrast may be called different.
fn most_for_difference(options: &VerdictOptions) -> f64 {
    MOST_SHARE * alpha_per_look(options.confidence, options.planned_looks())
}

/// What a contrast is tested for, by where its estimate lies.
struct Test {
    of_equivalence: bool,
    p_value: f64,
}

impl Test {
    /// Input: none is an effect that is not known yet, and may become either.
    fn of(effect: Option<&Effect>, margin: Margin) -> Test {
        let of_equivalence = effect.is_some_and(|effect| !margin.is_exceeded_by_ln(effect.estimate));
        let p_value = effect.map_or(1.0, |effect| {
            if of_equivalence { effect.equivalence_p_value(margin) } else { effect.p_value() }
        });
        Test { of_equivalence, p_value }
    }

    /// Two-sided level of the interval that agrees with the test at a level: two one-sided tests at α are an interval at 2α.
    fn interval_alpha(&self, level: f64) -> f64 {
        if self.of_equivalence { 2.0 * level } else { level }
    }
}

fn judge_code(effect: &Effect, alpha: f64, margin: Margin) -> Option<DecidedEstimate> {
    let interval = effect.interval(alpha).ok()?;
    Some(DecidedEstimate {
        estimate: effect.estimate,
        interval,
        verdict: decide(effect.estimate, interval, margin),
    })
}
