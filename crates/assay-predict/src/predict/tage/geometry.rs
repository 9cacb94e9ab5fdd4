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

    /// What the tables take, bits.
    pub fn storage_bits(&self) -> u64 {
        let entry = |table: &TaggedTable| u64::from(table.tag_bits + self.counter_bits + self.useful_bits);
        let tagged = self.tables.iter().map(|table| (table.ways as u64 * entry(table)) << table.sets_log2);
        tagged.sum::<u64>() + (2 << self.base_log2)
    }
}
