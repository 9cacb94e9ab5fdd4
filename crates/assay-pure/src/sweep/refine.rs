//! Where to measure next: inside crossovers that are wider than wanted, and beside bends.
//!
//! Method: of a crossing, on every other step two points close to where a straight line says that it is, as far apart as the
//! wanted width and the noise ask; on the steps between, the middle, which halves the interval whatever the curve does there. So a
//! smooth crossing takes one step, and a jump no more than twice as many as bisection alone. A point that would
//! not be told from equality is not asked for: noise is not overcome by more points. Crossings come first, and while one is open
//! bends get at most a quarter of the points that are left. Checked: by hand; on simulated machines (tests/sweep_machine.rs).

use super::bend::bends;
use super::crossover::{Crossover, crossovers};
use super::grid;
use super::reading::{CampaignSpread, Curve, Reading};
use super::spec::SweepSpec;

/// Points for bends in one step, at most: what they show decides where the next are put.
const BENDS_PER_STEP: usize = 6;
/// A point is clear if its distance, in half widths of its interval, is at least this.
const CLEAR: f64 = 1.25;
/// Half the distance of two points around a crossing, in wanted widths.
const CLOSE: f64 = 0.4;
/// Beside unclear readings, the part of the interval that a point must cut off to be worth its time.
const GAIN: f64 = 0.1;
/// In intervals wider than this part of where they lie, four figures are enough for a point.
const COARSE: f64 = 0.01;
/// Points keep this part of a gap away from its ends.
const AWAY: f64 = 0.02;

/// Two variants over the sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweptPair {
    /// Candidate variant.
    pub candidate: String,
    /// Baseline variant.
    pub baseline: String,
    /// ln(time of candidate / time of baseline), rising in the key.
    pub readings: Vec<Reading>,
    /// The same of points that were never measured with the core to themselves, where most were.
    pub left_out: Vec<Reading>,
    /// What campaigns of the same point differ by, where there were several.
    pub between: Option<CampaignSpread>,
}

/// Everything measured so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredSoFar {
    /// All values of the key that were tried, with the variants that were: what came of one may not be among the readings.
    pub tried: Vec<(f64, Vec<String>)>,
    /// The pairs whose crossings are wanted.
    pub pairs: Vec<SweptPair>,
    /// The variants' times.
    pub curves: Vec<Curve>,
}

/// Why a point is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// It is one of the first.
    Grid,
    /// Two variants cross there.
    Crossover,
    /// A time bends there.
    Bend,
    /// A crossover that was found there is looked at in another campaign.
    Again,
}

/// A point that should be measured.
#[derive(Clone, Debug, PartialEq)]
pub struct WantedPoint {
    /// The key's value.
    pub at: f64,
    /// Why.
    pub why: Why,
    /// The variants that it is about.
    pub variants: Vec<String>,
}

impl MeasuredSoFar {
    /// Was a point measured already, with all of its variants? Then another campaign may measure it again (`super::confirm`), but
    /// it is no new point, of which there would be no end.
    fn has_tried(&self, wish: &WantedPoint) -> bool {
        let has = |known: &[String]| wish.variants.iter().all(|variant| known.contains(variant));
        self.tried.iter().any(|(at, known)| *at == wish.at && has(known))
    }
}

/// The points of the next step; none when there is nothing left to ask or `left` is 0.
///
/// Input: the number of the step, from 1 for the first after the grid; how many points may still be measured; the confidence of
/// intervals. Cost: O(readings²) a pair.
pub fn next(
    sweep: &SweepSpec,
    measured: &MeasuredSoFar,
    step: u32,
    left: u32,
    confidence: f64,
) -> Vec<WantedPoint> {
    let left = left as usize;
    let mut wishes: Vec<WantedPoint> = Vec::new();
    for pair in &measured.pairs {
        for found in crossovers(&pair.readings, 0.0, sweep.scale, confidence) {
            let mut asked = narrowing(sweep, measured, pair, &found, step, confidence);
            if asked.is_empty() && !inside(sweep, &pair.readings, &found, step, 1.0 - confidence).is_empty() {
                // What this step would ask was tried and is not among the readings: what the next would.
                asked = narrowing(sweep, measured, pair, &found, step + 1, confidence);
            }
            asked.into_iter().for_each(|wish| add(&mut wishes, wish));
        }
    }
    wishes.truncate(left);
    let open = !wishes.is_empty();
    let free = left - wishes.len();
    let for_bends = if open { free.min(left / 4) } else { free }.min(BENDS_PER_STEP);
    let bends = beside_bends(sweep, &measured.curves, 1.0 - confidence).into_iter();
    for wish in bends.filter(|wish| !measured.has_tried(wish)).take(for_bends) {
        add(&mut wishes, wish);
    }
    wishes.sort_by(|a, b| a.at.total_cmp(&b.at));
    wishes
}

