//! Leads an examination: inputs cut, program built, each variant of each build called by itself and under the emulator.

use super::facts::{ExaminedInput, ExperimentFacts, Notes, PlannedSample, TracedCell};
use super::specimen::{Specimen, made, probe_units};
use super::started::{Laid, StartOptions, StartedVariant, Which};
use super::traced::{self, Tracing};
use crate::campaign::count::capped_flags;
use crate::campaign::prepare::{self, Outline};
use crate::campaign::{self, inputs, left_out};
use crate::doctor::Scratch;
use crate::lead::{Misuse, Unable, measuring_cpu, turn};
use crate::run::tune;
use anyhow::{Context, Result};
use assay_link::build::{Artifact, Builder};
use assay_linux::machine::{self, Machine};
use assay_pure::event::Event;
use assay_pure::experiment::Acceptance;
use assay_pure::experiment::spec::{Clock, FlagSet, InputSource, InputSpec, Program};
use assay_pure::words::plural;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct ExperimentRequest {
    /// As `assay run` is asked.
    pub asked: campaign::CampaignRequest,
    /// The tracer's plugin, if it is not beside assay itself.
    pub plugin: Option<PathBuf>,
    /// Seconds of tracing.
    pub trace_seconds: f64,
    /// Units that production goes through, for inputs that say nothing of it.
    pub production_units: Option<u64>,
}

/// What is known.
#[derive(Clone, Debug, Default)]
pub struct ExaminedExperiment {
    /// For the checks.
    pub facts: ExperimentFacts,
    /// Findings that the file accepts.
    pub accept: Vec<Acceptance>,
    /// What is said beside the findings.
    pub notes: Notes,
}

/// One linked program: a compiler and a flag set.
struct BuiltProgram {
    name: String,
    compiler: usize,
    flags: usize,
    artifact: Artifact,
}

/// What can be known without building anything: the file and its inputs.
///
/// # Errors
/// A recorded input cannot be read.
pub fn outlined(
    outline: &Outline,
    machine: &Machine,
    production_units: Option<u64>,
) -> Result<ExperimentFacts> {
    let mut facts = ExperimentFacts {
        unit: outline.experiment.unit.clone(),
        l1d_bytes: cache(machine, "L1d"),
        l2_bytes: cache(machine, "L2"),
        ..ExperimentFacts::default()
    };
    for spec in &outline.experiment.inputs {
        let (bytes, units) = beginning(spec, &outline.folder)?;
        facts.inputs.push(input(spec, &bytes, units, production_units));
    }
    Ok(facts)
}

/// "L1d 32K" to bytes.
fn cache(machine: &Machine, level: &str) -> Option<u64> {
    let size = machine.caches.iter().find_map(|cache| cache.strip_prefix(level)?.strip_prefix(' '))?;
    let (digits, scale) = match size.strip_suffix('K') {
        Some(digits) => (digits, 1 << 10),
        None => (size.strip_suffix('M')?, 1 << 20),
    };
    Some(digits.parse::<u64>().ok()? * scale)
}

/// The beginning of an input's bytes, long enough for all pieces, and the units of the whole.
fn beginning(spec: &InputSpec, folder: &Path) -> Result<(Vec<u8>, u64)> {
    if let InputSource::Generated { units, .. } = spec.source
        && let Some(bytes) = made(spec, probe_units(units), 0)
    {
        return Ok((bytes, units));
    }
    let bytes = inputs::bytes_of(spec, folder)?;
    let windows = spec.windows(&bytes).with_context(|| format!("input `{}`", spec.name))?;
    Ok((bytes, windows.iter().map(|window| window.units).sum()))
}

