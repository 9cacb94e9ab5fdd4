//! Is the sibling hardware thread busy? It may belong to another guest; then neither SMT nor stolen time shows it in here.
//! Dependent additions take a cycle each, shared core or not; independent ones fill the core's width and take longer on
//! a shared core. Jumps that are taken need the front end, which both threads use in turns. The lab makes the judgement;
//! here are the times.

use crate::system::wall_ns;
use std::fmt;

/// Loops timed one after the other.
#[derive(Clone, Copy)]
pub(crate) struct TimedLoops {
    /// Of 2048 additions, each on the last one's sum, nanoseconds.
    chain_ns: u64,
    /// Of 12800 additions to 8 sums, nanoseconds.
    wide_ns: u64,
    /// Of 1024 taken jumps, nanoseconds.
    jumps_ns: u64,
}

/// Two pulses as fields of a reply.
pub(crate) fn said(before: TimedLoops, after: TimedLoops) -> String {
    format!(" before={before} after={after} front={},{}", before.jumps_ns, after.jumps_ns)
}

impl fmt::Display for TimedLoops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.chain_ns, self.wide_ns)
    }
}

/// Takes one; none where the loops are not written for the processor.
#[inline(never)]
pub(crate) fn take() -> Option<TimedLoops> {
    if !KNOWN {
        return None;
    }
    // Whatever was measured may have taken this code out of the caches.
    chain(1);
    wide(1);
    jumps(1);
    wall_ns();
    let begun = wall_ns();
    chain(32);
    let between = wall_ns();
    wide(25);
    let summed = wall_ns();
    jumps(16);
    Some(TimedLoops {
        chain_ns: between.wrapping_sub(begun),
        wide_ns: summed.wrapping_sub(between),
        jumps_ns: wall_ns().wrapping_sub(summed),
    })
}

const KNOWN: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// `times` times 64 additions that wait for each other.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn chain(times: u64) {
    // SAFETY: only registers are written, and all of them are named.
    unsafe {
        std::arch::asm!(
            "2:", ".rept 64", "add rax, rdx", ".endr", "dec {left}", "jnz 2b",
            left = inout(reg) times => _, out("rax") _, out("rdx") _,
            options(nomem, nostack),
        );
    }
}

/// `times` times 512 additions that need not wait. Long rows: where the loop's jump lies in its line must not show.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn wide(times: u64) {
    // SAFETY: only registers are written, and all of them are named.
    unsafe {
        std::arch::asm!(
            "2:", ".rept 64",
            "add rax, rdx", "add rcx, rdx", "add rsi, rdx", "add rdi, rdx",
            "add r8, rdx", "add r9, rdx", "add r10, rdx", "add r11, rdx",
            ".endr", "dec {left}", "jnz 2b",
            left = inout(reg) times => _, out("rax") _, out("rcx") _, out("rdx") _, out("rsi") _, out("rdi") _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
            options(nomem, nostack),
        );
    }
}

/// `times` times 64 additions that wait for each other.
#[cfg(target_arch = "aarch64")]
#[inline(never)]
fn chain(times: u64) {
    // SAFETY: only registers are written, and all of them are named.
    unsafe {
        std::arch::asm!(
            "2:", ".rept 64", "add x0, x0, x8", ".endr", "subs {left}, {left}, #1", "b.ne 2b",
            left = inout(reg) times => _, out("x0") _, out("x8") _,
            options(nomem, nostack),
        );
    }
}

/// `times` times 512 additions that need not wait. Long rows: where the loop's jump lies in its line must not show.
#[cfg(target_arch = "aarch64")]
#[inline(never)]
fn wide(times: u64) {
    // SAFETY: only registers are written, and all of them are named.
    unsafe {
        std::arch::asm!(
            "2:", ".rept 64",
            "add x0, x0, x8", "add x1, x1, x8", "add x2, x2, x8", "add x3, x3, x8",
            "add x4, x4, x8", "add x5, x5, x8", "add x6, x6, x8", "add x7, x7, x8",
            ".endr", "subs {left}, {left}, #1", "b.ne 2b",
            left = inout(reg) times => _, out("x0") _, out("x1") _, out("x2") _, out("x3") _, out("x4") _,
            out("x5") _, out("x6") _, out("x7") _, out("x8") _,
            options(nomem, nostack),
        );
    }
}

/// `times` times 64 taken jumps, one to each 32 bytes: none of them shares a fetch with the next, wherever they lie.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn jumps(times: u64) {
    // SAFETY: only the register that counts is written, and it is named.
    unsafe {
        std::arch::asm!(
            "2:", ".rept 64", "jmp 3f", ".skip 30, 0x90", "3:", ".endr", "dec {left}", "jnz 2b",
            left = inout(reg) times => _,
            options(nomem, nostack),
        );
    }
}

/// `times` times 64 taken jumps, one to each 32 bytes: none of them shares a fetch with the next, wherever they lie.
#[cfg(target_arch = "aarch64")]
#[inline(never)]
fn jumps(times: u64) {
    // SAFETY: only the register that counts is written, and it is named.
    unsafe {
        std::arch::asm!(
            "2:", ".rept 64", "b 3f", ".rept 7", "nop", ".endr", "3:", ".endr", "subs {left}, {left}, #1", "b.ne 2b",
            left = inout(reg) times => _,
            options(nomem, nostack),
        );
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn jumps(_: u64) {}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn chain(_: u64) {}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn wide(_: u64) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pulse_says_two_whole_numbers() {
        let Some(pulse) = take() else { return println!("skipped: no loops for this processor") };
        let text = pulse.to_string();
        let (chain, wide) = text.split_once(',').expect("two");
        assert!(chain.parse::<u64>().is_ok() && wide.parse::<u64>().is_ok(), "{text}");
        let fields = said(pulse, pulse);
        let front = fields.split_once(" front=").and_then(|(_, front)| front.split_once(',')).expect("two");
        assert!(front.0.parse::<u64>().is_ok_and(|ns| ns > 0) && front.1 == front.0, "{fields}");
    }
}
