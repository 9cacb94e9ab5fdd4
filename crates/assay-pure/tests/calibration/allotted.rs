//! Campaigns whose visits differ, measured for a given time: with as many samples to each visit as were usual, or with as many
//! samples and rounds as the variance asks for. Levels, looks and time are dealt out as the lab does it.

use crate::model::Dice;
use assay_pure::stats::allocation::{LevelTime, VisitSpread};
use assay_pure::stats::margin::Margin;
use assay_pure::verdict::effect::{code_effect, observe, spread};
use assay_pure::verdict::{Observation, ObservedContrast, PairAt, Rotation, Verdict, VerdictOptions, judge};

/// Seconds of a sample and of what a visit costs beside its samples; one sample of each visit warms up.
const SAMPLE: f64 = 2e-4;
const VISIT: f64 = 8e-5;
const LEVELS: [u32; 5] = [8, 12, 18, 27, 32];
const PILOT: u32 = 2;
const USUAL_SAMPLES: u64 = 4;
const PLACEMENTS: [u32; 4] = [0, 16, 32, 48];

/// What a pair of functions does. All are standard deviations of logarithms but `slow` and `gap`.
#[derive(Clone, Copy)]
pub struct Pair {
    pub rotation: f64,
    pub visit: f64,
    pub sample: f64,
    /// Probability that a visit to an even placement is slow, of candidate and baseline, and by how much it then is.
    pub slow: [f64; 2],
    pub gap: f64,
    /// What is added to the candidate (ln).
    pub effect: f64,
}

/// How the time is dealt out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Deal {
    Usual,
    ByVariance,
}

/// What became of some campaigns.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    pub campaigns: usize,
    pub undecided: usize,
    pub wrong: usize,
    pub covered: usize,
    /// By the median of pairs, whatever modes there are: intervals that hold the truth, those that lie inside of the margin and
    /// do not.
    pub covered_by_pairs: usize,
    pub wrong_by_pairs: usize,
    half_width: f64,
    rotations: usize,
}

impl Outcome {
    pub fn row(&self) -> String {
        let share = |count: usize| count as f64 / self.campaigns as f64;
        format!(
            "undecided {:.3}  wrong {:.3}  covered {:.3}  half width {:.2} %  rotations {:.1}; pairs: covered {:.3}, wrong {:.3}",
            share(self.undecided),
            share(self.wrong),
            share(self.covered),
            100.0 * self.half_width / self.campaigns as f64,
            share(self.rotations),
            share(self.covered_by_pairs),
            share(self.wrong_by_pairs)
        )
    }
}

impl Pair {
    /// ln of the ratio of mean times, which a long run finds.
    pub fn truth(&self) -> f64 {
        let mean = |slow: f64| 1.0 + self.gap * slow / 2.0;
        self.effect + (mean(self.slow[0]) / mean(self.slow[1])).ln()
    }

    fn visit(&self, side: usize, place: usize, level: f64, windows: &[f64], dice: &mut Dice) -> Vec<f64> {
        let mut visit = level + self.visit * dice.normal();
        if place.is_multiple_of(2) && dice.uniform() < self.slow[side] {
            visit += self.gap.ln_1p();
        }
        let sample = |window: &f64| {
            let interrupted = if dice.uniform() < 0.03 { (0.2 + dice.exponential(0.2)).ln_1p() } else { 0.0 };
            visit + window + self.sample * dice.normal() + interrupted
        };
        windows.iter().map(sample).collect()
    }
}

/// Measures and judges `campaigns` of them, each for `seconds`.
pub fn simulate(pair: &Pair, deal: Deal, seconds: f64, campaigns: usize, seed: u64) -> Outcome {
    let mut outcome = Outcome::default();
    for number in 0..campaigns {
        let mut dice = Dice::new(seed * 1_000_003 + number as u64);
        Campaign::new(pair, deal, seconds).walk(&mut dice, &mut outcome);
    }
    outcome
}

struct Campaign<'a> {
    pair: &'a Pair,
    deal: Deal,
    seconds: f64,
    spent: f64,
    samples: u64,
    rounds: u32,
    contrast: ObservedContrast,
    /// ln level of each side at each placement.
    levels: Vec<[[f64; 4]; 2]>,
}

