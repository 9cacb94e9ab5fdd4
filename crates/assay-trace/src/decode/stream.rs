//! One thread's stream of blocks, decoded.

use super::code::{BlockEnding, BlockInfo, BlockStep, ENDINGS, SeenBlocks};
use super::events::Events;
use crate::{BranchForm, ClassCounts, Observer, TraceMark};
use assay_pure::trace::Branch;
use assay_pure::trace::channel::{ESCAPE, StreamEvent};
use std::collections::BTreeMap;
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
pub(crate) struct EndingTotals {
    pub(crate) endings: [u64; ENDINGS],
    pub(crate) instructions: u64,
    pub(crate) taken: u64,
}

impl EndingTotals {
    /// Adds `times` executions of a block.
    pub(crate) fn add_block(&mut self, info: &BlockInfo, times: u64) {
        let index = info.ending as usize;
        self.endings[index] = self.endings[index].wrapping_add(times);
        self.instructions = self.instructions.wrapping_add(times.wrapping_mul(u64::from(info.instructions)));
    }

    /// Both together.
    pub(crate) fn plus(mut self, other: &EndingTotals) -> EndingTotals {
        for (a, b) in self.endings.iter_mut().zip(other.endings) {
            *a = a.wrapping_add(b);
        }
        self.instructions = self.instructions.wrapping_add(other.instructions);
        self.taken += other.taken;
        self
    }

    /// What was added since `earlier`.
    pub(crate) fn since(mut self, earlier: &EndingTotals) -> EndingTotals {
        for (a, b) in self.endings.iter_mut().zip(earlier.endings) {
            *a = a.wrapping_sub(b);
        }
        self.instructions = self.instructions.wrapping_sub(earlier.instructions);
        self.taken = self.taken.wrapping_sub(earlier.taken);
        self
    }

