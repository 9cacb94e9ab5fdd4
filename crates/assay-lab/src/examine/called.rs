//! Leads an examination: each variant of each build called by itself, and once more under the emulator, as far as the time allows.

use super::facts::{ExperimentFacts, Notes, PlannedSample, TracedCell};
use super::started::{Laid, StartOptions, StartedVariant, Which};
use super::traced;
use crate::lead::turn;
use crate::run::{ProgramFault, tune};
use anyhow::Result;
use assay_pure::event::Event;
use assay_pure::experiment::spec::Clock;
use assay_pure::protocol::VariantKind;
use assay_pure::words::plural;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// One linked program: a compiler and a flag set.
#[derive(Clone, Debug)]
pub struct BuiltProgram {
    /// "gcc-12, O2".
    pub name: String,
    /// Number on the compiler axis.
    pub compiler: usize,
    /// Number on the flags axis.
    pub flags: usize,
    /// The executable.
    pub path: PathBuf,
}

/// What comes of calling the variants by themselves.
#[derive(Debug, Default)]
pub struct CalledVariants {
    /// Answers, pages and times of every cell.
    pub cells: Vec<TracedCell>,
    /// What went wrong, in words.
    pub faults: Vec<String>,
}

/// Calls each variant of each program by itself, on the pieces of each input.
///
/// # Errors
/// The processor's lock cannot be taken.
pub fn by_itself(
    programs: &[(&BuiltProgram, &str)],
    laid: &[Laid],
    clock: Clock,
    options: &StartOptions,
    on: &mut dyn FnMut(Event),
) -> Result<CalledVariants> {
    let mut called = CalledVariants::default();
    for (number, (built, name)) in programs.iter().enumerate() {
        let of = programs.len();
        on(Event::Doing { what: format!("calling {name}, {} ({} of {of})", built.name, number + 1) });
        let Some(_turn) = turn::take(options.cpu, on)? else {
            return Ok(called);
        };
        let found = StartedVariant::start(&built.path, &[], name, options).and_then(|mut started| {
            let found: Result<Vec<TracedCell>, _> =
                laid.iter().map(|laid| cell(&mut started, laid, clock)).collect();
            started.stop().and(found)
        });
        match found {
            Ok(found) => called.cells.extend(found.into_iter().map(|cell| TracedCell {
                variant: (*name).to_owned(),
                build: built.name.clone(),
                ..cell
            })),
            Err(fault) => called.faults.push(format!("{name}, {}: {fault}", built.name)),
        }
    }
    sampled(&mut called.cells, laid);
    Ok(called)
}

fn cell(started: &mut StartedVariant, laid: &Laid, clock: Clock) -> Result<TracedCell, ProgramFault> {
    started.load(laid)?;
    let answers = started.answers(laid)?;
    let pages = started.pages(laid)?;
    let times = started.times(laid)?;
    let call_ns = started.call_ns(Which::Probe, laid.input)?;
    let new_pages = started.new_pages(laid.input)?;
    let walks = started.walk_times(laid, call_ns)?;
    let own_bytes = started.own_bytes();
    let (wall, cpu) = started.region_ns();
    let region_ns = if clock == Clock::Wall { wall } else { cpu };
    let sample = PlannedSample { call_ns, region_ns, ..PlannedSample::default() };
    let (kind, sample, answers) = (Some(started.kind), Some(sample), Some(answers));
    Ok(TracedCell {
        input: laid.input,
        kind,
        answers,
        pages,
        times,
        sample,
        new_pages,
        own_bytes,
        walks,
        ..TracedCell::default()
    })
}

/// Calls per sample are one number for all cells of an input, as `assay run` chooses it.
fn sampled(cells: &mut [TracedCell], laid: &[Laid]) {
    for laid in laid {
        let own: Vec<f64> = cells
            .iter()
            .filter(|cell| cell.input == laid.input)
            .filter_map(|cell| Some(cell.sample?.call_ns))
            .collect();
        let iterations = tune::iterations(&own);
        let probe = &laid.specimen.probe;
        for cell in cells.iter_mut().filter(|cell| cell.input == laid.input) {
            let pieces = if cell.kind.is_some_and(VariantKind::is_windowed) {
                probe.windows.len().max(1) as f64
            } else {
                1.0
            };
            if let Some(sample) = &mut cell.sample {
                sample.iterations = iterations;
                sample.units = probe.units as f64 / pieces;
                sample.bytes = probe.bytes.len() as f64 / pieces;
            }
        }
    }
}

/// How far the tracing of an examination may go.
#[derive(Clone, Copy, Debug)]
pub struct TracingLimits<'a> {
    /// The plugin, where it is not the lab's own.
    pub plugin: Option<&'a Path>,
    /// For all cells together.
    pub seconds: f64,
}

/// What each cell executes, as far as the emulator and the time allow.
///
/// `capped` builds a program for the emulator, which lacks some instructions.
pub fn trace_all(
    limits: TracingLimits<'_>,
    built: &[BuiltProgram],
    capped: &dyn Fn(&BuiltProgram) -> Option<PathBuf>,
    laid: &[Laid],
    options: &StartOptions,
    facts: &mut ExperimentFacts,
    notes: &mut Notes,
) {
    let deadline = Instant::now() + Duration::from_secs_f64(limits.seconds);
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    let mut seen = 0;
    for (program, variant) in programs(facts, built) {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || assay_linux::interrupt::asked() {
            *reasons
                .entry("the time for tracing ran out (--budget SECONDS allows more)".into())
                .or_default() += 1;
            continue;
        }
        let try_it = |path: &Path| traced::walk(path, &variant, laid, options, limits.plugin, left);
        let mut walked = try_it(&program.path);
        if walked.stopped.as_ref().is_some_and(|stopped| stopped.lacks_instruction)
            && let Some(capped) = capped(program)
        {
            walked = try_it(&capped);
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
pub fn programs<'a>(facts: &ExperimentFacts, built: &'a [BuiltProgram]) -> Vec<(&'a BuiltProgram, String)> {
    let mut found: Vec<(&BuiltProgram, String)> = Vec::new();
    for cell in &facts.cells {
        let Some(program) = built.iter().find(|built| built.name == cell.build) else { continue };
        if !found.iter().any(|(known, variant)| known.name == program.name && *variant == cell.variant) {
            found.push((program, cell.variant.clone()));
        }
    }
    found
}
