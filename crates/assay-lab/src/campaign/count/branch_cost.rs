//! What a misprediction costs on this machine: from the ledger, or measured now.

use crate::campaign::scene::Scene;
use crate::lead::turn;
use crate::limits::watched::{Here, WatchedTimer};
use crate::store::BranchTimingRow;
use anyhow::Result;
use assay_linux::branch_timing::{self, BranchTiming, TimingEffort};
use assay_linux::window::WindowTimer;
use assay_pure::stats::penalty::penalty;
use assay_pure::stats::predictor_memory::memory;
use assay_pure::words;
use serde_json::{Value, json};
use std::io;

/// With a busy sibling thread in more of the windows than this the reader is warned: medians stand up to fewer.
const MANY_SHARED: f64 = 0.2;

/// The facts of the machine that it depends on, from those kept with a campaign.
pub fn machine_key(machine: &Value) -> Value {
    let keys = ["cpu", "cpu_id", "microcode", "kernel", "governor", "virtual_machine"];
    Value::Object(keys.iter().map(|key| ((*key).to_owned(), machine[*key].clone())).collect())
}

/// Measures it where no row by today's method has the same facts of the machine.
///
/// # Errors
/// The ledger cannot be written. A machine that cannot measure it is told by a warning.
pub(super) fn ensure(scene: &mut Scene<'_>) -> Result<()> {
    let key = machine_key(&scene.campaign.machine);
    if scene.ledger.branch_timing(&key)?.is_some_and(|row| row.sweeps().is_some()) {
        return Ok(());
    }
    let Some(_turn) = turn::take(scene.cpu, scene.on)? else { return Ok(()) };
    scene.doing("timing what a misprediction costs, once on this machine");
    let measured = measure(scene.cpu, TimingEffort::USUAL).map_err(|error| error.to_string());
    match measured.and_then(|(timing, windows)| Ok((row(key, &timing, windows)?, timing.shared))) {
        Ok((row, shared)) => {
            scene.ledger.put_branch_timing(scene.campaign.id, &row)?;
            if shared as f64 > MANY_SHARED * row.windows as f64 {
                scene.warn(format!(
                    "the cost of a misprediction may be too high: a sibling thread was busy in {} of its windows. It is kept in \
                     this ledger; for a better one measure with a new --ledger while the core is unshared",
                    words::fraction(shared as f64 / row.windows as f64)
                ));
            }
        }
        Err(reason) => {
            scene.warn(format!(
                "this report does not say what mispredictions cost: {reason}. Stop other programs, or choose another core (--cpu \
                 N), and measure again"
            ));
        }
    }
    Ok(())
}

/// Measures in a thread of its own that is bound to the processor; with its windows in all, and how many were interrupted.
fn measure(cpu: usize, effort: TimingEffort) -> io::Result<(BranchTiming, WindowTimer)> {
    let thread = std::thread::Builder::new().name("branch timing".into()).spawn(move || {
        assay_linux::pin::pin(0, cpu)?;
        let mut watched = WatchedTimer::new(Here::default());
        watched.look_around();
        let timing = branch_timing::measure(effort, &mut |work| watched.window(work))?;
        Ok((timing, watched.clocks.windows))
    })?;
    thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread that times branches panicked")))
}

