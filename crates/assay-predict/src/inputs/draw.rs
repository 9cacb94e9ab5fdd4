//! How random numbers become integers: the part of the generators that must never change.
//!
//! An input is named by (generator, units, seed) in other people's experiment files and ledgers, so the bytes behind
//! that name are an interface. Therefore nothing here leans on a library's distributions, which may be improved at any
//! time. What is used, once and for all:
//!
//! - the stream: xoshiro256++ 1.0 (Blackman and Vigna 2019, <https://prng.di.unimi.it/xoshiro256plusplus.c>), its four
//!   words of state being the first four outputs of SplitMix64 started at the seed;
//! - an integer below n: the high word of a 128-bit product, draws that would favour some results rejected
//!   (Lemire, "Fast random integer generation in an interval", ACM TOMACS 29(1), 2019);
//! - a choice by weight, or an event of given probability: the top 53 bits of one draw against thresholds in units of
//!   2^-53, made from the weights by additions, one division and one multiplication in IEEE double precision;
//! - a choice among many: an alias table (`alias`);
//! - a number from 0 to below 1: the top 53 bits of one draw, times 2^-53;
//! - a normal number: the polar method (Marsaglia and Bray, "A convenient method for generating normal variables", SIAM
//!   Review 6(3), 1964) on pairs of such numbers, the second of each pair kept for the next; logarithms as in `elementary`;
//! - so many of a number of places, no more and no fewer: each place is asked in turn (`selection`).
//!
//! Checked: a separate implementation in Python made the golden digests in the tests of `generate`.

mod alias;
pub(super) mod elementary;
mod normals;
mod selection;

pub(super) use alias::Alias;
pub(super) use normals::Normals;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
pub(super) use selection::Selection;

/// One in the unit of thresholds: 2^53, the largest power of two below which every integer is a double.
const ONE: u64 = 1 << 53;

/// A seeded stream of draws.
pub(super) struct Draw {
    stream: Xoshiro256PlusPlus,
}

