//! Where the spread of a benchmark's figures comes from: side, placement, process, round, or none of them.

use assay_pure::compare::{Side, VisitPlacement, VisitResult, benchmarks};
use assay_pure::stats::components::{Repetition, VarianceComponents, VarianceSource, components};
use assay_pure::stats::quantile::median;
use assay_pure::words;
use assay_report::compare::{Factor, Factors};
use std::collections::BTreeMap;

/// Confidence of the shares' intervals.
const CONFIDENCE: f64 = 0.95;

/// Splits the variance of every benchmark that all sides have; as built is no placement of the design and left out.
pub fn factors(seen: &[VisitResult], sides: &[Side], placements: bool) -> Factors {
    let mut rows = Vec::new();
    let mut shares: BTreeMap<VarianceSource, Vec<f64>> = BTreeMap::new();
    let all = benchmarks(seen, sides);
    for benchmark in all.iter().filter(|found| found.missing == assay_pure::compare::Missing::Nowhere) {
        let Ok(found) = components(&observations(seen, &benchmark.name, placements), CONFIDENCE) else {
            continue;
        };
        for share in &found.shares {
            shares.entry(share.source).or_default().push(share.share);
        }
        rows.extend(rows_of(&benchmark.name, &found));
    }
    Factors { sentence: sentence(&shares), rows }
}

fn observations(seen: &[VisitResult], benchmark: &str, placements: bool) -> Vec<Repetition> {
    let mut found = Vec::new();
    for visit in seen {
        let placement = match visit.place {
            VisitPlacement::Placed { rotation, phase_bytes } if placements => rotation * 1024 + phase_bytes,
            // Every process has surroundings of its own: none of them is met twice.
            VisitPlacement::Placed { .. } => 0,
            VisitPlacement::AsBuilt => continue,
        };
        let process = match visit.place {
            VisitPlacement::Placed { rotation, phase_bytes } if !placements => rotation * 1024 + phase_bytes,
            _ => 0,
        };
        for (_, values) in visit.figures.iter().filter(|(name, _)| name == benchmark) {
            let usable = values.iter().filter(|value| value.is_finite() && **value > 0.0);
            found.extend(usable.map(|value| Repetition {
                value: value.ln(),
                side: visit.side.number() as u32,
                placement,
                round: visit.round,
                process,
            }));
        }
    }
    found
}

fn rows_of(benchmark: &str, found: &VarianceComponents) -> Vec<Factor> {
    let row = |share: &assay_pure::stats::components::SourceShare| Factor {
        benchmark: benchmark.into(),
        factor: share.source.name("side").into(),
        share: share.share,
        lower: share.interval.map(|interval| interval.0),
        upper: share.interval.map(|interval| interval.1),
        deviation: share.variance.max(0.0).sqrt(),
    };
    found.shares.iter().map(row).collect()
}

/// "In the median benchmark placement explains 71 % of the spread, the rest 15 %, ..."
fn sentence(shares: &BTreeMap<VarianceSource, Vec<f64>>) -> String {
    let mut middles: Vec<(f64, VarianceSource)> =
        shares.iter().filter_map(|(source, all)| Some((median(all)?, *source))).collect();
    middles.sort_by(|one, other| other.0.total_cmp(&one.0));
    let told: Vec<String> = middles
        .iter()
        .map(|(share, source)| format!("{} {}", source.name("side"), words::fraction(*share)))
        .collect();
    if told.is_empty() {
        return "Unknown: splitting the spread takes repetitions in at least two rounds.".into();
    }
    format!("Share of the variance in the median benchmark: {}.", told.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_pure::compare::{PHASES, round};

    #[test]
    fn what_depends_on_the_placement_is_laid_to_it() {
        let mut seen = Vec::new();
        for number in 0..3 {
            for visit in round(1, number, 6, &PHASES, 2) {
                let level = match visit.place {
                    VisitPlacement::AsBuilt => 10.0,
                    VisitPlacement::Placed { rotation, phase_bytes } => {
                        1.0 + f64::from((rotation * 7 + phase_bytes / 16 * 3) % 5) / 10.0
                    }
                };
                let noise = f64::from(visit.surroundings.stack_bytes as u32 % 7) / 1000.0;
                let values = vec![level + noise, level + noise * 0.9, level - noise];
                seen.push(VisitResult {
                    round: number,
                    side: Side::BOTH[visit.side],
                    place: visit.place,
                    figures: vec![("a".into(), values)],
                });
            }
        }
        let found = factors(&seen, &Side::BOTH, true);
        let placement = found.rows.iter().find(|row| row.factor == "placement").unwrap();
        assert!(placement.share > 0.95, "{found:?}");
        assert!(
            found.sentence.starts_with("Share of the variance in the median benchmark: placement 9")
                || found.sentence.contains("placement 100"),
            "{}",
            found.sentence
        );
        assert!(factors(&[], &Side::BOTH, true).sentence.starts_with("Unknown:"));
    }
}