impl Campaign<'_> {
    fn new(pair: &Pair, deal: Deal, seconds: f64) -> Campaign<'_> {
        let contrast = ObservedContrast {
            candidate: "candidate".into(),
            baseline: "baseline".into(),
            input: "input".into(),
            compiler: "cc".into(),
            flags: "O2".into(),
            against: None,
            as_built: None,
            rotations: Vec::new(),
            has_entries: true,
            identity: None,
        };
        Campaign {
            pair,
            deal,
            seconds,
            spent: 0.0,
            samples: USUAL_SAMPLES,
            rounds: 0,
            contrast,
            levels: Vec::new(),
        }
    }

    fn walk(mut self, dice: &mut Dice, outcome: &mut Outcome) {
        let most = *LEVELS.last().expect("some");
        for (look, &until) in LEVELS.iter().enumerate() {
            let (from, before) = (self.levels.len() as u32, self.spent);
            let visits = f64::from((until - from) * 2 * PLACEMENTS.len() as u32);
            let round = |samples: u64| visits * (VISIT + SAMPLE * (1 + samples) as f64);
            if look > 0 && before + round(self.samples) > self.seconds {
                break;
            }
            self.add_rotations(until - from, dice);
            let (mut done, mut wanted, mut allotted) = (0, 1, false);
            loop {
                let share = f64::from(until - from) / f64::from(most - from);
                let time = |this: &Self, round: f64| LevelTime {
                    left: this.seconds - before,
                    spent: this.spent - before,
                    done,
                    round,
                    share,
                };
                if self.deal == Deal::ByVariance && !allotted && (look > 0 || done == PILOT) {
                    allotted = true;
                    if let Some(spread) = spread(&self.contrast) {
                        let rounds = time(&self, round(1)).rounds(1);
                        self.samples = spread.samples(1.0 + VISIT / SAMPLE, rounds, USUAL_SAMPLES);
                        wanted = VisitSpread::rounds(&spread, self.samples);
                    }
                }
                let next = round(self.samples);
                let is_over = done >= time(&self, next).rounds(wanted) || self.spent + next > self.seconds;
                if done > 0 && is_over {
                    break;
                }
                self.measure(from as usize, dice);
                self.spent += next;
                done += 1;
            }
            let options = VerdictOptions {
                margin: Margin::of(0.01),
                look: look as u32 + 1,
                looks: LEVELS.len() as u32,
                ..VerdictOptions::default()
            };
            let judged = judge(std::slice::from_ref(&self.contrast), &options);
            let found = &judged.contrasts[0];
            if found.decided || until == most || self.spent + round(1) > self.seconds {
                return self.count(found, outcome);
            }
        }
        let options =
            VerdictOptions { margin: Margin::of(0.01), looks: 5, look: 5, ..VerdictOptions::default() };
        let judged = judge(std::slice::from_ref(&self.contrast), &options);
        self.count(&judged.contrasts[0], outcome);
    }

    fn count(&self, found: &assay_pure::verdict::ContrastVerdict, outcome: &mut Outcome) {
        let truth = self.pair.truth();
        outcome.campaigns += 1;
        outcome.undecided += usize::from(!found.decided);
        outcome.wrong += usize::from(match found.verdict {
            Verdict::Undecided => false,
            Verdict::Equivalent => truth.abs() > Margin::of(0.01).ln(),
            Verdict::Faster => truth >= 0.0,
            Verdict::Slower => truth <= 0.0,
        });
        let code = found.code.expect("eight rotations").log_interval();
        outcome.covered += usize::from(code.lower <= truth && truth <= code.upper);
        let pairs = code_effect(&observe(&self.contrast)).and_then(|effect| effect.interval(0.01));
        let pairs = pairs.expect("eight rotations");
        let (covered, margin) = (pairs.lower <= truth && truth <= pairs.upper, Margin::of(0.01));
        outcome.covered_by_pairs += usize::from(covered);
        outcome.wrong_by_pairs += usize::from(pairs.inside(margin) && truth.abs() > margin.ln());
        outcome.half_width += (code.upper - code.lower) / 2.0;
        outcome.rotations += found.rotations;
    }

    fn add_rotations(&mut self, count: u32, dice: &mut Dice) {
        for _ in 0..count {
            let rotation = self.levels.len() as u32;
            let side = |effect: f64, dice: &mut Dice| {
                let own = effect + self.pair.rotation * dice.normal();
                [0; 4].map(|_| own + self.pair.rotation * dice.normal())
            };
            self.levels.push([side(self.pair.effect, dice), side(0.0, dice)]);
            let phases = PLACEMENTS
                .map(|at| PairAt {
                    phase_bytes: at,
                    candidate_offset: u64::from(at),
                    baseline_offset: u64::from(at),
                    candidate: Vec::new(),
                    baseline: Vec::new(),
                })
                .to_vec();
            self.contrast.rotations.push(Rotation { rotation, phases });
        }
    }

    /// One round over the rotations from `from` on.
    fn measure(&mut self, from: usize, dice: &mut Dice) {
        let round = self.rounds;
        self.rounds += 1;
        let windows: Vec<f64> = (0..self.samples).map(|_| 0.03 * dice.normal()).collect();
        for (rotation, levels) in self.contrast.rotations.iter_mut().zip(&self.levels).skip(from) {
            for (place, pair) in rotation.phases.iter_mut().enumerate() {
                for (side, samples) in [&mut pair.candidate, &mut pair.baseline].into_iter().enumerate() {
                    let logs = self.pair.visit(side, place, levels[side][place], &windows, dice);
                    samples.extend(logs.iter().enumerate().map(|(index, log)| Observation {
                        round,
                        index: index as u32,
                        ns_per_unit: log.exp(),
                    }));
                }
            }
        }
    }
}
