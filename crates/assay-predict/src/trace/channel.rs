//! Where in shared memory does which word lie? What the plugin in the emulator writes and the lab reads.
//!
//! A session is a folder with one control file and one sparse file per traced process, both mapped by both sides. All
//! words are little-endian and naturally aligned; a word that both sides use while the other runs is accessed atomically.
//! Addresses of the program are as the program sees them. The lab believes nothing: every number read is bounded first,
//! because the program that is traced lives in the same address space as the plugin.
//!
//! A thread's stream is a ring of chunks of 32-bit words: ids of executed blocks, and events ([`ESCAPE`], the event, its
//! arguments). The producer moves [`head::CURSOR`] after each word, counts full chunks in [`head::FILLED`] and waits when
//! the lab is a whole ring behind; so nothing that was executed is lost, whatever ends the process, and memory is bounded.

pub mod followed;

/// First word of both files.
pub const MAGIC: u64 = u64::from_le_bytes(*b"assayemu");
/// Version of this layout; lab and plugin must agree.
pub const VERSION: u32 = 2;
/// What the plugin's file contains, so that its version is known before it is loaded: this, then three decimal digits.
pub const VERSION_LABEL: &str = "assay-plugin-version=";
/// Name of the control file in the session's folder.
pub const CONTROL_FILE: &str = "control";
/// Name of the file that holds the emulator and its own arguments, each ended by a zero byte.
pub const PREFIX_FILE: &str = "prefix";

/// In a stream: what follows is an event, not a block.
pub const ESCAPE: u32 = u32::MAX;
/// Blocks of one process that are recorded; a program that makes more is told so in a note.
pub const MAX_BLOCKS: u32 = 1 << 22;
/// Threads of one process that are alive at once and traced.
pub const MAX_THREADS: u32 = 4096;
/// Processes of one session.
pub const MAX_PROCESSES: u32 = 1 << 16;

/// First argument of `prctl` by which the harness marks its regions: "assy". The kernel knows no such option, so outside
/// of an emulator the call does nothing. Then 1 (begins), variant, input, pass; or 2 (ends).
pub const MARK_OPTION: u64 = 0x6173_7379;

/// Name of a process's file.
pub fn process_file(slot: u32) -> String {
    format!("process{slot}")
}

/// Offsets in the control file, bytes.
pub mod control {
    /// u64: [`super::MAGIC`].
    pub const MAGIC: usize = 0;
    /// u32: [`super::VERSION`].
    pub const VERSION: usize = 8;
    /// u32: 0 counts, 1 every block in order.
    pub const DETAIL: usize = 12;
    /// u32: 1 when children and executed programs are traced.
    pub const FOLLOW: usize = 16;
    /// u32: 1 when the lab reads no more.
    pub const CLOSED: usize = 20;
    /// u32: counts calls for the lab's attention; a futex.
    pub const BELL: usize = 24;
    /// u32: readers of the lab that sleep until the bell rings.
    pub const SLEEPING: usize = 28;
    /// u32: slots given out; grown by fetch_add.
    pub const CLAIMED: usize = 32;
    /// u32: the lab's process id.
    pub const LAB: usize = 36;
    /// u32: 1 when a plugin was loaded, whatever came of it.
    pub const LOADED: usize = 40;
    /// u32 per process: 0 being made, 1 its file can be read.
    pub const SLOTS: usize = 4096;
    /// Size of the file, bytes.
    pub const SIZE: usize = SLOTS + 4 * super::MAX_PROCESSES as usize;
}

