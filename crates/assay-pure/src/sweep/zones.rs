//! Who wins where: stretches of the key in which one of two wins, neither by enough to matter, or nobody can tell.

use super::reading::Reading;
use crate::stats::interval::Interval;
use crate::stats::margin::Margin;
use crate::verdict::Verdict;
use crate::verdict::decide::decide;

/// Who wins in a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Winner {
    /// The candidate takes less time, by more than the margin.
    Candidate,
    /// The baseline does.
    Baseline,
    /// They are equal within the margin.
    Neither,
    /// Not known.
    Unclear,
}

/// Neighbouring points at which the same is true.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zone {
    /// What is true there.
    pub winner: Winner,
    /// The first such point.
    pub from: f64,
    /// The last.
    pub to: f64,
    /// Of the winner's gain over the stretch, log ratios: the least and the greatest estimate.
    pub estimates: (f64, f64),
}

/// Who wins at one point: ln(candidate / baseline) compared with the margin at two-sided level `alpha`.
///
/// A winner's interval excludes 0 and its estimate is beyond the margin; of equals the interval lies inside the margin: as of
/// any verdict.
pub fn winner(reading: &Reading, margin: Margin, alpha: f64) -> Winner {
    let interval = Interval::around(reading.estimate, reading.half_width(alpha));
    match decide(reading.estimate, interval, margin) {
        Verdict::Equivalent => Winner::Neither,
        Verdict::Slower => Winner::Baseline,
        Verdict::Faster => Winner::Candidate,
        Verdict::Undecided => Winner::Unclear,
    }
}

/// The zones of a pair, in order of the key. A point of which nothing is known does not break a zone that goes on
/// behind it; at the border of two zones it belongs to neither.
pub fn zones(readings: &[Reading], margin: Margin, alpha: f64) -> Vec<Zone> {
    let mut zones: Vec<Zone> = Vec::new();
    for reading in readings {
        let found = winner(reading, margin, alpha);
        let estimates = (reading.estimate, reading.estimate);
        match zones.last_mut() {
            Some(zone) if found == Winner::Unclear && zone.winner != Winner::Unclear => {}
            Some(zone) if zone.winner == found => {
                zone.to = reading.at;
                let (low, high) = zone.estimates;
                zone.estimates = (low.min(reading.estimate), high.max(reading.estimate));
            }
            Some(zone) if zone.winner == Winner::Unclear => {
                *zone = Zone { winner: found, from: reading.at, to: reading.at, estimates };
            }
            _ => zones.push(Zone { winner: found, from: reading.at, to: reading.at, estimates }),
        }
    }
    zones
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::reading::CampaignsSeen;

    const MARGIN: Margin = Margin::of(0.01);

    fn reading(at: f64, estimate: f64) -> Reading {
        // t(30) at 0.05 is 2.042: an interval of ± 0.004.
        Reading { at, estimate, standard_error: 0.004 / 2.0423, degrees: 30.0, seen: CampaignsSeen::ONCE }
    }

    fn seen(estimates: &[f64]) -> Vec<(Winner, f64, f64)> {
        let readings: Vec<Reading> =
            estimates.iter().zip(0..).map(|(&estimate, at)| reading(f64::from(at), estimate)).collect();
        zones(&readings, MARGIN, 0.05).iter().map(|zone| (zone.winner, zone.from, zone.to)).collect()
    }

    #[test]
    fn the_winner_follows_the_rules_of_a_verdict() {
        let of = |estimate| winner(&reading(0.0, estimate), MARGIN, 0.05);
        assert_eq!(of(-0.02), Winner::Candidate);
        assert_eq!(of(0.02), Winner::Baseline);
        assert_eq!(of(0.005), Winner::Neither);
        assert_eq!(of(-0.005), Winner::Neither);
        assert_eq!(of(0.009), Winner::Unclear, "inside the margin, but the interval is not");
        assert_eq!(of(0.0101), Winner::Baseline);
        let wide = Reading { standard_error: 0.02, ..reading(0.0, 0.03) };
        assert_eq!(winner(&wide, MARGIN, 0.05), Winner::Unclear);
        assert_eq!(winner(&Reading { estimate: -0.03, ..wide }, MARGIN, 0.05), Winner::Unclear);
    }

    #[test]
    fn neighbours_of_one_kind_make_a_zone() {
        let found = seen(&[0.3, 0.2, 0.001, -0.2, -0.3]);
        assert_eq!(
            found,
            [(Winner::Baseline, 0.0, 1.0), (Winner::Neither, 2.0, 2.0), (Winner::Candidate, 3.0, 4.0)]
        );
    }

    #[test]
    fn what_is_not_known_breaks_no_zone_and_belongs_to_none() {
        assert_eq!(seen(&[0.3, 0.009, 0.3]), [(Winner::Baseline, 0.0, 2.0)]);
        assert_eq!(seen(&[0.3, 0.009, -0.3]), [(Winner::Baseline, 0.0, 0.0), (Winner::Candidate, 2.0, 2.0)]);
        assert_eq!(seen(&[0.009, 0.3]), [(Winner::Baseline, 1.0, 1.0)]);
        assert_eq!(seen(&[0.009, 0.009]), [(Winner::Unclear, 0.0, 1.0)]);
        assert_eq!(seen(&[]), []);
    }

    #[test]
    fn a_zone_keeps_the_range_of_its_ratios() {
        let readings = [reading(0.0, 0.3), reading(1.0, 0.1), reading(2.0, 0.2)];
        assert_eq!(zones(&readings, MARGIN, 0.05)[0].estimates, (0.1, 0.3));
    }
}
