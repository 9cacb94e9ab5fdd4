//! Figures of visits, sorted by benchmark into contrasts.
//!
//! A repetition of a benchmark within a visit is one observation; candidate and baseline pair by (round, repetition) at
//! the same placement. A benchmark that only one side has cannot be compared and is told apart.

use super::{Side, VisitPlacement};
use crate::verdict::{Observation, ObservedContrast, PairAt, Rotation, Visits};
use std::collections::{BTreeMap, BTreeSet};

/// What one visit gave.
#[derive(Clone, Debug, PartialEq)]
pub struct VisitResult {
    /// The pass over all placements.
    pub round: u32,
    /// Whose binaries.
    pub side: Side,
    /// Which link.
    pub place: VisitPlacement,
    /// Positive figures by benchmark, one per repetition, smaller is better; as many as the output gave.
    pub figures: Vec<(String, Vec<f64>)>,
}

/// A benchmark as the comparison met it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Benchmark {
    /// Its name in the output.
    pub name: String,
    /// Who lacks it.
    pub missing: Missing,
}

/// Who lacks a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Nobody.
    Nowhere,
    /// One side never gave a figure.
    From(Side),
}

/// All benchmarks that any visit named, in the order of their names.
pub fn benchmarks(seen: &[VisitResult], sides: &[Side]) -> Vec<Benchmark> {
    let mut by_name: BTreeMap<&str, BTreeSet<Side>> = BTreeMap::new();
    for visit in seen {
        for (name, values) in &visit.figures {
            if !values.is_empty() {
                by_name.entry(name).or_default().insert(visit.side);
            }
        }
    }
    let missing = |met: &BTreeSet<Side>| {
        sides.iter().find(|side| !met.contains(side)).map_or(Missing::Nowhere, |side| Missing::From(*side))
    };
    by_name.into_iter().map(|(name, met)| Benchmark { name: name.into(), missing: missing(&met) }).collect()
}

/// One contrast per benchmark that both sides have, in the order of their names.
///
/// Input: all visits; the names of both sides. The benchmark's name stands as the contrast's input. Figures that are not
/// positive finite numbers are left out: their logarithm says nothing. The unit, and whether placements were linked, is for the
/// caller to add.
pub fn contrasts(seen: &[VisitResult], names: [&str; 2]) -> Vec<ObservedContrast> {
    let shared = benchmarks(seen, &Side::BOTH);
    let shared = shared.iter().filter(|benchmark| benchmark.missing == Missing::Nowhere);
    shared.map(|benchmark| contrast(seen, &benchmark.name, names)).collect()
}

