//! The files of shared memory in which an instrumented program hands on its records.
//!
//! Method: the program's side (`stream.c` of assay-link) makes a file for each stream. It has a page of words ([`head`]) and some areas of
//! records. The program fills the first area that is free; the page says of each turn which area it was, so turns are read in their order
//! however late somebody looks. What was read is filled with [`FREE`], which is also what a branch leaves that was taken. What is left when
//! the process has ended is read up to the last other byte, or to an [`END`].
//! Checked: the layout is compared with the program's side in `assay/tests/instrument/whole.rs`.

use assay_linux::shared::{self, SharedMemory};
use assay_pure::outcomes::{END, FREE};
use std::collections::HashSet;
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::Ordering;

/// Bytes of an area: it stays in a second-level cache.
pub const AREA: usize = 1 << 18;
/// How many there are: who writes faster than we read waits until half of them are free again, as each wait costs it some time.
pub const AREAS: usize = 8;
/// Bytes of the page of words.
pub const PAGE: usize = 4096;
/// Of a stream's file.
const SIZE: usize = PAGE + AREAS * AREA;
/// A file that is whole has this word first.
pub const MAGIC: u32 = 0x7073_7363;

/// Offsets of the words of a stream's file.
mod head {
    /// [`super::MAGIC`].
    pub const MAGIC: usize = 0;
    /// The process.
    pub const PROCESS: usize = 4;
    /// The process that started it.
    pub const PARENT: usize = 8;
    /// The anchor's address, two words.
    pub const ANCHOR: usize = 16;
    /// Nobody reads any more.
    pub const CLOSED: usize = 24;
    /// Records were written over, or are missing.
    pub const LOST: usize = 28;
    /// Of each turn, modulo [`super::AREAS`], the bytes that wait to be read.
    pub const FULL: usize = 32;
    /// ... the bytes behind its area that nothing was stored to, two words each.
    pub const BEYOND: usize = 64;
    /// ... the area.
    pub const AREA: usize = 128;
}

/// One stream's file.
pub(super) struct Areas {
    shared: SharedMemory,
    /// The turn that is read next.
    next: usize,
    /// Bytes behind the area that was read last that nothing was stored to, and that nobody took yet.
    beyond: u64,
}

/// The files of streams that are new in a folder: by process, and in it in the order of creation. They are taken out of it.
pub(super) fn discover(folder: &Path, seen: &mut HashSet<OsString>) -> Vec<Areas> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let key = |name: &OsString| {
        let (process, number) = name.to_str()?.split_once('-')?;
        Some((process.parse::<u64>().ok()?, number.parse::<u64>().ok()?))
    };
    let names = entries.flatten().map(|entry| entry.file_name()).filter(|name| !seen.contains(name));
    let mut new: Vec<_> = names.filter_map(|name| Some((key(&name)?, name))).collect();
    new.sort();
    let mut found = Vec::new();
    for (_, name) in new {
        let path = folder.join(&name);
        if let Some(areas) = Areas::open(&path) {
            // The mapping stays.
            let _ = std::fs::remove_file(&path);
            seen.insert(name);
            found.push(areas);
        }
    }
    found
}

impl Areas {
    /// Nothing where the program has not finished making it.
    fn open(path: &Path) -> Option<Areas> {
        let areas = Areas { shared: SharedMemory::open(path, SIZE).ok()?, next: 0, beyond: 0 };
        (areas.shared.u32(head::MAGIC).load(Ordering::Acquire) == MAGIC).then_some(areas)
    }

    fn word(&self, offset: usize) -> u32 {
        self.shared.u32(offset).load(Ordering::Relaxed)
    }

    fn wide(&self, offset: usize) -> u64 {
        u64::from(self.word(offset)) | u64::from(self.word(offset + 4)) << 32
    }

    /// The process that writes it, and the one that started that.
    pub(super) fn processes(&self) -> (u32, u32) {
        (self.word(head::PROCESS), self.word(head::PARENT))
    }

    /// The anchor's address in the process.
    pub(super) fn anchor(&self) -> u64 {
        self.wide(head::ANCHOR)
    }

    /// Whether the program says that records are missing.
    pub(super) fn lost(&self) -> bool {
        self.word(head::LOST) != 0
    }

    /// Tells the program that nobody reads any more.
    pub(super) fn close(&self) {
        self.shared.u32(head::CLOSED).store(1, Ordering::SeqCst);
    }

    /// Takes the next turn's records, if its area is full. They replace what is in `bytes`.
    pub(super) fn take(&mut self, bytes: &mut Vec<u8>) -> bool {
        if self.beyond > 0 {
            let some = self.beyond.min(AREA as u64);
            bytes.clear();
            bytes.resize(some as usize, FREE);
            self.beyond -= some;
            return true;
        }
        let full = head::FULL + 4 * self.next;
        let length = self.shared.u32(full).load(Ordering::Acquire) as usize;
        if length == 0 {
            return false;
        }
        self.empty(bytes);
        bytes.truncate(length);
        self.beyond = self.wide(head::BEYOND + 8 * self.next);
        self.shared.u32(full).store(0, Ordering::Release);
        shared::wake(self.shared.u32(full));
        self.next = (self.next + 1) % AREAS;
        true
    }

