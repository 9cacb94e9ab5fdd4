//! The page of a campaign, from the ledger alone: so that it can be shown again at any time, with today's rules.

use super::bounds;
use super::companions::Companions;
use super::counted::{self, Counted};
use super::judge::{self, Judged};
use super::observe::{self, CellName};
use super::steps;
use crate::build::Compiler;
use crate::report::page::{self, Page};
use crate::store::{CampaignRow, Failure, Ledger};
use anyhow::{Context, Result, bail};
use assay_linux::machine::Machine;
use assay_pure::experiment::Experiment;
use assay_pure::experiment::spec::{Clock, InputSource, InputSpec};
use assay_pure::inputs::Description;
use assay_pure::placement::layout;
use assay_pure::verdict::claims::{self, CellFigure, ClaimContext, ClaimStatus, InputFacts};
use assay_pure::verdict::{self, VariantPlacement};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// The machine's facts as kept with a campaign.
pub fn machine_json(machine: &Machine, compilers: &[Compiler], cpu: usize) -> Value {
    json!({
        "cpu": machine.cpu,
        "cpu_id": machine.cpu_id,
        "microcode": machine.microcode,
        "kernel": machine.kernel,
        "cpus": machine.cpus,
        "pinned_cpu": cpu,
        "governor": machine.governor,
        "virtual_machine": machine.virtual_machine,
        "caches": machine.caches,
        "memory_bytes": machine.memory_bytes,
        "aslr": machine.aslr,
        "compilers": compilers.iter().map(super::placements::compiler_json).collect::<Vec<_>>(),
    })
}

/// Composes the page of a campaign.
///
/// # Errors
/// There is no such campaign, or the ledger cannot be read.
pub fn page(ledger: &Ledger, campaign: i64) -> Result<Page> {
    let Some(row) = ledger.campaign(campaign)? else {
        bail!("the ledger {} has no campaign {campaign}", ledger.path().display());
    };
    let experiment: Experiment = serde_json::from_value(row.spec.clone())
        .with_context(|| format!("campaign {campaign} was made from another form of experiment"))?;
    let machine = machine_of(&row, &experiment, ledger)?;
    let compilers: Vec<String> = machine.compilers.iter().map(|compiler| compiler.name.clone()).collect();
    let looks = ledger.looks(campaign)?.max(1);
    let levels = steps::looks(experiment.placement.rotations, experiment.placement.max_rotations);
    let mut judged =
        judge::judge_ledger(&experiment, &compilers, ledger, campaign, (looks, levels.len() as u32))?;
    let failures = ledger.failures(campaign)?;
    let counted = Counted::of(ledger, &row, &experiment, &failures)?;
    let times = verdict::placement_table(&judged.contrasts);
    let margin = experiment.minimum_effect.ln_1p();
    counted.explain(&mut judged.judgement, &times, &experiment.unit, margin);
    let by_heart: Vec<page::LearnedInput> =
        counted.learned().iter().map(|found| counted::learned_input(found, &experiment.unit)).collect();
    let inputs = inputs_of(ledger, &row, &experiment)?;
    let mut cells = cells(&experiment, &compilers, (&judged, &counted), &failures);
    add_companions(&mut cells, &Companions::of(ledger, row.id, &experiment)?, &judged);
    let limits = bounds::of(&row);
    if let Some((limits, _)) = &limits {
        bounds::add(&mut cells, &inputs, &counted.cells, limits);
    }
    let claims = claims_of(&experiment, (&judged, &counted), &inputs);
    let any_figure = cells.iter().any(|cell| cell.ns_per_unit.is_some());
    let campaign = campaign_of(ledger, &row, &experiment, &judged, any_figure)?;
    let mut page = Page {
        schema: page::SCHEMA.into(),
        experiment: row.experiment.clone(),
        question: experiment.question.clone(),
        answer: String::new(),
        prediction: experiment.prediction.clone(),
        unit: experiment.unit.clone(),
        baseline: experiment.baseline.clone(),
        variants: variants(&experiment),
        flag_sets: flag_sets(&experiment),
        machine,
        campaign,
        twin_control: twin_of(&judged.judgement.twin),
        warnings: warnings(&judged, &by_heart),
        contrasts: judged.judgement.contrasts.iter().map(contrast).collect(),
        cells,
        layouts: super::landing::layouts(ledger, &row, &experiment)?,
        inputs: inputs.iter().map(|(_, shown, _)| shown.clone()).collect(),
        input_dependence: judged
            .judgement
            .input_dependence
            .iter()
            .filter_map(|found| dependence(found, &judged))
            .collect(),
        learned_inputs: by_heart,
        branch_cost: counted.branch_cost(),
        explained: counted.explained(&times),
        limits: limits.map(|(_, used)| used),
        claims,
        failures: failures.iter().filter(|found| found.stage != "count").map(failure).collect(),
    };
    page.answer = crate::report::answer(&page);
    Ok(page)
}

