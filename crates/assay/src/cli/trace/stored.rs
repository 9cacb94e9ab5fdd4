//! A stored trace, whatever its format and packing.

use super::ahead::ReadAhead;
use super::read_so_far::{CountedFile, ReadSoFar};
use assay_lab::lead::Misuse;
use assay_linux::given;
use assay_pure::trace::recognise::LOOK;
use assay_pure::trace::source::{Batch, TraceFault, TracePlace};
use assay_pure::trace::{
    BranchSite, TraceError, TraceFormat, TraceSource, bt9, cbp, champsim, jiegec, recognise, sbbt, stored,
};
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek as _};
use std::ops::Range;
use std::path::Path;

/// Memory that an xz file may ask for; the strongest preset asks for 65 MB.
const XZ_MEMORY: u64 = 128 << 20;
/// Logarithm of the window that a zstd file may ask for; the strongest level asks for this.
const ZSTD_WINDOW: u32 = 27;

type ByteStream = Box<dyn Read>;

/// How a file is packed as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    None,
    Gzip,
    Xz,
    Zstd,
}

impl Packing {
    fn of(begin: &[u8]) -> Packing {
        match begin {
            [0x1f, 0x8b, ..] => Packing::Gzip,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Packing::Xz,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstd,
            _ => Packing::None,
        }
    }

    fn unpack(self, file: BufReader<CountedFile>) -> std::io::Result<ByteStream> {
        Ok(match self {
            Packing::None => Box::new(file),
            Packing::Gzip => Box::new(ReadAhead::new(flate2::bufread::MultiGzDecoder::new(file))?),
            Packing::Xz => {
                let stream =
                    liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY, liblzma::stream::CONCATENATED)?;
                Box::new(ReadAhead::new(liblzma::bufread::XzDecoder::new_stream(file, stream))?)
            }
            Packing::Zstd => {
                let mut decoder = zstd::Decoder::with_buffer(file)?;
                decoder.window_log_max(ZSTD_WINDOW)?;
                Box::new(ReadAhead::new(decoder)?)
            }
        })
    }
}

/// A reader of any format.
pub enum TraceReader {
    Assay(stored::StoredReader<ByteStream>),
    Bt9(bt9::Bt9Reader<ByteStream>),
    Sbbt(sbbt::SbbtReader<ByteStream>),
    Champsim(champsim::ChampSimReader<ByteStream>),
    Cbp(cbp::CbpReader<ByteStream>),
    Jiegec(jiegec::JiegecReader<BufReader<File>>),
}

/// A trace that was opened.
pub struct Stored {
    pub format: TraceFormat,
    pub packing: Packing,
    /// Bytes of the file as it lies there.
    pub bytes: u64,
    pub reader: TraceReader,
}

impl Stored {
    /// Opens a trace; of one with several streams, only these are read. How far its file is read is told.
    ///
    /// # Errors
    /// [`Misuse`] that names the file and the place: no such file, an unknown format, a damaged beginning.
    pub fn open(
        path: &Path,
        asked: Option<TraceFormat>,
        streams: Range<u32>,
        so_far: &ReadSoFar,
    ) -> Result<Stored, Misuse> {
        let wrong = |text: String| Misuse(format!("{}: {text}", path.display()));
        let mut file = given::open(path).map_err(|error| wrong(format!("cannot be opened: {error}")))?;
        let bytes = file.metadata().map_or(0, |facts| facts.len());
        let read = |error: std::io::Error| wrong(format!("cannot be read: {error}"));
        let packing = Packing::of(&beginning(&mut file, 6).map_err(read)?);
        file.rewind().map_err(read)?;
        let mut unpacked = packing.unpack(BufReader::new(so_far.counted(file))).map_err(read)?;
        let begin = beginning(&mut unpacked, LOOK)
            .map_err(|error| wrong(format!("cannot be decompressed: {error}")))?;
        if begin.is_empty() {
            return Err(wrong(TraceFault::Empty.to_string()));
        }
        let format = asked.or_else(|| recognise(&begin)).ok_or_else(|| {
            let names: Vec<&str> = TraceFormat::ALL.iter().map(|format| format.name()).collect();
            wrong(format!("is not in a known trace format; --from can name one: {}", names.join(", ")))
        })?;
        let rest: ByteStream = Box::new(Cursor::new(begin).chain(unpacked));
        let reader = reader(path, packing, format, rest, streams).map_err(wrong)?;
        Ok(Stored { format, packing, bytes, reader })
    }

