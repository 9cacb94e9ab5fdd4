//! Does a command run for a fixed time, however slow its code is? Then its time as a whole says nothing.
//!
//! Method: it is executed again while it is stopped for half of the time. A fixed amount of work takes as much longer as it was
//! stopped, and as much CPU time as before. A program that watches the clock ends as early as before, having used less.
//! Limits: a program that watches its CPU time is not told apart; libraries that do (Google Benchmark) are known by their
//! output. Runs below a fifth of a second, and those that mostly wait, are not judged.
//! Checked by: made-up times below; loops of a shell by work and by the clock, on a quiet machine (ignored otherwise).

use super::{Adapter, BenchCommand, BenchRun, Surroundings, VisitError, execute};
use assay_pure::words::fraction;
use std::path::Path;
use std::time::Duration;

/// How long it runs and is stopped by turns: many turns in the shortest run that is judged.
const TURN: Duration = Duration::from_millis(20);
/// Shorter runs are not judged.
const SHORTEST: Duration = Duration::from_millis(200);
/// Least share of its time that a judged run spends on a processor.
const BUSY: f64 = 0.3;
/// Least share of its CPU time that a program by the clock loses, of about a half.
const LOST: f64 = 0.25;
/// Most of the time stopped that a program by the clock takes longer.
const LONGER: f64 = 0.5;

/// A run, in seconds.
#[derive(Clone, Copy, Debug)]
struct RunTimes {
    elapsed: f64,
    cpu: f64,
    stopped: f64,
}

/// Executes the command once more, and says what shows that it runs for a fixed time, if anything does.
///
/// Input: `plain`, an execution that was not stopped.
///
/// # Errors
/// It cannot be started, fails, or takes too long.
pub fn runs_for_fixed_time(
    bench: &BenchCommand,
    plain: &BenchRun,
    surroundings: &Surroundings,
    scratch: &Path,
) -> Result<Option<String>, VisitError> {
    let seconds = |time: Duration| time.as_secs_f64();
    let plain = RunTimes { elapsed: seconds(plain.elapsed), cpu: seconds(plain.cpu), stopped: 0.0 };
    if plain.elapsed < seconds(SHORTEST) || plain.cpu < BUSY * plain.elapsed {
        return Ok(None);
    }
    let ran = execute(bench, Some(&Adapter::Wall), surroundings, scratch, Some(TURN))?;
    let stopped =
        RunTimes { elapsed: seconds(ran.elapsed), cpu: seconds(ran.cpu), stopped: seconds(ran.paused) };
    Ok(is_by_the_clock(plain, stopped).then(|| {
        format!(
            "it runs for a fixed time: stopped for {:.1} s, it took {:.1} s instead of {:.1} s, and used {} less CPU time",
            stopped.stopped,
            stopped.elapsed,
            plain.elapsed,
            fraction(1.0 - stopped.cpu / plain.cpu)
        )
    }))
}

fn is_by_the_clock(plain: RunTimes, stopped: RunTimes) -> bool {
    let lost = 1.0 - stopped.cpu / plain.cpu;
    let longer = stopped.elapsed - plain.elapsed;
    lost >= LOST && longer < LONGER * stopped.stopped
}

#[cfg(test)]
mod tests {
    use super::super::visit;
    use super::*;

    #[test]
    fn less_work_in_the_same_time_is_a_fixed_time() {
        let run = |elapsed, cpu, stopped| RunTimes { elapsed, cpu, stopped };
        let plain = run(2.0, 1.9, 0.0);
        assert!(is_by_the_clock(plain, run(2.0, 1.0, 1.0)));
        assert!(!is_by_the_clock(plain, run(3.9, 1.9, 1.9)), "fixed work");
        assert!(!is_by_the_clock(plain, run(2.1, 1.8, 1.0)), "it waited while it was stopped");
        assert!(!is_by_the_clock(plain, run(3.0, 1.0, 1.5)), "another amount of work");
    }

    fn judged(command: &str) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let bench = BenchCommand::new(command, folder.path());
        let plain = Surroundings { environment_bytes: 0, stack_bytes: 0, aslr: true };
        let scratch = folder.path().join("scratch");
        let ran = visit(&bench, &plain, &scratch).unwrap();
        runs_for_fixed_time(&bench, &ran, &plain, &scratch).unwrap()
    }

    #[test]
    fn what_waits_is_not_executed_again() {
        assert_eq!(judged("sleep 0.3; echo x >> runs; [ $(wc -l < runs) = 1 ]"), None);
    }

    #[test]
    #[ignore = "relates measured times: on a quiet machine"]
    fn loops_of_a_shell_are_told_apart() {
        let by_clock = "end=$(($(date +%s%N) + 600000000)); while :; do i=0; while [ $i -lt 4000 ]; do i=$((i+1)); done; \
                        [ $(date +%s%N) -lt $end ] || break; done";
        let said = judged(by_clock).expect("a fixed time");
        assert!(said.starts_with("it runs for a fixed time: stopped for 0."), "{said}");
        assert_eq!(judged("i=0; while [ $i -lt 800000 ]; do i=$((i+1)); done"), None);
        assert_eq!(judged("sleep 0.4"), None);
    }
}
