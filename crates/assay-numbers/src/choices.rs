//! Seeded choices whose result must be the same for ever: a ledger names a plan by its seed alone.
//!
//! Method: xoshiro256++ (Blackman and Vigna 2019), seeded through SplitMix64 as its authors advise; numbers below a
//! bound by Lemire's multiplication with rejection (2019); orders by Fisher-Yates from the last place down. The
//! expected values below come from an independent implementation in Python, so a change of any of them is seen.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A source of choices for one purpose. `path` says which (a purpose, a round, a group), so that purposes do not share
/// numbers and one more choice in one of them moves nothing elsewhere.
pub struct SeededChoices(Xoshiro256PlusPlus);

impl SeededChoices {
    /// A source for the purpose that `path` names.
    pub fn new(seed: u64, path: &[u64]) -> Self {
        let state = path.iter().fold(finalise(seed), |state, step| finalise(state ^ step));
        SeededChoices(Xoshiro256PlusPlus::seed_from_u64(state))
    }

    /// A number uniform over `0..bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        // Products whose low half is under this threshold belong to results that would otherwise be met once too often.
        let threshold = if bound == 0 { 0 } else { bound.wrapping_neg() % bound };
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(bound);
            if product as u64 >= threshold {
                return (product >> 64) as u64;
            }
        }
    }

    /// A number of the standard normal distribution (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        const ONE: u64 = 1 << 53;
        let mut uniform = || (self.below(ONE) as f64 + 0.5) / ONE as f64;
        let (radius, angle) = ((-2.0 * uniform().ln()).sqrt(), std::f64::consts::TAU * uniform());
        radius * angle.cos()
    }

    /// Brings the items into random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let chosen = self.below(last as u64 + 1) as usize;
            items.swap(last, chosen);
        }
    }

    /// The numbers `0..count` in random order.
    pub fn permutation(&mut self, count: usize) -> Vec<usize> {
        let mut places: Vec<usize> = (0..count).collect();
        self.shuffle(&mut places);
        places
    }
}

/// SplitMix64's step: a bijection in which every bit of the argument reaches every bit of the result.
fn finalise(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected values: SplitMix64 and xoshiro256++ transcribed into Python from the authors' C (prng.di.unimi.it),
    // with Python's unbounded integers for the products.

    #[test]
    fn draws_the_numbers_of_an_independent_implementation() {
        let mut order = SeededChoices::new(42, &[1, 2]);
        let large: Vec<u64> = (0..3).map(|_| order.below(1 << 63)).collect();
        assert_eq!(large, [2884969819692289916, 1241397052035487138, 3630431982829390007]);
        let small: Vec<u64> = (0..8).map(|_| order.below(245)).collect();
        assert_eq!(small, [52, 232, 103, 92, 19, 120, 124, 110]);
        // Half of all products are rejected below this bound.
        let mut order = SeededChoices::new(5, &[9]);
        let rejecting: Vec<u64> = (0..4).map(|_| order.below((1 << 63) + 1)).collect();
        assert_eq!(
            rejecting,
            [2476311154795161420, 7965522405175317382, 8935933995815428408, 1637847789101125992]
        );
    }

    #[test]
    fn shuffles_as_an_independent_implementation() {
        assert_eq!(SeededChoices::new(0, &[]).permutation(10), [2, 3, 0, 1, 8, 4, 6, 9, 7, 5]);
        assert_eq!(SeededChoices::new(7, &[3]).permutation(10), [3, 1, 2, 8, 7, 6, 4, 0, 9, 5]);
    }

    #[test]
    fn gives_each_purpose_its_own_numbers() {
        let first = |seed, path: &[u64]| SeededChoices::new(seed, path).below(u64::MAX);
        assert_ne!(first(1, &[1, 2]), first(1, &[2, 1]));
        assert_ne!(first(1, &[1]), first(1, &[1, 0]));
        assert_ne!(first(1, &[1]), first(2, &[1]));
    }

    #[test]
    fn reaches_each_number_below_a_bound_about_equally_often() {
        let mut order = SeededChoices::new(3, &[]);
        let mut found = [0u32; 6];
        for _ in 0..60_000 {
            found[order.below(6) as usize] += 1;
        }
        // Five standard deviations of a binomial count with n = 60000, p = 1/6: 5 * 91.3.
        assert!(found.iter().all(|&count| count.abs_diff(10_000) < 457), "{found:?}");
    }

    #[test]
    fn has_nothing_to_choose_below_one_and_zero() {
        let mut order = SeededChoices::new(3, &[]);
        assert_eq!((order.below(0), order.below(1)), (0, 0));
    }
}
