//! From the ledger's samples to readings: every step's campaign observed, every pair at every point reduced to a log ratio over
//! rotations, every variant to the logarithm of its time.

use crate::campaign::observe::{self, Observed};
use crate::campaign::shared;
use crate::store::{CampaignRow, FailureRow, Ledger, SweepPoint, SweepRow, SweepStep};
use anyhow::{Context, Result};
use assay_pure::experiment::Experiment;
use assay_pure::experiment::matrix::{CellId, CellName};
use assay_pure::ledger::Stopped;
use assay_pure::stats::interval::mean_and_variance;
use assay_pure::stats::rotation::{Effect, MIN_ROTATIONS, RESOLUTION};
use assay_pure::sweep::drift::widen;
use assay_pure::sweep::reading::without_shared;
use assay_pure::sweep::refine::{MeasuredSoFar, SweptPair};
use assay_pure::sweep::repeats::{self, PairAtPoint, PairReadings, Take};
use assay_pure::sweep::{CampaignsSeen, Curve, Reading, SweepSpec};
use assay_pure::verdict::build::Side;
use assay_pure::verdict::effect::observe as reduce;
use assay_pure::verdict::profile::rotation_times;
use std::collections::BTreeSet;

/// One step with all that was measured in it.
pub(super) struct MeasuredStep {
    /// As kept.
    pub(super) kept: SweepStep,
    /// Its campaign.
    pub(super) row: CampaignRow,
    /// Its experiment.
    pub(super) experiment: Experiment,
    /// Its samples.
    pub(super) observed: Observed,
    /// What went wrong.
    pub(super) failures: Vec<FailureRow>,
    /// Seconds of measuring.
    pub(super) seconds: f64,
}

impl MeasuredStep {
    /// Did its campaign not come to its end?
    pub(super) fn is_open(&self) -> bool {
        matches!(self.row.stopped, None | Some(Stopped::Interrupted))
    }

    /// Was there nothing in it that could be measured?
    pub(super) fn nothing(&self) -> bool {
        self.observed.cells.is_empty()
    }
}

/// All steps of a sweep.
pub(super) struct SweepSteps {
    /// The sweep.
    pub(super) spec: SweepSpec,
    /// In order.
    pub(super) steps: Vec<MeasuredStep>,
}

/// What is compared with each other: one input in one use, one build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SeriesName {
    /// The input that the points are of.
    pub(super) of: String,
    /// Compiler name.
    pub(super) compiler: String,
    /// Flag set name.
    pub(super) flags: String,
}

/// Two variants that are compared.
struct VariantPair {
    candidate: String,
    baseline: String,
}

/// What was read of a series.
pub(super) struct SweptSeries {
    /// Which.
    pub(super) name: SeriesName,
    /// Its readings.
    pub(super) measured: MeasuredSoFar,
}

/// Reads a sweep's steps.
///
/// # Errors
/// The ledger cannot be read.
pub(super) fn family(ledger: &Ledger, sweep: &SweepRow) -> Result<SweepSteps> {
    let spec: SweepSpec = serde_json::from_value(sweep.spec.clone())
        .with_context(|| format!("sweep {} was made by an incompatible version of assay", sweep.id))?;
    let (mut steps, all) = (Vec::new(), ledger.sweep_steps(sweep.id)?);
    let own_core = shared::learned_by(ledger, all.iter().map(|step| step.campaign))?;
    for kept in all {
        let row = ledger.campaign(kept.campaign)?.context("a step of the sweep has lost its campaign")?;
        let experiment: Experiment = serde_json::from_value(row.spec.clone())
            .with_context(|| format!("campaign {} was made by an incompatible version of assay", row.id))?;
        let observed = observe::observe_on(ledger, row.id, experiment.clock, &own_core)?;
        let failures = ledger.failures(row.id)?;
        let seconds = ledger.rounds(row.id)?.iter().map(|round| round.elapsed_ns as f64 / 1e9).sum();
        steps.push(MeasuredStep { kept, row, experiment, observed, failures, seconds });
    }
    Ok(SweepSteps { spec, steps })
}

impl SweepSteps {
    /// The key's values that were measured, rising, each once.
    pub(super) fn values(&self) -> Vec<f64> {
        let mut values: Vec<f64> =
            self.steps.iter().flat_map(|step| &step.kept.points).map(|point| point.at).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    }

