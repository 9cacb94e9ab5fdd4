//! A file to branches, a block at a time.

use super::super::source::{Batch, MAX_SITES, TraceError, TraceFault, TracePlace, TraceSource};
use super::super::{Branch, BranchSite};
use super::chunk::{BlockCoding, ChunkHeader, ChunkKind, Chunks};
use super::coder::Decoder;
use super::columns::{ColumnBlock, Places};
use super::directory::Directory;
use super::stream::{StoredBranch, StreamState};
use std::io::Read;
use std::ops::Range;

/// Streams that are read at a time; a compact one takes 3 MB.
pub const LIVE: u32 = 16;

/// A file being read.
pub struct StoredReader<R> {
    chunks: Chunks<R>,
    first: u32,
    live: Vec<Option<LiveStream>>,
    content: Vec<u8>,
    /// The block in columns that is being read, if there are branches left of it.
    columns: ColumnBlock,
    /// The stream and the place of the block that was begun last.
    stream: u32,
    place: TracePlace,
    have: u64,
    skipped: u64,
    coding: Option<BlockCoding>,
    totals: Vec<u64>,
    directory: Option<Directory>,
    failed: bool,
}

/// What is known of a stream that is being read.
enum LiveStream {
    Compact(Box<StreamState>),
    Columns(Box<Places>),
}

impl LiveStream {
    fn new(coding: BlockCoding) -> LiveStream {
        match coding {
            BlockCoding::Compact => LiveStream::Compact(Box::new(StreamState::new())),
            BlockCoding::Columns => LiveStream::Columns(Box::new(Places::new())),
        }
    }

    fn sites(&self) -> &[BranchSite] {
        match self {
            LiveStream::Compact(stream) => stream.sites(),
            LiveStream::Columns(places) => places.sites(),
        }
    }
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
            columns: ColumnBlock::default(),
            stream: streams.start,
            place: TracePlace::Byte(0),
            have: 0,
            skipped: 0,
            coding: None,
            totals: Vec::new(),
            directory: None,
            failed: false,
        })
    }

    /// What ends the file; `None` before it was read to its end.
    pub fn directory(&self) -> Option<&Directory> {
        self.directory.as_ref()
    }

    /// How the last block was coded; `None` before there was one.
    pub fn coding(&self) -> Option<BlockCoding> {
        self.coding
    }

    /// Branches of other streams than those asked for, so far.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Streams of which there were blocks so far.
    pub fn streams(&self) -> u32 {
        self.totals.len() as u32
    }

    /// The next stretch of a block.
    fn stretch(&mut self, batch: &mut Batch) -> Result<bool, TraceError> {
        while self.columns.is_read() {
            let place = self.chunks.place();
            let Some(header) = self.chunks.next(&mut self.content, self.have)? else {
                let cut = TraceFault::Cut { have: self.have, promised: None };
                return Err(TraceError::new(place, cut));
            };
            let ChunkKind::Branches(coding) = header.kind else {
                self.end(place)?;
                return Ok(false);
            };
            (self.stream, self.place) = (header.stream, place);
            if self.block(header, coding, batch).map_err(|fault| TraceError::new(place, fault))? {
                return Ok(true);
            }
        }
        batch.stream = self.stream;
        let slot = self.live[(self.stream - self.first) as usize].as_mut();
        let Some(LiveStream::Columns(places)) = slot else { unreachable!("its block was begun") };
        let read = self.columns.read(places, &mut batch.branches).and_then(|()| self.within_limits());
        read.map_err(|fault| TraceError::new(self.place, fault)).map(|()| true)
    }

    /// Reads a compact block, or begins one in columns; whether there are branches now.
    fn block(
        &mut self,
        header: ChunkHeader,
        coding: BlockCoding,
        batch: &mut Batch,
    ) -> Result<bool, TraceFault> {
        self.coding = Some(coding);
        self.have += u64::from(header.branches);
        let number = header.stream as usize;
        if self.totals.len() <= number {
            self.totals.resize(number + 1, 0);
        }
        self.totals[number] += u64::from(header.branches);
        let slot = header.stream.checked_sub(self.first).and_then(|slot| self.live.get_mut(slot as usize));
        let Some(slot) = slot else {
            self.skipped += u64::from(header.branches);
            return Ok(false);
        };
        match (slot.get_or_insert_with(|| LiveStream::new(coding)), coding) {
            (LiveStream::Compact(stream), BlockCoding::Compact) => {
                batch.stream = header.stream;
                decode(stream, &self.content, header.branches, &mut batch.branches)?;
                self.within_limits()?;
                Ok(true)
            }
            (LiveStream::Columns(_), BlockCoding::Columns) => {
                self.columns.begin(&self.content, header.branches)?;
                Ok(false)
            }
            _ => Err(TraceFault::Field { name: "the coding of a stream that began in another", value: 0 }),
        }
    }

    fn within_limits(&self) -> Result<(), TraceFault> {
        if self.named() > MAX_SITES {
            return Err(TraceFault::TooMany { what: "places that branch", limit: MAX_SITES as u64 });
        }
        Ok(())
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
        let result = self.stretch(batch);
        self.failed = result.is_err();
        result
    }

    fn sites(&self, stream: u32) -> &[BranchSite] {
        let slot = stream.checked_sub(self.first).and_then(|slot| self.live.get(slot as usize));
        slot.and_then(Option::as_ref).map_or(&[], LiveStream::sites)
    }

    fn has_instructions(&self) -> bool {
        self.directory.as_ref().is_none_or(|directory| !directory.without_instructions)
    }
}