impl Draw {
    /// The stream of this seed.
    pub(super) fn new(seed: u64) -> Draw {
        Draw { stream: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// 64 random bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.stream.next_u64()
    }

    /// A number from 0 to below 1, a multiple of 2^-53. Takes one draw.
    pub(super) fn unit(&mut self) -> f64 {
        (self.stream.next_u64() >> 11) as f64 / ONE as f64
    }

    /// Puts a list in random order: from the last place down, each with one at or below it (Fisher and Yates).
    pub(super) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    /// A uniform integer below `bound`, which must not be 0. Takes one draw, and one more for each rejected.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        let mut product = u128::from(self.stream.next_u64()) * u128::from(bound);
        if (product as u64) < bound {
            // 2^64 mod bound: so many of the 2^64 draws are too many for all results to be equally likely.
            let surplus = bound.wrapping_neg() % bound;
            while (product as u64) < surplus {
                product = u128::from(self.stream.next_u64()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// A uniform integer of `min..=max`.
    pub(super) fn between(&mut self, min: u64, max: u64) -> u64 {
        match (max - min).checked_add(1) {
            Some(bound) => min + self.below(bound),
            // All 2^64 values: a draw as it is.
            None => self.stream.next_u64(),
        }
    }

    /// True with the given probability. Takes one draw.
    pub(super) fn happens(&mut self, probability: Threshold) -> bool {
        (self.stream.next_u64() >> 11) < probability.0
    }

    /// The index of one weight, with a probability proportional to it. Takes one draw.
    pub(super) fn weighted(&mut self, weights: &Weights) -> usize {
        let point = self.stream.next_u64() >> 11;
        // A walk, not a binary search: there are at most ten, and the first is usually the likeliest.
        weights.cumulative.iter().position(|&threshold| point < threshold).expect("the last threshold is one")
    }
}

/// A probability in units of 2^-53.
#[derive(Clone, Copy)]
pub(super) struct Threshold(u64);

impl Threshold {
    /// The probability rounded down to a multiple of 2^-53.
    pub(super) fn new(probability: f64) -> Threshold {
        Threshold((probability * ONE as f64) as u64)
    }
}

/// Weights made into cumulative thresholds.
pub(super) struct Weights {
    cumulative: Vec<u64>,
}

impl Weights {
    /// Thresholds of weights that are finite and not negative, with a finite sum above 0.
    pub(super) fn new(weights: &[f64]) -> Weights {
        // Both sums add in the same order, so from the last weight above 0 on the threshold is exactly one: something is
        // always drawn, and nothing beyond it ever.
        let total = weights.iter().fold(0.0, |sum, weight| sum + weight);
        let mut sum = 0.0;
        let cumulative = weights.iter().map(|weight| {
            sum += weight;
            Threshold::new(sum / total).0
        });
        Weights { cumulative: cumulative.collect() }
    }

    /// The exact probability of each index.
    pub(super) fn probabilities(&self) -> Vec<f64> {
        let mut before = 0;
        let share = |&threshold: &u64| {
            let width = threshold - before;
            before = threshold;
            width as f64 / ONE as f64
        };
        self.cumulative.iter().map(share).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_as_the_published_algorithms_do() {
        // xoshiro256++ over the first four outputs of SplitMix64(42), computed in Python from the published C sources.
        let mut draw = Draw::new(42);
        let first: Vec<u64> = (0..3).map(|_| draw.between(0, u64::MAX)).collect();
        assert_eq!(first, [0xd076_4d4f_4476_689f, 0x519e_4174_576f_3791, 0xfbe0_7cfb_0c24_ed8c]);
    }

    #[test]
    fn draws_below_a_bound_that_rejects_half_of_the_draws_evenly() {
        // 2^63 + 1 rejects almost half; each half of the range must still come equally often.
        let bound = (1u64 << 63) + 1;
        let mut draw = Draw::new(7);
        let upper = (0..20_000).filter(|_| draw.below(bound) > bound / 2).count();
        // Binomial(20000, 1/2): standard deviation 71; five of them.
        assert!((9_645..=10_355).contains(&upper), "{upper}");
    }

    #[test]
    fn draws_every_value_of_a_small_range_equally_often() {
        let mut draw = Draw::new(1);
        let mut counts = [0u32; 5];
        for _ in 0..50_000 {
            counts[draw.between(10, 14) as usize - 10] += 1;
        }
        // Chi-squared with 4 degrees of freedom: the 0.9999 quantile is 23.5.
        let statistic: f64 =
            counts.iter().map(|&count| (f64::from(count) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(statistic < 23.5, "{counts:?}");
    }

    #[test]
    fn never_draws_an_index_without_weight() {
        let weights = Weights::new(&[0.0, 1e-9, 0.0, 3.0, 0.0]);
        let mut draw = Draw::new(3);
        for _ in 0..10_000 {
            assert!([1, 3].contains(&draw.weighted(&weights)));
        }
        // Weights whose sum depends on the order of the additions.
        for count in 1..=10 {
            let odd: Vec<f64> = (1..=count).map(|k| 1.0 / f64::from(k * k) + 1e-17).chain([0.0]).collect();
            assert_eq!(Weights::new(&odd).cumulative[count as usize - 1..], [ONE; 2]);
        }
        let probabilities = weights.probabilities();
        assert_eq!([probabilities[0], probabilities[2], probabilities[4]], [0.0; 3]);
        assert_eq!(probabilities.iter().sum::<f64>(), 1.0);
    }

    #[test]
    fn a_shuffled_list_has_each_order_equally_often() {
        let mut draw = Draw::new(2);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..24_000 {
            let mut list = [0, 1, 2, 3];
            draw.shuffle(&mut list);
            *counts.entry(list).or_insert(0u32) += 1;
        }
        // Chi-squared with 23 degrees of freedom: the 0.9999 quantile is 57.
        let statistic: f64 = counts.values().map(|&count| (f64::from(count) - 1000.0).powi(2) / 1000.0).sum();
        assert!(counts.len() == 24 && statistic < 57.0, "{statistic} {counts:?}");
    }

    #[test]
    fn certain_and_impossible_events_are_so() {
        let mut draw = Draw::new(5);
        assert!((0..1000).all(|_| draw.happens(Threshold::new(1.0))));
        assert!(!(0..1000).any(|_| draw.happens(Threshold::new(0.0))));
    }
}
