//! `assay calibrate`: the lab tried on pairs whose truth is known, beside other tools.

use super::help::OUTPUT;
use super::run::StoragePaths;
use super::{DONE, FAILED, screen};
use anyhow::{Context, Result, bail};
use assay_lab::calibrate::tally::{self, CLASSES, TwinCount};
use assay_lab::calibrate::{KnownPair, OutcomeTally, Trial, TruthOutcome, peers, read_pairs};
use assay_lab::campaign::{self, CampaignRequest, compose};
use assay_lab::lead::{self, Misuse, Resume};
use assay_lab::store::{Ledger, mark};
use assay_link::build::Compiler;
use assay_link::program::find_toolchains;
use assay_pure::stats::interval::Interval;
use assay_pure::stats::margin::Margin;
use assay_pure::stats::share::wilson;
use assay_pure::verdict::Verdict;
use assay_pure::verdict::decide::decide;
use assay_pure::words;
use assay_report::page::{Page, PageContrast};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Check assay's verdicts on pairs with a known true difference
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/calibrate.txt"))]
pub struct CalibrateArguments {
    /// Folder of the pairs
    pub folder: PathBuf,
    /// Measurements of each pair
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub k: u32,
    /// Only pairs whose name matches; can be repeated
    #[arg(long = "pair", value_name = "GLOB")]
    pub pairs: Vec<String>,
    /// Only compilers whose name matches, instead of the file's; can be repeated
    #[arg(long = "compiler", value_name = "GLOB")]
    pub compilers: Vec<String>,
    /// Time to measure a pair once, instead of the file's budget
    #[arg(long, value_name = "SECONDS", value_parser = super::run::positive)]
    pub budget: Option<f64>,
    /// Decide by times alone, not by proof that the same is executed
    #[arg(long)]
    pub no_proof: bool,
    /// Compare with the verdicts of Google Benchmark and hyperfine
    #[arg(long)]
    pub peers: bool,
    /// First seed; each further measurement of a pair takes the next one
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Continue: keep the pairs that are measured, measure the others
    #[arg(long)]
    pub resume: bool,
    /// Write every verdict as JSON; - is standard output
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub places: StoragePaths,
}

/// Runs the verb.
///
/// # Errors
/// A pair's files are wrong, or a campaign cannot be run at all.
pub fn run(arguments: &CalibrateArguments) -> Result<u8> {
    assay_linux::interrupt::catch();
    if let Some(file) = &arguments.json {
        screen::find_place(file, &[])?;
    }
    let pairs = read_pairs(&arguments.folder, &arguments.pairs)?;
    let (runs, skipped) = planned(arguments, &pairs)?;
    for reason in skipped {
        screen::tell(&format!("skipped {reason}"));
    }
    if arguments.resume {
        let names = runs.iter().map(|run| run.pair.experiment_name()).collect::<Result<_>>()?;
        let ledger = lead::open(&arguments.places.ledger, &arguments.places.store())?;
        campaign::something_begun(&ledger, &names)?;
    }
    let mut progress = CalibrationProgress { total: runs.len(), ..CalibrationProgress::default() };
    let mut trials = Vec::new();
    let mut failed = Vec::new();
    for run in &runs {
        if assay_linux::interrupt::asked() {
            break;
        }
        progress.say(run);
        let begun = Instant::now();
        let mut kept = false;
        match measure(arguments, run) {
            Ok(found) => {
                kept = found.kept;
                trials.extend(found.trials);
            }
            Err(_) if assay_linux::interrupt::asked() => {}
            // One pair that cannot be measured must not cost the hours of the others.
            Err(error) => failed.push(format!("{error:#}")),
        }
        match kept {
            true => progress.kept += 1,
            false => progress.measured += begun.elapsed(),
        }
        progress.done += 1;
    }
    let interrupted = assay_linux::interrupt::asked();
    if interrupted {
        screen::tell("assay: interrupted; --resume continues. The results so far:");
    }
    if arguments.peers && !interrupted {
        screen::tell("running Google Benchmark and hyperfine");
        let (asked, skipped) = peers::ask(&arguments.folder, &pairs, arguments.k)?;
        trials.extend(asked);
        for reason in skipped {
            screen::tell(&format!("skipped {reason}"));
        }
    }
    let tally = OutcomeTally::of(&trials);
    if let Some(file) = &arguments.json {
        screen::write(file, &serde_json::to_string_pretty(&trials_json(&trials))?)?;
    }
    screen::print(&table(&trials, &tally));
    let shortcomings = tally.shortcomings(ASSAY);
    for text in &shortcomings {
        screen::print(&format!("aim missed: {text}\n"));
    }
    for text in &failed {
        screen::tell(&format!("not measured: {text}"));
    }
    Ok(if shortcomings.is_empty() && failed.is_empty() && !interrupted { DONE } else { FAILED })
}

