//! What the processor's own counters say of a command, where the kernel grants them: instructions, branches and the
//! mispredictions that really happened. What the shell itself takes is counted apart and subtracted.

use super::first::Runnable;
use assay_linux::perf::{self, CommandEnding, Counter, CounterEvent, Target};
use assay_pure::command::EndedBy;
use std::process::{Command, Stdio};
use std::time::Duration;

/// In user mode, as perf has them for who has no privileges.
const EVENTS: [&str; 3] = ["instructions:u", "branches:u", "branch-misses:u"];

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hardware {
    /// Instructions.
    pub instructions: u64,
    /// Branches.
    pub branches: u64,
    /// Mispredicted ones.
    pub misses: u64,
}

impl Hardware {
    fn less(self, start: Hardware) -> Hardware {
        Hardware {
            instructions: self.instructions.saturating_sub(start.instructions),
            branches: self.branches.saturating_sub(start.branches),
            misses: self.misses.saturating_sub(start.misses),
        }
    }
}

fn events() -> Vec<CounterEvent> {
    EVENTS.iter().map(|name| name.parse().expect("perf's own names")).collect()
}

/// Whether the kernel grants all of them.
pub fn is_granted() -> bool {
    events().iter().all(|event| Counter::open(event, Target::Here, None).is_ok())
}

/// Counts a task, start-up or else the shell alone subtracted.
///
/// # Errors
/// It failed, or a counter was never on; a sentence.
pub fn count(task: &Runnable, empty: Option<&str>, limit: Duration) -> Result<Hardware, String> {
    // A shell that executes nothing else.
    let start = one(task, empty.unwrap_or(":"), limit)?;
    Ok(one(task, &task.bench.command, limit)?.less(start))
}

fn one(task: &Runnable, command: &str, limit: Duration) -> Result<Hardware, String> {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(&task.bench.folder).envs(task.bench.environment.iter().cloned());
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let failed = |error: std::io::Error| format!("it cannot be counted: {error}");
    let (mut child, counters) = perf::spawn(shell, &[events()], true).map_err(failed)?;
    let ending = CommandEnding::wait(&mut child, Some(limit)).map_err(failed)?;
    if ending.end != EndedBy::Itself || !ending.status.success() {
        return Err("it failed while it was counted".into());
    }
    let mut found = [0; EVENTS.len()];
    for ((event, reading), value) in counters.read().map_err(failed)?.iter().zip(&mut found) {
        let scaled = reading.as_ref().ok().and_then(perf::CounterReading::scaled);
        *value = scaled.ok_or_else(|| format!("{event} was never on a counter"))?.round() as u64;
    }
    let [instructions, branches, misses] = found;
    Ok(Hardware { instructions, branches, misses })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_up_is_subtracted_and_never_below_nothing() {
        let of = |instructions, branches, misses| Hardware { instructions, branches, misses };
        assert_eq!(of(100, 20, 3).less(of(40, 5, 4)), of(60, 15, 0));
    }

    #[test]
    fn the_events_are_known_to_perf() {
        assert_eq!(events().len(), 3);
        assert!(events().iter().all(|event| !event.is_software()));
    }
}
