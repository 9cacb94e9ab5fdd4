//! `assay sweep`: a number of an input varied over a range.

use super::run::{Places, positive};
use super::{DONE, FAILED, UNABLE, screen};
use anyhow::Result;
use assay_lab::campaign::Asked;
use assay_lab::lead::Misuse;
use assay_lab::store::Ledger;
use assay_lab::sweep::{self, AdHoc, AskedSweep, compose, preview};
use assay_report::page::FailureKind;
use assay_report::sweep::page::Stopped;
use assay_report::sweep::{SweepPage, columns, render_preview, render_sweep};
use assay_report::{Detail, Progress, Show};
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::Duration;

/// Vary a number of an input over a range: who wins where, where the winner flips, where a time steps
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "Examples:\n  \
    assay sweep casebook/varint/sweeps.toml\n  \
    assay sweep casebook/varint/sweeps.toml share --variant bmi2\n  \
    assay sweep experiment.toml --key inputs.mixed.units --from 1k --to 1M --scale geometric\n  \
    assay sweep experiment.toml --key inputs.mixed.weights.1 --from 0 --to 80 --csv sweep.csv\n  \
    assay sweep experiment.toml --plan\n  \
    assay sweep --show last\n\n\
    In a file: [sweeps.NAME] with key, from, to, points, scale, refine, tolerance, values, variants.\n\
    What can be swept is any number of an input: units, multi_byte, distinct_units, mean_length, weights.0 (numbers of a\n\
    list count from 0), settings.NAME. The first step measures the points of the range; the next ones go where two variants\n\
    cross, until the crossover is as narrow as --tolerance, and where a time bends. Every step is a campaign in the ledger.\n\n\
    The interval of a crossover is the gap between the last point clearly on the one side and the first clearly on the\n\
    other: no curve is fitted, so it holds for a jump as well.\n\n\
    Exit codes: 0 done, 1 a cell failed, 2 misuse, 3 nothing could be measured.")]
pub struct Arguments {
    /// The experiment file
    #[arg(required_unless_present = "show")]
    pub experiment: Option<PathBuf>,
    /// Sweeps of the file; all of them if none is named
    pub names: Vec<String>,
    /// A key to vary, instead of the file's sweeps
    #[arg(long, value_name = "PATH", requires = "from", requires = "to", conflicts_with = "names")]
    pub key: Option<String>,
    /// Its smallest value: 1000, 1k, 64Ki, '5 %'
    #[arg(long, value_name = "VALUE", requires = "key")]
    pub from: Option<String>,
    /// Its largest value
    #[arg(long, value_name = "VALUE", requires = "key")]
    pub to: Option<String>,
    /// Points of the first step
    #[arg(long, value_name = "N", requires = "key")]
    pub points: Option<u32>,
    /// Points at equal differences or at equal ratios
    #[arg(long, value_name = "SCALE", requires = "key", value_parser = ["linear", "geometric"])]
    pub scale: Option<String>,
    /// Wanted width of a crossover: a number in the key's unit, or '5 %' of its value
    #[arg(long, value_name = "WIDTH", requires = "key")]
    pub tolerance: Option<String>,
    /// Further points at most, instead of the file's
    #[arg(long, value_name = "N")]
    pub refine: Option<u32>,
    /// Seconds of measuring for all steps of a sweep, instead of the file's budget
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    pub budget: Option<f64>,
    /// Only these variants (globs) beside the baseline
    #[arg(long = "variant", value_name = "GLOB")]
    pub variants: Vec<String>,
    /// Only these compilers (names or globs), instead of the file's
    #[arg(long = "compiler", value_name = "NAME")]
    pub compilers: Vec<String>,
    /// Every two variants against each other, not only against the baseline
    #[arg(long)]
    pub all: bool,
    /// Show what would be measured and how long; builds and measures nothing
    #[arg(long)]
    pub plan: bool,
    /// Go on with the newest unfinished sweep
    #[arg(long)]
    pub resume: bool,
    /// Show a sweep again from the ledger, by its number or `last`; measures nothing
    #[arg(long, value_name = "SWEEP", conflicts_with_all = ["experiment", "resume", "plan", "key"])]
    pub show: Option<String>,
    /// Write the pages as JSON (schema/sweep-2.schema.json), one document per sweep; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the points as comma-separated values, for a spreadsheet or gnuplot; - is standard output
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// No progress
    #[arg(long, short)]
    pub quiet: bool,
    /// Seed of the plan: orders, shuffles, environments
    #[arg(long)]
    pub seed: Option<u64>,
    /// The processor to measure on; the last one allowed if not given
    #[arg(long)]
    pub cpu: Option<usize>,
    /// Seconds a measured program may take for one reply
    #[arg(long, default_value_t = 20.0, value_parser = positive)]
    pub timeout: f64,
    #[command(flatten)]
    pub places: Places,
}

