//! The instruction records of CBP2025 and CBP-NG, uncompressed.
//!
//! Per instruction, little endian: address u64, class u8; a load or store: address u64, size u8, base update u8, a store
//! also register offset u8; a branch: taken u8 and, only if taken, target u64; then the number of input registers u8 and
//! their names, the number of output registers u8 and their names, and a value per output register: 16 bytes for a vector
//! register (32 to 63, and any above 65), 8 for another, a base register that the access updates included. CBP-NG puts
//! `CBPNGAmp` in front. Instructions are AArch64: four bytes each. A branch that is not taken carries no target; it gets
//! the address behind it. Source: the reader in PierreMichaud-Inria/cbp-ng (MIT-style licence). Checked by: its test
//! trace, which gives the branches of its SBBT form; CBP2025's two sample traces were read to their last byte.

use super::source::{BATCH, Batch, Sites, TraceBytes, TraceError, TraceFault, TraceSource};
use super::{Branch, BranchClass, BranchSite};
use std::io::Read;

/// What a CBP-NG file begins with; CBP2025 files begin with their first instruction.
pub const MAGIC: [u8; 8] = *b"CBPNGAmp";

const LENGTH: u8 = 4;
const LOAD: u8 = 1;
const STORE: u8 = 2;
const UNDEFINED: u8 = 8;
const LAST_CLASS: u8 = 11;

/// An uncompressed file being read.
pub struct CbpReader<R> {
    input: TraceBytes<R>,
    sites: Sites,
    since_branch: u32,
    branches: u64,
    instructions: u64,
}

impl<R: Read> CbpReader<R> {
    /// Looks whether there is anything, and goes over the name of CBP-NG.
    ///
    /// # Errors
    /// An empty file.
    pub fn new(inner: R) -> Result<CbpReader<R>, TraceError> {
        let mut input = TraceBytes::new(inner);
        let begin = input.peek(MAGIC.len())?;
        if begin.is_empty() {
            return Err(TraceError::at_byte(0, TraceFault::Empty));
        }
        if begin == MAGIC {
            input.consume(MAGIC.len());
        }
        Ok(CbpReader { input, sites: Sites::default(), since_branch: 0, branches: 0, instructions: 0 })
    }

    /// Instructions read so far.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    fn byte(&mut self) -> Result<u8, TraceError> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], TraceError> {
        let cut = TraceFault::Cut { have: self.branches, promised: None };
        self.input.array()?.ok_or_else(|| TraceError::at_byte(self.input.position(), cut))
    }

    fn flag(&mut self, name: &'static str) -> Result<bool, TraceError> {
        let place = self.input.position();
        match self.byte()? {
            value @ 0..=1 => Ok(value == 1),
            value => Err(TraceError::at_byte(place, TraceFault::Field { name, value: value.into() })),
        }
    }

    /// One instruction; a branch if it is one.
    fn instruction(&mut self) -> Result<Option<Branch>, TraceError> {
        let place = self.input.position();
        let pc = u64::from_le_bytes(self.array()?);
        let kind = self.byte()?;
        if kind > LAST_CLASS || kind == UNDEFINED {
            let fault = TraceFault::Field { name: "the class of an instruction", value: kind.into() };
            return Err(TraceError::at_byte(place + 8, fault));
        }
        if kind == LOAD || kind == STORE {
            self.array::<9>()?;
            self.flag("base update")?;
            if kind == STORE {
                self.byte()?;
            }
        }
        let outcome = match class(kind) {
            Some(class) => Some((class, self.outcome(class)?)),
            None => None,
        };
        self.registers()?;
        self.instructions += 1;
        self.since_branch = self.since_branch.saturating_add(1);
        let Some((class, target)) = outcome else { return Ok(None) };
        let site = self.sites.number(pc, LENGTH, class, target.is_some(), target.unwrap_or(0));
        let site = site.map_err(|fault| TraceError::at_byte(place, fault))?;
        let gap = std::mem::take(&mut self.since_branch);
        let behind = pc.wrapping_add(LENGTH.into());
        Ok(Some(Branch::new(pc, target.unwrap_or(behind), site, class, target.is_some(), gap)))
    }

    /// Where a branch went, if it was taken.
    fn outcome(&mut self, class: BranchClass) -> Result<Option<u64>, TraceError> {
        let place = self.input.position();
        if self.flag("the outcome of a branch")? {
            return Ok(Some(u64::from_le_bytes(self.array()?)));
        }
        if class.is_conditional() {
            return Ok(None);
        }
        let fault = TraceFault::Field { name: "the outcome of an unconditional branch", value: 0 };
        Err(TraceError::at_byte(place, fault))
    }

    /// Goes over the registers and their values.
    fn registers(&mut self) -> Result<(), TraceError> {
        for _ in 0..self.byte()? {
            self.byte()?;
        }
        let mut names = [0; 255];
        let count = usize::from(self.byte()?);
        for name in &mut names[..count] {
            *name = self.byte()?;
        }
        for &name in &names[..count] {
            self.array::<8>()?;
            if !matches!(name, 0..=31 | 64 | 65) {
                self.array::<8>()?;
            }
        }
        Ok(())
    }
}

