//! Machines of one kind beside each other: how often alike ones are said to differ, and how often a slow one is named.
//!
//! Each machine measures six times and three contrasts once. A campaign moves all its times together by `noise`, and each figure
//! by a third of that by itself; eight placements, the same on all machines, differ by 3 % and are read to 0.3 %. The figures of
//! docs/methodology/history.md come from here.

use super::history::{Kind, Noise};
use assay_pure::history::{MachineReading, SharedFigure, TIME_TOLERANCE, out_of_line};
use std::collections::BTreeMap;

const TIMES: usize = 6;
const CONTRASTS: usize = 3;
const PLACEMENTS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
/// An experiment's usual minimum effect.
const CONTRAST_TOLERANCE: f64 = 0.01;

/// What is simulated.
pub struct Case {
    pub machines: usize,
    /// Every other machine lies at the tolerance, the rest at 0; else all are alike.
    pub halves: bool,
    /// Between campaigns.
    pub noise: f64,
    pub heavy: bool,
    /// How much more time the first machine takes, a fraction.
    pub slower: f64,
}

/// Shares of reports.
pub struct Shares {
    /// That say anything.
    pub any: f64,
    /// That name the first machine; of two that say they differ.
    pub right: f64,
    /// That name another.
    pub wrong: f64,
}

pub fn shares(case: &Case, reports: u32) -> Shares {
    let mut noise = Noise(29);
    let (mut any, mut right, mut wrong) = (0, 0, 0);
    for _ in 0..reports {
        let found = out_of_line(&figures(case, &mut noise));
        let named = |first: bool| found.outlying.iter().any(|one| (one.machine == 0) == first);
        any += u32::from(!found.outlying.is_empty() || !found.apart.is_empty());
        right += u32::from(if case.machines == 2 { !found.apart.is_empty() } else { named(true) });
        wrong += u32::from(named(false));
    }
    let share = |count: u32| f64::from(count) / f64::from(reports);
    Shares { any: share(any), right: share(right), wrong: share(wrong) }
}

fn figures(case: &Case, noise: &mut Noise) -> Vec<SharedFigure<'static>> {
    let campaigns = Kind { spread: case.noise, likeness: 0.0, heavy: case.heavy };
    let alone = Kind { spread: case.noise / 3.0, likeness: 0.0, heavy: case.heavy };
    let (places, own) = (
        Kind { spread: 0.03, likeness: 0.0, heavy: false },
        Kind { spread: 0.003, likeness: 0.0, heavy: false },
    );
    let together = noise.series(case.machines, &campaigns);
    let mut figure = |is_time: bool| {
        let tolerance = if is_time { TIME_TOLERANCE.ln_1p() } else { CONTRAST_TOLERANCE };
        let placed = noise.series(PLACEMENTS.len(), &places);
        let of_figure = noise.series(case.machines, &alone);
        let readings = (0..case.machines).map(|machine| {
            let mut level = of_figure[machine] + if is_time { together[machine] } else { 0.0 };
            level += if case.halves && machine % 2 == 1 { tolerance } else { 0.0 };
            level += if is_time && machine == 0 { case.slower.ln_1p() } else { 0.0 };
            let read = noise.series(PLACEMENTS.len(), &own);
            let values = (0..PLACEMENTS.len()).map(|at| placed[at] + level + read[at]);
            MachineReading {
                machine,
                by_placement: PLACEMENTS.into_iter().zip(values).collect::<BTreeMap<_, _>>(),
            }
        });
        SharedFigure { tolerance, readings: readings.collect() }
    };
    (0..TIMES).map(|_| true).chain((0..CONTRASTS).map(|_| false)).map(&mut figure).collect()
}
