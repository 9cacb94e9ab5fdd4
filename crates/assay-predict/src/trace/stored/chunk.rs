//! The frame around what is stored: kind, stream, count, length, checksum.

use super::super::source::{TraceError, TraceFault, TracePlace};
use super::columns;
use sha2::{Digest as _, Sha256};
use std::io::{self, Read, Write};

/// What a file begins with; the last byte is the version.
pub const MAGIC: [u8; 8] = *b"assaytr\x02";
/// The version before, which had no columns.
const COMPACT_ONLY: u8 = 1;
/// Streams that a file can have.
pub const MAX_STREAMS: u32 = 1 << 16;
/// Branches of the fullest compact block.
pub const MAX_BRANCHES: u32 = 1 << 16;
/// Bytes of the longest content of a chunk.
pub const MAX_CONTENT: u32 = 1 << 22;

const HEADER_BYTES: usize = 16;
const CHECK_BYTES: usize = 8;

/// How the branches of a block are coded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockCoding {
    /// In the fewest bits: an arithmetic coder with mixed predictions.
    Compact,
    /// Read at the speed of memory.
    #[default]
    Columns,
}

impl BlockCoding {
    /// Both.
    pub const CODINGS: [BlockCoding; 2] = [BlockCoding::Compact, BlockCoding::Columns];

    /// Branches of the fullest block.
    pub fn max_branches(self) -> u32 {
        match self {
            BlockCoding::Compact => MAX_BRANCHES,
            BlockCoding::Columns => columns::MAX_BRANCHES,
        }
    }
}

/// What a chunk holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkKind {
    Branches(BlockCoding),
    Directory,
}

/// The beginning of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkHeader {
    pub kind: ChunkKind,
    pub stream: u32,
    pub branches: u32,
    pub length: u32,
}

/// The checksum of all that came before.
pub type Checksum = [u8; CHECK_BYTES];

impl ChunkHeader {
    fn bytes(&self) -> [u8; HEADER_BYTES] {
        let kind: u32 = match self.kind {
            ChunkKind::Branches(BlockCoding::Compact) => 1,
            ChunkKind::Directory => 2,
            ChunkKind::Branches(BlockCoding::Columns) => 3,
        };
        let words = [kind, self.stream, self.branches, self.length].map(u32::to_le_bytes);
        std::array::from_fn(|at| words[at / 4][at % 4])
    }

    fn parse(bytes: &[u8; HEADER_BYTES], version: u8) -> Result<ChunkHeader, TraceFault> {
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[at * 4 + byte]));
        let field = |name, at: usize| TraceFault::Field { name, value: word(at).into() };
        let kind = match word(0) {
            1 => ChunkKind::Branches(BlockCoding::Compact),
            2 => ChunkKind::Directory,
            3 if version > COMPACT_ONLY => ChunkKind::Branches(BlockCoding::Columns),
            _ => return Err(field("the kind of a chunk", 0)),
        };
        if word(1) >= MAX_STREAMS {
            return Err(field("the number of a stream", 1));
        }
        let branches = match kind {
            ChunkKind::Branches(coding) => 1..=coding.max_branches(),
            ChunkKind::Directory => 0..=0,
        };
        if !branches.contains(&word(2)) {
            return Err(field("the number of branches in a block", 2));
        }
        if word(3) > MAX_CONTENT {
            return Err(field("the length of a chunk", 3));
        }
        Ok(ChunkHeader { kind, stream: word(1), branches: word(2), length: word(3) })
    }
}

fn next_check(before: &Checksum, header: &[u8], content: &[u8]) -> Checksum {
    let digest = Sha256::new().chain_update(before).chain_update(header).chain_update(content).finalize();
    std::array::from_fn(|at| digest[at])
}

/// Writes a chunk and moves the checksum on.
pub fn write(
    out: &mut impl Write,
    check: &mut Checksum,
    header: ChunkHeader,
    content: &[u8],
) -> io::Result<()> {
    let bytes = header.bytes();
    *check = next_check(check, &bytes, content);
    out.write_all(&bytes)?;
    out.write_all(check)?;
    out.write_all(content)
}

/// Chunks of a file, one after the other.
pub struct Chunks<R> {
    inner: R,
    version: u8,
    check: Checksum,
    byte: u64,
    number: u64,
}

impl<R: Read> Chunks<R> {
    /// Reads the name.
    pub fn new(inner: R) -> Result<Chunks<R>, TraceError> {
        let mut name = [0; 8];
        let mut chunks = Chunks { inner, version: 0, check: name, byte: 0, number: 0 };
        let have = chunks.fill(&mut name)?;
        let fault = match &name[..have] {
            [] => TraceFault::Empty,
            begin if begin[..have.min(7)] != MAGIC[..have.min(7)] => {
                TraceFault::Format { expected: "a trace of assay" }
            }
            _ if have < 8 => TraceFault::Cut { have: 0, promised: None },
            begin if !(COMPACT_ONLY..=MAGIC[7]).contains(&begin[7]) => {
                TraceFault::Version { found: begin[7].into() }
            }
            _ => {
                (chunks.version, chunks.check, chunks.byte) = (name[7], name, 8);
                return Ok(chunks);
            }
        };
        Err(TraceError::new(TracePlace::Byte(0), fault))
    }

    /// Where the next chunk begins.
    pub fn place(&self) -> TracePlace {
        TracePlace::Block { number: self.number, byte: self.byte }
    }

    /// The next chunk, its content in `content`; `None` at the end of the file. `have` is for the message.
    pub fn next(&mut self, content: &mut Vec<u8>, have: u64) -> Result<Option<ChunkHeader>, TraceError> {
        let place = self.place();
        let cut = || TraceError::new(place, TraceFault::Cut { have, promised: None });
        let mut bytes = [0; HEADER_BYTES + CHECK_BYTES];
        match self.fill(&mut bytes)? {
            0 => return Ok(None),
            read if read < bytes.len() => return Err(cut()),
            _ => {}
        }
        let head = bytes.first_chunk().expect("it is longer than a header");
        let header = ChunkHeader::parse(head, self.version).map_err(|fault| TraceError::new(place, fault))?;
        content.resize(header.length as usize, 0);
        if self.fill(content)? < content.len() {
            return Err(cut());
        }
        let check = next_check(&self.check, head, content);
        if check != bytes[HEADER_BYTES..] {
            return Err(TraceError::new(place, TraceFault::Checksum));
        }
        self.check = check;
        self.number += 1;
        self.byte += (bytes.len() + content.len()) as u64;
        Ok(Some(header))
    }

    /// Reads until the buffer is full or the file ends.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, TraceError> {
        let mut have = 0;
        while have < buffer.len() {
            match self.inner.read(&mut buffer[have..]) {
                Ok(0) => break,
                Ok(count) => have += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(TraceError::new(
                        self.place(),
                        TraceFault::Read { message: error.to_string() },
                    ));
                }
            }
        }
        Ok(have)
    }
}
