//! A seeded model of a campaign, made of what was seen on the developing machine: offset effects up to 23 % that all
//! functions of the same code share, a residual of 0.3 to 1.5 % between shuffles, drift, windows of different cost,
//! samples with heavy tails and outliers of 20 % and more.

use assay_pure::verdict::{Observation, ObservedContrast, PairAt, Rotation, Visits};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Random numbers of the shapes the model needs.
pub struct Dice(Xoshiro256PlusPlus);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Uniform in (0, 1).
    pub fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[(self.uniform() * from.len() as f64) as usize]
    }

    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * self.uniform().ln()
    }
}

/// Shape of what varies between shuffles, each with variance 1.
#[derive(Clone, Copy, Debug)]
pub enum Residual {
    Normal,
    /// Student's t with 3 degrees.
    Heavy,
    /// One shuffle in eight is slower by four standard deviations of the rest.
    Bimodal,
}

impl Residual {
    fn draw(self, dice: &mut Dice) -> f64 {
        match self {
            Residual::Normal => dice.normal(),
            Residual::Heavy => {
                let chi: f64 = (0..3).map(|_| dice.normal().powi(2)).sum();
                dice.normal() / (chi / 3.0).sqrt() / 3f64.sqrt()
            }
            Residual::Bimodal => {
                let hit = if dice.uniform() < 0.125 { 1.0 } else { 0.0 };
                (dice.normal() + 4.0 * (hit - 0.125)) / (1.0 + 16.0 * 0.125 * 0.875f64).sqrt()
            }
        }
    }
}

/// A campaign to be simulated.
#[derive(Clone, Debug)]
pub struct Model {
    /// Combinations of input, compiler and flags.
    pub groups: usize,
    /// Candidates against the one baseline of each group.
    pub candidates: usize,
    /// True code effects (ln ratio) to draw from.
    pub effects: Vec<f64>,
    pub residual: Residual,
    /// Range of the residual's standard deviation over groups, drawn evenly on a log scale.
    pub spread: (f64, f64),
    /// Drift of the machine per round: (steady, random walk), ln.
    pub drift: (f64, f64),
    /// How far one function is moved in one round, whatever its placement (ln, standard deviation).
    pub round_spread: f64,
    pub rounds: u32,
    pub samples: u32,
    /// Probability that a sample is interrupted and nobody notices.
    pub outliers: f64,
    /// The share of visits beside which somebody is busy, unseen, and by how much he slows samples (ln, mean).
    pub busy: (f64, f64),
    /// The share of visits that are left out, drawn for each round from this range.
    pub lost: (f64, f64),
    /// Rotations measured together in the same rounds, at each look.
    pub batches: Vec<usize>,
}

impl Default for Model {
    fn default() -> Self {
        Model {
            groups: 16,
            candidates: 3,
            effects: vec![0.0],
            residual: Residual::Normal,
            spread: (0.003, 0.015),
            drift: (0.0, 0.01),
            round_spread: 0.0,
            rounds: 2,
            samples: 4,
            outliers: 0.05,
            busy: (0.0, 0.0),
            lost: (0.0, 0.0),
            batches: vec![8, 4, 4, 8, 8],
        }
    }
}

/// A simulated campaign at its full length, with the truth.
pub struct Campaign {
    pub contrasts: Vec<ObservedContrast>,
    /// True ln ratio of each contrast's code.
    pub truth: Vec<f64>,
}

impl Campaign {
    /// The campaign as it was after its first `rotations`.
    pub fn after(&self, rotations: usize) -> Vec<ObservedContrast> {
        let cut = |contrast: &ObservedContrast| ObservedContrast {
            against: contrast.against.clone(),
            rotations: contrast.rotations[..rotations].to_vec(),
            as_built: contrast.as_built.clone(),
            candidate: contrast.candidate.clone(),
            baseline: contrast.baseline.clone(),
            input: contrast.input.clone(),
            compiler: contrast.compiler.clone(),
            flags: contrast.flags.clone(),
            visits: contrast.visits.clone(),
            identity: contrast.identity.clone(),
        };
        self.contrasts.iter().map(cut).collect()
    }
}

