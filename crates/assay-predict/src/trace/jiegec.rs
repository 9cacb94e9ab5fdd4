//! The traces of jiegec/cbp-experiments, version 0.
//!
//! A header of nine u64, little endian: `CBPEXP!!`, version, number of entries, their offset and compressed size, number
//! of branches and their offset, number of images and their offset. The branches are a table: address u64, target u64,
//! length u32, type u32 (0 direct jump, 1 indirect jump, 2 direct call, 3 indirect call, 4 return, 5 conditional), one
//! row per address and target. The entries are zstd over u32: the row in bits 30:0, taken in bit 31. Images (what was
//! mapped where) are not read. Instructions between branches are not in the format. Source: the format's description in
//! that repository (MIT licence).
//!
//! Known limits: the table must lie in a file that can be wound, as the format puts it behind the entries.

use super::source::{BATCH, Batch, MAX_SITES, Sites, TraceBytes, TraceError, TraceFault, TraceSource, word};
use super::{Branch, BranchClass, BranchSite};
use std::io::{BufReader, Read, Seek, SeekFrom, Take};

/// What a file begins with.
pub const MAGIC: [u8; 8] = *b"CBPEXP!!";

const HEADER_BYTES: usize = 72;
const ROW_BYTES: usize = 24;
const TAKEN: u32 = 1 << 31;

/// One row of the table.
#[derive(Clone, Copy)]
struct JiegecRow {
    pc: u64,
    target: u64,
    site: u32,
    class: BranchClass,
}

/// A file being read.
pub struct JiegecReader<R: Read> {
    rows: Vec<JiegecRow>,
    sites: Sites,
    entries: TraceBytes<zstd::Decoder<'static, BufReader<Take<R>>>>,
    have: u64,
    promised: u64,
}

impl<R: Read + Seek> JiegecReader<R> {
    /// Reads the header and the table of branches.
    ///
    /// # Errors
    /// An empty file, another format or version, a table that is cut short or impossible, offsets beyond the end.
    pub fn new(mut inner: R) -> Result<JiegecReader<R>, TraceError> {
        let header = JiegecHeader::read(&mut inner)?;
        let at = header.branches_offset;
        inner.seek(SeekFrom::Start(at)).map_err(|error| TraceError::read(at, &error))?;
        let mut input = TraceBytes::new(inner.by_ref().take(header.branches * ROW_BYTES as u64));
        let (mut rows, mut sites) = (Vec::new(), Sites::default());
        for row in 0..header.branches {
            let place = at + row * ROW_BYTES as u64;
            let cut = TraceFault::Cut { have: 0, promised: Some(header.entries) };
            let bytes = input.array()?.ok_or_else(|| TraceError::at_byte(place, cut))?;
            rows.push(parse_row(bytes, &mut sites).map_err(|fault| TraceError::at_byte(place, fault))?);
        }
        let at = header.entries_offset;
        inner.seek(SeekFrom::Start(at)).map_err(|error| TraceError::read(at, &error))?;
        let decoder = zstd::Decoder::new(inner.take(header.entries_bytes));
        let decoder = decoder.map_err(|error| TraceError::read(at, &error))?;
        Ok(JiegecReader { rows, sites, entries: TraceBytes::new(decoder), have: 0, promised: header.entries })
    }
}

struct JiegecHeader {
    entries: u64,
    entries_offset: u64,
    entries_bytes: u64,
    branches: u64,
    branches_offset: u64,
}

impl JiegecHeader {
    fn read(inner: &mut impl Read) -> Result<JiegecHeader, TraceError> {
        let mut input = TraceBytes::new(inner.take(HEADER_BYTES as u64));
        let begin = input.peek(HEADER_BYTES)?;
        if begin.is_empty() {
            return Err(TraceError::at_byte(0, TraceFault::Empty));
        }
        let known = begin.len().min(MAGIC.len());
        if begin[..known] != MAGIC[..known] {
            return Err(TraceError::at_byte(
                0,
                TraceFault::Format { expected: "a trace of cbp-experiments" },
            ));
        }
        if begin.len() < HEADER_BYTES {
            let cut = TraceFault::Cut { have: 0, promised: None };
            return Err(TraceError::at_byte(begin.len() as u64, cut));
        }
        let field = |number: usize| word(begin, number * 8);
        if field(1) != 0 {
            return Err(TraceError::at_byte(8, TraceFault::Version { found: field(1) }));
        }
        if field(5) > MAX_SITES as u64 {
            let fault = TraceFault::TooMany { what: "places that branch", limit: MAX_SITES as u64 };
            return Err(TraceError::at_byte(40, fault));
        }
        Ok(JiegecHeader {
            entries: field(2),
            entries_offset: field(3),
            entries_bytes: field(4),
            branches: field(5),
            branches_offset: field(6),
        })
    }
}

