//! One program's instrumented build, walked through its inputs without emulation.

use super::converse::{CutShort, Job, ProgramCounts, converse};
use super::traced::{cells, walk};
use super::walks::Walker;
use assay_link::build::LoggingProgram;
use assay_trace::LogSession;

/// Walks the instrumented program through all inputs; `told` is called after each.
///
/// # Errors
/// Why its log tells nothing: who asked counts another way.
pub(super) fn log(
    job: &Job<'_>,
    program: &LoggingProgram,
    told: &mut dyn FnMut(),
) -> Result<ProgramCounts, String> {
    let walker = Walker::new(job.predictors);
    let session = LogSession::open(&program.plain, &program.table, walker);
    let session = session.map_err(|refusal| refusal.to_string())?;
    let mut job = job.clone();
    job.variables.push(session.variable());
    let walked =
        converse(&job, &[], &mut |worker, variant, input| walk(worker, variant, input, job.most_units), told);
    let (walker, followed) = session.finish();
    match (followed, walked.stopped) {
        (Err(why), _) => Err(why),
        (Ok(()), Some(CutShort::Instruction(why) | CutShort::Other(why))) => Err(why),
        (Ok(()), stopped) => Ok(ProgramCounts { cells: cells(walked.done, walker.passes), stopped }),
    }
}
