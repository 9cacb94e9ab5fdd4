//! One program under emulation, walked through its inputs.

use super::converse::{CountedInput, CutShort, Job, NumberedInput, ProgramCounts, converse, why};
use super::walks::{self, PassCounts, PlannedWalk, Walker};
use crate::run::worker::{Announced, Worker};
use assay_pure::protocol::VariantKind;
use assay_trace::{TraceDetail, TraceOptions, TraceSession};
use std::collections::HashMap;
use std::time::Instant;

/// Traces a program; `told` is called after each input.
pub(super) fn trace(job: &Job<'_>, told: &mut dyn FnMut()) -> ProgramCounts {
    let left = job.deadline.saturating_duration_since(Instant::now());
    let options = TraceOptions {
        detail: TraceDetail::Branches,
        time_limit: Some(left + job.patience),
        plugin: job.plugin.map(std::path::Path::to_owned),
        ..TraceOptions::default()
    };
    let predictors = job.predictors.to_vec();
    let session = match TraceSession::open(job.program, &options, move || Walker::new(&predictors)) {
        Ok(session) => session,
        Err(refusal) => return stopped(CutShort::Other(refusal.to_string())),
    };
    let prefix = session.prefix();
    let walked = converse(
        job,
        prefix,
        &mut |worker, variant, input| walk(worker, variant, input, job.most_units),
        told,
    );
    let mut stopped = walked.stopped;
    let trace = match session.finish(walked.ended) {
        Ok(trace) => trace,
        Err(refusal) => {
            // What the program said of itself tells more than what was not heard of it.
            let reason = stopped.unwrap_or_else(|| CutShort::Other(refusal.to_string()));
            return ProgramCounts { cells: Vec::new(), stopped: Some(reason) };
        }
    };
    let process = trace.processes.into_iter().next();
    let notes = process.as_ref().map(|process| process.notes.join(" ")).unwrap_or_default();
    if let Some(CutShort::Instruction(reason)) = &mut stopped
        && !notes.is_empty()
    {
        *reason = notes;
    }
    let passes = process
        .and_then(|process| process.threads.into_iter().next())
        .map(|thread| thread.observer.passes)
        .unwrap_or_default();
    ProgramCounts { cells: cells(walked.done, passes), stopped }
}

fn stopped(why: CutShort) -> ProgramCounts {
    ProgramCounts { cells: Vec::new(), stopped: Some(why) }
}

/// An input whose walks were all answered.
pub(super) struct AnsweredInput {
    input: usize,
    kind: VariantKind,
    walks: Vec<PlannedWalk>,
    units: Vec<u64>,
    check: u64,
}

pub(super) fn walk(
    worker: &mut Worker,
    variant: &Announced,
    input: NumberedInput<'_>,
    most_units: u64,
) -> Result<AnsweredInput, CutShort> {
    input.load(worker)?;
    let walks = walks::walks(input.number as u32, variant.kind, &input.ready.windows, most_units);
    let (mut units, mut check) = (Vec::new(), 0);
    for walk in &walks {
        let walked = worker.walk(variant.index, &walk.request).map_err(|fault| why(&fault))?;
        units.push(walked.units);
        check = assay_pure::protocol::combine(check, walked.check);
    }
    Ok(AnsweredInput { input: input.number, kind: variant.kind, walks, units, check })
}

/// The passes of each input, read by its walks.
pub(super) fn cells(walked: Vec<AnsweredInput>, passes: Vec<(u32, PassCounts)>) -> Vec<CountedInput> {
    let mut by_input: HashMap<u32, Vec<PassCounts>> = HashMap::new();
    for (input, executed) in passes {
        by_input.entry(input).or_default().push(executed);
    }
    walked
        .into_iter()
        .map(|done| {
            let passes = by_input.remove(&(done.input as u32)).unwrap_or_default();
            let found = walks::read(&done.walks, &done.units, &passes);
            let lost = || format!("the tracer saw {} passes of this input, not all of them", passes.len());
            let walked = found.ok_or_else(lost).and_then(|walked| {
                if walked.first.units == 0 { Err("the input has no units".to_owned()) } else { Ok(walked) }
            });
            CountedInput { input: done.input, kind: done.kind, check: done.check, walked, note: None }
        })
        .collect()
}
