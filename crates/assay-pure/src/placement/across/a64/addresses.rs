//! Which addresses the instructions of a function make, and where each leads.
//!
//! An address is made in halves: `adrp` gives its page, and the low twelve bits follow in an `add` or in a load, perhaps far behind
//! and more than once. So what each register holds is followed along the control flow of the function until nothing changes
//! any more. Compilers reach several objects from one address (gcc's section anchors): an address that only serves as the
//! base of loads and of other addresses says nothing by itself, and each of its uses says what it reaches. What goes anywhere
//! else (into memory, to a callee, into other arithmetic) leads to an object. Where ways meet, only registers that are read
//! later count. What functions keep in their frames is in `frame.rs`; behind a call that never returns nothing goes on
//! (`endless.rs`). Limits: a callee keeps x2 to x17 where the compiler relies on it, and returns in x0 and x1.

use super::super::listing::{FieldReference, Leads};
use super::endless::Endless;
use super::found::{FoundLead, RELATIVE, found};
use super::frame::{FramePart, FramePlace, GivenAway};
use super::held::{Held, HeldByAll, Makers, REGISTERS, STACK_POINTER, TableTarget, bits};
use super::offset::{Access, literal_load};
use super::operands::{Operands, is_arithmetic, operands, reads_stack_pointer, writes_stack_pointer};
use super::{NOP, branch, called, ends, is_call, is_jump, is_return, signed, switch};
use crate::placement::identity::data::ReadExtent;
use crate::placement::identity::image::LinkedImage;
use std::collections::{BTreeMap, BTreeSet};

/// x0 to x8: arguments.
const ARGUMENTS: u32 = 0x1ff;
/// The halves of an address stand so near to each other, where it is that of code inside the function.
const PAIRED_WITHIN: usize = 8;
/// x0 and x1: results.
const RESULTS: u32 = 3;
/// x0, x1, x18 and x30: what a callee leaves there is not followed.
const AFTER_CALLS: u32 = 1 << 30 | 1 << 18 | 3;
/// So often a function is followed anew because more of its frame turned out to be given away; then all of it counts as that.
const FOLLOWED_ANEW: usize = 8;

/// A function as words, and what was found of them.
pub struct MadeAddresses {
    /// What each instruction refers to.
    pub references: Vec<Option<FieldReference>>,
    /// Whatever is mentioned.
    pub mentioned: Vec<u64>,
    /// An indirect jump whose targets are not known, and which may stay inside the function.
    pub unexplained: Option<usize>,
}

/// A function whose registers are followed.
struct Walk<'a> {
    image: &'a LinkedImage<'a>,
    words: &'a [u32],
    entry: u64,
    /// Words that are no instructions but literals.
    literal: Vec<bool>,
    /// Indices of the first instructions of blocks.
    leaders: Vec<usize>,
    /// For each block the registers that are read before they are written.
    live: Vec<u32>,
    held: Vec<Option<HeldByAll>>,
    makers: Makers,
    /// Jumps through tables, and where each leads.
    switches: BTreeMap<usize, (TableTarget, Vec<u64>)>,
    /// Where jumps lead that are not understood.
    labels: Vec<usize>,
    /// Blocks that only an unwinder leads to: landing pads.
    pads: Vec<usize>,
    /// What registers hold behind any call.
    thrown: Option<HeldByAll>,
    /// What of the frame may be reached otherwise.
    given: GivenAway,
    /// What each instruction reads and writes.
    operands: Vec<Operands>,
    endless: &'a Endless,
}

/// Follows the registers of a function; `labels`: addresses inside of it that data holds.
pub fn made(
    image: &LinkedImage,
    words: &[u32],
    entry: u64,
    labels: &[u64],
    endless: &Endless,
) -> MadeAddresses {
    let held = labels.iter().filter_map(|&to| inside(to, entry, words.len()));
    let mut labels = own_labels(words, entry);
    labels.extend(held.filter(|&index| index > 0));
    let mut walk = Walk::new(image, words, entry, labels, endless);
    walk.settle();
    while walk.pads.is_empty() {
        walk.pads = walk.unreached();
        if walk.pads.is_empty() {
            break;
        }
        walk.settle();
    }
    walk.told()
}

