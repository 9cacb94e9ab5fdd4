//! What the ledger knows of the variants' machine code, as verdicts need it: the same, the same loops, executed alike.

use super::observe::VariantBuild;
use crate::store::{CampaignInput, Ledger};
use anyhow::Result;
use assay_pure::experiment::Experiment;
use assay_pure::ledger::CodeFound;
use assay_pure::verdict::{CodeIdentity, SameExecution};
use std::collections::HashMap;

/// A variant of a build beside the baseline's code there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CodePair {
    /// The candidate.
    pub candidate: VariantBuild,
    /// The baseline in the same build.
    pub baseline: String,
}

/// What is known of two variants' machine code.
#[derive(Clone, Debug)]
pub struct KnownCode {
    /// On any input.
    identity: CodeIdentity,
    /// What the loops of both execute, by input, where it is the same and proves the sides equivalent.
    executed: HashMap<String, SameExecution>,
}

impl KnownCode {
    pub(super) fn on(&self, input: &str) -> CodeIdentity {
        match (&self.identity, self.executed.get(input)) {
            (CodeIdentity::SameLoops(loops), Some(&same)) => CodeIdentity::SameExecution(loops.clone(), same),
            (identity, _) => identity.clone(),
        }
    }
}

/// Are they the same machine code, and if not, do they execute the same? Absent where it is unknown.
///
/// # Errors
/// The ledger cannot be read.
pub fn identical_code(
    ledger: &Ledger,
    campaign: i64,
    experiment: &Experiment,
) -> Result<HashMap<CodePair, KnownCode>> {
    let inputs = ledger.campaign_inputs(campaign)?;
    let mut found = HashMap::new();
    for process in ledger.processes(campaign)?.into_iter().filter(|process| process.rotation.is_some()) {
        for variant in &experiment.variants {
            let candidate = VariantBuild { variant: variant.name.clone(), ..VariantBuild::of(&process) };
            let pair = CodePair { candidate, baseline: experiment.baseline.clone() };
            if variant.name == experiment.baseline || found.contains_key(&pair) {
                continue;
            }
            let Some(row) = ledger.identity(&process.artifact, &experiment.baseline, &variant.name)? else {
                continue;
            };
            let identity = match row.verdict {
                CodeFound::Proven => CodeIdentity::Proven,
                CodeFound::Identical => CodeIdentity::SameCode,
                CodeFound::SameLoops => CodeIdentity::SameLoops(serde_json::from_str(&row.evidence)?),
                CodeFound::Different => CodeIdentity::Different,
                CodeFound::Unknown => continue,
            };
            let rows = ledger.executions(&process.artifact, &experiment.baseline, &variant.name)?;
            let of_input = |input: &CampaignInput| {
                // Where code or data is cold, what lies around the loops costs as much as they do.
                let spec = experiment.inputs.iter().find(|spec| spec.name == input.name)?;
                let spec = Some(spec).filter(|spec| spec.usage.is_plain())?;
                let row =
                    rows.iter().find(|row| row.is_of(&input.digest, input.windows, spec.window_units))?;
                let same = SameExecution { looped: row.looped, around: row.around };
                let proves =
                    row.same && !experiment.measured_only && same.is_within(experiment.minimum_effect);
                proves.then(|| (input.name.clone(), same))
            };
            let executed = inputs.iter().filter_map(of_input).collect();
            found.insert(pair, KnownCode { identity, executed });
        }
    }
    Ok(found)
}
