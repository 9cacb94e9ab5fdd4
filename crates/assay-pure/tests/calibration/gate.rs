//! The gate of a history: how often it fails without a change, and how often a step of 3 % fails.
//!
//! Series as in `history.rs`, each point with an error of its own besides. The figures of docs/methodology/history.md come
//! from here.

use super::history::{Kind, Noise};
use assay_pure::compare::Gate;
use assay_pure::history::{GateReading, LevelReading, Sensitivity, compare, limit, reference};

/// What is simulated.
pub struct Case {
    /// Between campaigns.
    pub kind: Kind,
    /// A campaign's own standard error; none where it is one number.
    pub own: Option<f64>,
    /// Campaigns before.
    pub earlier: usize,
    /// How many of the last ones, the judged one among them, are slower by `step`.
    pub slower: usize,
    /// A fraction.
    pub step: f64,
    /// Series that one gate judges.
    pub checks: usize,
}

/// Shares of gates of `slower:2%` that fail and that are undecided.
pub fn shares(case: &Case, gates: usize) -> (f64, f64) {
    let limit = limit(&Gate { slower: 0.02 }, 0.01);
    let mut noise = Noise(11);
    let (mut failed, mut undecided) = (0, 0);
    for _ in 0..gates {
        let found: Vec<GateReading> = (0..case.checks).map(|_| one(case, limit, &mut noise)).collect();
        failed += usize::from(found.contains(&GateReading::Failed));
        undecided +=
            usize::from(!found.contains(&GateReading::Failed) && found.contains(&GateReading::Undecided));
    }
    (failed as f64 / gates as f64, undecided as f64 / gates as f64)
}

fn one(case: &Case, limit: f64, noise: &mut Noise) -> GateReading {
    let quiet = Kind { spread: case.own.unwrap_or(0.0), likeness: 0.0, heavy: false };
    let own = noise.series(case.earlier + 1, &quiet);
    let mut values = noise.series(case.earlier + 1, &case.kind);
    values.iter_mut().zip(own).for_each(|(value, own)| *value += own);
    let first = values.len() - case.slower;
    values[first..].iter_mut().for_each(|value| *value += case.step.ln_1p());
    let readings: Vec<LevelReading> =
        values.iter().map(|&value| LevelReading { value, error: case.own, rounding: 0.0 }).collect();
    let range = reference(&values[..case.earlier], limit, &Sensitivity::default()).runs;
    compare(&readings[range], readings[case.earlier]).read(limit, case.checks)
}