/// The points that would narrow a crossing and were not tried.
pub fn narrowing(
    sweep: &SweepSpec,
    measured: &MeasuredSoFar,
    pair: &SweptPair,
    found: &Crossover,
    step: u32,
    confidence: f64,
) -> Vec<WantedPoint> {
    let variants = vec![pair.candidate.clone(), pair.baseline.clone()];
    let wish = |at| WantedPoint { at, why: Why::Crossover, variants: variants.clone() };
    let asked = inside(sweep, &pair.readings, found, step, 1.0 - confidence).into_iter().map(wish);
    asked.filter(|wish| !measured.has_tried(wish)).collect()
}

/// Adds a wish, or its variants to one for the same point.
pub fn add(wishes: &mut Vec<WantedPoint>, wish: WantedPoint) {
    let Some(known) = wishes.iter_mut().find(|known| known.at == wish.at) else {
        wishes.push(wish);
        return;
    };
    for variant in wish.variants {
        if !known.variants.contains(&variant) {
            known.variants.push(variant);
        }
    }
    known.why = known.why.min(wish.why);
}

/// The points that would narrow a crossing; none where it is as narrow as wanted, or as noise allows.
fn inside(sweep: &SweepSpec, readings: &[Reading], found: &Crossover, step: u32, alpha: f64) -> Vec<f64> {
    let wanted = sweep.wanted_width(found.at);
    if found.upper - found.lower <= wanted * (1.0 + 1e-9) {
        return Vec::new();
    }
    let place = |value: f64| sweep.scale.place(value);
    let stretch: Vec<&Reading> = readings.iter().filter(|reading| found.holds(reading.at)).collect();
    let (first, last) = (stretch[0], stretch[stretch.len() - 1]);
    let (low, high, root) = (place(first.at), place(last.at), place(found.at));
    let slope = ((last.estimate - first.estimate) / (high - low)).abs();
    let half = stretch.iter().map(|reading| reading.half_width(alpha)).fold(0.0, f64::max);
    // Nearer than this, a point would not be told from equality.
    let blind = CLEAR * half / slope;
    let wanted_half = 0.5 * (place(found.at + 0.5 * wanted) - place((found.at - 0.5 * wanted).max(first.at)));
    let distance = (2.0 * CLOSE * wanted_half).max(blind);
    let (left_end, right_end) = (place(stretch[1].at), place(stretch[stretch.len() - 2].at));
    let clean = stretch.len() == 2;
    // Where the reading next to each end leaves room: the whole gap where there is none inside.
    let (left_gap, right_gap) =
        if clean { ((low, high), (low, high)) } else { ((low, left_end), (right_end, high)) };
    let middle = |gap: (f64, f64)| 0.5 * (gap.0 + gap.1);
    let line = step % 2 == 1;
    let wishes = if line {
        vec![(root - distance, left_gap), (root + distance, right_gap)]
    } else if clean {
        vec![(middle(left_gap), left_gap)]
    } else {
        vec![(middle(left_gap), left_gap), (middle(right_gap), right_gap)]
    };
    let fits = |&(at, gap): &(f64, (f64, f64))| {
        let away = AWAY * (gap.1 - gap.0);
        let gain = (at - low).min(high - at) >= GAIN * (high - low);
        let clear = clean || gain && (at - root).abs() >= 0.99 * blind;
        at > gap.0 + away && at < gap.1 - away && clear
    };
    let mut kept: Vec<f64> = wishes.into_iter().filter(fits).map(|(at, _)| at).collect();
    if kept.is_empty() && clean && 2.0 * blind < high - low {
        kept.push(middle((low, high)));
    }
    let coarse = (found.upper - found.lower) > COARSE * found.at.abs();
    let round = if coarse { grid::short } else { grid::tidy };
    let value = |at: f64| sweep.fitting(round(sweep.scale.value(at)));
    let mut values: Vec<f64> = kept.into_iter().map(value).collect();
    values.dedup();
    values.retain(|value| {
        *value > found.lower && *value < found.upper && stretch.iter().all(|r| r.at != *value)
    });
    values
}

