//! One traced process: its file of shared memory, read while it lives and to the end when it is gone.

use super::decode::{EndingTotals, SeenBlocks, ThreadStream};
use super::notes;
use super::{
    ClassCounts, ExecutedBlock, GOES_ON, MappedModule, Observer, ProcessTrace, RegionCounts, ThreadTrace,
    TraceMark, TracedExit,
};
use assay_linux::family::WatchedProcess;
use assay_linux::shared::{self, SharedMemory};
use assay_pure::trace::channel::{self, BlockRecord, MAX_BLOCKS, MAX_THREADS, Ring, head, process};
use assay_pure::trace::classify::InstructionSet;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

/// Chunks of one thread that are read before the next thread's turn.
const TURN: u32 = 4;
/// Regions of one process that are kept.
const MAX_REGIONS: usize = 1 << 20;

/// A process that writes, or did.
pub(super) struct EmulatedProcess<O> {
    /// Observers are to see branches.
    handing_on: bool,
    shared: SharedMemory,
    base: u64,
    pid: u32,
    watched: Option<WatchedProcess>,
    code: RwLock<SeenBlocks>,
    heads: Vec<Mutex<Option<Thread<O>>>>,
    ended_threads: Mutex<Vec<Thread<O>>>,
    regions: Mutex<Regions>,
    /// What was counted before every block was logged.
    counted_first: OnceLock<EndingTotals>,
}

/// One thread of it.
struct Thread<O> {
    number: u32,
    stream: ThreadStream,
    observer: O,
    begun: Option<(TraceMark, EndingTotals)>,
}

/// What was executed in the harness's regions, and where counting alone is in them.
#[derive(Default)]
struct Regions {
    list: Vec<RegionCounts>,
    begun: Option<(TraceMark, EndingTotals)>,
    lost: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a reader found to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PollOutcome {
    /// Nothing.
    Idle,
    /// Something; there may be more.
    Busy,
}

impl<O: Observer> EmulatedProcess<O> {
    /// Takes over a process's file. `handing_on` says whether observers are to see branches.
    ///
    /// # Errors
    /// It is no such file, or another version's; a whole sentence.
    pub(super) fn open(shared: SharedMemory, handing_on: bool) -> Result<EmulatedProcess<O>, String> {
        let version = shared.u32(process::VERSION).load(Ordering::Acquire);
        if shared.u64(process::MAGIC).load(Ordering::Relaxed) != channel::MAGIC || version != channel::VERSION
        {
            return Err(format!(
                "The plugin uses version {version} of the shared memory, this assay version {}.",
                channel::VERSION
            ));
        }
        let architecture = match shared.u32(process::ARCHITECTURE).load(Ordering::Relaxed) {
            process::AARCH64 => InstructionSet::Aarch64,
            _ => InstructionSet::X86_64,
        };
        let pid = shared.u32(process::PID).load(Ordering::Relaxed);
        Ok(EmulatedProcess {
            handing_on,
            base: shared.u64(process::BASE).load(Ordering::Relaxed),
            pid,
            watched: WatchedProcess::new(pid).ok(),
            code: RwLock::new(SeenBlocks::new(architecture)),
            heads: (0..MAX_THREADS).map(|_| Mutex::new(None)).collect(),
            ended_threads: Mutex::new(Vec::new()),
            regions: Mutex::new(Regions::default()),
            counted_first: OnceLock::new(),
            shared,
        })
    }

    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether it writes no more.
    pub(super) fn gone(&self) -> bool {
        self.watched.as_ref().is_none_or(WatchedProcess::ended)
    }

    fn word(&self, index: u32, offset: usize) -> &AtomicU32 {
        self.shared.u32(process::HEADS + index as usize * head::SIZE + offset)
    }

    /// Reads what is there for reader `reader` of `readers`. `last` says that nothing more will be written: then chunks
    /// that are not full are read too.
    pub(super) fn serve(
        &self,
        reader: u32,
        readers: u32,
        last: bool,
        observer: &dyn Fn() -> O,
    ) -> PollOutcome {
        let mut served = PollOutcome::Idle;
        if reader == 0 {
            self.serve_mark();
        }
        let heads = self.shared.u32(process::HEADS_USED).load(Ordering::Acquire).min(MAX_THREADS);
        for index in (0..heads).filter(|index| index % readers == reader) {
            if self.serve_head(index, last, observer) == PollOutcome::Busy {
                served = PollOutcome::Busy;
            }
        }
        served
    }

