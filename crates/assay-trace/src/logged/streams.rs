//! A whole instrumented program, run at native speed: a stream of records for each of its threads, read while it runs.
//!
//! Method: the program makes a file of records for each thread, and for each depth of handlers of signals in it ([`areas`]).
//! Each stream is walked by itself ([`Replay`]), and what comes of it has the form of a traced command.
//! Limits: what has no records is not in it; programs that the command executes in a process's place are not either.
//! Checked: `assay/tests/instrument/whole.rs` compares executions and outcomes of each site with the emulator's.

use super::areas::{self, Areas};
use super::outside::TimeShares;
use super::replay::{Replay, Walk};
use super::{NAP, folder, refusal};
use crate::{
    MappedModule, Observer, ProcessTrace, ThreadTrace, Trace, TraceRefusal, TracedExit, program, session,
};
use assay_linux::{family, wait};
use assay_pure::outcomes::{self, LoggingProgram, STREAMS_VARIABLE};
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// One stream.
struct Stream<O> {
    areas: Areas,
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
    /// Records of one area.
    bytes: Vec<u8>,
    shares: TimeShares,
    observer: F,
    wrong: Option<String>,
}

/// Runs an instrumented program as `command` says, whose first word is what it is called, its standard streams those of the lab.
///
/// # Errors
/// It cannot be started, or its log does not fit its code.
pub fn run<O: Observer>(
    instrumented: &LoggingProgram,
    command: &[OsString],
    time_limit: Option<Duration>,
    observer: impl FnMut() -> O + Send + 'static,
) -> Result<Trace<O>, TraceRefusal> {
    let file =
        |path: &Path| std::fs::read(path).map_err(|error| refusal(format!("{}: {error}", path.display())));
    let elf = file(&instrumented.plain)?;
    let replay = Replay::of_program(&elf, &instrumented.table).map_err(refusal)?;
    let modules = modules(&elf, &instrumented.plain, replay.base()).map_err(refusal)?;
    let shares = TimeShares::new(&file(&instrumented.logging)?, &instrumented.table).map_err(refusal)?;
    let folder = folder()?;
    let ended = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&ended);
    let reader = StreamReader {
        folder: folder.path().to_owned(),
        replay,
        seen: HashSet::new(),
        streams: Vec::new(),
        bytes: Vec::with_capacity(areas::AREA),
        shares,
        observer,
        wrong: None,
    };
    let reader = std::thread::spawn(move || reader.read(&over));
    family::adopt_orphans();
    let variables = [(STREAMS_VARIABLE, folder.path().as_os_str())];
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
            self.shares.count();
            let busy = (0..self.streams.len()).filter(|stream| self.serve(*stream)).count() > 0;
            if over && !busy {
                break;
            }
            if !busy {
                std::thread::sleep(NAP);
            }
        }
        for stream in 0..self.streams.len() {
            self.streams[stream].areas.close();
            while self.serve(stream) {}
            self.rest(stream);
        }
        self
    }

    /// Takes over the files of new threads.
    fn discover(&mut self) {
        for areas in areas::discover(&self.folder, &mut self.seen) {
            let walk = Walk::new(areas.anchor().wrapping_sub(self.replay.anchor()));
            let (process, parent) = areas.processes();
            self.shares.found(process, areas.anchor());
            let observer = (self.observer)();
            self.streams.push(Stream { process, parent, walk, observer, areas });
        }
    }

    /// Reads a full area, if there is one.
    fn serve(&mut self, stream: usize) -> bool {
        let full = self.streams[stream].areas.take(&mut self.bytes);
        if full {
            self.follow(stream);
        }
        full
    }

    /// Reads what is left in the area that was written last.
    fn rest(&mut self, stream: usize) {
        self.streams[stream].areas.rest(&mut self.bytes);
        self.follow(stream);
        if self.streams[stream].areas.lost() && self.wrong.is_none() {
            self.wrong = Some("it leaves handlers of signals by jumps, which lost records".to_owned());
        }
    }

    /// Follows records of a stream.
    fn follow(&mut self, stream: usize) {
        if self.wrong.is_some() {
            return;
        }
        let Stream { walk, observer, .. } = &mut self.streams[stream];
        std::mem::swap(&mut self.replay.walk, walk);
        let followed = self.replay.follow(&self.bytes, observer);
        std::mem::swap(&mut self.replay.walk, walk);
        self.wrong = followed.err();
    }

    fn finish(
        self,
        instrumented: &LoggingProgram,
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
                counts: stream.walk.counts(),
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
        first.notes.extend(self.shares.sentence());
        Ok(Trace { processes, emulator: String::new() })
    }
}

/// Looks at what a command names: the file.
///
/// # Errors
/// There is no such command.
pub fn file_of(command: &[OsString]) -> Result<PathBuf, TraceRefusal> {
    program::search(&command.first().cloned().unwrap_or_default())
}
