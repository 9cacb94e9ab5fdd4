//! A function as lines that can be compared with those of another: the bytes that must be equal, and what the others
//! lead to. What an instruction set has of its own is in `x86.rs` and `a64.rs`.

use crate::placement::identity::data::ReadExtent;

/// What a field of an instruction leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leads {
    /// Code, by a jump, a call or its address.
    Code(u64),
    /// Data.
    Data(u64, ReadExtent),
    /// A number that may be an address.
    Perhaps(u64),
    /// A variable of the thread, by its offset from the thread pointer.
    Thread(i64),
    /// Places in code, through a jump table.
    Table(Vec<u64>),
    /// Nothing by itself: what uses it does.
    Nothing,
    /// Somewhere that was not followed.
    Unfollowed,
}

/// A field of an instruction whose bits depend on where things lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldReference {
    /// Offset in the instruction, bytes.
    pub offset: usize,
    /// Its bits, from that byte on, the first byte lowest.
    pub mask: u64,
    /// What it leads to.
    pub leads: Leads,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedInstruction {
    /// Offset in the function, bytes.
    pub at: u64,
    /// Bytes.
    pub length: usize,
    /// Its fields.
    pub references: Vec<FieldReference>,
    /// Which jump it is, if its target is in its bytes: the same jump has a short and a long form.
    pub jump: Option<u32>,
}

/// A function, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionListing {
    /// Link-time address of the entry.
    pub address: u64,
    /// Its bytes up to the end of what is not padding.
    pub bytes: Vec<u8>,
    /// Its instructions, without padding that control cannot reach.
    pub lines: Vec<ListedInstruction>,
    /// Offset of bytes that are no known instruction.
    pub undecodable: Option<u64>,
    /// Control can run past the end.
    pub runs_out: bool,
    /// Link-time address of what it reaches then.
    pub behind: u64,
    /// It reads signed words through a register, which is how offsets in tables are read.
    pub reads_offsets: bool,
    /// An indirect jump whose targets are not known.
    pub unexplained: Option<u64>,
}

impl FunctionListing {
    /// Offset of an address inside the function.
    pub fn inside(&self, address: u64) -> Option<u64> {
        address.checked_sub(self.address).filter(|&offset| offset < self.bytes.len() as u64)
    }

    /// Index of the instruction at an offset, or, if none starts there, of the one that the offset is inside of.
    pub fn index_at(&self, offset: u64) -> Result<usize, usize> {
        self.lines.binary_search_by_key(&offset, |line| line.at).map_err(|index| index.saturating_sub(1))
    }

    fn bytes_of(&self, line: &ListedInstruction) -> &[u8] {
        let start = line.at as usize;
        self.bytes.get(start..start + line.length).unwrap_or_default()
    }
}

/// Whether two instructions are equal but for fields that depend on where things lie.
pub fn equal_but_for_fields(
    (a, line_a): (&FunctionListing, &ListedInstruction),
    (b, line_b): (&FunctionListing, &ListedInstruction),
) -> bool {
    let (first, second) = (a.bytes_of(line_a), b.bytes_of(line_b));
    if line_a.jump.is_some() && line_a.jump == line_b.jump {
        return true;
    }
    if first == second {
        return true;
    }
    let (left, right) = (&line_a.references, &line_b.references);
    let same_fields = first.len() == second.len()
        && left.len() == right.len()
        && left.iter().zip(right).all(|(a, b)| (a.offset, a.mask) == (b.offset, b.mask));
    same_fields && masked(first, left) == masked(second, right)
}

fn masked(bytes: &[u8], references: &[FieldReference]) -> Vec<u8> {
    let mut kept = bytes.to_vec();
    for reference in references {
        for (byte, mask) in kept.iter_mut().skip(reference.offset).zip(reference.mask.to_le_bytes()) {
            *byte &= !mask;
        }
    }
    kept
}

/// An instruction's bytes without what depends on where things lie.
pub fn masked_line(listing: &FunctionListing, line: &ListedInstruction) -> Vec<u8> {
    masked(listing.bytes_of(line), &line.references)
}
