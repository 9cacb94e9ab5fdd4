//! The lab's threads that read what traced processes write.
//!
//! A reader serves its share of all threads of all processes, and sleeps when there is nothing. Producers ring a bell when
//! a ring is half full; a few milliseconds are waited for at most, so nothing is lost when a bell is.

use super::process::{EmulatedProcess, PollOutcome};
use super::{Observer, ProcessTrace, TracedExit};
use assay_linux::family;
use assay_linux::shared::{self, SharedMemory};
use assay_pure::trace::channel::{self, MAX_PROCESSES, control, process};
use std::collections::HashSet;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The longest sleep between two looks.
const NAP: Duration = Duration::from_millis(4);

/// SIGKILL.
const KILLED: i32 = 9;

/// What the readers share.
struct Desk<O: Observer> {
    control: SharedMemory,
    folder: PathBuf,
    state: Mutex<ReaderState<O>>,
    observer: Mutex<Box<dyn FnMut() -> O + Send>>,
    /// The command has ended: what is there is read, then the readers end.
    closing: AtomicBool,
}

struct ReaderState<O: Observer> {
    /// Slots given out, as last seen.
    claimed: u32,
    /// Those of them whose files are still being made.
    expected: Vec<u32>,
    live: Vec<(u32, Arc<EmulatedProcess<O>>)>,
    finished: Vec<(u32, ProcessTrace<O>)>,
    changed: Vec<Changed>,
    errors: Vec<String>,
}

/// A process whose code changed under its feet.
#[derive(Clone, Debug)]
pub(super) struct Changed {
    pub(super) program: PathBuf,
    pub(super) times: u32,
    pub(super) at: u64,
}

/// All that was read.
pub(super) struct Harvest<O> {
    pub(super) processes: Vec<ProcessTrace<O>>,
    pub(super) changed: Vec<Changed>,
    pub(super) errors: Vec<String>,
    /// A plugin was loaded at all.
    pub(super) loaded: bool,
}

