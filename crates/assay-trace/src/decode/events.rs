//! Branches on their way to an observer, as events.

use super::code::BlockStep;
use assay_pure::predict::{NO_RUNS, Steps};
use assay_pure::trace::Branch;

/// Events of each kind that there is room for: 32 KB, which stay in the nearest cache until they are handed on.
const ROOM: usize = 1 << 13;
/// Handed on when there is no room for so many more, as many as are decoded between two looks and one.
const SPARE: usize = 1 << 11;

/// Where the next event of each kind goes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Filled {
    conditionals: usize,
    all: usize,
    targets: usize,
}

/// Events that wait.
pub(super) struct Events {
    conditionals: Box<[u32; ROOM]>,
    all: Box<[u32; ROOM]>,
    targets: Box<[u64; ROOM]>,
    pub(super) filled: Filled,
}

/// Writes events without asking for room, so at most [`SPARE`].
pub(super) struct EventWriter<'a> {
    conditionals: &'a mut [u32; ROOM],
    all: &'a mut [u32; ROOM],
    targets: &'a mut [u64; ROOM],
    pub(super) filled: Filled,
}

impl Default for Events {
    fn default() -> Events {
        let (conditionals, all) = (Box::new([0; ROOM]), Box::new([0; ROOM]));
        Events { conditionals, all, targets: Box::new([0; ROOM]), filled: Filled::default() }
    }
}

impl Events {
    /// Whether they are to be handed on before the next piece of stream is decoded.
    pub(super) fn nearly_full(&self) -> bool {
        self.filled.conditionals.max(self.filled.all) + SPARE >= ROOM
    }

    pub(super) fn is_empty(&self) -> bool {
        self.filled.conditionals + self.filled.all == 0
    }

    pub(super) fn clear(&mut self) {
        self.filled = Filled::default();
    }

    pub(super) fn writer(&mut self) -> EventWriter<'_> {
        let Events { conditionals, all, targets, filled } = self;
        EventWriter { conditionals, all, targets, filled: *filled }
    }

    /// One that was found by a closer look.
    pub(super) fn add(&mut self, branch: &Branch) {
        let (class, event) = (branch.class(), branch.site << 1 | u32::from(branch.taken()));
        let filled = &mut self.filled;
        self.conditionals[filled.conditionals % ROOM] = event;
        filled.conditionals += usize::from(class.is_conditional());
        self.all[filled.all % ROOM] = event;
        filled.all += 1;
        self.targets[filled.targets % ROOM] = branch.target;
        filled.targets += usize::from(class.is_indirect());
    }

    /// What waits, as branches of these sites.
    pub(super) fn steps<'a>(&'a self, sites: &'a [Branch]) -> Steps<'a> {
        Steps {
            sites,
            conditionals: &self.conditionals[..self.filled.conditionals],
            runs: &NO_RUNS,
            all: &self.all[..self.filled.all],
            targets: &self.targets[..self.filled.targets],
        }
    }
}

impl EventWriter<'_> {
    /// The branch at the end of a block, if there is one: written in any case and kept by moving on, since whether there
    /// is one would be an unpredictable branch of ours.
    #[inline(always)]
    pub(super) fn put<const ALL: bool>(&mut self, last: &BlockStep, hit: u32, next_pc: u64) {
        let (event, filled) = (last.event | hit, &mut self.filled);
        self.conditionals[filled.conditionals % ROOM] = event;
        filled.conditionals += usize::from(last.conditional);
        if ALL {
            self.all[filled.all % ROOM] = event;
            filled.all += usize::from(last.emits);
            self.targets[filled.targets % ROOM] = next_pc;
            filled.targets += usize::from(last.indirect);
        }
    }
}
