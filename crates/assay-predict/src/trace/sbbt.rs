//! SBBT 1.0.0, MBPlib's binary format of branches, uncompressed.
//!
//! A header of 24 bytes (`SBBT\n`, three version bytes, instructions and branches as u64), then 16 bytes per branch, little
//! endian: word 0 = class in bits 3:0, zeros in 10:4, outcome in bit 11, bits 51:0 of the address above; word 1 =
//! instructions since the previous branch, this one included, in bits 11:0, bits 51:0 of the target above. Addresses are
//! sign-extended. Source: the format's facts as MBPlib documents them.
//!
//! Before 2023 MBPlib wrote the outcome to bit 0 of word 0 and the class to bits 11:8, as return = 1, call = 2,
//! conditional = 4, indirect = 8, under the same name and version; a trace like that is still handed round. The zeros
//! of today's layout tell the two apart. It is of A32 code, where any branch may be predicated, and calls such ones
//! unconditional: where one was not taken (0.25 % of the branches), it is read as conditional, which it was. So control
//! goes on behind it, and no stack of returns moves.

use super::source::{BATCH, Batch, Sites, TraceBytes, TraceError, TraceFault, TraceSource, word};
use super::{Branch, BranchClass, BranchKind, BranchSite};
use std::io::{self, Read, Write};

const HEADER_BYTES: usize = 24;
const RECORD_BYTES: usize = 16;
/// What a file begins with: the name and version 1.0.0.
pub const MAGIC: [u8; 8] = [b'S', b'B', b'B', b'T', b'\n', 1, 0, 0];
/// The most instructions that a record can say.
pub const MAX_INSTRUCTIONS: u32 = 0xfff;

/// What is wrong with a file that should be SBBT.
pub type SbbtError = TraceError;

/// Where the class and the outcome lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SbbtLayout {
    /// As documented.
    Documented,
    /// As written before 2023.
    Stale,
}

/// An uncompressed file being read.
pub struct SbbtReader<R> {
    input: TraceBytes<R>,
    words: FirstWords,
    instructions: u64,
    promised: u64,
    have: u64,
}

impl<R: Read> SbbtReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// An empty file, another format, another version, a header cut short.
    pub fn new(inner: R, layout: SbbtLayout) -> Result<SbbtReader<R>, TraceError> {
        let mut input = TraceBytes::new(inner);
        let begin = input.peek(8)?;
        if begin.is_empty() {
            return Err(TraceError::at_byte(0, TraceFault::Empty));
        }
        if begin[..begin.len().min(5)] != MAGIC[..begin.len().min(5)] {
            return Err(TraceError::at_byte(0, TraceFault::Format { expected: "SBBT 1.0.0" }));
        }
        if begin.len() == 8 && begin[5..] != MAGIC[5..] {
            let found = u64::from(begin[5]) << 16 | u64::from(begin[6]) << 8 | u64::from(begin[7]);
            return Err(TraceError::at_byte(5, TraceFault::Version { found }));
        }
        let Some(header) = input.array::<HEADER_BYTES>()? else {
            return Err(TraceError::at_byte(input.position(), TraceFault::Cut { have: 0, promised: None }));
        };
        let (instructions, promised) = (word(&header, 8), word(&header, 16));
        let words = FirstWords { layout, seen: nothing_seen(), sites: Sites::default() };
        Ok(SbbtReader { input, words, instructions, promised, have: 0 })
    }

    /// Instructions of the whole stream, as the header says.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Branches of the whole stream, as the header says.
    pub fn promised(&self) -> u64 {
        self.promised
    }
}

/// A record's first word and what it says. A trace is made of few of them, one for each site and outcome: a look-up takes
/// the place of decisions, which would be mispredicted as often as the program's branches are.
#[derive(Clone, Copy)]
struct SeenWord {
    first: u64,
    site: u32,
    bits: u32,
}

/// Words that are remembered, 1 MB; a program of many branches would forget nearly twice as many in half of it.
const SEEN: usize = 1 << 16;

