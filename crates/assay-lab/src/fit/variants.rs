//! The variants of an experiment on the recorded and on the fitted input: one campaign with two inputs, interleaved and over
//! placements as any other.
//!
//! The recorded windows are dealt out first (`assay_pure::inputs::fit::deal`): a visit is timed on some that follow each
//! other, and in a recording that changes as it goes its time would tell which, not how the inputs differ.
//!
//! The ratio of times, fitted over recorded, of one variant is a contrast whose sides differ in the input instead of the
//! code; it is judged by the rules for code, with the margin as the minimum effect.

use crate::campaign::counted::CampaignCounts;
use crate::campaign::observe::{Observed, failed, observe};
use crate::campaign::{self, prepare};
use crate::lead::Misuse;
use crate::store::{FailureRow, Ledger, mark};
use anyhow::{Context as _, Result, bail};
use assay_linux::given;
use assay_pure::event::Event;
use assay_pure::experiment;
use assay_pure::experiment::Experiment;
use assay_pure::experiment::matrix::{CellId, CellName};
use assay_pure::experiment::spec::{InputSource, InputSpec};
use assay_pure::inputs::fit::closeness::FLOOR;
use assay_pure::inputs::fit::deal;
use assay_pure::inputs::fit::refusal::FigureComparison;
use assay_pure::inputs::{Format, Generator, digest};
use assay_pure::ledger::Stage;
use assay_pure::stats::margin::Margin;
use assay_pure::verdict::{ContrastVerdict, Verdict, VerdictOptions, judge};
use assay_pure::words;
use assay_report::fit::page::{FitCount, Reason, TimeRatio, Variants};
use std::path::{Path, PathBuf};

/// The names of both inputs.
const RECORDED: &str = "recorded";
const FITTED: &str = "fitted";

/// Rotations that are measured if the budget allows.
const ROTATIONS: u32 = 16;

/// Units that a count walks through at most: see `campaign::count`.
const COUNTED_UNITS: f64 = 40_000.0;

/// Standard deviations by which counts must differ beyond the margin to be called different.
const DEVIATIONS: f64 = 3.0;

/// The input that stands for the recorded one.
#[derive(Clone, Copy, Debug)]
pub struct FittedInput<'a> {
    /// What makes it.
    pub generator: &'a Generator,
    /// Units to make.
    pub units: u64,
    /// What they are drawn from.
    pub seed: u64,
}

/// Measures the variants on both inputs.
///
/// Input: how a campaign is asked for, its experiment giving variants, builds and budget; the recorded file; the fit and
/// the margin.
///
/// # Errors
/// As of [`campaign::run`]; an experiment none of whose inputs have the format.
pub fn measure(
    asked: &campaign::CampaignRequest,
    recorded: &Path,
    fitted: FittedInput<'_>,
    margin: f64,
    events: &mut dyn FnMut(Event),
) -> Result<Variants> {
    let mut outline = prepare::outline(asked)?;
    mark::claim(&asked.store)?;
    let folder = asked.store.join("fit");
    outline.experiment.inputs = inputs(&outline.experiment, recorded, &folder, fitted)?;
    outline.experiment.claims.clear();
    // Whether variants differ from each other, which is what ends a campaign early, is not the question here.
    let placement = &mut outline.experiment.placement;
    placement.rotations = placement.rotations.max(ROTATIONS);
    placement.max_rotations = placement.max_rotations.max(placement.rotations);
    outline.experiment.events = vec![
        experiment::CountedEvent::Instructions,
        experiment::CountedEvent::Branches,
        experiment::CountedEvent::BranchMisses,
    ];
    let experiment = outline.experiment.clone();
    let compilers: Vec<String> = outline.compilers.iter().map(|compiler| compiler.name.clone()).collect();
    let machine = assay_linux::machine::facts();
    let ended = campaign::run_outline(
        outline,
        machine,
        asked,
        &mut campaign::MeasuringCore::of_campaign(experiment.budget_seconds),
        &mut |_, _| Ok(()),
        events,
    )?;
    if ended.interrupted {
        bail!(
            "interrupted while measuring the variants: the fit is not judged. Every finished round is kept; `--resume` continues from there"
        );
    }
    let ledger = Ledger::open(&asked.ledger)?;
    let observed = observe(&ledger, ended.campaign, experiment.clock)?;
    let failures = ledger.failures(ended.campaign)?;
    let Some(row) = ledger.campaign(ended.campaign)? else { bail!("the ledger lost the campaign") };
    let counted = CampaignCounts::of(&ledger, &row, &experiment, &failures)?;
    Ok(Variants {
        experiment: asked.experiment.display().to_string(),
        campaign: ended.campaign,
        times: times(&experiment, &compilers, &observed, &failures, margin),
        counts: counts(&counted),
        failures: said(&failures),
    })
}

