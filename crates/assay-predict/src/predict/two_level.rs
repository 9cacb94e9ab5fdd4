//! A branch's own last outcomes choose a counter in a table that all branches share (PAg).
//!
//! Source: T.-Y. Yeh and Y. N. Patt, "Alternative implementations of two-level adaptive branch prediction", ISCA 1992:
//! a history per address, one global pattern table of two-bit counters. Sizes are ours, stated in the entry.
//! Known limits: histories have no tags; branches that share the low bits of their address share a history. Histories
//! start as never taken, counters at 2.

use super::bimodal::{address_bits, counted};
use super::{Conditionals, DirectionPredictor, PredictionKind, PredictorEntry};
use crate::trace::Branch;

/// The names of this family.
pub const ENTRIES: &[PredictorEntry] = &[PredictorEntry {
    name: "two-level",
    what: "PAg: 4096 histories of the branch's own last 14 outcomes, 2^14 two-bit counters by them (11 KB)",
    source: "Yeh and Patt, ISCA 1992",
    judges: &[PredictionKind::Direction],
    make: || Box::new(Conditionals(TwoLevel::default())),
}];

const HISTORIES: usize = 1 << 12;
const PATTERN_BITS: u32 = 14;
const PATTERNS: usize = 1 << PATTERN_BITS;

/// Two levels: histories per address, counters per history.
#[derive(Clone, Debug)]
pub struct TwoLevel {
    tables: Box<TwoLevelTables>,
}

#[derive(Clone, Debug)]
struct TwoLevelTables {
    histories: [u16; HISTORIES],
    counters: [u8; PATTERNS],
}

impl Default for TwoLevel {
    fn default() -> TwoLevel {
        TwoLevel { tables: Box::new(TwoLevelTables { histories: [0; HISTORIES], counters: [2; PATTERNS] }) }
    }
}

impl TwoLevel {
    #[inline]
    fn history(&self, pc: u64) -> usize {
        usize::from(self.tables.histories[address_bits(pc) % HISTORIES]) % PATTERNS
    }
}

impl DirectionPredictor for TwoLevel {
    #[inline]
    fn predict(&mut self, pc: u64, _: u64) -> bool {
        self.tables.counters[self.history(pc)] >= 2
    }

    #[inline]
    fn train(&mut self, branch: &Branch, _: bool) {
        let history = self.history(branch.pc);
        let counter = &mut self.tables.counters[history];
        *counter = counted(*counter, branch.taken());
    }

    #[inline]
    fn track(&mut self, branch: &Branch) {
        if branch.class().is_conditional() {
            let history = self.history(branch.pc) << 1 | usize::from(branch.taken());
            self.tables.histories[address_bits(branch.pc) % HISTORIES] = history as u16;
        }
    }

    fn storage_bits(&self) -> u64 {
        HISTORIES as u64 * u64::from(PATTERN_BITS) + 2 * PATTERNS as u64
    }
}
