//! Which addresses the instructions of a function make, and where each leads.
//!
//! An address is made in halves: `adrp` gives its page, and the low twelve bits follow in an `add` or in a load, perhaps far behind
//! and more than once. So what each register holds is followed along the control flow of the function until nothing changes
//! any more. Compilers reach several objects from one address (gcc's section anchors): an address that only serves as the
//! base of loads and of other addresses says nothing by itself, and each of its uses says what it reaches. What goes anywhere
//! else (into memory, to a callee, into other arithmetic) leads to an object. Where ways meet, only registers that are read
//! later count. Limits: a callee keeps x2 to x17 where the compiler relies on it, and returns in x0 and x1.

use super::super::listing::{FieldReference, Leads};
use super::held::{Held, HeldByAll, Makers, REGISTERS, TableEntry, TableTarget};
use super::operands::operands;
use super::{branch, ends, is_call, is_jump, is_return, signed, switch};
use crate::placement::identity::data::ReadExtent;
use crate::placement::identity::image::LinkedImage;
use std::collections::{BTreeMap, BTreeSet};

/// The low twelve bits of an address, in an `add` or in a load.
const LOW: u64 = 0x003f_fc00;
/// The distance of an `adr` or `adrp`.
const RELATIVE: u64 = 0x60ff_ffe0;
const MRS_THREAD: u32 = 0xd53b_d040;
/// x0 to x8: arguments.
const ARGUMENTS: u32 = 0x1ff;
/// The halves of an address stand so near to each other, where it is that of code inside the function.
const PAIRED_WITHIN: usize = 8;
/// x0 and x1: results.
const RESULTS: u32 = 3;

/// A function as words, and what was found of them.
pub struct MadeAddresses {
    /// What each instruction refers to.
    pub references: Vec<Option<FieldReference>>,
    /// Whatever is mentioned.
    pub mentioned: Vec<u64>,
    /// An indirect jump whose targets are not known, and which may stay inside the function.
    pub unexplained: Option<usize>,
}

/// What an instruction's field leads to, until it is known how what it makes is used.
enum FoundLead {
    /// Certain.
    Certain(FieldReference),
    /// A page; it says something only where it is used in other ways than as the upper half of an address.
    Page,
    /// An address; it says something only where it is used in ways that are not followed.
    Address { to: u64, mask: u64 },
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
}

/// Follows the registers of a function; `labels`: addresses inside of it that data holds.
pub fn made(image: &LinkedImage, words: &[u32], entry: u64, labels: &[u64]) -> MadeAddresses {
    let held = labels.iter().filter_map(|&to| inside(to, entry, words.len()));
    let mut labels = own_labels(words, entry);
    labels.extend(held.filter(|&index| index > 0));
    let mut walk = Walk::new(image, words, entry, labels);
    walk.settle();
    while walk.pads.is_empty() {
        let unreached = walk.held.iter().enumerate().filter(|(_, held)| held.is_none());
        walk.pads = unreached.map(|(block, _)| block).collect();
        if walk.pads.is_empty() {
            break;
        }
        walk.settle();
    }
    walk.told()
}

impl<'a> Walk<'a> {
    fn new(image: &'a LinkedImage<'a>, words: &'a [u32], entry: u64, labels: Vec<usize>) -> Self {
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
            if to.is_some() || ends(word) {
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
        };
        walk.lead(leaders);
        walk
    }