/// The input of an experiment whose place both take: the first of this format.
///
/// # Errors
/// It has none.
pub fn like(experiment: &Experiment, format: Format) -> Result<&InputSpec, Misuse> {
    experiment.inputs.iter().find(|input| input.format == format).ok_or_else(|| {
        let what = if format == Format::Varint { "varints".to_owned() } else { format.word() };
        let text = format!("are {what}, so its variants read something else");
        Misuse(format!("none of the inputs of {} {text}", experiment.name))
    })
}

/// Both inputs, cut into windows as the experiment's own varints are.
fn inputs(
    experiment: &Experiment,
    recorded: &Path,
    folder: &Path,
    fitted: FittedInput<'_>,
) -> Result<Vec<InputSpec>> {
    let like = like(experiment, fitted.generator.format())?;
    let FittedInput { generator, units, seed } = fitted;
    let generated =
        InputSource::Generated { generator: generator.clone(), units, seed, distinct_units: None };
    let path = dealt(recorded, folder, like)?.display().to_string();
    let make =
        |name: &str, source| InputSpec { name: name.to_owned(), description: None, source, ..like.clone() };
    Ok(vec![make(RECORDED, InputSource::Recorded { path }), make(FITTED, generated)])
}

/// The file of the recorded windows, cut as those of an input like it and dealt out, named by its content.
fn dealt(recorded: &Path, folder: &Path, like: &InputSpec) -> Result<PathBuf> {
    let bytes =
        given::read(recorded, given::DATA).with_context(|| format!("cannot read {}", recorded.display()))?;
    let bytes = deal(&bytes, like.format, like.window_units).expect("it was read in this format before");
    let path = folder.join(format!("{}.dealt", digest(&bytes)));
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    assay_linux::output::write(&path, &bytes).with_context(|| format!("cannot write {}", path.display()))?;
    path.canonicalize().with_context(|| format!("cannot find {}", path.display()))
}

fn times(
    experiment: &Experiment,
    compilers: &[String],
    observed: &Observed,
    failures: &[FailureRow],
    margin: f64,
) -> Vec<TimeRatio> {
    let mut contrasts = Vec::new();
    for (compiler, flags) in
        compilers.iter().flat_map(|compiler| experiment.flags.iter().map(move |set| (compiler, &set.name)))
    {
        for variant in &experiment.variants {
            let cell =
                |input: &str| CellId::from(CellName { variant: &variant.name, input, compiler, flags });
            let (fitted, recorded) = (cell(FITTED), cell(RECORDED));
            if failed(failures, &fitted).is_some() || failed(failures, &recorded).is_some() {
                continue;
            }
            contrasts.extend(observed.contrast(&fitted, &recorded, &experiment.placement.phases).map(
                // The same name on both sides would be taken for the control of the baseline against itself.
                |contrast| assay_pure::verdict::ObservedContrast {
                    baseline: format!("{} on the recorded input", variant.name),
                    ..contrast
                },
            ));
        }
    }
    let options = VerdictOptions {
        margin: Margin::of(margin),
        confidence: experiment.confidence,
        ..VerdictOptions::default()
    };
    judge(&contrasts, &options).contrasts.iter().map(time).collect()
}

