//! What the two published sizes differ in.

use super::corrector::CorrectorComponents;
use super::folds::LANES;
use super::history::{Folds, GlobalHistory};
use super::tage::PublishedTage;

/// Indices without their bank, and tags, one per lane: those of the first table of each pair.
pub struct Hashes {
    /// Entry in the bank.
    pub index: [u16; LANES],
    /// Tag of the entry.
    pub tag: [u16; LANES],
}

/// A size: its tables, hashes and policies.
///
/// Tables are numbered from 1 by growing history and come in pairs of equal history, like two ways of a set; some of
/// them do not exist. A lane is a pair of which at least one table exists. Short-tagged tables share one pool of banks,
/// long-tagged ones another: each branch finds its tables in banks next to each other, from one that depends on its
/// address and path.
pub trait Budget: Sized + 'static {
    /// Tables, those that do not exist included; even.
    const TABLES: u32;
    /// Bit t - 1 is set if table t exists.
    const EXISTING: u64;
    /// Tables from this one on have long tags; odd.
    const FIRST_LONG: u32;
    /// Bits of short and of long tags.
    const TAG_BITS: [u32; 2];
    /// Binary logarithm of the entries of a bank.
    const BANK_LOG: u32;
    /// Banks of the pools for short and for long tags.
    const BANKS: [u16; 2];
    /// The bits of the path that choose the first bank, likewise.
    const BANK_PATH: [u32; 2];
    /// The pair of each lane, from 0; any value of [`LANES`] lanes that [`Budget::LENGTHS`] says are unused.
    const PAIRS: [u32; LANES];
    /// History of each lane, bits; 0 if unused.
    const LENGTHS: [u16; LANES];
    /// The path register's bits.
    const PATH_MASK: u32;
    /// Binary logarithm of the entries of the base table.
    const BASE_LOG: u32;
    /// The largest usefulness.
    const USEFUL_TOP: u8;
    /// Binary logarithm of the entries of the loop table.
    const LOOP_LOG: u32;
    /// Counters of whether new entries yield to the alternate.
    const YIELDS: u64;
    /// The table whose tag of the branch at hand is laid over each pseudo-random number; 0 if none is.
    const STIRRING_TABLE: u32;

    /// The folds of its histories.
    type Folds: Folds;
    /// The parts of its statistical corrector.
    type Components: CorrectorComponents;

    /// Where the branch at `pc` finds its entries.
    fn hash(history: &GlobalHistory<Self>, pc: u64) -> Hashes;

    /// Gives a mispredicted branch entries in longer tables.
    fn allocate(tage: &mut PublishedTage<Self>, taken: bool);

    /// Useful entries grow old when allocation has failed too often.
    fn age(useful: u8) -> u8;

    /// Whether an entry that is unsure is no longer useful, whatever it did before.
    const UNSURE_IS_USELESS: bool;
}
