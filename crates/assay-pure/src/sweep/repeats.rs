//! One point in several campaigns: what is known from all of them, and what campaigns differ by beyond their own errors.
//!
//! Question: the intervals of a campaign hold what varied during it. What lasted for the whole of it, a neighbour on the other
//! hardware thread or where the kernel put the pages, is in none of its spreads: only a second campaign shows it. Method: a point's
//! ratios are averaged rotation by rotation, as its campaigns share their links and so what a shuffle does. What the campaigns' means
//! differ by, less what their own errors explain, is the variance between campaigns; a point has it from itself and its neighbours, as
//! it is large where a ratio is steep and what moves is the place, and it is in the point's error. Source: random effects by the method of moments, DerSimonian and
//! Laird 1986. Limits: from few repeats, so its degrees of freedom go into those of the error. Checked: by hand; coverage by simulation
//! (tests/sweep).

use super::reading::{CampaignSpread, CampaignsSeen, Reading};
use crate::stats::StatsError;
use crate::stats::moderation::moderate_all;
use crate::stats::rotation::{Effect, RotationRatio};
use crate::stats::rounds::RoundError;
use std::collections::BTreeMap;

/// Points on each side that say with a point what its campaigns differ by.
const NEIGHBOURS: usize = 2;

/// One pair at one point, as one campaign saw it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Take {
    /// Complete rotations by number.
    pub ratios: BTreeMap<u32, RotationRatio>,
    /// What the campaign's rounds add to the error.
    pub rounds: Option<RoundError>,
    /// The core was shared so much that what was measured then had to be used.
    pub shared: bool,
}

/// A pair at one point, in all its campaigns.
#[derive(Clone, Debug, PartialEq)]
pub struct PairAtPoint {
    /// The key's value.
    pub at: f64,
    /// One a campaign.
    pub takes: Vec<Take>,
}

/// What is known of one pair.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairReadings {
    /// Rising in the key.
    pub readings: Vec<Reading>,
    /// Those of points that were never measured with the core to themselves, where most were: on a shared core another ratio may
    /// be true.
    pub left_out: Vec<Reading>,
    /// What the campaigns of a point differ by.
    pub between: Option<CampaignSpread>,
}

/// The readings of some pairs.
///
/// Spreads between rotations are moderated by those of all pairs. Points with fewer than three complete rotations are left out.
pub fn readings(pairs: &[Vec<PairAtPoint>]) -> Vec<PairReadings> {
    let sorted: Vec<Sorted> = pairs.iter().map(|points| Sorted::of(points)).collect();
    let mut kept: Vec<Vec<(&CountedPoint, Effect)>> =
        sorted.iter().map(|sorted| effects(&sorted.kept)).collect();
    moderate_all(&mut kept.iter_mut().flatten().map(|(_, effect)| effect).collect::<Vec<_>>());
    let of_pair = |(effects_kept, sorted): (Vec<(&CountedPoint, Effect)>, &Sorted)| PairReadings {
        readings: read(&effects_kept),
        left_out: read(&effects(&sorted.left_out)),
        between: between(sorted.kept.iter().map(|point| point.takes.as_slice())),
    };
    kept.into_iter().zip(&sorted).map(of_pair).collect()
}

/// A point with the campaigns that count: those that had the core for themselves; all where none had, as on a shared core another
/// ratio may be true.
struct CountedPoint {
    at: f64,
    takes: Vec<Take>,
    seen: CampaignsSeen,
}

impl CountedPoint {
    fn of(taken: &PairAtPoint) -> CountedPoint {
        let alone: Vec<Take> = taken.takes.iter().filter(|take| !take.shared).cloned().collect();
        let shared = alone.is_empty();
        let takes = if shared { taken.takes.clone() } else { alone };
        let seen = CampaignsSeen { campaigns: takes.len() as u32, tried: taken.takes.len() as u32, shared };
        CountedPoint { at: taken.at, takes, seen }
    }
}

/// A pair's points: those that are used, and those that are not.
struct Sorted {
    kept: Vec<CountedPoint>,
    left_out: Vec<CountedPoint>,
}