/// Offsets in the file of a process, bytes.
pub mod process {
    /// u64: [`super::MAGIC`].
    pub const MAGIC: usize = 0;
    /// u32: [`super::VERSION`].
    pub const VERSION: usize = 8;
    /// u32: one of the states below.
    pub const STATE: usize = 12;
    /// u32: process id.
    pub const PID: usize = 16;
    /// u32: the parent's process id.
    pub const PARENT: usize = 20;
    /// u32: exit code, once the state says [`EXITING`].
    pub const EXIT_CODE: usize = 24;
    /// u32: [`X86_64`] or [`AARCH64`].
    pub const ARCHITECTURE: usize = 28;
    /// u64: where the producer has mapped this file; cursors are addresses there.
    pub const BASE: usize = 32;
    /// u32: block records that can be read.
    pub const BLOCKS: usize = 40;
    /// u32: bytes of notes that can be read.
    pub const NOTES_USED: usize = 44;
    /// u32: bytes of modules that can be read.
    pub const MODULES_USED: usize = 48;
    /// u32: threads that were ever started.
    pub const THREADS: usize = 52;
    /// u32: one more than the highest head ever used.
    pub const HEADS_USED: usize = 56;
    /// u32: 1 when counters are added to (one thread), 0 when every block is logged.
    pub const COUNTING: usize = 60;
    /// u32: addresses of signal handlers that can be read.
    pub const HANDLERS_USED: usize = 64;
    /// u32: threads that could not be traced, there being too many.
    pub const LOST_THREADS: usize = 72;
    /// u32: 1 when blocks were not recorded, there being too many or no memory.
    pub const LOST_BLOCKS: usize = 76;
    /// u64: first address whose code changed while it was mapped, valid when the next is not 0.
    pub const CHANGED_AT: usize = 80;
    /// u32: translations that found other bytes than before.
    pub const CHANGED: usize = 88;
    /// u32: the next mark's handshake: the plugin has published this many marks (counts detail).
    pub const MARKS: usize = 92;
    /// u32: marks that the lab has dealt with; a futex.
    pub const MARKS_READ: usize = 96;
    /// u32: 1 begins, 2 ends; then the four words variant, input, pass, thread.
    pub const MARK: usize = 100;

    /// Addresses of signal handlers, one u64 each.
    pub const HANDLERS: usize = 0x400;
    /// The most of them; later ones are not known.
    pub const MAX_HANDLERS: u32 = 256;
    /// u32: length of the program's path, then the path.
    pub const PROGRAM: usize = 0xC00;
    /// The most of it that is kept, bytes.
    pub const PROGRAM_SIZE: usize = 0x3f0;
    /// Notes: records of u32 code, u32 length, bytes padded to 8.
    pub const NOTES: usize = 0x1000;
    /// Bytes for notes.
    pub const NOTES_SIZE: usize = 0x1_0000;
    /// Modules: u64 start, end, file offset, u32 length of the path, u32 0, the path padded to 8.
    pub const MODULES: usize = 0x2_0000;
    /// Bytes for modules.
    pub const MODULES_SIZE: usize = 0xE_0000;
    /// Heads, one per thread of the emulator that is alive.
    pub const HEADS: usize = 0x10_0000;
    /// Rings.
    pub const RINGS: usize = 0x40_0000;
    /// Counters, one u64 per block.
    pub const COUNTERS: usize = 0x900_0000;
    /// Records, one per block.
    pub const RECORDS: usize = 0xB00_0000;
    /// Lengths of instructions, one byte each, for the blocks of architectures where they differ.
    pub const LENGTHS: usize = 0x1700_0000;
    /// Bytes for them.
    pub const LENGTHS_SIZE: usize = 0x800_0000;
    /// Size of the file, bytes; nearly all of it never touched.
    pub const SIZE: usize = LENGTHS + LENGTHS_SIZE;

    /// State: going on.
    pub const LIVE: u32 = 1;
    /// State: it has asked to exit.
    pub const EXITING: u32 = 2;
    /// State: it has asked to execute another program.
    pub const REPLACED: u32 = 3;

    /// Architecture of the program.
    pub const X86_64: u32 = 1;
    /// Architecture of the program.
    pub const AARCH64: u32 = 2;
}

/// One thread's place in the file of its process.
pub mod head {
    /// Bytes per head: words that different sides write lie in different cache lines.
    pub const SIZE: usize = 256;
    /// u64: address of the next word, as the producer sees it.
    pub const CURSOR: usize = 0;
    /// u64: address of the end of the chunk that is being filled.
    pub const END: usize = 8;
    /// u32: chunks filled so far, modulo 2^32.
    pub const FILLED: usize = 64;
    /// u32: [`FREE`], [`LIVE`] or [`ENDED`]; a futex.
    pub const STATE: usize = 68;
    /// u32: number of the thread in its process.
    pub const THREAD: usize = 72;
    /// u32: chunks that the lab has read, modulo 2^32; a futex.
    pub const DRAINED: usize = 128;
    /// u32: the producer waits for the one above.
    pub const WAITING: usize = 132;

    /// Nobody's.
    pub const FREE: u32 = 0;
    /// A thread writes.
    pub const LIVE: u32 = 1;
    /// The thread has ended; the lab makes it free when it has read the rest.
    pub const ENDED: u32 = 2;
}

/// The ring of one head: where it lies and how it is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// Offset in the file, bytes.
    pub offset: usize,
    /// Number of chunks.
    pub chunks: u32,
    /// Size of a chunk, bytes.
    pub chunk_bytes: usize,
}