    /// Takes what is left in the area that was being written when the process ended; all full ones were taken.
    pub(super) fn rest(&self, bytes: &mut Vec<u8>) {
        self.empty(bytes);
        let length = bytes.iter().rposition(|byte| *byte != FREE).map_or(0, |last| last + 1);
        bytes.truncate(length);
        if bytes.last() == Some(&END) {
            bytes.pop();
        }
    }

    /// Copies the next turn's area and makes it free.
    fn empty(&self, bytes: &mut Vec<u8>) {
        let area = self.word(head::AREA + 4 * self.next) as usize % AREAS;
        let words = self.shared.u64s(PAGE + area * AREA, AREA / 8);
        bytes.resize(AREA, 0);
        for (word, copy) in words.iter().zip(bytes.chunks_exact_mut(8)) {
            copy.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
            word.store(u64::from_le_bytes([FREE; 8]), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the program's side does.
    struct Writer {
        shared: SharedMemory,
        turn: usize,
    }

    impl Writer {
        fn new(folder: &Path, name: &str) -> Writer {
            let shared = SharedMemory::create(&folder.join(name), SIZE).expect("a file");
            shared.u32(head::MAGIC).store(MAGIC, Ordering::Release);
            Writer { shared, turn: 0 }
        }

        /// Areas are not in the order of turns.
        fn area(&self) -> usize {
            self.turn * 3 % AREAS
        }

        fn write(&mut self, words: &[u32]) {
            let area = self.shared.u32s(PAGE + self.area() * AREA, words.len());
            for (place, word) in area.iter().zip(words) {
                place.store(*word, Ordering::Relaxed);
            }
        }

        fn turn(&mut self, bytes: u32) {
            self.shared.u32(head::FULL + 4 * self.turn).store(bytes, Ordering::Release);
            self.turn = (self.turn + 1) % AREAS;
            self.shared.u32(head::AREA + 4 * self.turn).store(self.area() as u32, Ordering::Relaxed);
        }
    }

    fn pair() -> (tempfile::TempDir, Writer, Areas) {
        let folder = tempfile::tempdir().expect("a folder");
        let writer = Writer::new(folder.path(), "7-0");
        let mut found = discover(folder.path(), &mut HashSet::new());
        (folder, writer, found.pop().expect("it is whole"))
    }

    #[test]
    fn of_two_full_areas_the_one_that_was_full_first_is_read_first() {
        let (_folder, mut writer, mut areas) = pair();
        let mut bytes = Vec::new();
        // Each turn begins with another area.
        for turn in 0..10 {
            for word in [2 * turn, 2 * turn + 1] {
                writer.write(&[word]);
                writer.turn(4);
            }
            for word in [2 * turn, 2 * turn + 1] {
                assert!(areas.take(&mut bytes));
                assert_eq!(bytes, word.to_le_bytes());
            }
            assert!(!areas.take(&mut bytes), "both are empty");
            // One more, so that the next turn begins with the other of two.
            writer.write(&[99]);
            writer.turn(4);
            assert!(areas.take(&mut bytes));
        }
    }

    #[test]
    fn what_is_left_is_read_up_to_its_last_record_or_to_where_records_end() {
        let (_folder, mut writer, areas) = pair();
        let mut bytes = Vec::new();
        writer.write(&[0x0201_0000, 1]);
        areas.rest(&mut bytes);
        assert_eq!(bytes, [0, 0, 1, 2, 1]);
        areas.rest(&mut bytes);
        assert!(bytes.is_empty(), "it was made free");
        // The branches that were taken at the end stored nothing.
        writer.write(&[1, u32::from(END) << 16]);
        areas.rest(&mut bytes);
        assert_eq!(bytes, [1, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn what_nothing_was_stored_to_behind_an_area_is_read_after_it() {
        let (_folder, mut writer, mut areas) = pair();
        writer.shared.u64(head::BEYOND).store(AREA as u64 + 3, Ordering::Relaxed);
        writer.write(&[1]);
        writer.turn(4);
        writer.write(&[2]);
        writer.turn(4);
        let (mut bytes, mut taken) = (Vec::new(), Vec::new());
        while areas.take(&mut bytes) {
            taken.push((bytes.len(), bytes.first().copied()));
        }
        assert_eq!(taken, [(4, Some(1)), (AREA, Some(0)), (3, Some(0)), (4, Some(2))]);
    }

    #[test]
    fn streams_are_found_in_the_order_of_creation_and_only_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut writers = Vec::new();
        for (name, process) in [("7-10", 1), ("7-9", 2), ("12-0", 3)] {
            let writer = Writer::new(folder.path(), name);
            writer.shared.u32(head::PROCESS).store(process, Ordering::Relaxed);
            writers.push(writer);
        }
        writers[1].shared.u32(head::MAGIC).store(0, Ordering::Relaxed);
        let mut seen = HashSet::new();
        let mut processes = || -> Vec<u32> {
            discover(folder.path(), &mut seen).iter().map(|areas| areas.processes().0).collect()
        };
        assert_eq!(processes(), [1, 3]);
        writers[1].shared.u32(head::MAGIC).store(MAGIC, Ordering::Relaxed);
        assert_eq!(processes(), [2]);
    }
}
