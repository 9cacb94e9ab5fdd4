//! The parameters of a TAGE predictor, as data.

/// A table of tagged entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaggedTable {
    /// Sets, as the power of two.
    pub sets_log2: u32,
    /// Entries per set, 1 to 8.
    pub ways: usize,
    /// Bits of a tag, at most 15.
    pub tag_bits: u32,
    /// History bits it sees.
    pub length: usize,
    /// Bits it sees of the second register, where the history has two.
    pub second: usize,
}

/// When the usefulness of entries is forgotten, so that new ones find room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forget {
    /// When allocations that found no room outweigh those that did by so many.
    Pressure(i32),
    /// After so many mispredictable branches.
    Period(u32),
}

/// Everything that makes one TAGE differ from another but the history's contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// The tagged tables, the shortest history first.
    pub tables: Vec<TaggedTable>,
    /// Two-bit counters of the table without tags, as the power of two.
    pub base_log2: u32,
    /// Bits of a tagged entry's direction counter, 2 to 4.
    pub counter_bits: u32,
    /// Bits of its usefulness, 1 to 3.
    pub useful_bits: u32,
    /// Entries given to a branch per misprediction, at most.
    pub allocations: u32,
    /// When usefulness is forgotten.
    pub forget: Forget,
    /// Bits of the branch's address that enter the index of tagged tables.
    pub index_place: u64,
    /// Bits of the branch's address that enter tags and the base table.
    pub tag_place: u64,
}

impl Geometry {
    /// The 64 KB class: lengths in geometric progression over a history of two bits per branch.
    pub fn class_64_kb() -> Geometry {
        const LENGTHS: [usize; 12] = [4, 7, 12, 20, 32, 52, 84, 130, 210, 340, 560, 900];
        const SETS_LOG2: [u32; 12] = [11, 11, 11, 12, 12, 12, 12, 11, 11, 11, 11, 11];
        const TAG_BITS: [u32; 12] = [9, 9, 9, 10, 10, 10, 11, 11, 11, 12, 12, 12];
        let table = |i| TaggedTable {
            sets_log2: SETS_LOG2[i],
            ways: 1,
            tag_bits: TAG_BITS[i],
            length: LENGTHS[i],
            second: 0,
        };
        Geometry {
            tables: (0..LENGTHS.len()).map(table).collect(),
            base_log2: 13,
            counter_bits: 3,
            useful_bits: 2,
            allocations: 3,
            forget: Forget::Pressure(1024),
            index_place: !0,
            tag_place: !0,
        }
    }

    /// Tables of one size over `lengths.0` to `lengths.1` history bits in geometric progression (Seznec and Michaud 2006, section
    /// 3.1), rounded; each is longer than the one before. The rest is that of the 64 KB class.
    ///
    /// Input: at least two tables, and a bit more of history for each.
    pub fn geometric(tables: u32, sets_log2: u32, tag_bits: u32, lengths: (u32, u32)) -> Geometry {
        let (shortest, longest) = (f64::from(lengths.0), f64::from(lengths.1));
        let ratio = root(longest / shortest, tables - 1);
        let mut ideal = shortest;
        let mut found: Vec<usize> = Vec::new();
        for table in 0..tables {
            let least = found.last().map_or(1, |last| last + 1);
            // The last tables need room, too.
            let most = (lengths.1 - (tables - 1 - table)) as usize;
            found.push((ideal.round() as usize).max(least).min(most));
            ideal *= ratio;
        }
        let table = |length| TaggedTable { sets_log2, ways: 1, tag_bits, length, second: 0 };
        Geometry { tables: found.into_iter().map(table).collect(), ..Geometry::class_64_kb() }
    }

    /// What the tables take, bits.
    pub fn storage_bits(&self) -> u64 {
        let entry = |table: &TaggedTable| u64::from(table.tag_bits + self.counter_bits + self.useful_bits);
        let tagged = self.tables.iter().map(|table| (table.ways as u64 * entry(table)) << table.sets_log2);
        tagged.sum::<u64>() + (2 << self.base_log2)
    }
}

/// The root of a number from 1 on, by halving an interval: of multiplications alone, which every machine rounds alike, where
/// libraries differ in the last bit of a power.
fn root(of: f64, degree: u32) -> f64 {
    let (mut low, mut high) = (1.0, of);
    for _ in 0..80 {
        let middle = low + (high - low) / 2.0;
        let power = (0..degree).fold(1.0, |power, _| power * middle);
        if power <= of { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(tables: u32, shortest: u32, longest: u32) -> Vec<usize> {
        Geometry::geometric(tables, 11, 11, (shortest, longest))
            .tables
            .iter()
            .map(|table| table.length)
            .collect()
    }

    #[test]
    fn lengths_are_in_geometric_progression_and_each_is_longer_than_the_one_before() {
        assert_eq!(lengths(2, 4, 900), [4, 900]);
        assert_eq!(lengths(5, 5, 80), [5, 10, 20, 40, 80]);
        // 4 * 225^(i/11), by a calculator: 4, 6.55, 10.71, 17.52, 28.67, 46.9, 76.75, 125.6, 205.5, 336.2, 550.1, 900.
        assert_eq!(lengths(12, 4, 900), [4, 7, 11, 18, 29, 47, 77, 126, 205, 336, 550, 900]);
        assert_eq!(lengths(4, 1, 4), [1, 2, 3, 4]);
        assert_eq!(lengths(16, 1000, 1015), (1000..=1015).collect::<Vec<usize>>());
        for (tables, shortest, longest) in [(16, 1, 16), (16, 1, 20), (16, 1, 4000), (9, 3, 12)] {
            let found = lengths(tables, shortest, longest);
            assert!(found.windows(2).all(|two| two[0] < two[1]), "{found:?}");
            assert_eq!((found[0], found.last().copied()), (shortest as usize, Some(longest as usize)));
        }
    }
}
