//! Judging a simulated campaign as the runner does: look, stop when all is decided, else add rotations.

use crate::model::{Campaign, Dice, Model};
use assay_pure::stats::margin::Margin;
use assay_pure::verdict::{Judgement, TwinVerdict, Verdict, VerdictOptions, judge};
use std::collections::BTreeMap;
use std::fmt;

/// Counts over all campaigns of a scenario.
#[derive(Default)]
pub struct Tally {
    campaigns: usize,
    /// Campaigns with at least one false verdict.
    family_errors: usize,
    nulls: usize,
    false_differences: usize,
    pub wrong_sign: usize,
    false_equivalences: usize,
    judged: usize,
    undecided: usize,
    rotations: usize,
    covered: usize,
    intervals: usize,
    /// Contrasts decided at the first look.
    decided_first: usize,
    /// Null contrasts whose as-built comparison said "different".
    ghosts: usize,
    /// By true effect (ln, in units of 1e-6): contrasts, right verdicts.
    by_effect: BTreeMap<i64, (usize, usize)>,
}

const LOOKS: u32 = 5;

/// How the error budget is shared out over the looks.
#[derive(Clone, Copy, Debug)]
pub enum Spending {
    /// As the product does it.
    Equal,
    /// O'Brien-Fleming-like (Lan & DeMets 1983) at 8, 12, 16, 24 and 32 of 32 rotations: hardly anything early.
    OBrienFleming,
}

impl Spending {
    fn options(self, look: usize, minimum_effect: f64) -> VerdictOptions {
        // 2 - 2 Phi(1.959964 / sqrt(t)) at t = 1/4, 3/8, 1/2, 3/4, 1, less what the look before had (scipy).
        const OBRIEN_FLEMING: [f64; 5] = [8.857e-5, 1.2805e-3, 4.2056e-3, 1.8050e-2, 2.6375e-2];
        match self {
            Spending::Equal => VerdictOptions {
                margin: Margin::of(minimum_effect),
                look: look as u32 + 1,
                looks: LOOKS,
                ..VerdictOptions::default()
            },
            Spending::OBrienFleming => VerdictOptions {
                margin: Margin::of(minimum_effect),
                confidence: 1.0 - OBRIEN_FLEMING[look],
                ..VerdictOptions::default()
            },
        }
    }
}

/// Simulates `campaigns` campaigns and judges each adaptively.
pub fn simulate(model: &Model, campaigns: usize, seed: u64, minimum_effect: f64) -> Tally {
    simulate_spending(model, campaigns, seed, minimum_effect, Spending::Equal)
}

/// The same with another spending of the error budget.
pub fn simulate_spending(
    model: &Model,
    campaigns: usize,
    seed: u64,
    minimum_effect: f64,
    spending: Spending,
) -> Tally {
    let mut tally = Tally::default();
    for number in 0..campaigns {
        let campaign = model.campaign(&mut Dice::new(seed * 1_000_003 + number as u64));
        run(&campaign, &model.batches, minimum_effect, spending, &mut tally);
    }
    tally
}

fn run(campaign: &Campaign, batches: &[usize], minimum_effect: f64, spending: Spending, tally: &mut Tally) {
    // Coverage is that of one judgement at a fixed number of rotations, at the plain 95 %: one contrast's own interval
    // is judged alone, so that no sharing-out widens it.
    tally.count_coverage(campaign, batches[0]);
    let mut have = 0;
    for (look, batch) in batches.iter().enumerate() {
        have += batch;
        let options = spending.options(look, minimum_effect);
        let looks = options.looks.min(batches.len() as u32);
        let judgement = judge(&campaign.after(have), &VerdictOptions { looks, ..options });
        if look == 0 {
            tally.decided_first += judgement.contrasts.iter().filter(|found| found.decided).count();
        }
        let last = look + 1 == batches.len();
        if last || judgement.contrasts.iter().all(|found| found.decided) {
            tally.count(campaign, &judgement, have, minimum_effect);
            return;
        }
    }
}

impl Tally {
    fn count_coverage(&mut self, campaign: &Campaign, rotations: usize) {
        use assay_pure::stats::moderation::moderate_all;
        use assay_pure::verdict::effect::{code_effect, observe};
        let mut effects: Vec<_> = campaign
            .after(rotations)
            .iter()
            .map(|contrast| code_effect(&observe(contrast)).expect("enough rotations"))
            .collect();
        moderate_all(&mut effects.iter_mut().collect::<Vec<_>>());
        for (effect, truth) in effects.iter().zip(&campaign.truth) {
            let interval = effect.interval(0.05).expect("a level");
            self.intervals += 1;
            self.covered += usize::from(interval.lower <= *truth && *truth <= interval.upper);
        }
    }

