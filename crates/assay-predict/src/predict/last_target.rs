//! An indirect branch goes where it went the last time.
//!
//! Source: the branch target buffer of J. K. F. Lee and A. J. Smith, "Branch prediction strategies and branch target
//! buffer design", Computer 17(1), 1984, used for indirect branches alone, without tags.
//! Known limits: the whole target is kept, where hardware keeps some of its bits.

use super::counters::address_bits;
use super::{PredictionKind, PredictorEntry, TargetMember, TargetPredictor};
use crate::trace::Branch;

/// The names of this family.
pub const ENTRIES: &[PredictorEntry] = &[PredictorEntry {
    name: "last-target",
    what: "4096 targets by the low bits of pc ^ pc >> 2: an indirect branch goes where it last went",
    source: "Lee and Smith, Computer 17(1), 1984",
    judges: &[PredictionKind::Target],
    make: || Box::new(TargetMember(LastTarget::default())),
}];

const TARGETS: usize = 1 << 12;

/// The last target of each indirect branch, 0 before the first.
#[derive(Clone, Debug)]
pub struct LastTarget {
    targets: Box<[u64; TARGETS]>,
}

impl Default for LastTarget {
    fn default() -> LastTarget {
        LastTarget { targets: Box::new([0; TARGETS]) }
    }
}

impl TargetPredictor for LastTarget {
    #[inline]
    fn predict(&mut self, pc: u64) -> u64 {
        self.targets[address_bits(pc) % TARGETS]
    }

    #[inline]
    fn train(&mut self, branch: &Branch, _: u64) {
        self.targets[address_bits(branch.pc) % TARGETS] = branch.target;
    }

    #[inline]
    fn track(&mut self, _: &Branch) {}

    fn storage_bits(&self) -> u64 {
        64 * TARGETS as u64
    }
}