impl Sorted {
    fn of(points: &[PairAtPoint]) -> Sorted {
        let (shared, alone): (Vec<CountedPoint>, Vec<CountedPoint>) =
            points.iter().map(CountedPoint::of).partition(|point| point.seen.shared);
        if shared.len() < alone.len() {
            return Sorted { kept: alone, left_out: shared };
        }
        // Then the ratio of a shared core is what there is to be told.
        Sorted { kept: alone.into_iter().chain(shared).collect(), left_out: Vec::new() }
    }
}

/// The effects of points with enough rotations, rising in the key.
fn effects(points: &[CountedPoint]) -> Vec<(&CountedPoint, Effect)> {
    let known = |point| -> Option<(&CountedPoint, Effect)> { Some((point, together(&point.takes).ok()?)) };
    let mut found: Vec<(&CountedPoint, Effect)> = points.iter().filter_map(known).collect();
    found.sort_by(|a, b| a.0.at.total_cmp(&b.0.at));
    found
}

fn read(effects: &[(&CountedPoint, Effect)]) -> Vec<Reading> {
    let takes: Vec<&[Take]> = effects.iter().map(|(point, _)| point.takes.as_slice()).collect();
    let reading = |(index, (point, effect)): (usize, &(&CountedPoint, Effect))| {
        Reading::of(point.at, effect).over(point.seen, here(&takes, index))
    };
    effects.iter().enumerate().map(reading).collect()
}

/// What campaigns differ by at one of the points in order: from itself and its neighbours, as it is more where a ratio is steep.
///
/// A point that was measured once has it from neighbours on both sides, or not at all: outside what was measured again
/// nothing is known of other campaigns. Never less than its own campaigns say: somebody who disturbs one campaign in many is not
/// in the mean.
fn here(points: &[&[Take]], index: usize) -> Option<CampaignSpread> {
    let first = index.saturating_sub(NEIGHBOURS);
    let window = &points[first..(index + NEIGHBOURS + 1).min(points.len())];
    let (left, right) = (&window[..index - first], &window[index - first + 1..]);
    let repeated = |takes: &&[Take]| takes.len() > 1;
    let enclosed = left.iter().any(repeated) && right.iter().any(repeated);
    let found = between(window.iter().copied()).filter(|_| repeated(&points[index]) || enclosed)?;
    let own = at_one(points[index]).filter(|_| found.variance > 0.0).map_or(0.0, |own| own.variance);
    Some(CampaignSpread { variance: found.variance.max(own), ..found })
}

/// A point's effect from all its campaigns: the mean, rotation by rotation.
///
/// Errors: `TooFewRotations` below three. Variances that campaigns do not share fall with their number.
pub fn together(takes: &[Take]) -> Result<Effect, StatsError> {
    let mut by_rotation: BTreeMap<u32, Vec<RotationRatio>> = BTreeMap::new();
    for take in takes {
        for (&rotation, &ratio) in &take.ratios {
            by_rotation.entry(rotation).or_default().push(ratio);
        }
    }
    let ratios: Vec<RotationRatio> = by_rotation.values().map(|ratios| averaged(ratios)).collect();
    Ok(Effect::of(&ratios)?.with_rounds(rounds_of(takes)))
}

fn averaged(ratios: &[RotationRatio]) -> RotationRatio {
    let count = ratios.len() as f64;
    let of_mean = |part: fn(&RotationRatio) -> f64| ratios.iter().map(part).sum::<f64>() / count.powi(2);
    RotationRatio {
        log_ratio: ratios.iter().map(|ratio| ratio.log_ratio).sum::<f64>() / count,
        sampling_variance: of_mean(|ratio| ratio.sampling_variance),
        visit_variance: of_mean(|ratio| ratio.visit_variance),
    }
}

