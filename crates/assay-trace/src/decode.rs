//! From ids of blocks to branches: what happened between one block and the next.
//!
//! Method: a block's last instruction says where control may go; the next block of the same thread says where it went.
//! Nearly every step is one of three (fell through, went to the target, went anywhere it liked) and is made without a
//! branch that depends on the program. The rest, a block that was cut short, a repeated string instruction, a signal, is
//! slow and rare. Limits: docs/methodology/tracer.md.

mod code;
mod events;
mod stream;
#[cfg(test)]
mod tests;

pub(super) use code::SeenBlocks;
pub(super) use stream::{EndingTotals, ThreadStream};