fn input(spec: &InputSpec, bytes: &[u8], units: u64, production_units: Option<u64>) -> ExaminedInput {
    let begun = spec.format.count(bytes).unwrap_or(0).max(1);
    let family = match &spec.source {
        InputSource::Generated { generator, .. } => {
            serde_json::to_string(generator).expect("a generator has only string keys")
        }
        InputSource::Recorded { path } => path.clone(),
        InputSource::Settings { .. } | InputSource::Empty => String::new(),
    };
    let distinct = match &spec.source {
        InputSource::Generated { distinct_units: Some(distinct), .. } => *distinct,
        _ => units,
    };
    // The beginning stands for the rest: only its length is estimated.
    let whole = if begun >= units {
        bytes.len() as u64
    } else {
        (bytes.len() as f64 * units as f64 / begun as f64) as u64
    };
    ExaminedInput {
        name: spec.name.clone(),
        family: format!("{family} as {:?}", spec.format),
        bytes: if matches!(spec.source, InputSource::Settings { .. }) { 0 } else { whole },
        units,
        distinct,
        windows: if spec.window_units == 0 { 1 } else { units.div_ceil(spec.window_units).max(1) },
        production_units: spec.production_units.or(production_units),
    }
}

/// Examines an experiment.
///
/// # Errors
/// [`Misuse`] with every problem of the file; [`Unable`] where nothing can be built; the store cannot be written.
pub fn gather(request: &ExperimentRequest, events: &mut dyn FnMut(Event)) -> Result<ExaminedExperiment> {
    let mut outline = prepare::outline(&request.asked)?;
    // Each input once, whatever its uses: only the hot use is examined.
    outline.experiment.inputs = outline.experiment.file_inputs();
    let machine = machine::facts();
    let cpu = measuring_cpu(request.asked.cpu)?;
    let mut facts = outlined(&outline, &machine, request.production_units)?;
    let (runnable, skipped) = left_out::variants(&outline.experiment, &machine);
    let mut notes = Notes::default();
    notes.warnings.extend(skipped.iter().map(|failure| {
        format!("{} is not examined: {}.", failure.variant.as_deref().unwrap_or_default(), failure.reason)
    }));
    let folder = Scratch::new(&request.asked.store)?;
    let laid = lay(&outline, folder.path())?;
    let builder = Builder::new(&request.asked.store)?;
    let built = build(&outline, &builder, events, &mut notes)?;
    let options = StartOptions { cpu, patience: request.asked.patience };
    facts.cells = by_itself(&outline, &built, &runnable, &laid, &options, &mut notes, events)?;
    let tracing = Tracing {
        plugin: request.plugin.as_deref(),
        seconds: request.trace_seconds,
        store: &request.asked.store,
        ledger: &request.asked.ledger,
    };
    trace_all(&tracing, &outline, (&builder, &built), &laid, &options, &mut facts, &mut notes);
    // The first build that could be called speaks for all.
    let first = built.iter().find(|built| facts.cells.iter().any(|cell| cell.build == built.name));
    let programs: Vec<(&Path, String)> = programs(&facts, first.map_or(&[], std::slice::from_ref))
        .into_iter()
        .map(|(built, variant)| (built.artifact.path.as_path(), variant))
        .collect();
    traced::simulate_predictor(&tracing, &outline, &programs, &options, &mut facts, &mut notes)?;
    let builds: Vec<&str> = built.iter().map(|built| built.name.as_str()).collect();
    let built_by =
        format!("built by {}; each variant called on pieces of each input", builds.join(" and by "));
    notes.method.insert(0, built_by);
    notes.warnings.dedup();
    Ok(ExaminedExperiment { facts, accept: outline.experiment.accept, notes })
}

/// The inputs in pieces; none of those without bytes.
fn lay(outline: &Outline, folder: &Path) -> Result<Vec<(usize, Laid)>> {
    let mut laid = Vec::new();
    for (number, spec) in outline.experiment.inputs.iter().enumerate() {
        let (bytes, _) = beginning(spec, &outline.folder)?;
        let pieces = Specimen::of(spec, &bytes)
            .map_err(|problem| Misuse(format!("input `{}` is not of its format: {problem}", spec.name)))?;
        if let Some(specimen) = pieces {
            laid.push((number, Laid::write(specimen, folder, number)?));
        }
    }
    Ok(laid)
}

