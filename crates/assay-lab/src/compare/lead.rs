//! Leads a comparison through its phases.

use super::alike::alike;
use super::bench::{SidePlayer, SidePlayers};
use super::code::{BinaryPair, CodeFindings};
use super::examine::{self, ExamineAsked, examine};
use super::identify;
use super::judge;
use super::left_behind::Workplace;
use super::measure::{self, VerdictProgress, Where};
use super::places::{Binaries, add_limits};
use super::sides::{self, Keeping, PreparedSide, ReadySides, What};
use super::spec::{AskedEffort, Effort, Method, Spec, effort, visits_per_round};
use super::unchanged::{self, PLAIN, UnchangedAsked, unchanged};
use crate::campaign::compose::machine_json;
use crate::lead::{self, Lead, Misuse, Question, Unable, measuring_cpu};
use crate::store::{Led, Ledger, NewComparison, SideRow};
use anyhow::{Context, Result};
use assay_link::adopt::bench::{self, Adapter, BenchCommand, BenchRun, BenchmarkTime, FigureError};
use assay_link::adopt::capture::CapturedLink;
use assay_pure::compare::Gates;
use assay_pure::event::Event;
use assay_pure::inputs::digest::digest;
use assay_pure::ledger::Stopped;
use assay_pure::stats::margin::Margin;
use assay_pure::words;
use serde_json::json;
use std::collections::BTreeSet;
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
    pub seconds_per_benchmark: Option<f64>,
    /// Repetitions of each benchmark in each visit, where the library can be asked.
    pub repetitions: u32,
    /// The ledger.
    pub ledger: PathBuf,
    /// Where trees, links and binaries are kept.
    pub store: PathBuf,
    /// Bytes of builds that the store may hold.
    pub store_limit: u64,
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
    pub gate: Option<Gates>,
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
    let ledger = lead::open(&asked.ledger, &asked.store)?;
    let cpu = measuring_cpu(asked.cpu)?;
    let ReadyComparison {
        ready: ReadySides { mut sides, mut warnings, unlinked, holds: _holds },
        work,
        tried,
    } = ready(asked, cpu, on)?;
    warnings.extend(tried.warnings.iter().cloned());
    let (method, why_not) = method(&mut sides, &tried.visits, unlinked);
    let limits: Vec<String> = why_not.into_iter().map(|why| limit(&why)).collect();
    let adapter = &tried.adapter;
    let mut players = players(asked, &work, adapter, sides, method)?;
    let names = tried.names();
    let both = [&names[0][..], names.get(1).unwrap_or(&names[0])];
    let code = examined(asked, method, &mut players, both, &work, on)?;
    let proven = code.as_ref().map(|code| &code.unchanged);
    let (effort, unmeasured) = planned_effort(asked, &tried, proven, both, &work, &mut players.1)?;
    warnings.extend(unmeasured);
    let Effort { rotations, rounds, looks } = effort;
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
        gate: asked.gate.clone(),
        limits,
        warnings: with_links(warnings, &mut players.1)?,
    };
    let (lead, spec) = begin_or_resume(asked, &ledger, spec, &players.0, cpu, on)?;
    let comparison = lead.id;
    put_sides(&ledger, comparison, &players)?;
    if let Some(code) = &code {
        keep_unchanged(&ledger, comparison, &code.unchanged)?;
        let commits = |side: usize| players.0.get(side)?.1.as_deref();
        let looked = ExamineAsked {
            players: &players.1,
            pairs: &code.pairs,
            commits: commits(0).zip(commits(1)).map(|(old, new)| [old, new]),
            adapter,
            names: &names[0],
            budget: asked.budget,
            scratch: &work.scratch,
        };
        examine(&ledger, comparison, &looked, on)?;
    }
    let look = || -> Result<VerdictProgress> {
        let found = judge::judge(&ledger, comparison, &spec)?.judgement.contrasts;
        Ok(VerdictProgress {
            decided: found.iter().filter(|found| found.decided).count(),
            proven: found.iter().filter(|found| found.proven).count(),
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

/// What the machine code says ahead of any measurement.
struct ExaminedCode {
    pairs: Result<Vec<BinaryPair>, String>,
    /// Benchmarks that execute nothing which differs.
    unchanged: BTreeSet<String>,
}

/// Compares the machine code of both sides, and finds out by running them which benchmarks execute nothing that differs.
fn examined(
    asked: &CompareRequest,
    method: Method,
    (cast, players): &mut Cast,
    names: [&[String]; 2],
    work: &CompareWorkspace,
    on: &mut dyn FnMut(Event),
) -> Result<Option<ExaminedCode>> {
    // Two commands are no builds whose trees could be compared.
    let are_builds = players.len() == 2 && matches!(asked.what, What::Revisions { .. });
    if !asked.code || !are_builds {
        return Ok(None);
    }
    on(Event::Phase { name: "code".into() });
    if method == Method::Surroundings {
        let found = alike(names, players, &work.scratch)?;
        return Ok((!found.is_empty()).then_some(ExaminedCode { pairs: Ok(Vec::new()), unchanged: found }));
    }
    let pairs = examine::pairs(players);
    let mut found = BTreeSet::new();
    if let (Ok(pairs), [(_, Some(old)), (_, Some(new))]) = (&pairs, cast.as_slice()) {
        let scratch = &work.scratch;
        let asked = UnchangedAsked { pairs, commits: [old, new], names, budget: asked.budget, scratch };
        found = unchanged(&asked, players, on)?;
    }
    Ok(Some(ExaminedCode { pairs, unchanged: found }))
}

/// How the budget is spent on what is not proven. What is left is asked for alone after the first visit, where it can be. Where
/// the budget is too small for that, what is proven is told all the same, with the sentence that says so.
fn planned_effort(
    asked: &CompareRequest,
    tried: &FirstRuns,
    proven: Option<&BTreeSet<String>>,
    names: [&[String]; 2],
    work: &CompareWorkspace,
    players: &mut [SidePlayer],
) -> Result<(Effort, Option<String>)> {
    let once = |looks| Effort { rotations: super::spec::FEWEST_ROTATIONS, rounds: 1, looks };
    if proven.is_some_and(|known| names[0].iter().all(|name| known.contains(name))) {
        // It ends after one visit of each side.
        return Ok((once(vec![1]), None));
    }
    let mut longest = tried.visits.iter().map(|visit| visit.elapsed).max().unwrap_or_default();
    let left = proven.and_then(|known| unchanged::without(known, names, players, &work.scratch));
    if let Some((later, seconds)) = left {
        longest = seconds;
        for (player, later) in players.iter_mut().zip(later) {
            player.later = Some(later);
        }
    }
    match affordable(asked, longest.as_secs_f64(), players.len() as u32, &tried.adapter) {
        Ok(effort) => Ok((effort, None)),
        Err(why) => match proven.map_or(0, BTreeSet::len) {
            0 => Err(why.into()),
            proven => Ok((
                once(Vec::new()),
                Some(format!(
                    "{} could not be measured, only compared by {} code: {}",
                    words::plural((names[0].len() - proven) as u64, "benchmark"),
                    if names[0].len() - proven == 1 { "its" } else { "their" },
                    why.0
                )),
            )),
        },
    }
}

/// Notes which benchmarks need no measurement.
fn keep_unchanged(ledger: &Ledger, comparison: i64, names: &BTreeSet<String>) -> Result<()> {
    let known = ledger.comparison_code(comparison)?;
    for name in names.iter().filter(|name| known.iter().all(|(kept, _)| kept != *name)) {
        ledger.put_comparison_code(comparison, name, &serde_json::to_value(CodeFindings::untouched())?)?;
    }
    Ok(())
}

/// Sides whose commands were run once.
struct ReadyComparison {
    ready: ReadySides,
    work: CompareWorkspace,
    tried: FirstRuns,
}

/// The sides, built, and what their first runs showed. Builds of earlier comparisons are made anew where the benchmark command
/// builds in them: something that it reads has changed since, and then it would do so in every run.
fn ready(asked: &CompareRequest, cpu: usize, on: &mut dyn FnMut(Event)) -> Result<ReadyComparison> {
    let mut keeping = Keeping { store: &asked.store, limit: asked.store_limit, believe: true };
    loop {
        let ready = sides::prepare(&asked.what, &asked.folder, keeping, on)?;
        let work = CompareWorkspace::new(asked, cpu, on)?;
        on(Event::Phase { name: "first runs".into() });
        match try_out(asked, &work, &ready.sides)? {
            Ok(tried) => return Ok(ReadyComparison { ready, work, tried }),
            Err(_) if keeping.believe && ready.sides.iter().any(|side| side.held) => keeping.believe = false,
            Err(rebuilt) => return Err(rebuilds(asked, &rebuilt).into()),
        }
    }
}

/// What is said of a benchmark command that builds what it runs.
fn rebuilds(asked: &CompareRequest, rebuilt: &Path) -> Misuse {
    let build = build_of(&asked.what).unwrap_or_default();
    let cargo = bench_of(&asked.what).iter().any(|bench| bench.contains("cargo bench"));
    let remedy = if cargo && !build.contains("cargo bench") {
        "--build must build the same as it runs: `cargo bench --no-run`, with the same features and packages"
    } else if cargo {
        "Give --build the same options as --bench, and --no-run: other features, profiles or variables make another build"
    } else {
        "Give --bench a command that only runs what --build has built"
    };
    Misuse(format!(
        "the benchmark command rebuilds {}, which undoes every placement. {remedy}",
        rebuilt.display()
    ))
}

/// Folders and the processor of this process's own work.
struct CompareWorkspace {
    scratch: PathBuf,
    place: Workplace,
    cpu: Option<usize>,
}

impl CompareWorkspace {
    fn new(asked: &CompareRequest, cpu: usize, on: &mut dyn FnMut(Event)) -> Result<CompareWorkspace> {
        let place = Workplace::new(&asked.store, on)
            .with_context(|| format!("cannot create a folder in {}", asked.store.display()))?;
        Ok(CompareWorkspace { scratch: place.folder().join("scratch"), place, cpu: asked.pin.then_some(cpu) })
    }

    fn bench(&self, asked: &CompareRequest, side: &PreparedSide, adapter: Adapter) -> BenchCommand {
        BenchCommand {
            adapter,
            seconds_per_benchmark: Some(
                asked.seconds_per_benchmark.map_or(BenchmarkTime::Usual, BenchmarkTime::Seconds),
            ),
            repetitions: Some(asked.repetitions),
            filter: asked.filter.clone(),
            cpu: self.cpu,
            environment: side.environment.clone(),
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

impl FirstRuns {
    /// The benchmarks that each side has.
    fn names(&self) -> Vec<Vec<String>> {
        let names = |visit: &BenchRun| visit.figures.iter().map(|figure| figure.name.clone()).collect();
        self.visits.iter().map(names).collect()
    }
}

/// Every side once, as built: does the command work, what reads its figures, which binaries does it use? Or the first file that
/// it builds anew.
fn try_out(
    asked: &CompareRequest,
    work: &CompareWorkspace,
    sides: &[PreparedSide],
) -> Result<Result<FirstRuns, PathBuf>> {
    let mut adapter = asked.adapter.clone();
    let (mut visits, mut warnings) = (Vec::new(), Vec::<String>::new());
    let mut notes: Vec<(&str, String)> = Vec::new();
    for side in sides {
        let failed = |error: bench::VisitError| unusable(asked, side, &error);
        let visit = match &adapter {
            Some(known) => bench::visit(&work.bench(asked, side, known.clone()), &PLAIN, &work.scratch)
                .map_err(failed)?,
            None => {
                let bench = work.bench(asked, side, Adapter::Wall);
                // Who compares commands asks for the time of each as a whole.
                let otherwise = matches!(asked.what, What::Commands(_)).then_some(Adapter::Wall);
                let (detected, visit) =
                    bench::detect(&bench, otherwise, &PLAIN, &work.scratch).map_err(failed)?;
                adapter = Some(detected);
                visit
            }
        };
        if let Some(rebuilt) = visit.rewritten.first() {
            return Ok(Err(rebuilt.clone()));
        }
        if visits.is_empty() && matches!(adapter, Some(Adapter::Wall | Adapter::Cpu)) {
            let bench = work.bench(asked, side, Adapter::Wall);
            let fixed = bench::runs_for_fixed_time(&bench, &visit, &PLAIN, &work.scratch).map_err(failed)?;
            if let Some(what) = fixed {
                return Err(timed_by_the_clock(asked, side, &what));
            }
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
    Ok(Ok(FirstRuns { adapter, described, visits, warnings }))
}

/// Why the time of the whole command says nothing.
fn timed_by_the_clock(asked: &CompareRequest, side: &PreparedSide, what: &str) -> anyhow::Error {
    let gate = asked.gate.as_ref().map(|gate| format!("the gate {gate} is undecided: ")).unwrap_or_default();
    Unable(format!(
        "{gate}nothing was measured, as the time of `{}` says nothing about its code: {what}.\n  \
         To read figures that it prints: --adapter 'regex:(?<name>\\w+):? +(?<value>[0-9.]+) *(?<unit>ns|us|ms|s)'\n  \
         Or give it an option for a fixed number of iterations",
        side.bench
    ))
    .into()
}

/// Why nothing can be measured, and what that means for the gate.
fn unusable(asked: &CompareRequest, side: &PreparedSide, error: &bench::VisitError) -> anyhow::Error {
    if let bench::VisitError::Unread(unread @ FigureError::Unrecognised { .. }) = error {
        let gate = asked.gate.as_ref().map(|gate| format!("the gate {gate} is undecided: "));
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

fn affordable(
    asked: &CompareRequest,
    visit_seconds: f64,
    sides: u32,
    adapter: &Adapter,
) -> Result<Effort, Misuse> {
    let found = effort(
        asked.budget,
        visit_seconds,
        AskedEffort { rotations: asked.rotations, rounds: asked.rounds },
        sides,
    );
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
    })
}

/// How the benchmarks of a library are made shorter.
fn shorter(adapter: &Adapter) -> &'static str {
    match adapter {
        Adapter::GoogleBenchmark | Adapter::Divan => "--seconds-per-benchmark",
        Adapter::Criterion => {
            "--seconds-per-benchmark where cargo starts them; else criterion's own options: --warm-up-time 0.05 \
             --measurement-time 0.1 --sample-size 10"
        }
        _ => "see the benchmark command's own options",
    }
}

pub(super) fn build_of(what: &What) -> Option<String> {
    match what {
        What::Tree { build, .. } | What::Revisions { build, .. } => Some(build.clone()),
        What::Commands(_) => None,
    }
}

pub(super) fn bench_of(what: &What) -> Vec<String> {
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
        cast.1.push(SidePlayer { bench: BenchCommand { watched, ..bench }, binaries, later: None });
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
    let lead = question.begin_or_resume(ledger, &mut |_| Ok(true), || {
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
        return Ok((lead, Spec { budget_seconds: asked.budget, gate: asked.gate.clone(), ..kept }));
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
        let links = identify::files_of(player);
        let side = SideRow { side: number, name: name.clone(), revision: revision.clone(), links };
        ledger.put_side(comparison, &side)?;
    }
    Ok(())
}
