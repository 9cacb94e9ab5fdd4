//! Processes that are out of line with all others of their cell, which no placement explains.
//!
//! Each placement of a variant is one process that lives for the whole campaign. One of some three thousand was seen to take
//! ten times as long as its like from the first round to the last. Nothing is left out for it: the interval says what it
//! does to the verdict. But the reader must know that one process did it.

use super::observe::{Observed, VariantBuild};
use assay_pure::experiment::matrix::CellId;
use assay_pure::stats::quantile::median;
use assay_pure::words;
use std::collections::BTreeMap;

/// Times the median of the cell's placements from which one process is out of line: placement alone does less.
const OUT_OF_LINE: f64 = 3.0;
/// Placements from which one can be told from the others.
const FEWEST: usize = 8;
/// Processes that are told one by one.
const TOLD: usize = 3;

/// A variant's process.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct VariantProcess {
    build: VariantBuild,
    place: ProcessPlace,
}

/// Which placement of its cell a process has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ProcessPlace {
    rotation: u32,
    phase: u32,
}

/// The median time of a cell at one placement.
struct PlaceTime {
    place: ProcessPlace,
    ns_per_unit: f64,
}

/// What the reader must know of such processes.
pub fn warnings(observed: &Observed) -> Vec<String> {
    let mut found: BTreeMap<VariantProcess, Vec<(String, f64)>> = BTreeMap::new();
    for (name, times) in placed_times(observed) {
        if let Some((place, times_the_median)) = out_of_line(&times) {
            let CellId { variant, input, compiler, flags } = name.clone();
            let process = VariantProcess { build: VariantBuild { variant, compiler, flags }, place };
            found.entry(process).or_default().push((input, times_the_median));
        }
    }
    let mut told: Vec<String> =
        found.iter().take(TOLD).map(|(process, inputs)| sentence(process, inputs)).collect();
    if found.len() > TOLD {
        let more = (found.len() - TOLD) as u64;
        told.push(match more {
            1 => "1 more process was an outlier in the same way.".to_owned(),
            _ => format!("{} were outliers in the same way.", words::plural(more, "more process")),
        });
    }
    told
}

/// Median nanoseconds per unit of each cell at each place of its rotations.
fn placed_times(observed: &Observed) -> impl Iterator<Item = (&CellId, Vec<PlaceTime>)> {
    observed.cells.iter().map(|(name, placements)| {
        let times = placements.iter().filter_map(|(at, placed)| {
            let place = ProcessPlace { rotation: at.rotation()?, phase: at.phase_bytes()? };
            Some(PlaceTime { place, ns_per_unit: placed.median()? })
        });
        (name, times.collect())
    })
}

/// The one placement that is out of line, and how many times the median of all it took.
fn out_of_line(times: &[PlaceTime]) -> Option<(ProcessPlace, f64)> {
    let all: Vec<f64> = times.iter().map(|time| time.ns_per_unit).collect();
    let middle = median(&all).filter(|ns| *ns > 0.0)?;
    let mut far = times.iter().filter(|time| time.ns_per_unit >= OUT_OF_LINE * middle);
    let found = far.next().filter(|_| times.len() >= FEWEST)?;
    far.next().is_none().then_some((found.place, found.ns_per_unit / middle))
}

fn sentence(process: &VariantProcess, inputs: &[(String, f64)]) -> String {
    let VariantProcess { build: VariantBuild { variant, compiler, flags }, place } = process;
    let ProcessPlace { rotation, phase } = place;
    let times: Vec<String> =
        inputs.iter().map(|(input, times)| format!("{times:.1} times the median on {input}")).collect();
    format!(
        "One process of {variant} ({compiler}, {flags}; rotation {rotation}, phase {phase}) took {}. Placement alone does \
         not explain that; the process stays in the estimates. Confirm with another --seed.",
        words::list(&times)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(ns: &[f64]) -> Vec<PlaceTime> {
        let place = |at: u32| ProcessPlace { rotation: at / 4, phase: at % 4 * 16 };
        ns.iter().zip(0..).map(|(&ns_per_unit, at)| PlaceTime { place: place(at), ns_per_unit }).collect()
    }

    #[test]
    fn one_process_out_of_line_is_told_but_not_two_or_a_few() {
        let one = times(&[1.4, 1.6, 1.4, 1.6, 1.4, 13.2, 1.4, 1.6]);
        let (place, ratio) = out_of_line(&one).expect("one");
        assert_eq!(place, ProcessPlace { rotation: 1, phase: 16 });
        assert!((ratio - 13.2 / 1.5).abs() < 1e-12, "{ratio}");
        assert_eq!(out_of_line(&times(&[1.4, 13.2, 1.4, 1.6, 1.4, 13.2, 1.4, 1.6])), None);
        assert_eq!(out_of_line(&times(&[1.4, 13.2, 1.4, 1.6])), None, "too few to tell");
        assert_eq!(
            out_of_line(&times(&[1.4, 2.8, 1.4, 1.6, 1.4, 1.4, 1.4, 1.6])),
            None,
            "placement may do it"
        );
    }
}