    fn serve_head(&self, index: u32, last: bool, observer: &dyn Fn() -> O) -> PollOutcome {
        let state = self.word(index, head::STATE).load(Ordering::SeqCst);
        if state == head::FREE {
            return PollOutcome::Idle;
        }
        let mut guard = lock(&self.heads[index as usize]);
        let thread = guard.get_or_insert_with(|| {
            let number = self.word(index, head::THREAD).load(Ordering::Relaxed);
            let observer = observer();
            let stream = ThreadStream::new(self.handing_on.then(|| observer.wanted()));
            Thread { number, stream, observer, begun: None }
        });
        let ring = channel::ring(index);
        let complete = last || state == head::ENDED;
        let mut served = PollOutcome::Idle;
        for _ in 0..TURN {
            let filled = self.word(index, head::FILLED).load(Ordering::SeqCst);
            let drained = self.word(index, head::DRAINED);
            let read = drained.load(Ordering::Relaxed);
            if filled.wrapping_sub(read) == 0 || filled.wrapping_sub(read) > ring.chunks {
                break;
            }
            self.read_words(thread, ring, read, ring.chunk_bytes / 4);
            drained.store(read.wrapping_add(1), Ordering::SeqCst);
            if self.word(index, head::WAITING).load(Ordering::SeqCst) != 0 {
                shared::wake(drained);
            }
            served = PollOutcome::Busy;
        }
        if complete && served == PollOutcome::Idle {
            self.finish_thread(index, ring, guard.take());
            served = PollOutcome::Busy;
        }
        served
    }

    /// Reads the chunk that was being filled, and lets the head go.
    fn finish_thread(&self, index: u32, ring: Ring, thread: Option<Thread<O>>) {
        if let Some(mut thread) = thread {
            let filled = self.word(index, head::FILLED).load(Ordering::SeqCst);
            let cursor = self.shared.u64(process::HEADS + index as usize * head::SIZE + head::CURSOR);
            let chunk = ring.offset + (filled % ring.chunks) as usize * ring.chunk_bytes;
            let begin = self.base.wrapping_add(chunk as u64);
            let bytes = cursor.load(Ordering::Acquire).wrapping_sub(begin);
            if bytes <= ring.chunk_bytes as u64 {
                self.read_words(&mut thread, ring, filled, bytes as usize / 4);
            }
            let code = self.code.read().unwrap_or_else(PoisonError::into_inner);
            thread.stream.hand_on(&code, &mut thread.observer);
            drop(code);
            lock(&self.ended_threads).push(thread);
        }
        let state = self.word(index, head::STATE);
        state.store(head::FREE, Ordering::SeqCst);
        shared::wake(state);
    }

    fn read_words(&self, thread: &mut Thread<O>, ring: Ring, chunk: u32, count: usize) {
        let offset = ring.offset + (chunk % ring.chunks) as usize * ring.chunk_bytes;
        let words = self.shared.u32s(offset, count);
        self.take_handlers();
        let mut done = 0;
        let mut fresh = false;
        while done < words.len() {
            let code = self.code.read().unwrap_or_else(PoisonError::into_inner);
            let decoded = thread.stream.decode(&code, &words[done..], &mut thread.observer);
            drop(code);
            done += decoded;
            if done == words.len() {
                break;
            }
            // A block that is not known yet; its record was written before its id.
            if fresh && decoded == 0 {
                thread.stream.skip();
                done += 1;
            } else {
                self.take_blocks();
            }
            fresh = true;
        }
        self.take_marks(thread);
    }

    /// Takes over the block records that are new.
    fn take_blocks(&self) {
        let published = self.shared.u32(process::BLOCKS).load(Ordering::Acquire).min(MAX_BLOCKS);
        let mut code = self.code.write().unwrap_or_else(PoisonError::into_inner);
        for id in code.records().len() as u32..published {
            let place = process::RECORDS + id as usize * BlockRecord::SIZE;
            let words = self.shared.u64s(place, BlockRecord::SIZE / 8);
            let record = BlockRecord::from_words(std::array::from_fn(|at| words[at].load(Ordering::Relaxed)));
            let (from, count) = (record.lengths as usize, record.instructions as usize);
            let lengths = if from + count <= process::LENGTHS_SIZE {
                self.shared.bytes(process::LENGTHS + from, count)
            } else {
                Vec::new()
            };
            code.add(record, &lengths);
        }
    }

