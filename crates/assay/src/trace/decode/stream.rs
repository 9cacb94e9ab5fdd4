//! One thread's stream of blocks, decoded.

use super::code::{Code, ENDINGS, Ending, Info};
use crate::trace::{Counts, Mark, Observer};
use assay_pure::trace::Branch;
use assay_pure::trace::channel::{ESCAPE, Event};
use std::sync::atomic::{AtomicU32, Ordering};

/// Branches that are handed on at once.
const BATCH: usize = 8192;
/// Words decoded between two looks at the batch.
const PIECE: usize = 2048;
/// Signals inside of signals that are remembered; the oldest is forgotten.
const NESTED: usize = 64;
/// No block.
const NONE: u32 = u32::MAX;

/// Executions by ending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::trace) struct Totals {
    pub(in crate::trace) endings: [u64; ENDINGS],
    pub(in crate::trace) instructions: u64,
    pub(in crate::trace) taken: u64,
}

impl Totals {
    /// Adds `times` executions of a block.
    pub(in crate::trace) fn add_block(&mut self, info: &Info, times: u64) {
        let index = info.ending as usize;
        self.endings[index] = self.endings[index].wrapping_add(times);
        self.instructions = self.instructions.wrapping_add(times.wrapping_mul(u64::from(info.instructions)));
    }

    /// Both together.
    pub(in crate::trace) fn plus(mut self, other: &Totals) -> Totals {
        for (a, b) in self.endings.iter_mut().zip(other.endings) {
            *a = a.wrapping_add(b);
        }
        self.instructions = self.instructions.wrapping_add(other.instructions);
        self.taken += other.taken;
        self
    }

    /// What was added since `earlier`.
    pub(in crate::trace) fn since(mut self, earlier: &Totals) -> Totals {
        for (a, b) in self.endings.iter_mut().zip(earlier.endings) {
            *a = a.wrapping_sub(b);
        }
        self.instructions = self.instructions.wrapping_sub(earlier.instructions);
        self.taken = self.taken.wrapping_sub(earlier.taken);
        self
    }

    /// In the words of the lab; `directions` says whether taken ones were told from others throughout.
    pub(in crate::trace) fn counts(&self, directions: bool) -> Counts {
        let of = |ending: Ending| self.endings[ending as usize];
        Counts {
            instructions: self.instructions,
            conditional: of(Ending::Conditional),
            taken: directions.then_some(self.taken),
            jumps: of(Ending::Jump),
            calls: of(Ending::Call),
            indirect_jumps: of(Ending::IndirectJump),
            indirect_calls: of(Ending::IndirectCall),
            returns: of(Ending::Return),
            system_calls: of(Ending::SystemCall),
        }
    }
}

/// A block whose end is not known yet, and the instructions since the last branch before it.
#[derive(Clone, Copy)]
struct Pending {
    block: u32,
    carry: u32,
}

/// Where a thread is.
pub(in crate::trace) struct Stream {
    handing_on: bool,
    pending: Pending,
    /// What signals have interrupted, the innermost last.
    interrupted: Vec<Pending>,
    /// A signal handler has just returned.
    returning: bool,
    /// An event that is not complete yet: words still missing, words so far.
    event: Vec<u32>,
    executed: Vec<u64>,
    /// Conditional branches taken.
    taken: u64,
    /// What of the executed blocks was not executed, having been cut.
    unexecuted: Totals,
    batch: Box<[Branch]>,
    filled: usize,
    /// Words that were neither block nor event.
    pub(in crate::trace) damaged: u64,
    marks: Vec<(Mark, Totals)>,
}

impl Stream {
    /// A thread's beginning. `handing_on` says whether observers are to see branches.
    pub(in crate::trace) fn new(handing_on: bool) -> Stream {
        Stream {
            handing_on,
            pending: Pending { block: NONE, carry: 0 },
            interrupted: Vec::new(),
            returning: false,
            event: Vec::new(),
            executed: Vec::new(),
            taken: 0,
            unexecuted: Totals::default(),
            batch: vec![Info::START.branch; BATCH].into(),
            filled: 0,
            damaged: 0,
            marks: Vec::new(),
        }
    }

