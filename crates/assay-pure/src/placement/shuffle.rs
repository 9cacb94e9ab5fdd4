//! The order of a shuffle: a seeded permutation that is the same for ever, so that an artifact can be made again.

use assay_numbers::choices::SeededChoices;

/// What the random numbers are for; never renumber.
const SECTIONS: u64 = 7;

/// The numbers `0..count` in the order of a shuffle; seed 0 is the order of the sources.
///
/// Source: Fisher-Yates on xoshiro256++ seeded by SplitMix64, see `experiment::order`.
pub fn shuffled_order(count: usize, seed: u64) -> Vec<usize> {
    if seed == 0 {
        return (0..count).collect();
    }
    SeededChoices::new(seed, &[SECTIONS]).permutation(count)
}

#[cfg(test)]
mod tests {
    use super::shuffled_order;

    #[test]
    fn permutes_by_seed_and_not_at_all_for_zero() {
        assert_eq!(shuffled_order(4, 0), [0, 1, 2, 3]);
        assert_eq!(shuffled_order(50, 9), shuffled_order(50, 9));
        assert_ne!(shuffled_order(50, 9), shuffled_order(50, 10));
        let mut sorted = shuffled_order(50, 9);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>());
    }
}
