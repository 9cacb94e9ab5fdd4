//! Leads a comparison through its phases.

use super::bench::{SidePlayer, SidePlayers};
use super::examine::examine;
use super::judge;
use super::left_behind::Workplace;
use super::measure::{self, VerdictProgress, Where};
use super::places::{Binaries, add_limits};
use super::sides::{self, PreparedSide, ReadySides, What};
use super::spec::{Effort, Method, Spec, effort, visits_per_round};
use crate::campaign::compose::machine_json;
use crate::lead::{Lead, Misuse, Question, Unable, measuring_cpu};
use crate::store::{Led, Ledger, NewComparison, SideRow};
use anyhow::{Context, Result, bail};
use assay_link::adopt::bench::{self, Adapter, BenchCommand, BenchRun, FigureError, Surroundings};
use assay_link::adopt::capture::CapturedLink;
use assay_pure::compare::Gate;
use assay_pure::event::Event;
use assay_pure::inputs::digest::digest;
use assay_pure::ledger::Stopped;
use assay_pure::stats::margin::Margin;
use assay_pure::words;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the command line asks for.
#[derive(Clone, Debug)]
pub struct CompareRequest {
    /// What is compared.
    pub what: What,
    /// Where the user is.
    pub folder: PathBuf,
    /// How figures are read; found out if not given.
    pub adapter: Option<Adapter>,
    /// Only benchmarks that this regular expression matches.
    pub filter: Option<String>,
    /// Time of each benchmark in each visit, where the library can be asked.
    pub seconds_per_benchmark: f64,
    /// Repetitions of each benchmark in each visit, where the library can be asked.
    pub repetitions: u32,
    /// The ledger.
    pub ledger: PathBuf,
    /// Where trees, links and binaries are kept.
    pub store: PathBuf,
    /// Shuffles; as many as fit if not given.
    pub rotations: Option<u32>,
    /// Passes over all placements at most.
    pub rounds: Option<u32>,
    /// Seconds of measuring.
    pub budget: f64,
    /// The equivalence margin.
    pub minimum_effect: Margin,
    /// Of all verdicts together.
    pub confidence: f64,
    /// Of orders, shuffles and surroundings.
    pub seed: u64,
    /// The processor to measure on.
    pub cpu: Option<usize>,
    /// Whether the command is bound to that processor.
    pub pin: bool,
    /// When it shall fail a build.
    pub gate: Option<Gate>,
    /// Whether to look at the code that benchmarks execute.
    pub code: bool,
    /// Go on with the newest unfinished comparison of the same question.
    pub resume: bool,
    /// How long one run of the command may take.
    pub patience: Duration,
}

/// A comparison that has come to its end, or was interrupted.
#[derive(Clone, Copy, Debug)]
pub struct EndedComparison {
    /// Its number in the ledger.
    pub comparison: i64,
    /// Somebody asked it to stop.
    pub interrupted: bool,
}