    /// What was executed so far. Cost: a pass over all blocks, so that a step need not add to it.
    pub(in crate::trace) fn totals(&self, code: &Code) -> Totals {
        let mut totals = Totals { taken: self.taken, ..Totals::default() };
        for (info, times) in code.infos().iter().zip(&self.executed) {
            totals.add_block(info, *times);
        }
        totals.since(&self.unexecuted)
    }

    /// The block whose end was not seen.
    pub(in crate::trace) fn pending(&self) -> Option<u32> {
        (self.pending.block != NONE).then_some(self.pending.block)
    }

    /// Executions of each block.
    pub(in crate::trace) fn executed(&self) -> &[u64] {
        &self.executed
    }

    /// Marks passed since last asked, with what was executed before each.
    pub(in crate::trace) fn take_marks(&mut self) -> Vec<(Mark, Totals)> {
        std::mem::take(&mut self.marks)
    }

    /// Decodes words until one names a block that `code` does not have. Returns how many were decoded.
    pub(in crate::trace) fn decode(
        &mut self,
        code: &Code,
        words: &[AtomicU32],
        observer: &mut impl Observer,
    ) -> usize {
        self.executed.resize(code.infos().len().max(self.executed.len()), 0);
        let mut done = 0;
        while done < words.len() {
            if self.filled > BATCH - PIECE - 1 {
                self.hand_on(code, observer);
            }
            if !self.event.is_empty() {
                self.event_word(code, words[done].load(Ordering::Relaxed), observer);
                done += 1;
                continue;
            }
            let piece = &words[done..words.len().min(done + PIECE)];
            done += self.fast(code.infos(), piece);
            let Some(id) = words.get(done).map(|word| word.load(Ordering::Relaxed)) else {
                break;
            };
            if id == ESCAPE {
                self.event.push(id);
                done += 1;
            } else if id as usize >= code.infos().len() {
                break;
            } else {
                self.slow(code, id);
                done += 1;
            }
        }
        done
    }

    /// A word that names no block and never will.
    pub(in crate::trace) fn skip(&mut self) {
        self.damaged += 1;
    }

    /// Gives the observer what has been collected.
    pub(in crate::trace) fn hand_on(&mut self, code: &Code, observer: &mut impl Observer) {
        if self.filled > 0 && self.handing_on {
            observer.branches(code.sites(), &self.batch[..self.filled]);
        }
        self.filled = 0;
    }

    /// The usual steps; stops in front of a word that needs a closer look. At most [`PIECE`] words.
    fn fast(&mut self, infos: &[Info], words: &[AtomicU32]) -> usize {
        let mut last_id = self.pending.block;
        let mut last = infos.get(last_id as usize).unwrap_or(&Info::START);
        let mut carry = self.pending.carry;
        let mut filled = self.filled;
        let batch = &mut self.batch[..];
        let mut taken_sum = self.taken;
        let mut done = 0;
        for word in words {
            let id = word.load(Ordering::Relaxed);
            let Some(next) = infos.get(id as usize) else {
                break;
            };
            let hit = next.pc == last.branch.target;
            let possible = hit | (next.pc == last.other) | last.anywhere;
            if !possible | next.special {
                break;
            }
            let target = if last.anywhere { next.pc } else { last.branch.target };
            let taken = hit | last.anywhere;
            let since = carry.wrapping_add(last.instructions);
            let Some(place) = batch.get_mut(filled) else {
                break;
            };
            *place = last.branch.again(target, taken, since);
            filled += usize::from(last.emits);
            carry = since & last.carries;
            taken_sum += u64::from(taken & (last.ending as u8 == Ending::Conditional as u8));
            last = next;
            last_id = id;
            done += 1;
        }
        // Counted apart: one loop for both would have more values than there are registers.
        for word in &words[..done] {
            if let Some(times) = self.executed.get_mut(word.load(Ordering::Relaxed) as usize) {
                *times += 1;
            }
        }
        self.pending = Pending { block: last_id, carry };
        self.filled = filled;
        self.taken = taken_sum;
        if done > 0 {
            self.returning = false;
        }
        done
    }

