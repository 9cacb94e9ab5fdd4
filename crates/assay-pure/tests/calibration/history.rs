//! Change points: how often one is told of a series that has none, and how soon a step of 3 % is.
//!
//! Series of logarithms with autocorrelated noise (AR(1)), normal or of Student's t with 4 degrees of freedom; each is
//! examined as its points arrive, as a ledger grows. The figures of docs/methodology/history.md come from here.

use assay_pure::history::{Sensitivity, changes, changes_by_machine};

/// SplitMix64; apart from the generator that the method uses.
pub struct Noise(pub u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Variance 1; with heavy tails Student's t with 4 degrees of freedom.
    fn innovation(&mut self, heavy: bool) -> f64 {
        let normal = self.normal();
        if !heavy {
            return normal;
        }
        let squares: f64 = (0..4).map(|_| self.normal().powi(2)).sum();
        normal / (squares / 4.0).sqrt() / 2.0_f64.sqrt()
    }

    /// A series of standard deviation `spread`.
    pub fn series(&mut self, points: usize, kind: &Kind) -> Vec<f64> {
        let mut before = self.innovation(kind.heavy);
        let mut values = vec![before * kind.spread];
        for _ in 1..points {
            let fresh = (1.0 - kind.likeness * kind.likeness).sqrt() * self.innovation(kind.heavy);
            before = kind.likeness * before + fresh;
            values.push(before * kind.spread);
        }
        values
    }
}

pub struct Kind {
    pub spread: f64,
    pub likeness: f64,
    pub heavy: bool,
}

/// Changes told per 1000 points of series of 60 points without a change; with `machines`, two of them in turn and one that
/// takes over in the middle, 10 and 25 % apart.
pub fn false_alarms(kind: &Kind, series: usize, machines: bool) -> f64 {
    let mut noise = Noise(42);
    let mut told = 0;
    for _ in 0..series {
        if machines {
            let machine = |at: usize| if at < 60 { at % 2 } else { 2 };
            let mut own: Vec<_> = (0..3).map(|_| noise.series(60, kind).into_iter()).collect();
            let offsets = [0.0, 0.1, 0.25];
            let points: Vec<(usize, f64)> = (0..120)
                .map(|at| (machine(at), own[machine(at)].next().expect("enough") + offsets[machine(at)]))
                .collect();
            told += changes_by_machine(&points, &Sensitivity::default()).len();
        } else {
            told += changes(&noise.series(60, kind), &Sensitivity::default()).len();
        }
    }
    1000.0 * told as f64 / (series * if machines { 120 } else { 60 }) as f64
}

/// The share of series in which a step of 3 % after `history` points is told within five points, at its place or beside it.
pub fn found(kind: &Kind, history: usize, step: f64, series: usize) -> f64 {
    let mut noise = Noise(7);
    let mut hits = 0;
    for _ in 0..series {
        let mut values = noise.series(history + 5, kind);
        values[history..].iter_mut().for_each(|value| *value += step.ln_1p());
        let found = changes(&values, &Sensitivity::default());
        hits += usize::from(found.iter().any(|change| change.at.abs_diff(history) <= 1));
    }
    hits as f64 / series as f64
}