/// Where a first word is remembered. Both outcomes lie side by side, and branches near each other in different slots: with
/// a hash that spreads them over all slots, words of one program met so often that reading took half as long again.
#[inline]
fn slot(first: u64) -> usize {
    let pc = first >> 12;
    // The outcome is the one bit or the other, and the other then says nothing of it.
    let outcome = first >> 11 ^ first;
    ((pc ^ pc >> 2 ^ pc >> 16) << 1 | outcome & 1) as usize % SEEN
}

/// Nothing was seen yet: every slot holds a word that belongs to another.
fn nothing_seen() -> Box<[SeenWord; SEEN]> {
    let mut seen = vec![SeenWord { first: 0, site: 0, bits: 0 }; SEEN];
    seen[slot(0)].first = 1;
    seen.try_into().unwrap_or_else(|_| unreachable!("as many as were made"))
}

/// Records that are decoded before it is asked whether all of their words were seen: then nothing is decided for each, and
/// their number is known.
const GROUP: usize = 16;

/// What the first words of records say.
struct FirstWords {
    layout: SbbtLayout,
    seen: Box<[SeenWord; SEEN]>,
    sites: Sites,
}

impl FirstWords {
    /// Appends the branches of records, up to the first that cannot be.
    fn append(
        &mut self,
        records: &[[u8; RECORD_BYTES]],
        branches: &mut Vec<Branch>,
    ) -> Result<(), TraceFault> {
        for group in records.chunks(GROUP) {
            let (before, mut difference) = (branches.len(), 0);
            branches.extend(group.iter().map(|record| {
                let (first, second) = (word(record, 0), word(record, 8));
                let seen = &self.seen[slot(first)];
                difference |= seen.first ^ first;
                branch(seen, first, second)
            }));
            if difference != 0 {
                branches.truncate(before);
                self.append_one_by_one(group, branches)?;
            }
        }
        Ok(())
    }

    /// Appends the branches of records of which some were not seen lately. Meeting one forgets another, so each is looked up
    /// when its turn comes.
    #[cold]
    fn append_one_by_one(
        &mut self,
        records: &[[u8; RECORD_BYTES]],
        branches: &mut Vec<Branch>,
    ) -> Result<(), TraceFault> {
        for record in records {
            let (first, second) = (word(record, 0), word(record, 8));
            let mut seen = self.seen[slot(first)];
            if seen.first != first {
                seen = self.meet(first, address(second))?;
            }
            branches.push(branch(&seen, first, second));
        }
        Ok(())
    }

    /// What a first word says that was not seen lately.
    #[cold]
    fn meet(&mut self, first: u64, target: u64) -> Result<SeenWord, TraceFault> {
        let (class, taken) = class_and_outcome(self.layout, first)?;
        if !class.is_conditional() && !taken {
            return Err(TraceFault::Field { name: "the outcome of an unconditional branch", value: 0 });
        }
        let site = self.sites.number(address(first), 0, class, taken, target)?;
        let seen = SeenWord { first, site, bits: Branch::bits(class, taken) };
        self.seen[slot(first)] = seen;
        Ok(seen)
    }
}

#[inline]
fn branch(seen: &SeenWord, first: u64, second: u64) -> Branch {
    let instructions = second as u32 & MAX_INSTRUCTIONS;
    Branch::of_bits(address(first), address(second), seen.site, seen.bits, instructions)
}

fn class_and_outcome(layout: SbbtLayout, first: u64) -> Result<(BranchClass, bool), TraceFault> {
    match layout {
        SbbtLayout::Documented => documented(first),
        SbbtLayout::Stale => stale(first),
    }
}

