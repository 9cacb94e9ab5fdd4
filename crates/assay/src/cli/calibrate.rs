//! `assay calibrate`: the lab tried on pairs whose truth is known, beside other tools.

use super::help::OUTPUT;
use super::run::StoragePaths;
use super::{DONE, FAILED, screen};
use anyhow::{Context, Result};
use assay_lab::calibrate::tally::{self, CLASSES};
use assay_lab::calibrate::{KnownPair, OutcomeTally, Said, Trial, TruthOutcome, peers, read_pairs};
use assay_lab::campaign::{self, CampaignRequest, compose};
use assay_lab::store::Ledger;
use assay_pure::stats::interval::Interval;
use assay_pure::stats::margin::Margin;
use assay_pure::verdict::decide::decide;
use assay_pure::words;
use assay_report::page::{Page, PageContrast};
use serde_json::json;
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
    /// Time to measure a pair once, instead of the file's budget
    #[arg(long, value_name = "SECONDS")]
    pub budget: Option<f64>,
    /// Compare with the verdicts of Google Benchmark and hyperfine
    #[arg(long)]
    pub peers: bool,
    /// First seed; each further measurement of a pair takes the next one
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
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
    let pairs = read_pairs(&arguments.folder, &arguments.pairs)?;
    let begun = Instant::now();
    let mut trials = Vec::new();
    let total = pairs.len() as u32 * arguments.k;
    'all: for k in 0..arguments.k {
        for (index, pair) in pairs.iter().enumerate() {
            if assay_linux::interrupt::asked() {
                screen::tell("assay: interrupted; the results so far:");
                break 'all;
            }
            let done = k * pairs.len() as u32 + index as u32;
            say_progress(done, total, begun, pair);
            trials.extend(measure(arguments, pair, arguments.seed + u64::from(k))?);
        }
    }
    if arguments.peers {
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
    Ok(if shortcomings.is_empty() { DONE } else { FAILED })
}

const ASSAY: &str = "assay";
const AS_BUILT: &str = "as built";

fn say_progress(done: u32, total: u32, begun: Instant, pair: &KnownPair) {
    let left = match done {
        0 => String::new(),
        _ => {
            let seconds = begun.elapsed().as_secs_f64() / f64::from(done) * f64::from(total - done);
            format!(", about {} left", words::duration(seconds))
        }
    };
    screen::tell(&format!("{} of {total}: {}{left}", done + 1, pair.name));
}

fn measure(arguments: &CalibrateArguments, pair: &KnownPair, seed: u64) -> Result<Vec<Trial>> {
    let asked = CampaignRequest {
        experiment: pair.experiment(),
        ledger: arguments.places.ledger.clone(),
        store: arguments.places.store(),
        quick: false,
        resume: false,
        cpu: None,
        patience: Duration::from_secs(20),
        budget: arguments.budget,
        inputs: Vec::new(),
        compilers: Vec::new(),
        seed: Some(seed),
    };
    let context = || format!("measuring {}", pair.name);
    let ended = campaign::run(&asked, &mut |_| {}).with_context(context)?;
    let page = compose::page(&Ledger::open(&asked.ledger)?, ended.campaign).with_context(context)?;
    let mut trials = Vec::new();
    for (input, truth) in &pair.inputs {
        let contrast = page.contrasts.iter().find(|contrast| &contrast.input == input);
        for tool in [ASSAY, AS_BUILT] {
            let (said, difference) = match tool {
                ASSAY => (contrast.map_or(Said::Undecided, by_code), contrast.and_then(|c| c.code)),
                _ => (
                    contrast.map_or(Said::Undecided, |c| by_link(c, &page)),
                    contrast.and_then(|c| c.as_built),
                ),
            };
            trials.push(Trial {
                tool: tool.into(),
                what: format!("{} {input}", pair.name),
                kind: pair.kind,
                truth: truth.clone(),
                said,
                difference: difference.map(|effect| effect.ratio - 1.0),
            });
        }
    }
    Ok(trials)
}

fn by_code(contrast: &PageContrast) -> Said {
    use assay_report::page::Verdict;
    match contrast.verdict {
        Verdict::Faster => Said::Faster,
        Verdict::Slower => Said::Slower,
        Verdict::Equivalent => Said::Same,
        Verdict::Inconclusive => Said::Undecided,
    }
}

/// What the same rule says of the as-built link alone.
fn by_link(contrast: &PageContrast, page: &Page) -> Said {
    use assay_pure::verdict::Verdict;
    let Some(effect) = contrast.as_built else { return Said::Undecided };
    let interval = Interval { lower: effect.lower.ln(), upper: effect.upper.ln() };
    match decide(effect.ratio.ln(), interval, Margin::of(page.campaign.minimum_effect)) {
        Verdict::Slower => Said::Slower,
        Verdict::Faster => Said::Faster,
        Verdict::Equivalent => Said::Same,
        Verdict::Inconclusive => Said::Undecided,
    }
}

fn trials_json(trials: &[Trial]) -> Vec<serde_json::Value> {
    let word = |said| match said {
        Said::Faster => "faster",
        Said::Slower => "slower",
        Said::Same => "same",
        Said::Undecided => "undecided",
    };
    trials
        .iter()
        .map(|trial| {
            json!({
                "tool": trial.tool,
                "what": trial.what,
                "class": tally::class(trial.kind, &trial.truth),
                "truth": trial.truth.verdict,
                "nominal_effect": trial.truth.nominal_effect,
                "said": word(trial.said),
                "outcome": format!("{:?}", tally::outcome(&trial.truth.verdict, trial.said)),
                "difference": trial.difference,
            })
        })
        .collect()
}

fn table(trials: &[Trial], tally: &OutcomeTally) -> String {
    let mut tools: Vec<&str> = Vec::new();
    for trial in trials {
        if !tools.contains(&trial.tool.as_str()) {
            tools.push(&trial.tool);
        }
    }
    let mut text = format!(
        "{:<22} {:<18} {:>6} {:>6} {:>10} {:>7} {:>6} {:>11}\n",
        "truth", "tool", "trials", "right", "undecided", "missed", "false", "wrong sign"
    );
    for class in CLASSES {
        for (index, tool) in tools.iter().enumerate() {
            let count = |outcome| tally.count(tool, class, outcome);
            text.push_str(&format!(
                "{:<22} {tool:<18} {:>6} {:>6} {:>10} {:>7} {:>6} {:>11}\n",
                if index == 0 { class } else { "" },
                tally.total(tool, class),
                count(TruthOutcome::Right),
                count(TruthOutcome::Undecided),
                count(TruthOutcome::Missed),
                count(TruthOutcome::False),
                count(TruthOutcome::WrongSign),
            ));
        }
    }
    text.push_str("\nfalse: identical code called different; missed: a real difference called none\n");
    let wrong: Vec<String> = trials
        .iter()
        .filter(|trial| trial.tool == ASSAY)
        .filter(|trial| tally::outcome(&trial.truth.verdict, trial.said) > TruthOutcome::Undecided)
        .map(|trial| {
            let difference =
                trial.difference.map_or(String::new(), |value| format!(" ({:+.1} %)", value * 100.0));
            format!("  {}: truth {}, verdict {:?}{difference}\n", trial.what, trial.truth.verdict, trial.said)
        })
        .collect();
    if !wrong.is_empty() {
        text.push_str("\nwrong verdicts of assay:\n");
        text.extend(wrong);
    }
    text
}