/// The rounds' error of a mean over campaigns. Source: Satterthwaite 1946.
fn rounds_of(takes: &[Take]) -> Option<RoundError> {
    let parts: Vec<RoundError> = takes.iter().filter_map(|take| take.rounds).collect();
    let variance = parts.iter().map(|part| part.variance).sum::<f64>();
    let of_visits = parts.iter().map(|part| part.of_visits).sum::<f64>();
    let squares: f64 = parts.iter().map(|part| part.variance.powi(2) / part.degrees).sum();
    let degrees = if squares > 0.0 { variance.powi(2) / squares } else { parts.first()?.degrees };
    let count = (parts.len() * takes.len()) as f64;
    Some(RoundError { variance: variance / count, of_visits: of_visits / count, degrees })
}

/// What the campaigns of a pair's points differ by; `None` where no point has two.
pub fn between<'a>(points: impl IntoIterator<Item = &'a [Take]>) -> Option<CampaignSpread> {
    let (mut excess, mut degrees) = (0.0, 0.0);
    for found in points.into_iter().filter_map(at_one) {
        excess += found.variance * found.degrees;
        degrees += found.degrees;
    }
    (degrees > 0.0).then(|| CampaignSpread { variance: (excess / degrees).max(0.0), degrees })
}

/// What the campaigns of one point differ by beyond their own errors, below 0 where they differ by less; `None` of a single one.
fn at_one(takes: &[Take]) -> Option<CampaignSpread> {
    let shared = in_all(takes);
    if takes.len() < 2 || shared.len() < 2 {
        return None;
    }
    let (campaigns, rotations) = (takes.len() as f64, shared.len() as f64);
    let value = |take: &Take, rotation: &u32| take.ratios[rotation].log_ratio;
    let mean = |take: &Take| shared.iter().map(|rotation| value(take, rotation)).sum::<f64>() / rotations;
    let means: Vec<f64> = takes.iter().map(mean).collect();
    let whole = means.iter().sum::<f64>() / campaigns;
    let apart: f64 = means.iter().map(|mean| (mean - whole).powi(2)).sum();
    // What a rotation does in every campaign is no error of their difference.
    let off_in = |rotation: &u32| {
        let of_rotation = takes.iter().map(|take| value(take, rotation)).sum::<f64>() / campaigns;
        let off = |(take, mean): (&Take, &f64)| value(take, rotation) - mean - of_rotation + whole;
        takes.iter().zip(&means).map(|pair| off(pair).powi(2)).sum::<f64>()
    };
    let degrees = campaigns - 1.0;
    let of_mean = shared.iter().map(off_in).sum::<f64>() / (degrees * (rotations - 1.0)) / rotations;
    let rounds = takes.iter().filter_map(|take| take.rounds).map(RoundError::added).sum::<f64>();
    Some(CampaignSpread { variance: apart / degrees - of_mean - rounds / campaigns, degrees })
}

