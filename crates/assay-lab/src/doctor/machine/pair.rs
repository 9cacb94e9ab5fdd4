//! What would `assay run` detect here in 60 s? A short campaign of two identical functions, extrapolated.
//!
//! Method: the functions are built, placed and measured as any experiment's, with the rotations of a first look, in a temporary
//! folder; [`foresee_campaign`] extrapolates their effect to 60 s, at the level of a single contrast.
//! Known limits: one ordinary loop with some mispredictions stands for all; a loop bound by the front end depends more on its
//! placement. Several contrasts share the 60 s and the error probability.

use super::facts::TwoPlaces;
use crate::campaign::judge::LookOfPlan;
use crate::campaign::{self, judge, prepare, steps};
use crate::examine::scratch;
use crate::lead::Resume;
use crate::store::Ledger;
use anyhow::{Result, bail};
use assay_link::build::Compiler;
use assay_linux::machine::Machine;
use assay_pure::event::Event;
use assay_pure::experiment::Experiment;
use assay_pure::stats::foresight::{Longer, foresee_campaign};
use assay_pure::stats::multiplicity::{MOST_SHARE, alpha_per_look};
use assay_pure::verdict::effect::{code_effect, observe};
use assay_pure::words::list;
use std::collections::BTreeSet;
use std::time::Duration;

const PROGRAM: &str = include_str!("pair.c");
/// Rotations, as experiments begin with, and the most that they go on to unless the file says otherwise.
const ROTATIONS: u32 = 8;
const MOST_ROTATIONS: u32 = 32;
/// Rotations where there is less time than so many seconds: building them takes longer than measuring.
const FEW_ROTATIONS: u32 = 4;
const FEW_SECONDS: f64 = 1.0;
/// Confidence that experiments ask for unless the file says otherwise.
const CONFIDENCE: f64 = 0.95;
/// How long the program may take for one reply.
const PATIENCE: Duration = Duration::from_secs(30);

/// Measures for about so many seconds, with the first compiler that there is; building comes on top.
///
/// # Errors
/// There is no compiler; nothing could be built, started or measured.
pub fn measure(
    cpu: usize,
    machine: Machine,
    compilers: &[Compiler],
    seconds: f64,
    events: &mut dyn FnMut(Event),
) -> Result<TwoPlaces> {
    let Some(compiler) = compilers.first() else { bail!("there is no compiler") };
    let folder = scratch(&std::env::temp_dir())?;
    std::fs::write(folder.path().join("pair.c"), PROGRAM)?;
    let asked = campaign::CampaignRequest {
        experiment: folder.path().join("experiment.toml"),
        ledger: folder.path().join("ledger.db"),
        store: folder.path().join("store"),
        quick: false,
        resume: Resume::No,
        cpu: Some(cpu),
        patience: PATIENCE,
        budget: Some(seconds),
        inputs: Vec::new(),
        compilers: Vec::new(),
        seed: None,
        // The pair is the same machine code: what is asked is how surely times alone tell that.
        one_of: 1,
        measured_only: true,
        examine: false,
        source: campaign::CountingSource::Best,
        predictors: Vec::new(),
    };
    let rotations = if seconds < FEW_SECONDS { FEW_ROTATIONS } else { ROTATIONS };
    let outline = prepare::outline_of(&asked, experiment(&compiler.name, rotations))?;
    let experiment = outline.experiment.clone();
    let ended = campaign::run_outline(
        outline,
        machine,
        &asked,
        &mut campaign::MeasuringCore::default(),
        &mut |_, _| Ok(()),
        events,
    )?;
    if ended.interrupted {
        bail!("it was interrupted");
    }
    foreseen(&Ledger::open(&asked.ledger)?, ended.campaign, &experiment, &compiler.name)
}

fn experiment(compiler: &str, rotations: u32) -> String {
    format!(
        "question = \"What can be detected here?\"\nunit = \"value\"\nbaseline = \"one\"\nvariants = [\"one\", \"other\"]\n\
         compilers = [\"{compiler}\"]\nflags = [\"-O2\"]\nevents = []\n\n[program]\nsources = [\"pair.c\"]\n\n\
         [placement]\nrotations = {rotations}\nmax_rotations = {rotations}\n\n\
         [inputs.mixed]\ngenerator = \"lengths\"\nweights = [80, 18, 2]\nunits = 500_000\nwindow_units = 8192\n"
    )
}

fn foreseen(ledger: &Ledger, campaign: i64, experiment: &Experiment, compiler: &str) -> Result<TwoPlaces> {
    let judged = judge::judge_ledger(experiment, &[compiler.to_owned()], ledger, campaign, LookOfPlan::ONLY)?;
    let Some(contrast) = judged.contrasts.first() else {
        let failures = ledger.failures(campaign)?;
        let reasons: BTreeSet<&str> = failures.iter().map(|failure| failure.reason.as_str()).collect();
        bail!("nothing was measured: {}", list(&reasons.into_iter().collect::<Vec<_>>()));
    };
    let seconds = ledger.rounds(campaign)?.iter().map(|round| round.elapsed_ns as f64 / 1e9).sum();
    let observed = observe(contrast);
    let effect = code_effect(&observed)?;
    let ratios = &observed.ratios;
    let sampling = ratios.iter().map(|ratio| ratio.sampling_variance).sum::<f64>() / ratios.len() as f64;
    let looks = steps::looks(ROTATIONS, MOST_ROTATIONS).len() as u32;
    let longer = Longer {
        taken_seconds: seconds,
        seconds: super::measure::BUDGET_SECONDS,
        most_rotations: MOST_ROTATIONS as usize,
        alpha: MOST_SHARE * alpha_per_look(CONFIDENCE, looks),
    };
    let foreseen = foresee_campaign(&effect, sampling, &longer)?;
    Ok(TwoPlaces {
        rotations: effect.rotations as u64,
        seconds,
        smallest: foreseen.smallest.exp_m1(),
        estimate: foreseen.estimate.exp_m1(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_experiment_is_one_and_asks_for_no_counts() {
        let parsed =
            Experiment::from_toml(&experiment("gcc-12", ROTATIONS), "pair.toml").expect("a good file");
        let found = parsed.experiment;
        assert_eq!((found.variants.len(), found.events.len()), (2, 0));
        assert_eq!((found.placement.rotations, found.placement.max_rotations), (ROTATIONS, ROTATIONS));
        assert_eq!(found.confidence, CONFIDENCE);
    }

    #[test]
    fn the_rotations_are_those_of_a_file_that_says_nothing() {
        let plain = experiment("gcc-12", ROTATIONS);
        let plain = plain
            .replace(&format!("[placement]\nrotations = {ROTATIONS}\nmax_rotations = {ROTATIONS}\n"), "");
        let found = Experiment::from_toml(&plain, "pair.toml").expect("a good file").experiment.placement;
        assert_eq!((found.rotations, found.max_rotations), (ROTATIONS, MOST_ROTATIONS));
    }
}
