//! Cells as a page shows them: how long a variant took on an input in a build, and over which placements.

use super::{CellLimit, Count, MedianInterval};
use assay_pure::experiment::matrix::CellName;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One combination of the axes, placements taken together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageCell {
    /// Variant name.
    pub variant: String,
    /// Input name.
    pub input: String,
    /// Compiler name.
    pub compiler: String,
    /// Flag set name.
    pub flags: String,
    /// Over all placements; null where nothing usable was measured.
    pub ns_per_unit: Option<MedianInterval>,
    /// The same as a rate; null where nothing usable was measured, or the input has no bytes.
    #[serde(default)]
    pub throughput: Option<Throughput>,
    /// By the entry's offset in its 64-byte line.
    pub by_offset: Vec<AtOffset>,
    /// Which offsets the function really visited.
    pub reached: OffsetsReached,
    /// Nanoseconds per unit in the plain link.
    pub as_built_ns: Option<f64>,
    /// Over the single placements.
    #[serde(default)]
    pub range: Option<Range>,
    /// What its time varies with over placements; null where it does not vary or reaches one offset only.
    #[serde(default)]
    pub offset_share: Option<PageOffsetShare>,
    /// The function whose start, beside its own, its time goes with; null where none is established.
    #[serde(default)]
    pub companion: Option<CompanionFunction>,
    /// Counts per unit by the event's name ("instructions", "branches", "branch-misses", "cycles", "op-cache-ops",
    /// "decoded-ops", "l1i-misses", "itlb-misses", "allocations", "allocated-bytes", "peak-bytes"), each with where it comes from.
    pub per_unit: BTreeMap<String, Count>,
    /// The least time of a unit by each limit of the machine that can be told, the largest share first.
    #[serde(default)]
    pub limits: Vec<CellLimit>,
    /// Why nothing was counted, where it should have been.
    #[serde(default)]
    pub uncounted: Option<Failed>,
    /// What the reader must know of the counts.
    #[serde(default)]
    pub count_note: Option<String>,
    /// Why there is no figure.
    pub failed: Option<Failed>,
}

impl PageCell {
    /// Its names on the axes.
    pub fn name(&self) -> CellName<'_> {
        CellName { variant: &self.variant, input: &self.input, compiler: &self.compiler, flags: &self.flags }
    }
}

/// How fast a variant goes through its input, at the median of its times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Throughput {
    /// Bytes of the input per second, 10^9.
    pub gigabytes_per_second: f64,
    /// Units per second, 10^6.
    pub million_units_per_second: f64,
}

impl Throughput {
    /// Of a time per unit, on an input of so many bytes and units; none where either is 0.
    pub fn of(ns_per_unit: f64, bytes: u64, units: u64) -> Option<Self> {
        (bytes > 0 && units > 0 && ns_per_unit > 0.0).then(|| Self {
            gigabytes_per_second: bytes as f64 / units as f64 / ns_per_unit,
            million_units_per_second: 1e3 / ns_per_unit,
        })
    }
}

/// The times of single placements, each the median of its samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Range {
    /// The fastest, nanoseconds per unit.
    pub fastest_ns: f64,
    /// The slowest.
    pub slowest_ns: f64,
    /// Placements in all, the plain link not counted.
    pub placements: u64,
    /// Of these, slower than the fastest by a tenth and more.
    pub slow_placements: u64,
}

/// What the variance of a time over placements goes with; the parts add up to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageOffsetShare {
    /// The entry's offset in its 64-byte line.
    pub offset: f64,
    /// The order of the functions, and drift between rotations.
    pub shuffle: f64,
    /// Neither of them alone.
    pub rest: f64,
    /// Placements.
    pub placements: u64,
}

/// The function whose start in its 64-byte line, beside the variant's own, a time goes with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CompanionFunction {
    /// Its name; several where they moved alike in all placements.
    pub functions: Vec<String>,
    /// The share of the variance that the two starts explain together: R squared.
    pub share: f64,
    /// The same, less what as many groups would explain of nothing.
    pub share_adjusted: f64,
    /// The time at each pair of starts that occurred.
    pub by_pair: Vec<AtPair>,
}

/// The time at a pair of offsets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AtPair {
    /// The variant's own, in bytes from the start of the 64-byte line.
    pub offset: u64,
    /// The companion's.
    pub companion_offset: u64,
    /// Geometric mean of the nanoseconds per unit.
    pub ns_per_unit: f64,
}

/// The time at one offset.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AtOffset {
    /// Bytes from the start of the 64-byte line.
    pub offset: u64,
    /// Median nanoseconds per unit.
    pub ns_per_unit: f64,
}

/// The offsets a function visited, read back from the linked files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OffsetsReached {
    /// Ascending, bytes from the start of the line.
    pub offsets: Vec<u64>,
    /// Why there are fewer than asked for.
    pub note: Option<String>,
}

/// Why a cell has no figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Failed {
    /// One sentence.
    pub reason: String,
}