    /// The step from the pending block to `id`, whatever it is.
    fn slow(&mut self, code: &Code, id: u32) {
        let next = &code.infos()[id as usize];
        let returning = std::mem::take(&mut self.returning);
        let Some(last) = code.infos().get(self.pending.block as usize) else {
            return self.enter(id, 0);
        };
        let carry = self.pending.carry;
        let since = carry.saturating_add(last.instructions);
        if next.pc == last.branch.pc && last.ending == Ending::Repeat {
            // The string instruction goes on: nothing new is executed.
            self.pending = Pending { block: id, carry: since.saturating_sub(next.instructions) };
            return;
        }
        let handler = code.is_handler(next.pc);
        let restarted = last.ending == Ending::SystemCall && next.pc == last.branch.pc;
        let successor = next.pc == last.branch.target || next.pc == last.other || last.anywhere || restarted;
        if (!successor || next.special) && !handler {
            // Interrupted before it came to its end, and taken up again in its midst?
            if let Some(executed) = code.instructions_before(self.pending.block, next.pc) {
                self.cut(last, executed);
                return self.enter(id, carry.saturating_add(executed));
            }
        }
        if successor && !(handler && last.anywhere) {
            if last.emits {
                self.emit(last, next.pc, since);
            }
            self.enter(id, if last.emits { 0 } else { since });
        } else if returning && !handler {
            // Back from a signal to another place than the one that was interrupted.
            self.enter(id, since);
        } else {
            if self.interrupted.len() == NESTED {
                self.interrupted.remove(0);
            }
            self.interrupted.push(self.pending);
            self.enter(id, 0);
        }
    }

    /// The next block begins.
    fn enter(&mut self, id: u32, carry: u32) {
        self.executed[id as usize] += 1;
        self.pending = Pending { block: id, carry };
    }

    /// One more word of an event; acts on the event when it is whole.
    fn event_word(&mut self, code: &Code, word: u32, observer: &mut impl Observer) {
        self.event.push(word);
        let Some(arguments) = Event::arguments(self.event[1]) else {
            self.event.clear();
            self.damaged += 1;
            return;
        };
        if self.event.len() < 2 + arguments {
            return;
        }
        let event = Event::from_words(self.event[1], &self.event[2..]);
        self.event.clear();
        let mark = match event {
            Some(Event::RegionBegins { variant, input, pass }) => Mark::RegionBegins { variant, input, pass },
            Some(Event::RegionEnds) => Mark::RegionEnds,
            Some(Event::SignalReturns) => {
                let back = self.interrupted.pop();
                self.pending = back.unwrap_or(Pending { block: NONE, carry: 0 });
                self.returning = back.is_some();
                return;
            }
            None => return,
        };
        if self.handing_on {
            self.hand_on(code, observer);
            observer.mark(mark);
        }
        self.marks.push((mark, self.totals(code)));
    }

    /// The last block was left after `executed` of its instructions.
    fn cut(&mut self, last: &Info, executed: u32) {
        self.unexecuted.endings[last.ending as usize] += 1;
        self.unexecuted.instructions += u64::from(last.instructions.saturating_sub(executed));
    }

    fn emit(&mut self, last: &Info, next_pc: u64, since: u32) {
        let target = if last.anywhere { next_pc } else { last.branch.target };
        let taken = last.anywhere || next_pc == last.branch.target;
        let class = last.branch.class();
        if let Some(place) = self.batch.get_mut(self.filled) {
            *place = Branch::new(last.branch.pc, target, last.branch.site, class, taken, since);
            self.filled += 1;
        }
        self.taken += u64::from(taken && class.is_conditional());
    }
}
