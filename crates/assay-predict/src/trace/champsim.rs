//! ChampSim's instruction records, uncompressed.
//!
//! 64 bytes per instruction, little endian: address u64, is branch u8, taken u8, two destination registers u8, four source
//! registers u8, two destination and four source addresses u64. The class of a branch is what it reads and writes: 6 is
//! the stack pointer, 25 the flags, 26 the instruction pointer, any other number but 0 another register. There is no
//! target: a taken branch went to the next record's address. Source: inc/trace_instruction.h and inc/instruction.h of
//! ChampSim (Apache-2.0).
//!
//! Known limits: a branch that is not taken gets the address of the next record as its target, its own is not there;
//! where the stream jumps between a branch and the next record (a signal), that jump is all that is left of the target.
//! A last branch without a record behind it cannot be read.

use super::source::{BATCH, Batch, Sites, TraceBytes, TraceError, TraceFault, TraceSource, word};
use super::{Branch, BranchClass, BranchKind, BranchSite};
use std::io::{self, Read, Write};

/// Bytes of a record.
pub const RECORD_BYTES: usize = 64;
const STACK: u8 = 6;
const FLAGS: u8 = 25;
const POINTER: u8 = 26;
/// A register that is none of the three.
const OTHER: u8 = 1;

/// An uncompressed file being read.
pub struct ChampSimReader<R> {
    input: TraceBytes<R>,
    sites: Sites,
    /// The branch that waits for the next record, and its place.
    waiting: Option<(u64, u64, BranchClass, bool, u32)>,
    since_branch: u32,
    branches: u64,
    instructions: u64,
}

impl<R: Read> ChampSimReader<R> {
    /// Looks whether there is anything.
    ///
    /// # Errors
    /// An empty file.
    pub fn new(inner: R) -> Result<ChampSimReader<R>, TraceError> {
        let mut input = TraceBytes::new(inner);
        if input.peek(1)?.is_empty() {
            return Err(TraceError::at_byte(0, TraceFault::Empty));
        }
        let sites = Sites::default();
        Ok(ChampSimReader { input, sites, waiting: None, since_branch: 0, branches: 0, instructions: 0 })
    }

    /// Instructions read so far.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Takes a record, and gives the branch that waited for it.
    fn record(&mut self, place: u64, bytes: &[u8; RECORD_BYTES]) -> Result<Option<Branch>, TraceError> {
        let at = |offset: u64, fault: TraceFault| TraceError::at_byte(place + offset, fault);
        for (offset, name) in [(8, "the mark of a branch"), (9, "the outcome of an instruction")] {
            let value = u64::from(bytes[offset]);
            if value > 1 {
                return Err(at(offset as u64, TraceFault::Field { name, value }));
            }
        }
        let pc = word(bytes, 0);
        let done = self.arrive(pc).map_err(|fault| at(0, fault))?;
        self.instructions += 1;
        self.since_branch = self.since_branch.saturating_add(1);
        if let Some((class, taken)) = classify(bytes) {
            let gap = std::mem::take(&mut self.since_branch);
            self.waiting = Some((place, pc, class, taken, gap));
        }
        Ok(done)
    }

    /// The branch that waited is complete once the next address is known.
    fn arrive(&mut self, next: u64) -> Result<Option<Branch>, TraceFault> {
        let Some((_, pc, class, taken, gap)) = self.waiting.take() else { return Ok(None) };
        let site = self.sites.number(pc, 0, class, taken, next)?;
        self.branches += 1;
        Ok(Some(Branch::new(pc, next, site, class, taken, gap)))
    }
}

impl<R: Read> TraceSource for ChampSimReader<R> {
    fn next(&mut self, batch: &mut Batch) -> Result<bool, TraceError> {
        batch.stream = 0;
        batch.branches.clear();
        while batch.branches.len() < BATCH {
            let place = self.input.position();
            let Some(bytes) = self.input.array::<RECORD_BYTES>()? else {
                if !self.input.peek(1)?.is_empty() {
                    let cut = TraceFault::Cut { have: self.branches, promised: None };
                    return Err(TraceError::at_byte(place, cut));
                }
                break;
            };
            batch.branches.extend(self.record(place, &bytes)?);
        }
        Ok(!batch.branches.is_empty())
    }