    fn take_handlers(&self) {
        let used = self.shared.u32(process::HANDLERS_USED).load(Ordering::Acquire);
        if used == 0 {
            return;
        }
        let used = used.min(process::MAX_HANDLERS) as usize;
        if self.code.read().unwrap_or_else(PoisonError::into_inner).handlers() >= used {
            return;
        }
        let words = self.shared.u64s(process::HANDLERS, used);
        let handlers: Vec<u64> = words.iter().map(|word| word.load(Ordering::Relaxed)).collect();
        self.code.write().unwrap_or_else(PoisonError::into_inner).add_handlers(&handlers);
    }

    /// Regions between the marks that a thread's stream has passed.
    fn take_marks(&self, thread: &mut Thread<O>) {
        for (mark, totals) in thread.stream.take_marks() {
            let mut regions = lock(&self.regions);
            if thread.number == 0 {
                // It may have been counted before, and a region may span both.
                let counted = self.counted_first.get_or_init(|| self.counted());
                let mut begun = regions.begun.take();
                let directions = counted.instructions == 0;
                regions.pass(&mut begun, 0, mark, totals.plus(counted), directions);
                regions.begun = begun;
            } else {
                regions.pass(&mut thread.begun, thread.number, mark, totals, true);
            }
        }
    }

    /// Where blocks are counted: the program waits at a mark until the counters have been read.
    fn serve_mark(&self) {
        let marks = self.shared.u32(process::MARKS).load(Ordering::SeqCst);
        let read = self.shared.u32(process::MARKS_READ);
        if read.load(Ordering::Relaxed) == marks {
            return;
        }
        let word = |at: usize| self.shared.u32(process::MARK + 4 * at).load(Ordering::Relaxed);
        let mark = match word(0) {
            1 => TraceMark::RegionBegins { variant: word(1), input: word(2), pass: word(3) },
            _ => TraceMark::RegionEnds,
        };
        let totals = self.counted();
        {
            let mut regions = lock(&self.regions);
            let mut begun = regions.begun.take();
            regions.pass(&mut begun, 0, mark, totals, false);
            regions.begun = begun;
        }
        read.store(marks, Ordering::SeqCst);
        shared::wake(read);
    }

    /// What the counters say.
    fn counted(&self) -> EndingTotals {
        self.take_blocks();
        let code = self.code.read().unwrap_or_else(PoisonError::into_inner);
        let counters = self.shared.u64s(process::COUNTERS, code.infos().len());
        let mut totals = EndingTotals::default();
        for (info, counter) in code.infos().iter().zip(counters) {
            totals.add_block(info, counter.load(Ordering::Relaxed));
        }
        totals
    }

    /// Everything that was seen, once nothing more is written and [`EmulatedProcess::serve`] has found nothing more to read.
    pub(super) fn finish(&self, ended: TracedExit) -> (ProcessTrace<O>, Option<(u32, u64)>) {
        let counted = self.counted();
        let mut threads = std::mem::take(&mut *lock(&self.ended_threads));
        threads.sort_by_key(|thread| thread.number);
        let mut code = self.code.write().unwrap_or_else(PoisonError::into_inner);
        let blocks = self.executed_blocks(&code, &threads);
        let regions = std::mem::take(&mut *lock(&self.regions));
        let damaged = threads.iter().map(|thread| thread.stream.damaged).sum();
        let mut said = notes::of(&self.shared, damaged);
        let modules = modules(&self.shared);
        let pending = threads.iter().filter_map(|thread| thread.stream.pending());
        let last: Vec<u32> = match counting(&self.shared) {
            true => (code.records().len() as u32).checked_sub(1).into_iter().collect(),
            false => pending.collect(),
        };
        // What ended the program tells more than what it may have chosen by.
        let lacking = notes::lacking(&code, &last, &modules, ended);
        said.extend(lacking.or_else(|| notes::dispatch(&blocks, &modules)));
        said.extend(notes::identity(&self.program()));
        if regions.lost {
            said.push(format!("Only the first {MAX_REGIONS} timed regions were kept."));
        }
        let trace = ProcessTrace {
            pid: self.pid,
            parent: Some(self.shared.u32(process::PARENT).load(Ordering::Relaxed)),
            program: self.program(),
            threads: threads.into_iter().map(|thread| thread_trace(thread, &code, &counted)).collect(),
            sites: code.take_sites(),
            blocks,
            modules,
            regions: regions.list,
            ended,
            notes: said,
        };
        (trace, notes::changed_code(&self.shared))
    }

