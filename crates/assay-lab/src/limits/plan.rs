//! What is measured in which order, at which working sets, and how long it may take.

/// All of it takes no longer than this, seconds; what is late is measured less often.
pub const DEADLINE_SECONDS: f64 = 45.0;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitsEffort {
    /// Windows of each figure that are wanted, in each round of those that have rounds.
    pub windows: usize,
    /// Rounds over all working sets: what disturbs one point for a while does not decide it.
    pub rounds: usize,
    /// Two working sets per doubling, or one.
    pub between: bool,
}

impl LimitsEffort {
    /// Usual, or a first look.
    pub fn of(quick: bool) -> LimitsEffort {
        if quick {
            LimitsEffort { windows: 11, rounds: 1, between: false }
        } else {
            LimitsEffort { windows: 31, rounds: 3, between: true }
        }
    }
}

/// Smallest working set: four pages' lines are enough for a loop to be longer than its ends.
const SMALLEST: u64 = 4 << 10;
/// The largest is this many times the last cache,
const TIMES_THE_LAST: u64 = 4;
/// at least so much, where caches are small or not told,
const AT_LEAST: u64 = 64 << 20;
/// and at most so much: laying a longer walk would take longer than the rest.
const AT_MOST: u64 = 512 << 20;

/// The largest working set: beyond the last cache, and not more than an eighth of the memory.
pub fn largest(last_cache: Option<u64>, memory_bytes: u64) -> u64 {
    let wanted = (TIMES_THE_LAST * last_cache.unwrap_or(0)).clamp(AT_LEAST, AT_MOST);
    let have = if memory_bytes == 0 { wanted } else { memory_bytes / 8 };
    // A power of two is a point of the curve whatever the effort.
    1 << wanted.min(have).max(16 * SMALLEST).ilog2()
}

/// Working sets from the smallest to the largest: powers of two, and if `between` one and a half times each.
pub fn sizes(largest: u64, between: bool) -> Vec<u64> {
    let powers = (SMALLEST.ilog2()..=largest.ilog2()).map(|power| 1u64 << power);
    let all = powers.flat_map(|size| if between { vec![size, size + size / 2] } else { vec![size] });
    all.filter(|size| *size <= largest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_set_lies_beyond_the_last_cache_and_within_the_memory() {
        assert_eq!(largest(Some(32 << 20), 24 << 30), 128 << 20);
        assert_eq!(largest(None, 24 << 30), 64 << 20);
        assert_eq!(largest(Some(1 << 30), 256 << 30), 512 << 20);
        // 3 times a power of two goes down to one.
        assert_eq!(largest(Some(24 << 20), 24 << 30), 64 << 20);
        assert_eq!(largest(Some(32 << 20), 256 << 20), 32 << 20);
        assert_eq!(largest(Some(32 << 20), 0), 128 << 20);
        assert_eq!(largest(None, 1), 64 << 10);
    }

    #[test]
    fn sizes_grow_by_a_half_or_by_two_and_end_at_the_largest() {
        assert_eq!(sizes(16 << 10, false), [4096, 8192, 16_384]);
        assert_eq!(sizes(16 << 10, true), [4096, 6144, 8192, 12_288, 16_384]);
        // Each can be halved for copying and still is whole blocks of 512 bytes.
        assert!(sizes(1 << 29, true).iter().all(|size| (size / 2) % 512 == 0));
    }
}
