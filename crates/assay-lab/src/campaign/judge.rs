//! Verdicts from what the ledger holds, and which cells are still open.

use super::known_code;
use super::observe::{self, Observed};
use super::placements::BuildGroup;
use super::prepare::PreparedExperiment;
use crate::store::Ledger;
use anyhow::Result;
use assay_pure::experiment::Experiment;
use assay_pure::experiment::matrix::{self, Cell, CellId};
use assay_pure::stats::rotation::MIN_ROTATIONS;
use assay_pure::verdict::build::Side;
use assay_pure::verdict::{
    CodeIdentity, Judgement, ObservedContrast, VerdictOptions, judge as judge_contrasts,
};
use std::collections::HashSet;

/// Verdicts and what they were made from.
#[derive(Debug)]
pub struct CampaignVerdicts {
    /// The samples.
    pub observed: Observed,
    /// Contrasts that have samples.
    pub contrasts: Vec<ObservedContrast>,
    /// The verdicts, in the same order.
    pub judgement: Judgement,
}

impl CampaignVerdicts {
    /// Contrasts without a verdict.
    pub fn undecided(&self) -> usize {
        self.judgement.contrasts.iter().filter(|contrast| !contrast.decided).count()
    }

    /// Has a contrast too few complete rotations to say anything, because some lost the samples of a placement?
    pub fn lacks_rotations(&self) -> bool {
        let mut open = self.judgement.contrasts.iter().filter(|contrast| !contrast.decided);
        open.any(|contrast| contrast.rotations_lost > 0 && contrast.rotations < MIN_ROTATIONS)
    }

    /// Cells that take part in a contrast without a verdict: several contrasts may share one.
    pub fn open_cells(&self) -> usize {
        let undecided = self.judgement.contrasts.iter().filter(|contrast| !contrast.decided);
        let cells = undecided
            .flat_map(|contrast| [Side::Candidate, Side::Baseline].map(|side| contrast.between().cell(side)));
        cells.collect::<HashSet<_>>().len()
    }

    /// All contrasts.
    pub fn contrasts(&self) -> usize {
        self.judgement.contrasts.len()
    }
}

/// One look at the verdicts, of those that are planned: confidence is shared out over all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookOfPlan {
    /// Its number, from 1.
    pub look: u32,
    /// All of the plan.
    pub looks: u32,
}

impl LookOfPlan {
    /// The only one.
    pub const ONLY: LookOfPlan = LookOfPlan { look: 1, looks: 1 };
}

/// Judges a campaign of a prepared experiment at a look.
///
/// # Errors
/// The ledger cannot be read.
pub fn judge(
    prepared: &PreparedExperiment,
    ledger: &Ledger,
    campaign: i64,
    look: LookOfPlan,
) -> Result<CampaignVerdicts> {
    let compilers: Vec<String> = prepared.compilers.iter().map(|compiler| compiler.name.clone()).collect();
    judge_ledger(&prepared.experiment, &compilers, ledger, campaign, look)
}

/// Judges a campaign from the ledger alone.
///
/// # Errors
/// The ledger cannot be read.
pub fn judge_ledger(
    experiment: &Experiment,
    compilers: &[String],
    ledger: &Ledger,
    campaign: i64,
    look: LookOfPlan,
) -> Result<CampaignVerdicts> {
    let observed = observe::observe(ledger, campaign, experiment.clock)?;
    let (contrasts, judgement) = judge_observed(experiment, compilers, ledger, campaign, &observed, look)?;
    Ok(CampaignVerdicts { observed, contrasts, judgement })
}

/// Judges what was read of a campaign.
///
/// # Errors
/// The ledger cannot be read.
pub fn judge_observed(
    experiment: &Experiment,
    compilers: &[String],
    ledger: &Ledger,
    campaign: i64,
    observed: &Observed,
    look: LookOfPlan,
) -> Result<(Vec<ObservedContrast>, Judgement)> {
    let failures = ledger.failures(campaign)?;
    let identical = known_code::identical_code(ledger, campaign, experiment)?;
    let mut contrasts = observe::contrasts(experiment, compilers, observed, &failures, &identical);
    if experiment.measured_only {
        let proven = |contrast: &&mut ObservedContrast| contrast.identity == Some(CodeIdentity::Proven);
        contrasts
            .iter_mut()
            .filter(proven)
            .for_each(|contrast| contrast.identity = Some(CodeIdentity::Copies));
    }
    let options = VerdictOptions {
        margin: experiment.minimum_effect,
        confidence: experiment.confidence,
        look: look.look,
        looks: look.looks,
        seconds_per_rotation: seconds_per_rotation(ledger, campaign)?,
        unoptimised_flags: unoptimised(experiment),
        ..VerdictOptions::default()
    };
    let judgement = judge_contrasts(&contrasts, &options);
    Ok((contrasts, judgement))
}

/// What one rotation took so far, seconds of measuring.
fn seconds_per_rotation(ledger: &Ledger, campaign: i64) -> Result<Option<f64>> {
    let rounds = ledger.rounds(campaign)?;
    let seconds: f64 = rounds.iter().map(|round| round.elapsed_ns as f64 / 1e9).sum();
    let rotations: HashSet<u32> = rounds.iter().flat_map(|round| round.rotations.iter().copied()).collect();
    Ok((!rotations.is_empty()).then(|| seconds / rotations.len() as f64))
}

/// Flag sets that do not optimise; the experiment file allowed them by name.
fn unoptimised(experiment: &Experiment) -> Vec<String> {
    let sets = experiment.flags.iter().filter(|set| set.allow_unoptimised);
    sets.map(|set| set.name.clone()).collect()
}

/// The cells that are still to be measured.
#[derive(Clone, Debug, Default)]
pub struct OpenCells {
    cells: HashSet<Cell>,
}

impl OpenCells {
    /// All cells that this machine can run: what is open before the first look.
    pub fn all(prepared: &PreparedExperiment) -> OpenCells {
        OpenCells::of(prepared, |cell| prepared.runnable.contains(&cell.variant))
    }

    /// Both sides of the contrasts that a look left undecided.
    pub fn after(prepared: &PreparedExperiment, judged: &CampaignVerdicts) -> OpenCells {
        let undecided = judged.judgement.contrasts.iter().filter(|contrast| !contrast.decided);
        let sides = undecided
            .flat_map(|contrast| [Side::Candidate, Side::Baseline].map(|side| contrast.between().cell(side)));
        let open: HashSet<CellId> = sides.map(CellId::from).collect();
        OpenCells::of(prepared, |cell| open.contains(&prepared.id(*cell)))
    }

    fn of(prepared: &PreparedExperiment, is_open: impl Fn(&Cell) -> bool) -> OpenCells {
        let all = matrix::cells(&prepared.experiment, prepared.compilers.len());
        OpenCells { cells: all.into_iter().filter(is_open).collect() }
    }

    /// Is this cell open?
    pub fn has(&self, cell: Cell) -> bool {
        self.cells.contains(&cell)
    }

    /// Is anything of this group open?
    pub fn has_group(&self, group: BuildGroup) -> bool {
        self.cells.iter().any(|open| BuildGroup::of(*open) == group)
    }

    /// Is any input open for this variant?
    pub fn has_variant(&self, group: BuildGroup, variant: usize) -> bool {
        self.cells.iter().any(|open| BuildGroup::of(*open) == group && open.variant == variant)
    }
}