/// One measurement of one pair.
struct CalibrationRun<'a> {
    pair: &'a KnownPair,
    compiler: String,
    /// What it is asked for as; nothing where the build chooses it.
    asked: Option<String>,
    seed: u64,
}

/// All measurements, in order, and why a compiler is not among them.
fn planned<'a>(
    arguments: &CalibrateArguments,
    pairs: &'a [KnownPair],
) -> Result<(Vec<CalibrationRun<'a>>, Vec<String>)> {
    let mut found: BTreeMap<(bool, Option<String>), Vec<Compiler>> = BTreeMap::new();
    let mut skipped = Vec::new();
    let mut runs = Vec::new();
    for k in 0..arguments.k {
        for pair in pairs {
            let experiment = pair.outline()?;
            let own = experiment.program.build.is_some();
            let globs = match arguments.compilers.is_empty() {
                true => experiment.compilers.clone(),
                false => arguments.compilers.clone(),
            };
            // A build of its own chooses one itself where none is asked for.
            let globs =
                if globs.is_empty() && own { vec![None] } else { globs.into_iter().map(Some).collect() };
            for glob in globs {
                let compilers = found.entry((own, glob.clone())).or_insert_with(|| {
                    let patterns = glob.as_slice();
                    find_toolchains(&experiment.program, &pair.folder, patterns).unwrap_or_else(|error| {
                        skipped.push(format!("{}: {error}", glob.as_deref().unwrap_or(&pair.name)));
                        Vec::new()
                    })
                });
                let seed = arguments.seed + u64::from(k);
                runs.extend(compilers.iter().map(|compiler| CalibrationRun {
                    pair,
                    compiler: compiler.name.clone(),
                    asked: if own { glob.clone() } else { Some(compiler.name.clone()) },
                    seed,
                }));
            }
        }
    }
    if runs.is_empty() {
        return Err(Misuse(skipped.join("\n")).into());
    }
    Ok((runs, skipped))
}

const ASSAY: &str = "assay";
const AS_BUILT: &str = "as built";

/// How far all is.
#[derive(Default)]
struct CalibrationProgress {
    total: usize,
    done: usize,
    /// Of these, campaigns that were measured before: they tell nothing of the time that others take.
    kept: usize,
    /// The time of those that were measured now.
    measured: Duration,
}

impl CalibrationProgress {
    fn say(&self, run: &CalibrationRun) {
        let measured = self.done - self.kept;
        let left = match measured {
            0 => String::new(),
            _ => {
                let seconds = self.measured.as_secs_f64() / measured as f64 * (self.total - self.done) as f64;
                format!(", about {} left", words::duration(seconds))
            }
        };
        screen::tell(&format!(
            "{} of {}: {}, {}{left}",
            self.done + 1,
            self.total,
            run.pair.name,
            run.compiler
        ));
    }
}

/// What one campaign said of its pair.
struct PairTrials {
    trials: Vec<Trial>,
    /// It was measured before.
    kept: bool,
}

fn measure(arguments: &CalibrateArguments, run: &CalibrationRun) -> Result<PairTrials> {
    let (pair, store) = (run.pair, arguments.places.store());
    mark::claim(&store)?;
    let asked = CampaignRequest {
        experiment: pair.experiment(&store.join("kernels"))?,
        ledger: arguments.places.ledger.clone(),
        store,
        quick: false,
        resume: Resume::several(arguments.resume),
        cpu: None,
        patience: Duration::from_secs(20),
        budget: arguments.budget,
        inputs: Vec::new(),
        compilers: run.asked.iter().cloned().collect(),
        seed: Some(run.seed),
        one_of: 1,
        measured_only: arguments.no_proof,
        examine: false,
        source: campaign::CountingSource::Best,
        predictors: Vec::new(),
    };
    let context = || format!("{}, {}", pair.name, run.compiler);
    let ended = campaign::run(&asked, &mut |_| {}).with_context(context)?;
    if ended.interrupted {
        bail!("{}: interrupted", context());
    }
    let page = compose::page(&Ledger::open(&asked.ledger)?, ended.campaign).with_context(context)?;
    let mut trials = Vec::new();
    for (input, truth) in &pair.inputs {
        let contrast = page.contrasts.iter().find(|contrast| &contrast.input == input);
        // A program that crashed is not a verdict that was withheld.
        if let (None, Some(failure)) = (contrast, page.failures.first()) {
            bail!("{}: {}: {}", context(), failure.what, failure.reason);
        }
        for tool in [ASSAY, AS_BUILT] {
            let (said, difference) = match tool {
                ASSAY => (
                    contrast.map_or(Verdict::Undecided, |contrast| contrast.verdict),
                    contrast.and_then(|c| c.code),
                ),
                _ => (
                    contrast.map_or(Verdict::Undecided, |c| by_link(c, &page)),
                    contrast.and_then(|c| c.as_built),
                ),
            };
            let proven = tool == ASSAY && contrast.is_some_and(|contrast| contrast.proven);
            trials.push(Trial {
                tool: tool.into(),
                compiler: run.compiler.clone(),
                proven,
                what: format!("{} {input}", pair.name),
                kind: pair.kind,
                change: pair.change.clone(),
                truth: truth.clone(),
                said,
                difference: difference.map(|effect| effect.ratio - 1.0),
                twin: (tool == ASSAY && !proven).then_some(page.twin_control.verdict),
            });
        }
    }
    Ok(PairTrials { trials, kept: ended.kept })
}

