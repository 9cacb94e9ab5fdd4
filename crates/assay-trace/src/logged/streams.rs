//! A whole instrumented program, run at native speed: a stream of records for each of its threads, read while it runs.
//!
//! Method: the program's side (`program.c` of assay-link) makes a file in the session's folder for each thread, and for each depth
//! of handlers of signals in it. A file has a page of words ([`head`]) and two areas of records. A full area is read here and
//! cleared, while the program fills the other; what is left when the command has ended is read up to the last word that is not 0.
//! Each stream is walked by itself ([`Replay`]), and what comes of it has the form of a traced command.
//! Limits: what has no records is not in it; programs that the command executes in a process's place are not either.
//! Checked: `assay/tests/instrument/whole.rs` compares executions and outcomes of each site with the emulator's.

use super::replay::{Replay, Walk};
use super::{NAP, PREFIX, refusal};
use crate::{
    MappedModule, Observer, ProcessTrace, ThreadTrace, Trace, TraceRefusal, TracedExit, program, session,
};
use assay_linux::private::PrivateFolder;
use assay_linux::shared::{self, SharedMemory};
use assay_linux::{family, wait};
use assay_pure::outcomes::{self, PIPE_VARIABLE, PairedTable};
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Bytes of an area.
pub const AREA: usize = 1 << 18;
/// Bytes of the page of words, and of the one behind each area.
pub const PAGE: usize = 4096;
/// Of a stream's file.
const SIZE: usize = PAGE + 2 * (AREA + PAGE);
/// The room that streams should have, bytes.
const ROOM: u64 = 64 << 20;
/// A file that is whole has this word first.
pub const MAGIC: u32 = 0x7073_7361;

/// Offsets of the words of a stream's file.
pub mod head {
    /// [`super::MAGIC`].
    pub const MAGIC: usize = 0;
    /// The process.
    pub const PROCESS: usize = 4;
    /// The process that started it.
    pub const PARENT: usize = 8;
    /// The anchor's address, two words.
    pub const ANCHOR: usize = 16;
    /// Which area is written.
    pub const CURRENT: usize = 24;
    /// Nobody reads any more.
    pub const CLOSED: usize = 28;
    /// Words of each area that waits to be read.
    pub const FULL: usize = 32;
    /// Records were written over.
    pub const LOST: usize = 40;
}

/// A program that logs all it executes, and what its log means.
#[derive(Clone, Debug)]
pub struct InstrumentedProgram {
    /// The program whose branches it logs.
    pub plain: PathBuf,
    /// The program that logs.
    pub logging: PathBuf,
    /// Where everything lies in both.
    pub table: PairedTable,
    /// What of it has no records, and what else is to be said. Whole sentences.
    pub notes: Vec<String>,
}

/// One stream.
struct Stream<O> {
    shared: SharedMemory,
    process: u32,
    parent: u32,
    walk: Walk,
    observer: O,
}

/// Everything that is read.
struct StreamReader<O, F> {
    folder: PathBuf,
    replay: Replay,
    seen: HashSet<OsString>,
    streams: Vec<Stream<O>>,
    observer: F,
    wrong: Option<String>,
}

/// Runs an instrumented program as `command` says, whose first word is what it is called, its standard streams those of the lab.
///
/// # Errors
/// It cannot be started, or its log does not fit its code.
pub fn run<O: Observer>(
    instrumented: &InstrumentedProgram,
    command: &[OsString],
    time_limit: Option<Duration>,
    observer: impl FnMut() -> O + Send + 'static,
) -> Result<Trace<O>, TraceRefusal> {
    let elf = std::fs::read(&instrumented.plain)
        .map_err(|error| refusal(format!("{}: {error}", instrumented.plain.display())))?;
    let replay = Replay::of_program(&elf, &instrumented.table).map_err(refusal)?;
    let modules = modules(&elf, &instrumented.plain, replay.base()).map_err(refusal)?;
    let cannot = |error: std::io::Error| refusal(format!("the log cannot be made: {error}"));
    let folder = PrivateFolder::new(&shared::folder(ROOM), PREFIX).map_err(cannot)?;
    let ended = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&ended);
    let reader = StreamReader {
        folder: folder.path().to_owned(),
        replay,
        seen: HashSet::new(),
        streams: Vec::new(),
        observer,
        wrong: None,
    };
    let reader = std::thread::spawn(move || reader.read(&over));
    family::adopt_orphans();
    let variables = [(PIPE_VARIABLE, folder.path().as_os_str())];
    let started = family::start_as(&instrumented.logging, command, &variables);
    let waited = started.and_then(|mut child| wait::wait_or_kill(&mut child, time_limit));
    ended.store(true, Ordering::SeqCst);
    let reader = reader.join().expect("reading a log does not panic");
    let (status, killed) = waited.map_err(|error| refusal(error.to_string()))?;
    let how = if killed { TracedExit::TimeLimit } else { session::how(Some(status)) };
    reader.finish(instrumented, &modules, how)
}

