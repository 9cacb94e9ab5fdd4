//! A branch's own last outcomes choose a counter in a table that all branches share (PAg).
//!
//! Source: T.-Y. Yeh and Y. N. Patt, "Alternative implementations of two-level adaptive branch prediction", ISCA 1992:
//! a history per address, one global pattern table of two-bit counters. Sizes are ours, stated in the entry.
//! Known limits: histories have no tags; branches that share the low bits of their address share a history. Histories
//! start as never taken, counters at 2.

use super::block::{BLOCK, Block, BlockPredictor};
use super::counters::TwoBitCounters;
use super::histories::OwnHistories;
use super::{Conditionals, PredictionKind, PredictorEntry};

/// The names of this family.
pub const ENTRIES: &[PredictorEntry] = &[PredictorEntry {
    name: "two-level",
    what: "PAg: 4096 histories of the branch's own last 14 outcomes, 2^14 two-bit counters by them (11 KB)",
    source: "Yeh and Patt, ISCA 1992",
    judges: &[PredictionKind::Direction],
    make: || Box::new(Conditionals(TwoLevel::default())),
}];

const HISTORIES: u32 = 1 << 12;
const PATTERN_BITS: u32 = 14;
const PATTERNS: usize = 1 << PATTERN_BITS;

/// Two levels: histories per address, counters per history.
#[derive(Clone, Debug)]
pub struct TwoLevel {
    histories: OwnHistories,
    counters: TwoBitCounters<PATTERNS>,
}

impl Default for TwoLevel {
    fn default() -> TwoLevel {
        TwoLevel { histories: OwnHistories::new(HISTORIES), counters: TwoBitCounters::default() }
    }
}

impl BlockPredictor for TwoLevel {
    #[inline(always)]
    fn judge(&mut self, block: &Block, missed: &mut [u8; BLOCK]) {
        let places = self.histories.places(block);
        block.for_each(missed, |nth, outcome| {
            let pattern = self.histories.before(places[nth], outcome);
            self.counters.judge_one(u32::from(pattern), outcome)
        });
    }

    fn storage_bits(&self) -> u64 {
        u64::from(HISTORIES) * u64::from(PATTERN_BITS) + 2 * PATTERNS as u64
    }
}