impl<'a> Walk<'a> {
    fn new(
        image: &'a LinkedImage<'a>,
        words: &'a [u32],
        entry: u64,
        labels: Vec<usize>,
        endless: &'a Endless,
    ) -> Self {
        let mut literal = vec![false; words.len()];
        let mut leaders = BTreeSet::from([0]);
        leaders.extend(&labels);
        for (index, &word) in words.iter().enumerate() {
            if let Some((to, bytes)) = literal_load(word, address(entry, index)) {
                let first = to.wrapping_sub(entry) / 4;
                for at in first..first.saturating_add(bytes / 4) {
                    if let Some(word) = literal.get_mut(at as usize) {
                        *word = true;
                    }
                }
            }
            let to = target(word, entry, index, words.len());
            leaders.extend(to);
            if to.is_some() || ends(word) || endless.never_returns(called(word, address(entry, index))) {
                leaders.insert(index + 1);
            }
        }
        let mut walk = Self {
            image,
            words,
            entry,
            literal,
            leaders: Vec::new(),
            live: Vec::new(),
            held: Vec::new(),
            makers: Makers::new(words.len()),
            switches: BTreeMap::new(),
            labels,
            pads: Vec::new(),
            thrown: None,
            given: GivenAway::default(),
            operands: words.iter().map(|&word| operands(word)).collect(),
            endless,
        };
        walk.lead(leaders);
        walk
    }

    /// Cuts the function at these instructions.
    fn lead(&mut self, leaders: BTreeSet<usize>) {
        self.leaders = leaders.into_iter().filter(|&leader| leader < self.words.len()).collect();
        self.live = self.liveness();
    }

    /// Blocks that nothing leads to, without padding behind a call that never returns.
    fn unreached(&self) -> Vec<usize> {
        let is_padding = |&word: &u32| word == NOP;
        let is_code = |block: usize| !self.words[self.leaders[block]..self.end(block)].iter().all(is_padding);
        (0..self.leaders.len()).filter(|&block| self.held[block].is_none() && is_code(block)).collect()
    }

    fn block_of(&self, index: usize) -> Option<usize> {
        self.leaders.binary_search(&index).ok()
    }

    fn end(&self, block: usize) -> usize {
        self.leaders.get(block + 1).copied().unwrap_or(self.words.len())
    }

    /// The blocks that directly follow one.
    fn next(&self, block: usize) -> impl Iterator<Item = usize> {
        let last = self.end(block) - 1;
        let word = self.words[last];
        let jump = target(word, self.entry, last, self.words.len()).and_then(|to| self.block_of(to));
        let never_returns = self.endless.never_returns(called(word, address(self.entry, last)));
        let falls = !ends(word) && !never_returns && block + 1 < self.leaders.len();
        jump.into_iter().chain(falls.then_some(block + 1))
    }

    fn liveness(&self) -> Vec<u32> {
        let blocks = self.leaders.len();
        let one = |block: usize| {
            let (mut reads, mut writes) = (0, 0);
            for index in self.leaders[block]..self.end(block) {
                let (read, written) = self.by_convention(index);
                reads |= read & !writes;
                writes |= written;
            }
            (reads, writes)
        };
        let own: Vec<(u32, u32)> = (0..blocks).map(one).collect();
        let mut live: Vec<u32> = own.iter().map(|own| own.0).collect();
        let mut before = vec![Vec::new(); blocks];
        for block in 0..blocks {
            self.next(block).for_each(|next| before[next].push(block));
        }
        let mut waiting: Vec<usize> = (0..blocks).collect();
        while let Some(block) = waiting.pop() {
            for &earlier in &before[block] {
                let more = live[earlier] | live[block] & !own[earlier].1;
                if more != live[earlier] {
                    live[earlier] = more;
                    waiting.push(earlier);
                }
            }
        }
        live
    }

    /// What an instruction reads and writes, also by the procedure call standard.
    fn by_convention(&self, index: usize) -> (u32, u32) {
        if self.literal[index] {
            return (0, 0);
        }
        let word = self.words[index];
        let own = self.operands[index];
        let leaves =
            word & 0xfc00_0000 == 0x1400_0000 && target(word, self.entry, index, self.words.len()).is_none();
        match word {
            _ if is_call(word) => (own.reads | ARGUMENTS, RESULTS),
            _ if is_return(word) => (own.reads | RESULTS, 0),
            // An indirect jump may stay inside, where anything may be read.
            _ if is_jump(word) => (!0, 0),
            _ if leaves => (ARGUMENTS, 0),
            _ => (own.reads, own.writes),
        }
    }

    /// Follows the registers until nothing changes, and until no more of the frame turns out to be given away.
    fn settle(&mut self) {
        for _ in 0..FOLLOWED_ANEW {
            self.follow();
            if !self.given.is_other() {
                return;
            }
        }
        self.given.note_everything();
        self.follow();
    }

