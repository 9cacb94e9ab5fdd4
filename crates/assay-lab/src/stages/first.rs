//! Every command once, as built: does it work, how much does it do, how long does it take, what of the build does it use?

use super::build::BuiltEntrant;
use assay_link::adopt::bench::{self, Adapter, BenchCommand, Surroundings, Unit, VisitError};
use assay_link::adopt::capture::CapturedLink;
use assay_pure::stages::Diary;
use assay_pure::stages::file::{Task, TimeReading, Units};
use assay_pure::words;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A task that can be run again and again.
#[derive(Clone, Debug)]
pub struct Runnable {
    /// The role's number.
    pub role: usize,
    /// The command.
    pub bench: BenchCommand,
    /// Units that it does.
    pub units: f64,
    /// Its figure is the time of one unit, not of all.
    pub per_unit: bool,
}

impl Runnable {
    /// Runs it: nanoseconds per unit, one value per repetition, and what the run was.
    ///
    /// # Errors
    /// It fails, or its figure is no time.
    pub fn visit(
        &self,
        surroundings: &Surroundings,
        scratch: &Path,
    ) -> Result<(Vec<f64>, bench::BenchRun), VisitError> {
        let visit = bench::visit(&self.bench, surroundings, scratch)?;
        let scale = |unit: &Unit| match unit {
            Unit::Ns { per } if self.per_unit || !["iteration", "command"].contains(&per.as_str()) => 1.0,
            _ => 1.0 / self.units,
        };
        let values = visit.figures.iter().flat_map(|figure| {
            let scale = scale(&figure.unit);
            figure.values.iter().map(move |value| value * scale)
        });
        Ok((values.collect(), visit))
    }
}

/// What a first run showed.
pub struct FirstRun {
    /// What was run, with placeholders filled.
    pub command: String,
    /// What can be run again, or why not.
    pub found: Result<Runnable, String>,
    /// How long it took.
    pub seconds: f64,
    /// Files of the build that it used.
    pub opened: Vec<PathBuf>,
    /// Sentences.
    pub notes: Vec<String>,
}

/// How commands are run.
#[derive(Clone, Debug)]
pub struct CommandOptions {
    /// The processor that all is bound to.
    pub cpu: Option<usize>,
    /// How long one command may take.
    pub patience: Duration,
    /// What libraries write.
    pub scratch: PathBuf,
}

/// Surroundings of a run that is not measured.
const PLAIN: Surroundings = Surroundings { environment_bytes: 0, stack_bytes: 0, aslr: true };

/// Runs a task of an entrant for the first time.
pub fn try_out(
    diary: &Diary,
    role: usize,
    task: &Task,
    built: &BuiltEntrant,
    way: &CommandOptions,
) -> FirstRun {
    let command = built.places.fill(&task.command);
    let (adapter, per_unit) = adapter(&task.time);
    let bench = BenchCommand {
        adapter,
        cpu: way.cpu,
        environment: built.environment.clone(),
        watched: built.links.iter().flat_map(files_of).cloned().collect(),
        limit: Some(way.patience),
        ..BenchCommand::new(&command, &built.folder)
    };
    let mut tried =
        FirstRun { command, found: Err(String::new()), seconds: 0.0, opened: Vec::new(), notes: Vec::new() };
    let units = match units(task, &bench, way) {
        Ok(units) => units,
        Err(why) => return FirstRun { found: Err(why), ..tried },
    };
    let runnable = Runnable { role, bench, units, per_unit };
    match runnable.visit(&PLAIN, &way.scratch) {
        Err(error) => tried.found = Err(error.to_string()),
        Ok((_, visit)) if !visit.rewritten.is_empty() => {
            let rebuilt = visit.rewritten[0].display();
            tried.found = Err(format!(
                "the command rebuilds {rebuilt}, which undoes every placement. Give one that only runs what the build has made"
            ));
        }
        Ok((_, visit)) => {
            let unreadable = visit.figures.iter().find_map(|figure| match &figure.unit {
                Unit::Other(unit) => Some(unit.clone()),
                Unit::Ns { .. } => None,
            });
            tried.found = match unreadable {
                Some(unit) => Err(format!(
                    "its figure is in `{unit}`, not a unit of time: the pattern's group `unit` must match ns, us, ms or s"
                )),
                None => Ok(runnable),
            };
            tried.seconds = visit.elapsed.as_secs_f64();
            tried
                .notes
                .extend(tried.found.as_ref().ok().and_then(|runnable| start_up(task, runnable, built, way)));
            tried.opened = visit.opened;
            tried.notes.extend(visit.notes.iter().map(|note| note.trim_end_matches('.').to_owned()));
            let role = &diary.roles[role].name;
            tried.notes.iter_mut().for_each(|note| *note = format!("{role}: {note}"));
        }
    }
    tried
}

/// Part of a command's time in its start-up from which it is told.
const MUCH_START: f64 = 0.2;

/// A sentence where much of what is timed is start-up: it hides what the stages change.
fn start_up(task: &Task, runnable: &Runnable, built: &BuiltEntrant, way: &CommandOptions) -> Option<String> {
    let empty = task.empty_command.as_ref().filter(|_| !matches!(task.time, TimeReading::Pattern { .. }))?;
    let only_start = Runnable {
        bench: BenchCommand { command: built.places.fill(empty), ..runnable.bench.clone() },
        ..runnable.clone()
    };
    let least = |task: &Runnable| -> Option<f64> {
        let times = (0..3).filter_map(|_| Some(task.visit(&PLAIN, &way.scratch).ok()?.0.first()?.to_owned()));
        times.min_by(f64::total_cmp)
    };
    let share = least(&only_start)? / least(runnable)?;
    (share > MUCH_START).then(|| {
        format!(
            "about {} of the measured time is start-up, which no stage changes. Let the command do more, or print its own time \
             (figure = {{ pattern = ... }})",
            words::fraction(share.min(1.0))
        )
    })
}

fn adapter(time: &TimeReading) -> (Adapter, bool) {
    match time {
        TimeReading::Wall => (Adapter::Wall, false),
        TimeReading::Cpu => (Adapter::Cpu, false),
        TimeReading::Pattern { pattern, per_unit } => (pattern_of(pattern), *per_unit),
    }
}

fn pattern_of(pattern: &str) -> Adapter {
    format!("regex:{pattern}").parse().expect("patterns are tried when the file is read")
}

/// How much a command does: as told, or as it prints.
fn units(task: &Task, bench: &BenchCommand, way: &CommandOptions) -> Result<f64, String> {
    let pattern = match &task.units {
        Units::Fixed(units) => return Ok(*units as f64),
        Units::Pattern(pattern) => pattern,
    };
    let asking = BenchCommand { adapter: pattern_of(pattern), ..bench.clone() };
    let visit = bench::visit(&asking, &PLAIN, &way.scratch)
        .map_err(|error| format!("its units are unknown: {error}"))?;
    let value = visit.figures.first().and_then(|figure| figure.values.first());
    value.copied().ok_or_else(|| "its units are unknown: the pattern matched no number above 0".to_owned())
}

/// Where a link's output may be executed from.
pub fn files_of(link: &CapturedLink) -> impl Iterator<Item = &PathBuf> {
    std::iter::once(&link.output).chain(&link.copies)
}
