//! Leads an examination: inputs cut, program built, each variant of each build asked by itself and under the emulator.

use super::ask::{Asked, Laid, Surroundings, Which};
use super::compose::Told;
use super::facts::{Cell, Facts, Input, Sample};
use super::simulated::simulated;
use super::specimen::{Specimen, made, probe_units};
use super::walk;
use crate::campaign::count::capped_flags;
use crate::campaign::prepare::{self, Outline};
use crate::campaign::{self, inputs, left_out};
use crate::doctor::scratch::Scratch;
use crate::lead::{Misuse, Unable, measuring_cpu, turn};
use crate::run::tune;
use anyhow::{Context, Result};
use assay_link::build::{Artifact, Builder};
use assay_linux::machine::{self, Machine};
use assay_pure::event::Event;
use assay_pure::experiment::Acceptance;
use assay_pure::experiment::spec::{Clock, FlagSet, InputSource, InputSpec, Program};
use assay_report::prose::plural;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// As `assay run` is asked.
    pub asked: campaign::Asked,
    /// The tracer's plugin, if it is not beside assay itself.
    pub plugin: Option<PathBuf>,
    /// Seconds of tracing.
    pub trace_seconds: f64,
    /// Units that production goes through, for inputs that say nothing of it.
    pub production_units: Option<u64>,
}

/// What is known.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    /// For the checks.
    pub facts: Facts,
    /// Findings that the file accepts.
    pub accept: Vec<Acceptance>,
    /// What is said beside them.
    pub told: Told,
}

/// One linked program: a compiler and a flag set.
struct Built {
    name: String,
    compiler: usize,
    flags: usize,
    artifact: Artifact,
}