/// What of the file is code, where it is in a process.
fn modules(elf: &[u8], path: &Path, base: u64) -> Result<Vec<MappedModule>, String> {
    let pieces = outcomes::executable(elf)?;
    let module = |(start, end, file_offset)| MappedModule {
        start: start + base,
        end: end + base,
        file_offset,
        path: path.to_owned(),
    };
    Ok(pieces.into_iter().map(module).collect())
}

impl<O: Observer, F: FnMut() -> O> StreamReader<O, F> {
    fn read(mut self, ended: &AtomicBool) -> Self {
        loop {
            // Asked before it is looked: what was written until then is there.
            let over = ended.load(Ordering::SeqCst);
            self.discover();
            let busy = (0..self.streams.len()).filter(|stream| self.serve(*stream)).count() > 0;
            if over && !busy {
                break;
            }
            if !busy {
                std::thread::sleep(NAP);
            }
        }
        for stream in 0..self.streams.len() {
            self.streams[stream].shared.u32(head::CLOSED).store(1, Ordering::SeqCst);
            while self.serve(stream) {}
            self.rest(stream);
        }
        self
    }

    /// Takes over the files of new threads.
    fn discover(&mut self) {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return };
        let names = entries.flatten().map(|entry| entry.file_name());
        let is_stream = |name: &OsString| {
            name.to_str().is_some_and(|name| name.starts_with(|c: char| c.is_ascii_digit()))
        };
        let mut new: Vec<OsString> =
            names.filter(|name| is_stream(name) && !self.seen.contains(name)).collect();
        // By process, and in it in the order of creation.
        let key = |name: &OsString| {
            let text = name.to_string_lossy().into_owned();
            let mut parts = text.split('-').map(|part| part.parse::<u64>().unwrap_or(0));
            (parts.next(), parts.next())
        };
        new.sort_by_key(key);
        for name in new {
            let path = self.folder.join(&name);
            let Ok(shared) = SharedMemory::open(&path, SIZE) else { continue };
            if shared.u32(head::MAGIC).load(Ordering::Acquire) != MAGIC {
                continue;
            }
            // The mapping stays.
            let _ = std::fs::remove_file(&path);
            let word = |offset: usize| shared.u32(offset).load(Ordering::Relaxed);
            let anchor = u64::from(word(head::ANCHOR)) | u64::from(word(head::ANCHOR + 4)) << 32;
            let moved = anchor.wrapping_sub(self.replay.anchor());
            let (process, parent) = (word(head::PROCESS), word(head::PARENT));
            let walk = Walk::new(moved);
            let observer = (self.observer)();
            self.seen.insert(name);
            self.streams.push(Stream { process, parent, walk, observer, shared });
        }
    }

    /// Reads a full area, if there is one.
    fn serve(&mut self, stream: usize) -> bool {
        let shared = &self.streams[stream].shared;
        let current = shared.u32(head::CURRENT).load(Ordering::Acquire) as usize & 1;
        // The one that is not written was full first.
        let full = [1 - current, current].into_iter().find_map(|area| {
            let words = shared.u32(head::FULL + 4 * area).load(Ordering::Acquire) as usize;
            (words > 0).then_some((area, words.min(AREA / 4)))
        });
        let Some((area, length)) = full else { return false };
        self.follow(stream, area, length);
        self.streams[stream].shared.u32(head::FULL + 4 * area).store(0, Ordering::Release);
        true
    }

    /// Reads what is left in the area that was written last.
    fn rest(&mut self, stream: usize) {
        let shared = &self.streams[stream].shared;
        let area = shared.u32(head::CURRENT).load(Ordering::Acquire) as usize & 1;
        let words = shared.u32s(start(area), AREA / 4);
        let length =
            words.iter().rposition(|word| word.load(Ordering::Relaxed) != 0).map_or(0, |last| last + 1);
        self.follow(stream, area, length);
        if shared_lost(&self.streams[stream].shared) && self.wrong.is_none() {
            self.wrong = Some("it leaves handlers of signals by jumps, which lost records".to_owned());
        }
    }

    /// Follows the records of an area and clears it.
    fn follow(&mut self, stream: usize, area: usize, length: usize) {
        let Stream { shared, walk, observer, .. } = &mut self.streams[stream];
        let words: Vec<u32> = shared
            .u32s(start(area), length)
            .iter()
            .map(|word| {
                let read = word.load(Ordering::Relaxed);
                word.store(0, Ordering::Relaxed);
                read
            })
            .collect();
        if self.wrong.is_some() {
            return;
        }
        std::mem::swap(&mut self.replay.walk, walk);
        let followed = self.replay.follow(&words, observer);
        std::mem::swap(&mut self.replay.walk, walk);
        match followed {
            Ok(done) if done == words.len() => {}
            Ok(_) => self.wrong = Some("its log ends in the midst of a record".to_owned()),
            Err(why) => self.wrong = Some(why),
        }
    }

    fn finish(
        self,
        instrumented: &InstrumentedProgram,
        modules: &[MappedModule],
        ended: TracedExit,
    ) -> Result<Trace<O>, TraceRefusal> {
        if let Some(why) = self.wrong {
            return Err(refusal(why));
        }
        let sites = self.replay.sites().to_vec();
        let mut order = Vec::new();
        let mut by_process: BTreeMap<u32, ProcessTrace<O>> = BTreeMap::new();
        for stream in self.streams {
            let process = by_process.entry(stream.process).or_insert_with(|| {
                order.push(stream.process);
                ProcessTrace {
                    pid: stream.process,
                    parent: Some(stream.parent),
                    program: instrumented.plain.clone(),
                    threads: Vec::new(),
                    sites: sites.clone(),
                    blocks: Vec::new(),
                    modules: modules.to_vec(),
                    regions: Vec::new(),
                    ended: TracedExit::Unknown,
                    notes: Vec::new(),
                }
            });
            let thread = process.threads.len() as u32;
            process.threads.push(ThreadTrace {
                thread,
                counts: stream.walk.counts,
                observer: stream.observer,
            });
        }
        let mut processes: Vec<ProcessTrace<O>> =
            order.iter().filter_map(|pid| by_process.remove(pid)).collect();
        let known: HashSet<u32> = order.into_iter().collect();
        for process in &mut processes {
            process.parent = process.parent.filter(|parent| known.contains(parent));
        }
        // The command itself is the one that none of the others started.
        processes.sort_by_key(|process| process.parent.is_some());
        let first =
            processes.first_mut().ok_or_else(|| refusal("it ended before its log began".to_owned()))?;
        first.ended = ended;
        first.notes.clone_from(&instrumented.notes);
        Ok(Trace { processes, emulator: String::new() })
    }
}

fn shared_lost(shared: &SharedMemory) -> bool {
    shared.u32(head::LOST).load(Ordering::Relaxed) != 0
}

/// Where an area begins in the file.
fn start(area: usize) -> usize {
    PAGE + area * (AREA + PAGE)
}

/// Looks at what a command names: the file.
///
/// # Errors
/// There is no such command.
pub fn file_of(command: &[OsString]) -> Result<PathBuf, TraceRefusal> {
    program::search(&command.first().cloned().unwrap_or_default())
}
