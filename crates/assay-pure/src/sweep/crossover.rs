//! Where does the winner flip? Crossings of a log ratio through a level, each with an interval.
//!
//! Method: a crossing is established when two readings lie on opposite sides of the level, each by Holm over all readings
//! of the pair: so a pair that never crosses is said to cross in at most 1 - confidence of all sweeps. Its interval is found by
//! testing inwards from both, reading by reading, until one is not clearly on its side: between its neighbours a ratio may do
//! whatever it likes as long as it does it in one direction, so a jump between two readings gives the gap between
//! them, and no straight line is believed. A test that stops at the first failure needs no correction for how many came before.
//! Source: fixed-sequence testing, Maurer, Hothorn and Lehmacher 1995; Holm 1979.
//! Limits: two crossings between neighbouring readings are not seen. Between the two readings that establish it a crossing is
//! taken to be the only one. Checked: by hand; coverage and false ones by simulation (tests/sweep_coverage.rs).

use super::reading::Reading;
use super::scale::Scale;
use crate::stats::multiplicity::holm;

/// One crossing of a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossover {
    /// Where it most likely is.
    pub at: f64,
    /// Lower end of its interval: the last reading clearly on the one side.
    pub lower: f64,
    /// Upper end: the first reading clearly on the other.
    pub upper: f64,
    /// The ratio rises through the level here; else it falls.
    pub rising: bool,
}

impl Crossover {
    /// Half the width of the interval, in the key's unit.
    pub fn half_width(&self) -> f64 {
        0.5 * (self.upper - self.lower)
    }

    /// Is a value inside the interval, its ends included?
    pub fn holds(&self, value: f64) -> bool {
        (self.lower..=self.upper).contains(&value)
    }
}

/// All crossings of `level`, in order of the key.
///
/// Input: readings of one pair, rising in the key; the level on their scale; the scale between them; a confidence below 1.
/// Returns: none where no flip is established. Cost: O(n²).
pub fn crossovers(readings: &[Reading], level: f64, scale: Scale, confidence: f64) -> Vec<Crossover> {
    let alpha = 1.0 - confidence;
    let p_values: Vec<f64> = readings.iter().map(|reading| reading.p_value(level)).collect();
    let established: Vec<usize> = holm(&p_values, alpha, alpha)
        .iter()
        .enumerate()
        .filter_map(|(index, step)| step.rejected.then_some(index))
        .collect();
    let above = |index: usize| readings[index].estimate > level;
    let flips = established.windows(2).filter(|pair| above(pair[0]) != above(pair[1]));
    flips.map(|pair| narrow(readings, (pair[0], pair[1]), level, scale, alpha)).collect()
}

/// The interval between two readings that are on opposite sides for sure.
fn narrow(
    readings: &[Reading],
    (mut left, mut right): (usize, usize),
    level: f64,
    scale: Scale,
    alpha: f64,
) -> Crossover {
    let rising = readings[right].estimate > level;
    let (before, after) = if rising { (-1, 1) } else { (1, -1) };
    let (first, last) = (left, right);
    while left + 1 < last && readings[left + 1].side(level, alpha) == before {
        left += 1;
    }
    while right > first + 1 && readings[right - 1].side(level, alpha) == after {
        right -= 1;
    }
    let at = root(&readings[left..=right], level, scale, rising);
    Crossover { at, lower: readings[left].at, upper: readings[right].at, rising }
}

