//! Two functions of one AArch64 file, with all that they reach.
//!
//! They are compared as those of two files are, but the answer is taken for a proof that both do the same work. So the rules are
//! stricter: what has one address is one thing, and names tell nothing; data elsewhere is the same only if it is never written
//! and equal byte for byte, or leads to the same by what the loader writes. What would need a guess is unknown: variables, which may
//! change; words that are the same only if they are addresses; the end of an object, which may be the start of another.

use super::data::Referral;
use super::graph::{Graph, PairFindings, Tie};
use super::node::{DataPair, DataSize, Node};
use super::side::{FileSide, Variable};
use crate::placement::identity::data::ReadExtent;
use crate::placement::identity::{Identity, NotSame};
use crate::placement::layout::LayoutError;

/// Two variables of one file: they start alike at best.
pub const OF_THREADS: &str = "variables of a thread, which may change";

/// Compares the functions at the link-time addresses `a` and `b`.
///
/// # Errors
/// The file is no ELF file or has no function symbols.
pub fn same_code_inside(elf: &[u8], a: u64, b: u64) -> Result<Identity, LayoutError> {
    let file = FileSide::parse(elf, None)?;
    if let Some(reason) = file.unsuitable() {
        return Ok(Identity::Unknown { reason });
    }
    if a == b {
        return Ok(Identity::Identical { note: Some("they are one function".to_owned()) });
    }
    let mut graph = Graph::new(&file, &file, &[]);
    let number = graph.node(Node::Code(a, b));
    graph.run();
    Ok(graph.identity(number))
}

impl Graph<'_, '_> {
    /// Whether both functions are of one file.
    pub fn is_inside(&self) -> bool {
        std::ptr::eq(self.a, self.b)
    }

    /// Two addresses of code or data. The address just past an object, where a loop over it ends, is also that of the next one, of
    /// which then nothing is said.
    pub fn place_inside(
        &mut self,
        a: u64,
        b: u64,
        referral: Referral,
        found: &mut PairFindings,
    ) -> Result<(), NotSame> {
        if a == b {
            return Ok(());
        }
        let image = &self.a.image;
        if referral.extent != ReadExtent::Object || !image.object_ends_at(a) || !image.object_ends_at(b) {
            return self.other_place(a, b, referral, found);
        }
        match self.other_place(a, b, Referral { tie: Tie::Perhaps, ..referral }, found) {
            Err(NotSame::Different) => {
                NotSame::unknown("the ends of some objects, which may be the starts of others")
            }
            result => result,
        }
    }

    /// Two objects of one file.
    pub fn constants(
        &mut self,
        (a, into_a): (&Variable, u64),
        (b, into_b): (&Variable, u64),
        referral: Referral,
        found: &mut PairFindings,
    ) -> Result<(), NotSame> {
        match (self.a.is_constant(a.address), self.b.is_constant(b.address)) {
            (true, true) => {}
            (false, false) => {
                return NotSame::unknown(format!(
                    "`{}` and `{}` may change, and differ then",
                    a.name, b.name
                ));
            }
            _ => return Err(NotSame::Different),
        }
        if matches!(referral.extent, ReadExtent::Bytes(_)) {
            return self.nameless(a.address + into_a, b.address + into_b, referral, found);
        }
        if (a.size, into_a) != (b.size, into_b) {
            return Err(NotSame::Different);
        }
        let shape = DataSize::Sized(a.size, b.size);
        let Referral { offsets, whole, tie, .. } = referral;
        let pair = DataPair { a: a.address, b: b.address, shape, offsets, whole, read: false };
        let node = self.node(Node::Data(pair));
        found.tie(node, tie);
        Ok(())
    }
}
