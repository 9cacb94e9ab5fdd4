//! What is known of a trace once it has ended: processes, threads, modules, totals.

use std::io::Read as _;

/// A file mapped as code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredModule {
    /// First address.
    pub start: u64,
    /// Address after the last.
    pub end: u64,
    /// Offset in the file of the first address, bytes.
    pub file_offset: u64,
    /// The file; empty for code made at run time.
    pub path: String,
}

/// A traced process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedProcess {
    /// Its id.
    pub pid: u32,
    /// The process that started it, if that was traced too.
    pub parent: Option<u32>,
    /// Its program.
    pub program: String,
    /// How it ended, in words.
    pub ended: String,
    /// The files its code came from.
    pub modules: Vec<StoredModule>,
    /// What a reader must know, in whole sentences.
    pub notes: Vec<String>,
}

/// A stream: the branches of one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamTotals {
    /// Its process, counting into the list of them.
    pub process: u32,
    /// Its number in the process, in the order of creation.
    pub thread: u32,
    /// Its branches.
    pub branches: u64,
    /// Its instructions, as the branches count them.
    pub instructions: u64,
}

/// What ends a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directory {
    /// Where the stream came from: an emulator and its version, or the format it was imported from.
    pub source: String,
    /// The streams, by number.
    pub streams: Vec<StreamTotals>,
    /// The processes; empty where nothing is known of them.
    pub processes: Vec<TracedProcess>,
    /// The stream does not say how many instructions lie between its branches.
    pub without_instructions: bool,
}

/// Bytes of the largest directory, unpacked.
const MAX_BYTES: u64 = 1 << 26;

impl Directory {
    /// Packed, for a chunk.
    pub(super) fn pack(&self) -> std::io::Result<Vec<u8>> {
        let mut out = DirectoryFields(Vec::new());
        out.text(&self.source);
        out.number(self.without_instructions.into());
        out.number(self.streams.len() as u64);
        for stream in &self.streams {
            out.number(stream.process.into());
            out.number(stream.thread.into());
            out.number(stream.branches);
            out.number(stream.instructions);
        }
        out.number(self.processes.len() as u64);
        for process in &self.processes {
            out.number(process.pid.into());
            out.number(process.parent.map_or(0, |parent| u64::from(parent) + 1));
            out.text(&process.program);
            out.text(&process.ended);
            out.number(process.modules.len() as u64);
            for module in &process.modules {
                out.number(module.start);
                out.number(module.end);
                out.number(module.file_offset);
                out.text(&module.path);
            }
            out.number(process.notes.len() as u64);
            process.notes.iter().for_each(|note| out.text(note));
        }
        zstd::bulk::compress(&out.0, 9)
    }

    /// Unpacked, or `None` where that is no directory.
    pub(super) fn unpack(packed: &[u8]) -> Option<Directory> {
        let mut bytes = Vec::new();
        zstd::Decoder::new(packed).ok()?.take(MAX_BYTES + 1).read_to_end(&mut bytes).ok()?;
        let mut fields = Rest((bytes.len() as u64 <= MAX_BYTES).then_some(&bytes)?);
        let source = fields.text()?;
        let without_instructions = fields.number()? != 0;
        let streams = fields.list(|fields| {
            let (process, thread) = (fields.small()?, fields.small()?);
            Some(StreamTotals { process, thread, branches: fields.number()?, instructions: fields.number()? })
        })?;
        let processes = fields.list(Rest::process)?;
        fields.0.is_empty().then_some(Directory { source, streams, processes, without_instructions })
    }
}

/// Numbers of 8 bytes and texts with their length in front.
struct DirectoryFields(Vec<u8>);

impl DirectoryFields {
    fn number(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend(text.as_bytes());
    }
}

/// What is left to be read.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn small(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }

    /// A list with its length in front; nothing is set aside for what is only promised.
    fn list<T>(&mut self, mut entry: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()?;
        let mut list = Vec::new();
        for _ in 0..count {
            list.push(entry(self)?);
        }
        Some(list)
    }

    fn process(&mut self) -> Option<TracedProcess> {
        let pid = self.small()?;
        let parent = match self.number()? {
            0 => None,
            parent => Some(u32::try_from(parent - 1).ok()?),
        };
        let (program, ended) = (self.text()?, self.text()?);
        let modules = self.list(|fields| {
            let (start, end, file_offset) = (fields.number()?, fields.number()?, fields.number()?);
            Some(StoredModule { start, end, file_offset, path: fields.text()? })
        })?;
        let notes = self.list(Rest::text)?;
        Some(TracedProcess { pid, parent, program, ended, modules, notes })
    }
}
