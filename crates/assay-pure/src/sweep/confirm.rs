//! Which points to measure again, in another campaign, before a crossover is reported.
//!
//! Method: both ends of a crossover's interval are measured in two campaigns at least, minutes of their own: what a neighbour did
//! for the whole of one is then seen (`super::repeats`), and a flip that only it showed goes away. An end at which the campaigns do
//! not agree is none any more: then the next points outside are measured again, until two are found that stand. Where the interval is
//! wider than wanted and points cannot help, the unclear ones inside are measured up to three times. Where estimates change sides but
//! no crossover is established, all points are measured once more; and so are those that were never measured with the core to
//! themselves, wherever they are, as on a shared one another ratio may be true. Checked: by hand; on simulated machines (tests/sweep).

use super::crossover::{Crossover, crossovers};
use super::reading::Reading;
use super::refine::{MeasuredSoFar, WantedPoint, Why, add};
use super::spec::SweepSpec;

/// Campaigns that the ends of an interval need.
const CONFIRMED: u32 = 2;
/// Most campaigns of a point.
const MOST: u32 = 3;
/// Unclear points that are measured again in one step, of one crossover.
const INSIDE: usize = 4;

/// The points of the next step where no new one is asked for; none when all crossovers are confirmed, and as narrow as can be.
pub fn again(sweep: &SweepSpec, measured: &MeasuredSoFar, confidence: f64) -> Vec<WantedPoint> {
    let mut wishes = Vec::new();
    for pair in &measured.pairs {
        let variants = vec![pair.candidate.clone(), pair.baseline.clone()];
        let found = crossovers(&pair.readings, 0.0, sweep.scale, confidence);
        let points: Vec<f64> = if found.is_empty() {
            undecided(&pair.readings)
        } else {
            found.iter().flat_map(|found| of_one(sweep, &pair.readings, found)).collect()
        };
        for at in points {
            add(&mut wishes, WantedPoint { at, why: Why::Again, variants: variants.clone() });
        }
    }
    wishes.sort_by(|a, b| a.at.total_cmp(&b.at));
    wishes
}

/// The points that were never measured with the core to themselves: to be asked for after those of [`again`].
pub fn spoiled(measured: &MeasuredSoFar) -> Vec<WantedPoint> {
    let mut wishes = Vec::new();
    for pair in &measured.pairs {
        let never_alone =
            pair.readings.iter().filter(|reading| reading.seen.shared && reading.seen.tried < CONFIRMED);
        let left_out = pair.left_out.iter().filter(|reading| reading.seen.tried < MOST);
        let variants = vec![pair.candidate.clone(), pair.baseline.clone()];
        for reading in never_alone.chain(left_out) {
            add(&mut wishes, WantedPoint { at: reading.at, why: Why::Again, variants: variants.clone() });
        }
    }
    wishes
}

/// Where estimates change sides and nothing is established, all points that were measured once.
fn undecided(readings: &[Reading]) -> Vec<f64> {
    let changes = |pair: &[Reading]| (pair[0].estimate > 0.0) != (pair[1].estimate > 0.0);
    let once =
        readings.iter().filter(|reading| reading.seen.campaigns < CONFIRMED && reading.seen.tried < MOST);
    if readings.windows(2).any(changes) { once.map(|reading| reading.at).collect() } else { Vec::new() }
}

/// Were both ends of a crossover's interval measured in more than one campaign, with the core to itself?
pub fn is_confirmed(readings: &[Reading], found: &Crossover) -> bool {
    let is_end = |reading: &&Reading| reading.at == found.lower || reading.at == found.upper;
    readings.iter().filter(is_end).all(is_enough)
}

fn is_enough(reading: &Reading) -> bool {
    reading.seen.campaigns >= CONFIRMED && !reading.seen.shared
}