/// One function in one group.
struct Function {
    effect: f64,
    spread: f64,
    /// ln effect of each offset 0, 16, 32, 48.
    offsets: [f64; 4],
    /// What each round does to it.
    by_round: Vec<f64>,
    /// The share of visits that each round loses, of all functions the same.
    lost: Vec<f64>,
}

const VISIT_SD: f64 = 0.003;
const SAMPLE_SD: f64 = 0.005;
const WINDOW_SD: f64 = 0.05;
const PHASE_SD_SHARE: f64 = 0.5;

impl Model {
    pub fn campaign(&self, dice: &mut Dice) -> Campaign {
        let mut campaign = Campaign { contrasts: Vec::new(), truth: Vec::new() };
        let drift = self.drift_by_round(dice);
        for group in 0..self.groups {
            self.add_group(group, &drift, dice, &mut campaign);
        }
        campaign
    }

    fn drift_by_round(&self, dice: &mut Dice) -> Vec<f64> {
        let mut level = 0.0;
        let rounds = self.batches.len() as u32 * self.rounds;
        let step = |_: u32| {
            level += self.drift.0 + self.drift.1 * dice.normal();
            level
        };
        (0..rounds).map(step).collect()
    }

    fn add_group(&self, group: usize, drift: &[f64], dice: &mut Dice, campaign: &mut Campaign) {
        let spread = dice.between(self.spread.0.ln(), self.spread.1.ln()).exp() / 2f64.sqrt();
        let table = |dice: &mut Dice| [0.0; 4].map(|_: f64| dice.between(0.0, 1.23f64.ln()));
        let shared = table(dice);
        let losing = self.lost.1 > 0.0;
        let lost: Vec<f64> =
            drift.iter().map(|_| if losing { dice.between(self.lost.0, self.lost.1) } else { 0.0 }).collect();
        let functions: Vec<Function> = (0..=self.candidates)
            .map(|which| {
                let effect = if which == 0 { 0.0 } else { dice.pick(&self.effects) };
                let offsets = if effect == 0.0 { shared } else { table(dice) };
                let mean = offsets.map(f64::exp).iter().sum::<f64>() / 4.0;
                // The truth is the ratio of mean times over the offsets.
                let offsets = offsets.map(|offset| offset - mean.ln());
                let by_round = drift.iter().map(|_| self.round_spread * dice.normal()).collect();
                let lost = lost.clone();
                Function { effect, spread: spread * (0.3 * dice.normal()).exp(), offsets, by_round, lost }
            })
            .collect();
        let common = self.common(drift, dice);
        let first = campaign.contrasts.len();
        for (which, function) in functions.iter().enumerate().skip(1) {
            campaign.truth.push(function.effect);
            campaign.contrasts.push(ObservedContrast {
                candidate: format!("candidate-{which}"),
                baseline: "baseline".to_string(),
                input: format!("input-{group}"),
                compiler: "cc".to_string(),
                flags: "O2".to_string(),
                against: None,
                as_built: None,
                rotations: Vec::new(),
                visits: Visits::Process,
                identity: None,
            });
        }
        let mut number = 0;
        for (batch, rotations) in self.batches.iter().enumerate() {
            let rounds = batch as u32 * self.rounds..(batch as u32 + 1) * self.rounds;
            for _ in 0..*rotations {
                self.add_rotation(
                    &functions,
                    number,
                    rounds.clone(),
                    &common,
                    dice,
                    &mut campaign.contrasts[first..],
                );
                number += 1;
            }
        }
        self.add_as_built(&functions, &common, dice, &mut campaign.contrasts[first..]);
    }