    fn follow(&mut self) {
        let mut waiting = Vec::new();
        self.begin(&mut waiting);
        while let Some(block) = waiting.pop() {
            let mut held = self.held[block].clone().expect("only what is reached waits");
            let mut thrown = false;
            for index in self.leaders[block]..self.end(block) {
                self.transfer(index, &mut held, None);
                if !self.pads.is_empty() && is_call(self.words[index]) {
                    thrown |= self.throw(&held);
                }
            }
            if let Some(held) = self.thrown.clone().filter(|_| thrown) {
                for pad in self.pads.clone() {
                    self.enter(pad, &held, &mut waiting);
                }
            }
            for next in self.next(block).collect::<Vec<_>>() {
                self.enter(next, &held, &mut waiting);
            }
            let last = self.end(block) - 1;
            if is_jump(self.words[last]) && !self.literal[last] {
                self.jump(last, &held, &mut waiting);
            }
        }
    }

    fn begin(&mut self, waiting: &mut Vec<usize>) {
        self.held = vec![None; self.leaders.len()];
        self.thrown = None;
        waiting.clear();
        if let Some(first) = self.held.first_mut() {
            *first = Some(HeldByAll::nothing(FramePart::Entry));
            waiting.push(0);
        }
    }

    /// What a pad finds behind any of the calls so far; whether that is new.
    fn throw(&mut self, held: &HeldByAll) -> bool {
        let live = self.pads.iter().fold(0, |live, &pad| live | self.live[pad]);
        let at = self.pads.first().map_or(0, |&pad| self.leaders[pad]);
        let joined = self.joined(self.thrown.clone(), held, live, at);
        let is_new = self.thrown.as_ref() != Some(&joined);
        self.thrown = Some(joined);
        is_new
    }

    /// What is held at the instruction `at` where another way leads there too.
    fn joined(&mut self, known: Option<HeldByAll>, held: &HeldByAll, live: u32, at: usize) -> HeldByAll {
        let mut joined = known.unwrap_or_else(|| held.clone());
        let before = std::mem::replace(&mut joined.registers, [Held::Other; REGISTERS]);
        for register in bits(live).filter(|&register| register < REGISTERS) {
            let (one, other) = (before[register], held.registers[register]);
            for lost in [one, other] {
                if let (Held::Frame(place), true) = (lost, one != other) {
                    self.given.note(place);
                }
            }
            joined.registers[register] = self.makers.join(one, other);
        }
        joined.frame.join(&held.frame, &mut self.makers);
        if joined.frame.pointer != held.frame.pointer {
            joined.begin(FramePart::Met(at));
        }
        joined
    }

    fn enter(&mut self, block: usize, held: &HeldByAll, waiting: &mut Vec<usize>) {
        let known = self.held[block].clone();
        let joined = self.joined(known, held, self.live[block], self.leaders[block]);
        if self.held[block].as_ref() != Some(&joined) {
            self.held[block] = Some(joined);
            waiting.push(block);
        }
    }

    /// An indirect jump that does not come back.
    fn jump(&mut self, index: usize, held: &HeldByAll, waiting: &mut Vec<usize>) {
        let through = held.get((self.words[index] >> 5 & 31) as usize);
        if !matches!(through, Some(Held::Target(_))) {
            self.given.note_all(held.places(ARGUMENTS));
        }
        let inside: Vec<usize> = match through {
            Some(Held::Target(target)) => match switch::targets(self.image, self.words, &target) {
                Some(targets) => {
                    let inside = targets.iter().filter_map(|&to| inside(to, self.entry, self.words.len()));
                    let inside = inside.collect();
                    self.switches.insert(index, (target, targets));
                    inside
                }
                None => self.labels.clone(),
            },
            _ => self.labels.clone(),
        };
        if inside.iter().any(|to| self.block_of(*to).is_none()) {
            // Another block begins where the table leads to: all is to be done again.
            let mut leaders: BTreeSet<usize> = self.leaders.iter().copied().collect();
            leaders.extend(inside);
            self.lead(leaders);
            self.pads.clear();
            self.begin(waiting);
            return;
        }
        for to in inside {
            let block = self.block_of(to).expect("it leads a block");
            self.enter(block, held, waiting);
        }
    }