fn build(
    outline: &Outline,
    builder: &Builder,
    events: &mut dyn FnMut(Event),
    notes: &mut Notes,
) -> Result<Vec<BuiltProgram>> {
    events(Event::Phase { name: "build".into() });
    let mut built = Vec::new();
    let mut failed = Vec::new();
    for (compiler, identity) in outline.compilers.iter().enumerate() {
        for (flags, set) in outline.experiment.flags.iter().enumerate() {
            let recipe = builder.compile(&outline.folder, &outline.experiment.program, set, identity);
            match recipe.and_then(|recipe| builder.link(&recipe, assay_link::build::Link::AsBuilt)) {
                Ok(artifact) => {
                    let name = format!("{}, {}", identity.name, set.name);
                    built.push(BuiltProgram { name, compiler, flags, artifact });
                }
                Err(failure) => failed.push(failure.to_string()),
            }
        }
    }
    if built.is_empty() {
        return Err(Unable(failed.join("\n\n")).into());
    }
    notes.warnings.extend(failed);
    Ok(built)
}

/// Answers, pages and times of every cell.
fn by_itself(
    outline: &Outline,
    built: &[BuiltProgram],
    runnable: &[usize],
    laid: &[(usize, Laid)],
    options: &StartOptions,
    notes: &mut Notes,
    events: &mut dyn FnMut(Event),
) -> Result<Vec<TracedCell>> {
    events(Event::Phase { name: "examine".into() });
    let mut cells = Vec::new();
    for built in built {
        for &variant in runnable {
            let name = &outline.experiment.variants[variant].name;
            let Some(_turn) = turn::take(options.cpu, &mut || {}, &assay_linux::interrupt::asked)? else {
                return Ok(cells);
            };
            let found =
                StartedVariant::start(&built.artifact.path, &[], name, options).and_then(|mut started| {
                    let clock = outline.experiment.clock;
                    let found: Result<Vec<TracedCell>, _> =
                        laid.iter().map(|(input, laid)| cell(&mut started, laid, *input, clock)).collect();
                    started.stop().and(found)
                });
            match found {
                Ok(found) => cells.extend(found.into_iter().map(|cell| TracedCell {
                    variant: name.clone(),
                    build: built.name.clone(),
                    ..cell
                })),
                Err(fault) => notes.warnings.push(format!("{name}, {}: {fault}", built.name)),
            }
        }
    }
    sampled(&mut cells, laid);
    Ok(cells)
}

fn cell(
    started: &mut StartedVariant,
    laid: &Laid,
    input: usize,
    clock: Clock,
) -> Result<TracedCell, crate::run::ProgramFault> {
    started.load(laid, input)?;
    let answers = started.answers(laid, input)?;
    let pages = started.pages(laid, input)?;
    let times = started.times(laid, input)?;
    let call_ns = started.call_ns(Which::Probe, input)?;
    let (wall, cpu) = started.region_ns();
    let region_ns = if clock == Clock::Wall { wall } else { cpu };
    let sample = PlannedSample { call_ns, region_ns, ..PlannedSample::default() };
    let (kind, sample) = (Some(started.kind), Some(sample));
    Ok(TracedCell { input, kind, answers: Some(answers), pages, times, sample, ..TracedCell::default() })
}

/// Calls per sample are one number for all cells of an input, as `assay run` chooses it.
fn sampled(cells: &mut [TracedCell], laid: &[(usize, Laid)]) {
    use assay_pure::protocol::VariantKind;
    for (input, laid) in laid {
        let own: Vec<f64> = cells
            .iter()
            .filter(|cell| cell.input == *input)
            .filter_map(|cell| Some(cell.sample?.call_ns))
            .collect();
        let iterations = tune::iterations(&own);
        let probe = &laid.specimen.probe;
        for cell in cells.iter_mut().filter(|cell| cell.input == *input) {
            let pieces =
                if cell.kind == Some(VariantKind::Call) { probe.windows.len().max(1) as f64 } else { 1.0 };
            if let Some(sample) = &mut cell.sample {
                sample.iterations = iterations;
                sample.units = probe.units as f64 / pieces;
                sample.bytes = probe.bytes.len() as f64 / pieces;
            }
        }
    }
}