/// Where a monotone line through the readings meets the level.
///
/// Between the first and the last, which are on opposite sides: neighbours that contradict the direction are pooled
/// (Barlow et al. 1972), weighted by their precision, then straight lines on the scale.
fn root(readings: &[Reading], level: f64, scale: Scale, rising: bool) -> f64 {
    let sign = if rising { 1.0 } else { -1.0 };
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for reading in readings {
        let weight = reading.standard_error.max(f64::MIN_POSITIVE).powi(-2).min(1e30);
        blocks.push((sign * (reading.estimate - level), weight, 1));
        while let [.., (low, low_weight, low_count), (high, high_weight, high_count)] = blocks.as_slice() {
            if low <= high {
                break;
            }
            let weight = low_weight + high_weight;
            let pooled = ((low * low_weight + high * high_weight) / weight, weight, low_count + high_count);
            blocks.truncate(blocks.len() - 2);
            blocks.push(pooled);
        }
    }
    let fitted: Vec<f64> =
        blocks.iter().flat_map(|&(value, _, count)| std::iter::repeat_n(value, count)).collect();
    let places: Vec<f64> = readings.iter().map(|reading| scale.place(reading.at)).collect();
    let below = fitted.iter().rposition(|&value| value < 0.0).unwrap_or(0);
    let above = fitted.iter().position(|&value| value > 0.0).unwrap_or(fitted.len() - 1);
    if above > below + 1 {
        // A stretch that lies on the level: its middle.
        return scale.value(0.5 * (places[below + 1] + places[above - 1]));
    }
    let part = -fitted[below] / (fitted[above] - fitted[below]);
    scale.value(places[below] + part.clamp(0.0, 1.0) * (places[above] - places[below]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::reading::CampaignsSeen;

    fn readings(of: &[(f64, f64)], standard_error: f64) -> Vec<Reading> {
        let reading = |&(at, estimate)| Reading {
            at,
            estimate,
            standard_error,
            degrees: 30.0,
            seen: CampaignsSeen::ONCE,
        };
        of.iter().map(reading).collect()
    }

    fn find(of: &[(f64, f64)], standard_error: f64) -> Vec<Crossover> {
        crossovers(&readings(of, standard_error), 0.0, Scale::Linear, 0.95)
    }

    #[test]
    fn a_flip_between_neighbours_lies_in_their_gap() {
        let found = find(&[(0.0, 0.3), (1.0, 0.1), (2.0, -0.3), (3.0, -0.4)], 0.01);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].lower, found[0].upper, found[0].rising), (1.0, 2.0, false));
        // By hand: 0.1 / 0.4 of the way.
        assert!((found[0].at - 1.25).abs() < 1e-12);
        assert!((found[0].half_width() - 0.5).abs() < 1e-15);
    }

    #[test]
    fn readings_that_could_be_either_widen_the_interval() {
        let found = find(&[(0.0, -0.3), (1.0, -0.01), (2.0, 0.015), (3.0, 0.4)], 0.01);
        assert_eq!((found[0].lower, found[0].upper, found[0].rising), (0.0, 3.0, true));
        assert!((found[0].at - 1.4).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn inside_an_established_flip_each_reading_is_tested_at_the_plain_level() {
        // 2.3 standard errors: clear by itself (t(30) = 2.04), not by Holm over six.
        let found =
            find(&[(0.0, -0.3), (1.0, -0.2), (2.0, -0.023), (3.0, 0.023), (4.0, 0.2), (5.0, 0.3)], 0.01);
        assert_eq!((found[0].lower, found[0].upper), (2.0, 3.0));
    }

    #[test]
    fn a_ratio_that_only_touches_the_level_does_not_cross() {
        assert_eq!(find(&[(0.0, 0.3), (1.0, 0.001), (2.0, 0.3)], 0.01), []);
        assert_eq!(find(&[(0.0, 0.3), (1.0, -0.0204), (2.0, 0.3)], 0.01), [], "not quite clear");
        // t(30) at 0.05 / 2 is 2.36, which two that are not known from the level ask for.
        assert_eq!(find(&[(0.0, 0.3), (1.0, -0.023), (2.0, 0.01)], 0.01), [], "not by Holm over two");
        assert_eq!(find(&[(0.0, 0.3)], 0.01), []);
        assert_eq!(find(&[], 0.01), []);
    }

    #[test]
    fn each_of_several_flips_is_found() {
        let found = find(&[(0.0, 0.3), (1.0, -0.3), (2.0, 0.3), (3.0, 0.0), (4.0, -0.3)], 0.01);
        let seen: Vec<_> = found.iter().map(|found| (found.lower, found.upper, found.rising)).collect();
        assert_eq!(seen, [(0.0, 1.0, false), (1.0, 2.0, true), (2.0, 4.0, false)]);
    }

    #[test]
    fn the_place_is_one_on_the_scale() {
        let readings = readings(&[(1.0, -0.2), (100.0, 0.2)], 0.01);
        let found = crossovers(&readings, 0.0, Scale::Geometric, 0.95);
        assert!((found[0].at - 10.0).abs() < 1e-9);
        // ... and of the level, on both sides of which the ratio may have one sign.
        let high: Vec<Reading> =
            readings.iter().map(|reading| Reading { estimate: reading.estimate + 0.5, ..*reading }).collect();
        let found = crossovers(&high, 0.5, Scale::Geometric, 0.95);
        assert!((found[0].at - 10.0).abs() < 1e-9 && found[0].rising);
        assert_eq!(crossovers(&high, 0.0, Scale::Geometric, 0.95), []);
        let found = crossovers(&readings, 0.1, Scale::Geometric, 0.95);
        assert!((found[0].at - 10f64.powf(1.5)).abs() < 1e-9);
    }

    #[test]
    fn readings_out_of_order_are_pooled() {
        // 0.03 and -0.01 pool to 0.01 by equal weights: 0.3 / 0.31 of the way from the first.
        let found = find(&[(0.0, -0.3), (1.0, 0.03), (2.0, -0.01), (3.0, 0.3)], 0.02);
        assert!((found[0].at - 0.3 / 0.31).abs() < 1e-12, "{found:?}");
        // 0.015 and -0.015 pool to 0: the crossing is in their middle.
        let found = find(&[(0.0, -0.3), (1.0, 0.015), (2.0, -0.015), (3.0, 0.3)], 0.01);
        assert!((found[0].at - 1.5).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn clear_readings_that_contradict_each_other_leave_the_whole_stretch() {
        // Both inner ones are clear at the plain level, on the wrong sides.
        let found = find(&[(0.0, -0.3), (1.0, 0.023), (2.0, -0.023), (3.0, 0.3)], 0.01);
        assert_eq!((found[0].lower, found[0].upper), (0.0, 3.0));
    }
}