/// The variant axis as shown.
pub fn variants(experiment: &Experiment) -> Vec<page::Variant> {
    let shown = |variant: &assay_pure::experiment::spec::Variant| page::Variant {
        name: variant.name.clone(),
        description: variant.description.clone(),
    };
    experiment.variants.iter().map(shown).collect()
}

/// A compiler as shown.
pub fn compiler(compiler: &Compiler) -> page::Compiler {
    page::Compiler {
        name: compiler.name.clone(),
        version: compiler.version.clone(),
        target: compiler.target.clone(),
        sha256: compiler.sha256.clone(),
    }
}

/// The flags axis as shown.
pub fn flag_sets(experiment: &Experiment) -> Vec<page::FlagSet> {
    let all = |set: &assay_pure::experiment::spec::FlagSet| {
        experiment.program.flags.iter().chain(&set.flags).cloned().collect()
    };
    let sets = experiment.flags.iter();
    sets.map(|set| page::FlagSet { name: set.name.clone(), flags: all(set) }).collect()
}

fn machine_of(row: &CampaignRow, experiment: &Experiment, ledger: &Ledger) -> Result<page::Machine> {
    let text = |key: &str| row.machine[key].as_str().unwrap_or_default().to_owned();
    let processes = ledger.processes(row.id)?;
    let cost = |of: fn(&crate::store::ProcessRow) -> f64| {
        let values: Vec<f64> = processes.iter().map(of).collect();
        assay_pure::stats::quantile::median(&values)
    };
    let mut facts = BTreeMap::new();
    for (key, name) in [("cpu_id", "CPU id"), ("microcode", "microcode"), ("governor", "governor")] {
        if let Some(value) = row.machine[key].as_str() {
            facts.insert(name.to_owned(), value.to_owned());
        }
    }
    if row.machine["virtual_machine"] == json!(true) {
        facts.insert("virtual machine".into(), "yes".into());
    }
    let compilers = row.machine["compilers"].as_array().cloned().unwrap_or_default();
    Ok(page::Machine {
        cpu: text("cpu"),
        kernel: text("kernel"),
        cores: row.machine["cpus"].as_array().map_or(0, Vec::len) as u32,
        pinned_cpu: row.pinned_cpu.map(|cpu| cpu as u32),
        compilers: compilers
            .into_iter()
            .map(serde_json::from_value)
            .collect::<Result<_, _>>()
            .context("reading the campaign's compilers")?,
        clock: match experiment.clock {
            Clock::Wall => "wall".into(),
            Clock::ThreadCpu => "thread_cpu".into(),
        },
        timer: page::Timer {
            wall_read_ns: cost(|process| process.wall_read_ns),
            cpu_read_ns: cost(|process| process.cpu_read_ns),
            region_wall_ns: cost(|process| process.region_wall_ns),
            region_cpu_ns: cost(|process| process.region_cpu_ns),
        },
        facts,
    })
}

