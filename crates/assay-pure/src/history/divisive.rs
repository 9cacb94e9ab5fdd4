//! Where does a series divide best, and would a series without a change divide as well?
//!
//! Method: with X the first τ values and Y the others, Q(τ) = mn/(m+n) · (2 E|X−Y| − E|X−X'| − E|Y−Y'|), means over pairs
//! of different values (Matteson and James 2014, equations 5 to 7, α = 1). Divided by the mean distance of all pairs it
//! has no unit. That mean is the same in every order of the values, so the permutation test is theirs to the last digit;
//! but series that are drawn can be compared, too. These are made of the series' own innovations x_t − φ x_{t−1} in another order
//! (a sieve bootstrap: Bühlmann 1997, Bernoulli 3: 123-148), or in short series, whose orders are too few for a small
//! p, of normal ones. The test ends as soon as it cannot reject any more (Besag and Clifford 1991).
//! Checked: Q against Apache Otava's, in the tests.

use super::noise;
use assay_numbers::choices::SeededChoices;

/// The fewest values on a side.
pub const SHORTEST: usize = 3;
/// The fewest values that are examined.
pub const FEWEST: usize = 2 * SHORTEST;
/// From so many values on their own innovations are taken: 25 with 5 on one side have 53,130 orders that differ.
const OWN_INNOVATIONS: usize = 25;

/// A division of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Division {
    /// Values ahead of it.
    pub at: usize,
    /// Q in units of the mean distance of all pairs.
    pub relative: f64,
}

/// Sums of distances, so that any rectangle of pairs is four reads.
#[derive(Debug, Default)]
pub struct Distances {
    width: usize,
    sums: Vec<f64>,
}

impl Distances {
    fn fill(&mut self, values: &[f64]) {
        self.width = values.len() + 1;
        self.sums.clear();
        self.sums.resize(self.width * self.width, 0.0);
        for (row, value) in values.iter().enumerate() {
            let mut sum = 0.0;
            for (column, other) in values.iter().enumerate() {
                sum += (value - other).abs();
                let above = self.sums[row * self.width + column + 1];
                self.sums[(row + 1) * self.width + column + 1] = above + sum;
            }
        }
    }

    fn first(&self, rows: usize, columns: usize) -> f64 {
        self.sums[rows * self.width + columns]
    }

    /// Q at each division into two sides of two values and more, as (values ahead of it, Q).
    fn statistics(&self, shortest: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let all = self.width - 1;
        (shortest..=all.saturating_sub(shortest)).map(move |at| {
            let (ahead, behind) = (at as f64, (all - at) as f64);
            let inner = self.first(at, at);
            let across = self.first(at, all) - inner;
            let outer = self.first(all, all) - inner - 2.0 * across;
            let energy = 2.0 * across / (ahead * behind)
                - inner / (ahead * (ahead - 1.0))
                - outer / (behind * (behind - 1.0));
            (at, ahead * behind / (ahead + behind) * energy)
        })
    }
}

/// The best division of a series; none of fewer than six values or where all are equal.
///
/// Input: finite values. Cost: n² additions. Source: see above. Checked: Apache Otava.
pub fn best(values: &[f64], distances: &mut Distances) -> Option<Division> {
    if values.len() < FEWEST {
        return None;
    }
    distances.fill(values);
    let all = values.len();
    let mean = distances.first(all, all) / (all * (all - 1)) as f64;
    let found = distances.statistics(SHORTEST).max_by(|one, other| one.1.total_cmp(&other.1));
    let (at, statistic) = found.filter(|_| mean > 0.0)?;
    Some(Division { at, relative: statistic / mean })
}

/// The best division, if a series without a change divides as well with a probability of at most `level`.
///
/// Input: finite values, `level` in (0, 0.1]. Returns: the division and the bound of its p-value. Cost: 2/`level` divisions where there is a change, a few
/// where there is none. Checked: by simulation, `tests/calibration/history.rs`.
pub fn significant(
    values: &[f64],
    level: f64,
    seed: u64,
    distances: &mut Distances,
) -> Option<(Division, f64)> {
    let found = best(values, distances)?;
    let likeness = noise::likeness(values, &[found.at]);
    let draws = (2.0 / level).round() as usize - 1;
    let mut surrogates = Surrogates::new(values, likeness, seed);
    let mut as_good = 1.0;
    for _ in 0..draws {
        let other = best(surrogates.draw(), distances);
        if other.is_some_and(|other| other.relative >= found.relative) {
            as_good += 1.0;
            if as_good > level * (draws + 1) as f64 {
                return None;
            }
        }
    }
    Some((found, as_good / (draws + 1) as f64))
}

