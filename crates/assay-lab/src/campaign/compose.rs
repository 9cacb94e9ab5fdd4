//! The page of a campaign, from the ledger alone: so that it can be shown again at any time, with today's rules.

mod cells;
mod claims;
mod inputs;
mod machine;
mod verdicts;

pub use self::inputs::recipe;
pub use self::machine::{compiler, facts_of, machine_json};
pub(crate) use self::verdicts::{contrast, twin_of};
pub(crate) use super::moment::rfc3339;

use super::bounds;
use super::companions::Companions;
use super::counted::{self, CampaignCounts};
use super::judge::{self, CampaignVerdicts, LookOfPlan};
use super::observe::Observed;
use super::steps;
use crate::store::{CampaignRow, FailureRow, Ledger};
use anyhow::{Context, Result, bail};
use assay_pure::experiment::Experiment;
use assay_pure::experiment::spec::{InputSource, InputSpec};
use assay_pure::inputs::Format;
use assay_pure::ledger::{Stage, Stopped};
use assay_pure::verdict::{self, Verdict};
use assay_pure::words::{plural_noun, sentence};
use assay_report::html::{RepeatedInput, Repeats};
use assay_report::page::{self, Page};

/// Composes the page of a campaign.
///
/// # Errors
/// There is no such campaign, or the ledger cannot be read.
pub fn page(ledger: &Ledger, campaign: i64) -> Result<Page> {
    Ok(page_and_samples(ledger, campaign)?.0)
}

/// The page with the samples that it was made from.
///
/// # Errors
/// See [`page`].
pub fn page_and_samples(ledger: &Ledger, campaign: i64) -> Result<(Page, Observed)> {
    let Some(row) = ledger.campaign(campaign)? else {
        bail!("the ledger {} has no campaign {campaign}", ledger.path().display());
    };
    let experiment: Experiment = serde_json::from_value(row.spec.clone())
        .with_context(|| format!("campaign {campaign} was made by an incompatible version of assay"))?;
    let machine = machine::machine_of(&row, &experiment, ledger)?;
    let compilers: Vec<String> = machine.compilers.iter().map(|compiler| compiler.name.clone()).collect();
    let looks = ledger.looks(campaign)?.max(1);
    let levels = steps::looks(experiment.placement.rotations, experiment.placement.max_rotations);
    let look = LookOfPlan { look: looks, looks: levels.len() as u32 };
    let mut judged = judge::judge_ledger(&experiment, &compilers, ledger, campaign, look)?;
    let failures = ledger.failures(campaign)?;
    let counted = CampaignCounts::of(ledger, &row, &experiment, &failures)?;
    let times = verdict::placement_table(&judged.contrasts);
    let margin = experiment.minimum_effect;
    let examined = super::examination::known(ledger, campaign)?;
    let findings = examined.map(|facts| super::examination::findings(&facts, &experiment.accept));
    counted.explain(&mut judged.judgement, &times, &experiment.unit, margin);
    let memorised: Vec<page::LearnedInput> =
        counted.learned().iter().map(|found| counted::learned_input(found, &experiment.unit)).collect();
    let inputs = inputs::inputs_of(ledger, &row, &experiment)?;
    let mut cells = cells::cells(&experiment, &compilers, &judged, &counted, &failures);
    cells::add_companions(&mut cells, &Companions::of(ledger, row.id, &experiment)?, &judged);
    let limits = bounds::of(&row);
    if let Some((limits, _)) = &limits {
        bounds::add(&mut cells, &inputs, &counted.cells, limits);
    }
    let claims = claims::claims_of(&experiment, &judged, &counted, &inputs);
    let any_figure = cells.iter().any(|cell| cell.ns_per_unit.is_some());
    let campaign = campaign_of(ledger, &row, &experiment, &judged, any_figure)?;
    let width = bounds::kept_with(&row).and_then(|limits| limits.width);
    let (mut warnings, notes) = told(&judged, &memorised);
    warnings
        .extend(ledger.build_warnings(row.id)?.iter().map(|text| format!("{}.", text.trim_end_matches('.'))));
    warnings.extend(unit_doubt(&experiment));
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
        findings: findings.unwrap_or_default(),
        neighbour: neighbour(&judged, width),
        warnings,
        notes,
        contrasts: judged.judgement.contrasts.iter().map(contrast).collect(),
        cells,
        layouts: super::landing::layouts(ledger, &row, &experiment)?,
        inputs: inputs.iter().map(|input| input.shown.clone()).collect(),
        input_dependence: judged
            .judgement
            .input_dependence
            .iter()
            .filter_map(|found| verdicts::dependence(found, &judged))
            .collect(),
        learned_inputs: memorised,
        branch_cost: counted.branch_cost(),
        explained: counted.explained(&times),
        limits: limits.map(|(_, used)| used),
        claims,
        gate: None,
        failures: failures.iter().filter(|found| found.stage != Stage::Count).map(failure).collect(),
    };
    page.add_throughput();
    page.answer = assay_report::answer(&page);
    Ok((page, judged.observed))
}

