//! What a function keeps in its frame, as far as it is an address that the linker chose, or half of one.
//!
//! Where registers are short, gcc stores the page of an address and loads it again much later. Method: the stack
//! pointer is followed like any register, so that loads and stores through it, or through a register made from it, tell
//! the place that they mean; a place holds what the last store of a whole register put there. Which other stores may
//! write there? Compilers reach what they spill through the stack pointer and the frame pointer alone, and share its
//! memory with no variable, so neither a callee nor a store through a pointer writes there. That is not taken for
//! granted where it can be seen: a variable whose address the function gives away (to a callee, to memory, into
//! arithmetic) reaches from there upwards to an unknown end, at most to where the stack pointer was when that memory was
//! allocated, so what is kept there is not followed. A whole address may also be the program's own value, in a variable of which only the end is given away: it is
//! followed only where nothing of the frame is. Memory that the function allocates as it runs is a part of its own, below the
//! others. Limits: a frame that another function changes, as hand-written code may, is taken for one that stays.

#[cfg(test)]
mod tests;

use super::held::{Held, Makers};
use std::collections::{BTreeMap, BTreeSet};

/// What the stack pointer led to at the start of a part of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FramePart {
    /// To the caller's frame.
    Entry,
    /// Where the instruction of this index put it, in a way that is not followed.
    Set(usize),
    /// To different places, on ways that meet at this instruction. What lies above may be in any other part.
    Met(usize),
}

/// A place in the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FramePlace {
    /// Its part.
    pub part: FramePart,
    /// From the start of the part, bytes.
    pub offset: i64,
}

impl FramePlace {
    /// Where a part starts.
    pub fn start(part: FramePart) -> Self {
        Self { part, offset: 0 }
    }

    /// So many bytes above it.
    pub fn plus(self, bytes: i64) -> Self {
        self.at(self.offset.saturating_add(bytes))
    }

    fn at(self, offset: i64) -> Self {
        Self { offset, ..self }
    }

    /// Whether it may be a place in any other part: above where ways meet whose stack pointers differ.
    fn may_be_elsewhere(self) -> bool {
        matches!(self.part, FramePart::Met(_)) && self.offset >= 0
    }
}

/// Bytes that a general register takes in memory.
const SLOT_BYTES: i64 = 8;

/// What the frame holds, where it is not `Held::Other`, and where it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The stack pointer.
    pub pointer: FramePlace,
    /// Whether a register holds where it is.
    is_named: bool,
    slots: BTreeMap<FramePlace, Held>,
}

impl Frame {
    /// One that holds nothing, and whose stack pointer is at the start of a part.
    pub fn new(part: FramePart) -> Self {
        Self { pointer: FramePlace::start(part), is_named: false, slots: BTreeMap::new() }
    }

    /// The address where the stack pointer is goes to a register.
    pub fn name_pointer(&mut self) {
        self.is_named = true;
    }

    /// The stack pointer moves; where it was, if what is allocated below is something else than what is above.
    pub fn move_pointer(&mut self, place: FramePlace) -> Option<FramePlace> {
        let from = std::mem::replace(&mut self.pointer, place);
        let allocates = from.part == place.part && place.offset < from.offset;
        let starts = from.part != FramePart::Entry && from.offset == 0;
        let bound = (allocates && (starts || self.is_named)).then_some(from);
        self.is_named &= from == place;
        bound
    }

    /// The stack pointer goes where it is not followed: a part begins, perhaps once more in a loop. What is known of an earlier
    /// one of this name is of other memory.
    pub fn begin(&mut self, part: FramePart) {
        self.slots.retain(|place, held| place.part != part || held.is_half());
        self.make_unclear(|place| place.part == part);
        self.pointer = FramePlace::start(part);
        self.is_named = false;
    }

    fn make_unclear(&mut self, which: impl Fn(&FramePlace) -> bool) {
        self.slots.iter_mut().filter(|(place, _)| which(place)).for_each(|(_, held)| *held = Held::Unclear);
    }

    /// Bytes from `place` on are overwritten.
    pub fn overwrite(&mut self, place: FramePlace, bytes: u64) {
        if place.plus(bytes as i64 - 1).may_be_elsewhere() {
            self.slots.retain(|other, held| other.part == place.part || held.is_half());
            self.make_unclear(|other| other.part != place.part);
        }
        for torn in self.slots_within(place, bytes) {
            self.slots.remove(&torn);
        }
    }

