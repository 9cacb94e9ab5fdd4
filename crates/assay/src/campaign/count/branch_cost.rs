//! What a misprediction costs on this machine: from the ledger, or measured now.

use crate::campaign::turn;
use crate::event::Event;
use crate::store::{BranchTimingRow, Ledger};
use anyhow::Result;
use assay_linux::branch_timing::{self, BranchTiming, Effort};
use assay_pure::stats::penalty::{memory, penalty};
use serde_json::{Value, json};

/// The facts of the machine that it depends on, from those kept with a campaign.
pub fn machine_key(machine: &Value) -> Value {
    let keys = ["cpu", "cpu_id", "microcode", "kernel", "governor", "virtual_machine"];
    Value::Object(keys.iter().map(|key| ((*key).to_owned(), machine[*key].clone())).collect())
}

/// Measures it where no row has the same facts of the machine.
///
/// # Errors
/// The ledger cannot be written. A machine that cannot measure it is told by a warning.
pub(super) fn ensure(
    ledger: &Ledger,
    (campaign, machine): (i64, &Value),
    cpu: usize,
    events: &mut dyn FnMut(Event),
) -> Result<()> {
    let key = machine_key(machine);
    if ledger.branch_timing(&key)?.is_some() {
        return Ok(());
    }
    let Some(_turn) = turn::take(cpu, &mut || {}, &assay_linux::interrupt::asked)? else { return Ok(()) };
    let measured = branch_timing::measure(cpu, Effort::USUAL).map_err(|error| error.to_string());
    match measured.and_then(|timing| row(key, &timing)) {
        Ok(row) => ledger.put_branch_timing(campaign, &row)?,
        Err(reason) => {
            events(Event::Warning(format!(
                "what a misprediction costs here could not be measured: {reason}"
            )));
        }
    }
    Ok(())
}

/// The row of a measurement, or why it says nothing.
fn row(machine: Value, timing: &BranchTiming) -> Result<BranchTimingRow, String> {
    let series: Vec<Vec<(f64, f64)>> = timing
        .series
        .iter()
        .map(|pairs| pairs.iter().map(|pair| (pair.fresh_ns, pair.learned_ns)).collect())
        .collect();
    let cost = penalty(&series, 0.05).map_err(|_| {
        let (windows, interrupted) = timing.windows;
        format!("{interrupted} of {windows} windows were interrupted by other work")
    })?;
    if cost.interval.lower <= 0.0 {
        return Err(format!(
            "random outcomes take {:.2} ns and learned ones {:.2}, which is no difference",
            cost.fresh_ns, cost.learned_ns
        ));
    }
    let sweep: Vec<(u64, Vec<f64>)> =
        timing.sweep.iter().map(|period| (period.outcomes, period.ns.clone())).collect();
    let known = memory(&sweep, cost.fresh_ns);
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
        sweep: json!(sweep),
        windows: timing.windows.0,
        interrupted: timing.windows.1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_linux::branch_timing::{Pair, Period};

    fn timing(fresh_ns: f64, learned_ns: f64, series: usize) -> BranchTiming {
        let pair = Pair { fresh_ns, learned_ns };
        let period = |outcomes: u64| Period {
            outcomes,
            ns: vec![if outcomes < 50_000 { learned_ns } else { fresh_ns }; 3],
        };
        BranchTiming {
            series: vec![vec![pair; 4]; series],
            sweep: (10..=20).map(|power| period(1 << power)).collect(),
            windows: (100, 3),
        }
    }

    #[test]
    fn the_row_holds_the_penalty_and_the_lengths() {
        let row = row(json!({"cpu": "a"}), &timing(3.3, 0.7, 5)).unwrap();
        assert!((row.penalty_ns - 5.2).abs() < 1e-9 && row.series == 5);
        assert_eq!((row.learned_outcomes, row.unlearned_outcomes), (Some(32_768), Some(65_536)));
        assert_eq!((row.windows, row.interrupted, row.sweep.as_array().map(Vec::len)), (100, 3, Some(11)));
    }

    #[test]
    fn what_was_interrupted_or_makes_no_difference_is_said() {
        let few = row(json!({}), &timing(3.3, 0.7, 2)).unwrap_err();
        assert_eq!(few, "3 of 100 windows were interrupted by other work");
        let none = row(json!({}), &timing(0.7, 0.7, 5)).unwrap_err();
        assert!(none.contains("which is no difference"), "{none}");
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