    /// In the words of the lab; `directions` says whether taken ones were told from others throughout.
    pub(crate) fn counts(&self, directions: bool) -> ClassCounts {
        let of = |ending: BlockEnding| self.endings[ending as usize];
        ClassCounts {
            instructions: self.instructions,
            conditional: of(BlockEnding::Conditional),
            taken: directions.then_some(self.taken),
            jumps: of(BlockEnding::Jump),
            calls: of(BlockEnding::Call),
            indirect_jumps: of(BlockEnding::IndirectJump),
            indirect_calls: of(BlockEnding::IndirectCall),
            returns: of(BlockEnding::Return),
            system_calls: of(BlockEnding::SystemCall),
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
pub(crate) struct ThreadStream {
    /// In which form branches are handed on, if at all.
    wanted: Option<BranchForm>,
    pending: Pending,
    /// What signals have interrupted, the innermost last.
    interrupted: Vec<Pending>,
    /// A signal handler has just returned.
    returning: bool,
    /// An event that is not complete yet: words still missing, words so far.
    event: Vec<u32>,
    /// How often each block was left, modulo 2^64: where a branch ends it and its outcome was told here, not taken and taken.
    left: Vec<[u64; 2]>,
    /// Conditional branches taken that are not told in `left`.
    taken: u64,
    /// What of the executed blocks was not executed, having been cut.
    unexecuted: EndingTotals,
    /// Executions of blocks that were left before their end, by the block and the instructions executed of it.
    cuts: BTreeMap<(u32, u32), u64>,
    batch: Box<[Branch]>,
    filled: usize,
    events: Events,
    /// Words that were neither block nor event.
    pub(crate) damaged: u64,
    marks: Vec<(TraceMark, EndingTotals)>,
}

impl ThreadStream {
    /// A thread's beginning. `wanted` says in which form observers are to see branches; `None` if not at all.
    pub(crate) fn new(wanted: Option<BranchForm>) -> ThreadStream {
        let branches = if wanted == Some(BranchForm::Branches) { BATCH } else { 0 };
        ThreadStream {
            wanted,
            pending: Pending { block: NONE, carry: 0 },
            interrupted: Vec::new(),
            returning: false,
            event: Vec::new(),
            left: Vec::new(),
            taken: 0,
            unexecuted: EndingTotals::default(),
            cuts: BTreeMap::new(),
            batch: vec![BlockInfo::START.branch; branches].into(),
            filled: 0,
            events: Events::default(),
            damaged: 0,
            marks: Vec::new(),
        }
    }

    /// What was executed so far. Cost: a pass over all blocks, so that a step need not add to it.
    pub(crate) fn totals(&self, code: &SeenBlocks) -> EndingTotals {
        let mut totals = EndingTotals { taken: self.taken, ..EndingTotals::default() };
        for ((info, times), left) in code.infos().iter().zip(self.executed()).zip(&self.left) {
            totals.add_block(info, times);
            if info.ending == BlockEnding::Conditional {
                totals.taken += left[1];
            }
        }
        totals.since(&self.unexecuted)
    }

    /// The block whose end was not seen.
    pub(crate) fn pending(&self) -> Option<u32> {
        (self.pending.block != NONE).then_some(self.pending.block)
    }

    /// Executions of each block.
    pub(crate) fn executed(&self) -> Vec<u64> {
        let mut executed: Vec<u64> = self.left.iter().map(|[a, b]| a.wrapping_add(*b)).collect();
        for open in self.interrupted.iter().chain([&self.pending]) {
            if let Some(times) = executed.get_mut(open.block as usize) {
                *times = times.wrapping_add(1);
            }
        }
        executed
    }

    /// Executions, counted among those of [`ThreadStream::executed`], that ended before the block did: block, instructions
    /// executed of it, times.
    pub(crate) fn cuts(&self) -> impl Iterator<Item = (u32, u32, u64)> + '_ {
        self.cuts.iter().map(|((block, executed), times)| (*block, *executed, *times))
    }

    /// Marks passed since last asked, with what was executed before each.
    pub(crate) fn take_marks(&mut self) -> Vec<(TraceMark, EndingTotals)> {
        std::mem::take(&mut self.marks)
    }

    /// Decodes words until one names a block that `code` does not have. Returns how many were decoded.
    pub(crate) fn decode(
        &mut self,
        code: &SeenBlocks,
        words: &[AtomicU32],
        observer: &mut impl Observer,
    ) -> usize {
        self.left.resize(code.infos().len().max(self.left.len()), [0; 2]);
        let mut done = 0;
        while done < words.len() {
            if self.filled + PIECE >= BATCH || self.events.nearly_full() {
                self.hand_on(code, observer);
            }
            if !self.event.is_empty() {
                self.event_word(code, words[done].load(Ordering::Relaxed), observer);
                done += 1;
                continue;
            }
            let piece = &words[done..words.len().min(done + PIECE)];
            done += match self.wanted {
                Some(BranchForm::Branches) => self.fast(code.infos(), piece),
                Some(BranchForm::Steps { all: true }) => self.quick::<true>(code.steps(), piece),
                _ => self.quick::<false>(code.steps(), piece),
            };
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
    pub(crate) fn skip(&mut self) {
        self.damaged += 1;
    }

    /// Gives the observer what has been collected.
    pub(crate) fn hand_on(&mut self, code: &SeenBlocks, observer: &mut impl Observer) {
        if self.wanted.is_some() {
            if self.filled > 0 {
                observer.branches(code.sites(), &self.batch[..self.filled]);
            }
            if !self.events.is_empty() {
                observer.steps(self.events.steps(code.branches()));
            }
        }
        self.filled = 0;
        self.events.clear();
    }

    /// The usual steps as events; stops in front of a word that needs a closer look. At most [`PIECE`] words.
    fn quick<const ALL: bool>(&mut self, steps: &[BlockStep], words: &[AtomicU32]) -> usize {
        let mut last_id = self.pending.block;
        let Some(mut last) = steps.get(last_id as usize) else { return 0 };
        let mut events = self.events.writer();
        let left = &mut self.left[..];
        let mut done = 0;
        for word in words {
            let id = word.load(Ordering::Relaxed);
            let (Some(next), Some(left)) = (steps.get(id as usize), left.get_mut(last_id as usize)) else {
                break;
            };
            let hit = u32::from(next.here == last.target);
            // A minimum and no `and` of two conditions: of that compilers make a branch on the program's outcomes, which
            // our processor would predict as badly as the program's own.
            let from_target = next.here ^ last.target;
            let from_other = (next.here ^ last.other).saturating_sub(last.slack);
            if from_target.min(from_other) != 0 {
                break;
            }
            events.put::<ALL>(last, hit, next.pc);
            left[hit as usize] = left[hit as usize].wrapping_add(1);
            last = next;
            last_id = id;
            done += 1;
        }
        let filled = events.filled;
        self.events.filled = filled;
        self.pending = Pending { block: last_id, carry: 0 };
        self.returning &= done == 0;
        done
    }

    /// The usual steps; stops in front of a word that needs a closer look. At most [`PIECE`] words.
    fn fast(&mut self, infos: &[BlockInfo], words: &[AtomicU32]) -> usize {
        let first_id = self.pending.block;
        let mut last_id = first_id;
        let mut last = infos.get(last_id as usize).unwrap_or(&BlockInfo::START);
        let mut carry = self.pending.carry;
        let mut filled = self.filled;
        let batch = &mut self.batch[..];
        let mut taken_sum = self.taken;
        let mut done: usize = 0;
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
            taken_sum += u64::from(taken & (last.ending as u8 == BlockEnding::Conditional as u8));
            last = next;
            last_id = id;
            done += 1;
        }
        // Counted apart: one loop for both would have more values than there are registers.
        for word in &words[..done.saturating_sub(1)] {
            if let Some(left) = self.left.get_mut(word.load(Ordering::Relaxed) as usize) {
                left[0] = left[0].wrapping_add(1);
            }
        }
        if done > 0 {
            self.leave(first_id, 0);
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
    fn slow(&mut self, code: &SeenBlocks, id: u32) {
        let next = &code.infos()[id as usize];
        let returning = std::mem::take(&mut self.returning);
        let Some(last) = code.infos().get(self.pending.block as usize) else {
            self.pending = Pending { block: id, carry: 0 };
            return;
        };
        let carry = self.pending.carry;
        let since = carry.saturating_add(last.instructions);
        if next.pc == last.branch.pc && last.ending == BlockEnding::Repeat {
            // The string instruction goes on: nothing new is executed.
            self.leave(self.pending.block, 0);
            self.unexecute(id);
            self.pending = Pending { block: id, carry: since.saturating_sub(next.instructions) };
            return;
        }
        let handler = code.is_handler(next.pc);
        let restarted = last.ending == BlockEnding::SystemCall && next.pc == last.branch.pc;
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
                let forgotten = self.interrupted.remove(0);
                self.leave(forgotten.block, 0);
            }
            self.interrupted.push(self.pending);
            self.pending = Pending { block: id, carry: 0 };
        }
    }

    /// The next block begins, the last one is left.
    fn enter(&mut self, id: u32, carry: u32) {
        self.leave(self.pending.block, 0);
        self.pending = Pending { block: id, carry };
    }

    /// A block is left, if it is one.
    fn leave(&mut self, id: u32, taken: usize) {
        if let Some(left) = self.left.get_mut(id as usize) {
            left[taken] = left[taken].wrapping_add(1);
        }
    }

    /// What the block will be counted for when it is left was counted already.
    fn unexecute(&mut self, id: u32) {
        if let Some(left) = self.left.get_mut(id as usize) {
            left[0] = left[0].wrapping_sub(1);
        }
    }

    /// One more word of an event; acts on the event when it is whole.
    fn event_word(&mut self, code: &SeenBlocks, word: u32, observer: &mut impl Observer) {
        self.event.push(word);
        let Some(arguments) = StreamEvent::arguments(self.event[1]) else {
            self.event.clear();
            self.damaged += 1;
            return;
        };
        if self.event.len() < 2 + arguments {
            return;
        }
        let event = StreamEvent::from_words(self.event[1], &self.event[2..]);
        self.event.clear();
        let mark = match event {
            Some(StreamEvent::RegionBegins { variant, input, pass }) => {
                TraceMark::RegionBegins { variant, input, pass }
            }
            Some(StreamEvent::RegionEnds) => TraceMark::RegionEnds,
            Some(StreamEvent::SignalReturns) => {
                let back = self.interrupted.pop();
                self.leave(self.pending.block, 0);
                self.pending = back.unwrap_or(Pending { block: NONE, carry: 0 });
                self.returning = back.is_some();
                return;
            }
            None => return,
        };
        if self.wanted.is_some() {
            self.hand_on(code, observer);
            observer.mark(mark);
        }
        self.marks.push((mark, self.totals(code)));
    }

    /// The last block was left after `executed` of its instructions.
    fn cut(&mut self, last: &BlockInfo, executed: u32) {
        *self.cuts.entry((self.pending.block, executed)).or_default() += 1;
        self.unexecuted.endings[last.ending as usize] += 1;
        self.unexecuted.instructions += u64::from(last.instructions.saturating_sub(executed));
    }

    fn emit(&mut self, last: &BlockInfo, next_pc: u64, since: u32) {
        let target = if last.anywhere { next_pc } else { last.branch.target };
        let taken = last.anywhere || next_pc == last.branch.target;
        let class = last.branch.class();
        if self.wanted == Some(BranchForm::Branches) {
            if let Some(place) = self.batch.get_mut(self.filled) {
                *place = Branch::new(last.branch.pc, target, last.branch.site, class, taken, since);
                self.filled += 1;
            }
        } else {
            let branch = Branch::new(last.branch.pc, target, last.branch.site, class, taken, 0);
            self.events.add(&branch);
        }
        self.taken += u64::from(taken && class.is_conditional());
    }
}