    /// What an instruction does to the registers and the frame; where it is to be told, also what it refers to.
    fn transfer(&mut self, index: usize, held: &mut HeldByAll, told: Option<&mut Told>) {
        if self.literal[index] {
            return;
        }
        let word = self.words[index];
        let found = found((word, address(self.entry, index), index), held, &self.given);
        let stack_pointer = u32::from(reads_stack_pointer(word)) << STACK_POINTER;
        let read = (self.operands[index].reads | stack_pointer) & !found.followed;
        let passed = self.passed(index);
        if !is_return(word) && !is_jump(word) {
            self.given.note_all(held.places(read | passed));
        }
        let half = |held: Held| matches!(held, Held::Unclear | Held::Page { .. });
        let mut may_be_half = is_arithmetic(word) && held.among(read).any(half);
        if let Some(told) = told {
            let doubt = self.uses((read, passed), held);
            told.indexed.extend(found.indexed);
            if let Some(lead) = found.lead.or(doubt) {
                told.leads.insert(index, lead);
            }
        }
        let mut loaded = Vec::new();
        if let Some((place, access)) = found.access {
            may_be_half |= self.tears((place, access), held);
            loaded = self.access(word, (place, access), held);
        }
        if is_call(word) {
            held.write(AFTER_CALLS, Held::Other);
        }
        held.write(self.operands[index].writes, if may_be_half { Held::Unclear } else { Held::Other });
        for (register, made) in loaded.into_iter().chain(found.made.map(|made| (word & 31, made))) {
            held.write(1 << register, made);
        }
        match found.moved {
            Some((STACK_POINTER, place)) => {
                if let Some(bound) = held.frame.move_pointer(place) {
                    self.given.note_bound(bound);
                }
            }
            Some((register, place)) => held.write(1 << register, Held::Frame(place)),
            None if writes_stack_pointer(word) => held.begin(FramePart::Set(index)),
            None => {}
        }
        if found.made == Some(Held::Frame(held.frame.pointer)) {
            held.frame.name_pointer();
        }
    }

    /// Registers that are handed on at an instruction by convention: to a callee, or to the caller.
    fn passed(&self, index: usize) -> u32 {
        let word = self.words[index];
        match word {
            _ if is_jump(word) && self.switches.contains_key(&index) => 0,
            _ if is_jump(word) => ARGUMENTS,
            _ => self.by_convention(index).0 & !self.operands[index].reads,
        }
    }

    /// Whether a load takes a part of what the frame keeps, and what that is may be half an address. That is a use of it.
    fn tears(&mut self, (place, access): (FramePlace, Access), held: &HeldByAll) -> bool {
        let mut half = false;
        for (slot, kept) in held.frame.within(place, access.bytes * access.count) {
            let is_whole = access.whole && access.places(place).any(|whole| whole == slot);
            if access.loads && !is_whole {
                self.makers.uses(kept);
                half |= kept.is_half();
            }
        }
        half
    }

    /// A load or store in the frame: what it loads, and into which registers.
    fn access(
        &mut self,
        word: u32,
        (place, access): (FramePlace, Access),
        held: &mut HeldByAll,
    ) -> Vec<(u32, Held)> {
        let slots = access.registers(word).zip(access.places(place));
        if access.loads {
            let slots = slots.filter(|_| access.whole);
            return slots.map(|(register, slot)| (register, held.frame.load(slot))).collect();
        }
        held.frame.overwrite(place, access.bytes * access.count);
        for (register, slot) in slots.filter(|_| access.whole) {
            let stored = held.get(register as usize).unwrap_or(Held::Other);
            let kept = match stored {
                Held::Frame(_) => Held::Other,
                _ if self.given.rely(slot, stored) => stored,
                _ if stored.is_half() => Held::Unclear,
                _ => Held::Other,
            };
            held.frame.store(slot, kept);
        }
        Vec::new()
    }

    /// Notes which addresses go where they are not followed; a doubt where it is unclear what goes there.
    fn uses(&mut self, (read, passed): (u32, u32), held: &HeldByAll) -> Option<FoundLead> {
        held.among(read).for_each(|held| self.makers.uses(held));
        let passed = held.among(passed).filter(|held| matches!(held, Held::Address { .. }));
        passed.for_each(|held| self.makers.uses(held));
        let unclear = held.among(read).any(|held| held == Held::Unclear);
        unclear.then_some(FoundLead::Certain(FieldReference { offset: 0, mask: 0, leads: Leads::Unfollowed }))
    }

