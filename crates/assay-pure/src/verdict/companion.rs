//! Which other function's place does a variant's time go with, beside its own?
//!
//! A caller's loop and what it calls each have an offset in their 64-byte line. Padding moves both alike; a shuffle moves
//! them against each other. So where the callee's offset matters, the variant's own start explains only part of the
//! variance, and the rest looks like chance.
//!
//! Method: for each other function of the program the placements are grouped by the pair of offsets, the variant's own and
//! that function's; the groups' adjusted R squared of ln(time) is compared. Among hundreds of functions one fits well by
//! chance, and all placements of a rotation share whatever else that rotation had. So the best is compared with the best of
//! the same functions with their offsets dealt out to other rotations (Westfall and Young, Resampling-Based Multiple
//! Testing, 1993: the maximum statistic over permuted blocks), and named only if it explains [`NAMED`] and few such deals
//! reach it.
//! Limits: one function beside the own, so a stream that calls three is explained in part; functions that moved alike in
//! all placements cannot be told apart and are named together. Checked: exact times of a known pair, and how often a
//! function is named that has no part in it, by simulation.

use assay_numbers::choices::SeededChoices;
use std::collections::{BTreeMap, BTreeSet};

/// The least adjusted share of the variance that a pair must explain to be named.
pub const NAMED: f64 = 0.8;
/// An own start that explains so much leaves nothing to look for.
const ENOUGH: f64 = 0.95;
/// Deals of the offsets to other rotations.
const DEALS: usize = 999;
/// The share of deals that may reach what was found.
const REACHED: f64 = 0.05;
/// Placements beyond the groups, at the least.
const SPARE: usize = 8;
/// What this module draws numbers for.
const PURPOSE: u64 = 0x636f_6d70_616e_696f;

/// A variant's time at one placement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedTime {
    /// Number of the shuffle.
    pub rotation: u32,
    /// Offset of the variant's own start in its 64-byte line.
    pub offset: u64,
    /// Nanoseconds per unit, above 0.
    pub ns: f64,
}

/// The function whose offset, beside the variant's own, goes with its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Companion {
    /// Which of the others: their numbers. Several moved alike in all placements.
    pub functions: Vec<usize>,
    /// R squared of the pair of offsets.
    pub share: f64,
    /// The same, less what as many groups would explain of nothing.
    pub share_adjusted: f64,
    /// (own offset, its offset, geometric mean of nanoseconds per unit) of each pair that occurred.
    pub times: Vec<(u64, u64, f64)>,
}

/// Looks for it. `others` has for each other function its offset at each of `times`.
///
/// Returns: `None` where the own start explains enough, where no function passes, or where rotations differ in the offsets
/// that they reach.
///
/// # Panics
/// A function has another number of offsets than there are times.
pub fn companion(times: &[PlacedTime], others: &[Vec<u64>], seed: u64) -> Option<Companion> {
    assert!(others.iter().all(|offsets| offsets.len() == times.len()), "one offset per time");
    let values = Values::of(times)?;
    let own: Vec<u64> = times.iter().map(|time| time.offset).collect();
    if values.adjusted(&own)? >= ENOUGH {
        return None;
    }
    let pairs: Vec<Vec<u64>> = others.iter().map(|offsets| paired(&own, offsets)).collect();
    let distinct: BTreeSet<&Vec<u64>> = pairs.iter().collect();
    let scored = distinct.iter().filter_map(|pair| Some((values.adjusted(pair)?, *pair)));
    let (best, pair) = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let rest: Vec<&Vec<u64>> = distinct.into_iter().collect();
    if best < NAMED || !is_rare(&values, times, &rest, best, seed)? {
        return None;
    }
    let functions: Vec<usize> = (0..pairs.len()).filter(|&at| pairs[at] == *pair).collect();
    let offsets = &others[functions[0]];
    Some(Companion {
        share: 1.0 - values.within(pair).0 / values.total,
        share_adjusted: best,
        times: means(times, offsets),
        functions,
    })
}

/// Labels of groups by pair of offsets, numbered in the order in which they occur: equal for functions that move alike.
fn paired(own: &[u64], other: &[u64]) -> Vec<u64> {
    let mut known = BTreeMap::new();
    own.iter()
        .zip(other)
        .map(|pair| {
            let next = known.len() as u64;
            *known.entry(pair).or_insert(next)
        })
        .collect()
}

/// Whether few deals of the functions' offsets to other rotations explain as much.
fn is_rare(values: &Values, times: &[PlacedTime], pairs: &[&Vec<u64>], best: f64, seed: u64) -> Option<bool> {
    let rotations: Vec<u32> =
        times.iter().map(|time| time.rotation).collect::<BTreeSet<_>>().into_iter().collect();
    let at: BTreeMap<(u32, u64), usize> =
        times.iter().enumerate().map(|(at, time)| ((time.rotation, time.offset), at)).collect();
    let mut order = SeededChoices::new(seed, &[PURPOSE]);
    let mut reached = 0;
    for _ in 0..DEALS {
        let mut dealt = rotations.clone();
        order.shuffle(&mut dealt);
        let from: BTreeMap<u32, u32> = rotations.iter().copied().zip(dealt).collect();
        let source: Option<Vec<usize>> =
            times.iter().map(|time| at.get(&(from[&time.rotation], time.offset)).copied()).collect();
        let source = source?;
        let reaches = |pair: &&Vec<u64>| {
            let dealt: Vec<u64> = source.iter().map(|&at| pair[at]).collect();
            values.adjusted(&dealt).is_some_and(|share| share >= best - 1e-9)
        };
        reached += usize::from(pairs.iter().any(reaches));
        if reached as f64 > REACHED * DEALS as f64 {
            return Some(false);
        }
    }
    Some(true)
}

/// Logarithms of the times, with their sum of squares about the mean.
struct Values {
    logs: Vec<f64>,
    total: f64,
}

impl Values {
    fn of(times: &[PlacedTime]) -> Option<Self> {
        let logs: Vec<f64> = times.iter().map(|time| time.ns.ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let total: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        (total.is_finite() && total > 0.0).then_some(Self { logs, total })
    }

    /// The sum of squares within groups, and the number of groups.
    fn within(&self, groups: &[u64]) -> (f64, usize) {
        let mut sums: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
        for (group, log) in groups.iter().zip(&self.logs) {
            let found = sums.entry(*group).or_default();
            found.0 += 1.0;
            found.1 += log;
        }
        let mean = |group: &u64| sums[group].1 / sums[group].0;
        let squares = groups.iter().zip(&self.logs).map(|(group, log)| (log - mean(group)).powi(2)).sum();
        (squares, sums.len())
    }

    /// Adjusted R squared; nothing where the groups leave too few placements.
    fn adjusted(&self, groups: &[u64]) -> Option<f64> {
        let (within, count) = self.within(groups);
        let spare = self.logs.len().checked_sub(count).filter(|spare| *spare >= SPARE)?;
        Some(1.0 - (within / spare as f64) / (self.total / (self.logs.len() - 1) as f64))
    }
}

fn means(times: &[PlacedTime], offsets: &[u64]) -> Vec<(u64, u64, f64)> {
    let mut groups: BTreeMap<(u64, u64), (f64, f64)> = BTreeMap::new();
    for (time, other) in times.iter().zip(offsets) {
        let found = groups.entry((time.offset, *other)).or_default();
        found.0 += 1.0;
        found.1 += time.ns.ln();
    }
    groups.into_iter().map(|((own, other), (count, sum))| (own, other, (sum / count).exp())).collect()
}

#[cfg(test)]
mod tests;
