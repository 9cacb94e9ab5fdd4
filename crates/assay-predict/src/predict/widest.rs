//! One loop, compiled for several widths of vectors: this CPU's widest is taken when the program runs.
//!
//! A program of baseline x86-64 has vectors of 128 bits and few instructions for them. What is compiled again is the same
//! source, of integers alone, so that its results are the same by construction.
//! On Zen 4 512 bits were as fast as 256, or slower where loops are short.
//! Checked: predictors err at the same sites at both levels, below.
#![allow(unsafe_code, reason = "only a CPU that has the instructions may call what is compiled for them")]

#[cfg(test)]
use std::sync::atomic::{AtomicBool, Ordering};

/// A test compares the levels.
#[cfg(test)]
static PORTABLE: AtomicBool = AtomicBool::new(false);

/// A loop that is worth compiling for each level. Whatever it calls must be inlined into it, `run` itself too: what is called
/// is compiled once, for all CPUs.
pub trait Pass {
    /// Runs it.
    fn run(self);
}

/// What code may be compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

/// Runs a pass as compiled for the widest vectors that this CPU has.
#[inline]
pub fn widest(pass: impl Pass) {
    at(Level::widest(), pass);
}

impl Level {
    #[inline]
    fn widest() -> Level {
        #[cfg(test)]
        if PORTABLE.load(Ordering::Relaxed) {
            return Level::Portable;
        }
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
        {
            return Level::Avx2;
        }
        Level::Portable
    }
}

#[inline]
fn at(level: Level, pass: impl Pass) {
    match level {
        Level::Portable => portable(pass),
        // SAFETY: the level is at most the widest, whose instructions this CPU has.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2(pass) },
    }
}

#[inline(never)]
fn portable(pass: impl Pass) {
    pass.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn avx2(pass: impl Pass) {
    pass.run();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::{Tally, Zoo, zoo};
    use crate::trace::{Branch, BranchClass};

    fn stream() -> Vec<Branch> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let branch = |nth: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let (site, class) = match nth % 11 {
                3 => (3, BranchClass::CALL),
                7 => (7, BranchClass::RETURN),
                9 => (9, BranchClass::INDIRECT_JUMP),
                _ => ((state >> 60) as u32 * 11 + (nth % 11) as u32, BranchClass::CONDITIONAL),
            };
            let taken = class != BranchClass::CONDITIONAL || nth % 5 < 2 || state & 6 == 0;
            let target = if class == BranchClass::CONDITIONAL { 0x40_1800 } else { 0x40_2000 + nth % 3 * 64 };
            Branch::new(0x40_1000 + u64::from(site) * 9, target, site, class, taken, 3)
        };
        (0..20_000).map(branch).collect()
    }

    #[test]
    fn every_predictor_errs_at_the_same_sites_whatever_its_loops_are_compiled_for() {
        let stream = stream();
        let walk = |name: &str| {
            let (mut zoo, mut tally) = (Zoo::new(&[name]).expect("its own name"), Tally::new(1));
            zoo.observe(&stream, &mut tally);
            tally
        };
        for entry in zoo::entries() {
            let widest = walk(entry.name);
            // Others who test meanwhile only become slower.
            PORTABLE.store(true, Ordering::Relaxed);
            assert_eq!(Level::widest(), Level::Portable);
            let portable = walk(entry.name);
            PORTABLE.store(false, Ordering::Relaxed);
            assert!(widest == portable, "{}", entry.name);
        }
    }
}
