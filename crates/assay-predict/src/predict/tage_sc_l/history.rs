//! What the predictor remembers of all branches: direction and path mixed, as long folds, and the path alone.
//!
//! A branch pushes two bits, an unconditional indirect one three. They are the low bits of its address, shifted onto
//! itself, with the direction in the lowest; the path register takes in seven bits of the address for each. The target
//! counts for nothing except that of a conditional indirect branch that was taken (there is none on x86).

use super::budget::Budget;
use super::folds::{LANES, Leaving, Masks};
use crate::trace::Branch;

/// The folds that a size needs of the history.
pub trait Folds {
    /// Of no history, of these lengths; 0 is an unused lane.
    fn new(lengths: [u16; LANES]) -> Self;

    /// Takes in two bits; `left` is what left each length with the older and with the newer.
    fn advance_two(&mut self, older: u16, newer: u16, left: &[Masks; 2]);

    /// Takes in one bit.
    fn advance_one(&mut self, bit: u16, left: &Masks);
}

/// The history of a predictor of size B.
pub struct GlobalHistory<B: Budget> {
    leaving: Leaving,
    folds: B::Folds,
    path: u32,
}

impl<B: Budget> Default for GlobalHistory<B> {
    /// Of no branches.
    fn default() -> GlobalHistory<B> {
        GlobalHistory { leaving: Leaving::new(B::LENGTHS), folds: B::Folds::new(B::LENGTHS), path: 0 }
    }
}

impl<B: Budget> GlobalHistory<B> {
    /// The folded histories.
    #[inline(always)]
    pub fn folds(&self) -> &B::Folds {
        &self.folds
    }

    /// The path register.
    #[inline(always)]
    pub fn path(&self) -> u32 {
        self.path
    }

    /// How many bits have come, as far as 32 bits can say it.
    #[inline(always)]
    pub fn pushed(&self) -> u32 {
        self.leaving.pushed() as u32
    }

    /// Takes in a branch.
    #[inline(always)]
    pub fn push(&mut self, branch: &Branch) {
        let (pc, class) = (branch.pc, branch.class());
        let mut bits = (pc ^ pc >> 2) as u16 ^ u16::from(branch.taken());
        let mut path = (pc ^ pc >> 2 ^ pc >> 4) as u32;
        if class.is_conditional() && class.is_indirect() && branch.taken() {
            bits ^= (branch.target >> 2) as u16;
            path ^= (branch.target >> 2 ^ branch.target >> 4) as u32;
        }
        let (older, newer) = (bits & 1, bits >> 1 & 1);
        let left = self.leaving.advance_two(older, newer);
        self.folds.advance_two(older, newer, &left);
        self.path = self.path << 2 ^ (path & 127) << 1 ^ (path >> 1 & 127);
        if class.is_indirect() && !class.is_conditional() {
            let bit = bits >> 2 & 1;
            let left = self.leaving.advance_one(bit);
            self.folds.advance_one(bit, &left);
            self.path = self.path << 1 ^ (path >> 2 & 127);
        }
        self.path &= B::PATH_MASK;
    }
}

/// A path of `size` bits, mixed differently for each table: its parts beyond `log` bits are rotated by the table's number
/// and laid over the lowest, then all is rotated again. More than `log` bits may come out; additions carry, as published.
#[inline(always)]
pub const fn mix_path(path: u32, size: u32, table: u32, log: u32) -> u32 {
    let mask = (1 << log) - 1;
    let path = path & ((1 << size) - 1);
    let (low, high) = (path & mask, path >> log);
    if table >= log {
        return low ^ high;
    }
    let high = ((high << table) & mask) + (high >> (log - table));
    let both = low ^ high;
    ((both << table) & mask) + (both >> (log - table))
}