fn campaign_of(
    ledger: &Ledger,
    row: &CampaignRow,
    experiment: &Experiment,
    judged: &Judged,
    any_figure: bool,
) -> Result<page::Campaign> {
    let rounds = ledger.rounds(row.id)?;
    let rotations = judged.contrasts.iter().map(|contrast| contrast.rotations.len()).max().unwrap_or(0);
    let last = rounds.last().map_or(row.started_at, |round| round.started_at + round.elapsed_ns as f64 / 1e9);
    Ok(page::Campaign {
        id: row.id.to_string(),
        started: rfc3339(row.started_at),
        elapsed_seconds: row.finished_at.unwrap_or(last) - row.started_at,
        // The sum of nothing is -0.
        measured_seconds: rounds.iter().map(|round| round.elapsed_ns as f64 / 1e9).sum::<f64>() + 0.0,
        rounds: rounds.len() as u64,
        rotations: rotations as u32,
        samples: judged.observed.samples,
        flagged_samples: judged.observed.flagged,
        budget_seconds: experiment.budget_seconds,
        stopped_because: match row.stopped_because.as_deref() {
            None | Some("interrupted") => page::StoppedBecause::Interrupted,
            Some(_) if !any_figure => page::StoppedBecause::NothingToMeasure,
            Some("decided") => page::StoppedBecause::Decided,
            Some("budget") => page::StoppedBecause::BudgetSpent,
            Some(_) => page::StoppedBecause::RotationsSpent,
        },
        minimum_effect: experiment.minimum_effect,
        confidence: experiment.confidence,
        seed: experiment.seed,
        ledger: Some(ledger.path().display().to_string()),
    })
}

