//! One contrast before the controls had their say: its effect, moderated by those of the others, and a first verdict.

use super::as_built::judge_as_built;
use super::decide::{DecidedEstimate, decide};
use super::effect::{CodeObservations, code_effect, observe};
use super::identity::CodeIdentity;
use super::observed::ObservedContrast;
use super::options::VerdictOptions;
use crate::stats::StatsError;
use crate::stats::margin::Margin;
use crate::stats::moderation::moderate_all;
use crate::stats::multiplicity::{HolmStep, MOST_SHARE, alpha_per_look, holm};
use crate::stats::rotation::Effect;

/// One contrast before the controls had their say.
pub(super) struct Draft {
    pub(super) observations: CodeObservations,
    /// The effect as judged (moderated), or why there is none.
    pub(super) effect: Result<Effect, StatsError>,
    /// Two-sided level of its interval.
    pub(super) alpha: f64,
    /// Interval and word; absent with the effect.
    pub(super) code: Option<DecidedEstimate>,
    pub(super) as_built: Option<DecidedEstimate>,
}

pub(super) fn draft_all(contrasts: &[ObservedContrast], options: &VerdictOptions) -> Vec<Draft> {
    let observations: Vec<CodeObservations> = contrasts.iter().map(observe).collect();
    let mut effects: Vec<Result<Effect, StatsError>> = observations.iter().map(code_effect).collect();
    moderate_all(&mut effects.iter_mut().flatten().collect::<Vec<&mut Effect>>());
    // A contrast without an effect keeps its place in the family, as it may be decided at a later look, but for one that was
    // not measured because its code is proven to be the same: no figure ever decides it.
    let p_values: Vec<f64> =
        effects.iter().map(|effect| effect.as_ref().map_or(1.0, Effect::p_value)).collect();
    let alpha = alpha_per_look(options.confidence, options.planned_looks());
    let tested = |at: &usize| effects[*at].is_ok() || contrasts[*at].identity != Some(CodeIdentity::Proven);
    let family: Vec<usize> = (0..contrasts.len()).filter(tested).collect();
    let of_family: Vec<f64> = family.iter().map(|at| p_values[*at]).collect();
    let mut steps = vec![HolmStep { alpha, rejected: false }; contrasts.len()];
    for (at, step) in family.into_iter().zip(holm(&of_family, alpha, MOST_SHARE * alpha)) {
        steps[at] = step;
    }
    let plain_alpha = 1.0 - options.confidence;
    observations
        .into_iter()
        .zip(effects)
        .zip(steps)
        .zip(contrasts)
        .map(|(((observations, effect), step), contrast)| Draft {
            code: effect.as_ref().ok().and_then(|effect| judge_code(effect, step.alpha, options.margin)),
            as_built: contrast
                .as_built
                .as_ref()
                .and_then(|at| judge_as_built(at, plain_alpha, options.margin)),
            observations,
            effect,
            alpha: step.alpha,
        })
        .collect()
}

fn judge_code(effect: &Effect, alpha: f64, margin: Margin) -> Option<DecidedEstimate> {
    let interval = effect.interval(alpha).ok()?;
    Some(DecidedEstimate {
        estimate: effect.estimate,
        interval,
        verdict: decide(effect.estimate, interval, margin),
    })
}