    /// Seconds of the budget that are spent. What a step took beyond its own, waiting for somebody to leave the core, is not taken
    /// from those that follow: they must find out whether what it saw holds.
    pub(super) fn spent_seconds(&self) -> f64 {
        self.steps.iter().map(|step| step.seconds.min(step.experiment.budget_seconds)).sum()
    }

    /// Seconds of measuring so far.
    pub(super) fn measured_seconds(&self) -> f64 {
        self.steps.iter().map(|step| step.seconds).sum()
    }

    /// The experiment that all steps are of: that of the first, which has all variants.
    pub(super) fn experiment(&self) -> Option<&Experiment> {
        self.steps.first().map(|step| &step.experiment)
    }

    /// The series in order of input, compiler and flags, with the readings of the baseline's pairs or of all.
    pub(super) fn series(&self, every_pair: bool) -> Vec<SweptSeries> {
        let Some(experiment) = self.experiment() else { return Vec::new() };
        let mut names: Vec<SeriesName> = Vec::new();
        for step in &self.steps {
            for point in &step.kept.points {
                let builds: BTreeSet<(String, String)> = step
                    .observed
                    .cells
                    .keys()
                    .filter(|cell| cell.input == point.input)
                    .map(|cell| (cell.compiler.clone(), cell.flags.clone()))
                    .collect();
                for (compiler, flags) in builds {
                    let name = SeriesName { of: point.of.clone(), compiler, flags };
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
            }
        }
        let pairs = pairs(experiment);
        let mut found = self.readings(&names, &pairs, |pair| pair.baseline == experiment.baseline);
        if every_pair {
            // Apart, so that what is said of a pair with the baseline does not depend on whether others were asked for.
            found.append(&mut self.readings(&names, &pairs, |pair| pair.baseline != experiment.baseline));
        }
        let mut series: Vec<SweptSeries> =
            names.into_iter().map(|name| self.curves(name, experiment)).collect();
        for (number, pair) in found {
            series[number].measured.pairs.push(pair);
        }
        series
    }

    /// A series that has its variants' times only.
    fn curves(&self, name: SeriesName, experiment: &Experiment) -> SweptSeries {
        let mut measured = MeasuredSoFar::default();
        let tried = |(step, point): (&MeasuredStep, &SweepPoint)| {
            (point.at, step.experiment.variants.iter().map(|variant| variant.name.clone()).collect())
        };
        measured.tried = self.points_of(&name).into_iter().map(tried).collect();
        for variant in &experiment.variants {
            let (readings, left_out) = without_shared(self.times(&name, &variant.name));
            if !readings.is_empty() {
                measured.curves.push(Curve { variant: variant.name.clone(), readings, left_out });
            }
        }
        widen(&mut measured.curves, &self.of_the_first_minute(&name), self.spec.scale);
        SweptSeries { name, measured }
    }

    /// The values whose times are those of the first step: all that it measured but for those that a later one measured with the core to
    /// itself, and it did not.
    fn of_the_first_minute(&self, series: &SeriesName) -> Vec<f64> {
        let shared =
            |(step, point): &(&MeasuredStep, &SweepPoint)| step.observed.uses_shared.contains(&point.input);
        let points = self.points_of(series);
        let alone_later = |at: f64| points.iter().any(|found| found.1.at == at && !shared(found));
        let first = points.iter().filter(|found| found.0.kept.step == 0);
        first.filter(|found| !shared(found) || !alone_later(found.1.at)).map(|found| found.1.at).collect()
    }

    /// Every wanted pair of every series that was measured side by side anywhere, with the number of its series.
    fn readings(
        &self,
        series: &[SeriesName],
        pairs: &[VariantPair],
        wanted: impl Fn(&VariantPair) -> bool,
    ) -> Vec<(usize, SweptPair)> {
        let mut names: Vec<(usize, &VariantPair)> = Vec::new();
        let mut taken: Vec<Vec<PairAtPoint>> = Vec::new();
        for (number, name) in series.iter().enumerate() {
            for pair in pairs.iter().filter(|pair| wanted(pair)) {
                names.push((number, pair));
                taken.push(self.taken(name, pair));
            }
        }
        let named = names.into_iter().zip(repeats::readings(&taken));
        let pair = |((number, pair), known): ((usize, &VariantPair), PairReadings)| {
            let (candidate, baseline) = (pair.candidate.clone(), pair.baseline.clone());
            let PairReadings { readings, left_out, between } = known;
            (number, SweptPair { candidate, baseline, readings, left_out, between })
        };
        named.map(pair).filter(|(_, pair)| !pair.readings.is_empty()).collect()
    }

    /// A pair's points with what each campaign saw of them.
    fn taken(&self, series: &SeriesName, pair: &VariantPair) -> Vec<PairAtPoint> {
        let mut found: Vec<PairAtPoint> = Vec::new();
        for (step, point) in self.points_of(series) {
            let Some(take) = take(step, point, series, pair) else { continue };
            match found.iter_mut().find(|known| known.at == point.at) {
                Some(known) => known.takes.push(take),
                None => found.push(PairAtPoint { at: point.at, takes: vec![take] }),
            }
        }
        found
    }

    fn points_of(&self, series: &SeriesName) -> Vec<(&MeasuredStep, &SweepPoint)> {
        let all = self.steps.iter().flat_map(|step| step.kept.points.iter().map(move |point| (step, point)));
        all.filter(|(_, point)| point.of == series.of).collect()
    }

    /// A variant's times, rising in the key: of a point in several campaigns those of the first that had the core for itself, which
    /// is the nearest to its neighbours' minute.
    fn times(&self, series: &SeriesName, variant: &str) -> Vec<Reading> {
        let mut readings: Vec<Reading> = self
            .points_of(series)
            .into_iter()
            .filter_map(|(step, point)| time(step, point, series, variant))
            .collect();
        readings.sort_by(|a, b| a.at.total_cmp(&b.at).then(a.seen.shared.cmp(&b.seen.shared)));
        readings.dedup_by_key(|reading| reading.at);
        readings
    }
}

/// Every two variants: those with the experiment's baseline first, then the later against the earlier.
fn pairs(experiment: &Experiment) -> Vec<VariantPair> {
    let pair = |candidate: &str, baseline: &str| VariantPair {
        candidate: candidate.to_owned(),
        baseline: baseline.to_owned(),
    };
    let names = experiment.variants.iter().map(|variant| variant.name.as_str());
    let others: Vec<&str> = names.filter(|name| *name != experiment.baseline).collect();
    let mut pairs: Vec<VariantPair> = others.iter().map(|name| pair(name, &experiment.baseline)).collect();
    for (index, earlier) in others.iter().enumerate() {
        pairs.extend(others[index + 1..].iter().map(|later| pair(later, earlier)));
    }
    pairs
}

fn cell(point: &SweepPoint, series: &SeriesName, variant: &str) -> CellId {
    CellName { variant, input: &point.input, compiler: &series.compiler, flags: &series.flags }.into()
}

fn take(step: &MeasuredStep, point: &SweepPoint, series: &SeriesName, pair: &VariantPair) -> Option<Take> {
    let (candidate, baseline) = (cell(point, series, &pair.candidate), cell(point, series, &pair.baseline));
    let failed = |cell| observe::failed(&step.failures, cell).is_some();
    if failed(&candidate) || failed(&baseline) {
        return None;
    }
    let contrast = step.observed.contrast(&candidate, &baseline, &step.experiment.placement.phases)?;
    let seen = reduce(&contrast);
    let ratios = seen.numbers.into_iter().zip(seen.ratios).collect();
    Some(Take { ratios, rounds: seen.rounds, shared: step.observed.uses_shared.contains(&point.input) })
}

fn time(step: &MeasuredStep, point: &SweepPoint, series: &SeriesName, variant: &str) -> Option<Reading> {
    let name = cell(point, series, variant);
    if observe::failed(&step.failures, &name).is_some() {
        return None;
    }
    let alone = step.observed.contrast(&name, &name, &step.experiment.placement.phases)?;
    let logs: Vec<f64> =
        rotation_times(&alone, Side::Candidate).iter().map(|rotation| rotation.mean_ns.ln()).collect();
    let (mean, variance) = mean_and_variance(&logs).filter(|_| logs.len() >= MIN_ROTATIONS)?;
    let least = RESOLUTION.powi(2) * logs.len() as f64;
    let degrees = (logs.len() - 1) as f64;
    let effect = Effect::between_rotations(mean, variance.max(least), degrees, logs.len());
    let seen =
        CampaignsSeen { shared: step.observed.uses_shared.contains(&point.input), ..CampaignsSeen::ONCE };
    Some(Reading { seen, ..Reading::of(point.at, &effect) })
}