    fn sites(&self, _: u32) -> &[BranchSite] {
        self.sites.list()
    }
}

/// Class and outcome of a record, as ChampSim finds them; `None` for what is no branch.
fn classify(bytes: &[u8; RECORD_BYTES]) -> Option<(BranchClass, bool)> {
    let (destinations, sources) = (&bytes[10..12], &bytes[12..16]);
    if !destinations.contains(&POINTER) {
        return None;
    }
    let writes_stack = destinations.contains(&STACK);
    let reads = |register: u8| sources.contains(&register);
    let (stack, flags, pointer) = (reads(STACK), reads(FLAGS), reads(POINTER));
    let other = sources.iter().any(|register| ![0, STACK, FLAGS, POINTER].contains(register));
    let class = match (stack, pointer) {
        (false, _) if !flags && !other => BranchClass::JUMP,
        (false, false) if !flags => BranchClass::INDIRECT_JUMP,
        (false, true) if !writes_stack => return Some((BranchClass::CONDITIONAL, bytes[9] == 1)),
        (true, true) if writes_stack && !flags => {
            if other {
                BranchClass::INDIRECT_CALL
            } else {
                BranchClass::CALL
            }
        }
        (true, false) if writes_stack => BranchClass::RETURN,
        // None of ChampSim's kinds: a jump whose target is unknown, where it is taken.
        _ => return (bytes[9] == 1).then_some((BranchClass::INDIRECT_JUMP, true)),
    };
    Some((class, true))
}

/// An uncompressed file being written. Between two branches it puts as many instructions that do nothing as the
/// stream counts, from where the first branch went towards the second.
pub struct ChampSimWriter<W> {
    out: W,
    /// Where the next instruction lies, after the first branch.
    here: Option<u64>,
    /// Whether the last branch was taken.
    taken: bool,
    /// Branches whose class ChampSim does not know: conditional calls, returns and indirect jumps, written as conditional.
    pub flattened: u64,
    /// Branches whose target is not the next record, and is lost.
    pub lost_targets: u64,
}

impl<W: Write> ChampSimWriter<W> {
    /// A file to be filled.
    pub fn new(out: W) -> ChampSimWriter<W> {
        ChampSimWriter { out, here: None, taken: false, flattened: 0, lost_targets: 0 }
    }

    /// Writes branches; `sites` gives the lengths, from which the address behind a branch follows.
    ///
    /// # Errors
    /// The writer's own.
    pub fn write(&mut self, sites: &[BranchSite], branches: &[Branch]) -> io::Result<()> {
        for branch in branches {
            self.fill(branch)?;
            let class = branch.class();
            if class.is_conditional() && class != BranchClass::CONDITIONAL {
                self.flattened += 1;
            }
            let (destinations, sources) = registers(class);
            self.emit(branch.pc, Some(branch.taken()), destinations, sources)?;
            let length = sites.get(branch.site as usize).map_or(0, |site| u64::from(site.length));
            let behind = branch.pc.wrapping_add(if length == 0 { 1 } else { length });
            self.taken = branch.taken();
            self.here = Some(if branch.taken() { branch.target } else { behind });
        }
        Ok(())
    }

    /// Instructions between the last branch and this one.
    fn fill(&mut self, branch: &Branch) -> io::Result<()> {
        let fillers = u64::from(branch.instructions().saturating_sub(1));
        let Some(here) = self.here else {
            let begin = branch.pc.wrapping_sub(fillers);
            return (0..fillers)
                .try_for_each(|step| self.emit(begin.wrapping_add(step), None, [0; 2], [0; 4]));
        };
        if fillers == 0 && self.taken && here != branch.pc {
            self.lost_targets += 1;
        }
        let stride = branch.pc.checked_sub(here).map_or(1, |span| (span / fillers.max(1)).clamp(1, 15));
        (0..fillers).try_for_each(|step| self.emit(here.wrapping_add(step * stride), None, [0; 2], [0; 4]))
    }