impl<R: Read> TraceSource for CbpReader<R> {
    fn next(&mut self, batch: &mut Batch) -> Result<bool, TraceError> {
        batch.stream = 0;
        batch.branches.clear();
        while batch.branches.len() < BATCH && !self.input.peek(1)?.is_empty() {
            if let Some(branch) = self.instruction()? {
                batch.branches.push(branch);
                self.branches += 1;
            }
        }
        Ok(!batch.branches.is_empty())
    }

    fn sites(&self, _: u32) -> &[BranchSite] {
        self.sites.list()
    }
}

fn class(kind: u8) -> Option<BranchClass> {
    match kind {
        3 => Some(BranchClass::CONDITIONAL),
        4 => Some(BranchClass::JUMP),
        5 => Some(BranchClass::INDIRECT_JUMP),
        9 => Some(BranchClass::CALL),
        10 => Some(BranchClass::INDIRECT_CALL),
        11 => Some(BranchClass::RETURN),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::TracePlace;
    use super::*;

    fn plain(pc: u64, kind: u8, middle: &[u8]) -> Vec<u8> {
        [&pc.to_le_bytes()[..], &[kind], middle].concat()
    }

    fn taken(pc: u64, kind: u8, target: u64) -> Vec<u8> {
        plain(pc, kind, &[&[1][..], &target.to_le_bytes(), &[0, 0]].concat())
    }

    fn read(bytes: &[u8]) -> (Vec<Branch>, Result<bool, TraceError>) {
        let mut batch = Batch::default();
        let result = CbpReader::new(bytes).and_then(|mut reader| reader.next(&mut batch));
        (batch.branches, result)
    }

    #[test]
    fn goes_over_every_kind_of_instruction_to_the_next_branch() {
        // A load into a vector register and a base register that it updates, a store, an addition of three registers.
        let load = plain(0x1000, LOAD, &[&[0; 8][..], &[16, 1, 1, 2, 2, 40, 2], &[7; 24]].concat());
        let store = plain(0x1004, STORE, &[&[0; 8][..], &[8, 0, 1, 2, 3, 4, 0]].concat());
        let sum = plain(0x1008, 0, &[&[3, 1, 2, 64, 2, 5, 64][..], &[9; 16]].concat());
        let skipped = plain(0x100c, 3, &[0, 1, 64, 0]);
        let bytes = [load, store, sum, skipped, taken(0x1010, 11, 0x2000), taken(0x2000, 5, 8)].concat();
        let (branches, result) = read(&bytes);
        assert_eq!(result, Ok(true));
        let expected = [
            Branch::new(0x100c, 0x1010, 0, BranchClass::CONDITIONAL, false, 4),
            Branch::new(0x1010, 0x2000, 1, BranchClass::RETURN, true, 1),
            Branch::new(0x2000, 8, 2, BranchClass::INDIRECT_JUMP, true, 1),
        ];
        assert_eq!(branches, expected);
        let named = [&MAGIC[..], &bytes].concat();
        assert_eq!(read(&named).0, expected);
    }

    #[test]
    fn every_class_of_branch_has_its_number() {
        let kinds = [3, 4, 5, 9, 10, 11];
        let bytes: Vec<u8> = kinds.iter().flat_map(|&kind| taken(0x1000, kind, 0x1000)).collect();
        let classes: Vec<BranchClass> = read(&bytes).0.iter().map(Branch::class).collect();
        let direct = [BranchClass::CONDITIONAL, BranchClass::JUMP, BranchClass::INDIRECT_JUMP];
        assert_eq!(
            classes,
            [&direct[..], &[BranchClass::CALL, BranchClass::INDIRECT_CALL, BranchClass::RETURN]].concat()
        );
    }

    #[test]
    fn a_cut_file_gives_what_was_before_and_says_where_it_ends() {
        let bytes = [taken(0x1000, 4, 0x1000), taken(0x1000, 4, 0x1000)].concat();
        for length in bytes.len() / 2 + 1..bytes.len() {
            let (branches, result) = read(&bytes[..length]);
            let error = result.unwrap_err();
            assert_eq!((branches.len(), error.fault), (1, TraceFault::Cut { have: 1, promised: None }));
            assert!(matches!(error.place, TracePlace::Byte(byte) if byte <= length as u64));
        }
        assert_eq!(read(&[]).1.unwrap_err().fault, TraceFault::Empty);
        assert_eq!(read(&MAGIC).1, Ok(false));
    }

    #[test]
    fn refuses_what_no_instruction_can_say() {
        let place = |bytes: &[u8]| {
            let error = read(bytes).1.unwrap_err();
            assert!(matches!(error.fault, TraceFault::Field { .. }), "{error}");
            error.place
        };
        assert_eq!(place(&plain(0, 12, &[0, 0])), TracePlace::Byte(8));
        assert_eq!(place(&plain(0, UNDEFINED, &[0, 0])), TracePlace::Byte(8));
        assert_eq!(place(&plain(0, 3, &[2, 0, 0])), TracePlace::Byte(9), "an outcome that is neither");
        assert_eq!(place(&plain(0, 4, &[0, 0, 0])), TracePlace::Byte(9), "a jump that is not taken");
        assert_eq!(place(&plain(0, LOAD, &[0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0])), TracePlace::Byte(18));
    }
}
