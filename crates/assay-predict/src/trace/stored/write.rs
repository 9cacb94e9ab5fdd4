//! Branches to blocks, blocks to a file.

use super::super::source::TraceFault;
use super::super::{Branch, BranchSite};
use super::chunk::{self, BlockCoding, Checksum, ChunkHeader, ChunkKind, MAGIC, MAX_STREAMS};
use super::coder::Encoder;
use super::columns::ColumnWriter;
use super::directory::Directory;
use super::stream::{StoredBranch, StreamState};
use std::io::{self, Write};

/// Some branches of a stream, coded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodedBlock {
    coding: BlockCoding,
    branches: u32,
    content: Vec<u8>,
}

impl CodedBlock {
    /// From its content, whatever that is: for those who try what a reader makes of it.
    pub fn from_parts(coding: BlockCoding, branches: u32, content: Vec<u8>) -> CodedBlock {
        CodedBlock { coding, branches, content }
    }

    /// Branches in it.
    pub fn branches(&self) -> u32 {
        self.branches
    }

    /// Bytes that it takes in the file, about.
    pub fn bytes(&self) -> usize {
        self.content.len() + 24
    }
}

/// Bytes at which a block ends, before columns are packed, whatever the number of its branches.
pub(super) const FULL: usize = 1 << 20;

/// Codes one stream, block by block.
pub struct StreamWriter {
    coder: StreamCoder,
    in_block: u32,
    /// Our number for each site of the feed.
    numbers: Vec<u32>,
    branches: u64,
    instructions: u64,
}

/// The state of one coding or the other.
enum StreamCoder {
    Compact(Box<StreamState>, Encoder),
    Columns(Box<ColumnWriter>),
}

impl StreamCoder {
    fn coding(&self) -> BlockCoding {
        match self {
            StreamCoder::Compact(..) => BlockCoding::Compact,
            StreamCoder::Columns(_) => BlockCoding::Columns,
        }
    }

    fn sites(&self) -> &[BranchSite] {
        match self {
            StreamCoder::Compact(stream, _) => stream.sites(),
            StreamCoder::Columns(columns) => columns.places().sites(),
        }
    }

    fn number(&self, step: &StoredBranch) -> Option<u32> {
        match self {
            StreamCoder::Compact(stream, _) => stream.number(step.pc, step.length, step.class),
            StreamCoder::Columns(columns) => columns.places().number(step.pc, step.length, step.class),
        }
    }

    /// Codes a branch, whose site's number is given if it is known, and gives that number.
    fn code(&mut self, step: &StoredBranch, site: Option<u32>) -> Result<u32, TraceFault> {
        match self {
            StreamCoder::Compact(stream, coder) => Ok(stream.code(coder, step, site)?.0),
            StreamCoder::Columns(columns) => columns.code(step, site),
        }
    }

    /// Bytes of the block so far.
    fn bytes(&self) -> usize {
        match self {
            StreamCoder::Compact(_, coder) => coder.out.len(),
            StreamCoder::Columns(columns) => columns.bytes(),
        }
    }

    fn finish(&mut self) -> Vec<u8> {
        match self {
            StreamCoder::Compact(_, coder) => coder.finish(),
            StreamCoder::Columns(columns) => columns.finish(),
        }
    }
}

impl Default for StreamWriter {
    fn default() -> StreamWriter {
        StreamWriter::new(BlockCoding::default())
    }
}

impl StreamWriter {
    /// Begins a stream.
    pub fn new(coding: BlockCoding) -> StreamWriter {
        let coder = match coding {
            BlockCoding::Compact => StreamCoder::Compact(Box::new(StreamState::new()), Encoder::new()),
            BlockCoding::Columns => StreamCoder::Columns(Box::new(ColumnWriter::new())),
        };
        StreamWriter { coder, in_block: 0, numbers: Vec::new(), branches: 0, instructions: 0 }
    }