/// What each cell executes, as far as the emulator and the time allow.
fn trace_all(
    tracing: &Tracing,
    outline: &Outline,
    (builder, built): (&Builder, &[BuiltProgram]),
    laid: &[(usize, Laid)],
    options: &StartOptions,
    facts: &mut ExperimentFacts,
    notes: &mut Notes,
) {
    let deadline = Instant::now() + Duration::from_secs_f64(tracing.seconds);
    let inputs: Vec<(usize, &Laid)> = laid.iter().map(|(input, laid)| (*input, laid)).collect();
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    let mut seen = 0;
    for (program, variant) in programs(facts, built) {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || assay_linux::interrupt::asked() {
            *reasons
                .entry("the time for tracing was over (--budget SECONDS allows more)".into())
                .or_default() += 1;
            continue;
        }
        let try_it = |path: &Path| traced::walk(path, &variant, &inputs, options, tracing.plugin, left);
        let mut walked = try_it(&program.artifact.path);
        if walked.stopped.as_ref().is_some_and(|stopped| stopped.lacks_instruction)
            && let Some(capped) = capped(outline, builder, program)
        {
            walked = try_it(&capped.path);
        }
        if let Some(stopped) = walked.stopped {
            *reasons.entry(stopped.reason).or_default() += 1;
        }
        for (input, work) in walked.work {
            let is_it = |cell: &&mut TracedCell| {
                (&cell.variant, &cell.build, cell.input) == (&variant, &program.name, input)
            };
            if let Some(cell) = facts.cells.iter_mut().find(is_it) {
                cell.work = Some(work);
                seen += 1;
            }
        }
    }
    let told = |(reason, times): (&String, &u64)| {
        let were = if *times == 1 { "was" } else { "were" };
        format!("{} {were} not traced: {reason}", plural(*times, "variant"))
    };
    let why = reasons.iter().map(told).collect::<Vec<_>>().join("; ");
    if seen == 0 {
        facts.not_traced = Some(if why.is_empty() { "there was nothing to trace".to_owned() } else { why });
    } else {
        let all = facts.cells.len();
        notes.method.push(format!("{seen} of {all} pairs of variant and input traced"));
        notes.warnings.extend((!why.is_empty()).then(|| format!("{why}.")));
    }
}

/// The programs and variants that could be called, in order.
fn programs<'a>(facts: &ExperimentFacts, built: &'a [BuiltProgram]) -> Vec<(&'a BuiltProgram, String)> {
    let mut found: Vec<(&BuiltProgram, String)> = Vec::new();
    for cell in &facts.cells {
        let Some(program) = built.iter().find(|built| built.name == cell.build) else { continue };
        if !found.iter().any(|(known, variant)| known.name == program.name && *variant == cell.variant) {
            found.push((program, cell.variant.clone()));
        }
    }
    found
}

/// The same program built for the emulator, which lacks some instructions.
fn capped(outline: &Outline, builder: &Builder, program: &BuiltProgram) -> Option<Artifact> {
    let set = &outline.experiment.flags[program.flags];
    let (flags, _) = capped_flags(&set.flags)?;
    let (common, _) = capped_flags(&outline.experiment.program.flags)?;
    let source = Program { flags: common, ..outline.experiment.program.clone() };
    let set = FlagSet { flags, ..set.clone() };
    let recipe =
        builder.compile(&outline.folder, &source, &set, &outline.compilers[program.compiler]).ok()?;
    builder.link(&recipe, assay_link::build::Link::AsBuilt).ok()
}
