//! What a campaign of a ledger measured of functions, by their offset in the line.

use crate::campaign::compose;
use crate::campaign::observe::VariantBuild;
use crate::lead::Misuse;
use crate::store::Ledger;
use anyhow::Result;
use assay_report::layout::page::{MeasuredVariant, TimeAtOffset};
use std::collections::BTreeMap;

/// Times by the symbol of the function that a variant is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SymbolTimes {
    by_symbol: BTreeMap<String, Vec<MeasuredVariant>>,
}

impl SymbolTimes {
    /// Those of a campaign; of the newest if none is named.
    ///
    /// # Errors
    /// The ledger cannot be read or has no such campaign.
    pub fn of(ledger: &Ledger, campaign: Option<i64>) -> Result<Self> {
        let known = ledger.campaigns()?;
        let wanted = campaign.or_else(|| known.first().map(|campaign| campaign.id));
        let Some(id) = wanted.filter(|id| known.iter().any(|campaign| campaign.id == *id)) else {
            let numbers: Vec<String> = known.iter().map(|campaign| campaign.id.to_string()).collect();
            let text = match campaign {
                Some(id) => format!("no campaign {id} in the ledger; it has: {}", numbers.join(", ")),
                None => "the ledger has no campaigns yet; `assay run` makes one".to_owned(),
            };
            return Err(Misuse(text).into());
        };
        let symbols = symbols(ledger, id)?;
        let mut by_symbol: BTreeMap<String, Vec<MeasuredVariant>> = BTreeMap::new();
        for cell in compose::page(ledger, id)?.cells {
            let key = VariantBuild {
                variant: cell.variant.clone(),
                compiler: cell.compiler.clone(),
                flags: cell.flags.clone(),
            };
            let Some(symbol) = symbols.get(&key).filter(|_| !cell.by_offset.is_empty()) else { continue };
            let times = cell.by_offset.iter();
            by_symbol.entry(symbol.clone()).or_default().push(MeasuredVariant {
                variant: cell.variant,
                input: cell.input,
                compiler: cell.compiler,
                flags: cell.flags,
                by_offset: times
                    .map(|at| TimeAtOffset { offset: at.offset, ns_per_unit: at.ns_per_unit })
                    .collect(),
            });
        }
        Ok(Self { by_symbol })
    }

    /// The times of a function; none if it was not measured.
    pub fn get(&self, symbol: &str) -> Vec<MeasuredVariant> {
        self.by_symbol.get(symbol).cloned().unwrap_or_default()
    }

    /// The functions that were measured.
    pub fn symbols(&self) -> impl Iterator<Item = &str> {
        self.by_symbol.keys().map(String::as_str)
    }
}

/// The function that each variant of a build is: by the address at which its processes found it.
fn symbols(ledger: &Ledger, campaign: i64) -> Result<BTreeMap<VariantBuild, String>> {
    let mut found = BTreeMap::new();
    for process in ledger.processes(campaign)? {
        let key = VariantBuild::of(&process);
        if found.contains_key(&key) {
            continue;
        }
        let functions = ledger.artifact_functions(&process.artifact)?.unwrap_or_default();
        let named = functions.as_array().into_iter().flatten().find_map(|function| {
            let here = function["address"].as_u64() == Some(process.entry_address);
            function["name"].as_str().filter(|_| here)
        });
        if let Some(name) = named {
            found.insert(key, name.to_owned());
        }
    }
    Ok(found)
}