    fn emit(
        &mut self,
        pc: u64,
        outcome: Option<bool>,
        destinations: [u8; 2],
        sources: [u8; 4],
    ) -> io::Result<()> {
        let mut record = [0; RECORD_BYTES];
        record[..8].copy_from_slice(&pc.to_le_bytes());
        record[8] = outcome.is_some().into();
        record[9] = outcome.unwrap_or(false).into();
        record[10..12].copy_from_slice(&destinations);
        record[12..16].copy_from_slice(&sources);
        self.out.write_all(&record)
    }

    /// Writes the record that the last branch's target is read from, and gives the writer back.
    ///
    /// # Errors
    /// The writer's own.
    pub fn finish(mut self) -> io::Result<W> {
        if let Some(here) = self.here {
            self.emit(here, None, [0; 2], [0; 4])?;
        }
        Ok(self.out)
    }
}

/// What a branch of this class writes and reads.
fn registers(class: BranchClass) -> ([u8; 2], [u8; 4]) {
    if class.is_conditional() {
        return ([POINTER, 0], [POINTER, FLAGS, 0, 0]);
    }
    match (class.kind(), class.is_indirect()) {
        (BranchKind::Jump, false) => ([POINTER, 0], [POINTER, 0, 0, 0]),
        (BranchKind::Jump, true) => ([POINTER, 0], [OTHER, 0, 0, 0]),
        (BranchKind::Call, false) => ([POINTER, STACK], [POINTER, STACK, 0, 0]),
        (BranchKind::Call, true) => ([POINTER, STACK], [POINTER, STACK, OTHER, 0]),
        (BranchKind::Return, _) => ([POINTER, STACK], [STACK, 0, 0, 0]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::TracePlace;
    use super::*;

    fn record(pc: u64, marks: [u8; 2], destinations: [u8; 2], sources: [u8; 4]) -> Vec<u8> {
        let mut bytes = pc.to_le_bytes().to_vec();
        bytes.extend(marks.iter().chain(&destinations).chain(&sources));
        bytes.resize(RECORD_BYTES, 0);
        bytes
    }

    fn read(bytes: &[u8]) -> (Vec<Branch>, Result<bool, TraceError>) {
        let mut batch = Batch::default();
        let result = ChampSimReader::new(bytes).and_then(|mut reader| reader.next(&mut batch));
        (batch.branches, result)
    }

    fn class_of(destinations: [u8; 2], sources: [u8; 4]) -> Option<BranchClass> {
        let bytes = [record(0, [1, 1], destinations, sources), record(9, [0, 0], [0; 2], [0; 4])].concat();
        read(&bytes).0.first().map(Branch::class)
    }

    #[test]
    fn the_class_follows_from_what_is_read_and_written() {
        assert_eq!(class_of([26, 0], [26, 0, 0, 0]), Some(BranchClass::JUMP));
        assert_eq!(class_of([26, 0], [0; 4]), Some(BranchClass::JUMP));
        assert_eq!(class_of([26, 0], [3, 0, 0, 0]), Some(BranchClass::INDIRECT_JUMP));
        assert_eq!(class_of([26, 0], [26, 25, 0, 0]), Some(BranchClass::CONDITIONAL));
        assert_eq!(class_of([26, 0], [26, 3, 0, 0]), Some(BranchClass::CONDITIONAL), "compare and branch");
        assert_eq!(class_of([26, 6], [26, 6, 0, 0]), Some(BranchClass::CALL));
        assert_eq!(class_of([6, 26], [26, 6, 3, 0]), Some(BranchClass::INDIRECT_CALL));
        assert_eq!(class_of([26, 6], [6, 0, 0, 0]), Some(BranchClass::RETURN));
        assert_eq!(class_of([26, 0], [25, 0, 0, 0]), Some(BranchClass::INDIRECT_JUMP), "none of the kinds");
        assert_eq!(class_of([6, 0], [6, 26, 0, 0]), None, "a push of the instruction pointer");
    }

    #[test]
    fn gaps_are_records_and_targets_the_next_address() {
        let plain = |pc| record(pc, [0, 0], [1, 0], [2, 0, 0, 0]);
        let branch = |pc, taken| record(pc, [1, taken], [26, 0], [26, 25, 0, 0]);
        let bytes = [plain(1), plain(2), branch(3, 1), branch(40, 0), plain(42), branch(44, 1)].concat();
        let (branches, result) = read(&bytes);
        assert_eq!(result, Ok(true));
        let expected = [
            Branch::new(3, 40, 0, BranchClass::CONDITIONAL, true, 3),
            Branch::new(40, 42, 1, BranchClass::CONDITIONAL, false, 1),
        ];
        assert_eq!(branches, expected, "the last has nothing behind it");
    }

    #[test]
    fn refuses_garbage_and_cut_records_with_their_place() {
        let good = record(1, [1, 1], [26, 0], [26, 0, 0, 0]);
        let field = |offset: usize, value| {
            let mut bytes = [good.clone(), good.clone()].concat();
            bytes[64 + offset] = value;
            let error = read(&bytes).1.unwrap_err();
            assert!(matches!(error.fault, TraceFault::Field { .. }));
            error.place
        };
        assert_eq!((field(8, 2), field(9, 255)), (TracePlace::Byte(72), TracePlace::Byte(73)));
        let error = read(&[&good[..], &good, &good[..63]].concat()).1.unwrap_err();
        assert_eq!(
            (error.place, error.fault),
            (TracePlace::Byte(128), TraceFault::Cut { have: 1, promised: None })
        );
        assert_eq!(read(&[]).1.unwrap_err().fault, TraceFault::Empty);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let sites = [
            BranchSite { pc: 100, length: 2, class: BranchClass::CONDITIONAL, target: None },
            BranchSite { pc: 200, length: 5, class: BranchClass::CALL, target: None },
        ];
        let branches = [
            Branch::new(100, 102, 0, BranchClass::CONDITIONAL, false, 3),
            Branch::new(200, 100, 1, BranchClass::CALL, true, 1000),
            Branch::new(100, 190, 0, BranchClass::CONDITIONAL, true, 1),
            Branch::new(200, 7, 1, BranchClass::CALL, true, 2),
        ];
        let mut writer = ChampSimWriter::new(Vec::new());
        writer.write(&sites, &branches[..1]).unwrap();
        writer.write(&sites, &branches[1..]).unwrap();
        assert_eq!((writer.flattened, writer.lost_targets), (0, 0));
        let bytes = writer.finish().unwrap();
        assert_eq!(bytes.len(), (3 + 1000 + 1 + 2 + 1) * RECORD_BYTES);
        assert_eq!(read(&bytes).0, branches);
    }

    #[test]
    fn every_class_survives_but_the_conditional_ones_of_other_kinds() {
        let classes: Vec<BranchClass> = (0..12)
            .filter_map(BranchClass::from_bits)
            .filter(|class| class.kind() != BranchKind::Return || class.is_indirect())
            .collect();
        let branches: Vec<Branch> =
            classes.iter().map(|&class| Branch::new(5, 5, 0, class, true, 1)).collect();
        let mut writer = ChampSimWriter::new(Vec::new());
        writer.write(&[], &branches).unwrap();
        assert_eq!(writer.flattened, 4);
        for (before, after) in branches.iter().zip(read(&writer.finish().unwrap()).0) {
            let expected =
                if before.class().is_conditional() { BranchClass::CONDITIONAL } else { before.class() };
            assert_eq!(after.class(), expected);
        }
    }

    #[test]
    fn a_target_that_is_not_where_the_stream_goes_on_is_counted_as_lost() {
        let branches = [
            Branch::new(8, 100, 0, BranchClass::JUMP, true, 1),
            Branch::new(50, 100, 1, BranchClass::JUMP, true, 1),
        ];
        let mut writer = ChampSimWriter::new(Vec::new());
        writer.write(&[], &branches).unwrap();
        assert_eq!(writer.lost_targets, 1);
        assert_eq!(read(&writer.finish().unwrap()).0[0].target, 50);
    }
}
