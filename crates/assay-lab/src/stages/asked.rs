//! What is asked of a session of a diary.

use super::OpenedDiary;
use assay_trace::sites::SimulatedPredictor;
use std::path::PathBuf;
use std::time::Duration;

/// What the command line asks for.
#[derive(Clone, Debug)]
pub struct StagesRequest {
    /// The diary's file, read.
    pub opened: OpenedDiary,
    /// The ledger.
    pub ledger: PathBuf,
    /// Where trees, links and binaries are kept.
    pub store: PathBuf,
    /// Only these new stages; all if empty.
    pub only: Vec<String>,
    /// Measure all of them again.
    pub again: bool,
    /// Go on with the newest unfinished session of the same builds, inputs and options.
    pub resume: bool,
    /// Put stages of another machine or input into the same table.
    pub mixed: bool,
    /// Predictors, the one of the table first.
    pub models: Vec<SimulatedPredictor>,
    /// The tracer's plugin, where it is not the lab's own.
    pub plugin: Option<PathBuf>,
    /// Whether commands are timed; counts are taken anyway.
    pub time: bool,
    /// The processor to measure on.
    pub cpu: Option<usize>,
    /// Whether commands are bound to it.
    pub pin: bool,
    /// How long one command may take.
    pub patience: Duration,
    /// How long one command may take under the emulator.
    pub trace_patience: Duration,
}
