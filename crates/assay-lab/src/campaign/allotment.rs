//! What has been seen so far of where a campaign's variance lies and of what visits cost: by this the time of what comes is
//! allotted ([`assay_pure::stats::allocation`]). Read from the ledger, so that a campaign that was killed goes on alike.

use super::judge::OpenCells;
use super::observe;
use super::prepare::Prepared;
use crate::store::{CampaignInput, Ledger, SampleRow};
use anyhow::Result;
use assay_pure::experiment::matrix::{self, Cell, CellId};
use assay_pure::stats::allocation::VisitSpread;
use assay_pure::verdict::build::Side;
use assay_pure::verdict::effect::spread;
use assay_pure::verdict::{CodeIdentity, ObservedContrast};
use std::collections::{BTreeMap, HashMap};

/// What a visit costs beside its samples, seconds: waking a program, two messages, a context switch.
pub const VISIT_SECONDS: f64 = 80e-6;

/// Where time goes, and where the variance is, by input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    spreads: BTreeMap<usize, VisitSpread>,
    /// What one sample takes with all that is done for it, seconds.
    sample_seconds: Vec<f64>,
    tuned: Vec<CampaignInput>,
}

impl Seen {
    /// What the rounds of a campaign show of the contrasts that are open.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn of(
        prepared: &Prepared,
        (ledger, campaign): (&Ledger, i64),
        open: &OpenCells,
        tuned: &[CampaignInput],
    ) -> Result<Seen> {
        let experiment = &prepared.experiment;
        let compilers: Vec<String> =
            prepared.compilers.iter().map(|compiler| compiler.name.clone()).collect();
        let observed = observe::observe(ledger, campaign, experiment.clock)?;
        let failures = ledger.failures(campaign)?;
        let identical = observe::identical_code(ledger, campaign, experiment)?;
        let cells: HashMap<CellId, Cell> = matrix::cells(experiment, compilers.len())
            .into_iter()
            .map(|cell| (prepared.id(cell), cell))
            .collect();
        let mut by_input: BTreeMap<usize, Vec<VisitSpread>> = BTreeMap::new();
        for contrast in observe::contrasts(experiment, &compilers, &observed, &failures, &identical) {
            let Some(input) = open_input(&contrast, &cells, open) else { continue };
            by_input.entry(input).or_default().extend(spread(&contrast));
        }
        let rounds = ledger.rounds(campaign)?;
        let elapsed: f64 = rounds.iter().map(|round| round.elapsed_ns as f64 / 1e9).sum();
        Ok(Seen {
            spreads: by_input
                .into_iter()
                .filter_map(|(input, spreads)| Some((input, VisitSpread::mean(&spreads)?)))
                .collect(),
            sample_seconds: sample_seconds(&ledger.samples(campaign)?, tuned, elapsed),
            tuned: tuned.to_vec(),
        })
    }

    /// Samples per visit of each input, where a placement gets about so many rounds.
    pub fn samples(&self, rounds: u32) -> Vec<u64> {
        let of_input = |(number, tuned): (usize, &CampaignInput)| match self.spreads.get(&number) {
            Some(spread) => {
                let cost = VISIT_SECONDS / self.sample_seconds[number] + tuned.warmup as f64;
                spread.samples(cost, rounds, tuned.samples)
            }
            None => tuned.samples,
        };
        self.tuned.iter().enumerate().map(of_input).collect()
    }

    /// Rounds that the input which needs most of them wants.
    pub fn rounds(&self, samples: &[u64]) -> u32 {
        self.spreads.iter().map(|(&input, spread)| spread.rounds(samples[input])).max().unwrap_or(1)
    }

    /// What a visit takes, seconds, on average over the inputs.
    pub fn visit_seconds(&self, samples: &[u64]) -> f64 {
        let of_input = |(number, tuned): (usize, &CampaignInput)| {
            self.sample_seconds[number] * (tuned.warmup + samples[number]) as f64
        };
        let all: f64 = self.tuned.iter().enumerate().map(of_input).sum();
        VISIT_SECONDS + all / self.tuned.len().max(1) as f64
    }
}

/// The input of a contrast that is still to be decided by times. What is proven needs none.
fn open_input(contrast: &ObservedContrast, cells: &HashMap<CellId, Cell>, open: &OpenCells) -> Option<usize> {
    if contrast.identity == Some(CodeIdentity::Proven) {
        return None;
    }
    let side = |side| cells.get(&CellId::of(contrast.between().cell(side))).copied();
    let (candidate, baseline) = (side(Side::Candidate)?, side(Side::Baseline)?);
    (open.has(candidate) && open.has(baseline)).then_some(candidate.input)
}

/// What a sample of each input takes beside its share of waking programs: rounds take longer than the timed regions, by what
/// is done ahead of each.
fn sample_seconds(samples: &[SampleRow], tuned: &[CampaignInput], elapsed: f64) -> Vec<f64> {
    let visits = samples
        .chunk_by(|one, next| (one.process, &one.input, one.at) == (next.process, &next.input, next.at));
    let waking = VISIT_SECONDS * visits.count() as f64;
    let timed = |samples: &mut dyn Iterator<Item = &SampleRow>| {
        samples.fold((0.0, 0.0), |(sum, count), sample| (sum + sample.wall_ns as f64 / 1e9, count + 1.0))
    };
    let (all, _) = timed(&mut samples.iter());
    let beside = if all > 0.0 { ((elapsed - waking) / all).max(1.0) } else { 1.0 };
    tuned
        .iter()
        .map(|input| {
            let (sum, count) = timed(&mut samples.iter().filter(|sample| sample.input == input.name));
            if count > 0.0 { (beside * sum / count).max(1e-9) } else { 2e-4 }
        })
        .collect()
}

#[cfg(test)]
mod tests;