    /// Takes the next branches; full blocks are handed to `full`. `sites` gives the lengths.
    ///
    /// # Errors
    /// A branch that is unconditional and not taken, more sites than a file may have, or what `full` returns.
    pub fn push<E: From<TraceFault>>(
        &mut self,
        sites: &[BranchSite],
        branches: &[Branch],
        mut full: impl FnMut(CodedBlock) -> Result<(), E>,
    ) -> Result<(), E> {
        for branch in branches {
            self.push_one(sites, branch)?;
            if self.in_block == self.coder.coding().max_branches() || self.coder.bytes() >= FULL {
                self.finish().map_or(Ok(()), &mut full)?;
            }
        }
        Ok(())
    }

    fn push_one(&mut self, sites: &[BranchSite], branch: &Branch) -> Result<(), TraceFault> {
        let class = branch.class();
        if !branch.taken() && !class.is_conditional() {
            return Err(TraceFault::Field { name: "the outcome of an unconditional branch", value: 0 });
        }
        let length = sites.get(branch.site as usize).map_or(0, |site| site.length);
        let step = StoredBranch {
            pc: branch.pc,
            length,
            class,
            target: branch.target,
            taken: branch.taken(),
            instructions: branch.instructions(),
        };
        let known = self.numbers.get(branch.site as usize).copied().filter(|&number| {
            let site = self.coder.sites().get(number as usize);
            site.is_some_and(|site| site.pc == step.pc && site.class == class && site.length == length)
        });
        let known = known.or_else(|| self.coder.number(&step));
        let number = self.coder.code(&step, known)?;
        self.remember(branch.site, number);
        self.in_block += 1;
        self.branches += 1;
        self.instructions += u64::from(step.instructions);
        Ok(())
    }

    /// Sites of the feed are dense; a wild number is looked up each time instead.
    fn remember(&mut self, site: u32, number: u32) {
        let at = site as usize;
        if at >= self.numbers.len() {
            if at > 2 * self.coder.sites().len() + (1 << 16) {
                return;
            }
            self.numbers.resize(at + 1, u32::MAX);
        }
        self.numbers[at] = number;
    }

    /// The branches since the last full block, if there are any.
    pub fn finish(&mut self) -> Option<CodedBlock> {
        let branches = std::mem::take(&mut self.in_block);
        let (coding, content) = (self.coder.coding(), self.coder.finish());
        (branches > 0).then_some(CodedBlock { coding, branches, content })
    }

    /// Branches so far.
    pub fn branches(&self) -> u64 {
        self.branches
    }

    /// Instructions so far.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }
}

/// Writes blocks of any streams to a file.
pub struct StoredWriter<W> {
    out: W,
    check: Checksum,
    bytes: u64,
}

impl<W: Write> StoredWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// The writer's own.
    pub fn new(mut out: W) -> io::Result<StoredWriter<W>> {
        out.write_all(&MAGIC)?;
        Ok(StoredWriter { out, check: MAGIC, bytes: MAGIC.len() as u64 })
    }

    /// Writes a block of a stream; the blocks of one stream in their order.
    ///
    /// # Errors
    /// A stream beyond [`MAX_STREAMS`], or the writer's own.
    pub fn write(&mut self, stream: u32, block: &CodedBlock) -> io::Result<()> {
        if stream >= MAX_STREAMS {
            let message = format!("a file holds at most {MAX_STREAMS} streams");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let length = block.content.len() as u32;
        let kind = ChunkKind::Branches(block.coding);
        let header = ChunkHeader { kind, stream, branches: block.branches, length };
        chunk::write(&mut self.out, &mut self.check, header, &block.content)?;
        self.bytes += block.bytes() as u64;
        Ok(())
    }

    /// Bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes the directory, and gives the writer back.
    ///
    /// # Errors
    /// The writer's own, or a directory that is too long.
    pub fn finish(mut self, directory: &Directory) -> io::Result<W> {
        let packed = directory.pack()?;
        if packed.len() > chunk::MAX_CONTENT as usize {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the list of processes and modules is too long",
            ));
        }
        let header =
            ChunkHeader { kind: ChunkKind::Directory, stream: 0, branches: 0, length: packed.len() as u32 };
        chunk::write(&mut self.out, &mut self.check, header, &packed)?;
        self.out.flush()?;
        Ok(self.out)
    }
}
