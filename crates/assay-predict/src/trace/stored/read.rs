//! A file to branches, a block at a time.

use super::super::source::{Batch, MAX_SITES, TraceError, TraceFault, TracePlace, TraceSource};
use super::super::{Branch, BranchSite};
use super::chunk::{ChunkKind, Chunks};
use super::coder::Decoder;
use super::directory::Directory;
use super::stream::{StoredBranch, StreamState};
use std::io::Read;
use std::ops::Range;

/// Streams that are read at a time; each takes 3 MB.
pub const LIVE: u32 = 16;

/// A file being read.
pub struct StoredReader<R> {
    chunks: Chunks<R>,
    first: u32,
    live: Vec<Option<Box<StreamState>>>,
    content: Vec<u8>,
    have: u64,
    skipped: u64,
    totals: Vec<u64>,
    directory: Option<Directory>,
    failed: bool,
}

impl<R: Read> StoredReader<R> {
    /// Reads the first [`LIVE`] streams.
    ///
    /// # Errors
    /// An empty file, another format, another version.
    pub fn new(inner: R) -> Result<StoredReader<R>, TraceError> {
        StoredReader::only(inner, 0..LIVE)
    }

    /// Reads some streams, at most [`LIVE`]; the blocks of others are checked and skipped.
    ///
    /// # Errors
    /// As [`StoredReader::new`].
    pub fn only(inner: R, streams: Range<u32>) -> Result<StoredReader<R>, TraceError> {
        let count = streams.len().min(LIVE as usize);
        let mut live = Vec::new();
        live.resize_with(count, || None);
        Ok(StoredReader {
            chunks: Chunks::new(inner)?,
            first: streams.start,
            live,
            content: Vec::new(),
            have: 0,
            skipped: 0,
            totals: Vec::new(),
            directory: None,
            failed: false,
        })
    }

    /// What ends the file; `None` before it was read to its end.
    pub fn directory(&self) -> Option<&Directory> {
        self.directory.as_ref()
    }

    /// Branches of other streams than those asked for, so far.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Streams of which there were blocks so far.
    pub fn streams(&self) -> u32 {
        self.totals.len() as u32
    }

    fn block(&mut self, batch: &mut Batch) -> Result<bool, TraceError> {
        loop {
            let place = self.chunks.place();
            let Some(header) = self.chunks.next(&mut self.content, self.have)? else {
                let cut = TraceFault::Cut { have: self.have, promised: None };
                return Err(TraceError::new(place, cut));
            };
            if header.kind == ChunkKind::Directory {
                self.end(place)?;
                return Ok(false);
            }
            self.have += u64::from(header.branches);
            let number = header.stream as usize;
            if self.totals.len() <= number {
                self.totals.resize(number + 1, 0);
            }
            self.totals[number] += u64::from(header.branches);
            let slot =
                header.stream.checked_sub(self.first).and_then(|slot| self.live.get_mut(slot as usize));
            let Some(slot) = slot else {
                self.skipped += u64::from(header.branches);
                continue;
            };
            let stream = slot.get_or_insert_with(|| Box::new(StreamState::new()));
            batch.stream = header.stream;
            let decoded = decode(stream, &self.content, header.branches, &mut batch.branches);
            decoded.map_err(|fault| TraceError::new(place, fault))?;
            if self.named() > MAX_SITES {
                let fault = TraceFault::TooMany { what: "places that branch", limit: MAX_SITES as u64 };
                return Err(TraceError::new(place, fault));
            }
            return Ok(true);
        }
    }

    /// Sites of all streams that are being read.
    fn named(&self) -> usize {
        self.live.iter().flatten().map(|stream| stream.sites().len()).sum()
    }

    /// The directory must agree with the blocks, and nothing may follow.
    fn end(&mut self, place: TracePlace) -> Result<(), TraceError> {
        let wrong = |name| TraceError::new(place, TraceFault::Field { name, value: 0 });
        let directory = Directory::unpack(&self.content).ok_or_else(|| wrong("the directory"))?;
        // A stream without a branch has no block.
        self.totals.resize(self.totals.len().max(directory.streams.len()), 0);
        if !directory.streams.iter().map(|stream| stream.branches).eq(self.totals.iter().copied()) {
            return Err(wrong("the number of branches in the directory"));
        }
        self.directory = Some(directory);
        let place = self.chunks.place();
        match self.chunks.next(&mut self.content, self.have) {
            Ok(None) => Ok(()),
            _ => Err(TraceError::new(place, TraceFault::Trailing)),
        }
    }
}

fn decode(
    stream: &mut StreamState,
    content: &[u8],
    count: u32,
    branches: &mut Vec<Branch>,
) -> Result<(), TraceFault> {
    let mut decoder = Decoder::new(content);
    for _ in 0..count {
        let (site, step) = stream.code(&mut decoder, &StoredBranch::UNKNOWN, None)?;
        branches.push(Branch::new(step.pc, step.target, site, step.class, step.taken, step.instructions));
    }
    Ok(())
}

impl<R: Read> TraceSource for StoredReader<R> {
    fn next(&mut self, batch: &mut Batch) -> Result<bool, TraceError> {
        batch.branches.clear();
        if self.failed || self.directory.is_some() {
            return Ok(false);
        }
        let result = self.block(batch);
        self.failed = result.is_err();
        result
    }

    fn sites(&self, stream: u32) -> &[BranchSite] {
        let slot = stream.checked_sub(self.first).and_then(|slot| self.live.get(slot as usize));
        slot.and_then(Option::as_ref).map_or(&[], |stream| stream.sites())
    }

    fn has_instructions(&self) -> bool {
        self.directory.as_ref().is_none_or(|directory| !directory.without_instructions)
    }
}