    fn executed_blocks(&self, code: &SeenBlocks, threads: &[Thread<O>]) -> Vec<ExecutedBlock> {
        let counters = self.shared.u64s(process::COUNTERS, code.records().len());
        let cuts = || threads.iter().flat_map(|thread| thread.stream.cuts());
        let mut blocks = Vec::new();
        for (id, instructions, executed) in cuts().filter(|(_, instructions, _)| *instructions > 0) {
            let pc = code.records()[id as usize].pc;
            blocks.push(ExecutedBlock { pc, bytes: code.bytes_of(id, instructions), instructions, executed });
        }
        let mut cut: HashMap<usize, u64> = HashMap::new();
        for (id, _, times) in cuts() {
            *cut.entry(id as usize).or_default() += times;
        }
        let threads: Vec<Vec<u64>> = threads.iter().map(|thread| thread.stream.executed()).collect();
        for (id, (record, counter)) in code.records().iter().zip(counters).enumerate() {
            let logged: u64 = threads.iter().filter_map(|executed| executed.get(id)).sum();
            let whole = counter.load(Ordering::Relaxed).wrapping_add(logged);
            let executed = whole.wrapping_sub(cut.get(&id).copied().unwrap_or(0));
            if executed > 0 {
                let BlockRecord { pc, bytes, instructions, .. } = *record;
                blocks.push(ExecutedBlock { pc, bytes, instructions, executed });
            }
        }
        blocks
    }

    /// How it said that it ends, if it did.
    pub(super) fn said(&self) -> Option<TracedExit> {
        match self.shared.u32(process::STATE).load(Ordering::Acquire) {
            process::EXITING => {
                Some(TracedExit::Exited(self.shared.u32(process::EXIT_CODE).load(Ordering::Relaxed) as i32))
            }
            process::REPLACED => Some(TracedExit::Replaced),
            _ => None,
        }
    }

    fn program(&self) -> PathBuf {
        let length = self.shared.u32(process::PROGRAM).load(Ordering::Acquire) as usize;
        let path = self.shared.bytes(process::PROGRAM + 4, length.min(process::PROGRAM_SIZE));
        PathBuf::from(OsStr::from_bytes(&path))
    }
}

/// The main thread has what was counted while it was alone.
fn thread_trace<O>(thread: Thread<O>, code: &SeenBlocks, counted: &EndingTotals) -> ThreadTrace<O> {
    let mut totals = thread.stream.totals(code);
    let directions = thread.number != 0 || counted.instructions == 0;
    if thread.number == 0 {
        totals = totals.plus(counted);
    }
    ThreadTrace { thread: thread.number, counts: totals.counts(directions), observer: thread.observer }
}

impl Regions {
    fn pass(
        &mut self,
        begun: &mut Option<(TraceMark, EndingTotals)>,
        thread: u32,
        mark: TraceMark,
        totals: EndingTotals,
        directions: bool,
    ) {
        if mark != TraceMark::RegionEnds {
            *begun = Some((mark, totals));
            return;
        }
        let Some((TraceMark::RegionBegins { variant, input, pass }, before)) = begun.take() else {
            return;
        };
        let counts: ClassCounts = totals.since(&before).counts(directions);
        if pass >= GOES_ON
            && let Some(begun) = self.list.iter_mut().rev().find(|region| region.thread == thread)
        {
            begun.counts.add(&counts, 1);
            return;
        }
        if self.list.len() == MAX_REGIONS {
            self.lost = true;
            return;
        }
        self.list.push(RegionCounts { thread, variant, input, pass, counts });
    }
}

/// Whether blocks are still counted and not logged.
fn counting(shared: &SharedMemory) -> bool {
    shared.u32(process::COUNTING).load(Ordering::Acquire) != 0
}

/// The files that code came from.
fn modules(shared: &SharedMemory) -> Vec<MappedModule> {
    let used =
        (shared.u32(process::MODULES_USED).load(Ordering::Acquire) as usize).min(process::MODULES_SIZE);
    let mut found = Vec::new();
    let mut at = 0;
    while at + 32 <= used {
        let place = process::MODULES + at;
        let word = |index: usize| shared.u64(place + 8 * index).load(Ordering::Relaxed);
        let length = (shared.u32(place + 24).load(Ordering::Relaxed) as usize).min(used - at - 32);
        let path = shared.bytes(place + 32, length);
        found.push(MappedModule {
            start: word(0),
            end: word(1),
            file_offset: word(2),
            path: PathBuf::from(OsStr::from_bytes(&path)),
        });
        at += 32 + length.next_multiple_of(8);
    }
    found
}