    /// All that was found, once nothing changes.
    fn told(mut self) -> MadeAddresses {
        let mut told = Told::default();
        let mut unexplained = None;
        for block in 0..self.leaders.len() {
            // What nothing leads to is told as if nothing were known ahead of it.
            let unknown = || HeldByAll::nothing(FramePart::Set(self.leaders[block]));
            let mut held = self.held[block].clone().unwrap_or_else(unknown);
            for index in self.leaders[block]..self.end(block) {
                if is_jump(self.words[index]) && !self.literal[index] {
                    let through = held.get((self.words[index] >> 5 & 31) as usize);
                    if let Some(Held::Target(target)) = through {
                        if !self.switches.contains_key(&index) {
                            self.makers.is_used(target.base_by);
                            unexplained.get_or_insert(index);
                        }
                    } else {
                        self.switches.remove(&index);
                        if !self.labels.is_empty() {
                            unexplained.get_or_insert(index);
                        }
                    }
                }
                self.transfer(index, &mut held, Some(&mut told));
            }
        }
        let mut mentioned = Vec::new();
        let mut references = vec![None; self.words.len()];
        let indexed = std::mem::take(&mut told.indexed);
        for (index, lead) in told.leads {
            references[index] = Some(match lead {
                FoundLead::Certain(found) => {
                    if let Leads::Data(to, _) = found.leads {
                        mentioned.push(to);
                    }
                    found
                }
                FoundLead::Page => {
                    let leads = if self.makers.used(index) { Leads::Unfollowed } else { Leads::Nothing };
                    FieldReference { offset: 0, mask: RELATIVE, leads }
                }
                FoundLead::Address { to, mask } => {
                    mentioned.push(to);
                    FieldReference { offset: 0, mask, leads: self.whole(index, to, &indexed) }
                }
            });
        }
        MadeAddresses { references, mentioned, unexplained }
    }

    /// What an address leads to by itself: nothing, if all that is reached through it is followed.
    fn whole(&self, index: usize, to: u64, indexed: &[(usize, usize)]) -> Leads {
        let object = Leads::Data(to, ReadExtent::Object);
        let first = self.makers.first(index);
        if self.makers.used(first) {
            return object;
        }
        let mut loads = indexed.iter().filter(|(by, _)| self.makers.first(*by) == first).peekable();
        if loads.peek().is_none() {
            return Leads::Nothing;
        }
        let mut tables: BTreeSet<Option<&Vec<u64>>> = BTreeSet::new();
        for (_, load) in loads {
            let through = self.switches.values().find(|(target, _)| target.entry.load == *load);
            tables.insert(through.map(|(_, targets)| targets));
        }
        match tables.pop_first() {
            Some(Some(targets)) if tables.is_empty() => Leads::Table(targets.clone()),
            _ => object,
        }
    }
}

/// What is told of a function, before it is known how the addresses that it makes are used.
#[derive(Default)]
struct Told {
    leads: BTreeMap<usize, FoundLead>,
    /// Addresses through which a load with an index goes: what completed them, and the load.
    indexed: Vec<(usize, usize)>,
}

fn address(entry: u64, index: usize) -> u64 {
    entry.wrapping_add(4 * index as u64)
}

/// Index of the instruction that a jump inside the function leads to.
fn target(word: u32, entry: u64, index: usize, words: usize) -> Option<usize> {
    let FieldReference { leads: Leads::Code(to), .. } =
        branch(word, address(entry, index)).filter(|_| !is_call(word))?
    else {
        return None;
    };
    inside(to, entry, words)
}

fn inside(to: u64, entry: u64, words: usize) -> Option<usize> {
    let offset = to.checked_sub(entry).filter(|offset| offset % 4 == 0)?;
    usize::try_from(offset / 4).ok().filter(|&index| index < words)
}

/// Indices of instructions whose address the function itself makes: it may jump to them.
fn own_labels(words: &[u32], entry: u64) -> Vec<usize> {
    let mut found = Vec::new();
    for (index, &word) in words.iter().enumerate() {
        let immediate = signed(word, 5, 19) << 2 | i64::from(word >> 29 & 3);
        let at = address(entry, index);
        match word & 0x9f00_0000 {
            0x1000_0000 => found.extend(inside(at.wrapping_add_signed(immediate), entry, words.len())),
            0x9000_0000 => {
                let page = (at & !0xfff).wrapping_add_signed(immediate << 12);
                let near = words[index + 1..].iter().take(PAIRED_WITHIN);
                let low = near.filter(|&&low| low & 0xffc0_0000 == 0x9100_0000 && low >> 5 & 31 == word & 31);
                found.extend(
                    low.filter_map(|low| inside(page + u64::from(low >> 10 & 0xfff), entry, words.len())),
                );
            }
            _ => {}
        }
    }
    found.retain(|&index| index > 0);
    found
}