fn contrast(seen: &[VisitResult], benchmark: &str, [baseline, candidate]: [&str; 2]) -> ObservedContrast {
    let mut at: BTreeMap<VisitPlacement, PairAt> = BTreeMap::new();
    for visit in seen {
        let pair = at.entry(visit.place).or_default();
        if let VisitPlacement::Placed { phase_bytes, .. } = visit.place {
            // A benchmark has no one entry whose offset could be told: what is known is how far all code was moved.
            pair.phase_bytes = phase_bytes;
            (pair.candidate_offset, pair.baseline_offset) = (phase_bytes.into(), phase_bytes.into());
        }
        let figures = visit.figures.iter().filter(|(name, _)| name == benchmark);
        let values = figures.flat_map(|(_, values)| values);
        let observations = values.zip(0..).filter(|(value, _)| value.is_finite() && **value > 0.0);
        let observations =
            observations.map(|(value, index)| Observation { round: visit.round, index, ns_per_unit: *value });
        match visit.side {
            Side::Baseline => pair.baseline.extend(observations),
            Side::Candidate => pair.candidate.extend(observations),
        }
    }
    let both = |pair: &PairAt| !pair.candidate.is_empty() && !pair.baseline.is_empty();
    let as_built = at.remove(&VisitPlacement::AsBuilt).filter(both);
    let mut rotations: BTreeMap<u32, Vec<PairAt>> = BTreeMap::new();
    for (place, pair) in at {
        if let (VisitPlacement::Placed { rotation, .. }, true) = (place, both(&pair)) {
            rotations.entry(rotation).or_default().push(pair);
        }
    }
    ObservedContrast {
        candidate: candidate.into(),
        baseline: baseline.into(),
        input: benchmark.into(),
        compiler: String::new(),
        flags: String::new(),
        against: None,
        as_built,
        rotations: rotations.into_iter().map(|(rotation, phases)| Rotation { rotation, phases }).collect(),
        visits: Visits::Run { unit: String::new(), relinked: true },
        identity: None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PHASES, round};
    use super::*;
    use crate::verdict::cause::Cause;
    use crate::verdict::{Verdict, VerdictOptions, judge};

    fn visit(number: u32, side: Side, place: VisitPlacement, figures: &[(&str, &[f64])]) -> VisitResult {
        let figures = figures.iter().map(|(name, values)| ((*name).to_owned(), values.to_vec())).collect();
        VisitResult { round: number, side, place, figures }
    }

    #[test]
    fn what_one_side_lacks_is_told_and_not_compared() {
        let seen = [
            visit(
                0,
                Side::Baseline,
                VisitPlacement::AsBuilt,
                &[("a", &[1.0]), ("old", &[1.0]), ("empty", &[])],
            ),
            visit(
                0,
                Side::Candidate,
                VisitPlacement::AsBuilt,
                &[("a", &[2.0]), ("new", &[1.0]), ("empty", &[1.0])],
            ),
        ];
        let found: Vec<(String, Missing)> = benchmarks(&seen, &Side::BOTH)
            .into_iter()
            .map(|benchmark| (benchmark.name, benchmark.missing))
            .collect();
        let expected = [
            ("a", Missing::Nowhere),
            ("empty", Missing::From(Side::Baseline)),
            ("new", Missing::From(Side::Baseline)),
            ("old", Missing::From(Side::Candidate)),
        ];
        assert_eq!(found, expected.map(|(name, missing)| (name.to_owned(), missing)));
        let contrasts = contrasts(&seen, ["main", "HEAD"]);
        assert_eq!(contrasts.len(), 1);
        let as_built = contrasts[0].as_built.as_ref().unwrap();
        assert_eq!((as_built.baseline[0].ns_per_unit, as_built.candidate[0].ns_per_unit), (1.0, 2.0));
        assert_eq!((contrasts[0].baseline.as_str(), contrasts[0].candidate.as_str()), ("main", "HEAD"));
    }

    #[test]
    fn repetitions_pair_by_number_even_where_one_is_unusable() {
        let place = VisitPlacement::Placed { rotation: 2, phase_bytes: 48 };
        let seen = [
            visit(3, Side::Baseline, place, &[("a", &[1.0, 0.0, 3.0])]),
            visit(3, Side::Candidate, place, &[("a", &[1.0, 2.0, f64::NAN, 4.0])]),
        ];
        let found = contrasts(&seen, ["", ""]).remove(0);
        assert_eq!((found.rotations[0].rotation, found.rotations[0].phases[0].phase_bytes), (2, 48));
        let keys = |samples: &[Observation]| -> Vec<(u32, u32)> {
            samples.iter().map(|sample| (sample.round, sample.index)).collect()
        };
        assert_eq!(keys(&found.rotations[0].phases[0].baseline), [(3, 0), (3, 2)]);
        assert_eq!(keys(&found.rotations[0].phases[0].candidate), [(3, 0), (3, 1), (3, 3)]);
        assert_eq!(found.as_built, None);
    }

    /// Placement moves both sides by up to 20 %, the candidate's code of one benchmark is 5 % slower.
    #[test]
    fn a_planted_slowdown_is_found_in_its_benchmark_alone() {
        let mut seen = Vec::new();
        let mut noise = assay_numbers::choices::SeededChoices::new(11, &[1]);
        for number in 0..3 {
            for planned in round(5, number, 8, &PHASES, 2) {
                let side = Side::BOTH[planned.side];
                let moved = match planned.place {
                    VisitPlacement::AsBuilt => [1.0, 1.2][planned.side],
                    // The sides lie differently, so the same padding does something else to each.
                    VisitPlacement::Placed { phase_bytes, .. } => {
                        1.0 + 0.2 * f64::from((phase_bytes / 16 + 2 * planned.side as u32) % 4) / 3.0
                    }
                };
                let mut figure = |code: f64| -> Vec<f64> {
                    (0..3)
                        .map(|_| 10.0 * moved * code * (1.0 + noise.below(1000) as f64 / 200_000.0))
                        .collect()
                };
                let slow = if side == Side::Candidate { 1.05 } else { 1.0 };
                let figures = vec![("same".into(), figure(1.0)), ("slow".into(), figure(slow))];
                seen.push(VisitResult { round: number, side, place: planned.place, figures });
            }
        }
        let contrasts = contrasts(&seen, ["main", "HEAD"]);
        let found = judge(
            &contrasts,
            &VerdictOptions { margin: crate::stats::margin::Margin::of(0.02), ..VerdictOptions::default() },
        );
        let verdicts: Vec<(&str, Verdict)> =
            found.contrasts.iter().map(|found| (found.input.as_str(), found.verdict)).collect();
        assert_eq!(verdicts, [("same", Verdict::Equivalent), ("slow", Verdict::Slower)]);
        let code = found.contrasts[1].code.unwrap();
        assert!((code.ratio - 1.05).abs() < 0.005, "{code:?}");
    }

    /// Links differ by up to 20 %; a run of either side is slow by a fifth in 30 % of all.
    #[test]
    fn runs_at_two_speeds_are_told_by_mode_whatever_their_links_differ_by() {
        let mut chance = assay_numbers::choices::SeededChoices::new(3, &[1]);
        let links: Vec<f64> = (0..72).map(|_| 1.0 + chance.below(200) as f64 / 1000.0).collect();
        let mut seen = Vec::new();
        for number in 0..6 {
            for planned in round(5, number, 8, &PHASES, 2) {
                let link = match planned.place {
                    VisitPlacement::AsBuilt => 64 + planned.side,
                    VisitPlacement::Placed { rotation, phase_bytes } => {
                        planned.side * 32 + rotation as usize * 4 + phase_bytes as usize / 16
                    }
                };
                let mode = if chance.below(10) < 3 { 1.2 } else { 1.0 };
                let noise = 1.0 + chance.below(1000) as f64 / 100_000.0;
                let figures = vec![("loop".into(), vec![5e6 * links[link] * mode * noise])];
                let side = Side::BOTH[planned.side];
                seen.push(VisitResult { round: number, side, place: planned.place, figures });
            }
        }
        let judged = |visits: Visits| {
            let mut contrasts = contrasts(&seen, ["main", "HEAD"]);
            contrasts[0].visits = visits;
            judge(&contrasts, &VerdictOptions::default()).contrasts.remove(0)
        };
        let found = judged(Visits::Run { unit: "ns/command".into(), relinked: true });
        let modes = found.modes.expect("two speeds");
        for side in [&modes.candidate, &modes.baseline] {
            let gap = side.slow.unwrap() / side.fast;
            assert!((gap - 1.2).abs() < 0.01 && (side.slow_share - 0.3).abs() < 0.08, "{side:?}");
            assert_eq!((side.visits, side.offsets.len()), (192, 0), "nothing is known of entries");
        }
        let evidence = &found.causes.iter().find(|cause| cause.cause == Cause::Modes).unwrap().evidence;
        assert!(evidence.contains("HEAD runs at 5.") && evidence.contains(" ms, slow in "), "{evidence}");
        assert!(evidence.contains("of 192 runs, and main") && !evidence.contains("per unit"), "{evidence}");
        assert!(evidence.contains("between runs of one link"), "{evidence}");
        let other = judged(Visits::Run { unit: "MB".into(), relinked: true });
        assert!(other.causes.iter().any(|cause| cause.evidence.contains(" MB, slow in ")), "{other:?}");
    }
}