    fn add_rotation(
        &self,
        functions: &[Function],
        number: u32,
        rounds: std::ops::Range<u32>,
        common: &[Vec<f64>],
        dice: &mut Dice,
        contrasts: &mut [ObservedContrast],
    ) {
        let starts: Vec<u64> = functions.iter().map(|_| dice.pick(&[0, 16, 32, 48])).collect();
        let residuals: Vec<f64> = functions.iter().map(|f| f.spread * self.residual.draw(dice)).collect();
        contrasts.iter_mut().for_each(|contrast| {
            contrast.rotations.push(Rotation { rotation: number, phases: Vec::new() });
        });
        for phase in [0u64, 16, 32, 48] {
            let sides: Vec<(u64, Vec<Observation>)> = functions
                .iter()
                .zip(starts.iter().zip(&residuals))
                .map(|(function, (start, residual))| {
                    let offset = (start + phase) % 64;
                    let own = PHASE_SD_SHARE * function.spread * dice.normal();
                    let level = function.effect + residual + own + function.offsets[offset as usize / 16];
                    (offset, self.visits(level, function, rounds.clone(), common, dice))
                })
                .collect();
            for (contrast, side) in contrasts.iter_mut().zip(&sides[1..]) {
                let rotation = contrast.rotations.last_mut().expect("pushed above");
                rotation.phases.push(pair(phase as u32, side, &sides[0]));
            }
        }
    }

    fn add_as_built(
        &self,
        functions: &[Function],
        common: &[Vec<f64>],
        dice: &mut Dice,
        contrasts: &mut [ObservedContrast],
    ) {
        let rounds = 0..common.len() as u32;
        let sides: Vec<(u64, Vec<Observation>)> = functions
            .iter()
            .map(|function| {
                let offset = dice.pick(&[0u64, 16, 32, 48]);
                let residual = function.spread * self.residual.draw(dice);
                let level = function.effect + residual + function.offsets[offset as usize / 16];
                (offset, self.visits(level, function, rounds.clone(), common, dice))
            })
            .collect();
        for (contrast, side) in contrasts.iter_mut().zip(&sides[1..]) {
            contrast.as_built = Some(pair(0, side, &sides[0]));
        }
    }

    /// What all samples of one round and index share, whatever the placement: drift and the cost of their windows.
    fn common(&self, drift: &[f64], dice: &mut Dice) -> Vec<Vec<f64>> {
        drift
            .iter()
            .map(|level| (0..self.samples).map(|_| level + WINDOW_SD * dice.normal()).collect())
            .collect()
    }

    fn visits(
        &self,
        level: f64,
        function: &Function,
        rounds: std::ops::Range<u32>,
        common: &[Vec<f64>],
        dice: &mut Dice,
    ) -> Vec<Observation> {
        let mut samples = Vec::new();
        for round in rounds {
            let lost = function.lost[round as usize];
            if lost > 0.0 && dice.uniform() < lost {
                continue;
            }
            let visit = level + function.by_round[round as usize] + VISIT_SD * dice.normal();
            // He comes and goes: most samples of such a visit feel him, and a few of the others.
            let is_busy = self.busy.0 > 0.0 && dice.uniform() < self.busy.0;
            let felt = if self.busy.0 == 0.0 {
                0.0
            } else if is_busy {
                0.7
            } else {
                0.1
            };
            for (index, shared) in common[round as usize].iter().enumerate() {
                let mut log = visit + shared + SAMPLE_SD * dice.normal();
                if dice.uniform() < self.outliers {
                    log += (0.2 + dice.exponential(0.2)).ln_1p();
                }
                if felt > 0.0 && dice.uniform() < felt {
                    log += dice.exponential(self.busy.1);
                }
                samples.push(Observation { round, index: index as u32, ns_per_unit: log.exp() });
            }
        }
        samples
    }
}

fn pair(phase_bytes: u32, candidate: &(u64, Vec<Observation>), baseline: &(u64, Vec<Observation>)) -> PairAt {
    PairAt {
        phase_bytes,
        candidate_offset: candidate.0,
        baseline_offset: baseline.0,
        candidate: candidate.1.clone(),
        baseline: baseline.1.clone(),
    }
}
