//! Which function beside a variant's own decides, by where it lies, what the variant takes: per cell, from the ledger.
//!
//! Looked for among the functions that the experiment names for the variant, or among all of the program if it names none;
//! only where the time moves between placements by more than the minimum effect. The rule: `verdict::companion`.

use super::observe::{CellPlacements, Observed, PlacementSamples, VariantBuild};
use crate::store::{Ledger, ProcessRow};
use anyhow::{Context, Result};
use assay_pure::compare::VisitPlacement;
use assay_pure::experiment::matrix::CellId;
use assay_pure::experiment::{Experiment, pattern};
use assay_pure::placement::layout::{FunctionPlace, LINE_BYTES};
use assay_pure::stats::margin::Margin;
use assay_pure::verdict::{self, PlacedTime};
use assay_report::page;
use assay_trace::sites::names::demangle;
use std::collections::{BTreeMap, HashMap};

/// Where functions start, by name.
type Starts = HashMap<String, u64>;

/// A variant of one build in one placement.
#[derive(PartialEq, Eq, Hash)]
struct PlacedVariant {
    build: VariantBuild,
    placement: VisitPlacement,
}

/// The companions of a campaign's cells.
pub struct Companions {
    starts: HashMap<String, Starts>,
    artifacts: HashMap<PlacedVariant, String>,
    wanted: BTreeMap<String, Vec<String>>,
    margin: Margin,
    seed: u64,
}

impl Companions {
    /// Reads where functions lie in all links of a campaign.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn of(ledger: &Ledger, campaign: i64, experiment: &Experiment) -> Result<Self> {
        let mut found = Self {
            starts: HashMap::new(),
            artifacts: HashMap::new(),
            wanted: BTreeMap::new(),
            margin: experiment.minimum_effect,
            seed: experiment.seed,
        };
        for variant in &experiment.variants {
            found.wanted.insert(variant.name.clone(), variant.functions.clone());
        }
        for process in ledger.processes(campaign)? {
            if !found.starts.contains_key(&process.artifact) {
                found.starts.insert(process.artifact.clone(), starts(ledger, &process.artifact)?);
            }
            found.artifacts.insert(place(&process), process.artifact);
        }
        Ok(found)
    }

    /// The companion of a cell, if one is established.
    pub fn get(&self, name: &CellId, observed: &Observed) -> Option<page::CompanionFunction> {
        let placed = self.placed(name, observed.cells.get(name)?);
        let times: Vec<PlacedTime> = placed.iter().map(|(time, _)| *time).collect();
        let (least, most) = times
            .iter()
            .fold((f64::INFINITY, 0.0_f64), |(low, high), time| (low.min(time.ns), high.max(time.ns)));
        if times.is_empty() || !self.margin.is_exceeded_by(most / least) {
            return None;
        }
        let names = self.names(&name.variant, placed[0].1);
        let offsets = |of: &String| -> Option<Vec<u64>> {
            placed.iter().map(|(_, starts)| starts.get(of).map(|start| start % LINE_BYTES)).collect()
        };
        let (names, others): (Vec<&String>, Vec<Vec<u64>>) =
            names.into_iter().filter_map(|of| Some((of, offsets(of)?))).unzip();
        let found = verdict::companion(&times, &others, self.seed)?;
        let pairs = found.times.iter();
        Some(page::CompanionFunction {
            functions: found.functions.iter().map(|&at| demangle(names[at])).collect(),
            share: found.share,
            share_adjusted: found.share_adjusted,
            by_pair: pairs
                .map(|&(offset, companion_offset, ns_per_unit)| page::AtPair {
                    offset,
                    companion_offset,
                    ns_per_unit,
                })
                .collect(),
        })
    }

    /// The cell's time at each placement of its rotations, and where the functions start there.
    fn placed(&self, name: &CellId, placements: &CellPlacements) -> Vec<(PlacedTime, &Starts)> {
        let CellId { variant, compiler, flags, .. } = name;
        let build =
            VariantBuild { variant: variant.clone(), compiler: compiler.clone(), flags: flags.clone() };
        let one = |placement: VisitPlacement, placed: &PlacementSamples| {
            let key = PlacedVariant { build: build.clone(), placement };
            let starts = self.starts.get(self.artifacts.get(&key)?)?;
            let ns = placed.median().filter(|ns| *ns > 0.0)?;
            Some((PlacedTime { rotation: placement.rotation()?, offset: placed.offset, ns }, starts))
        };
        placements.iter().filter_map(|(placement, placed)| one(*placement, placed)).collect()
    }

    /// The names to look among, in order.
    fn names<'a>(&self, variant: &str, starts: &'a Starts) -> Vec<&'a String> {
        let globs = self.wanted.get(variant).map(Vec::as_slice).unwrap_or_default();
        let is_wanted = |name: &&String| {
            let readable = demangle(name);
            globs.iter().any(|glob| pattern::matches(glob, &readable) || pattern::matches(glob, name))
        };
        let mut names: Vec<&String> =
            starts.keys().filter(|name| globs.is_empty() || is_wanted(name)).collect();
        names.sort_unstable();
        names
    }
}

fn place(process: &ProcessRow) -> PlacedVariant {
    PlacedVariant {
        build: VariantBuild::of(process),
        placement: VisitPlacement::of(process.rotation, process.phase_bytes),
    }
}

fn starts(ledger: &Ledger, artifact: &str) -> Result<Starts> {
    let Some(kept) = ledger.artifact(artifact)? else { return Ok(Starts::new()) };
    let functions: Vec<FunctionPlace> =
        serde_json::from_value(kept.functions).context("reading the addresses of an artifact's functions")?;
    Ok(functions.into_iter().map(|function| (function.name, function.address)).collect())
}