/// What can be known without building anything: the file and its inputs.
///
/// # Errors
/// A recorded input cannot be read.
pub fn outlined(outline: &Outline, machine: &Machine, production_units: Option<u64>) -> Result<Facts> {
    let mut facts = Facts {
        unit: outline.experiment.unit.clone(),
        l1d_bytes: cache(machine, "L1d"),
        l2_bytes: cache(machine, "L2"),
        ..Facts::default()
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

fn input(spec: &InputSpec, bytes: &[u8], units: u64, production_units: Option<u64>) -> Input {
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
    Input {
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
pub fn gather(request: &Request, events: &mut dyn FnMut(Event)) -> Result<Gathered> {
    let mut outline = prepare::outline(&request.asked)?;
    // Each input once, whatever its uses: what is examined is hot.
    outline.experiment.inputs = outline.experiment.file_inputs();
    let machine = machine::facts();
    let cpu = measuring_cpu(request.asked.cpu)?;
    let mut facts = outlined(&outline, &machine, request.production_units)?;
    let (runnable, skipped) = left_out::variants(&outline.experiment, &machine);
    let mut told = Told { subject: request.asked.experiment.display().to_string(), ..Told::default() };
    told.warnings.extend(skipped.iter().map(|failure| {
        format!("{} is not examined: {}.", failure.variant.as_deref().unwrap_or_default(), failure.reason)
    }));
    let folder = Scratch::new(&request.asked.store)?;
    let laid = lay(&outline, folder.path())?;
    let builder = Builder::new(&request.asked.store)?;
    let built = build(&outline, &builder, events, &mut told)?;
    let surroundings = Surroundings { cpu, patience: request.asked.patience };
    facts.cells = by_itself(&outline, &built, &runnable, &laid, &surroundings, &mut told, events)?;
    traced(request, &outline, (&builder, &built), &laid, &surroundings, &mut facts, &mut told);
    // The first build that could be asked speaks for all.
    let first = built.iter().find(|built| facts.cells.iter().any(|cell| cell.build == built.name));
    let programs: Vec<(&Path, String)> = programs(&facts, first.map_or(&[], std::slice::from_ref))
        .into_iter()
        .map(|(built, variant)| (built.artifact.path.as_path(), variant))
        .collect();
    simulated(request, &outline, &programs, &surroundings, &mut facts, &mut told)?;
    let builds: Vec<&str> = built.iter().map(|built| built.name.as_str()).collect();
    told.method.insert(
        0,
        format!("built as linked by {}; each variant asked on pieces of each input", builds.join(" and by ")),
    );
    told.warnings.dedup();
    Ok(Gathered { facts, accept: outline.experiment.accept, told })
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
    told: &mut Told,
) -> Result<Vec<Built>> {
    events(Event::Phase { name: "build".into() });
    let mut built = Vec::new();
    let mut failed = Vec::new();
    for (compiler, identity) in outline.compilers.iter().enumerate() {
        for (flags, set) in outline.experiment.flags.iter().enumerate() {
            let recipe = builder.compile(&outline.folder, &outline.experiment.program, set, identity);
            match recipe.and_then(|recipe| builder.link(&recipe, assay_link::build::Link::AsBuilt)) {
                Ok(artifact) => {
                    let name = format!("{}, {}", identity.name, set.name);
                    built.push(Built { name, compiler, flags, artifact });
                }
                Err(failure) => failed.push(failure.to_string()),
            }
        }
    }
    if built.is_empty() {
        return Err(Unable(failed.join("\n\n")).into());
    }
    told.warnings.extend(failed);
    Ok(built)
}

/// Answers, pages and times of every cell.
fn by_itself(
    outline: &Outline,
    built: &[Built],
    runnable: &[usize],
    laid: &[(usize, Laid)],
    surroundings: &Surroundings,
    told: &mut Told,
    events: &mut dyn FnMut(Event),
) -> Result<Vec<Cell>> {
    events(Event::Phase { name: "examine".into() });
    let mut cells = Vec::new();
    for built in built {
        for &variant in runnable {
            let name = &outline.experiment.variants[variant].name;
            let Some(_turn) = turn::take(surroundings.cpu, &mut || {}, &assay_linux::interrupt::asked)?
            else {
                return Ok(cells);
            };
            let found = Asked::start(&built.artifact.path, &[], name, surroundings).and_then(|mut asked| {
                let clock = outline.experiment.clock;
                let found: Result<Vec<Cell>, _> =
                    laid.iter().map(|(input, laid)| cell(&mut asked, laid, *input, clock)).collect();
                asked.stop().and(found)
            });
            match found {
                Ok(found) => cells.extend(found.into_iter().map(|cell| Cell {
                    variant: name.clone(),
                    build: built.name.clone(),
                    ..cell
                })),
                Err(fault) => told.warnings.push(format!("{name}, {}: {fault}", built.name)),
            }
        }
    }
    sampled(&mut cells, laid);
    Ok(cells)
}

fn cell(asked: &mut Asked, laid: &Laid, input: usize, clock: Clock) -> Result<Cell, crate::run::Fault> {
    asked.load(laid, input)?;
    let answers = asked.answers(laid, input)?;
    let pages = asked.pages(laid, input)?;
    let times = asked.times(laid, input)?;
    let call_ns = asked.call_ns(Which::Probe, input)?;
    let (wall, cpu) = asked.region_ns();
    let region_ns = if clock == Clock::Wall { wall } else { cpu };
    let sample = Sample { call_ns, region_ns, ..Sample::default() };
    let (kind, sample) = (Some(asked.kind), Some(sample));
    Ok(Cell { input, kind, answers: Some(answers), pages, times, sample, ..Cell::default() })
}

/// Calls per sample are one number for all cells of an input, as `assay run` chooses it.
fn sampled(cells: &mut [Cell], laid: &[(usize, Laid)]) {
    use assay_pure::protocol::Kind;
    for (input, laid) in laid {
        let own: Vec<f64> = cells
            .iter()
            .filter(|cell| cell.input == *input)
            .filter_map(|cell| Some(cell.sample?.call_ns))
            .collect();
        let iterations = tune::iterations(&own);
        let probe = &laid.specimen.probe;
        for cell in cells.iter_mut().filter(|cell| cell.input == *input) {
            let pieces = if cell.kind == Some(Kind::Call) { probe.windows.len().max(1) as f64 } else { 1.0 };
            if let Some(sample) = &mut cell.sample {
                sample.iterations = iterations;
                sample.units = probe.units as f64 / pieces;
                sample.bytes = probe.bytes.len() as f64 / pieces;
            }
        }
    }
}

/// What each cell executes, as far as the emulator and the time allow.
fn traced(
    request: &Request,
    outline: &Outline,
    (builder, built): (&Builder, &[Built]),
    laid: &[(usize, Laid)],
    surroundings: &Surroundings,
    facts: &mut Facts,
    told: &mut Told,
) {
    let deadline = Instant::now() + Duration::from_secs_f64(request.trace_seconds);
    let inputs: Vec<(usize, &Laid)> = laid.iter().map(|(input, laid)| (*input, laid)).collect();
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    let mut seen = 0;
    for (program, variant) in programs(facts, built) {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || assay_linux::interrupt::asked() {
            *reasons
                .entry("the time for tracing was over (--budget SECONDS gives more)".into())
                .or_default() += 1;
            continue;
        }
        let plugin = request.plugin.as_deref();
        let try_it = |path: &Path| walk::walk(path, &variant, &inputs, surroundings, plugin, left);
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
            let is_it = |cell: &&mut Cell| {
                (&cell.variant, &cell.build, cell.input) == (&variant, &program.name, input)
            };
            if let Some(cell) = facts.cells.iter_mut().find(is_it) {
                cell.work = Some(work);
                seen += 1;
            }
        }
    }
    let lines = reasons.iter().map(|(reason, times)| format!("{}: {reason}", plural(*times, "program")));
    let why = lines.collect::<Vec<_>>().join("; ");
    if seen == 0 {
        facts.not_traced = Some(if why.is_empty() { "there was nothing to trace".to_owned() } else { why });
    } else {
        told.method.push(format!("{seen} of {} traced", plural(facts.cells.len() as u64, "cell")));
        told.warnings.extend((!why.is_empty()).then(|| format!("not traced: {why}.")));
    }
}

/// The programs and variants that could be asked, in order.
fn programs<'a>(facts: &Facts, built: &'a [Built]) -> Vec<(&'a Built, String)> {
    let mut found: Vec<(&Built, String)> = Vec::new();
    for cell in &facts.cells {
        let Some(program) = built.iter().find(|built| built.name == cell.build) else { continue };
        if !found.iter().any(|(known, variant)| known.name == program.name && *variant == cell.variant) {
            found.push((program, cell.variant.clone()));
        }
    }
    found
}

/// The same program built for the emulator, which lacks some instructions.
fn capped(outline: &Outline, builder: &Builder, program: &Built) -> Option<Artifact> {
    let set = &outline.experiment.flags[program.flags];
    let (flags, _) = capped_flags(&set.flags)?;
    let (common, _) = capped_flags(&outline.experiment.program.flags)?;
    let source = Program { flags: common, ..outline.experiment.program.clone() };
    let set = FlagSet { flags, ..set.clone() };
    let recipe =
        builder.compile(&outline.folder, &source, &set, &outline.compilers[program.compiler]).ok()?;
    builder.link(&recipe, assay_link::build::Link::AsBuilt).ok()
}