/// The row of a measurement, or why it says nothing.
fn row(machine: Value, timing: &BranchTiming, windows: WindowTimer) -> Result<BranchTimingRow, String> {
    let cost = penalty(&timing.pairs(), 0.05).map_err(|_| {
        let WindowTimer { timed, interrupted } = windows;
        format!("{interrupted} of {timed} windows were interrupted by other work")
    })?;
    if cost.interval.lower <= 0.0 {
        return Err(format!(
            "random outcomes take {} and predictable ones {}: no difference",
            words::time(cost.fresh_ns),
            words::time(cost.learned_ns)
        ));
    }
    let known = memory(&timing.sweeps, cost.fresh_ns);
    Ok(BranchTimingRow {
        machine,
        penalty_ns: cost.ns,
        lower_ns: cost.interval.lower,
        upper_ns: cost.interval.upper,
        fresh_ns: cost.fresh_ns,
        learned_ns: cost.learned_ns,
        series: cost.series as u64,
        learned_outcomes: known.map(|known| known.learned_outcomes),
        unlearned_outcomes: known.and_then(|known| known.unlearned_outcomes),
        sweep: json!(timing.sweeps),
        windows: windows.timed,
        interrupted: windows.interrupted,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_linux::branch_timing::WindowPair;

    const WINDOWS: WindowTimer = WindowTimer { timed: 100, interrupted: 3 };

    fn timing(fresh_ns: f64, learned_ns: f64, series: usize) -> BranchTiming {
        let pair = WindowPair { fresh_ns, learned_ns };
        let period =
            |outcomes: u64| (outcomes, vec![if outcomes < 50_000 { learned_ns } else { fresh_ns }; 3]);
        let sweep = (10..=20).map(|power| period(1 << power)).collect();
        BranchTiming { series: vec![vec![pair; 4]; series], sweeps: vec![sweep; 3], shared: 0 }
    }

    #[test]
    fn the_row_holds_the_penalty_and_the_lengths() {
        let row = row(json!({"cpu": "a"}), &timing(3.3, 0.7, 5), WINDOWS).unwrap();
        assert!((row.penalty_ns - 5.2).abs() < 1e-9 && row.series == 5);
        // Half of the way between 32,768 and 65,536, and nine tenths of it.
        assert_eq!((row.learned_outcomes, row.unlearned_outcomes), (Some(46_300), Some(61_100)));
        assert_eq!(
            (row.windows, row.interrupted, row.sweeps().map(|sweeps| sweeps.len())),
            (100, 3, Some(3))
        );
        assert_eq!(row.memory().map(|memory| memory.learned_outcomes), row.learned_outcomes);
    }

    #[test]
    fn a_row_by_the_earlier_method_has_its_figure_and_no_sweeps() {
        let row = row(json!({}), &timing(3.3, 0.7, 5), WINDOWS).unwrap();
        let earlier =
            BranchTimingRow { sweep: json!([[1024, [0.7, 0.7]]]), learned_outcomes: Some(23_168), ..row };
        assert_eq!(
            (earlier.sweeps(), earlier.memory().map(|memory| memory.learned_outcomes)),
            (None, Some(23_168))
        );
        assert_eq!(BranchTimingRow { learned_outcomes: None, ..earlier }.memory(), None);
    }

    #[test]
    fn what_was_interrupted_or_makes_no_difference_is_said() {
        let few = row(json!({}), &timing(3.3, 0.7, 2), WINDOWS).unwrap_err();
        assert_eq!(few, "3 of 100 windows were interrupted by other work");
        let none = row(json!({}), &timing(0.7, 0.7, 5), WINDOWS).unwrap_err();
        assert!(none.contains("no difference"), "{none}");
    }

    #[test]
    fn says_which_processor_cannot_be_had() {
        let error = measure(1000, TimingEffort::USUAL).unwrap_err().to_string();
        assert!(error.contains("CPU 1000"), "{error}");
    }

    #[test]
    fn this_processor_is_measured_as_much_as_was_asked_for() {
        let cpu = assay_linux::pin::allowed_cpus().unwrap()[0];
        let (found, windows) =
            measure(cpu, TimingEffort { series: 2, pairs: 2, windows: 1, sweeps: 1 }).unwrap();
        assert_eq!((found.series.len(), found.sweeps.len(), found.sweeps[0].len()), (2, 1, 41));
        let all = found.series.iter().map(Vec::len).sum::<usize>()
            + found.sweeps[0].iter().map(|(_, ns)| ns.len()).sum::<usize>();
        assert!(all == 4 + 41 || windows.interrupted + found.shared > 0 || windows.timed > 49, "{found:?}");
        assert!(found.series.iter().flatten().all(|pair| pair.fresh_ns > 0.0 && pair.learned_ns > 0.0));
    }

    #[test]
    fn the_key_has_the_facts_that_matter_and_no_other() {
        let machine =
            json!({"cpu": "x", "kernel": "6.1", "pinned_cpu": 1, "compilers": [], "memory_bytes": 5});
        let other =
            json!({"cpu": "x", "kernel": "6.1", "pinned_cpu": 0, "compilers": [1], "memory_bytes": 6});
        assert_eq!(machine_key(&machine), machine_key(&other));
        assert_ne!(machine_key(&machine), machine_key(&json!({"cpu": "x", "kernel": "6.2"})));
    }
}
