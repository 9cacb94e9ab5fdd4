//! Where a jump through a table of offsets leads.
//!
//! The table has as many entries as the comparison ahead of the jump lets through: `cmp Wn, #most` and a branch on
//! higher, lower or same. Where no such comparison stands ahead of it, nothing is said of the jump.

use super::held::TableTarget;
use crate::placement::identity::image::LinkedImage;

/// So many instructions ahead of the load the comparison is looked for.
const COMPARED_WITHIN: usize = 32;

/// Where the entries lead, in their order.
pub fn targets(image: &LinkedImage, words: &[u32], target: &TableTarget) -> Option<Vec<u64>> {
    let entry = target.entry;
    let count = entries(words, entry.load)?;
    let bytes = image.bytes(entry.table, count.checked_mul(entry.bytes)?)?;
    let widened = |entry: &[u8]| {
        let mut all =
            [if target.signed && entry.last().is_some_and(|last| last >> 7 == 1) { 0xff } else { 0 }; 8];
        all[..entry.len()].copy_from_slice(entry);
        i64::from_le_bytes(all)
    };
    let lead = |entry: &[u8]| {
        let to = target.base.wrapping_add_signed(widened(entry).checked_shl(target.shift)?);
        (to.is_multiple_of(4) && image.is_code(to)).then_some(to)
    };
    bytes.chunks_exact(entry.bytes as usize).map(lead).collect()
}

/// How many entries the comparison ahead of a load lets through.
fn entries(words: &[u32], load: usize) -> Option<u64> {
    let first = load.saturating_sub(COMPARED_WITHIN);
    let compared = (first..load).rev().find_map(|index| {
        let word = words[index];
        let compares = word & 0x7fc0_0000 == 0x7100_0000;
        let most = u64::from(word >> 10 & 0xfff);
        let guarded = words[index + 1..load].iter().find_map(|&word| match word & 0xff00_001f {
            // Higher, and lower or same.
            0x5400_0008 | 0x5400_0009 => Some(most + 1),
            // Higher or same, and lower.
            0x5400_0002 | 0x5400_0003 => Some(most),
            _ => None,
        });
        guarded.filter(|_| compares)
    });
    compared.filter(|&count| count > 0)
}
