//! Two-bit counters by the branch's address and the last outcomes together.
//!
//! Source: S. McFarling, "Combining branch predictors", WRL TN-36, 1993. `gshare-32k` is the baseline of the fifth
//! championship (CBP-2016): 2^17 counters that start at 2, index pc xor the last 17 outcomes of conditional branches,
//! the newest lowest.
//! Checked: `gshare-32k` against the counts and stream hashes of the championship's own program (tests/golden_textbook).

use super::block::{BLOCK, Block, BlockPredictor};
use super::counters::TwoBitCounters;
use super::family::{Configured, Parameter, PredictorFamily};
use super::{Conditionals, Member, PredictionKind, PredictorEntry};
use assay_numbers::words;

/// The names of this family.
pub const ENTRIES: &[PredictorEntry] = &[
    PredictorEntry {
        name: "gshare",
        what: "2^16 two-bit counters by (pc ^ pc >> 2) ^ the last 16 outcomes (16 KB)",
        source: "McFarling, WRL TN-36, 1993",
        judges: &[PredictionKind::Direction],
        make: || of_size(16, 16),
    },
    PredictorEntry {
        name: "gshare-32k",
        what: "2^17 two-bit counters by pc ^ the last 17 outcomes (32 KB), exactly as in CBP-2016",
        source: "McFarling, WRL TN-36, 1993; the baseline of CBP-2016",
        judges: &[PredictionKind::Direction],
        make: || Box::new(Conditionals(Gshare::<LARGE>::plain(17, 17))),
    },
];

/// `gshare:bits=16,history=16`.
pub const FAMILY: PredictorFamily = PredictorFamily {
    name: "gshare",
    source: "McFarling, WRL TN-36, 1993",
    judges: &[PredictionKind::Direction],
    parameters: &[
        Parameter { name: "bits", what: "2^bits two-bit counters", domain: SIZES, usual: "16" },
        Parameter {
            name: "history",
            what: "last outcomes, at most bits",
            domain: (0, SIZES.1),
            usual: "bits",
        },
    ],
    make: |values| {
        let bits = values[0].unwrap_or(16);
        let history = values[1].unwrap_or(bits);
        if history > bits {
            return Err(format!("history={history} is more than the {bits} bits of an index"));
        }
        let outcomes = words::plural(u64::from(history), "outcome");
        Ok(Configured {
            what: format!(
                "2^{bits} two-bit counters by (pc ^ pc >> 2) ^ the last {outcomes} ({})",
                kilobytes(bits)
            ),
            member: of_size(bits, history),
        })
    },
};

/// Logarithms of how many counters there can be.
pub(super) const SIZES: (u32, u32) = (4, 20);

/// What 2^`bits` counters of two bits take, in words.
pub(super) fn kilobytes(bits: u32) -> String {
    words::bytes(2 << bits >> 3)
}

/// A fresh one with 2^`bits` counters, `bits` within [`SIZES`]. Without a history it is bimodal.
pub(super) fn of_size(bits: u32, history: u32) -> Box<dyn Member> {
    if bits <= 16 {
        Box::new(Conditionals(Gshare::<SMALL>::new(bits, history)))
    } else {
        Box::new(Conditionals(Gshare::<LARGE>::new(bits, history)))
    }
}

/// Room for the counters of most.
pub const SMALL: usize = 1 << 16;

/// Room for the counters of any.
pub const LARGE: usize = 1 << SIZES.1;

/// Two-bit counters by address and history.
#[derive(Clone, Debug)]
pub struct Gshare<const ROOM: usize> {
    counters: TwoBitCounters<ROOM>,
    /// A bit for each that an index has.
    index: u32,
    history: u64,
    /// What was remembered when it was last asked whether it rests.
    rested: u32,
    /// A bit for each outcome that is remembered.
    remembered: u32,
    /// Bits of the address that are xored to those two places lower, so that instructions of four bytes do not leave three
    /// counters of four unused.
    folded: u32,
}

impl<const ROOM: usize> Gshare<ROOM> {
    /// One with 2^`bits` counters, at most `ROOM`, that remembers the last `history` outcomes, at most `bits`.
    pub fn new(bits: u32, history: u32) -> Self {
        assert!(
            1 << bits <= ROOM && history <= bits,
            "a history of {history} outcomes for 2^{bits} counters"
        );
        let ones = |bits: u32| (1_u32 << bits) - 1;
        Gshare {
            counters: TwoBitCounters::default(),
            index: ones(bits),
            history: 0,
            rested: 0,
            remembered: ones(history),
            folded: u32::MAX,
        }
    }

    /// One that takes the address as it is.
    pub fn plain(bits: u32, history: u32) -> Self {
        Gshare { folded: 0, ..Gshare::new(bits, history) }
    }
}

impl<const ROOM: usize> BlockPredictor for Gshare<ROOM> {
    #[inline(always)]
    fn judge(&mut self, block: &Block, missed: &mut [u8; BLOCK]) {
        let mut places = block.histories(self.history, 0);
        for (place, address) in places.iter_mut().zip(&block.addresses) {
            *place = (address ^ address >> 2 & self.folded ^ *place & self.remembered) & self.index;
        }
        self.history = block.history_after(self.history);
        self.counters.judge(&places, block, missed);
    }

    fn rests(&mut self) -> bool {
        let remembered = self.history as u32 & self.remembered;
        let same = std::mem::replace(&mut self.rested, remembered) == remembered;
        // Whoever mispredicts moves a counter.
        self.counters.rest() & same
    }

    fn storage_bits(&self) -> u64 {
        2 * (u64::from(self.index) + 1) + u64::from(self.remembered.count_ones())
    }
}
