//! Is a function's machine code the same in two campaigns?
//!
//! Method: the same binary holds the same code. Of other binaries the function's sizes are compared, which the ledger keeps; and
//! where the store still has both files, the code itself, whatever it is linked beside.

use super::runs::CampaignData;
use super::series::BuildName;
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
pub struct KeptBinaries<'a> {
    /// The store.
    pub store: &'a Path,
    /// All ledgers.
    pub ledgers: &'a [Ledger],
}

impl KeptBinaries<'_> {
    /// The size of a campaign's function; none where the ledger does not keep it.
    fn size(&self, campaign: &CampaignData, of: &EntryPlace) -> Option<u64> {
        let functions = self.ledgers[campaign.ledger].artifact_functions(&of.artifact).ok()??;
        let mut all = functions.as_array()?.iter();
        all.find(|function| function["address"].as_u64() == Some(of.address))?["size"].as_u64()
    }
}

/// One build of a campaign.
#[derive(Clone, Copy)]
pub struct CampaignBuild<'a> {
    /// The campaign.
    pub campaign: &'a CampaignData,
    /// The build.
    pub build: &'a BuildName,
}

/// Where a variant's entry lies.
#[derive(PartialEq, Eq)]
struct EntryPlace {
    /// Hash of the program.
    artifact: String,
    address: u64,
}

/// Compares a variant's code in the plain links of two campaigns.
pub fn compare(
    binaries: &KeptBinaries,
    variant: &str,
    before: CampaignBuild<'_>,
    after: CampaignBuild<'_>,
) -> SameCode {
    let place = |CampaignBuild { campaign, build }: CampaignBuild<'_>| {
        let of = |process: &&crate::store::ProcessRow| {
            process.variant == variant && process.compiler == build.compiler && process.flags == build.flags
        };
        let found = campaign.as_built.iter().find(of);
        found.map(|process| EntryPlace { artifact: process.artifact.clone(), address: process.entry_address })
    };
    let (Some(old), Some(new)) = (place(before), place(after)) else { return SameCode::Unknown };
    if old == new {
        return SameCode::Same;
    }
    if let (Some(one), Some(other)) =
        (binaries.size(before.campaign, &old), binaries.size(after.campaign, &new))
        && one != other
    {
        return SameCode::Other;
    }
    let kept = |hash: &str| kept_artifact(binaries.store, hash);
    let (Some(one), Some(other)) = (kept(&old.artifact), kept(&new.artifact)) else {
        return SameCode::Unknown;
    };
    let Ok(changes) = across::compare(&one, &other) else { return SameCode::Unknown };
    let found = changes.iter().find(|change| {
        let at = |place: &Option<assay_pure::placement::layout::FunctionPlace>| {
            place.as_ref().map(|place| place.address)
        };
        at(&change.old) == Some(old.address) && at(&change.new) == Some(new.address)
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