/// Unix seconds as RFC 3339 in UTC, by Howard Hinnant's civil-from-days algorithm.
pub(crate) fn rfc3339(unix: f64) -> String {
    let seconds = unix as i64;
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

fn verdict_word(verdict: verdict::Verdict) -> page::Verdict {
    match verdict {
        verdict::Verdict::Faster => page::Verdict::Faster,
        verdict::Verdict::Slower => page::Verdict::Slower,
        verdict::Verdict::Equivalent => page::Verdict::Equivalent,
        verdict::Verdict::Inconclusive => page::Verdict::Inconclusive,
    }
}

pub(crate) fn twin_of(twin: &verdict::TwinControl) -> page::TwinControl {
    let different = twin.groups.iter().filter(|group| group.verdict == verdict::TwinVerdict::Different);
    let worst = different
        .filter_map(|group| group.ratio)
        .max_by(|a, b| a.ratio.ln().abs().total_cmp(&b.ratio.ln().abs()));
    let ratio = worst.or(twin.ratio);
    page::TwinControl {
        verdict: match twin.verdict {
            verdict::TwinVerdict::Equivalent => page::TwinVerdict::Equivalent,
            verdict::TwinVerdict::Undecided => page::TwinVerdict::Undecided,
            verdict::TwinVerdict::Different => page::TwinVerdict::Different,
        },
        ratio: ratio.map(|ratio| ratio.ratio),
        lower: ratio.map(|ratio| ratio.lower),
        upper: ratio.map(|ratio| ratio.upper),
        note: Some(twin.statement.clone()),
    }
}

/// What the reader must know first; of nothing compared there is nothing to doubt.
fn warnings(judged: &Judged, by_heart: &[page::LearnedInput]) -> Vec<String> {
    if judged.contrasts.is_empty() {
        return Vec::new();
    }
    let inputs = by_heart.iter().map(|found| counted::sentence(&found.note));
    let processes = super::alone::warnings(&judged.observed);
    let own = judged.judgement.warnings.iter().cloned();
    own.chain(disturbance(judged)).chain(processes).chain(inputs).collect()
}

/// A machine so disturbed that the reader must know.
fn disturbance(judged: &Judged) -> Option<String> {
    let observed = &judged.observed;
    let share = observed.flagged as f64 / observed.counted.max(1) as f64;
    (share > 0.3).then(|| {
        format!(
            "{:.0} % of the samples were interrupted and left out: other work runs on the measuring processor \
             (--cpu N chooses another)",
            share * 100.0
        )
    })
}

fn effect(ratio: verdict::RatioInterval) -> page::Effect {
    page::Effect { ratio: ratio.ratio, lower: ratio.lower, upper: ratio.upper }
}

/// An axis as shown.
pub fn axis(axis: assay_pure::experiment::Axis) -> page::Axis {
    use assay_pure::experiment::Axis;
    match axis {
        Axis::Variant => page::Axis::Variant,
        Axis::Compiler => page::Axis::Compiler,
        Axis::Flags => page::Axis::Flags,
    }
}

fn build(build: &verdict::Build) -> page::Build {
    page::Build { compiler: build.compiler.clone(), flags: build.flags.clone() }
}

pub(crate) fn contrast(found: &verdict::ContrastVerdict) -> page::Contrast {
    page::Contrast {
        candidate: found.candidate.clone(),
        baseline: found.baseline.clone(),
        input: found.input.clone(),
        compiler: found.compiler.clone(),
        flags: found.flags.clone(),
        axis: axis(found.between().axis()),
        against: found.against.as_ref().map(build),
        as_built: found.as_built.map(effect),
        code: found.code.map(effect),
        placement_ratio: found.placement_ratio,
        verdict: verdict_word(found.verdict),
        as_built_says: found.as_built_says.map(|says| match says {
            verdict::AsBuiltSays::Confirmed => page::AsBuiltSays::Confirmed,
            verdict::AsBuiltSays::Ghost => page::AsBuiltSays::Ghost,
            verdict::AsBuiltSays::Inflated => page::AsBuiltSays::Inflated,
            verdict::AsBuiltSays::Deflated => page::AsBuiltSays::Deflated,
            verdict::AsBuiltSays::Masked => page::AsBuiltSays::Masked,
            verdict::AsBuiltSays::Reversed => page::AsBuiltSays::Reversed,
        }),
        causes: found.causes.iter().map(cause).collect(),
        reasons: found.reasons.clone(),
        rotations: found.rotations as u32,
        rotations_needed: found.rotations_needed,
        seconds_needed: found.seconds_needed,
        minimum_detectable_effect: found.minimum_detectable_effect,
    }
}

pub(crate) fn cause(found: &verdict::cause::CauseEvidence) -> page::Cause {
    use verdict::cause::Cause;
    page::Cause {
        cause: match found.cause {
            Cause::Placement => page::CauseKind::Placement,
            Cause::IdenticalCode => page::CauseKind::IdenticalCode,
            Cause::Work => page::CauseKind::Work,
            Cause::Prediction => page::CauseKind::Prediction,
            Cause::Input => page::CauseKind::Input,
            Cause::Memory => page::CauseKind::Memory,
            Cause::CodegenDrift => page::CauseKind::CodegenDrift,
            Cause::Noise => page::CauseKind::Noise,
            Cause::Build => page::CauseKind::Build,
        },
        share: found.share,
        evidence: found.evidence.clone(),
    }
}

fn dependence(found: &verdict::InputDependence, judged: &Judged) -> Option<page::InputDependence> {
    let flips = match found.dependence {
        verdict::Dependence::Sign => page::Flips::Sign,
        verdict::Dependence::Size => page::Flips::Size,
        verdict::Dependence::None => return None,
    };
    let size = |input: &String| {
        let contrast = judged.judgement.contrasts.iter().find(|contrast| {
            &contrast.input == input
                && contrast.candidate == found.candidate
                && contrast.compiler == found.compiler
                && contrast.flags == found.flags
                && contrast.against == found.against
        });
        contrast.and_then(|contrast| contrast.code).map_or(0.0, |code| code.ratio.ln().abs())
    };
    let largest_first = |inputs: &[String]| {
        let mut sorted = inputs.to_vec();
        sorted.sort_by(|a, b| size(b).total_cmp(&size(a)));
        sorted
    };
    Some(page::InputDependence {
        candidate: found.candidate.clone(),
        baseline: found.baseline.clone(),
        compiler: found.compiler.clone(),
        flags: found.flags.clone(),
        against: found.against.as_ref().map(build),
        flips,
        favours_candidate: largest_first(&found.faster),
        favours_baseline: largest_first(&found.slower),
        note: found.statement.clone(),
    })
}

/// An input with what its description says, parsed.
pub(super) type KnownInput = (InputSpec, page::Input, Option<Description>);

fn inputs_of(ledger: &Ledger, row: &CampaignRow, experiment: &Experiment) -> Result<Vec<KnownInput>> {
    let used: HashMap<String, String> =
        ledger.campaign_inputs(row.id)?.into_iter().map(|input| (input.name, input.digest)).collect();
    let mut known = Vec::new();
    for spec in &experiment.inputs {
        let Some(kept) = used.get(&spec.name).map(|digest| ledger.input(digest)).transpose()?.flatten()
        else {
            continue;
        };
        let description: Option<Description> = serde_json::from_value(kept.description.clone()).ok();
        let shown = page::Input {
            name: spec.name.clone(),
            digest: kept.digest.clone(),
            bytes: kept.bytes,
            units: description.as_ref().map_or(0, |description| description.units),
            summary: spec.description.clone(),
            recipe: Some(recipe(&spec.source)),
            description: kept.description,
            state: spec.use_.state.word().into(),
            measure: spec.use_.measure.word().into(),
            copies: copies(spec, kept.bytes, row),
            of: spec.of.clone(),
        };
        known.push((spec.clone(), shown, description));
    }
    Ok(known)
}

/// The copies that a campaign rotated over, as it reckoned them itself.
fn copies(spec: &InputSpec, bytes: u64, row: &CampaignRow) -> Option<u64> {
    let caches: Vec<String> = serde_json::from_value(row.machine["caches"].clone()).unwrap_or_default();
    let copies = super::uses::copies(spec.use_, bytes, super::uses::last_level_bytes(&caches));
    (copies > 0).then_some(copies)
}

/// A recipe in a few words.
pub fn recipe(source: &InputSource) -> String {
    match source {
        InputSource::Recorded { path } => format!("recorded: {path}"),
        InputSource::Empty => "nothing: the program makes its own".into(),
        InputSource::Settings { settings, .. } => {
            let text = String::from_utf8_lossy(&settings.bytes()).trim_end().replace('\n', ", ");
            format!("settings {text}")
        }
        InputSource::Generated { generator, units, seed, distinct_units } => {
            let value = serde_json::to_value(generator).unwrap_or_default();
            let mut parts = Vec::new();
            if let Value::Object(fields) = &value {
                parts.extend(
                    fields
                        .iter()
                        .filter(|(key, _)| *key != "generator")
                        .map(|(key, value)| format!("{key} {value}")),
                );
            }
            let kind = value["generator"].as_str().unwrap_or("generated").to_owned();
            let repeated =
                distinct_units.map_or(String::new(), |distinct| format!(", the first {distinct} repeated"));
            format!("{kind} {} ({units} units, seed {seed}{repeated})", parts.join(", "))
        }
    }
}

fn cells(
    experiment: &Experiment,
    compilers: &[String],
    (judged, counted): (&Judged, &Counted),
    failures: &[Failure],
) -> Vec<page::Cell> {
    let rows = verdict::placement_table(&judged.contrasts);
    let mut cells = Vec::new();
    for cell in assay_pure::experiment::matrix::cells(experiment, compilers.len()) {
        let name: CellName = (
            experiment.variants[cell.variant].name.clone(),
            experiment.inputs[cell.input].name.clone(),
            compilers[cell.compiler].clone(),
            experiment.flags[cell.flags].name.clone(),
        );
        let row = rows.iter().find(|row| {
            (&row.variant, &row.input, &row.compiler, &row.flags) == (&name.0, &name.1, &name.2, &name.3)
        });
        let row = row.cloned().or_else(|| alone(&name, experiment, judged, failures));
        cells.push(page_cell(&name, row.as_ref(), experiment, (judged, counted), failures));
    }
    cells
}

/// The figures of a cell that no contrast is left of, because the other side failed: it was measured all the same.
fn alone(
    name: &CellName,
    experiment: &Experiment,
    judged: &Judged,
    failures: &[Failure],
) -> Option<VariantPlacement> {
    if observe::failed(failures, name).is_some() {
        return None;
    }
    let with_itself = judged.observed.contrast(name, name, &experiment.placement.phases)?;
    verdict::placement_table(&[with_itself]).pop()
}

fn page_cell(
    name: &CellName,
    row: Option<&VariantPlacement>,
    experiment: &Experiment,
    (judged, counted): (&Judged, &Counted),
    failures: &[Failure],
) -> page::Cell {
    let (uncounted, count_note) = counted.note(name);
    let failed =
        observe::failed(failures, name).map(|failure| page::Failed { reason: failure.reason.clone() });
    let failed = failed.or_else(|| row.is_none().then(|| page::Failed { reason: no_figure(name, judged) }));
    page::Cell {
        variant: name.0.clone(),
        input: name.1.clone(),
        compiler: name.2.clone(),
        flags: name.3.clone(),
        ns_per_unit: row.map(|row| page::Spread {
            median: row.ns_per_unit.median,
            lower: row.ns_per_unit.lower,
            upper: row.ns_per_unit.upper,
        }),
        by_offset: row.map_or_else(Vec::new, |row| {
            let offsets = row.by_offset.iter();
            offsets.map(|at| page::AtOffset { offset: at.offset, ns_per_unit: at.ns_per_unit }).collect()
        }),
        reached: reached(name, experiment, judged),
        as_built_ns: row.and_then(|row| row.as_built.as_ref()).map(|at| at.ns_per_unit),
        range: judged.observed.cells.get(name).and_then(range),
        offset_share: offset_share(name, experiment, judged),
        companion: None,
        per_unit: counted.per_unit(name),
        limits: Vec::new(),
        uncounted: uncounted.map(|reason| page::Failed { reason }),
        count_note,
        failed,
    }
}

fn add_companions(cells: &mut [page::Cell], companions: &Companions, judged: &Judged) {
    for cell in cells {
        let name = (cell.variant.clone(), cell.input.clone(), cell.compiler.clone(), cell.flags.clone());
        cell.companion = companions.get(&name, &judged.observed);
    }
}

/// What a cell's time over placements goes with.
fn offset_share(name: &CellName, experiment: &Experiment, judged: &Judged) -> Option<page::OffsetShare> {
    let with_itself = judged.observed.contrast(name, name, &experiment.placement.phases)?;
    let share = verdict::offset_share(&with_itself, verdict::profile::Side::Candidate)?;
    Some(page::OffsetShare {
        offset: share.offset,
        shuffle: share.shuffle,
        rest: share.rest,
        placements: share.placements as u64,
    })
}

/// The fastest and the slowest of single placements.
fn range(placements: &observe::Placements) -> Option<page::Range> {
    /// Slower than the fastest by this much is called slow.
    const SLOW: f64 = 1.1;
    let times: Vec<f64> = placements
        .iter()
        .filter(|((rotation, _), _)| rotation.is_some())
        .filter_map(|(_, placed)| {
            let samples: Vec<f64> = placed.samples.iter().map(|sample| sample.ns_per_unit).collect();
            assay_pure::stats::quantile::median(&samples)
        })
        .collect();
    let fastest_ns = times.iter().copied().reduce(f64::min)?;
    Some(page::Range {
        fastest_ns,
        slowest_ns: times.iter().copied().fold(fastest_ns, f64::max),
        placements: times.len() as u64,
        slow_placements: times.iter().filter(|ns| **ns >= SLOW * fastest_ns).count() as u64,
    })
}

/// Why a cell that did not fail has no figure.
fn no_figure(name: &CellName, judged: &Judged) -> String {
    match judged.observed.cells.get(name) {
        None => "not measured".into(),
        Some(placements) if placements.values().all(|placed| placed.samples.is_empty()) => {
            "no usable sample: every one took no measurable time or was interrupted (is the function empty?)"
                .into()
        }
        Some(_) => "no rotation is complete".into(),
    }
}

/// The offsets that a variant's entry really visited, from the linked files.
fn reached(name: &CellName, experiment: &Experiment, judged: &Judged) -> page::Reached {
    let Some(placements) = judged.observed.cells.get(name) else { return page::Reached::default() };
    let phases = experiment.placement.phases.len();
    let offsets: Vec<u64> = placements
        .iter()
        .filter(|((rotation, _), _)| *rotation == Some(0))
        .map(|(_, placed)| placed.offset)
        .collect();
    let first = layout::reached(&offsets, phases);
    let mut all: Vec<u64> = placements
        .iter()
        .filter(|((rotation, _), _)| rotation.is_some())
        .map(|(_, placed)| placed.offset)
        .collect();
    all.sort_unstable();
    all.dedup();
    page::Reached { offsets: all, note: first.note }
}

fn failure(found: &Failure) -> page::Failure {
    let place = [&found.variant, &found.input, &found.compiler, &found.flags];
    let what: Vec<&str> = place.into_iter().flatten().map(String::as_str).collect();
    page::Failure {
        kind: if found.stage == "skipped" { page::FailureKind::Skipped } else { page::FailureKind::Failed },
        what: what.join(", "),
        reason: found.reason.clone(),
    }
}

fn claims_of(
    experiment: &Experiment,
    (judged, counted): (&Judged, &Counted),
    inputs: &[KnownInput],
) -> Vec<page::Claim> {
    let facts: Vec<InputFacts> = inputs
        .iter()
        .map(|(spec, shown, description)| {
            let independent = matches!(
                &spec.source,
                InputSource::Generated { generator, .. } if generator.independent()
            );
            let known = description.as_ref().filter(|_| independent);
            InputFacts {
                name: shown.name.clone(),
                floor_misses_per_unit: known.and_then(|description| description.floor_misses_per_unit),
                branches_per_unit: known.and_then(|description| description.branches_per_unit),
                learnable: description
                    .as_ref()
                    .is_some_and(|known| known.length_warning().or_else(|| known.period_warning()).is_some()),
            }
        })
        .collect();
    let figures: Vec<CellFigure> = verdict::placement_table(&judged.contrasts)
        .into_iter()
        .map(|row| CellFigure {
            variant: row.variant,
            input: row.input,
            compiler: row.compiler,
            flags: row.flags,
            ns_per_unit: row.ns_per_unit.median,
            lower: row.ns_per_unit.lower,
            upper: row.ns_per_unit.upper,
        })
        .collect();
    let context = ClaimContext {
        judgement: &judged.judgement,
        cells: &figures,
        inputs: &facts,
        counts: &counted.cells,
        baseline: &experiment.baseline,
        minimum_effect: experiment.minimum_effect,
    };
    let check = |claim| {
        let result = claims::check(claim, &context);
        page::Claim {
            text: result.text,
            status: match result.status {
                ClaimStatus::Confirmed => page::ClaimStatus::Confirmed,
                ClaimStatus::Refuted => page::ClaimStatus::Refuted,
                ClaimStatus::Undecided => page::ClaimStatus::Undecided,
            },
            found: result.found,
            source: claim.source.clone(),
        }
    };
    experiment.claims.iter().map(check).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_the_time_of_day_as_others_do() {
        // `date -u -d @N +%FT%TZ` of GNU coreutils.
        assert_eq!(rfc3339(0.0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(951_827_696.9), "2000-02-29T12:34:56Z");
        assert_eq!(rfc3339(1_795_246_445.0), "2026-11-21T07:34:05Z");
    }
}
