//! Our own format of stored streams: TRACE.md describes it byte by byte.
//!
//! A file is a name, then chunks, each with a checksum that covers it and, through the checksum before, all that came
//! ahead of it. A chunk is a block of one stream's branches, or the directory, which ends the file. Blocks of several
//! streams alternate as they were made; the state that a block is read with is that at the end of the stream's block
//! before. What a cut or damaged file holds before that place can be read.
//!
//! There are two codings of a block. Columns are read as fast as a simple predictor predicts; a compact one takes fewer bits
//! and is decoded by the seven predictions that wrote it, one after the other.
//!
//! Memory: a block and the sites, and 3 MB per compact stream that is read or written at a time.
//! Checked by: round trips of every class, outcome and length, and of the golden streams; every byte of a small file cut
//! off and damaged; columns that nobody wrote; fuzzing.

mod chunk;
mod coder;
mod columns;
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

pub use chunk::{BlockCoding, MAGIC, MAX_STREAMS};
pub use directory::{Directory, StoredModule, StreamTotals, TracedProcess};
pub use read::{LIVE, StoredReader};
pub use write::{CodedBlock, StoredWriter, StreamWriter};
