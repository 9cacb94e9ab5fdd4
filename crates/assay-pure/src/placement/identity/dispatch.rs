//! A jump through a table.

use iced_x86::Register;
use std::collections::BTreeSet;

/// A jump through a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// Index of the jump.
    pub jump: usize,
    /// Index of the instruction that reads the table.
    pub load: usize,
    /// The instructions that use the table's address in the known form.
    pub uses: BTreeSet<usize>,
    /// The register with the table's address, or `None` if the entries are addresses and it is in the jump itself.
    pub base: Register,
    /// The instructions that mention the table.
    pub mentions: BTreeSet<usize>,
    /// Where it lies.
    pub table: u64,
    /// Indices of the instructions that its entries lead to.
    pub targets: BTreeSet<usize>,
}