/// Builds, measures, judges.
///
/// # Errors
/// What was asked for makes no sense, a build or the benchmark command fails, the ledger cannot be written.
pub fn run(asked: &CompareRequest, on: &mut dyn FnMut(Event)) -> Result<EndedComparison> {
    let ledger = Ledger::open(&asked.ledger)?;
    let ReadySides { mut sides, mut warnings, unlinked, holds: _holds } =
        sides::prepare(&asked.what, &asked.folder, &asked.store, on)?;
    let cpu = measuring_cpu(asked.cpu)?;
    let work = CompareWorkspace::new(asked, cpu)?;
    on(Event::Phase { name: "first runs".into() });
    let tried = try_out(asked, &work, &sides)?;
    warnings.extend(tried.warnings);
    let (method, why_not) = method(&mut sides, &tried.visits, unlinked);
    let limits: Vec<String> = why_not.into_iter().map(|why| limit(&why)).collect();
    let slowest = tried.visits.iter().map(|visit| visit.elapsed.as_secs_f64()).fold(0.0, f64::max);
    let Effort { rotations, rounds, looks } = affordable(asked, slowest, sides.len() as u32, &tried.adapter)?;
    let mut players = players(asked, &work, &tried.adapter, sides, method)?;
    let spec = Spec {
        build: build_of(&asked.what),
        bench: bench_of(&asked.what),
        adapter: tried.described,
        method,
        minimum_effect: asked.minimum_effect,
        confidence: asked.confidence,
        seed: asked.seed,
        sides: players.0.len() as u32,
        rotations,
        rounds,
        looks,
        budget_seconds: asked.budget,
        gate: asked.gate,
        limits,
        warnings: with_links(warnings, &mut players.1)?,
    };
    let (lead, spec) = begin_or_resume(asked, &ledger, spec, &players.0, cpu, on)?;
    let names: Vec<String> = tried.visits[0].figures.iter().map(|figure| figure.name.clone()).collect();
    let comparison = lead.id;
    put_sides(&ledger, comparison, &players)?;
    if asked.code && players.1.len() == 2 && method == Method::Placements {
        examine(&ledger, comparison, &players.1, &tried.adapter, &names, on)?;
    }
    let look = || -> Result<VerdictProgress> {
        let found = judge::judge(&ledger, comparison, &spec)?.judgement.contrasts;
        Ok(VerdictProgress {
            decided: found.iter().filter(|found| found.decided).count(),
            contrasts: found.len(),
        })
    };
    let mut bench = SidePlayers { sides: players.1, scratch: work.scratch.clone() };
    let at = Where { ledger: &ledger, comparison, cpu };
    let stopped = measure::measure(&spec, &at, &mut bench, &look, on);
    // Put back before anything else can fail.
    drop(bench);
    let stopped = stopped?;
    lead.end(&ledger, stopped)?;
    on(Event::Finished);
    Ok(EndedComparison { comparison, interrupted: stopped == Stopped::Interrupted })
}

/// Folders and the processor of this process's own work.
struct CompareWorkspace {
    scratch: PathBuf,
    place: Workplace,
    cpu: Option<usize>,
}

impl CompareWorkspace {
    fn new(asked: &CompareRequest, cpu: usize) -> Result<CompareWorkspace> {
        let place = Workplace::new(&asked.store)
            .with_context(|| format!("cannot create a folder in {}", asked.store.display()))?;
        Ok(CompareWorkspace { scratch: place.folder().join("scratch"), place, cpu: asked.pin.then_some(cpu) })
    }

    fn bench(&self, asked: &CompareRequest, side: &PreparedSide, adapter: Adapter) -> BenchCommand {
        BenchCommand {
            adapter,
            seconds_per_benchmark: Some(asked.seconds_per_benchmark),
            repetitions: Some(asked.repetitions),
            filter: asked.filter.clone(),
            cpu: self.cpu,
            watched: side.links.iter().flat_map(files_of).cloned().collect(),
            limit: Some(asked.patience),
            ..BenchCommand::new(&side.bench, &side.folder)
        }
    }
}

/// What the first runs showed.
struct FirstRuns {
    adapter: Adapter,
    described: String,
    visits: Vec<BenchRun>,
    warnings: Vec<String>,
}

/// Every side once, as built: does the command work, what reads its figures, which binaries does it use?
fn try_out(asked: &CompareRequest, work: &CompareWorkspace, sides: &[PreparedSide]) -> Result<FirstRuns> {
    let plain = Surroundings { environment_bytes: 0, stack_bytes: 0, aslr: true };
    let mut adapter = asked.adapter.clone();
    let (mut visits, mut warnings) = (Vec::new(), Vec::<String>::new());
    let mut notes: Vec<(&str, String)> = Vec::new();
    for side in sides {
        let failed = |error: bench::VisitError| unusable(asked, side, &error);
        let visit = match &adapter {
            Some(known) => bench::visit(&work.bench(asked, side, known.clone()), &plain, &work.scratch)
                .map_err(failed)?,
            None => {
                let bench = work.bench(asked, side, Adapter::Wall);
                // Who compares commands asks for the time of each as a whole.
                let otherwise = matches!(asked.what, What::Commands(_)).then_some(Adapter::Wall);
                let (detected, visit) =
                    bench::detect(&bench, otherwise, &plain, &work.scratch).map_err(failed)?;
                adapter = Some(detected);
                visit
            }
        };
        if let Some(rebuilt) = visit.rewritten.first() {
            bail!(Misuse(format!(
                "the benchmark command builds {} anew, undoing every placement. Give --bench a command that \
                 only runs what --build has built",
                rebuilt.display()
            )));
        }
        for note in &visit.notes {
            notes.push((side.name.as_str(), note.trim_end_matches('.').to_owned()));
        }
        visits.push(visit);
    }
    for (name, note) in &notes {
        let both =
            sides.len() == 2 && sides.iter().all(|side| notes.contains(&(side.name.as_str(), note.clone())));
        let told = if both { note.clone() } else { format!("{name}: {note}") };
        if !warnings.contains(&told) {
            warnings.push(told);
        }
    }
    let adapter = adapter.expect("there is a side");
    let described = match visits[0].figures.first() {
        Some(figure) => format!("{adapter} ({}, {})", figure.clock, figure.unit),
        None => adapter.to_string(),
    };
    Ok(FirstRuns { adapter, described, visits, warnings })
}

