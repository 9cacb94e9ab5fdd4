//! One contrast before the controls had their say: its effect, moderated by those of the others, and a first verdict.
//!
//! An estimate beyond the margin is tested for being different from 0, one within it for being equivalent, by two one-sided
//! tests. Each question has its own Holm ladder over all contrasts: what is called different may still lie on the margin,
//! so it does not take its place from those that are asked whether they are equivalent. Checked: tests/calibration.

use super::as_built::judge_as_built;
use super::decide::{DecidedEstimate, decide};
use super::effect::{CodeObservations, code_effect, observe};
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
    // A contrast without an effect keeps its place in the family, as it may be decided at a later look, but for one that was
    // not measured because its code is proven to be the same: no figure ever decides it.
    let family: Vec<bool> = effects
        .iter()
        .zip(contrasts)
        .map(|(effect, contrast)| effect.is_ok() || !contrast.is_proven())
        .collect();
    let levels = levels(&effects, &family, options);
    let plain_alpha = 1.0 - options.confidence;
    observations
        .into_iter()
        .zip(effects)
        .zip(levels)
        .zip(contrasts)
        .map(|(((observations, effect), levels), contrast)| Draft {
            code: effect
                .as_ref()
                .ok()
                .and_then(|effect| judge_code(effect, levels.of(effect, options.margin), options.margin)),
            alpha: effect.as_ref().map_or(levels.difference, |effect| levels.of(effect, options.margin)),
            as_built: contrast
                .as_built
                .as_ref()
                .and_then(|at| judge_as_built(at, plain_alpha, options.margin)),
            observations,
            effect,
            difference_alpha: levels.difference,
        })
        .collect()
}

/// Two-sided levels of one contrast's interval, by what it is asked.
#[derive(Clone, Copy)]
struct Levels {
    /// Does it differ from 0?
    difference: f64,
    /// Is it equivalent? Two one-sided tests at α are an interval at 2α.
    equivalence: f64,
}

impl Levels {
    /// By what an effect is asked, which is where its estimate lies.
    fn of(self, effect: &Effect, margin: Margin) -> f64 {
        if margin.is_exceeded_by_ln(effect.estimate) { self.difference } else { self.equivalence }
    }
}

/// The levels of all contrasts, by Holm over those of the family.
fn levels(effects: &[Result<Effect, StatsError>], family: &[bool], options: &VerdictOptions) -> Vec<Levels> {
    let alpha = alpha_per_look(options.confidence, options.planned_looks());
    let members: Vec<usize> = (0..effects.len()).filter(|at| family[*at]).collect();
    let p_values = |p_of: &dyn Fn(&Effect) -> f64| -> Vec<f64> {
        members.iter().map(|at| effects[*at].as_ref().map_or(1.0, p_of)).collect()
    };
    let differences = holm(&p_values(&Effect::p_value), alpha, MOST_SHARE * alpha);
    // Told equal or not, no interval has less confidence than was asked for.
    let most = 0.5 * (1.0 - options.confidence);
    let equivalences = holm(&p_values(&|effect| effect.equivalence_p_value(options.margin)), alpha, most);
    let mut levels = vec![Levels { difference: alpha, equivalence: alpha }; effects.len()];
    for (at, (difference, equivalence)) in members.iter().zip(differences.iter().zip(&equivalences)) {
        levels[*at] = Levels { difference: difference.alpha, equivalence: 2.0 * equivalence.alpha };
    }
    levels
}

fn judge_code(effect: &Effect, alpha: f64, margin: Margin) -> Option<DecidedEstimate> {
    let interval = effect.interval(alpha).ok()?;
    Some(DecidedEstimate {
        estimate: effect.estimate,
        interval,
        verdict: decide(effect.estimate, interval, margin),
    })
}
