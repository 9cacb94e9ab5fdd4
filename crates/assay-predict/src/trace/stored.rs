//! Our own format of stored streams: TRACE.md describes it byte by byte.
//!
//! A file is a name, then chunks, each with a checksum that covers it and, through the checksum before, all that came
//! ahead of it. A chunk is a block of one stream's branches, or the directory, which ends the file. Blocks of several
//! streams alternate as they were made; the state that a block is read with is that at the end of the stream's block
//! before. What a cut or damaged file holds before that place can be read.
//!
//! Memory: 3 MB per stream that is read or written at a time, a block, and the sites.
//! Checked by: round trips of every class, outcome and length, and of the golden streams; every byte of a small file cut
//! off and damaged; fuzzing.

mod chunk;
mod coder;
mod directory;
#[cfg(test)]
mod limits;
mod outcome;
mod read;
mod stream;
mod target;
#[cfg(test)]
mod tests;
mod write;

pub use chunk::{MAGIC, MAX_STREAMS};
pub use directory::{Directory, StoredModule, StreamTotals, TracedProcess};
pub use read::{LIVE, StoredReader};
pub use write::{CodedBlock, StoredWriter, StreamWriter};
