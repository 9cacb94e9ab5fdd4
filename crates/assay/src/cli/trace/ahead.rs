//! Unpacking on a second core: a thread reads ahead of whoever parses, a few pieces at most.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Bytes that are handed over at once.
const PIECE: usize = 1 << 18;
/// Pieces that wait to be read.
const AHEAD: usize = 4;

/// What a reader gives, read by a thread of its own. The thread ends with the input, with an error, and when this is
/// dropped.
pub struct ReadAhead {
    pieces: Receiver<io::Result<Vec<u8>>>,
    give_back: SyncSender<Vec<u8>>,
    piece: Vec<u8>,
    at: usize,
}

impl ReadAhead {
    /// Begins to read.
    ///
    /// # Errors
    /// The system has no thread to give.
    pub fn new(mut from: impl Read + Send + 'static) -> io::Result<ReadAhead> {
        let (hand, pieces) = sync_channel(AHEAD);
        // As many as there can be: nobody waits to give one back.
        let (give_back, used) = sync_channel::<Vec<u8>>(AHEAD + 2);
        std::thread::Builder::new().name("unpacking".into()).spawn(move || {
            loop {
                let mut piece = used.try_recv().unwrap_or_else(|_| Vec::with_capacity(PIECE));
                piece.clear();
                let read = from.by_ref().take(PIECE as u64).read_to_end(&mut piece);
                let is_last = read.is_err() || piece.is_empty();
                // What came before an error is handed over as well.
                if !piece.is_empty() && hand.send(Ok(piece)).is_err() {
                    return;
                }
                if let Err(error) = read {
                    let _ = hand.send(Err(error));
                }
                if is_last {
                    return;
                }
            }
        })?;
        Ok(ReadAhead { pieces, give_back, piece: Vec::new(), at: 0 })
    }
}

impl Read for ReadAhead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.piece.len() {
            // The thread has gone: there was nothing more.
            let Ok(piece) = self.pieces.recv() else { return Ok(0) };
            let read = std::mem::replace(&mut self.piece, piece?);
            self.at = 0;
            // The thread may have come to the end.
            let _ = self.give_back.try_send(read);
        }
        let count = (&self.piece[self.at..]).read(buffer)?;
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_come_in_their_order() {
        let bytes: Vec<u8> = (0..3 * PIECE as u32 + 17).map(|byte| (byte % 251) as u8).collect();
        let mut read = Vec::new();
        ReadAhead::new(io::Cursor::new(bytes.clone())).unwrap().read_to_end(&mut read).unwrap();
        assert!(read == bytes);
        assert_eq!(ReadAhead::new(io::empty()).unwrap().read(&mut [0]).unwrap(), 0);
    }

    #[test]
    fn an_error_comes_after_the_bytes_before_it() {
        struct Damaged(usize);
        impl Read for Damaged {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let count = self.0.min(buffer.len());
                self.0 -= count;
                if count == 0 { Err(io::Error::other("damaged")) } else { Ok(count) }
            }
        }
        let mut ahead = ReadAhead::new(Damaged(PIECE + 5)).unwrap();
        let mut read = Vec::new();
        assert_eq!(ahead.read_to_end(&mut read).unwrap_err().to_string(), "damaged");
        assert_eq!(read.len(), PIECE + 5);
    }

    #[test]
    fn whoever_stops_reading_waits_for_nobody() {
        let mut ahead = ReadAhead::new(io::repeat(7)).unwrap();
        assert_eq!(ahead.read(&mut [0; 10]).unwrap(), 10);
        drop(ahead);
    }
}