/// The limits that a campaign's page compares its times with.
pub fn limits_used(row: &CampaignRow) -> Option<page::LimitsUsed> {
    bounds::of(row).map(|(_, used)| used)
}

/// What campaigns of one question are repeated with: the machine and the builds of the last one, the inputs of all.
///
/// # Errors
/// The ledger cannot be read, or they were made by an incompatible version.
pub fn repeats(ledger: &Ledger, campaigns: &[i64]) -> Result<Repeats> {
    let mut all = Repeats::default();
    for &campaign in campaigns {
        let Some(row) = ledger.campaign(campaign)? else { continue };
        let experiment: Experiment = serde_json::from_value(row.spec.clone())
            .with_context(|| format!("campaign {campaign} was made by an incompatible version of assay"))?;
        all.machine = machine::facts_of(&row.machine);
        all.compilers = serde_json::from_value(row.machine["compilers"].clone()).unwrap_or_default();
        all.flags = flag_sets(&experiment);
        for known in inputs::inputs_of(ledger, &row, &experiment)? {
            let input = RepeatedInput {
                name: known.shown.name,
                recipe: known.shown.recipe,
                bytes: Some(known.shown.bytes),
                digest: known.shown.digest,
            };
            if !all.inputs.contains(&input) {
                all.inputs.push(input);
            }
        }
    }
    Ok(all)
}

/// The variant axis as shown.
pub fn variants(experiment: &Experiment) -> Vec<page::PageVariant> {
    let shown = |variant: &assay_pure::experiment::spec::Variant| page::PageVariant {
        name: variant.name.clone(),
        description: variant.description.clone(),
    };
    experiment.variants.iter().map(shown).collect()
}

/// The flags axis as shown.
pub fn flag_sets(experiment: &Experiment) -> Vec<page::PageFlagSet> {
    let all = |set: &assay_pure::experiment::spec::FlagSet| {
        experiment.program.flags.iter().chain(&set.flags).cloned().collect()
    };
    let sets = experiment.flags.iter();
    sets.map(|set| page::PageFlagSet { name: set.name.clone(), flags: all(set) }).collect()
}

fn campaign_of(
    ledger: &Ledger,
    row: &CampaignRow,
    experiment: &Experiment,
    judged: &CampaignVerdicts,
    any_figure: bool,
) -> Result<page::CampaignRun> {
    let rounds = ledger.rounds(row.id)?;
    let rotations = judged.judgement.contrasts.iter().map(|contrast| contrast.rotations).max().unwrap_or(0);
    let last = rounds.last().map_or(row.started_at, |round| round.started_at + round.elapsed_ns as f64 / 1e9);
    Ok(page::CampaignRun {
        id: row.id.to_string(),
        started: rfc3339(row.started_at),
        elapsed_seconds: row.finished_at.unwrap_or(last) - row.started_at,
        // The sum of nothing is -0.
        measured_seconds: rounds.iter().map(|round| round.elapsed_ns as f64 / 1e9).sum::<f64>() + 0.0,
        waited_seconds: rounds.iter().map(|round| round.waited_ns as f64 / 1e9).sum::<f64>() + 0.0,
        rounds: rounds.len() as u64,
        rotations: rotations as u32,
        samples: judged.observed.samples,
        flagged_samples: judged.observed.flagged,
        budget_seconds: experiment.budget_seconds,
        stopped_because: match row.stopped {
            None | Some(Stopped::Interrupted) => Stopped::Interrupted,
            Some(_) if !any_figure => Stopped::Nothing,
            Some(Stopped::Decided) => Stopped::Decided,
            Some(Stopped::Budget) => Stopped::Budget,
            Some(_) => Stopped::Rotations,
        },
        minimum_effect: experiment.minimum_effect.relative(),
        confidence: experiment.confidence,
        seed: experiment.seed,
        ledger: Some(ledger.path().display().to_string()),
    })
}

