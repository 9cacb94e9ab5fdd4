//! What the code of a benchmark says: which functions it executes, which of them differ, and in how many instructions.

use crate::report::compare::{Function, FunctionChange};
use assay_pure::verdict::ContrastVerdict;
use assay_pure::verdict::cause::{Cause, CauseEvidence};
use serde::{Deserialize, Serialize};

/// What was found for one benchmark; kept in the ledger.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Functions that either side executes, in the binaries that were built; `None`: not known.
    pub executed: Option<u64>,
    /// Those that differ.
    pub functions: Vec<Function>,
    /// All that is executed is the same machine code; `None`: not known.
    pub identical: Option<bool>,
    /// Why it is not known.
    pub unknown: Option<String>,
}

/// Instructions per call that differ by less are counted as the same: loops end a little earlier or later.
const SAME_WORK: f64 = 0.002;

/// The causes that the code speaks for.
///
/// Work needs a difference in time to be the cause of; code that drifted is told wherever it is executed.
pub fn causes(found: &Found, verdict: &ContrastVerdict, margin: f64) -> Vec<CauseEvidence> {
    let mut causes = Vec::new();
    let named = |cause, evidence: String| CauseEvidence { cause, share: None, evidence };
    let differs = verdict.verdict.is_difference()
        || verdict.code.is_some_and(|code| code.ratio.ln().abs() > margin.ln_1p());
    let mut worked: Vec<(f64, &Function)> = found
        .functions
        .iter()
        .filter(|function| function.change == FunctionChange::Changed)
        .filter_map(|function| Some((ratio(function)?, function)))
        .filter(|(ratio, _)| ratio.ln().abs() > SAME_WORK)
        .collect();
    worked.sort_by(|one, other| other.0.ln().abs().total_cmp(&one.0.ln().abs()));
    if let Some((ratio, function)) = worked.first().filter(|_| differs) {
        let more = (ratio - 1.0) * 100.0;
        causes.push(named(
            Cause::Work,
            format!(
                "{} executes {:.1} instructions per call, was {:.1} ({more:+.1} %)",
                function.name,
                function.candidate_instructions.unwrap_or_default(),
                function.baseline_instructions.unwrap_or_default()
            ),
        ));
    }
    let drifted: Vec<&str> = found
        .functions
        .iter()
        .filter(|function| function.change == FunctionChange::Changed && function.same_source == Some(true))
        .map(|function| function.name.as_str())
        .collect();
    if let [first, rest @ ..] = drifted.as_slice() {
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        causes.push(named(
            Cause::CodegenDrift,
            format!("the machine code of {first}{more} changed, though the source it was made from did not"),
        ));
    }
    causes
}

fn ratio(function: &Function) -> Option<f64> {
    let (before, after) = (function.baseline_instructions?, function.candidate_instructions?);
    (before > 0.0 && after > 0.0).then_some(after / before)
}