fn of_one(sweep: &SweepSpec, readings: &[Reading], found: &Crossover) -> Vec<f64> {
    let is_end = |reading: &&Reading| reading.at == found.lower || reading.at == found.upper;
    let ends =
        readings.iter().filter(is_end).filter(|reading| !is_enough(reading) && reading.seen.tried < MOST);
    let wide = found.upper - found.lower > sweep.wanted_width(found.at) * (1.0 + 1e-9);
    let is_inside = |reading: &&Reading| wide && reading.at > found.lower && reading.at < found.upper;
    let mut inside: Vec<&Reading> =
        readings.iter().filter(is_inside).filter(|reading| reading.seen.tried < MOST).collect();
    // The outer ones first: they are what the interval would end at.
    let place = |value: f64| sweep.scale.place(value);
    let off = |reading: &&Reading| (place(reading.at) - place(found.at)).abs();
    inside.sort_by(|a, b| off(b).total_cmp(&off(a)));
    inside.truncate(INSIDE);
    ends.chain(inside).map(|reading| reading.at).collect()
}

#[cfg(test)]
mod tests {
    use super::super::refine::SweptPair;
    use super::*;
    use crate::sweep::reading::CampaignsSeen;
    use crate::sweep::sample::spec;

    fn measured(readings: &[(f64, f64, u32)]) -> MeasuredSoFar {
        let reading = |&(at, estimate, campaigns)| Reading {
            at,
            estimate,
            standard_error: 0.01,
            degrees: 30.0,
            seen: CampaignsSeen { campaigns, tried: campaigns, shared: false },
        };
        let readings = readings.iter().map(reading).collect();
        let pair = SweptPair {
            candidate: "new".into(),
            baseline: "old".into(),
            readings,
            left_out: Vec::new(),
            between: None,
        };
        MeasuredSoFar { pairs: vec![pair], ..MeasuredSoFar::default() }
    }

    fn asked(readings: &[(f64, f64, u32)]) -> Vec<f64> {
        let found = again(&spec(0.0, 1.0, 3), &measured(readings), 0.95);
        assert!(found.iter().all(|wish| wish.why == Why::Again && wish.variants == ["new", "old"]));
        found.iter().map(|wish| wish.at).collect()
    }

    #[test]
    fn the_ends_of_an_interval_are_measured_twice() {
        assert_eq!(asked(&[(0.0, -0.5, 1), (0.59, -0.1, 1), (0.6, 0.1, 1), (1.0, 0.5, 1)]), [0.59, 0.6]);
        assert_eq!(asked(&[(0.0, -0.5, 1), (0.59, -0.1, 2), (0.6, 0.1, 1), (1.0, 0.5, 1)]), [0.6]);
        assert_eq!(asked(&[(0.0, -0.5, 1), (0.59, -0.1, 2), (0.6, 0.1, 2), (1.0, 0.5, 1)]), [0.0; 0]);
        assert_eq!(asked(&[(0.0, 0.5, 1), (1.0, 0.5, 1)]), [0.0; 0], "nothing crosses");
    }

    #[test]
    fn where_a_crossover_is_in_sight_but_not_established_all_points_are_measured_once_more() {
        assert_eq!(asked(&[(0.0, -0.5, 1), (0.5, -0.1, 2), (1.0, 0.01, 1)]), [0.0, 1.0]);
        assert_eq!(asked(&[(0.0, -0.5, 2), (0.5, -0.1, 2), (1.0, 0.01, 2)]), [0.0; 0]);
        assert_eq!(asked(&[(0.0, 0.5, 1), (0.5, 0.1, 1), (1.0, 0.01, 1)]), [0.0; 0], "on one side");
    }

    #[test]
    fn unclear_points_in_a_wide_interval_are_measured_up_to_three_times() {
        let with = |inside| asked(&[(0.0, -0.5, 2), (0.4, -0.01, inside), (0.5, 0.01, 3), (1.0, 0.5, 2)]);
        assert_eq!(with(1), [0.4]);
        assert_eq!(with(2), [0.4]);
        assert_eq!(with(3), [0.0; 0]);
        let narrow = asked(&[(0.0, -0.5, 1), (0.59, -0.1, 2), (0.595, 0.0, 1), (0.6, 0.1, 2), (1.0, 0.5, 1)]);
        assert_eq!(narrow, [0.0; 0], "as narrow as wanted");
    }