    fn count(&mut self, campaign: &Campaign, judgement: &Judgement, rotations: usize, minimum_effect: f64) {
        let margin = Margin::of(minimum_effect).ln();
        let mut any_false = false;
        for (found, truth) in judgement.contrasts.iter().zip(&campaign.truth) {
            let said = match found.verdict {
                Verdict::Faster => -1.0,
                Verdict::Slower => 1.0,
                _ => 0.0,
            };
            let null = *truth == 0.0;
            let false_difference = null && said != 0.0;
            let wrong_sign = said * truth < 0.0;
            let false_equivalence = found.verdict == Verdict::Equivalent && truth.abs() >= margin;
            any_false |= false_difference || wrong_sign || false_equivalence;
            self.nulls += usize::from(null);
            self.false_differences += usize::from(false_difference);
            self.wrong_sign += usize::from(wrong_sign);
            self.false_equivalences += usize::from(false_equivalence);
            self.judged += 1;
            self.undecided += usize::from(!found.decided);
            let as_built_differs = found.as_built_verdict.is_some_and(Verdict::is_difference);
            self.ghosts += usize::from(null && as_built_differs);
            let right = if null { found.verdict == Verdict::Equivalent } else { said * truth > 0.0 };
            let counts = self.by_effect.entry((truth * 1e6).round() as i64).or_default();
            counts.0 += 1;
            counts.1 += usize::from(right);
        }
        self.campaigns += 1;
        self.family_errors += usize::from(any_false);
        self.rotations += rotations;
    }

    pub fn family_error_rate(&self) -> f64 {
        self.family_errors as f64 / self.campaigns as f64
    }

    pub fn false_difference_rate(&self) -> f64 {
        self.false_differences as f64 / self.nulls.max(1) as f64
    }

    pub fn coverage(&self) -> f64 {
        self.covered as f64 / self.intervals as f64
    }

    /// Share of contrasts with this true effect that got the right verdict.
    pub fn power(&self, effect: f64) -> f64 {
        let (all, right) = self.by_effect[&((effect * 1e6).round() as i64)];
        right as f64 / all as f64
    }

    pub fn header() -> &'static str {
        "scenario                     campaigns coverage95 family-err A/A-false ghosts-as-built false-equiv undecided look1-decided rotations  right verdicts by true effect"
    }

    pub fn row(&self, name: &str) -> String {
        let judged = self.judged as f64;
        let by_effect: Vec<String> = self
            .by_effect
            .iter()
            .map(|(effect, (all, right))| {
                let percent = 100.0 * (*effect as f64 * 1e-6).exp_m1();
                format!("{percent:+.1}%: {:.3}", *right as f64 / *all as f64)
            })
            .collect();
        format!(
            "{name:28} {:9} {:10.3} {:10.4} {:9.4} {:15.3} {:11.4} {:9.3} {:13.3} {:9.1}  {}",
            self.campaigns,
            self.coverage(),
            self.family_error_rate(),
            self.false_difference_rate(),
            self.ghosts as f64 / self.nulls.max(1) as f64,
            self.false_equivalences as f64 / judged,
            self.undecided as f64 / judged,
            self.decided_first as f64 / judged,
            self.rotations as f64 / self.campaigns as f64,
            by_effect.join("  ")
        )
    }
}

/// What the twin control said, in shares of campaigns.
#[derive(Default)]
pub struct Twins {
    campaigns: usize,
    different: usize,
    equivalent: usize,
    equivalent_first: usize,
}

/// The twin control at 8 and at 32 rotations; `different` counts if it is said at either.
pub fn twins(model: &Model, campaigns: usize, seed: u64, minimum_effect: f64) -> Twins {
    let mut twins = Twins::default();
    for number in 0..campaigns {
        let campaign = model.campaign(&mut Dice::new(seed * 1_000_003 + number as u64));
        let at = |rotations: usize, look: u32| {
            let options = VerdictOptions {
                margin: Margin::of(minimum_effect),
                look,
                looks: LOOKS,
                ..VerdictOptions::default()
            };
            judge(&campaign.after(rotations), &options).twin.verdict
        };
        let (first, last) = (at(8, 1), at(32, 5));
        twins.campaigns += 1;
        twins.different += usize::from([first, last].contains(&TwinVerdict::Different));
        twins.equivalent += usize::from(last == TwinVerdict::Equivalent);
        twins.equivalent_first += usize::from(first == TwinVerdict::Equivalent);
    }
    twins
}

impl Twins {
    pub fn different_rate(&self) -> f64 {
        self.different as f64 / self.campaigns as f64
    }
}

impl fmt::Display for Twins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |count: usize| count as f64 / self.campaigns as f64;
        write!(
            f,
            "different {:.3}  equivalent after 8 rotations {:.3}, after 32 {:.3}",
            self.different_rate(),
            share(self.equivalent_first),
            share(self.equivalent)
        )
    }
}