/// The readers of one session.
pub(super) struct SessionReaders<O: Observer> {
    desk: Arc<Desk<O>>,
    threads: Vec<JoinHandle<()>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<O: Observer> SessionReaders<O> {
    /// Starts reading.
    pub(super) fn start(
        control: SharedMemory,
        folder: PathBuf,
        observer: Box<dyn FnMut() -> O + Send>,
    ) -> SessionReaders<O> {
        let state = ReaderState {
            claimed: 0,
            expected: Vec::new(),
            live: Vec::new(),
            finished: Vec::new(),
            changed: Vec::new(),
            errors: Vec::new(),
        };
        let desk = Arc::new(Desk {
            control,
            folder,
            state: Mutex::new(state),
            observer: Mutex::new(observer),
            closing: AtomicBool::new(false),
        });
        // One processor is the traced program's.
        let processors = std::thread::available_parallelism().map_or(1, usize::from) as u32;
        let readers = processors.saturating_sub(1).clamp(1, 8);
        let threads = (0..readers)
            .map(|number| {
                let desk = Arc::clone(&desk);
                std::thread::spawn(move || desk.read(number, readers))
            })
            .collect();
        SessionReaders { desk, threads }
    }

    /// Reads to the end. `ended` is how the command, process `root`, ended.
    pub(super) fn finish(mut self, ended: TracedExit) -> Harvest<O> {
        let desk = Arc::clone(&self.desk);
        desk.control.u32(control::CLOSED).store(1, Ordering::SeqCst);
        desk.closing.store(true, Ordering::SeqCst);
        desk.wake();
        let mut panicked = false;
        for thread in self.threads.drain(..) {
            panicked |= thread.join().is_err();
        }
        let mut state = lock(&desk.state);
        let root = first_pid(&state);
        let last_of_root = last_slot(&state, root);
        for (slot, process) in std::mem::take(&mut state.live) {
            let how = match process.said() {
                Some(TracedExit::Replaced) if Some(slot) != last_of_root => TracedExit::Replaced,
                _ if Some(process.pid()) == root && Some(slot) == last_of_root => ended,
                Some(said) => said,
                None if !process.gone() => TracedExit::Unknown,
                None => how_it_ended(&process, root),
            };
            state.take(slot, &process, how);
        }
        state.finished.sort_by_key(|(slot, _)| *slot);
        if ended == TracedExit::TimeLimit {
            let killed = |process: &&mut ProcessTrace<O>| process.ended == TracedExit::Signalled(KILLED);
            let all = state.finished.iter_mut().map(|(_, process)| process);
            all.filter(killed).for_each(|process| process.ended = TracedExit::TimeLimit);
        }
        if panicked {
            state.errors.push("A thread that read the trace panicked.".to_owned());
        }
        let mut processes: Vec<ProcessTrace<O>> =
            std::mem::take(&mut state.finished).into_iter().map(|(_, process)| process).collect();
        let traced: HashSet<u32> = processes.iter().map(|process| process.pid).collect();
        for process in &mut processes {
            process.parent = process.parent.filter(|parent| traced.contains(parent));
        }
        Harvest {
            processes,
            changed: std::mem::take(&mut state.changed),
            errors: std::mem::take(&mut state.errors),
            loaded: desk.control.u32(control::LOADED).load(Ordering::Acquire) != 0,
        }
    }
}

/// A session that is dropped without being finished stops reading.
impl<O: Observer> Drop for SessionReaders<O> {
    fn drop(&mut self) {
        self.desk.control.u32(control::CLOSED).store(1, Ordering::SeqCst);
        self.desk.closing.store(true, Ordering::SeqCst);
        self.desk.wake();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Of a process that is gone and is not the command's last program. One that was replaced in the command's own process
/// (`root`) is not asked after: that would lay to rest what the session waits for.
fn how_it_ended<O: Observer>(process: &EmulatedProcess<O>, root: Option<u32>) -> TracedExit {
    let status = (Some(process.pid()) != root).then(|| family::how_ended(process.pid())).flatten();
    process.said().unwrap_or_else(|| match status.map(|status| (status.code(), status.signal())) {
        Some((Some(code), _)) => TracedExit::Exited(code),
        Some((_, Some(signal))) => TracedExit::Signalled(signal),
        _ => TracedExit::Unknown,
    })
}

fn first_pid<O: Observer>(state: &ReaderState<O>) -> Option<u32> {
    let live = state.live.iter().map(|(slot, process)| (*slot, process.pid()));
    let finished = state.finished.iter().map(|(slot, process)| (*slot, process.pid));
    live.chain(finished).min().map(|(_, pid)| pid)
}

fn last_slot<O: Observer>(state: &ReaderState<O>, pid: Option<u32>) -> Option<u32> {
    let of = |slot: u32, found: u32| (Some(found) == pid).then_some(slot);
    state
        .live
        .iter()
        .filter_map(|(slot, process)| of(*slot, process.pid()))
        .chain(state.finished.iter().filter_map(|(slot, process)| of(*slot, process.pid)))
        .max()
}

impl<O: Observer> ReaderState<O> {
    fn take(&mut self, slot: u32, process: &EmulatedProcess<O>, ended: TracedExit) {
        let (trace, changed) = process.finish(ended);
        if let Some((times, at)) = changed {
            self.changed.push(Changed { program: trace.program.clone(), times, at });
        }
        self.finished.push((slot, trace));
    }
}

impl<O: Observer> Desk<O> {
    fn wake(&self) {
        let bell = self.control.u32(control::BELL);
        bell.fetch_add(1, Ordering::SeqCst);
        shared::wake(bell);
    }

    /// The life of reader `number`.
    fn read(&self, number: u32, readers: u32) {
        let bell = self.control.u32(control::BELL);
        let sleeping = self.control.u32(control::SLEEPING);
        // Whether the producers know that this reader is about to sleep; then one more look is taken first.
        let mut announced = None;
        loop {
            let closing = self.closing.load(Ordering::SeqCst);
            let busy = self.round(number, readers, closing);
            if closing && !busy {
                break;
            }
            match announced {
                _ if busy => {
                    if announced.take().is_some() {
                        sleeping.fetch_sub(1, Ordering::SeqCst);
                    }
                }
                None => {
                    announced = Some(bell.load(Ordering::SeqCst));
                    sleeping.fetch_add(1, Ordering::SeqCst);
                }
                Some(seen) => {
                    shared::wait(bell, seen, NAP);
                    sleeping.fetch_sub(1, Ordering::SeqCst);
                    announced = None;
                    self.bury(readers);
                }
            }
        }
        if announced.is_some() {
            sleeping.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// One look at everything; whether there was something to do.
    fn round(&self, number: u32, readers: u32, closing: bool) -> bool {
        self.discover();
        let processes: Vec<Arc<EmulatedProcess<O>>> =
            lock(&self.state).live.iter().map(|(_, process)| Arc::clone(process)).collect();
        let observer = || lock(&self.observer)();
        let mut busy = false;
        for process in processes {
            busy |= process.serve(number, readers, closing, &observer) == PollOutcome::Busy;
        }
        busy
    }

    /// Takes over the files of new processes.
    fn discover(&self) {
        let claimed = self.control.u32(control::CLAIMED).load(Ordering::Acquire).min(MAX_PROCESSES);
        let mut state = lock(&self.state);
        let new = state.claimed..claimed;
        state.claimed = claimed.max(state.claimed);
        state.expected.extend(new);
        let ready =
            |slot: &u32| self.control.u32(control::SLOTS + 4 * *slot as usize).load(Ordering::Acquire) != 0;
        let handing_on = self.control.u32(control::DETAIL).load(Ordering::Relaxed) != 0;
        let found: Vec<u32> = state.expected.extract_if(.., |slot| ready(slot)).collect();
        for slot in found {
            let path = self.folder.join(channel::process_file(slot));
            let opened = SharedMemory::open(&path, process::SIZE).map_err(|error| error.to_string());
            let _ = std::fs::remove_file(&path);
            match opened.and_then(|shared| EmulatedProcess::open(shared, handing_on)) {
                Ok(process) => state.live.push((slot, Arc::new(process))),
                Err(error) => state.errors.push(error),
            }
        }
    }

    /// Finishes processes that are gone, so that a command with thousands of children needs the memory of a few.
    fn bury(&self, readers: u32) {
        let (root, gone): (_, Vec<u32>) = {
            let state = lock(&self.state);
            // The last process of the command's own id is left to the caller, who knows how it ended.
            let root = first_pid(&state);
            let kept = last_slot(&state, root);
            let gone = state.live.iter().filter(|(slot, process)| Some(*slot) != kept && process.gone());
            (root, gone.map(|(slot, _)| *slot).collect())
        };
        let observer = || lock(&self.observer)();
        for slot in gone {
            let mut state = lock(&self.state);
            // While another reader holds it, it waits for the next time.
            let held =
                |entry: &(u32, Arc<EmulatedProcess<O>>)| entry.0 == slot && Arc::strong_count(&entry.1) == 1;
            let Some(index) = state.live.iter().position(held) else {
                continue;
            };
            let (_, process) = state.live.remove(index);
            for reader in 0..readers {
                while process.serve(reader, readers, true, &observer) == PollOutcome::Busy {}
            }
            let ended = how_it_ended(&process, root);
            state.take(slot, &process, ended);
        }
    }
}
