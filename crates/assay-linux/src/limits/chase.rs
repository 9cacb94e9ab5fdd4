//! What does a load take whose address is what the load before it brought? A walk through memory in random order.
//!
//! Method: each 64-byte line of a buffer holds the address of another, all of them one cycle in random order, so that no
//! prefetcher knows where the next one lies. Known limits: with small pages a step through more memory than the TLB covers
//! also looks up the page; with huge pages it does so later.
//! Checked: the walk visits each line exactly once and returns.

use super::buffer::Buffer;
use assay_pure::limits::PageSize;
use std::io;

/// Bytes of a line.
pub const LINE: usize = 64;
/// Loads in one turn of the loop.
const TURN: u64 = 16;

/// A buffer whose lines can be laid into a cycle.
#[derive(Debug)]
pub struct Chase {
    buffer: Buffer,
    /// Lines of the cycle as laid.
    lines: usize,
    at: *const u8,
    random: u64,
}

impl Chase {
    /// Memory for a cycle of at most `bytes`.
    ///
    /// # Errors
    /// The kernel has not got so much.
    pub fn new(bytes: usize, pages: Option<PageSize>) -> io::Result<Chase> {
        let buffer = Buffer::new(bytes, pages)?;
        let at = buffer.bytes().as_ptr();
        let mut chase = Chase { buffer, lines: 0, at, random: 0x9e37_79b9_7f4a_7c15 };
        chase.lay(LINE);
        Ok(chase)
    }

    /// Bytes of it on huge pages, where the kernel tells.
    pub fn huge_bytes(&self) -> Option<u64> {
        self.buffer.huge_bytes()
    }

    /// Lays the first `bytes` (at most the buffer's, at least a line) into a new cycle through all their lines.
    pub fn lay(&mut self, bytes: usize) {
        self.lines = (bytes.min(self.buffer.bytes().len()) / LINE).max(1);
        let mut order: Vec<u32> = (0..self.lines as u32).collect();
        for last in (1..order.len()).rev() {
            // xorshift64 (Marsaglia, J. Stat. Soft. 8(14), 2003); the high bits scaled, whose bias is below 2^-32.
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            order.swap(last, (((self.random >> 32) * (last as u64 + 1)) >> 32) as usize);
        }
        let base = self.buffer.bytes().as_ptr() as usize;
        let bytes = self.buffer.bytes_mut();
        for (at, &from) in order.iter().enumerate() {
            let to = base + order[(at + 1) % order.len()] as usize * LINE;
            bytes[from as usize * LINE..][..size_of::<usize>()].copy_from_slice(&to.to_ne_bytes());
        }
        self.at = (base + order[0] as usize * LINE) as *const u8;
    }

    /// Lines of the cycle.
    pub fn lines(&self) -> u64 {
        self.lines as u64
    }

    /// Takes at least `steps` steps, each a load that waits for the one before. Returns how many.
    pub fn walk(&mut self, steps: u64) -> u64 {
        let turns = steps.div_ceil(TURN).max(1);
        // SAFETY: `at` is a line of the cycle, and each line of the cycle holds the address of another.
        self.at = unsafe { follow(self.at, turns) };
        turns * TURN
    }

    /// Reads all lines of the cycle in the order of memory: the fastest way to bring them near.
    pub fn read(&self) {
        let mut sum = 0u64;
        for line in self.buffer.bytes()[..self.lines * LINE].chunks_exact(LINE) {
            sum ^= u64::from(line[0]);
        }
        std::hint::black_box(sum);
    }

    /// The number of the line that the walk stands on.
    pub fn line(&self) -> usize {
        (self.at as usize - self.buffer.bytes().as_ptr() as usize) / LINE
    }
}

/// Follows the addresses from `at`, `turns` times [`TURN`] of them.
///
/// # Safety
/// `at` and all that is reached from it are readable addresses of addresses.
#[inline(never)]
unsafe fn follow(at: *const u8, turns: u64) -> *const u8 {
    let mut at = at;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reads only what the caller vouches for.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept 16",
            "mov {at}, [{at}]",
            ".endr",
            "dec {turns}",
            "jnz 2b",
            at = inout(reg) at,
            turns = inout(reg) turns => _,
            options(nostack, readonly)
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: reads only what the caller vouches for.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept 16",
            "ldr {at}, [{at}]",
            ".endr",
            "subs {turns}, {turns}, #1",
            "b.ne 2b",
            at = inout(reg) at,
            turns = inout(reg) turns => _,
            options(nostack, readonly)
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    for _ in 0..turns * TURN {
        // SAFETY: as the caller vouches; volatile, so that every load happens.
        at = unsafe { at.cast::<*const u8>().read_volatile() };
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_visits_each_line_exactly_once_and_returns() {
        let mut chase = Chase::new(1 << 20, None).unwrap();
        for lines in [16usize, 1024, 16_384] {
            chase.lay(lines * LINE);
            assert_eq!(chase.lines(), lines as u64);
            // The loop's own steps go by turns; single ones are followed here by what the lines hold.
            let start = chase.at as usize;
            let base = chase.buffer.bytes().as_ptr() as usize;
            let mut seen = vec![false; lines];
            let mut at = start;
            for _ in 0..lines {
                let line = (at - base) / LINE;
                assert!(!std::mem::replace(&mut seen[line], true), "{line} twice");
                at = usize::from_ne_bytes(chase.buffer.bytes()[at - base..][..8].try_into().unwrap());
            }
            assert!(at == start && seen.iter().all(|&seen| seen));
            assert_eq!(chase.walk(lines as u64), lines as u64);
            assert_eq!(chase.at as usize, start, "after a whole round");
            chase.walk(TURN);
            assert_ne!(chase.at as usize, start * usize::from(lines > 16), "under way");
        }
    }

    #[test]
    fn steps_are_rounded_up_to_turns_of_the_loop() {
        let mut chase = Chase::new(1 << 16, Some(PageSize::Small)).unwrap();
        chase.lay(1 << 16);
        assert_eq!((chase.walk(1), chase.walk(16), chase.walk(17)), (16, 16, 32));
        assert!(chase.line() < 1024);
    }

    #[test]
    fn neighbours_in_the_cycle_are_not_neighbours_in_memory() {
        let mut chase = Chase::new(1 << 20, Some(PageSize::Small)).unwrap();
        chase.lay(1 << 20);
        let base = chase.buffer.bytes().as_ptr() as usize;
        let next = |line: usize| {
            let bytes = &chase.buffer.bytes()[line * LINE..][..8];
            (usize::from_ne_bytes(bytes.try_into().unwrap()) - base) / LINE
        };
        // Of 16,384 lines in random order about two have the next one beside them.
        let beside = (0..16_383).filter(|&line| next(line) == line + 1 || next(line + 1) == line).count();
        assert!(beside < 16, "{beside}");
    }
}