/// The rotations that all campaigns have.
fn in_all(takes: &[Take]) -> Vec<u32> {
    let Some(first) = takes.first() else { return Vec::new() };
    first
        .ratios
        .keys()
        .copied()
        .filter(|key| takes.iter().all(|take| take.ratios.contains_key(key)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(ratios: &[f64], rounds: Option<RoundError>) -> Take {
        let ratio =
            |&log_ratio: &f64| RotationRatio { log_ratio, sampling_variance: 0.0, visit_variance: 0.0 };
        Take { ratios: (0..).zip(ratios.iter().map(ratio)).collect(), rounds, shared: false }
    }

    #[test]
    fn what_a_shuffle_does_in_both_campaigns_stays_and_what_differs_is_averaged() {
        let both = together(&[take(&[0.1, 0.3, 0.2], None), take(&[0.3, 0.3, 0.6], None)]).unwrap();
        // Means 0.2, 0.3, 0.4: mean 0.3, variance 0.01.
        assert!((both.estimate - 0.3).abs() < 1e-12 && (both.variance - 0.01).abs() < 1e-12);
        assert_eq!((both.rotations, both.degrees), (3, 2.0));
        let same = take(&[0.1, 0.3, 0.2], None);
        let alone = together(std::slice::from_ref(&same)).unwrap();
        assert_eq!(together(&[same.clone(), same]).unwrap(), alone);
    }

    #[test]
    fn a_rotation_that_one_campaign_lacks_is_taken_from_the_other() {
        let mut second = take(&[0.3, 0.3, 0.6], None);
        second.ratios.remove(&1);
        let both = together(&[take(&[0.1, 0.0, 0.2], None), second]).unwrap();
        assert!((both.estimate - (0.2 + 0.0 + 0.4) / 3.0).abs() < 1e-12);
        assert!(together(&[take(&[0.1, 0.2], None)]).is_err());
    }

    #[test]
    fn errors_of_the_rounds_fall_with_the_campaigns() {
        let rounds = |variance, degrees| Some(RoundError { variance, of_visits: 0.0, degrees });
        let both =
            together(&[take(&[0.1, 0.3, 0.2], rounds(4e-4, 3.0)), take(&[0.1, 0.3, 0.2], rounds(2e-4, 5.0))]);
        let both = both.unwrap();
        assert!((both.rounds.variance - 1.5e-4).abs() < 1e-15);
        // (4 + 2)² / (16 / 3 + 4 / 5).
        assert!((both.rounds.degrees - 36.0 / (16.0 / 3.0 + 0.8)).abs() < 1e-9);
    }

    #[test]
    fn campaigns_that_agree_differ_by_nothing() {
        let (one, two) = (take(&[0.10, 0.30, 0.20], None), take(&[0.11, 0.29, 0.20], None));
        let found = between([[one, two].as_slice()]).unwrap();
        assert_eq!(found, CampaignSpread { variance: 0.0, degrees: 1.0 });
        assert_eq!(between([[take(&[0.1, 0.2, 0.3], None)].as_slice()]), None);
    }

    #[test]
    fn a_shift_of_a_whole_campaign_is_between_campaigns_whatever_the_shuffles_do() {
        let (one, two) = (take(&[0.10, 0.90, 0.20], None), take(&[0.14, 0.94, 0.24], None));
        // Means 0.04 apart, no residual: variance of two values 0.04 apart is 0.0008.
        let found = between([[one.clone(), two.clone()].as_slice()]).unwrap();
        assert!((found.variance - 8e-4).abs() < 1e-12, "{found:?}");
        // A second point that agrees halves it, and rounds that explain 0.0003 are taken off.
        let agrees = [one.clone(), one.clone()];
        let rounds = Some(RoundError { variance: 3e-4, of_visits: 0.0, degrees: 2.0 });
        let noisy = [Take { rounds, ..one }, Take { rounds, ..two }];
        let found = between([noisy.as_slice(), agrees.as_slice()]).unwrap();
        assert!((found.variance - 2.5e-4).abs() < 1e-12 && found.degrees == 2.0, "{found:?}");
    }

    #[test]
    fn residuals_are_taken_off() {
        let (one, two) = (take(&[0.0, 0.2, 0.1], None), take(&[0.2, 0.2, 0.2], None));
        // Means 0.1 and 0.2; residuals ±0.05, 0, ±0.05 for each: sum of squares 0.01, of a mean 0.01 / 2 / 3.
        let found = between([[one, two].as_slice()]).unwrap();
        assert!((found.variance - (0.005 - 0.01 / 6.0)).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn a_point_is_known_no_better_than_its_own_campaigns_agree() {
        let point = |at, by| PairAtPoint {
            at,
            takes: vec![take(&[0.1, 0.3, 0.2], None), take(&[0.1 + by, 0.3 + by, 0.2 + by], None)],
        };
        let once = PairAtPoint { at: 4.0, takes: vec![take(&[0.1, 0.3, 0.2], None)] };
        let points = vec![once, point(1.0, 0.04), point(2.0, 0.0), point(3.0, 0.0)];
        let PairReadings { readings: found, between, .. } = readings(&[points]).remove(0);
        // 0.0008 at one point of three with two campaigns.
        let between = between.unwrap();
        assert!((between.variance - 8e-4 / 3.0).abs() < 1e-12 && between.degrees == 3.0, "{between:?}");
        // Between rotations 0.01 / 3.
        let added: Vec<f64> =
            found.iter().map(|reading| reading.standard_error.powi(2) - 0.01 / 3.0).collect();
        for (added, expected) in added.iter().zip([4e-4, 4e-4 / 3.0, 4e-4 / 3.0, 0.0]) {
            assert!((added - expected).abs() < 1e-12, "{added} instead of {expected}");
        }
        assert_eq!(found.iter().map(|reading| reading.seen.campaigns).collect::<Vec<_>>(), [2, 2, 2, 1]);
    }

    #[test]
    fn what_campaigns_differ_by_is_told_by_the_neighbourhood() {
        let point = |at, by: f64, campaigns| {
            let shifted =
                |number: usize| take(&[0.1, 0.3, 0.2].map(|ratio| ratio + by * number as f64), None);
            PairAtPoint { at, takes: (0..campaigns).map(shifted).collect() }
        };
        // Steep at 1, where two campaigns are 0.04 apart; once measured: 2, between points measured twice, and 7, on the outside.
        let points = vec![
            point(1.0, 0.04, 2),
            point(2.0, 0.0, 1),
            point(3.0, 0.0, 2),
            point(4.0, 0.0, 2),
            point(5.0, 0.0, 2),
            point(7.0, 0.0, 1),
        ];
        let PairReadings { readings: found, between, .. } = readings(&[points]).remove(0);
        assert!((between.unwrap().variance - 2e-4).abs() < 1e-12, "of all four: {between:?}");
        let added: Vec<f64> =
            found.iter().map(|reading| reading.standard_error.powi(2) - 0.01 / 3.0).collect();
        // Of 1 and 3 0.0004, own 0.0008, of two campaigns; 2 has 0.0008 / 3 from 1, 3 and 4; 3 has 0.0008 / 4 of two campaigns.
        for (added, expected) in added.iter().zip([4e-4, 8e-4 / 3.0, 1e-4, 0.0, 0.0, 0.0]) {
            assert!((added - expected).abs() < 1e-12, "{added} instead of {expected}");
        }
    }

    #[test]
    fn a_campaign_on_a_shared_core_counts_where_there_is_no_other() {
        let alone = take(&[0.1, 0.3, 0.2], None);
        let shared = Take { shared: true, ..take(&[0.5, 0.7, 0.6], None) };
        let of = |takes: &[Take]| {
            let readings =
                readings(&[vec![PairAtPoint { at: 1.0, takes: takes.to_vec() }]]).remove(0).readings;
            let seen = readings[0].seen;
            ((readings[0].estimate * 1e9).round() / 1e9, seen.campaigns, seen.tried, seen.shared)
        };
        assert_eq!(of(&[shared.clone(), alone.clone()]), (0.2, 1, 2, false));
        assert_eq!(of(&[shared.clone(), alone.clone(), alone]), (0.2, 2, 3, false));
        assert_eq!(of(&[shared.clone(), shared]), (0.6, 2, 2, true));
    }

    #[test]
    fn points_of_a_shared_core_are_left_out_where_fewer_than_the_others() {
        let point =
            |at, shared| PairAtPoint { at, takes: vec![Take { shared, ..take(&[0.1, 0.3, 0.2], None) }] };
        let of = |shared: &[bool]| {
            let points: Vec<PairAtPoint> =
                (0..).zip(shared).map(|(at, shared)| point(f64::from(at), *shared)).collect();
            let found = readings(&[points]).remove(0);
            let at = |readings: &[Reading]| readings.iter().map(|reading| reading.at).collect::<Vec<_>>();
            (at(&found.readings), at(&found.left_out))
        };
        assert_eq!(of(&[false, true, false]), (vec![0.0, 2.0], vec![1.0]));
        assert_eq!(of(&[false, true]), (vec![0.0, 1.0], vec![]));
        assert_eq!(of(&[true, true, false]), (vec![0.0, 1.0, 2.0], vec![]));
    }
}