fn time(verdict: &ContrastVerdict) -> TimeRatio {
    TimeRatio {
        variant: verdict.candidate.clone(),
        compiler: verdict.compiler.clone(),
        flags: verdict.flags.clone(),
        ratio: verdict.code.map(|code| code.ratio),
        lower: verdict.code.map(|code| code.lower),
        upper: verdict.code.map(|code| code.upper),
        rotations: verdict.rotations as u64,
        says: match verdict.verdict {
            Verdict::Equivalent => FigureComparison::Close,
            Verdict::Faster | Verdict::Slower => FigureComparison::Apart,
            Verdict::Undecided => FigureComparison::Unsure,
        },
    }
}

fn counts(counted: &CampaignCounts) -> Vec<FitCount> {
    let mut counts = Vec::new();
    for fitted in counted.cells.iter().filter(|cell| cell.cell.input == FITTED) {
        let same = |cell: &&assay_pure::verdict::counts::CellCounts| {
            (&cell.cell.variant, &cell.cell.compiler, &cell.cell.flags)
                == (&fitted.cell.variant, &fitted.cell.compiler, &fitted.cell.flags)
        };
        let Some(real) = counted.cells.iter().filter(|cell| cell.cell.input == RECORDED).find(same) else {
            continue;
        };
        let mut add = |what: String, real: f64, of_fitted: f64| {
            counts.push(FitCount {
                variant: fitted.cell.variant.clone(),
                compiler: fitted.cell.compiler.clone(),
                flags: fitted.cell.flags.clone(),
                what,
                real,
                fitted: of_fitted,
            });
        };
        add("instructions".into(), real.instructions, fitted.instructions);
        add("branches".into(), real.branches, fitted.branches);
        for (misses, of_fitted) in real.misses.iter().zip(&fitted.misses) {
            if misses.predictor == of_fitted.predictor {
                add(format!("{MISSES}{}", misses.predictor), misses.per_unit, of_fitted.per_unit);
            }
        }
    }
    counts
}

/// How a count of mispredictions begins.
const MISSES: &str = "misses ";

/// What is missing, each reason once with the variants that it is the reason for.
fn said(failures: &[FailureRow]) -> Vec<String> {
    let mut said: Vec<(bool, &str, Vec<&str>)> = Vec::new();
    for failure in failures {
        let (counting, variant) =
            (failure.stage == Stage::Count, failure.variant.as_deref().unwrap_or("all"));
        match said.iter_mut().find(|(stage, reason, _)| (*stage, *reason) == (counting, &*failure.reason)) {
            Some((_, _, variants)) if variants.contains(&variant) => {}
            Some((_, _, variants)) => variants.push(variant),
            None => said.push((counting, &failure.reason, vec![variant])),
        }
    }
    let sentence = |(counting, reason, variants): (bool, &str, Vec<&str>)| {
        let what = if counting { "events not counted" } else { "not measured" };
        format!("{what}: {}: {reason}", variants.join(", "))
    };
    said.into_iter().map(sentence).collect()
}

/// Why the fit is not to be used for these variants.
pub fn refusals(variants: &Variants, margin: f64) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = variants.times.iter().filter_map(of_time).collect();
    if variants.times.is_empty() {
        reasons.push(Reason {
            what: "no variant could be measured on both inputs".into(),
            remedy: "see below what was not measured, or leave out --experiment".into(),
        });
    }
    let apart = |count: &&FitCount| {
        let allowed = (margin * count.real).max(FLOOR);
        // Both are counts over one walk: as if each misprediction came by itself.
        let deviation = ((count.real + count.fitted) / COUNTED_UNITS).sqrt();
        count.what.starts_with(MISSES) && (count.fitted - count.real).abs() > allowed + DEVIATIONS * deviation
    };
    reasons.extend(variants.counts.iter().filter(apart).map(|count| Reason {
        what: format!(
            "mispredictions of {} ({}, {}) differ: {:.4} per unit recorded, {:.4} fitted ({})",
            count.variant,
            count.compiler,
            count.flags,
            count.real,
            count.fitted,
            count.what.trim_start_matches(MISSES)
        ),
        remedy:
            "the variant depends on more of the order than the fit holds: use the recording itself".into(),
    }));
    reasons
}