fn parse_row(bytes: [u8; ROW_BYTES], sites: &mut Sites) -> Result<JiegecRow, TraceFault> {
    let (pc, target, last) = (word(&bytes, 0), word(&bytes, 8), word(&bytes, 16));
    let (length, kind) = (last as u32, last >> 32);
    let class = match kind {
        0 => BranchClass::JUMP,
        1 => BranchClass::INDIRECT_JUMP,
        2 => BranchClass::CALL,
        3 => BranchClass::INDIRECT_CALL,
        4 => BranchClass::RETURN,
        5 => BranchClass::CONDITIONAL,
        _ => return Err(TraceFault::Field { name: "the type of a branch", value: kind }),
    };
    let length = u8::try_from(length)
        .map_err(|_| TraceFault::Field { name: "the length of a branch", value: length.into() })?;
    let site = sites.number(pc, length, class, true, target)?;
    Ok(JiegecRow { pc, target, site, class })
}

impl<R: Read> JiegecReader<R> {
    /// Branches of the whole stream, as the header says.
    pub fn promised(&self) -> u64 {
        self.promised
    }

    fn entry(&self, entry: u32) -> Result<Branch, TraceFault> {
        let number = entry & !TAKEN;
        let row = self.rows.get(number as usize);
        let row = row.ok_or(TraceFault::Field { name: "the number of a branch", value: number.into() })?;
        let taken = entry & TAKEN != 0;
        if !taken && !row.class.is_conditional() {
            return Err(TraceFault::Field { name: "the outcome of an unconditional branch", value: 0 });
        }
        Ok(Branch::new(row.pc, row.target, row.site, row.class, taken, 0))
    }
}

impl<R: Read> TraceSource for JiegecReader<R> {
    fn next(&mut self, batch: &mut Batch) -> Result<bool, TraceError> {
        batch.stream = 0;
        batch.branches.clear();
        while self.have < self.promised && batch.branches.len() < BATCH {
            // The place is that among the entries: the byte of the file is the decompressor's secret.
            let place = self.entries.position();
            let Some(bytes) = self.entries.array()? else {
                let cut = TraceFault::Cut { have: self.have, promised: Some(self.promised) };
                return Err(TraceError::at_byte(place, cut));
            };
            let branch = self.entry(u32::from_le_bytes(bytes));
            batch.branches.push(branch.map_err(|fault| TraceError::at_byte(place, fault))?);
            self.have += 1;
        }
        Ok(!batch.branches.is_empty())
    }

    fn sites(&self, _: u32) -> &[BranchSite] {
        self.sites.list()
    }