/// Heads whose rings are large; thousands of threads have small ones.
const LARGE_RINGS: u32 = 8;

/// The ring of head `index`, below [`MAX_THREADS`].
pub const fn ring(index: u32) -> Ring {
    let large = Ring { offset: process::RINGS, chunks: 8, chunk_bytes: 64 * 1024 };
    let small = Ring { offset: 0, chunks: 4, chunk_bytes: 8 * 1024 };
    if index < LARGE_RINGS {
        let offset = large.offset + index as usize * large.chunks as usize * large.chunk_bytes;
        Ring { offset, ..large }
    } else {
        let first = process::RINGS + LARGE_RINGS as usize * large.chunks as usize * large.chunk_bytes;
        let offset = first + (index - LARGE_RINGS) as usize * small.chunks as usize * small.chunk_bytes;
        Ring { offset, ..small }
    }
}

/// What a block looked like when it was translated: 48 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRecord {
    /// Address of the first instruction.
    pub pc: u64,
    /// Address of the last instruction.
    pub last: u64,
    /// Bytes of code.
    pub bytes: u32,
    /// Number of instructions.
    pub instructions: u32,
    /// The last instruction's bytes, 15 at most, zeros behind.
    pub tail: [u8; 15],
    /// Its length, bytes.
    pub tail_length: u8,
    /// Where its instructions' lengths begin, from [`process::LENGTHS`]; `u32::MAX` where they are not kept.
    pub lengths: u32,
}

impl BlockRecord {
    /// Bytes per record.
    pub const SIZE: usize = 48;

    /// As it lies in the file.
    pub fn to_words(&self) -> [u64; 6] {
        let mut tail = [0_u8; 16];
        tail[..15].copy_from_slice(&self.tail);
        tail[15] = self.tail_length;
        let half = |from: usize| u64::from_le_bytes(std::array::from_fn(|at| tail[from + at]));
        [
            self.pc,
            self.last,
            u64::from(self.bytes) | u64::from(self.instructions) << 32,
            half(0),
            half(8),
            u64::from(self.lengths),
        ]
    }

    /// From the file. What cannot be is bounded, not refused: the last instruction lies within the block.
    pub fn from_words(words: [u64; 6]) -> BlockRecord {
        let mut tail = [0_u8; 15];
        tail[..8].copy_from_slice(&words[3].to_le_bytes());
        tail[8..].copy_from_slice(&words[4].to_le_bytes()[..7]);
        let tail_length = ((words[4] >> 56) as u8).min(15);
        let bytes = (words[2] as u32).min(1 << 16);
        BlockRecord {
            pc: words[0],
            last: words[0].wrapping_add(words[1].wrapping_sub(words[0]).min(u64::from(bytes))),
            bytes,
            instructions: ((words[2] >> 32) as u32).min(1 << 16),
            tail,
            tail_length,
            lengths: words[5] as u32,
        }
    }

    /// The last instruction's bytes.
    pub fn last_bytes(&self) -> &[u8] {
        &self.tail[..usize::from(self.tail_length)]
    }
}

/// An event between two blocks of a thread's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEvent {
    /// A timed region of the harness begins.
    RegionBegins {
        /// Index of the variant.
        variant: u32,
        /// Id of the input.
        input: u32,
        /// Which pass, from 0.
        pass: u32,
    },
    /// It ends.
    RegionEnds,
    /// The thread goes back to where a signal interrupted it.
    SignalReturns,
}

impl StreamEvent {
    /// The most words of an event, [`ESCAPE`] included.
    pub const MAX_WORDS: usize = 5;

    /// The words after [`ESCAPE`]: a code, then its arguments.
    pub fn to_words(self) -> ([u32; 4], usize) {
        match self {
            StreamEvent::RegionBegins { variant, input, pass } => ([1, variant, input, pass], 4),
            StreamEvent::RegionEnds => ([2, 0, 0, 0], 1),
            StreamEvent::SignalReturns => ([3, 0, 0, 0], 1),
        }
    }

    /// How many words follow a code, or `None` for one that does not exist.
    pub fn arguments(code: u32) -> Option<usize> {
        match code {
            1 => Some(3),
            2 | 3 => Some(0),
            _ => None,
        }
    }

