//! What did an instrumented program execute? Its branches as the processor executes them, handed on as the emulator's are.
//!
//! Method: the program logs the outcome of each conditional branch and where each indirect one went (assay-pure,
//! `outcomes`); here the code of the measured program is walked along these outcomes ([`replay`]), so that addresses,
//! direct jumps and calls, and numbers of instructions are those of the measured program. Each record names its site: a log
//! that does not fit the code ends the count, it is never bent. Limits: regions of the harness and the main thread only; code that
//! was not instrumented (the C library) ends the count with its name; whole programs are followed by [`streams`]. Checked: `assay/tests/instrument.rs` compares every
//! branch with the emulator's.

mod replay;
pub mod streams;

use crate::{Blame, Observer, TraceRefusal};
use assay_linux::pipe;
use assay_linux::private::PrivateFolder;
use assay_linux::shared;
use assay_pure::outcomes::{PIPE_VARIABLE, PairedTable};
use replay::Replay;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The address that stands for all code without records. Nothing is mapped there.
pub const OTHER_CODE: u64 = 0x1000;
/// What is read at once, bytes: what the pipe holds.
const PIECE: usize = 1 << 20;
/// How long the reader sleeps where the pipe is empty.
const NAP: Duration = Duration::from_micros(200);
/// What the session's folder is called, before the lab's process id.
const PREFIX: &str = "assay-log-";

/// An instrumented program that is ready to run, and the thread of the lab that reads its log.
///
/// The caller starts the program with [`LogSession::variable`] in its environment. When it has ended,
/// [`LogSession::finish`] gives what was seen.
pub struct LogSession<O: Observer> {
    path: PathBuf,
    ended: Arc<AtomicBool>,
    reader: JoinHandle<(O, Result<(), String>)>,
    _folder: PrivateFolder,
}

impl<O: Observer> LogSession<O> {
    /// Reads the measured program's code and makes the pipe. `observer` is handed branches ([`Observer::branches`]) and marks.
    ///
    /// # Errors
    /// The program cannot be read, or the pipe not be made.
    pub fn open(plain: &Path, table: &PairedTable, observer: O) -> Result<LogSession<O>, TraceRefusal> {
        let elf = std::fs::read(plain).map_err(|error| refusal(format!("{}: {error}", plain.display())))?;
        let replay = Replay::new(&elf, table).map_err(refusal)?;
        let cannot = |error: std::io::Error| refusal(format!("no pipe to the program can be made: {error}"));
        let folder = PrivateFolder::new(&shared::folder(0), PREFIX).map_err(cannot)?;
        let path = folder.path().join("log");
        let pipe = pipe::named(&path).map_err(cannot)?;
        let ended = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&ended);
        let reader = std::thread::spawn(move || read(pipe, replay, observer, &over));
        Ok(LogSession { path, ended, reader, _folder: folder })
    }

    /// A variable that the program must have in its environment, and its value.
    pub fn variable(&self) -> (String, String) {
        (PIPE_VARIABLE.to_owned(), self.path.display().to_string())
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

/// The life of the reader. What cannot be followed is still read: the program must not wait for us.
fn read<O: Observer>(
    mut pipe: File,
    mut replay: Replay,
    mut observer: O,
    ended: &AtomicBool,
) -> (O, Result<(), String>) {
    let mut bytes = vec![0_u8; PIECE];
    // Bytes of a record that is not whole yet.
    let mut kept = 0;
    let mut words = Vec::with_capacity(PIECE / 4);
    let mut outcome = Ok(());
    loop {
        // Asked before the pipe is found empty: what was written until then is there.
        let over = ended.load(Ordering::SeqCst);
        match pipe.read(&mut bytes[kept..]) {
            Ok(length) if length > 0 => {
                let whole = kept + length;
                words.clear();
                words.extend(
                    bytes[..whole]
                        .chunks_exact(4)
                        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])),
                );
                let done = match &outcome {
                    Ok(()) => replay.follow(&words, &mut observer),
                    Err(_) => Ok(words.len()),
                };
                let done = done.unwrap_or_else(|why| {
                    outcome = Err(why);
                    words.len()
                });
                bytes.copy_within(4 * done..whole, 0);
                kept = whole - 4 * done;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() != ErrorKind::WouldBlock => {
                return (observer, Err(format!("the program's log cannot be read: {error}")));
            }
            _ if over => break,
            _ => std::thread::sleep(NAP),
        }
    }
    if outcome.is_ok() && kept > 0 {
        outcome = Err("the program's log ends in the midst of a record".to_owned());
    }
    (observer, outcome)
}
