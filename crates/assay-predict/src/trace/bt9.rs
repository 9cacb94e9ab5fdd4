//! BT9, the text format of CBP-2016, uncompressed.
//!
//! Lines `key: value`; `BT9_NODES` and a line per place that branches (`NODE`, id, address, physical address, opcode,
//! length, then `class: JMP|CALL|RET+DIR|IND+CND|UCD` and counts); `BT9_EDGES` and a line per way from one branch to the
//! next (`EDGE`, id, source, destination, `T` or `N`, target, physical target, instructions between the two branches, and
//! a count); `BT9_EDGE_SEQUENCE` and the id of an edge per line; `EOF`. Nodes without a class stand for the beginning and
//! the end. An executed branch is the source of an edge. Edges that are not taken carry a target too, that of the
//! instruction. Source: the description in the championship's kit and the traces themselves.

mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::Bt9Reader;
pub use write::{Bt9Tables, Bt9Writer};

/// What a file begins with.
pub const MAGIC: &[u8] = b"BT9_SPA_TRACE_FORMAT";
/// Ways from one branch to the next that are kept in memory at most.
pub const MAX_EDGES: usize = 1 << 22;