    /// A whole register is stored, where nothing of the old is any more.
    pub fn store(&mut self, place: FramePlace, held: Held) {
        if held != Held::Other {
            self.slots.insert(place, held);
        }
    }

    /// What a whole register is, loaded from `place`.
    pub fn load(&self, place: FramePlace) -> Held {
        let overlaps = place.may_be_elsewhere() && self.slots.values().any(Held::is_half);
        self.slots.get(&place).copied().unwrap_or(if overlaps { Held::Unclear } else { Held::Other })
    }

    /// What lies in so many bytes, whole or in part.
    pub fn within(&self, place: FramePlace, bytes: u64) -> impl Iterator<Item = (FramePlace, Held)> {
        self.slots_within(place, bytes).into_iter().map(|slot| (slot, self.slots[&slot]))
    }

    fn slots_within(&self, place: FramePlace, bytes: u64) -> Vec<FramePlace> {
        let slots = self.slots.range(place.plus(1 - SLOT_BYTES)..=place.plus(bytes as i64 - 1));
        slots.map(|(&slot, _)| slot).collect()
    }

    /// Where another way meets this one, what both hold is kept; the stack pointer stays this one's.
    pub fn join(&mut self, other: &Self, makers: &mut Makers) {
        self.is_named &= other.is_named;
        let slots: BTreeSet<FramePlace> = self.slots.keys().chain(other.slots.keys()).copied().collect();
        for slot in slots {
            let held = |frame: &Self| frame.slots.get(&slot).copied().unwrap_or(Held::Other);
            match makers.join(held(self), held(other)) {
                Held::Other => self.slots.remove(&slot),
                held => self.slots.insert(slot, held),
            };
        }
    }
}

/// Which places of the frame may be reached through pointers that are not followed.
#[derive(Debug, Default)]
pub struct GivenAway {
    places: BTreeSet<FramePlace>,
    /// Where the stack pointer was when more was allocated below it: no variable lies on both sides.
    bounds: BTreeSet<FramePlace>,
    everything: bool,
    /// What was said to be kept, and whether it is a whole address.
    kept: BTreeMap<FramePlace, bool>,
    is_other: bool,
}

impl GivenAway {
    /// The addresses of places go where they are not followed.
    pub fn note_all(&mut self, places: impl Iterator<Item = FramePlace>) {
        places.for_each(|place| self.note(place));
    }

    /// The address of a place goes there.
    pub fn note(&mut self, place: FramePlace) {
        if place.may_be_elsewhere() {
            self.note_everything();
        } else if self.places.insert(place) {
            self.check();
        }
    }

    /// Any place may be reached.
    pub fn note_everything(&mut self) {
        self.everything = true;
        self.check();
    }

    /// More is allocated below a place.
    pub fn note_bound(&mut self, place: FramePlace) {
        self.is_other |= self.bounds.insert(place) && !self.places.is_empty();
    }

    /// Whether what is known now contradicts what was said since this was last asked.
    pub fn is_other(&mut self) -> bool {
        self.kept.clear();
        std::mem::take(&mut self.is_other)
    }

    fn check(&mut self) {
        let kept = std::mem::take(&mut self.kept);
        self.is_other |= !kept.iter().all(|(&slot, &whole)| self.may_keep(slot, whole));
        self.kept = kept;
    }

    /// Whether what is stored at a place stays there until it is overwritten through a register that is followed.
    pub fn keeps(&self, slot: FramePlace, held: Held) -> bool {
        self.may_keep(slot, matches!(held, Held::Address { .. }))
    }

    /// [`Self::keeps`], on which something is built.
    pub fn rely(&mut self, slot: FramePlace, held: Held) -> bool {
        let keeps = self.keeps(slot, held);
        if keeps {
            *self.kept.entry(slot).or_default() |= matches!(held, Held::Address { .. });
        }
        keeps
    }

    fn may_keep(&self, slot: FramePlace, whole: bool) -> bool {
        let lowest = slot.at(i64::MIN);
        let floor = self.bounds.range(lowest..=slot).next_back().copied().unwrap_or(lowest);
        let reached = match whole {
            true => lowest..=slot.at(i64::MAX),
            false => floor..=slot.plus(SLOT_BYTES - 1),
        };
        !self.everything && (reached.is_empty() || self.places.range(reached).next().is_none())
    }
}