impl<R: Read> TraceSource for SbbtReader<R> {
    fn next(&mut self, batch: &mut Batch) -> Result<bool, TraceError> {
        batch.stream = 0;
        batch.branches.clear();
        batch.branches.reserve(BATCH);
        while self.have < self.promised && batch.branches.len() < BATCH {
            let place = self.input.position();
            let wanted = (self.promised - self.have).min((BATCH - batch.branches.len()) as u64) as usize;
            let records = self.input.records::<RECORD_BYTES>()?;
            if records.is_empty() {
                let cut = TraceFault::Cut { have: self.have, promised: Some(self.promised) };
                return Err(TraceError::at_byte(place, cut));
            }
            let before = batch.branches.len();
            let appended = self.words.append(&records[..records.len().min(wanted)], &mut batch.branches);
            let read = batch.branches.len() - before;
            self.have += read as u64;
            self.input.consume(read * RECORD_BYTES);
            appended.map_err(|fault| TraceError::at_byte(self.input.position(), fault))?;
        }
        if batch.branches.is_empty() && !self.input.peek(1)?.is_empty() {
            return Err(TraceError::at_byte(self.input.position(), TraceFault::Trailing));
        }
        Ok(!batch.branches.is_empty())
    }

    fn sites(&self, _: u32) -> &[BranchSite] {
        self.words.sites.list()
    }
}

fn documented(first: u64) -> Result<(BranchClass, bool), TraceFault> {
    let unused = first >> 4 & 0x7f;
    if unused != 0 {
        let is_stale = first & 0xfe == 0 && stale(first).is_ok();
        return Err(if is_stale {
            TraceFault::StaleSbbt
        } else {
            TraceFault::Field { name: "a field that should be zero", value: unused }
        });
    }
    let class = BranchClass::from_bits(first as u8 & 15).filter(|class| is_possible(*class));
    let class = class.ok_or(TraceFault::Field { name: "the class", value: first & 15 })?;
    Ok((class, first >> 11 & 1 != 0))
}

/// A return has its target from memory.
fn is_possible(class: BranchClass) -> bool {
    class.kind() != BranchKind::Return || class.is_indirect()
}

fn stale(first: u64) -> Result<(BranchClass, bool), TraceFault> {
    let (class, unused) = (first >> 8 & 15, first & 0xfe);
    if unused != 0 {
        return Err(TraceFault::Field { name: "a field that should be zero", value: unused });
    }
    let kind = match class & 3 {
        0 => BranchKind::Jump,
        1 => BranchKind::Return,
        2 => BranchKind::Call,
        _ => return Err(TraceFault::Field { name: "the class", value: class }),
    };
    let is_indirect = class & 8 != 0 || kind == BranchKind::Return;
    let taken = first & 1 != 0;
    Ok((BranchClass::new(kind, class & 4 != 0 || !taken, is_indirect), taken))
}

fn address(word: u64) -> u64 {
    (word as i64 >> 12) as u64
}

/// The sites, in the order of their first appearance, and the branches of a whole uncompressed file.
///
/// # Errors
/// Another format, too few records, an impossible record.
pub fn decode(bytes: &[u8]) -> Result<(Vec<BranchSite>, Vec<Branch>), SbbtError> {
    let mut reader = SbbtReader::new(bytes, SbbtLayout::Documented)?;
    let (mut batch, mut branches) = (Batch::default(), Vec::new());
    while reader.next(&mut batch)? {
        branches.extend_from_slice(&batch.branches);
    }
    Ok((reader.sites(0).to_vec(), branches))
}

/// An uncompressed file being written.
pub struct SbbtWriter<W> {
    out: W,
    left: u64,
    /// Branches of whose instructions the record could not say all.
    pub shortened: u64,
}

impl<W: Write> SbbtWriter<W> {
    /// Writes the header; as many branches must follow.
    ///
    /// # Errors
    /// The writer's own.
    pub fn new(mut out: W, instructions: u64, branches: u64) -> io::Result<SbbtWriter<W>> {
        out.write_all(&MAGIC)?;
        out.write_all(&instructions.to_le_bytes())?;
        out.write_all(&branches.to_le_bytes())?;
        Ok(SbbtWriter { out, left: branches, shortened: 0 })
    }