    /// The same, with the points from a value on never measured alone.
    fn asked_of_shared(readings: &[(f64, f64, u32)], from: f64) -> Vec<f64> {
        let mut measured = measured(readings);
        measured.pairs[0].readings.iter_mut().for_each(|reading| reading.seen.shared = reading.at >= from);
        let ends = again(&spec(0.0, 1.0, 3), &measured, 0.95);
        ends.into_iter().chain(spoiled(&measured)).map(|wish| wish.at).collect()
    }

    #[test]
    fn what_was_never_measured_alone_is_measured_again() {
        let nothing_crosses =
            |campaigns| asked_of_shared(&[(0.0, 0.5, 1), (0.5, 0.5, 1), (1.0, 0.5, campaigns)], 0.6);
        assert_eq!((nothing_crosses(1), nothing_crosses(2)), (vec![1.0], vec![]));
        // The upper end of the interval, and a point that is none.
        let ends = |campaigns| {
            let found = [(0.0, -0.5, 1), (0.59, -0.1, 2), (0.6, 0.1, campaigns), (1.0, 0.5, 1)];
            asked_of_shared(&found, 0.6)
        };
        assert_eq!((ends(1), ends(2), ends(3)), (vec![0.6, 0.6, 1.0], vec![0.6, 1.0], vec![1.0]));
        let mut left_out = measured(&[(0.0, 0.5, 1), (1.0, 0.5, 1)]);
        let asked = |campaigns| {
            let seen = CampaignsSeen { campaigns, tried: campaigns, shared: true };
            let reading = Reading { at: 0.5, seen, ..left_out.pairs[0].readings[0] };
            left_out.pairs[0].left_out = vec![reading];
            spoiled(&left_out).iter().map(|wish| wish.at).collect::<Vec<_>>()
        };
        assert_eq!([2, 3].map(asked), [vec![0.5], vec![]]);
    }

    #[test]
    fn what_somebody_spoils_each_time_is_given_up_after_three_campaigns() {
        // Measured alone once, and beside somebody in the other campaigns.
        let asked = |tried, estimate| {
            let mut measured = measured(&[(0.0, -0.5, 2), (1.0, estimate, 1)]);
            measured.pairs[0].readings[1].seen.tried = tried;
            again(&spec(0.0, 1.0, 3), &measured, 0.95).iter().map(|wish| wish.at).collect::<Vec<_>>()
        };
        assert_eq!([2, 3].map(|tried| asked(tried, 0.5)), [vec![1.0], vec![]], "an end");
        assert_eq!([2, 3].map(|tried| asked(tried, 0.01)), [vec![1.0], vec![]], "in sight");
    }

    #[test]
    fn a_crossover_is_confirmed_by_two_campaigns_at_both_ends() {
        let of = |readings: &[(f64, f64, u32)]| {
            let readings = measured(readings).pairs.remove(0).readings;
            let found = crossovers(&readings, 0.0, crate::sweep::Scale::Linear, 0.95).remove(0);
            is_confirmed(&readings, &found)
        };
        assert!(of(&[(0.0, -0.5, 2), (0.5, 0.0, 1), (1.0, 0.5, 2)]));
        assert!(!of(&[(0.0, -0.5, 2), (0.5, 0.0, 1), (1.0, 0.5, 1)]));
        assert!(!of(&[(0.0, -0.5, 1), (0.5, 0.0, 1), (1.0, 0.5, 2)]));
        let mut readings = measured(&[(0.0, -0.5, 3), (1.0, 0.5, 3)]).pairs.remove(0).readings;
        readings[1].seen.shared = true;
        let found = crossovers(&readings, 0.0, crate::sweep::Scale::Linear, 0.95).remove(0);
        assert!(!is_confirmed(&readings, &found), "on a shared core only");
    }
}