/// What changes what the reader should do, then what needs nothing done; of nothing compared there is nothing to doubt.
///
/// Samples that were left out make verdicts wait, not wrong: they are worth a warning while something is undecided.
fn told(judged: &CampaignVerdicts, memorised: &[page::LearnedInput]) -> (Vec<String>, Vec<String>) {
    if judged.contrasts.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let (mut warnings, mut notes) = (judged.judgement.warnings.clone(), judged.judgement.notes.clone());
    let is_open = judged.judgement.contrasts.iter().any(|found| found.verdict == Verdict::Undecided);
    if is_open { &mut warnings } else { &mut notes }.extend(judged.observed.interruptions());
    warnings.extend(super::alone::warnings(&judged.observed));
    // What to do about these stands below the answer.
    notes.extend(memorised.iter().map(|found| sentence(&found.note)));
    (warnings, notes)
}

/// Somebody else on the core, so much that what was measured beside it is used all the same.
fn neighbour(judged: &CampaignVerdicts, known_width: Option<f64>) -> Option<String> {
    let found =
        judged.observed.shared_kept().into_iter().chain(judged.observed.shared_all_the_time(known_width));
    let found: Vec<String> = found.filter(|_| !judged.contrasts.is_empty()).collect();
    (!found.is_empty()).then(|| found.join(" "))
}

/// A unit whose name is that of another format than the input's: "178,885 lines" of a file of bytes.
fn unit_doubt(experiment: &Experiment) -> Vec<String> {
    let unit = experiment.unit.as_str();
    let other = |spec: &&InputSpec| {
        !matches!(spec.source, InputSource::Settings { .. } | InputSource::Empty)
            && spec.format.contradicts(unit)
    };
    let inputs = experiment.file_inputs();
    let doubt = |spec: &InputSpec| {
        let word = spec.format.unit_word();
        // A generator makes what it makes.
        let format = Format::of_unit(unit).filter(|_| !matches!(spec.source, InputSource::Generated { .. }));
        let format = format.map_or(String::new(), |format| format!("format = \"{}\", or ", format.word()));
        format!(
            "{} is divided by its {}, but the file's unit is `{unit}`: set {format}unit = \"{word}\".",
            spec.name,
            plural_noun(word)
        )
    };
    inputs.iter().filter(other).map(doubt).collect()
}

fn failure(found: &FailureRow) -> page::PageFailure {
    let place = [&found.variant, &found.input, &found.compiler, &found.flags];
    let what: Vec<&str> = place.into_iter().flatten().map(String::as_str).collect();
    page::PageFailure {
        kind: if found.stage == Stage::Skipped {
            page::FailureKind::Skipped
        } else {
            page::FailureKind::Failed
        },
        what: what.join(", "),
        reason: found.reason.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubts(unit: &str, keys: &str) -> Vec<String> {
        let text = format!(
            "question = \"?\"\nunit = \"{unit}\"\nbaseline = \"a\"\nvariants = [\"a\", \"b\"]\n[program]\nsources = \
             [\"x.c\"]\n[inputs.log]\n{keys}\n"
        );
        unit_doubt(&Experiment::from_toml(&text, "x/x.toml").expect("a good file").experiment)
    }

    #[test]
    fn lines_that_are_bytes_are_questioned() {
        assert_eq!(
            doubts("line", "path = \"log.txt\"\nformat = \"bytes\""),
            [
                "log is divided by its bytes, but the file's unit is `line`: set format = \"lines\", or unit = \"byte\"."
            ]
        );
        let keys = "generator = \"zipf\"\nformat = \"u64\"";
        assert_eq!(
            doubts("line", keys),
            ["log is divided by its u64s, but the file's unit is `line`: set unit = \"u64\"."]
        );
        assert_eq!((doubts("key", keys), doubts("number", keys)), (Vec::new(), Vec::new()));
        for (unit, format) in [("line", "lines"), ("byte", "bytes"), ("request", "bytes"), ("line", "whole")]
        {
            assert_eq!(
                doubts(unit, &format!("path = \"log.txt\"\nformat = \"{format}\"")),
                [""; 0],
                "{unit} {format}"
            );
        }
    }
}