    /// An error of this file, as the user is to see it.
    pub fn explain(&self, path: &Path, error: &TraceError) -> Misuse {
        let unpacked = match (self.packing, error.place) {
            (Packing::None, _) | (_, TracePlace::Line(_)) => "",
            _ => " (counted in what was unpacked)",
        };
        Misuse(format!("{}: {error}{unpacked}", path.display()))
    }
}

/// As many bytes as there are, up to `wanted`.
fn beginning(from: &mut impl Read, wanted: usize) -> std::io::Result<Vec<u8>> {
    let mut begin = Vec::new();
    from.take(wanted as u64).read_to_end(&mut begin)?;
    Ok(begin)
}

fn reader(
    path: &Path,
    packing: Packing,
    format: TraceFormat,
    rest: ByteStream,
    streams: Range<u32>,
) -> Result<TraceReader, String> {
    let said = |error: TraceError| error.to_string();
    Ok(match format {
        TraceFormat::Assay => TraceReader::Assay(stored::StoredReader::only(rest, streams).map_err(said)?),
        TraceFormat::Bt9 => TraceReader::Bt9(bt9::Bt9Reader::new(rest).map_err(said)?),
        TraceFormat::Sbbt => {
            TraceReader::Sbbt(sbbt::SbbtReader::new(rest, sbbt::SbbtLayout::Documented).map_err(said)?)
        }
        TraceFormat::SbbtStale => {
            TraceReader::Sbbt(sbbt::SbbtReader::new(rest, sbbt::SbbtLayout::Stale).map_err(said)?)
        }
        TraceFormat::Champsim => TraceReader::Champsim(champsim::ChampSimReader::new(rest).map_err(said)?),
        TraceFormat::Cbp => TraceReader::Cbp(cbp::CbpReader::new(rest).map_err(said)?),
        TraceFormat::Jiegec if packing != Packing::None => {
            return Err("traces of this format are read from both ends: decompress the file first".to_owned());
        }
        TraceFormat::Jiegec => {
            let file = File::open(path).map_err(|error| format!("cannot be opened: {error}"))?;
            TraceReader::Jiegec(jiegec::JiegecReader::new(BufReader::new(file)).map_err(said)?)
        }
    })
}

impl TraceReader {
    fn source(&self) -> &dyn TraceSource {
        match self {
            TraceReader::Assay(reader) => reader,
            TraceReader::Bt9(reader) => reader,
            TraceReader::Sbbt(reader) => reader,
            TraceReader::Champsim(reader) => reader,
            TraceReader::Cbp(reader) => reader,
            TraceReader::Jiegec(reader) => reader,
        }
    }

    /// What ends a file of our own.
    pub fn directory(&self) -> Option<&stored::Directory> {
        match self {
            TraceReader::Assay(reader) => reader.directory(),
            _ => None,
        }
    }

    /// How a file of our own is coded.
    pub fn coding(&self) -> Option<stored::BlockCoding> {
        match self {
            TraceReader::Assay(reader) => reader.coding(),
            _ => None,
        }
    }

    /// Streams of which there were branches so far.
    pub fn streams(&self) -> u32 {
        match self {
            TraceReader::Assay(reader) => reader.streams(),
            _ => 1,
        }
    }
}

impl TraceSource for TraceReader {
    fn next(&mut self, batch: &mut Batch) -> Result<bool, TraceError> {
        match self {
            TraceReader::Assay(reader) => reader.next(batch),
            TraceReader::Bt9(reader) => reader.next(batch),
            TraceReader::Sbbt(reader) => reader.next(batch),
            TraceReader::Champsim(reader) => reader.next(batch),
            TraceReader::Cbp(reader) => reader.next(batch),
            TraceReader::Jiegec(reader) => reader.next(batch),
        }
    }

    fn sites(&self, stream: u32) -> &[BranchSite] {
        self.source().sites(stream)
    }

    fn has_instructions(&self) -> bool {
        self.source().has_instructions()
    }
}