/// What the same rule says of the as-built link alone.
fn by_link(contrast: &PageContrast, page: &Page) -> Verdict {
    let Some(effect) = contrast.as_built else { return Verdict::Undecided };
    let interval = Interval { lower: effect.lower.ln(), upper: effect.upper.ln() };
    decide(effect.ratio.ln(), interval, Margin::of(page.campaign.minimum_effect))
}

fn trials_json(trials: &[Trial]) -> Vec<serde_json::Value> {
    trials
        .iter()
        .map(|trial| {
            json!({
                "tool": trial.tool,
                "compiler": trial.compiler,
                "proven": trial.proven,
                "what": trial.what,
                "change": trial.change,
                "class": tally::class(trial.kind, &trial.truth),
                "truth": trial.truth.verdict,
                "nominal_effect": trial.truth.nominal_effect,
                "said": trial.said,
                "outcome": tally::outcome(trial.truth.verdict, trial.said),
                "difference": trial.difference,
                "twin": trial.twin,
            })
        })
        .collect()
}

/// A count with the interval of its share, in per cent: `3 (1.6-12.9)`.
fn counted(count: u32, total: u32) -> String {
    let (low, high) = wilson(u64::from(count), u64::from(total));
    format!("{count} ({:.1}-{:.1})", low * 100.0, high * 100.0)
}

fn table(trials: &[Trial], tally: &OutcomeTally) -> String {
    let any_proven = trials.iter().any(|trial| trial.proven);
    let proven = |text: String| if any_proven { format!(" {text:>6}") } else { String::new() };
    let mut text = format!(
        "{:<20} {:<16} {:<8} {:>5} {:>15}{} {:>14} {:>14} {:>14} {:>10} {:>16}\n",
        "truth",
        "tool",
        "compiler",
        "pairs",
        "right",
        proven("proven".into()),
        "undecided",
        "missed",
        "false",
        "wrong sign",
        "twin decided"
    );
    for class in CLASSES {
        let mut rows = tally.rows(class);
        rows.sort_by_key(|(tool, _)| *tool != ASSAY);
        for (index, (tool, compiler)) in rows.into_iter().enumerate() {
            let total = tally.total(tool, Some(compiler), class);
            let count = |outcome| tally.count(tool, Some(compiler), class, outcome);
            // What cannot happen to a class is not counted in it.
            let counted = |outcome, possible: bool| match possible {
                true => counted(count(outcome), total),
                false => "-".into(),
            };
            let same = CLASSES[..2].contains(&class);
            text.push_str(&format!(
                "{:<20} {tool:<16} {compiler:<8} {total:>5} {:>15}{} {:>14} {:>14} {:>14} {:>10} {:>16}\n",
                if index == 0 { class } else { "" },
                counted(TruthOutcome::Right, true),
                proven(tally.proven(tool, compiler, class).to_string()),
                counted(TruthOutcome::Undecided, true),
                counted(TruthOutcome::Missed, !same),
                counted(TruthOutcome::False, same),
                if same { "-".into() } else { count(TruthOutcome::WrongSign).to_string() },
                twin_decided(tally.twins(tool, compiler, class)),
            ));
        }
    }
    text.push_str(
        "\nmissed: a real difference called equivalent; false: the same work called different\n\
         twin decided: of the campaigns that times decide, those whose twin control reached a verdict\n\
         in brackets: the 95 % interval of the share, in % (Wilson)\n",
    );
    text + &wrong_verdicts(trials)
}

fn twin_decided(count: TwinCount) -> String {
    if count.of == 0 { "-".into() } else { counted(count.decided, count.of) }
}

fn wrong_verdicts(trials: &[Trial]) -> String {
    let wrong: Vec<String> = trials
        .iter()
        .filter(|trial| trial.tool == ASSAY)
        .filter(|trial| tally::outcome(trial.truth.verdict, trial.said) > TruthOutcome::Undecided)
        .map(|trial| {
            let difference =
                trial.difference.map_or(String::new(), |value| format!(" ({:+.1} %)", value * 100.0));
            format!(
                "  {}, {}: truth {}, verdict {}{difference}\n",
                trial.what,
                trial.compiler,
                trial.truth.verdict.word(),
                trial.said.word()
            )
        })
        .collect();
    match wrong.is_empty() {
        true => String::new(),
        false => format!("\nwrong verdicts of assay:\n{}", wrong.concat()),
    }
}
