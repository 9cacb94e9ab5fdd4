//! A simulated machine: a log ratio that is known, measured over rotations as the lab does.
//!
//! A rotation's ratio is the truth, what its shuffle of the sections does (the same at every point, since all points are
//! measured with the same links) and what is left (another draw at each).

use assay_pure::stats::rotation::RotationRatio;
use assay_pure::sweep::confirm::{again, spoiled};
use assay_pure::sweep::refine::{MeasuredSoFar, SweptPair, add, next};
use assay_pure::sweep::repeats::{PairAtPoint, PairReadings, Take, readings};
use assay_pure::sweep::{Reading, SweepSpec};

pub const CONFIDENCE: f64 = 0.95;
/// Rotations of a point.
const ROTATIONS: usize = 8;

/// What varies beside the truth: standard deviations of the log ratio of one rotation.
#[derive(Clone, Copy, Debug)]
pub struct Noise {
    /// By shuffle, shared by all points.
    pub shuffle: f64,
    /// By rotation and point.
    pub rotation: f64,
    /// By campaign and point, whatever the rotation.
    pub campaign: f64,
    /// The part of campaigns that somebody disturbs from beginning to end: ten times the above, and never less than 2 %.
    pub disturbed: f64,
    /// The part of visits on a core that is known to be shared, where the candidate takes 15 % more, give or take 10.
    pub shared: f64,
    /// Campaigns before anybody shares the core.
    pub alone: usize,
}

impl Noise {
    /// What a quiet machine shows.
    pub const LITTLE: Noise =
        Noise { shuffle: 0.002, rotation: 0.002, campaign: 0.0, disturbed: 0.0, shared: 0.0, alone: 0 };
}

/// A machine on which one pair is measured.
#[derive(Clone, Copy)]
pub struct Machine {
    /// ln(time of candidate / time of baseline) at a value of the key.
    pub truth: fn(f64) -> f64,
    /// How well it can be seen.
    pub noise: Noise,
}

/// One sweep on it.
pub struct Run<'a> {
    machine: &'a Machine,
    draw: Draw,
    shuffles: Vec<f64>,
    /// By point, what each campaign saw.
    taken: Vec<PairAtPoint>,
    visits: usize,
    campaigns: usize,
}

/// A linear sweep over a range.
pub fn spec(from: f64, to: f64, points: u32) -> SweepSpec {
    SweepSpec { points, ..SweepSpec::over("inputs.a.x", from, to) }
}

impl Machine {
    pub fn begin(&self, seed: u64) -> Run<'_> {
        let mut draw = Draw(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1);
        let shuffles = (0..ROTATIONS).map(|_| self.noise.shuffle * draw.normal()).collect();
        Run { machine: self, draw, shuffles, taken: Vec::new(), visits: 0, campaigns: 0 }
    }
}

impl Run<'_> {
    /// One campaign.
    pub fn measure(&mut self, points: &[f64]) {
        let noise = self.machine.noise;
        self.campaigns += 1;
        let disturbed = noise.disturbed > 0.0 && self.draw.uniform() < noise.disturbed;
        let campaign = if disturbed { (10.0 * noise.campaign).max(0.02) } else { noise.campaign };
        for &at in points {
            let shared =
                noise.shared > 0.0 && self.campaigns > noise.alone && self.draw.uniform() < noise.shared;
            let shift = if shared { 0.15 + 0.1 * self.draw.normal() } else { 0.0 };
            let truth = (self.machine.truth)(at) + campaign * self.draw.normal() + shift;
            let ratio = |shuffle: &f64, own: f64| RotationRatio {
                log_ratio: truth + shuffle + noise.rotation * own,
                sampling_variance: 0.0,
                visit_variance: 0.0,
            };
            let draws: Vec<f64> = self.shuffles.iter().map(|_| self.draw.normal()).collect();
            let ratios = self.shuffles.iter().zip(&draws).map(|(shuffle, own)| ratio(shuffle, *own));
            let take = Take { ratios: (0..).zip(ratios).collect(), rounds: None, shared };
            match self.taken.iter_mut().find(|known| known.at == at) {
                Some(known) => known.takes.push(take),
                None => self.taken.push(PairAtPoint { at, takes: vec![take] }),
            }
            self.visits += 1;
        }
    }

    /// All steps of a sweep.
    pub fn walk(&mut self, sweep: &SweepSpec) {
        self.measure(&sweep.grid());
        let grid = self.points();
        for step in 1..100 {
            let left = sweep.refine - (self.points() - grid) as u32;
            let PairReadings { readings, left_out, between } =
                readings(std::slice::from_ref(&self.taken)).remove(0);
            let (candidate, baseline) = ("new".into(), "old".into());
            let pair = SweptPair { candidate, baseline, readings, left_out, between };
            let tried = |taken: &PairAtPoint| (taken.at, vec!["new".to_owned(), "old".to_owned()]);
            let tried = self.taken.iter().map(tried).collect();
            let measured = MeasuredSoFar { tried, pairs: vec![pair], curves: Vec::new() };
            let mut wishes = next(sweep, &measured, step, left, CONFIDENCE);
            if wishes.is_empty() {
                wishes = again(sweep, &measured, CONFIDENCE);
                spoiled(&measured).into_iter().for_each(|wish| add(&mut wishes, wish));
            }
            if wishes.is_empty() {
                return;
            }
            self.measure(&wishes.iter().map(|wish| wish.at).collect::<Vec<_>>());
        }
        panic!("a sweep comes to an end");
    }

    /// Different values of the key.
    pub fn points(&self) -> usize {
        self.taken.len()
    }

    /// Points measured, in how many campaigns soever.
    pub fn visits(&self) -> usize {
        self.visits
    }

    /// As the lab makes them: moderated by each other, rising.
    pub fn readings(&self) -> Vec<Reading> {
        readings(std::slice::from_ref(&self.taken)).remove(0).readings
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014) and Box-Muller.
struct Draw(u64);

impl Draw {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (2.0 * std::f64::consts::PI * v).cos()
    }
}
