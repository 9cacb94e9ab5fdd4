//! Two-bit counters by the branch's address and the last outcomes together.
//!
//! Source: S. McFarling, "Combining branch predictors", WRL TN-36, 1993. `gshare-32k` is the baseline of the fifth
//! championship (CBP-2016): 2^17 counters that start at 2, index pc xor the last 17 outcomes of conditional branches,
//! the newest lowest.
//! Checked: `gshare-32k` against the counts and stream hashes of the championship's own program (tests/golden_textbook).

use super::bimodal::{address_bits, counted};
use super::family::{Configured, Parameter, PredictorFamily};
use super::{Conditionals, DirectionPredictor, Member, PredictionKind, PredictorEntry};
use crate::trace::Branch;
use assay_numbers::words;

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

/// A fresh one with 2^`bits` counters, `bits` within [`SIZES`]; the code of each size knows it. Without a history it is bimodal.
pub(super) fn of_size(bits: u32, history: u32) -> Box<dyn Member> {
    macro_rules! sized {
        ($($size:literal)*) => {
            match bits {
                $($size => Box::new(Conditionals(Gshare::<{ 1 << $size }, false>::new(history))),)*
                _ => unreachable!("2^{bits} counters: the domain was looked up before"),
            }
        };
    }
    sized!(4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20)
}

/// The baseline of the fifth championship.
pub type Gshare32k = Gshare<{ 1 << 17 }, true>;

/// Two-bit counters by address and history.
///
/// `COUNTERS` is a power of two; the history has at most as many outcomes as the index has bits. `PLAIN` takes the address as it
/// is, else its low bits are folded first, so that instructions of four bytes do not leave three counters of four unused.
#[derive(Clone, Debug)]
pub struct Gshare<const COUNTERS: usize, const PLAIN: bool> {
    counters: Box<[u8; COUNTERS]>,
    history: usize,
    /// A bit for each outcome that is remembered.
    remembered: usize,
}

impl<const COUNTERS: usize, const PLAIN: bool> Default for Gshare<COUNTERS, PLAIN> {
    fn default() -> Self {
        Gshare::new(COUNTERS.ilog2())
    }
}

impl<const COUNTERS: usize, const PLAIN: bool> Gshare<COUNTERS, PLAIN> {
    /// One that remembers the last `history` outcomes, at most as many as an index has bits.
    pub fn new(history: u32) -> Self {
        const { assert!(COUNTERS.is_power_of_two()) }
        assert!(history <= COUNTERS.ilog2(), "a history of {history} outcomes for {COUNTERS} counters");
        // Made where it stays: as an array it would lie on the stack first, where the largest have no room.
        let counters = vec![2; COUNTERS].into_boxed_slice();
        let counters = counters.try_into().unwrap_or_else(|_| unreachable!("as many as were made"));
        Gshare { counters, history: 0, remembered: (1 << history) - 1 }
    }

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
            self.history = (self.history << 1 | usize::from(branch.taken())) & self.remembered;
        }
    }

    fn storage_bits(&self) -> u64 {
        2 * COUNTERS as u64 + u64::from(self.remembered.count_ones())
    }
}
