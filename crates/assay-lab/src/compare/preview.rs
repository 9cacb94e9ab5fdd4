//! What a comparison would build and run, and what budget it needs: nothing is built, nothing is executed.
//!
//! How long a run takes is unknown before one was executed. Where the ledger has runs of the same commands, their median
//! counts; otherwise the needs are given for some times.

use super::lead::{bench_of, build_of};
use super::revisions::Repository;
use super::sides::What;
use super::spec::{AskedEffort, FEWEST_ROTATIONS, Spec, effort, visits_per_round};
use crate::store::Ledger;
use anyhow::Result;
use assay_pure::stats::quantile::median;
use assay_report::compare::{COMPARE_PLAN_SCHEMA, ComparePlan, PlannedRun, PlannedSide};
use std::path::Path;

/// Times of a run for which the needs are given, seconds.
const TIMES: [f64; 3] = [1.0, 2.0, 5.0];

/// What is known before anything is built.
pub struct PreviewRequest<'a> {
    /// What would be compared.
    pub what: &'a What,
    /// How its commands were found, if they were.
    pub found: Option<String>,
    /// Where the user is.
    pub folder: &'a Path,
    /// Rotations and rounds that were asked for.
    pub asked: AskedEffort,
    /// Seconds of measuring.
    pub budget: f64,
    /// Of earlier comparisons, where there is one.
    pub ledger: Option<&'a Ledger>,
}

/// Makes the plan.
///
/// # Errors
/// A revision does not exist, the ledger cannot be read.
pub fn preview(request: &PreviewRequest<'_>) -> Result<ComparePlan> {
    let sides = sides(request)?;
    let count = sides.len() as u32;
    let fewest = request.asked.rotations.unwrap_or(FEWEST_ROTATIONS);
    let runs = visits_per_round(fewest, count);
    let measured = request.ledger.map_or(Ok(None), |ledger| run_before(ledger, request.what))?;
    let times = TIMES.iter().map(|seconds| (*seconds, 0)).chain(measured);
    let planned = times.map(|(run_seconds, measured_runs)| {
        let affordable = effort(request.budget, run_seconds, request.asked, count);
        PlannedRun {
            run_seconds,
            measured_runs,
            needed_seconds: runs as f64 * run_seconds,
            rotations: affordable.as_ref().map(|effort| effort.rotations),
            rounds: affordable.as_ref().map(|effort| effort.rounds),
            runs: affordable
                .map(|effort| visits_per_round(effort.rotations, count) * u64::from(effort.rounds)),
        }
    });
    Ok(ComparePlan {
        schema: COMPARE_PLAN_SCHEMA.into(),
        found: request.found.clone(),
        build: build_of(request.what),
        bench: bench_of(request.what),
        sides,
        fewest_rotations: fewest,
        fewest_runs: runs,
        budget_seconds: request.budget,
        times: planned.collect(),
    })
}

fn sides(request: &PreviewRequest<'_>) -> Result<Vec<PlannedSide>> {
    let plain = |name: &str| PlannedSide { name: name.into(), revision: None };
    Ok(match request.what {
        What::Commands(commands) => commands.iter().map(|command| plain(command)).collect(),
        What::Tree { .. } => vec![plain("the tree")],
        What::Revisions { baseline, candidate, .. } => {
            let repository = Repository::find(request.folder)?;
            let named = |name: &String| -> Result<PlannedSide> {
                let found = repository.revision(name)?;
                Ok(PlannedSide { name: found.name, revision: Some(found.commit) })
            };
            let candidate = candidate.as_ref().map_or_else(|| Ok(plain("the working tree")), named)?;
            vec![named(baseline)?, candidate]
        }
    })
}

/// The median time of a run of the same commands in the newest comparison that has any, and of how many runs.
fn run_before(ledger: &Ledger, what: &What) -> Result<Option<(f64, u64)>> {
    for number in ledger.comparison_numbers()? {
        let Some(row) = ledger.comparison(Some(number))? else { continue };
        // One that another version made tells nothing that can be read.
        let Ok(spec) = serde_json::from_value::<Spec>(row.asked) else { continue };
        if spec.build != build_of(what) || spec.bench != bench_of(what) {
            continue;
        }
        let visits = ledger.visits(number)?;
        let times: Vec<f64> = visits
            .iter()
            .filter(|visit| visit.failed.is_none())
            .map(|visit| visit.elapsed_ns as f64 / 1e9)
            .collect();
        if let Some(seconds) = median(&times) {
            return Ok(Some((seconds, times.len() as u64)));
        }
    }
    Ok(None)
}
