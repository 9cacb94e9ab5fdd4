//! Is a function's machine code the same in two campaigns?
//!
//! Method: the same binary holds the same code. Of other binaries the function's sizes are compared, which the ledger keeps; and
//! where the store still has both files, the code itself, whatever it is linked beside.

use super::runs::CampaignData;
use crate::store::Ledger;
use assay_link::build::kept_artifact;
use assay_pure::placement::across::{self, CodeChange, Reached};
use assay_pure::words;
use std::path::Path;

/// What can be said of two functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SameCode {
    /// The same instructions, also in what they call.
    Same,
    /// Others.
    Other,
    /// It cannot be said: the files are gone.
    Unknown,
}

/// Where binaries and what is known of them are kept. Read when it is needed, and not held.
pub struct Binaries<'a> {
    /// The store.
    pub store: &'a Path,
    /// All ledgers.
    pub ledgers: &'a [Ledger],
}

impl Binaries<'_> {
    /// The size of a campaign's function; none where the ledger does not keep it.
    fn size(&self, campaign: &CampaignData, (artifact, entry): &(String, u64)) -> Option<u64> {
        let functions = self.ledgers[campaign.ledger].artifact_functions(artifact).ok()??;
        let mut all = functions.as_array()?.iter();
        all.find(|function| function["address"].as_u64() == Some(*entry))?["size"].as_u64()
    }
}

/// Compares a variant's code in the plain links of two campaigns.
pub fn compare(
    binaries: &Binaries,
    variant: &str,
    before: (&CampaignData, &(String, String)),
    after: (&CampaignData, &(String, String)),
) -> SameCode {
    let place = |(campaign, build): (&CampaignData, &(String, String))| {
        let of = |process: &&crate::store::ProcessRow| {
            process.variant == variant && (&process.compiler, &process.flags) == (&build.0, &build.1)
        };
        let found = campaign.as_built.iter().find(of);
        found.map(|process| (process.artifact.clone(), process.entry_address))
    };
    let (Some(old), Some(new)) = (place(before), place(after)) else { return SameCode::Unknown };
    if old == new {
        return SameCode::Same;
    }
    if let (Some(one), Some(other)) = (binaries.size(before.0, &old), binaries.size(after.0, &new))
        && one != other
    {
        return SameCode::Other;
    }
    let kept = |hash: &str| kept_artifact(binaries.store, hash);
    let (Some(one), Some(other)) = (kept(&old.0), kept(&new.0)) else {
        return SameCode::Unknown;
    };
    let Ok(changes) = across::compare(&one, &other) else { return SameCode::Unknown };
    let found = changes.iter().find(|change| {
        let at = |place: &Option<assay_pure::placement::layout::FunctionPlace>| {
            place.as_ref().map(|place| place.address)
        };
        at(&change.old) == Some(old.1) && at(&change.new) == Some(new.1)
    });
    match found {
        None => SameCode::Unknown,
        Some(change)
            if change.own == CodeChange::Changed || matches!(change.reached, Reached::Changed { .. }) =>
        {
            SameCode::Other
        }
        Some(change) if change.is_same_code() && change.reached == Reached::Same => SameCode::Same,
        Some(_) => SameCode::Unknown,
    }
}

/// What is said of several functions: "different machine code for b, the same of a".
pub fn told(found: &[(&str, SameCode)]) -> (Option<bool>, String) {
    let of = |wanted: SameCode| -> Vec<&str> {
        found.iter().filter(|(_, same)| *same == wanted).map(|(name, _)| *name).collect()
    };
    let (same, other, unknown) = (of(SameCode::Same), of(SameCode::Other), of(SameCode::Unknown));
    let mut parts = Vec::new();
    if !other.is_empty() {
        parts.push(format!("different machine code for {}", words::list(&other)));
    }
    if !same.is_empty() {
        parts.push(format!("the same machine code for {}", words::list(&same)));
    }
    if !unknown.is_empty() {
        parts.push(format!("the machine code of {} can no longer be compared", words::list(&unknown)));
    }
    let differs = if !other.is_empty() { Some(true) } else { unknown.is_empty().then_some(false) };
    (differs, parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_not_claimed() {
        let (same, other, unknown) = (SameCode::Same, SameCode::Other, SameCode::Unknown);
        let text = "different machine code for b, the same machine code for a".to_owned();
        assert_eq!(told(&[("b", other), ("a", same)]), (Some(true), text));
        assert_eq!(
            told(&[("b", same), ("a", same)]),
            (Some(false), "the same machine code for b and a".to_owned())
        );
        let (differs, text) = told(&[("b", unknown), ("a", same)]);
        assert_eq!((differs, text.contains("of b can no longer be compared")), (None, true), "{text}");
    }
}