/// Why nothing can be measured, and what that means for the gate.
fn unusable(asked: &CompareRequest, side: &PreparedSide, error: &bench::VisitError) -> anyhow::Error {
    if let bench::VisitError::Unread(unread @ FigureError::Unrecognised { .. }) = error {
        let gate = asked.gate.map(|gate| format!("the gate {gate} is undecided: "));
        return Unable(format!("{}nothing was measured, as {unread}", gate.unwrap_or_default())).into();
    }
    Misuse(format!("the benchmark command fails in {}, as built: {error}", side.name)).into()
}

/// What can be varied: placements, if every side has a link that its benchmark uses; those links are kept, others not.
fn method(
    sides: &mut [PreparedSide],
    visits: &[BenchRun],
    unlinked: Option<String>,
) -> (Method, Option<String>) {
    if let Some(why) = unlinked {
        return (Method::Surroundings, Some(why));
    }
    for (side, visit) in sides.iter_mut().zip(visits) {
        let captured: Vec<String> = side.links.iter().map(|link| link.output.display().to_string()).collect();
        side.links.retain(|link| files_of(link).any(|file| visit.opened.contains(file)));
        if side.links.is_empty() {
            let why = format!(
                "the benchmark command uses none of the binaries that the build of {} linked: {}",
                side.name,
                captured.join(", ")
            );
            return (Method::Surroundings, Some(why));
        }
    }
    (Method::Placements, None)
}

/// Where a link's output may be executed from.
fn files_of(link: &CapturedLink) -> impl Iterator<Item = &PathBuf> {
    std::iter::once(&link.output).chain(&link.copies)
}

fn limit(why: &str) -> String {
    format!(
        "a change of the code from a change of where it was linked: placement was not varied ({why}), only environment, \
         stack and addresses of the process"
    )
}

fn affordable(asked: &CompareRequest, visit_seconds: f64, sides: u32, adapter: &Adapter) -> Result<Effort> {
    let found = effort(asked.budget, visit_seconds, (asked.rotations, asked.rounds), sides);
    found.ok_or_else(|| {
        let rotations = asked.rotations.unwrap_or(super::spec::FEWEST_ROTATIONS);
        let need = visits_per_round(rotations, sides) as f64 * visit_seconds;
        Misuse(format!(
            "one run of the benchmark command takes {}, and {} need {} of them: \
             raise --budget to {:.0} or more, choose fewer benchmarks (--filter), or shorter ones ({})",
            words::duration(visit_seconds),
            words::plural(u64::from(rotations), "rotation"),
            words::count(visits_per_round(rotations, sides)),
            need.ceil(),
            shorter(adapter)
        ))
        .into()
    })
}

/// How the benchmarks of a library are made shorter.
fn shorter(adapter: &Adapter) -> &'static str {
    match adapter {
        Adapter::GoogleBenchmark | Adapter::Divan => "--seconds-per-benchmark",
        Adapter::Criterion => {
            "criterion takes this from its own options only, at the end of the benchmark command: -- --warm-up-time 0.05 \
             --measurement-time 0.1 --sample-size 10"
        }
        _ => "see the benchmark command's own options",
    }
}

fn build_of(what: &What) -> Option<String> {
    match what {
        What::Tree { build, .. } | What::Revisions { build, .. } => Some(build.clone()),
        What::Commands(_) => None,
    }
}

fn bench_of(what: &What) -> Vec<String> {
    match what {
        What::Tree { bench, .. } | What::Revisions { bench, .. } => vec![bench.clone()],
        What::Commands(commands) => commands.to_vec(),
    }
}

/// Name and commit per side, and what runs them.
type Cast = (Vec<(String, Option<String>)>, Vec<SidePlayer>);

