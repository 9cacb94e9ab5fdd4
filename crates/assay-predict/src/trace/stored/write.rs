//! Branches to blocks, blocks to a file.

use super::super::source::TraceFault;
use super::super::{Branch, BranchSite};
use super::chunk::{self, Checksum, ChunkHeader, ChunkKind, MAGIC, MAX_BRANCHES, MAX_STREAMS};
use super::coder::Encoder;
use super::directory::Directory;
use super::stream::{StoredBranch, StreamState};
use std::io::{self, Write};

/// Some branches of a stream, coded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodedBlock {
    branches: u32,
    content: Vec<u8>,
}

impl CodedBlock {
    /// From its content, whatever that is: for those who try what a reader makes of it.
    pub fn from_parts(branches: u32, content: Vec<u8>) -> CodedBlock {
        CodedBlock { branches, content }
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

/// Bytes at which a block ends, whatever the number of its branches.
pub(super) const FULL: usize = 1 << 20;

/// Codes one stream, block by block.
pub struct StreamWriter {
    stream: StreamState,
    coder: Encoder,
    in_block: u32,
    /// Our number for each site of the feed.
    numbers: Vec<u32>,
    branches: u64,
    instructions: u64,
}

impl Default for StreamWriter {
    fn default() -> StreamWriter {
        StreamWriter {
            stream: StreamState::new(),
            coder: Encoder::new(),
            in_block: 0,
            numbers: Vec::new(),
            branches: 0,
            instructions: 0,
        }
    }
}

impl StreamWriter {
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
            if self.in_block == MAX_BRANCHES || self.coder.out.len() >= FULL {
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
            let site = self.stream.sites().get(number as usize);
            site.is_some_and(|site| site.pc == step.pc && site.class == class && site.length == length)
        });
        let known = known.or_else(|| self.stream.number(step.pc, length, class));
        let (number, _) = self.stream.code(&mut self.coder, &step, known)?;
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
            if at > 2 * self.stream.sites().len() + (1 << 16) {
                return;
            }
            self.numbers.resize(at + 1, u32::MAX);
        }
        self.numbers[at] = number;
    }

    /// The branches since the last full block, if there are any.
    pub fn finish(&mut self) -> Option<CodedBlock> {
        let branches = std::mem::take(&mut self.in_block);
        let content = self.coder.finish();
        (branches > 0).then_some(CodedBlock { branches, content })
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
        let header = ChunkHeader { kind: ChunkKind::Branches, stream, branches: block.branches, length };
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
