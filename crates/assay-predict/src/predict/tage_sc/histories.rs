//! The pasts that the corrector sees: the way through the program, local directions, and iterations of loops.
//!
//! An iteration is counted while branches go back to the same place, or come from the same (IMLI), where a place is one of
//! 64 bytes, or of one; addresses count modulo 64 KB.

use super::biases::LARGE_LOG;
use super::past::next;
use super::rows::{Kind, Question};
use super::tables::Found;
use crate::trace::Branch;

/// The largest iteration.
const ITERATION_TOP: u32 = (1 << LARGE_LOG) - 1;
/// From this iteration of any loop on, backward branches say nothing.
const DEEP: u32 = 12;

/// A place that branches go back to or come back from, and how often in a row they did.
#[derive(Clone, Copy, Default)]
struct Recurrence {
    last: u32,
    count: u32,
}

impl Recurrence {
    /// Takes in a place; the one before, if that is another.
    #[inline(always)]
    fn meet(&mut self, place: u32) -> Option<u32> {
        let last = std::mem::replace(&mut self.last, place);
        if last == place {
            self.count = (self.count + 1).min(ITERATION_TOP);
            return None;
        }
        self.count = 0;
        Some(last)
    }
}

/// Iterations of loops, and the histories of branches that go back and forth.
#[derive(Clone, Copy, Default)]
pub struct Iterations {
    /// By target and by branch, of places of 64 bytes, then of places of one.
    regions: [Recurrence; 2],
    points: [Recurrence; 2],
    backward: u32,
    forward: u32,
}

impl Iterations {
    /// Where the branch at this word finds its counters by iteration: of regions by branch and by target, of points
    /// likewise. Before the second iteration histories take the place of its number.
    #[inline(always)]
    pub fn places(&self, word: u64) -> [usize; 4] {
        let by_branch = |place: &[Recurrence; 2], mask: u32| match place[1].count {
            0 => self.forward & mask,
            count => count,
        };
        let by_target = |place: &[Recurrence; 2], mask: u32| match place[0].count {
            count if count == 0 || count == place[1].count => self.backward & mask,
            count => count,
        };
        let word = word as u32;
        [
            word ^ by_branch(&self.regions, 63) ^ word >> (LARGE_LOG - 6),
            word >> 4 ^ by_target(&self.regions, 63) ^ word << (LARGE_LOG - 4),
            word ^ word >> 6 ^ by_branch(&self.points, 7) ^ word >> (LARGE_LOG - 6),
            word >> 5 ^ by_target(&self.points, 7) ^ word << (LARGE_LOG - 5),
        ]
        .map(|place| place as usize)
    }

    /// Whether all loops are in their first iterations.
    #[inline(always)]
    fn shallow(&self) -> bool {
        [self.regions, self.points].as_flattened().iter().all(|place| place.count < DEEP)
    }

    #[inline(always)]
    fn track(&mut self, branch: &Branch, next: u64) {
        let pc = branch.pc;
        let moved = self.forward << 3 ^ (next >> 2 ^ pc >> 1) as u32;
        self.forward = if branch.taken() & (next > pc) { moved } else { self.forward };
        if branch.class().is_indirect() {
            for place in self.regions.iter_mut().chain(&mut self.points) {
                place.count = 0;
            }
        } else if branch.taken() && next < pc {
            let ends = [next, pc].map(|end| end as u32 & 0xffff);
            for (place, end) in self.regions.iter_mut().zip(ends) {
                place.meet(end >> 6);
            }
            for (place, end) in self.points.iter_mut().zip(ends) {
                if let Some(last) = place.meet(end) {
                    self.backward = self.backward << 1 ^ last;
                }
            }
        }
    }
}

/// All of them.
pub struct Histories {
    /// The iterations.
    pub iterations: Iterations,
    global: u32,
    own: [u32; 128],
    blocks: [u32; 32],
    marked: [u32; 32],
    ways: [u32; 16],
    /// Where the block of the next branch begins, a word's number.
    block: u64,
    regions: u32,
    region: u64,
}

/// Where a word is found in a table of local histories that is addressed with this shift.
#[inline(always)]
fn local(word: u64, shift: u32, entries: usize) -> usize {
    (word ^ word >> shift) as usize % entries
}

impl Histories {
    /// Of no branches.
    pub fn new() -> Histories {
        Histories {
            iterations: Iterations::default(),
            global: 0,
            own: [0; 128],
            blocks: [0; 32],
            marked: [0; 32],
            ways: [0; 16],
            block: 0,
            regions: 0,
            region: 0,
        }
    }

    /// What the rows are asked of the branch at this word, and whether those of backward branches are to be heard.
    #[inline(always)]
    pub fn question(&self, word: u64, found: &Found) -> (Question, bool) {
        let says = u64::from(found.longest.taken) ^ u64::from(found.confident.taken) << 1;
        let mut question = Question::default();
        question.set(Kind::Global, word, self.global);
        question.set(Kind::Told, word ^ says, self.global);
        question.set(Kind::Own, word, self.own[local(word, 2, 128)]);
        question.set(Kind::Block, word, self.blocks[local(self.block, 5, 32)]);
        question.set(Kind::Marked, word, self.marked[local(word, 5, 32)]);
        question.set(Kind::Way, word, self.ways[local(word, 3, 16)]);
        question.set(Kind::Forward, word ^ word >> 3, self.iterations.forward);
        question.set(Kind::Region, word ^ word >> 3, self.regions);
        question.set(Kind::Backward, word ^ word >> 6, self.iterations.backward);
        (question, self.iterations.shallow())
    }

    /// Takes in a branch.
    #[inline(always)]
    pub fn track(&mut self, branch: &Branch) {
        let (pc, next) = (branch.pc, next(branch));
        let (word, taken) = (pc >> 2, branch.taken());
        let moved = (self.global << 1 ^ word as u32) << 1 ^ (next >> 4 ^ next >> 2) as u32;
        self.global = if taken | (pc > next) { moved } else { self.global << 1 };
        if branch.class().is_conditional() {
            let bit = u32::from(taken);
            let push = |history: &mut u32| *history = *history << 1 | bit;
            push(&mut self.own[local(word, 2, 128)]);
            push(&mut self.blocks[local(self.block, 5, 32)]);
            let marked = &mut self.marked[local(word, 5, 32)];
            *marked = (*marked << 1 | bit) ^ word as u32 & 15;
            let way = &mut self.ways[local(word, 3, 16)];
            *way = *way << 3 | (self.global >> 2 & 3) << 1 | bit;
        }
        self.block = if taken { next >> 2 } else { self.block };
        let region = next >> 8;
        let moved = self.regions << 1 ^ region as u32;
        self.regions = if region == self.region { self.regions } else { moved };
        self.region = region;
        self.iterations.track(branch, next);
    }
}