    fn has_instructions(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::TracePlace;
    use super::*;
    use std::io::Cursor;

    type Row = (u64, u64, u32, u32);

    /// A file with the table behind the entries, as the tracers write it.
    fn file(rows: &[Row], entries: &[u32]) -> Vec<u8> {
        let plain: Vec<u8> = entries.iter().flat_map(|entry| entry.to_le_bytes()).collect();
        let packed = zstd::encode_all(&plain[..], 3).unwrap();
        let table = (HEADER_BYTES + packed.len()) as u64;
        let numbers = [0, entries.len() as u64, 72, packed.len() as u64, rows.len() as u64, table, 0, 0];
        let mut bytes = MAGIC.to_vec();
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        bytes.extend(packed);
        for (pc, target, length, kind) in rows {
            bytes.extend(pc.to_le_bytes().iter().chain(&target.to_le_bytes()));
            bytes.extend(length.to_le_bytes().iter().chain(&kind.to_le_bytes()));
        }
        bytes
    }

    fn read(bytes: &[u8]) -> (Vec<Branch>, Result<bool, TraceError>) {
        let mut batch = Batch::default();
        let result = JiegecReader::new(Cursor::new(bytes)).and_then(|mut reader| reader.next(&mut batch));
        (batch.branches, result)
    }

    const ROWS: [Row; 3] = [(0x1000, 0x2000, 2, 5), (0x2000, 0x1000, 3, 1), (0x2000, 0x3000, 3, 1)];

    #[test]
    fn reads_entries_through_the_table() {
        let bytes = file(&ROWS, &[TAKEN, TAKEN | 1, 0, TAKEN | 2]);
        let (branches, result) = read(&bytes);
        assert_eq!(result, Ok(true));
        let expected = [
            Branch::new(0x1000, 0x2000, 0, BranchClass::CONDITIONAL, true, 0),
            Branch::new(0x2000, 0x1000, 1, BranchClass::INDIRECT_JUMP, true, 0),
            Branch::new(0x1000, 0x2000, 0, BranchClass::CONDITIONAL, false, 0),
            Branch::new(0x2000, 0x3000, 1, BranchClass::INDIRECT_JUMP, true, 0),
        ];
        assert_eq!(branches, expected);
        let mut reader = JiegecReader::new(Cursor::new(&bytes)).unwrap();
        assert_eq!(reader.promised(), 4);
        assert!(!reader.has_instructions());
        let mut batch = Batch::default();
        assert_eq!((reader.next(&mut batch), reader.next(&mut batch)), (Ok(true), Ok(false)));
        let site =
            BranchSite { pc: 0x1000, length: 2, class: BranchClass::CONDITIONAL, target: Some(0x2000) };
        assert_eq!(reader.sites(0)[0], site);
        assert_eq!(reader.sites(0)[1].target, None);
    }

    #[test]
    fn every_class_has_its_number() {
        let rows: Vec<Row> = (0..6).map(|kind| (0x1000, 0x2000, 4, kind)).collect();
        let entries: Vec<u32> = (0..6).map(|row| row | TAKEN).collect();
        let classes: Vec<BranchClass> = read(&file(&rows, &entries)).0.iter().map(Branch::class).collect();
        let (jump, call) = (
            [BranchClass::JUMP, BranchClass::INDIRECT_JUMP],
            [BranchClass::CALL, BranchClass::INDIRECT_CALL],
        );
        assert_eq!(classes, [jump, call, [BranchClass::RETURN, BranchClass::CONDITIONAL]].concat());
    }

    #[test]
    fn refuses_what_the_format_cannot_mean() {
        let fault = |bytes: &[u8]| read(bytes).1.unwrap_err().fault;
        assert_eq!(fault(b""), TraceFault::Empty);
        assert_eq!(fault(b"CBPNGAmp"), TraceFault::Format { expected: "a trace of cbp-experiments" });
        assert_eq!(fault(&MAGIC), TraceFault::Cut { have: 0, promised: None });
        let whole = file(&ROWS, &[TAKEN; 3]);
        let with = |field: usize, value: u64| {
            let mut bytes = whole.clone();
            bytes[field * 8..field * 8 + 8].copy_from_slice(&value.to_le_bytes());
            bytes
        };
        assert_eq!(fault(&with(1, 7)), TraceFault::Version { found: 7 });
        assert_eq!(fault(&with(2, 1 << 60)), TraceFault::Cut { have: 3, promised: Some(1 << 60) });
        assert!(matches!(fault(&with(5, 1 << 60)), TraceFault::TooMany { .. }));
        assert_eq!(fault(&with(6, 1 << 40)), TraceFault::Cut { have: 0, promised: Some(3) });
        assert!(matches!(fault(&with(3, 73)), TraceFault::Read { .. }), "entries that are no zstd");
        assert_eq!(
            fault(&file(&[(0, 0, 0, 6)], &[])),
            TraceFault::Field { name: "the type of a branch", value: 6 }
        );
        assert_eq!(
            fault(&file(&[(0, 0, 256, 5)], &[])),
            TraceFault::Field { name: "the length of a branch", value: 256 }
        );
        let (branches, result) = read(&file(&ROWS, &[TAKEN, 3]));
        let beyond = TraceError::new(
            TracePlace::Byte(4),
            TraceFault::Field { name: "the number of a branch", value: 3 },
        );
        assert_eq!((branches.len(), result), (1, Err(beyond)));
        let never = TraceFault::Field { name: "the outcome of an unconditional branch", value: 0 };
        assert_eq!(fault(&file(&ROWS, &[1])), never);
    }
}