impl Arguments {
    fn asked(&self) -> AskedSweep {
        AskedSweep {
            campaign: Asked {
                experiment: self.experiment.clone().unwrap_or_default(),
                ledger: self.places.ledger.clone(),
                store: self.places.store(),
                quick: false,
                resume: self.resume,
                cpu: self.cpu,
                patience: Duration::from_secs_f64(self.timeout),
                budget: self.budget,
                inputs: Vec::new(),
                compilers: self.compilers.clone(),
                seed: self.seed,
            },
            names: self.names.clone(),
            ad_hoc: self.ad_hoc(),
            refine: self.refine,
            variants: self.variants.clone(),
            every_pair: self.all,
        }
    }

    /// The sweep that the options describe, as the lines of a file.
    fn ad_hoc(&self) -> Option<AdHoc> {
        let text = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        let key = self.key.as_deref()?;
        let mut keys = vec![("key", text(key))];
        let given =
            [("from", &self.from), ("to", &self.to), ("scale", &self.scale), ("tolerance", &self.tolerance)];
        keys.extend(given.iter().filter_map(|(name, value)| Some((*name, text(value.as_deref()?)))));
        keys.extend(self.points.map(|points| ("points", points.to_string())));
        Some(AdHoc { keys })
    }
}

/// Runs the verb.
///
/// # Errors
/// See [`sweep::run`].
pub fn run(arguments: &Arguments) -> Result<u8> {
    for path in [&arguments.json, &arguments.csv].into_iter().flatten() {
        // Said before minutes of measuring, not after them.
        screen::find_place(path)?;
    }
    if let Some(wanted) = &arguments.show {
        let (ledger, sweep) = find(arguments, wanted)?;
        return show(arguments, &[compose::page(&ledger, sweep)?]);
    }
    let asked = arguments.asked();
    if arguments.plan {
        return plan(arguments, &asked);
    }
    assay_linux::interrupt::catch();
    let mut progress = Progress::new(Show::choose(arguments.quiet, std::io::stderr().is_terminal()));
    let ended = sweep::run(&asked, &mut |event| progress.event(&event))?;
    drop(progress);
    let ledger = Ledger::open(&asked.campaign.ledger)?;
    let mut pages = Vec::new();
    for one in &ended {
        let began = !ledger.sweep_steps(one.sweep)?.is_empty();
        pages.extend(began.then(|| compose::page(&ledger, one.sweep)).transpose()?);
    }
    let code = show(arguments, &pages)?;
    if ended.iter().any(|one| one.interrupted) {
        screen::tell("assay: interrupted; every finished round is kept. `--resume` goes on from there.");
        return Ok(FAILED);
    }
    Ok(code)
}

/// The sweep that `--show` means.
fn find(arguments: &Arguments, wanted: &str) -> Result<(Ledger, i64)> {
    let path = arguments.places.find_ledger("assay sweep FILE")?;
    let ledger = Ledger::open(path)?;
    let known = ledger.sweeps()?;
    let number = match wanted {
        "last" => known.first().map(|sweep| sweep.id),
        _ => wanted.parse().ok().filter(|id| known.iter().any(|sweep| sweep.id == *id)),
    };
    let Some(number) = number else {
        let list: Vec<String> = known.iter().map(|sweep| format!("{} ({})", sweep.id, sweep.name)).collect();
        let list = if list.is_empty() { "none".to_owned() } else { list.join(", ") };
        return Err(Misuse(format!("no sweep {wanted} in {}; it has: {list}", path.display())).into());
    };
    Ok((ledger, number))
}

fn plan(arguments: &Arguments, asked: &AskedSweep) -> Result<u8> {
    let previews = preview::previews(asked)?;
    if let Some(path) = &arguments.json {
        screen::write(path, &format!("{}\n", serde_json::to_string_pretty(&previews)?))?;
        return Ok(DONE);
    }
    let texts: Vec<String> =
        previews.iter().map(|preview| render_preview(preview, screen::width(), screen::colour())).collect();
    screen::print(&texts.join("\n"));
    Ok(DONE)
}

/// Prints and writes the pages; 1 if a cell failed, 3 if nothing could be measured.
fn show(arguments: &Arguments, pages: &[SweepPage]) -> Result<u8> {
    let detail = if arguments.all { Detail::Full } else { Detail::Brief };
    let to_screen = |path: &Option<PathBuf>| path.as_ref().is_some_and(|path| path.as_os_str() == "-");
    if !to_screen(&arguments.json) && !to_screen(&arguments.csv) {
        let texts: Vec<String> =
            pages.iter().map(|page| render_sweep(page, screen::width(), screen::colour(), detail)).collect();
        screen::print(&texts.join("\n"));
    }
    if let Some(path) = &arguments.json {
        screen::write(path, &pages.iter().map(SweepPage::to_json).collect::<String>())?;
    }
    if let Some(path) = &arguments.csv {
        screen::write(path, &pages.iter().map(columns).collect::<Vec<_>>().join("\n"))?;
    }
    let failed =
        pages.iter().flat_map(|page| &page.failures).any(|failure| failure.kind == FailureKind::Failed);
    let nothing = pages.iter().any(|page| page.measured.stopped_because == Some(Stopped::Nothing));
    Ok(match (nothing, failed) {
        (true, _) => UNABLE,
        (false, true) => FAILED,
        (false, false) => DONE,
    })
}
