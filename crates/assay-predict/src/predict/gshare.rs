//! Two-bit counters by the branch's address and the last outcomes together.
//!
//! Source: S. McFarling, "Combining branch predictors", WRL TN-36, 1993. `gshare-32k` is the baseline of the fifth
//! championship (CBP-2016): 2^17 counters that start at 2, index pc xor the last 17 outcomes of conditional branches,
//! the newest lowest.
//! Checked: `gshare-32k` against the counts and stream hashes of the championship's own program (tests/golden_textbook).

use super::bimodal::{address_bits, counted};
use super::{Conditionals, DirectionPredictor, PredictionKind, PredictorEntry};
use crate::trace::Branch;

/// The names of this family.
pub const ENTRIES: &[PredictorEntry] = &[
    PredictorEntry {
        name: "gshare",
        what: "2^16 two-bit counters by (pc ^ pc >> 2) ^ the last 16 outcomes (16 KB)",
        source: "McFarling, WRL TN-36, 1993",
        judges: &[PredictionKind::Direction],
        make: || Box::new(Conditionals(Gshare::<{ 1 << 16 }, false>::default())),
    },
    PredictorEntry {
        name: "gshare-32k",
        what: "2^17 two-bit counters by pc ^ the last 17 outcomes (32 KB), exactly as in CBP-2016",
        source: "McFarling, WRL TN-36, 1993; the baseline of CBP-2016",
        judges: &[PredictionKind::Direction],
        make: || Box::new(Conditionals(Gshare32k::default())),
    },
];

/// The baseline of the fifth championship.
pub type Gshare32k = Gshare<{ 1 << 17 }, true>;

/// Two-bit counters by address and history.
///
/// `COUNTERS` is a power of two; the history has as many outcomes as the index has bits. `PLAIN` takes the address as it
/// is, else its low bits are folded first, so that instructions of four bytes do not leave three counters of four unused.
#[derive(Clone, Debug)]
pub struct Gshare<const COUNTERS: usize, const PLAIN: bool> {
    counters: Box<[u8; COUNTERS]>,
    history: usize,
}

impl<const COUNTERS: usize, const PLAIN: bool> Default for Gshare<COUNTERS, PLAIN> {
    fn default() -> Self {
        const { assert!(COUNTERS.is_power_of_two()) }
        Gshare { counters: Box::new([2; COUNTERS]), history: 0 }
    }
}

impl<const COUNTERS: usize, const PLAIN: bool> Gshare<COUNTERS, PLAIN> {
    #[inline]
    fn index(&self, pc: u64) -> usize {
        let address = if PLAIN { pc as usize } else { address_bits(pc) };
        (address ^ self.history) % COUNTERS
    }
}

impl<const COUNTERS: usize, const PLAIN: bool> DirectionPredictor for Gshare<COUNTERS, PLAIN> {
    #[inline]
    fn predict(&mut self, pc: u64, _: u64) -> bool {
        self.counters[self.index(pc)] >= 2
    }

    #[inline]
    fn train(&mut self, branch: &Branch, _: bool) {
        let counter = &mut self.counters[self.index(branch.pc)];
        *counter = counted(*counter, branch.taken());
    }

    #[inline]
    fn track(&mut self, branch: &Branch) {
        if branch.class().is_conditional() {
            self.history = (self.history << 1 | usize::from(branch.taken())) % COUNTERS;
        }
    }

    fn storage_bits(&self) -> u64 {
        2 * COUNTERS as u64 + u64::from(COUNTERS.ilog2())
    }
}