fn of_time(time: &TimeRatio) -> Option<Reason> {
    let place = format!("{} ({}, {})", time.variant, time.compiler, time.flags);
    let interval = match (time.ratio, time.lower, time.upper) {
        (Some(ratio), Some(lower), Some(upper)) => {
            let (change, span) = (words::fine_change(ratio), words::fine_span(lower, upper));
            format!("{change} on the fitted input ({span})")
        }
        _ => format!("{} complete rotations are too few", time.rotations),
    };
    match time.says {
        FigureComparison::Close => None,
        FigureComparison::Apart => Some(Reason {
            what: format!("the time of {place} differs: {interval}"),
            remedy: "the variant's time depends on something that a table of lengths does not hold: use the recording itself"
                .into(),
        }),
        FigureComparison::Unsure => Some(Reason {
            what: format!("the time of {place} may differ or not: {interval}"),
            remedy: "measure longer with --budget, or allow more with --margin".into(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(says: FigureComparison, ratio: Option<f64>) -> TimeRatio {
        TimeRatio {
            variant: "branch".into(),
            compiler: "gcc".into(),
            flags: "O2".into(),
            ratio,
            lower: ratio.map(|ratio| ratio - 0.01),
            upper: ratio.map(|ratio| ratio + 0.01),
            rotations: 8,
            says,
        }
    }

    fn variants(times: Vec<TimeRatio>, misses: (f64, f64)) -> Variants {
        let count = |what: &str, (real, fitted)| FitCount {
            variant: "branch".into(),
            compiler: "gcc".into(),
            flags: "O2".into(),
            what: what.into(),
            real,
            fitted,
        };
        Variants {
            experiment: "x.toml".into(),
            campaign: 1,
            times,
            counts: vec![count("instructions", (10.0, 20.0)), count("misses zen4", misses)],
            failures: Vec::new(),
        }
    }

    #[test]
    fn times_that_agree_are_no_reason_and_others_are() {
        let refused = |says, ratio| refusals(&variants(vec![time(says, ratio)], (0.2, 0.2)), 0.05);
        assert_eq!(refused(FigureComparison::Close, Some(1.01)), []);
        let apart = refused(FigureComparison::Apart, Some(1.2));
        assert!(apart[0].what.contains("branch (gcc, O2) differs: +20.0 % on the fitted input"), "{apart:?}");
        let unsure = refused(FigureComparison::Unsure, None);
        assert!(unsure[0].what.contains("8 complete rotations") && unsure[0].remedy.contains("--budget"));
        assert_eq!(refusals(&variants(vec![], (0.2, 0.2)), 0.05).len(), 1);
    }

    #[test]
    fn each_reason_is_said_once_with_its_variants() {
        let failure = |stage: Stage, variant: &str| FailureRow {
            stage,
            variant: Some(variant.into()),
            input: Some("recorded".into()),
            compiler: None,
            flags: None,
            reason: "no".into(),
        };
        let all = [
            failure(Stage::Count, "a"),
            failure(Stage::Count, "a"),
            failure(Stage::Count, "b"),
            failure(Stage::Answer, "b"),
        ];
        assert_eq!(said(&all), ["events not counted: a, b: no", "not measured: b: no"]);
    }

    #[test]
    fn mispredictions_must_differ_by_more_than_margin_and_chance() {
        let refused =
            |misses| refusals(&variants(vec![time(FigureComparison::Close, Some(1.0))], misses), 0.05).len();
        // Allowed: 0.01, and 3 × sqrt(0.42 / 40000) = 0.0097.
        assert_eq!(refused((0.2, 0.218)), 0);
        assert_eq!(refused((0.2, 0.2215)), 1);
        assert_eq!(refused((0.0, FLOOR)), 0);
    }
}