    /// Cuts the function at these instructions.
    fn lead(&mut self, leaders: BTreeSet<usize>) {
        self.leaders = leaders.into_iter().filter(|&leader| leader < self.words.len()).collect();
        self.live = self.liveness();
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
        let falls = !ends(word) && block + 1 < self.leaders.len();
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
        let own = operands(word);
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

    /// Follows the registers until nothing changes.
    fn settle(&mut self) {
        let mut waiting = Vec::new();
        self.begin(&mut waiting);
        while let Some(block) = waiting.pop() {
            let mut held = self.held[block].expect("only what is reached waits");
            let mut thrown = false;
            for index in self.leaders[block]..self.end(block) {
                self.transfer(index, &mut held, None);
                if !self.pads.is_empty() && is_call(self.words[index]) {
                    thrown |= self.throw(&held);
                }
            }
            if thrown {
                let held = self.thrown.expect("just thrown");
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
            *first = Some([Held::Other; REGISTERS]);
            waiting.push(0);
        }
    }

    /// What a pad finds behind any of the calls so far; whether that is new.
    fn throw(&mut self, held: &HeldByAll) -> bool {
        let live = self.pads.iter().fold(0, |live, &pad| live | self.live[pad]);
        let joined = self.joined(self.thrown, held, live);
        let is_new = self.thrown != Some(joined);
        self.thrown = Some(joined);
        is_new
    }

    fn joined(&mut self, known: Option<HeldByAll>, held: &HeldByAll, live: u32) -> HeldByAll {
        let mut joined = [Held::Other; REGISTERS];
        for (register, joined) in
            joined.iter_mut().enumerate().filter(|(register, _)| live >> register & 1 == 1)
        {
            *joined = match known {
                Some(known) => self.makers.join(known[register], held[register]),
                None => held[register],
            };
        }
        joined
    }

    fn enter(&mut self, block: usize, held: &HeldByAll, waiting: &mut Vec<usize>) {
        let joined = self.joined(self.held[block], held, self.live[block]);
        if self.held[block] != Some(joined) {
            self.held[block] = Some(joined);
            waiting.push(block);
        }
    }

    /// An indirect jump that does not come back.
    fn jump(&mut self, index: usize, held: &HeldByAll, waiting: &mut Vec<usize>) {
        let through = held.get((self.words[index] >> 5 & 31) as usize).copied();
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

    /// What an instruction does to the registers; where it is to be told, also what it refers to.
    fn transfer(&mut self, index: usize, held: &mut HeldByAll, told: Option<&mut Told>) {
        if self.literal[index] {
            return;
        }
        let word = self.words[index];
        let found = self.found(index, held);
        if let Some(told) = told {
            let doubt = self.uses(index, held, found.followed);
            told.indexed.extend(found.indexed);
            if let Some(lead) = found.lead.or(doubt) {
                told.leads.insert(index, lead);
            }
        }
        if is_call(word) {
            for register in [0, 1, 18, 30] {
                held[register] = Held::Other;
            }
        }
        let writes = operands(word).writes;
        for (_, held) in held.iter_mut().enumerate().filter(|(register, _)| writes >> register & 1 == 1) {
            *held = Held::Other;
        }
        if let (Some(made), Some(held)) = (found.made, held.get_mut((word & 31) as usize)) {
            *held = made;
        }
    }

    /// Notes which addresses go where they are not followed; a doubt where it is unclear what goes there.
    fn uses(&mut self, index: usize, held: &HeldByAll, followed: u32) -> Option<FoundLead> {
        let word = self.words[index];
        let by_hand = operands(word).reads & !followed;
        let passed = match word {
            _ if is_jump(word) && self.switches.contains_key(&index) => 0,
            _ if is_jump(word) => ARGUMENTS,
            _ => self.by_convention(index).0 & !operands(word).reads,
        };
        let mut unclear = false;
        for (register, held) in held.iter().enumerate() {
            let read = by_hand >> register & 1 == 1;
            match *held {
                Held::Address { by, .. } if read || passed >> register & 1 == 1 => self.makers.is_used(by),
                Held::Page { by, .. } if read => self.makers.is_used(by),
                Held::Unclear => unclear |= read,
                _ => {}
            }
        }
        unclear.then_some(FoundLead::Certain(FieldReference { offset: 0, mask: 0, leads: Leads::Unfollowed }))
    }

    /// What an instruction's field leads to, and what it puts into its first register.
    fn found(&self, index: usize, held: &HeldByAll) -> Found {
        let (word, at) = (self.words[index], address(self.entry, index));
        if let Some(found) = branch(word, at) {
            return Found { lead: Some(FoundLead::Certain(found)), ..Found::default() };
        }
        let immediate = signed(word, 5, 19) << 2 | i64::from(word >> 29 & 3);
        let by = index;
        match word & 0x9f00_0000 {
            0x9000_0000 => {
                let page = (at & !0xfff).wrapping_add_signed(immediate << 12);
                return Found {
                    lead: Some(FoundLead::Page),
                    made: Some(Held::Page { page, by }),
                    ..Found::default()
                };
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
            return Found { made: held.get(register).copied(), followed: 1 << register, ..Found::default() };
        }
        if let Some((register, target)) = table_sum(word, held) {
            return Found { made: Some(Held::Target(target)), followed: 1 << register, ..Found::default() };
        }
        let register = word >> 5 & 31;
        let Some(&base) = held.get(register as usize) else { return Found::default() };
        // What the instruction reads of it besides, as a store of an address to where it leads.
        let besides = operands(word | 31 << 5).reads;
        let found = if is_add_immediate(word) {
            added(index, word, base)
        } else if let Some(plain) = PlainOffset::of(word) {
            plain.reached(base)
        } else if let (Some((bytes, signed)), Held::Address { to: table, by }) = (entry_load(word), base) {
            let entry = TableEntry { table, by, load: index, bytes, signed };
            Found { made: Some(Held::Entry(entry)), indexed: Some((by, index)), ..Found::default() }
        } else {
            return Found::default();
        };
        let follows = found.lead.is_some() || found.indexed.is_some();
        Found { followed: if follows { 1 << register & !besides } else { 0 }, ..found }
    }

    /// All that was found, once nothing changes.
    fn told(mut self) -> MadeAddresses {
        let mut told = Told::default();
        let mut unexplained = None;
        for block in 0..self.leaders.len() {
            // What nothing leads to is told as if nothing were known ahead of it.
            let mut held = self.held[block].unwrap_or([Held::Other; REGISTERS]);
            for index in self.leaders[block]..self.end(block) {
                if is_jump(self.words[index]) && !self.literal[index] {
                    let through = held.get((self.words[index] >> 5 & 31) as usize).copied();
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

/// What is found of one instruction.
#[derive(Default)]
struct Found {
    lead: Option<FoundLead>,
    /// What its first register holds then.
    made: Option<Held>,
    /// Registers that it reads in a way that is followed.
    followed: u32,
    indexed: Option<(usize, usize)>,
}

impl Found {
    fn certain(mask: u64, leads: Leads) -> Self {
        Self { lead: Some(FoundLead::Certain(FieldReference { offset: 0, mask, leads })), ..Self::default() }
    }

    fn address(to: u64, by: usize, mask: u64) -> Self {
        let made = Some(Held::Address { to, by });
        Self { lead: Some(FoundLead::Address { to, mask }), made, ..Self::default() }
    }
}

/// `add Xd, Xn, #imm`, perhaps shifted by twelve bits, or `sub`.
fn added(index: usize, word: u32, base: Held) -> Found {
    let shifted = word >> 22 & 1 == 1;
    let number = i64::from(word >> 10 & 0xfff) << if shifted { 12 } else { 0 };
    let number = if word >> 30 & 1 == 1 { -number } else { number };
    match base {
        Held::Page { page: from, .. } if !shifted && number >= 0 => {
            Found::address(from.wrapping_add_signed(number), index, LOW)
        }
        Held::Address { to: from, .. } => Found::address(from.wrapping_add_signed(number), index, LOW),
        // The upper half of a distance from the thread pointer, then the lower.
        Held::Thread(from) if shifted => {
            let made = Some(Held::Thread(from.wrapping_add(number)));
            Found { made, ..Found::certain(LOW, Leads::Nothing) }
        }
        Held::Thread(from) => Found::certain(LOW, Leads::Thread(from.wrapping_add(number))),
        Held::Unclear => Found::certain(LOW, Leads::Unfollowed),
        _ => Found::default(),
    }
}

/// A load or store at a fixed distance from a register that it does not change.
struct PlainOffset {
    offset: i64,
    bytes: u64,
    mask: u64,
}

impl PlainOffset {
    fn of(word: u32) -> Option<Self> {
        let vector = word >> 26 & 1 == 1;
        let scale = (word >> 30 | if vector { word >> 21 & 4 } else { 0 }).min(4);
        if word & 0x3b00_0000 == 0x3900_0000 {
            let offset = i64::from(word >> 10 & 0xfff) << scale;
            return Some(Self { offset, bytes: 1 << scale, mask: LOW });
        }
        if word & 0x3b20_0c00 == 0x3800_0000 {
            return Some(Self { offset: signed(word, 12, 9), bytes: 1 << scale, mask: 0x001f_f000 });
        }
        let pair = word & 0x3b80_0000;
        if pair == 0x2900_0000 || pair == 0x2800_0000 {
            let scale = if vector { 2 + (word >> 30) } else { 2 + (word >> 31) };
            let offset = signed(word, 15, 7) << scale;
            return Some(Self { offset, bytes: 2 << scale, mask: 0x003f_8000 });
        }
        None
    }

    fn reached(self, base: Held) -> Found {
        let extent = ReadExtent::Bytes(self.bytes);
        let leads = match base {
            Held::Page { page, .. } if self.mask == LOW => {
                Leads::Data(page.wrapping_add_signed(self.offset), extent)
            }
            Held::Address { to, .. } => Leads::Data(to.wrapping_add_signed(self.offset), extent),
            Held::Thread(pointer) => Leads::Thread(pointer.wrapping_add(self.offset)),
            Held::Unclear => Leads::Unfollowed,
            _ => return Found::default(),
        };
        Found::certain(self.mask, leads)
    }
}

/// Bytes of the entry that a load with an index reads, and whether it widens it with its sign.
fn entry_load(word: u32) -> Option<(u64, bool)> {
    let (size, opc) = (word >> 30, word >> 22 & 3);
    let loads = word & 0x3f20_0c00 == 0x3820_0800 && opc != 0 && size < 3;
    loads.then_some((1 << size, opc > 1))
}

/// `add Xd, base, entry`: the register that holds the base, and what is made.
fn table_sum(word: u32, held: &HeldByAll) -> Option<(usize, TableTarget)> {
    let (n, m) = ((word >> 5 & 31) as usize, (word >> 16 & 31) as usize);
    let (shift, option) = match word & 0xffe0_0000 {
        0x8b00_0000 => (word >> 10 & 63, None),
        0x8b20_0000 => (word >> 10 & 7, Some(word >> 13 & 7)),
        _ => return None,
    };
    let sum = |base: usize, entry: usize| {
        let (&Held::Address { to, by }, &Held::Entry(entry)) = (held.get(base)?, held.get(entry)?) else {
            return None;
        };
        let signed = match option {
            None => entry.signed,
            Some(option) if 1 << (option & 3) == entry.bytes => option > 3,
            Some(option) if 1 << (option & 3) > entry.bytes && (option > 3 || !entry.signed) => entry.signed,
            Some(_) => return None,
        };
        Some((base, TableTarget { entry, base: to, base_by: by, shift, signed }))
    };
    sum(n, m).or_else(|| if option.is_none() && shift == 0 { sum(m, n) } else { None })
}

/// `mov Xd, Xm`.
fn moved(word: u32) -> Option<usize> {
    let register = (word >> 16 & 31) as usize;
    (word & 0xffe0_ffe0 == 0xaa00_03e0 && register < REGISTERS).then_some(register)
}

/// `add` or `sub` of 64 bits with a number.
fn is_add_immediate(word: u32) -> bool {
    word & 0xbf80_0000 == 0x9100_0000
}

/// Where a literal load reads, and how many bytes.
fn literal_load(word: u32, at: u64) -> Option<(u64, u64)> {
    if word & 0x3b00_0000 != 0x1800_0000 {
        return None;
    }
    let bytes = match (word >> 26 & 1, word >> 30) {
        (1, size) => 4 << size.min(2),
        (_, 1) => 8,
        // A prefetch.
        (_, 3) => return None,
        _ => 4,
    };
    Some((at.wrapping_add_signed(signed(word, 5, 19) * 4), bytes))
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
