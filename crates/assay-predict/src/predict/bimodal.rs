//! A two-bit counter per branch address.
//!
//! Source: J. E. Smith, "A study of branch prediction strategies", ISCA 1981 (strategy 7). The counter saturates at 0
//! and 3, starts at 2 and says taken from 2 on.
//! Known limits: branches that share the low bits of their address share a counter, as in hardware.

use super::family::{Configured, Parameter, PredictorFamily};
use super::gshare;
use super::{Conditionals, DirectionPredictor, PredictionKind, PredictorEntry};
use crate::trace::Branch;

/// The names of this family.
pub const ENTRIES: &[PredictorEntry] = &[PredictorEntry {
    name: "bimodal",
    what: "2^14 two-bit counters by the low bits of pc ^ pc >> 2 (4 KB)",
    source: "Smith, ISCA 1981, strategy 7",
    judges: &[PredictionKind::Direction],
    make: || Box::new(Conditionals(Bimodal::default())),
}];

/// `bimodal:bits=14`: what gshare is without a history.
pub const FAMILY: PredictorFamily = PredictorFamily {
    name: "bimodal",
    source: "Smith, ISCA 1981, strategy 7",
    judges: &[PredictionKind::Direction],
    parameters: &[Parameter {
        name: "bits",
        what: "2^bits two-bit counters",
        domain: gshare::SIZES,
        usual: "14",
    }],
    make: |values| {
        let bits = values[0].unwrap_or(14);
        let size = gshare::kilobytes(bits);
        Ok(Configured {
            what: format!("2^{bits} two-bit counters by the low bits of pc ^ pc >> 2 ({size})"),
            member: gshare::of_size(bits, 0),
        })
    },
};

const COUNTERS: usize = 1 << 14;

/// A two-bit counter after one more outcome.
#[inline]
pub(super) const fn counted(counter: u8, taken: bool) -> u8 {
    // One look-up in a constant: 2 bits per (counter, outcome), no compare, no branch.
    const NEXT: u16 = 0b1111_1001_1001_0000;
    (NEXT >> (taken as u32 * 8 + counter as u32 * 2)) as u8 & 3
}

/// The bits of an address that tell branches apart: instructions of four bytes leave the two lowest at 0.
#[inline]
pub(super) fn address_bits(pc: u64) -> usize {
    (pc ^ pc >> 2) as usize
}

/// A two-bit counter per branch address.
#[derive(Clone, Debug)]
pub struct Bimodal {
    counters: Box<[u8; COUNTERS]>,
}

impl Default for Bimodal {
    fn default() -> Bimodal {
        Bimodal { counters: Box::new([2; COUNTERS]) }
    }
}

impl DirectionPredictor for Bimodal {
    #[inline]
    fn predict(&mut self, pc: u64, _: u64) -> bool {
        self.counters[address_bits(pc) % COUNTERS] >= 2
    }

    #[inline]
    fn train(&mut self, branch: &Branch, _: bool) {
        let counter = &mut self.counters[address_bits(branch.pc) % COUNTERS];
        *counter = counted(*counter, branch.taken());
    }

    #[inline]
    fn track(&mut self, _: &Branch) {}

    fn storage_bits(&self) -> u64 {
        2 * COUNTERS as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_moves_by_one_and_saturates() {
        assert_eq!([0, 1, 2, 3].map(|counter| counted(counter, true)), [1, 2, 3, 3]);
        assert_eq!([0, 1, 2, 3].map(|counter| counted(counter, false)), [0, 0, 1, 2]);
    }
}
