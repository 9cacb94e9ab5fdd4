//! Leads an examination: inputs cut, program built, each variant of each build called by itself and under the emulator.

use super::simulated::{self, Tracing};
use crate::campaign::count::capped::capped_flags;
use crate::campaign::examination;
use crate::campaign::inputs::{self, InputPlaces};
use crate::campaign::prepare::{self, Outline};
use crate::campaign::{self, left_out};
use crate::examine::called::{self, BuiltProgram, TracingLimits};
use crate::examine::facts::{ExperimentFacts, Notes};
use crate::examine::scratch;
use crate::examine::started::StartOptions;
use crate::lead::{Unable, measuring_cpu};
use crate::store::mark;
use anyhow::Result;
use assay_link::program::ProgramBuilder;
use assay_linux::machine;
use assay_pure::event::Event;
use assay_pure::experiment::Acceptance;
use assay_pure::experiment::spec::{FlagSet, Program};
use std::path::{Path, PathBuf};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct ExperimentRequest {
    /// As `assay run` is asked.
    pub asked: campaign::CampaignRequest,
    /// The tracer's plugin, where it is not the lab's own.
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
    let kept = inputs::kept_in(&request.asked.store);
    let places = InputPlaces { folder: &outline.folder, kept: &kept };
    let mut facts = examination::outlined(&outline.experiment, places, &machine, request.production_units)?;
    let (runnable, skipped) = left_out::variants(&outline.experiment, &machine);
    let mut notes = Notes::default();
    notes.warnings.extend(skipped.iter().map(|failure| {
        format!("{} is not examined: {}.", failure.variant.as_deref().unwrap_or_default(), failure.reason)
    }));
    mark::claim(&request.asked.store)?;
    let folder = scratch(&request.asked.store)?;
    let laid = examination::lay(&outline.experiment, places, folder.path())?;
    let builder = ProgramBuilder::new(&request.asked.store)?;
    let built = build(&outline, &builder, events, &mut notes)?;
    let options = StartOptions { cpu, patience: request.asked.patience };
    events(Event::Phase { name: "examine".into() });
    let variants = || runnable.iter().map(|&variant| outline.experiment.variants[variant].name.as_str());
    let programs: Vec<(&BuiltProgram, &str)> =
        built.iter().flat_map(|built| variants().map(move |variant| (built, variant))).collect();
    let called = called::by_itself(&programs, &laid, outline.experiment.clock, &options, events)?;
    facts.cells = called.cells;
    notes.warnings.extend(called.faults);
    let tracing = Tracing {
        plugin: request.plugin.as_deref(),
        seconds: request.trace_seconds,
        store: &request.asked.store,
        ledger: &request.asked.ledger,
    };
    let capped = |program: &BuiltProgram| capped(&outline, &builder, program);
    let limit = assay_pure::words::duration(tracing.seconds);
    events(Event::Doing { what: format!("tracing under QEMU, at most {limit}") });
    called::trace_all(
        TracingLimits { plugin: tracing.plugin, seconds: tracing.seconds },
        &built,
        &capped,
        &laid,
        &options,
        &mut facts,
        &mut notes,
    );
    // The first build that could be called speaks for all.
    let first = built.iter().find(|built| facts.cells.iter().any(|cell| cell.build == built.name));
    let programs: Vec<(&Path, String)> = called::programs(&facts, first.map_or(&[], std::slice::from_ref))
        .into_iter()
        .map(|(built, variant)| (built.path.as_path(), variant))
        .collect();
    simulated::simulate_predictor(&tracing, &outline, &programs, &options, &mut facts, &mut notes)?;
    let builds: Vec<&str> = built.iter().map(|built| built.name.as_str()).collect();
    let built_by =
        format!("built by {}; each variant called on pieces of each input", builds.join(" and by "));
    notes.method.insert(0, built_by);
    notes.warnings.dedup();
    Ok(ExaminedExperiment { facts, accept: outline.experiment.accept, notes })
}

fn build(
    outline: &Outline,
    builder: &ProgramBuilder,
    events: &mut dyn FnMut(Event),
    notes: &mut Notes,
) -> Result<Vec<BuiltProgram>> {
    events(Event::Phase { name: "build".into() });
    let mut built = Vec::new();
    let mut failed = Vec::new();
    for (compiler, identity) in outline.compilers.iter().enumerate() {
        for (flags, set) in outline.experiment.flags.iter().enumerate() {
            let recipe =
                builder.compile(&outline.folder, &outline.experiment.program, set, identity, &|_| {});
            match recipe.and_then(|recipe| builder.link(&recipe, assay_link::build::Link::AsBuilt)) {
                Ok(artifact) => {
                    let name = format!("{}, {}", identity.name, set.name);
                    built.push(BuiltProgram { name, compiler, flags, path: artifact.path });
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

/// The same program built for the emulator, which lacks some instructions.
fn capped(outline: &Outline, builder: &ProgramBuilder, program: &BuiltProgram) -> Option<PathBuf> {
    let set = &outline.experiment.flags[program.flags];
    let family = outline.compilers[program.compiler].family;
    let (flags, _) = capped_flags(&set.flags, family)?;
    let (common, _) = capped_flags(&outline.experiment.program.flags, family)?;
    let source = Program { flags: common, ..outline.experiment.program.clone() };
    let set = FlagSet { flags, ..set.clone() };
    let recipe = builder
        .compile(&outline.folder, &source, &set, &outline.compilers[program.compiler], &|_| {})
        .ok()?;
    builder.link(&recipe, assay_link::build::Link::AsBuilt).ok().map(|artifact| artifact.path)
}