    /// Writes branches.
    ///
    /// # Errors
    /// An address of more than 52 bits, more branches than were announced, or the writer's own.
    pub fn write(&mut self, branches: &[Branch]) -> io::Result<()> {
        for branch in branches {
            self.left = self.left.checked_sub(1).ok_or_else(|| invalid("more branches than announced"))?;
            if branch.instructions() > MAX_INSTRUCTIONS {
                self.shortened += 1;
            }
            let flags = u64::from(branch.class().bits()) | u64::from(branch.taken()) << 11;
            let gap = u64::from(branch.instructions().min(MAX_INSTRUCTIONS));
            self.out.write_all(&(flags | upper(branch.pc)?).to_le_bytes())?;
            self.out.write_all(&(gap | upper(branch.target)?).to_le_bytes())?;
        }
        Ok(())
    }

    /// Gives the writer back once all announced branches are written.
    ///
    /// # Errors
    /// Fewer branches than were announced.
    pub fn finish(self) -> io::Result<W> {
        if self.left != 0 {
            return Err(invalid("fewer branches than announced"));
        }
        Ok(self.out)
    }
}

fn upper(value: u64) -> io::Result<u64> {
    if address(value << 12) == value {
        Ok(value << 12)
    } else {
        Err(invalid("SBBT holds addresses of 52 bits"))
    }
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

#[cfg(test)]
mod tests {
    use super::super::source::TracePlace;
    use super::*;

    fn file(records: &[[u64; 2]]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(100u64.to_le_bytes());
        bytes.extend((records.len() as u64).to_le_bytes());
        bytes.extend(records.iter().flatten().flat_map(|word| word.to_le_bytes()));
        bytes
    }

    fn fault(result: Result<(Vec<BranchSite>, Vec<Branch>), SbbtError>) -> (TracePlace, TraceFault) {
        result.map_err(|error| (error.place, error.fault)).unwrap_err()
    }

    #[test]
    fn reads_a_record_field_by_field_and_extends_the_sign_of_addresses() {
        let kernel = 0xffff_8000_0000_1000u64;
        let bytes = file(&[
            [0x40_1000 << 12 | 1 << 11 | 1, 0x40_2000 << 12 | 17],
            [kernel << 12 | 1 << 11 | 6, 4095],
            [0x40_1000 << 12 | 1, 0],
        ]);
        let (sites, branches) = decode(&bytes).unwrap();
        assert_eq!(branches[0], Branch::new(0x40_1000, 0x40_2000, 0, BranchClass::CONDITIONAL, true, 17));
        assert_eq!(branches[1], Branch::new(kernel, 0, 1, BranchClass::RETURN, true, 4095));
        assert_eq!(branches[2], Branch::new(0x40_1000, 0, 0, BranchClass::CONDITIONAL, false, 0));
        assert_eq!(sites[0].target, Some(0x40_2000));
        assert_eq!(sites[1].target, None);
    }

    #[test]
    fn refuses_another_format_a_truncated_file_and_an_impossible_record() {
        let format = TraceFault::Format { expected: "SBBT 1.0.0" };
        assert_eq!(fault(decode(b"BT9_SPA_TRACE_FORMAT and more text")), (TracePlace::Byte(0), format));
        assert_eq!(fault(decode(b"")), (TracePlace::Byte(0), TraceFault::Empty));
        assert_eq!(
            fault(decode(b"SBBT\n\x02\0\x01")),
            (TracePlace::Byte(5), TraceFault::Version { found: 0x2_0001 })
        );
        assert_eq!(fault(decode(&MAGIC)), (TracePlace::Byte(0), TraceFault::Cut { have: 0, promised: None }));
        let whole = file(&[[1, 0], [1, 0]]);
        let cut = TraceFault::Cut { have: 1, promised: Some(2) };
        assert_eq!(fault(decode(&whole[..whole.len() - 1])), (TracePlace::Byte(40), cut));
        let class = |value| TraceFault::Field { name: "the class", value };
        assert_eq!(fault(decode(&file(&[[1, 0], [13, 0]]))), (TracePlace::Byte(40), class(13)));
        assert_eq!(
            fault(decode(&file(&[[1 << 11 | 4, 0]]))),
            (TracePlace::Byte(24), class(4)),
            "a direct return"
        );
        let unused = TraceFault::Field { name: "a field that should be zero", value: 2 };
        assert_eq!(fault(decode(&file(&[[1 << 5, 0]]))), (TracePlace::Byte(24), unused));
        let outcome = TraceFault::Field { name: "the outcome of an unconditional branch", value: 0 };
        assert_eq!(fault(decode(&file(&[[8, 0]]))), (TracePlace::Byte(24), outcome));
        let mut longer = file(&[[1, 0]]);
        longer.push(0);
        assert_eq!(fault(decode(&longer)), (TracePlace::Byte(40), TraceFault::Trailing));
    }

    #[test]
    fn a_file_that_promises_more_than_memory_holds_is_read_as_far_as_it_goes() {
        let mut bytes = file(&[[1, 0]; 3]);
        bytes[16..24].copy_from_slice(&(1u64 << 60).to_le_bytes());
        let mut reader = SbbtReader::new(&bytes[..], SbbtLayout::Documented).unwrap();
        let mut batch = Batch::default();
        let error = reader.next(&mut batch).unwrap_err();
        assert_eq!(error.fault, TraceFault::Cut { have: 3, promised: Some(1 << 60) });
        assert_eq!(batch.branches.len(), 3);
    }

    #[test]
    fn the_layout_of_before_2023_is_told_apart_and_read_when_asked() {
        // A taken conditional, a direct call, a return and an indirect jump.
        let flags = [0x401, 0x201, 0x101, 0x801, 0x400];
        let bytes = file(&flags.map(|flags| [0x40_1000 << 12 | flags, 0x40_2000 << 12 | 7]));
        assert_eq!(fault(decode(&bytes)), (TracePlace::Byte(24), TraceFault::StaleSbbt));
        let mut reader = SbbtReader::new(&bytes[..], SbbtLayout::Stale).unwrap();
        let mut batch = Batch::default();
        assert!(reader.next(&mut batch).unwrap());
        let seen: Vec<(BranchClass, bool)> = batch.branches.iter().map(|b| (b.class(), b.taken())).collect();
        let conditional = BranchClass::CONDITIONAL;
        let expected = [
            (conditional, true),
            (BranchClass::CALL, true),
            (BranchClass::RETURN, true),
            (BranchClass::INDIRECT_JUMP, true),
            (conditional, false),
        ];
        assert_eq!(seen, expected);
        assert!(!reader.next(&mut batch).unwrap());
        let documented = file(&[[0x40_1000 << 12 | 1 << 11 | 8, 0]]);
        let error =
            SbbtReader::new(&documented[..], SbbtLayout::Stale).unwrap().next(&mut batch).unwrap_err();
        assert_eq!(error.fault, TraceFault::Field { name: "a field that should be zero", value: 8 });
        let both = file(&[[3 << 8, 0]]);
        let error = SbbtReader::new(&both[..], SbbtLayout::Stale).unwrap().next(&mut batch).unwrap_err();
        assert_eq!(error.fault, TraceFault::Field { name: "the class", value: 3 });
    }

    #[test]
    fn an_unconditional_branch_that_was_not_taken_is_read_as_conditional_in_the_layout_of_before_2023() {
        // A direct call, an indirect jump and a return, each once taken and once not.
        let flags = [0x201, 0x200, 0x801, 0x800, 0x101, 0x100];
        let bytes = file(&flags.map(|flags| [0x40_1000 << 12 | flags, 0x40_2000 << 12 | 7]));
        let mut reader = SbbtReader::new(&bytes[..], SbbtLayout::Stale).unwrap();
        let mut batch = Batch::default();
        assert!(reader.next(&mut batch).unwrap());
        let seen: Vec<(String, bool)> =
            batch.branches.iter().map(|branch| (branch.class().to_string(), branch.taken())).collect();
        let expected = ["call", "indirect jump", "return"];
        for (nth, name) in expected.into_iter().enumerate() {
            assert_eq!(seen[2 * nth], (name.to_owned(), true));
            assert_eq!(seen[2 * nth + 1], (format!("conditional {name}"), false));
        }
        // Of today's layout such a record is wrong.
        let documented = file(&[[0x40_1000 << 12 | 8, 0]]);
        let outcome = TraceFault::Field { name: "the outcome of an unconditional branch", value: 0 };
        assert_eq!(fault(decode(&documented)), (TracePlace::Byte(24), outcome));
    }

    #[test]
    fn what_is_written_is_read_again_and_long_gaps_are_counted() {
        let branches = [
            Branch::new(0x40_1000, 0x40_2000, 0, BranchClass::CONDITIONAL, false, 4095),
            Branch::new(0xffff_8000_0000_1000, 0x40_2000, 1, BranchClass::INDIRECT_CALL, true, 4096),
        ];
        let mut writer = SbbtWriter::new(Vec::new(), 8191, 2).unwrap();
        writer.write(&branches).unwrap();
        assert_eq!(writer.shortened, 1);
        let bytes = writer.finish().unwrap();
        let (_, read) = decode(&bytes).unwrap();
        let shortened =
            Branch::new(0xffff_8000_0000_1000, 0x40_2000, 1, BranchClass::INDIRECT_CALL, true, 4095);
        assert_eq!(read, [branches[0], shortened]);
        assert_eq!(SbbtReader::new(&bytes[..], SbbtLayout::Documented).unwrap().instructions(), 8191);
    }

    #[test]
    fn words_that_share_a_slot_are_told_apart_wherever_they_meet() {
        // No slot goes by a bit as high as this.
        let place = |far: bool| 0x40_1000_u64 | u64::from(far) << 44;
        let record = |far: bool| [place(far) << 12 | 1 << 11 | 1, 0x40_2000 << 12 | 1];
        assert_eq!(slot(record(false)[0]), slot(record(true)[0]));
        // Three groups; each file ends with a record that cannot be.
        let is_far: Vec<bool> = (0..3 * GROUP).map(|at| at % 5 < 2 || at % 7 == 0).collect();
        for good in [0, 1, GROUP - 1, GROUP, is_far.len()] {
            let mut records: Vec<[u64; 2]> = is_far[..good].iter().map(|far| record(*far)).collect();
            records.push([13, 0]);
            let bytes = file(&records);
            let mut reader = SbbtReader::new(&bytes[..], SbbtLayout::Documented).unwrap();
            let mut batch = Batch::default();
            let error = reader.next(&mut batch).unwrap_err();
            assert_eq!(error.place, TracePlace::Byte((HEADER_BYTES + good * RECORD_BYTES) as u64));
            let read: Vec<u64> = batch.branches.iter().map(|branch| branch.pc).collect();
            let expected: Vec<u64> = is_far[..good].iter().map(|far| place(*far)).collect();
            assert_eq!(read, expected);
            let sites = reader.sites(0);
            assert!(batch.branches.iter().all(|branch| sites[branch.site as usize].pc == branch.pc));
        }
    }

    #[test]
    fn a_writer_refuses_what_the_format_cannot_hold() {
        let wide = Branch::new(1 << 52, 0, 0, BranchClass::CONDITIONAL, true, 1);
        assert!(SbbtWriter::new(Vec::new(), 1, 1).unwrap().write(&[wide]).is_err());
        let narrow = Branch::new((1 << 51) - 1, 0, 0, BranchClass::CONDITIONAL, true, 1);
        let mut writer = SbbtWriter::new(Vec::new(), 1, 1).unwrap();
        writer.write(&[narrow]).unwrap();
        assert!(writer.write(&[narrow]).is_err());
        assert!(SbbtWriter::new(Vec::new(), 1, 1).unwrap().finish().is_err());
    }
}
