//! What did an instrumented program execute? Its branches as the processor executes them, handed on as the emulator's are.
//!
//! Method: the program logs the outcome of each conditional branch and where each indirect one went (assay-pure,
//! `outcomes`) into shared memory ([`areas`]); here the code of the measured program is walked along these outcomes ([`replay`]), so
//! that addresses, direct jumps and calls, and numbers of instructions are those of the measured program. Records of indirect branches,
//! returns and marks name their site, and marks their place in the log: a log that does not fit the code ends the count, it is never
//! bent. Limits: regions of the harness and the main thread only; code that was not instrumented (the C library) ends the count with its
//! name; whole programs are followed by [`streams`]. Checked: `assay/tests/instrument.rs` compares every branch with the emulator's.

pub mod areas;
mod outside;
mod replay;
pub mod streams;

use crate::{Blame, Observer, TraceRefusal};
use areas::Areas;
use assay_linux::private::PrivateFolder;
use assay_linux::shared;
use assay_pure::outcomes::{PairedTable, STREAMS_VARIABLE};
use replay::Replay;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The address that stands for all code without records. Nothing is mapped there.
pub const OTHER_CODE: u64 = 0x1000;
/// The room that streams should have, bytes.
const ROOM: u64 = 64 << 20;
/// How long the reader sleeps where no area is full.
const NAP: Duration = Duration::from_micros(100);
/// What the session's folder is called, before the lab's process id.
const PREFIX: &str = "assay-log-";

/// An instrumented program that is ready to run, and the thread of the lab that reads its log.
///
/// The caller starts the program with [`LogSession::variable`] in its environment. When it has ended,
/// [`LogSession::finish`] gives what was seen.
pub struct LogSession<O: Observer> {
    ended: Arc<AtomicBool>,
    reader: JoinHandle<(O, Result<(), String>)>,
    folder: PrivateFolder,
}

impl<O: Observer> LogSession<O> {
    /// Reads the measured program's code and makes the log's folder. `observer` is handed branches ([`Observer::branches`]) and marks.
    ///
    /// # Errors
    /// The program cannot be read, or the folder not be made.
    pub fn open(plain: &Path, table: &PairedTable, observer: O) -> Result<LogSession<O>, TraceRefusal> {
        let elf = std::fs::read(plain).map_err(|error| refusal(format!("{}: {error}", plain.display())))?;
        let replay = Replay::new(&elf, table).map_err(refusal)?;
        let folder = folder()?;
        let ended = Arc::new(AtomicBool::new(false));
        let (over, path) = (Arc::clone(&ended), folder.path().to_owned());
        let reader = std::thread::spawn(move || read(&path, replay, observer, &over));
        Ok(LogSession { ended, reader, folder })
    }

    /// A variable that the program must have in its environment, and its value.
    pub fn variable(&self) -> (String, String) {
        (STREAMS_VARIABLE.to_owned(), self.folder.path().display().to_string())
    }

    /// Reads the log of the program, which has ended, to its end. Returns the observer and, where the log could not be
    /// followed to its end, why.
    pub fn finish(self) -> (O, Result<(), String>) {
        self.ended.store(true, Ordering::SeqCst);
        self.reader.join().expect("reading a log does not panic")
    }
}

fn refusal(reason: String) -> TraceRefusal {
    TraceRefusal { blame: Blame::Machine, reason, remedy: None }
}

/// A folder for the files of streams.
fn folder() -> Result<PrivateFolder, TraceRefusal> {
    let cannot = |error: std::io::Error| refusal(format!("the log cannot be made: {error}"));
    PrivateFolder::new(&shared::folder(ROOM), PREFIX).map_err(cannot)
}

/// The life of the reader. What cannot be followed is still read: the program must not wait for us.
fn read<O: Observer>(
    folder: &Path,
    mut replay: Replay,
    mut observer: O,
    ended: &AtomicBool,
) -> (O, Result<(), String>) {
    let mut seen = HashSet::new();
    let mut stream: Option<Areas> = None;
    let mut bytes = Vec::with_capacity(areas::AREA);
    let mut outcome = Ok(());
    loop {
        // Asked before it is looked: what was written until then is there.
        let over = ended.load(Ordering::SeqCst);
        for found in areas::discover(folder, &mut seen) {
            match stream {
                None => stream = Some(found),
                // Of a program that it executes.
                Some(_) => found.close(),
            }
        }
        if stream.as_mut().is_some_and(|areas| areas.take(&mut bytes)) {
            outcome = outcome.and_then(|()| replay.follow(&bytes, &mut observer));
        } else if over {
            break;
        } else {
            std::thread::sleep(NAP);
        }
    }
    if let Some(areas) = &mut stream {
        areas.rest(&mut bytes);
        outcome = outcome.and_then(|()| replay.follow(&bytes, &mut observer));
        if areas.lost() {
            outcome = outcome.and(Err("a handler of signals was executed in a region".to_owned()));
        }
    }
    (observer, outcome)
}