fn players(
    asked: &CompareRequest,
    work: &CompareWorkspace,
    adapter: &Adapter,
    sides: Vec<PreparedSide>,
    method: Method,
) -> Result<Cast> {
    let mut cast: Cast = (Vec::new(), Vec::new());
    for (number, side) in sides.into_iter().enumerate() {
        let bench = work.bench(asked, &side, adapter.clone());
        let binaries = match method {
            Method::Placements => {
                let folder = work.place.folder().join(format!("side-{number}"));
                Some(Binaries::new(side.links, folder, asked.seed)?)
            }
            Method::Surroundings => None,
        };
        let watched = binaries.iter().flat_map(|binaries| binaries.files().map(Path::to_owned)).collect();
        cast.0.push((side.name, side.revision));
        cast.1.push(SidePlayer { bench: BenchCommand { watched, ..bench }, binaries });
    }
    Ok(cast)
}

/// One placement ahead of all measuring: what the linker cannot do is known, and the size of the code.
fn with_links(mut warnings: Vec<String>, players: &mut [SidePlayer]) -> Result<Vec<String>> {
    use assay_pure::compare::VisitPlacement;
    let mut limits = Vec::new();
    for player in players {
        if let Some(binaries) = &mut player.binaries {
            binaries.make(VisitPlacement::Placed { rotation: 0, phase_bytes: 0 })?;
            add_limits(&mut limits, binaries.limits().iter().cloned());
        }
    }
    warnings.extend(limits.iter().map(ToString::to_string));
    let mut seen = std::collections::HashSet::new();
    warnings.retain(|warning| seen.insert(warning.clone()));
    Ok(warnings)
}

fn begin_or_resume(
    asked: &CompareRequest,
    ledger: &Ledger,
    spec: Spec,
    names: &[(String, Option<String>)],
    cpu: usize,
    on: &mut dyn FnMut(Event),
) -> Result<(Lead, Spec)> {
    // Not what was found out, as how long a run takes: that is a little different every time.
    let question = json!([
        spec.build,
        spec.bench,
        spec.adapter,
        spec.method,
        spec.minimum_effect,
        spec.confidence,
        spec.seed,
        names,
        cpu,
        asked.filter,
        asked.rounds,
        asked.seconds_per_benchmark,
        asked.repetitions,
        asked.pin,
        asked.rotations
    ]);
    let question = digest(question.to_string().as_bytes());
    let of = "of the same commits, commands and options";
    let question = Question { led: Led::Comparison, digest: &question, of, resume: asked.resume };
    let lead = question.begin_or_resume(ledger, || {
        let machine = machine_json(&assay_linux::machine::facts(), &[], cpu);
        let asked = serde_json::to_value(&spec)?;
        let new = NewComparison {
            question: question.digest,
            asked: &asked,
            machine: &machine,
            pinned_cpu: Some(cpu),
        };
        ledger.begin_comparison(&new)
    })?;
    if lead.resumed {
        let kept = planned(ledger, &lead, on)?;
        return Ok((lead, Spec { budget_seconds: asked.budget, gate: asked.gate, ..kept }));
    }
    Ok((lead, spec))
}

/// What is resumed as it was planned, and a word on how far it is.
pub(crate) fn planned(ledger: &Ledger, lead: &Lead, on: &mut dyn FnMut(Event)) -> Result<Spec> {
    let kept = ledger.comparison(Some(lead.id))?.context("the ledger lost what it just found")?;
    lead.tell(&format!("{} runs", ledger.visits(lead.id)?.len()), on);
    Ok(serde_json::from_value(kept.asked)?)
}

fn put_sides(ledger: &Ledger, comparison: i64, (names, players): &Cast) -> Result<()> {
    for ((number, (name, revision)), player) in (0..).zip(names).zip(players) {
        let links: Vec<serde_json::Value> = player
            .binaries
            .iter()
            .flat_map(|binaries| {
                binaries.outputs().zip(binaries.text_bytes()).map(|(output, text_bytes)| {
                    let below = output.strip_prefix(&player.bench.folder).unwrap_or(output);
                    json!({"output": below.to_string_lossy(), "text_bytes": text_bytes})
                })
            })
            .collect();
        let side =
            SideRow { side: number, name: name.clone(), revision: revision.clone(), links: links.into() };
        ledger.put_side(comparison, &side)?;
    }
    Ok(())
}
