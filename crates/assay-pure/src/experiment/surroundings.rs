//! What surrounds a process and moves its stack, heap and libraries, though it is no part of what is measured.
//!
//! Method: drawn per process from the seed, so that it averages out over processes instead of deciding between two of them
//! (Mytkowicz et al. 2009, "Producing wrong data without doing anything obviously wrong"). The stack begins below the
//! environment: padding in it by less than a page, in steps of 16 bytes (which the ABI aligns the stack to), gives every
//! offset that locals can have in their page; whole pages beyond that change which sets of a cache they meet.
//! Limits: where the kernel places the stack at random, it adds an offset of its own to the one drawn here.

use super::plan::SURROUNDINGS;
use assay_numbers::choices::SeededChoices;

/// A page, bytes, beyond which the stack's offset repeats.
pub const PAGE_BYTES: usize = 4096;
/// What the ABI aligns the stack to, bytes.
pub const STACK_STEP_BYTES: usize = 16;
/// Whole pages of padding are drawn below this.
const PAGES: u64 = 4;

/// The surroundings of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Surroundings {
    /// How much larger its environment is made, bytes: whole pages.
    pub environment_bytes: usize,
    /// How far its stack is moved within a page, bytes: steps of 16.
    pub stack_bytes: usize,
    /// Whether the kernel places its stack, heap and libraries at random.
    pub aslr: bool,
}

impl Surroundings {
    /// Draws the surroundings of a process.
    ///
    /// Input: the seed; numbers that tell the process from all others. The same two give the same for ever.
    pub fn draw(seed: u64, process: &[u64]) -> Surroundings {
        let path: Vec<u64> = [SURROUNDINGS].iter().chain(process).copied().collect();
        let mut order = SeededChoices::new(seed, &path);
        Surroundings {
            environment_bytes: PAGE_BYTES * order.below(PAGES) as usize,
            stack_bytes: STACK_STEP_BYTES * order.below((PAGE_BYTES / STACK_STEP_BYTES) as u64) as usize,
            aslr: order.below(2) == 1,
        }
    }

    /// Bytes of padding that its environment gets in all.
    pub fn padding_bytes(&self) -> usize {
        self.environment_bytes + self.stack_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_value_of_each_is_drawn_and_none_other() {
        let drawn: Vec<Surroundings> =
            (0..4000).map(|process| Surroundings::draw(5, &[process, 2])).collect();
        let of = |part: fn(&Surroundings) -> usize| -> HashSet<usize> { drawn.iter().map(part).collect() };
        assert_eq!(of(|one| one.environment_bytes), (0..4).map(|pages| pages * 4096).collect());
        assert_eq!(of(|one| one.stack_bytes), (0..256).map(|step| step * 16).collect());
        assert_eq!(of(|one| usize::from(one.aslr)).len(), 2);
        // One does not tell the others: each combination of the two small ones comes about as often.
        for aslr in [false, true] {
            for pages in 0..4 {
                let count = drawn
                    .iter()
                    .filter(|one| one.aslr == aslr && one.environment_bytes == pages * 4096)
                    .count();
                assert!((400..600).contains(&count), "{aslr} {pages}: {count}");
            }
        }
    }

    #[test]
    fn a_seed_names_its_surroundings_for_ever() {
        let found = Surroundings::draw(7, &[1, 2, 3]);
        assert_eq!(found, Surroundings::draw(7, &[1, 2, 3]));
        assert_eq!(found.padding_bytes(), found.environment_bytes + found.stack_bytes);
        let others: HashSet<Surroundings> =
            (0..50).map(|seed| Surroundings::draw(seed, &[1, 2, 3])).collect();
        assert!(others.len() > 40);
    }
}