/// The middles of the gaps beside bends, the greatest bend first.
fn beside_bends(sweep: &SweepSpec, curves: &[Curve], alpha: f64) -> Vec<WantedPoint> {
    let mut ranked: Vec<(f64, WantedPoint)> = Vec::new();
    for curve in curves {
        for bend in bends(&curve.readings, sweep.scale, alpha) {
            for gap in curve.readings[bend.index - 1..=bend.index + 1].windows(2) {
                let (low, high) = (gap[0].at, gap[1].at);
                let middle = 0.5 * (sweep.scale.place(low) + sweep.scale.place(high));
                let at = sweep.fitting(grid::short(sweep.scale.value(middle)));
                if high - low > sweep.wanted_width(at) && at > low && at < high {
                    let wish = WantedPoint { at, why: Why::Bend, variants: vec![curve.variant.clone()] };
                    ranked.push((bend.by, wish));
                }
            }
        }
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut wishes = Vec::new();
    for (_, wish) in ranked {
        add(&mut wishes, wish);
    }
    wishes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::reading::CampaignsSeen;
    use crate::sweep::sample::spec;

    fn reading(at: f64, estimate: f64, standard_error: f64) -> Reading {
        Reading { at, estimate, standard_error, degrees: 30.0, seen: CampaignsSeen::ONCE }
    }

    fn measured(readings: &[(f64, f64)], standard_error: f64) -> MeasuredSoFar {
        let readings: Vec<Reading> =
            readings.iter().map(|&(at, estimate)| reading(at, estimate, standard_error)).collect();
        let pair = SweptPair {
            candidate: "new".into(),
            baseline: "old".into(),
            readings,
            left_out: Vec::new(),
            between: None,
        };
        MeasuredSoFar { pairs: vec![pair], ..MeasuredSoFar::default() }
    }

    fn asked(readings: &[(f64, f64)], standard_error: f64, step: u32) -> Vec<f64> {
        let found = next(&spec(0.0, 1.0, 3), &measured(readings, standard_error), step, 10, 0.95);
        found.iter().map(|wish| wish.at).collect()
    }

    #[test]
    fn a_smooth_crossing_gets_two_points_as_far_apart_as_wanted() {
        // The line crosses at 0.6; 0.8 of the wanted width of 0.02.
        assert_eq!(asked(&[(0.0, -0.6), (1.0, 0.4)], 1e-4, 1), [0.592, 0.608]);
    }

    #[test]
    fn noise_moves_them_apart_until_they_are_clear() {
        // t(30) · 0.01 = 0.020423; 1.25 of it on a slope of 1.
        let found = asked(&[(0.0, -0.6), (1.0, 0.4)], 0.01, 1);
        assert!((found[0] - 0.574_471).abs() < 1e-4 && (found[1] - 0.625_529).abs() < 1e-4, "{found:?}");
    }

    #[test]
    fn every_other_step_takes_the_middle() {
        assert_eq!(asked(&[(0.0, -0.6), (1.0, 0.4)], 1e-4, 2), [0.5]);
    }

    #[test]
    fn a_crossing_as_narrow_as_wanted_asks_for_nothing() {
        assert_eq!(asked(&[(0.0, -0.6), (0.59, -0.01), (0.61, 0.01), (1.0, 0.4)], 1e-4, 1), [0.0; 0]);
        assert_eq!(asked(&[(0.0, -0.6), (0.58, -0.01), (0.61, 0.01), (1.0, 0.4)], 1e-4, 2), [0.595]);
    }

    #[test]
    fn an_unclear_reading_is_left_where_it_is_and_its_neighbourhood_asked() {
        let found = asked(&[(0.0, -0.5), (0.5, 0.001), (1.0, 0.5)], 0.01, 2);
        assert_eq!(found, [0.25, 0.75]);
        let found = asked(&[(0.0, -0.5), (0.5, 0.001), (1.0, 0.5)], 0.01, 1);
        assert!(found.len() == 2 && (found[0] - 0.473_5).abs() < 2e-3, "{found:?}");
    }

    #[test]
    fn a_point_that_was_tried_with_its_variants_is_no_new_one() {
        let asked = |values: &[f64], variants: &[&str]| {
            let mut now = measured(&[(0.0, -0.6), (1.0, 0.4)], 1e-4);
            let variants: Vec<String> = variants.iter().map(|&name| name.to_owned()).collect();
            now.tried = values.iter().map(|&at| (at, variants.clone())).collect();
            next(&spec(0.0, 1.0, 3), &now, 2, 10, 0.95).iter().map(|wish| wish.at).collect::<Vec<_>>()
        };
        assert_eq!(asked(&[0.5], &["old", "other"]), [0.5]);
        // What the other kind of step asks, until that was in vain, too.
        assert_eq!(asked(&[0.5], &["old", "new", "other"]), [0.592, 0.608]);
        assert_eq!(asked(&[0.5, 0.592, 0.608], &["old", "new"]), [0.0; 0]);
        let mut now = MeasuredSoFar { curves: vec![step_curve()], ..MeasuredSoFar::default() };
        now.tried = vec![(0.375, vec!["old".to_owned()])];
        let found = next(&spec(0.0, 1.0, 5), &now, 1, 10, 0.95);
        assert_eq!(found.iter().map(|wish| wish.at).collect::<Vec<_>>(), [0.625, 0.875]);
    }

    #[test]
    fn noise_that_hides_the_gap_is_not_met_with_points() {
        // Half widths of 0.2 on a slope of 0.6: blind within a third of the range on both sides.
        assert_eq!(asked(&[(0.0, -0.3), (0.45, -0.05), (0.55, 0.05), (1.0, 0.3)], 0.1, 1), [0.0; 0]);
        assert_eq!(asked(&[(0.0, -0.3), (0.45, -0.05), (0.55, 0.05), (1.0, 0.3)], 0.1, 2), [0.0; 0]);
    }

    #[test]
    fn whole_numbers_are_asked_once_and_not_between_neighbours() {
        let sweep = SweepSpec { whole: true, ..spec(1.0, 10.0, 3) };
        let now = measured(&[(4.0, -0.5), (5.0, 0.5)], 1e-4);
        assert_eq!(next(&sweep, &now, 1, 10, 0.95), []);
        let now = measured(&[(4.0, -0.5), (6.0, 0.5)], 1e-4);
        let found = next(&sweep, &now, 1, 10, 0.95);
        assert_eq!(found.iter().map(|wish| wish.at).collect::<Vec<_>>(), [5.0]);
    }

    fn step_curve() -> Curve {
        let readings = [(0.0, 0.0), (0.25, 0.0), (0.5, 0.0), (0.75, 0.7), (1.0, 0.7)];
        let readings = readings.iter().map(|&(at, estimate)| reading(at, estimate, 1e-4)).collect();
        Curve { variant: "old".into(), readings, left_out: Vec::new() }
    }

    #[test]
    fn bends_ask_for_the_middles_of_the_gaps_beside_them() {
        let now = MeasuredSoFar { curves: vec![step_curve()], ..MeasuredSoFar::default() };
        let found = next(&spec(0.0, 1.0, 5), &now, 1, 10, 0.95);
        assert_eq!(found.iter().map(|wish| wish.at).collect::<Vec<_>>(), [0.375, 0.625, 0.875]);
        assert!(found.iter().all(|wish| wish.why == Why::Bend && wish.variants == ["old"]));
        assert_eq!(next(&spec(0.0, 1.0, 5), &now, 1, 1, 0.95).len(), 1);
        assert_eq!(next(&spec(0.0, 1.0, 5), &now, 1, 0, 0.95), []);
        let fine = SweepSpec { tolerance: Some(crate::sweep::Tolerance::Absolute(0.3)), ..spec(0.0, 1.0, 5) };
        assert_eq!(next(&fine, &now, 1, 10, 0.95), [], "the gaps are narrow enough");
    }

    #[test]
    fn crossings_come_before_bends_which_get_a_quarter_of_what_is_left() {
        let mut now = measured(&[(0.0, -0.6), (1.0, 0.4)], 1e-4);
        now.curves.push(step_curve());
        let count = |left, why| {
            let found = next(&spec(0.0, 1.0, 5), &now, 1, left, 0.95);
            found.iter().filter(|wish| wish.why == why).count()
        };
        assert_eq!((count(2, Why::Crossover), count(2, Why::Bend)), (2, 0));
        assert_eq!((count(4, Why::Crossover), count(4, Why::Bend)), (2, 1));
        assert_eq!((count(8, Why::Crossover), count(8, Why::Bend)), (2, 2));
    }

    #[test]
    fn one_point_for_two_reasons_is_measured_once_with_the_variants_of_both() {
        let mut now = measured(&[(0.25, -0.5), (0.5, 0.5)], 1e-4);
        now.curves.push(Curve { variant: "third".into(), ..step_curve() });
        let found = next(&spec(0.0, 1.0, 5), &now, 2, 10, 0.95);
        let shared = found.iter().find(|wish| wish.at == 0.375).expect("the middle");
        assert_eq!((shared.why, shared.variants.len()), (Why::Crossover, 3));
    }
}
