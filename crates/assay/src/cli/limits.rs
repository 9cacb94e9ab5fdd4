//! `assay limits`: how fast this machine can be at all, measured once and kept.

use super::help::OUTPUT;
use super::picture::PictureArguments;
use super::{DONE, screen};
use anyhow::Result;
use assay_lab::lead::{Misuse, Unable, measuring_cpu, turn};
use assay_lab::limits::kept::{self, KeptLimits};
use assay_lab::limits::machine_of;
use assay_lab::limits::measure::{MeasureProgress, measure};
use assay_linux::machine::Machine as Facts;
use assay_pure::event::Event;
use assay_pure::limits::Limits;
use assay_pure::words;
use assay_report::limits::{Told, render_limits};
use assay_report::{Progress, Show, picture};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Measure the machine's limits: bandwidth, latency, cost of calls
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/limits.txt"))]
pub struct LimitsArguments {
    /// Measure again and replace the stored limits
    #[arg(long)]
    pub again: bool,
    /// Measure fewer sizes less often: about 10 s
    #[arg(long)]
    pub quick: bool,
    /// CPU to measure on; default: the last one allowed
    #[arg(long, value_name = "N")]
    pub cpu: Option<usize>,
    /// Show every working set and access pattern
    #[arg(long, help_heading = OUTPUT)]
    pub all: bool,
    /// Write the limits as JSON (schema/limits-1.schema.json); - is standard output
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub pictures: PictureArguments,
}

/// Runs the verb.
///
/// # Errors
/// A kept file that cannot be used, a processor that cannot be had, a file that cannot be written, Ctrl-C.
pub fn run(arguments: &LimitsArguments) -> Result<u8> {
    if let Some(file) = &arguments.json {
        screen::find_place(file, &[])?;
    }
    arguments.pictures.check(arguments.json.as_deref())?;
    // Before this process keeps off the measuring processor, which would then be missing from the facts.
    let facts = assay_linux::machine::facts();
    let machine = machine_of(&facts);
    let file = kept::path(&machine).map_err(|error| Misuse(error.to_string()))?;
    let found = if arguments.again { KeptLimits::Nothing { others: 0 } } else { kept::find(&file, &machine) };
    let found = match found {
        KeptLimits::Kept(limits) if limits.lacks_a_figure() => {
            screen::tell(
                "assay: the stored limits do not say what the branch predictor memorises; measuring them again",
            );
            KeptLimits::Nothing { others: 0 }
        }
        found => found,
    };
    let (limits, told) = match found {
        KeptLimits::Kept(limits) => {
            other_core(arguments.cpu, limits.cpu)?;
            let told = Told { changes: limits.machine.changes(&machine), ..told(&file, Some(&limits)) };
            (*limits, told)
        }
        KeptLimits::Unusable(why) => {
            return Err(Misuse(format!("{why}; `assay limits --again` measures and replaces it")).into());
        }
        KeptLimits::Nothing { others } => {
            if others > 0 {
                let text = "assay: no limits of this machine are stored yet; measuring them takes less than a minute";
                screen::tell(text);
            }
            let mut limits = measured(arguments, &facts)?;
            if let KeptLimits::Kept(before) = kept::find(&file, &machine) {
                kept::recall_width(&mut limits, &before);
            }
            kept::put(&file, &limits)?;
            let told = told(&file, None);
            (limits, told)
        }
    };
    if let Some(json) = &arguments.json {
        screen::write(json, &limits.to_json())?;
    }
    arguments.pictures.write(|| picture::of_limits(&limits))?;
    if !arguments.json.as_deref().is_some_and(screen::is_stdout) {
        screen::show(&render_limits(&limits, &told, screen::width(), screen::colour(), arguments.all));
    }
    Ok(DONE)
}

/// Says that what is kept is of another core than the one that was asked for.
fn other_core(asked: Option<usize>, kept: u64) -> Result<()> {
    let Some(asked) = asked else { return Ok(()) };
    let asked = measuring_cpu(Some(asked))?;
    if asked as u64 != kept {
        screen::tell(&format!(
            "assay: these are the stored limits of CPU {kept}; `assay limits --again --cpu {asked}` measures CPU {asked}"
        ));
    }
    Ok(())
}

/// Where it is kept, and how old it is if it was not measured just now.
fn told(file: &Path, kept: Option<&Limits>) -> Told {
    let age = |limits: &Limits| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        (now - limits.measured_at).max(0.0)
    };
    Told { file: file.display().to_string(), age_seconds: kept.map(age), changes: Vec::new() }
}

fn measured(arguments: &LimitsArguments, facts: &Facts) -> Result<Limits> {
    let cpu = measuring_cpu(arguments.cpu)?;
    assay_linux::interrupt::catch();
    let mut progress = Progress::new(Show::choose(false, std::io::stderr().is_terminal()));
    progress.event(&Event::Phase { name: "limits".into() });
    let turn = turn::take(cpu, &mut |event| progress.event(&event))?;
    progress.event(&Event::Finished);
    let Some(_turn) = turn else { anyhow::bail!("interrupted: nothing was measured") };
    let mut view = LimitsView::new();
    let limits = measure(cpu, arguments.quick, facts, &mut |progress| view.show(progress));
    view.end();
    limits.map_err(
        |error| if assay_linux::interrupt::asked() { error } else { Unable(format!("{error:#}")).into() },
    )
}

/// Redraws of the bar per second at most.
const REDRAWS_PER_SECOND: u8 = 4;
/// Between two plain lines.
const LINES: Duration = Duration::from_secs(5);
/// Below this part nothing is said of the remaining time.
const KNOWN_FROM: f64 = 0.1;

/// A bar on a terminal, a line now and then elsewhere.
struct LimitsView {
    began: Instant,
    bar: Option<ProgressBar>,
    last: Option<Instant>,
}

impl LimitsView {
    fn new() -> LimitsView {
        let bar = std::io::stderr().is_terminal().then(|| {
            let target = ProgressDrawTarget::stderr_with_hz(REDRAWS_PER_SECOND);
            let style = ProgressStyle::with_template("{wide_bar} {percent:>3} % {msg}");
            ProgressBar::with_draw_target(Some(1000), target)
                .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        LimitsView { began: Instant::now(), bar, last: None }
    }

    fn show(&mut self, progress: &MeasureProgress) {
        let text = line(progress, self.began.elapsed().as_secs_f64());
        match &self.bar {
            Some(bar) => {
                bar.set_message(text);
                bar.set_position((1000.0 * progress.done) as u64);
            }
            None if self.last.is_none_or(|last| last.elapsed() >= LINES) => {
                screen::tell(&format!("assay: {:.0} %, {text}", 100.0 * progress.done));
                self.last = Some(Instant::now());
            }
            None => {}
        }
    }

    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// "load latency, 4 KiB; about 20 s left".
fn line(progress: &MeasureProgress, elapsed_seconds: f64) -> String {
    if progress.done < KNOWN_FROM {
        return progress.what.clone();
    }
    let left = elapsed_seconds * (1.0 - progress.done) / progress.done;
    format!("{}; about {} left", progress.what, words::duration(left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remaining_time_is_told_once_it_is_known() {
        let progress = |done: f64| MeasureProgress { what: "bandwidth".to_owned(), done };
        assert_eq!(line(&progress(0.05), 1.0), "bandwidth");
        assert_eq!(line(&progress(0.25), 10.0), "bandwidth; about 30 s left");
    }
}
