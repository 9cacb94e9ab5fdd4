//! What happens during a campaign, as the runner tells it and a consumer shows it. The runner never prints.

/// What a step waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum Wait {
    /// The right to measure on a processor, which another assay has.
    Turn {
        /// The processor.
        cpu: usize,
        /// The other's process and command, where the kernel tells: "process 4711, assay run sums.toml".
        holder: Option<String>,
    },
    /// An unshared core: other programs run on its other hardware thread.
    Core {
        /// The processor.
        cpu: usize,
        /// Visits that are to be made again because of it.
        visits: u64,
    },
    /// The right to place binaries in a store or to put them back, which another assay has.
    Store {
        /// The other's process and command, where the kernel tells.
        holder: Option<String>,
    },
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A phase begins ("inputs", "build", "answers", "measure", "verdicts").
    Phase {
        /// Its name, one or two words.
        name: String,
    },
    /// Something begins within the phase; there may be nothing to count of it.
    Doing {
        /// What, as the end of "now: ".
        what: String,
    },
    /// A step waits; told again about every second as long as it does.
    Waiting {
        /// What for.
        wait: Wait,
        /// So far.
        seconds: f64,
    },
    /// What was waited for has come.
    WaitOver,
    /// An input is ready (made, or found in the store).
    InputReady {
        /// Inputs ready so far.
        done: u64,
        /// Inputs of the experiment.
        total: u64,
    },
    /// A link is done, or was found in the store.
    Linked {
        /// Links done so far, the cached ones included.
        done: u64,
        /// Links of this phase.
        total: u64,
        /// Of those done, found in the store.
        cached: u64,
    },
    /// A variant has answered an input.
    Proved {
        /// Answers checked so far.
        done: u64,
        /// Answers of this phase.
        total: u64,
    },
    /// Measuring advances.
    Round {
        /// The pass over the cells, from 0.
        round: u32,
        /// Visits done in this round.
        visits_done: u64,
        /// Visits of this round.
        visits_total: u64,
        /// Spent measuring so far, seconds.
        measured_seconds: f64,
        /// Allowed, seconds.
        budget_seconds: f64,
    },
    /// A step of a sweep begins: a campaign of its own.
    Step {
        /// Its number, from 0.
        step: u32,
        /// Points that it measures.
        points: u64,
        /// They were measured before: another campaign is to confirm what they showed.
        again: bool,
        /// Most points that may still come after it.
        points_left: u64,
        /// Of the budget of all steps, seconds that are left.
        seconds_left: f64,
    },
    /// The events of a cell were counted, or could not be.
    Counted {
        /// Cells done so far.
        done: u64,
        /// Cells of this phase.
        total: u64,
    },
    /// The verdicts of something that was measured before were made anew.
    Judged {
        /// Done so far.
        done: u64,
        /// All of them.
        total: u64,
    },
    /// The verdicts were looked at.
    Look {
        /// Complete rotations.
        rotations: u32,
        /// Contrasts with a verdict other than undecided.
        decided: u64,
        /// All contrasts.
        contrasts: u64,
    },
    /// The user should know at once.
    Warning(String),
    /// A cell, artifact or variant is out.
    Failed {
        /// What.
        what: String,
        /// Why, one sentence.
        reason: String,
    },
    /// Nothing more will come.
    Finished,
}
