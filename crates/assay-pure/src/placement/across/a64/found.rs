//! What one instruction says, given what the registers hold ahead of it.

use super::super::listing::{FieldReference, Leads};
use super::frame::{FramePlace, GivenAway};
use super::held::{Held, HeldByAll, STACK_POINTER, TableEntry};
use super::offset::{Access, added, entry_load, is_add_immediate, literal_load, moved, table_sum};
use super::operands::operands;
use super::{branch, signed};
use crate::placement::identity::data::ReadExtent;

/// The distance of an `adr` or `adrp`.
pub const RELATIVE: u64 = 0x60ff_ffe0;
const MRS_THREAD: u32 = 0xd53b_d040;

/// What an instruction's field leads to, until it is known how what it makes is used.
pub enum FoundLead {
    /// Certain.
    Certain(FieldReference),
    /// A page; it says something only where it is used in other ways than as the upper half of an address.
    Page,
    /// An address; it says something only where it is used in ways that are not followed.
    Address {
        /// The address.
        to: u64,
        /// The bits of the instruction that depend on it.
        mask: u64,
    },
}

/// What is found of one instruction.
#[derive(Default)]
pub struct Found {
    /// What its field leads to.
    pub lead: Option<FoundLead>,
    /// What its first register holds then.
    pub made: Option<Held>,
    /// Registers that it reads in a way that is followed, a bit each; x31 is the stack pointer.
    pub followed: u32,
    /// A load with an index: what completed the address of the table, and the load.
    pub indexed: Option<(usize, usize)>,
    /// The place in the frame that it loads from or stores to.
    pub access: Option<(FramePlace, Access)>,
    /// A register that it moves to a place of the frame; x31 is the stack pointer.
    pub moved: Option<(usize, FramePlace)>,
}

impl Found {
    /// One whose field leads there.
    pub fn certain(mask: u64, leads: Leads) -> Self {
        Self { lead: Some(FoundLead::Certain(FieldReference { offset: 0, mask, leads })), ..Self::default() }
    }

    /// One that completes an address.
    pub fn address(to: u64, by: usize, mask: u64) -> Self {
        let made = Some(Held::Address { to, by });
        Self { lead: Some(FoundLead::Address { to, mask }), made, ..Self::default() }
    }
}

/// What the instruction `word` of this index, at the address `at`, says.
pub fn found((word, at, index): (u32, u64, usize), held: &HeldByAll, given: &GivenAway) -> Found {
    if let Some(found) = branch(word, at) {
        return Found { lead: Some(FoundLead::Certain(found)), ..Found::default() };
    }
    let immediate = signed(word, 5, 19) << 2 | i64::from(word >> 29 & 3);
    match word & 0x9f00_0000 {
        0x9000_0000 => {
            let page = (at & !0xfff).wrapping_add_signed(immediate << 12);
            let made = Some(Held::Page { page, by: index });
            return Found { lead: Some(FoundLead::Page), made, ..Found::default() };
        }
        0x1000_0000 => return Found::address(at.wrapping_add_signed(immediate), index, RELATIVE),
        _ => {}
    }
    if let Some((to, bytes)) = literal_load(word, at) {
        return Found::certain(0x00ff_ffe0, Leads::Data(to, ReadExtent::Bytes(bytes)));
    }
    if word & !31 == MRS_THREAD {
        return Found { made: Some(Held::Thread(0)), ..Found::default() };
    }
    if let Some(register) = moved(word) {
        return Found { made: held.get(register), followed: 1 << register, ..Found::default() };
    }
    if let Some((register, target)) = table_sum(word, held) {
        return Found { made: Some(Held::Target(target)), followed: 1 << register, ..Found::default() };
    }
    by_base(word, index, held, given)
}

/// What is reached through a register, or made of it and a number.
fn by_base(word: u32, index: usize, held: &HeldByAll, given: &GivenAway) -> Found {
    let register = (word >> 5 & 31) as usize;
    let base = held.base(register);
    if base == Held::Other {
        return Found::default();
    }
    // What the instruction reads of it besides, as a store of an address to where it leads.
    let besides = operands(word | 31 << 5).reads;
    let found = if is_add_immediate(word) {
        match (added(index, word, base), word & 31) {
            (Found { made: Some(Held::Frame(place)), .. }, 31) => {
                Found { moved: Some((STACK_POINTER, place)), ..Found::default() }
            }
            (found, _) => found,
        }
    } else if let Some(access) = Access::of(word) {
        match base {
            Held::Frame(from) => return in_frame(word, access, from, (held, given), besides),
            _ => access.reached(base),
        }
    } else if let (Some((bytes, signed)), Held::Address { to: table, by }) = (entry_load(word), base) {
        let entry = TableEntry { table, by, load: index, bytes, signed };
        Found { made: Some(Held::Entry(entry)), indexed: Some((by, index)), ..Found::default() }
    } else {
        return Found::default();
    };
    let frame = matches!(base, Held::Frame(_));
    let follows = found.lead.is_some() || found.indexed.is_some() || frame;
    Found { followed: if follows { 1 << register & !besides } else { 0 }, ..found }
}

/// A load or store in the frame.
fn in_frame(
    word: u32,
    access: Access,
    from: FramePlace,
    (held, given): (&HeldByAll, &GivenAway),
    besides: u32,
) -> Found {
    let register = (word >> 5 & 31) as usize;
    let place = from.plus(access.offset);
    let mut followed = 1 << register & !besides;
    if access.whole && !access.loads {
        for (register, slot) in access.registers(word).zip(access.places(place)) {
            // An address that is stored may be an argument or the program's own value: that is a use of it.
            followed |= match held.get(register as usize) {
                Some(Held::Address { .. } | Held::Frame(_)) | None => 0,
                Some(stored) if given.keeps(slot, stored) => 1 << register,
                Some(_) => 0,
            };
        }
    }
    let moved = (access.moves != 0).then(|| (register, from.plus(access.moves)));
    Found { followed, access: Some((place, access)), moved, ..Found::default() }
}
