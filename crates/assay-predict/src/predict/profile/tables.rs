//! What profiles share: what is assumed where nothing is public.

use crate::predict::tage::{Forget, Geometry, TaggedTable};

/// Tables of one shape over these lengths of one register.
pub fn equal(lengths: &[usize], sets_log2: u32, ways: usize, tag_bits: u32) -> Vec<TaggedTable> {
    let table = |&length: &usize| TaggedTable { sets_log2, ways, tag_bits, length, second: 0 };
    lengths.iter().map(table).collect()
}

/// The policies of Seznec's Cookbook around some tables: counters of 3 bits, usefulness of 2 forgotten every 2^18
/// branches, entries in up to two tables per misprediction; all address bits.
pub fn assumed(tables: Vec<TaggedTable>, base_log2: u32) -> Geometry {
    Geometry {
        tables,
        base_log2,
        counter_bits: 3,
        useful_bits: 2,
        allocations: 2,
        forget: Forget::Period(1 << 18),
        index_place: !0,
        tag_place: !0,
    }
}