    /// From its code and as many arguments as [`StreamEvent::arguments`] says.
    pub fn from_words(code: u32, arguments: &[u32]) -> Option<StreamEvent> {
        match (code, arguments) {
            (1, &[variant, input, pass]) => Some(StreamEvent::RegionBegins { variant, input, pass }),
            (2, []) => Some(StreamEvent::RegionEnds),
            (3, []) => Some(StreamEvent::SignalReturns),
            _ => None,
        }
    }
}

/// What the plugin has to say, by code; the text of a note is a path where one is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteCode {
    /// A program was executed natively: of another architecture than the emulator's, or 32-bit.
    OtherArchitecture,
    /// A program was executed natively: the emulator could not be started for it.
    NotFollowed,
    /// A program was executed natively: children are not traced unless asked for.
    NotAsked,
}

impl NoteCode {
    /// As it lies in the file.
    pub fn code(self) -> u32 {
        match self {
            NoteCode::OtherArchitecture => 1,
            NoteCode::NotFollowed => 2,
            NoteCode::NotAsked => 3,
        }
    }

    /// From the file.
    pub fn from_code(code: u32) -> Option<NoteCode> {
        [NoteCode::OtherArchitecture, NoteCode::NotFollowed, NoteCode::NotAsked]
            .into_iter()
            .find(|note| note.code() == code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(
        clippy::assertions_on_constants,
        reason = "the layout is constants; a test says which two collide"
    )]
    fn regions_of_the_file_follow_each_other_without_overlap() {
        let last = ring(MAX_THREADS - 1);
        let regions = [
            (process::MARK, 20),
            (process::HANDLERS, 8 * process::MAX_HANDLERS as usize),
            (process::PROGRAM, 4 + process::PROGRAM_SIZE),
            (process::NOTES, process::NOTES_SIZE),
            (process::MODULES, process::MODULES_SIZE),
            (process::HEADS, MAX_THREADS as usize * head::SIZE),
            (process::RINGS, last.offset + last.chunks as usize * last.chunk_bytes - process::RINGS),
            (process::COUNTERS, MAX_BLOCKS as usize * 8),
            (process::RECORDS, MAX_BLOCKS as usize * BlockRecord::SIZE),
            (process::LENGTHS, process::LENGTHS_SIZE),
            (process::SIZE, 0),
        ];
        for pair in regions.windows(2) {
            assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{pair:?}");
        }
    }

    #[test]
    fn rings_follow_each_other_and_lie_on_pages() {
        for index in 0..MAX_THREADS - 1 {
            let (this, next) = (ring(index), ring(index + 1));
            assert_eq!(this.offset + this.chunks as usize * this.chunk_bytes, next.offset, "{index}");
            assert_eq!(next.offset % 4096, 0);
        }
        assert_eq!((ring(7).chunks, ring(8).chunks), (8, 4));
    }

    #[test]
    fn a_record_comes_back_as_it_went() {
        let record = BlockRecord {
            pc: 0x40_1000,
            last: 0x40_1007,
            bytes: 9,
            instructions: 3,
            tail: [0x75, 0xf7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13],
            tail_length: 2,
            lengths: 77,
        };
        assert_eq!(BlockRecord::from_words(record.to_words()), record);
        assert_eq!(record.last_bytes(), [0x75, 0xf7]);
    }

    #[test]
    fn a_record_of_nonsense_is_bounded() {
        let record = BlockRecord::from_words([u64::MAX; 6]);
        assert_eq!((record.bytes, record.instructions, record.tail_length), (1 << 16, 1 << 16, 15));
        let record = BlockRecord::from_words([100, 5000, 8, 0, 0, 0]);
        assert_eq!(record.last, 108);
    }

    #[test]
    fn events_come_back_as_they_went() {
        let events = [
            StreamEvent::RegionBegins { variant: 1, input: 2, pass: u32::MAX },
            StreamEvent::RegionEnds,
            StreamEvent::SignalReturns,
        ];
        for event in events {
            let (words, count) = event.to_words();
            assert_eq!(StreamEvent::arguments(words[0]), Some(count - 1));
            assert_eq!(StreamEvent::from_words(words[0], &words[1..count]), Some(event));
            assert!(count < StreamEvent::MAX_WORDS);
        }
        assert_eq!(StreamEvent::arguments(4), None);
        assert_eq!(StreamEvent::from_words(0, &[]), None);
    }

    #[test]
    fn notes_come_back_as_they_went() {
        for note in [NoteCode::OtherArchitecture, NoteCode::NotFollowed, NoteCode::NotAsked] {
            assert_eq!(NoteCode::from_code(note.code()), Some(note));
        }
        assert_eq!(NoteCode::from_code(0), None);
    }
}
