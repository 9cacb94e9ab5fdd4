//! Histories that are not global: of each branch for itself, and the number of the innermost loop's iteration (IMLI).

/// What the branches that share an entry did, newest in the lowest bit.
/// SHIFT says which further address bits choose the entry.
pub struct Local<const N: usize, const SHIFT: u32> {
    histories: [u32; N],
}

impl<const N: usize, const SHIFT: u32> Default for Local<N, SHIFT> {
    /// Of no branches.
    fn default() -> Local<N, SHIFT> {
        Local { histories: [0; N] }
    }
}

impl<const N: usize, const SHIFT: u32> Local<N, SHIFT> {
    #[inline(always)]
    fn place(&self, pc: u64) -> usize {
        (pc ^ pc >> SHIFT) as usize % N
    }

    /// The history of the branch at `pc`.
    #[inline(always)]
    pub fn of(&self, pc: u64) -> u32 {
        self.histories[self.place(pc)]
    }

    /// Takes in a direction; `mark` is laid over the history.
    #[inline(always)]
    pub fn track(&mut self, pc: u64, taken: bool, mark: u32) {
        let history = &mut self.histories[self.place(pc)];
        *history = (*history << 1 | u32::from(taken)) ^ mark;
    }
}

/// Counts the iterations of the innermost loop: backward branches taken since one was not.
#[derive(Default)]
pub struct Iterations {
    number: u8,
}

impl Iterations {
    /// The number of the iteration, from 0; stays at 255.
    #[inline(always)]
    pub fn number(&self) -> u8 {
        self.number
    }

    /// Takes in a conditional branch.
    #[inline(always)]
    pub fn track(&mut self, taken: bool, backward: bool) {
        if backward {
            self.number = if taken { self.number.saturating_add(1) } else { 0 };
        }
    }
}
