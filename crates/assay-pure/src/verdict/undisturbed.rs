//! A contrast without the samples that somebody else disturbed, as far as both sides lose as many.

use super::observed::{Observation, ObservedContrast, PairAt, Rotation, Visits};
use crate::stats::disturbed::{PlacedSample, disturbed_alike};
use std::collections::HashSet;

/// A placement keeps all its samples where fewer pairs than these would be left.
const FEWEST_PAIRS: usize = 2;

/// What is left of a contrast.
#[derive(Clone, Debug, PartialEq)]
pub struct Undisturbed {
    /// Its rotations without what was disturbed.
    pub rotations: Vec<Rotation>,
    /// The part of the samples that was.
    pub left_out: f64,
}

/// A contrast without what was disturbed; `None` where that cannot be told.
pub fn of(contrast: &ObservedContrast) -> Option<Undisturbed> {
    if contrast.visits != Visits::Process {
        return None;
    }
    let placed_samples = |side: fn(&PairAt) -> &[Observation]| -> Vec<PlacedSample> {
        let placements = contrast.rotations.iter().flat_map(|rotation| &rotation.phases).enumerate();
        let placed = |(placement, pair)| side(pair).iter().map(move |sample| placed(placement, sample));
        placements.flat_map(placed).collect()
    };
    let sides: [fn(&PairAt) -> &[Observation]; 2] = [|pair| &pair.candidate, |pair| &pair.baseline];
    let [candidate, baseline] = sides.map(placed_samples);
    let is_time = |samples: &[PlacedSample]| samples.iter().all(|sample| sample.log.is_finite());
    if !is_time(&candidate) || !is_time(&baseline) {
        return None;
    }
    let flags = disturbed_alike([&candidate, &baseline])?;
    let all = flags.iter().flatten();
    let left_out = all.clone().filter(|disturbed| **disturbed).count() as f64 / all.count() as f64;
    let [mut of_candidate, mut of_baseline] = flags.map(Vec::into_iter);
    let kept = |flags: &mut std::vec::IntoIter<bool>, samples: &[Observation]| -> Vec<Observation> {
        let flags = flags.by_ref().take(samples.len());
        samples.iter().zip(flags).filter(|(_, disturbed)| !disturbed).map(|(sample, _)| *sample).collect()
    };
    let mut rotations = contrast.rotations.clone();
    for pair in rotations.iter_mut().flat_map(|rotation| &mut rotation.phases) {
        let candidate = kept(&mut of_candidate, &pair.candidate);
        let baseline = kept(&mut of_baseline, &pair.baseline);
        let left = PairAt { candidate, baseline, ..*pair };
        if pairs(&left) >= FEWEST_PAIRS {
            *pair = left;
        }
    }
    Some(Undisturbed { rotations, left_out })
}

fn placed(placement: usize, sample: &Observation) -> PlacedSample {
    PlacedSample { placement, at: (sample.round, sample.index), log: sample.ns_per_unit.ln() }
}

/// Samples of one side that have their counterpart.
pub fn pairs(pair: &PairAt) -> usize {
    let at = |sample: &Observation| (sample.round, sample.index);
    let known: HashSet<(u32, u32)> = pair.candidate.iter().map(at).collect();
    pair.baseline.iter().filter(|sample| known.contains(&at(sample))).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::effect::{code_effect, observe};

    /// Two functions of the same code at 4 rotations of 4 phases, 6 rounds of 4 samples; `slowed` says by how much (ln) somebody slows
    /// a sample, of which side and with which number.
    fn contrast(slowed: impl Fn(bool, usize) -> f64) -> ObservedContrast {
        let mut number = 0;
        let mut side = |is_candidate: bool, level: f64| -> Vec<Observation> {
            let places = (0..6).flat_map(|round| (0..4).map(move |index| (round, index)));
            let sample = |(round, index): (u32, u32)| {
                number += 1;
                let scatter = 0.002 * (f64::from(number as u32 * 37 % 101) / 50.0 - 1.0);
                let log =
                    level + 0.1 * f64::from((round + index) % 3) + scatter + slowed(is_candidate, number);
                Observation { round, index, ns_per_unit: log.exp() }
            };
            places.map(sample).collect()
        };
        let mut rotation = |rotation: u32| Rotation {
            rotation,
            phases: (0..4u32)
                .map(|phase| PairAt {
                    phase_bytes: 16 * phase,
                    candidate: side(true, 0.05 * f64::from((phase + rotation) % 4)),
                    baseline: side(false, 0.05 * f64::from(phase)),
                    ..PairAt::default()
                })
                .collect(),
        };
        ObservedContrast {
            candidate: "one".into(),
            baseline: "other".into(),
            input: "bytes".into(),
            compiler: "cc".into(),
            flags: "O2".into(),
            against: None,
            as_built: None,
            rotations: (0..4).map(&mut rotation).collect(),
            visits: Visits::Process,
            identity: None,
        }
    }

    /// A third of the samples, in bursts, as the numbers of a congruence come.
    fn bursts(number: usize) -> f64 {
        if number / 3 * 29 % 97 < 35 { 0.05 + 0.004 * (number % 23) as f64 } else { 0.0 }
    }

    #[test]
    fn bursts_of_a_neighbour_hardly_move_the_effect() {
        let disturbed = contrast(|_, number| bursts(number));
        let effect = code_effect(&observe(&disturbed)).unwrap();
        assert!(effect.estimate.abs() < 0.001 && effect.standard_error() < 0.001, "{effect:?}");
        let samples = |rotations: &[Rotation]| -> usize {
            let pairs = rotations.iter().flat_map(|rotation| &rotation.phases);
            pairs.map(|pair| pair.candidate.len() + pair.baseline.len()).sum()
        };
        let (kept, all) = (samples(&of(&disturbed).unwrap().rotations), samples(&disturbed.rotations));
        assert!((all * 6 / 10..all * 7 / 10).contains(&kept), "{kept} of {all}");
        let left_out = of(&disturbed).unwrap().left_out;
        assert!((left_out - (all - kept) as f64 / all as f64).abs() < 0.01, "{left_out}");
    }

    #[test]
    fn a_function_that_is_slow_by_itself_in_a_third_of_its_samples_keeps_them_all() {
        assert_eq!(
            of(&contrast(|is_candidate, number| if is_candidate { bursts(number) } else { 0.0 })),
            None
        );
    }

    #[test]
    fn runs_of_a_command_and_times_that_are_none_are_left_alone() {
        let mut of_runs = contrast(|_, number| bursts(number));
        of_runs.visits = Visits::Run { unit: "ns".into(), relinked: true };
        assert_eq!(of(&of_runs), None);
        let mut odd = contrast(|_, number| bursts(number));
        odd.rotations[0].phases[0].candidate[0].ns_per_unit = 0.0;
        assert_eq!(of(&odd), None);
    }
}