/// Series like a given one, without a change.
struct Surrogates {
    likeness: f64,
    own: bool,
    innovations: Vec<f64>,
    drawn: Vec<f64>,
    choices: SeededChoices,
}

impl Surrogates {
    fn new(values: &[f64], likeness: f64, seed: u64) -> Surrogates {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
        let mut innovations = vec![centred[0] * (1.0 - likeness * likeness).sqrt()];
        innovations.extend(centred.windows(2).map(|pair| pair[1] - likeness * pair[0]));
        Surrogates {
            likeness,
            own: values.len() >= OWN_INNOVATIONS,
            drawn: vec![0.0; innovations.len()],
            innovations,
            choices: SeededChoices::new(seed, &[values.len() as u64]),
        }
    }

    fn draw(&mut self) -> &[f64] {
        if self.own {
            self.choices.shuffle(&mut self.innovations);
        } else {
            self.innovations.iter_mut().for_each(|innovation| *innovation = self.choices.normal());
        }
        let mut before = self.innovations[0] / (1.0 - self.likeness * self.likeness).sqrt();
        self.drawn[0] = before;
        for (drawn, innovation) in self.drawn.iter_mut().zip(&self.innovations).skip(1) {
            before = self.likeness * before + innovation;
            *drawn = before;
        }
        &self.drawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_statistic_is_that_of_another_implementation() {
        let text = include_str!("../../../../fixtures/history/e-divisive.json");
        let file: serde_json::Value = serde_json::from_str(text).unwrap();
        for case in file["cases"].as_array().unwrap() {
            let numbers = |key: &str| -> Vec<f64> { serde_json::from_value(case[key].clone()).unwrap() };
            // The other one gives Q from one value ahead on; we begin with two, whose mean distance is defined.
            let (series, wanted) = (numbers("series"), numbers("q"));
            let mut distances = Distances::default();
            distances.fill(&series);
            let found: Vec<(usize, f64)> = distances.statistics(2).collect();
            assert!(found.len() >= 5);
            for (at, statistic) in found {
                assert!((statistic - wanted[at - 1]).abs() < 1e-9, "{} {at}", case["name"]);
            }
        }
    }

    #[test]
    fn what_another_implementation_divides_is_divided_and_a_short_series_too() {
        let text = include_str!("../../../../fixtures/history/e-divisive.json");
        let file: serde_json::Value = serde_json::from_str(text).unwrap();
        for case in file["cases"].as_array().unwrap() {
            let series: Vec<f64> = serde_json::from_value(case["series"].clone()).unwrap();
            let mut wanted: Vec<usize> = serde_json::from_value(case["found"].clone()).unwrap();
            if case["name"] == "short" {
                // Nine values have too few orders for a permutation test: 5 and 4 at 12 standard deviations.
                assert!(wanted.is_empty());
                wanted = vec![5];
            }
            let found = super::super::changes(
                &series,
                &super::super::Sensitivity { minimum: 0.0, ..Default::default() },
            );
            let found: Vec<usize> = found.iter().map(|change| change.at).collect();
            assert_eq!(found, wanted, "{}", case["name"]);
        }
    }

    #[test]
    fn equal_values_and_few_values_do_not_divide() {
        let mut distances = Distances::default();
        assert_eq!(best(&[1.0; 20], &mut distances), None);
        assert_eq!(best(&[1.0, 1.0, 5.0, 5.0, 5.0], &mut distances), None);
    }

    #[test]
    fn a_unit_and_an_origin_change_nothing() {
        let series: Vec<f64> = [3.1, 2.9, 3.0, 3.2, 2.8, 4.1, 3.9, 4.2].to_vec();
        let other: Vec<f64> = series.iter().map(|value| 1000.0 * value - 7.0).collect();
        let mut distances = Distances::default();
        let (one, two) = (best(&series, &mut distances).unwrap(), best(&other, &mut distances).unwrap());
        assert_eq!(one.at, two.at);
        assert!((one.relative - two.relative).abs() < 1e-9);
    }
}
