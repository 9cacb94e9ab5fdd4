//! Over all branches of a stored trace, whatever it holds, within bounded memory.

use super::read_so_far::ReadSoFar;
use super::stored::Stored;
use assay_lab::lead::Misuse;
use assay_pure::trace::source::Batch;
use assay_pure::trace::stored::{BlockCoding, Directory, LIVE};
use assay_pure::trace::{BranchSite, TraceError, TraceFormat, TraceSource as _};
use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget};
use std::path::Path;

/// What a walk came upon besides branches.
pub struct WalkNotes {
    pub format: TraceFormat,
    /// Of a file of our own.
    pub coding: Option<BlockCoding>,
    /// Bytes of the file as it lies there.
    pub bytes: u64,
    pub directory: Option<Directory>,
    pub has_instructions: bool,
    pub streams: u32,
    /// Why the trace could not be read to its end; the branches before were handed out.
    pub broken: Option<Misuse>,
}

/// Which part of a trace to read.
#[derive(Clone, Copy)]
pub struct TraceRange<'a> {
    pub path: &'a Path,
    pub from: Option<TraceFormat>,
    /// Only this stream.
    pub stream: Option<u32>,
}

/// Hands every batch to `each`, with the sites of its stream; `each` may take it away and leave another one to be filled.
/// Files of many streams are read several times, some streams at a time. How many branches were read is shown on a terminal.
///
/// # Errors
/// The file cannot be opened or is no trace, or what `each` returns.
pub fn walk<E: From<Misuse>>(
    asked: TraceRange,
    mut each: impl FnMut(&Stored, &mut Batch, &[BranchSite]) -> Result<(), E>,
) -> Result<WalkNotes, E> {
    let screen = screen();
    let walked = walk_beside(asked, &ReadSoFar::untold(), |stored, batch, sites| {
        screen.inc(batch.branches.len() as u64);
        each(stored, batch, sites)
    });
    screen.finish_and_clear();
    walked
}

/// [`walk`] for one of many, which shows nothing itself: how far its file is read is told.
///
/// # Errors
/// As [`walk`].
pub fn walk_beside<E: From<Misuse>>(
    asked: TraceRange,
    so_far: &ReadSoFar,
    mut each: impl FnMut(&Stored, &mut Batch, &[BranchSite]) -> Result<(), E>,
) -> Result<WalkNotes, E> {
    let mut first = asked.stream.unwrap_or(0);
    loop {
        let end = asked.stream.map_or(first.saturating_add(LIVE), |stream| stream.saturating_add(1));
        let (stored, broken) = pass(asked, first..end, so_far, &mut each)?;
        let streams = stored.reader.streams();
        if asked.stream.is_none() && end < streams {
            first = end;
            continue;
        }
        if broken.is_none() && asked.stream.is_some_and(|stream| stream >= streams) {
            return Err(no_stream(asked).into());
        }
        let broken = broken.map(|error| stored.explain(asked.path, &error));
        return Ok(WalkNotes {
            format: stored.format,
            coding: stored.reader.coding(),
            bytes: stored.bytes,
            directory: stored.reader.directory().cloned(),
            has_instructions: stored.reader.has_instructions(),
            streams,
            broken,
        });
    }
}

fn pass<E: From<Misuse>>(
    asked: TraceRange,
    streams: std::ops::Range<u32>,
    so_far: &ReadSoFar,
    each: &mut impl FnMut(&Stored, &mut Batch, &[BranchSite]) -> Result<(), E>,
) -> Result<(Stored, Option<TraceError>), E> {
    let mut stored = Stored::open(asked.path, asked.from, streams, so_far)?;
    if stored.format != TraceFormat::Assay && asked.stream.is_some_and(|stream| stream > 0) {
        return Err(no_stream(asked).into());
    }
    let mut batch = Batch::default();
    loop {
        let result = stored.reader.next(&mut batch);
        let stream = batch.stream;
        each(&stored, &mut batch, stored.reader.sites(stream))?;
        match result {
            Ok(true) => {}
            Ok(false) => return Ok((stored, None)),
            Err(error) => return Ok((stored, Some(error))),
        }
    }
}

fn no_stream(asked: TraceRange) -> Misuse {
    Misuse(format!("{} has no stream {}", asked.path.display(), asked.stream.unwrap_or(0)))
}

/// How many branches were read, on a terminal; how many there are is not known before the end.
fn screen() -> ProgressBar {
    let target =
        if Term::stderr().is_term() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(None, target);
    let style = indicatif::ProgressStyle::with_template("{spinner} {human_pos} branches, {per_sec}");
    bar.with_style(style.expect("a template of known keys"))
}
