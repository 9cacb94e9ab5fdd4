//! Whose is the core? Additions that wait for each other take a cycle each, alone or not; additions that need not wait
//! fill the core's width, and take longer while its sibling thread is busy. The same loops as in the
//! harnesses; `assay_pure::pulse` judges.

mod ticking;

pub use ticking::Ticking;

use std::time::Instant;

/// Nanoseconds of 2048 additions, each on the last one's sum, and of 12800 additions to 8 sums, one after the other; none
/// where the loops are not written for the processor.
#[inline(never)]
#[must_use]
pub fn take() -> Option<(u64, u64)> {
    if !KNOWN {
        return None;
    }
    // Whatever was measured may have taken this code out of the caches.
    chain(1);
    wide(1);
    let begun = Instant::now();
    chain(32);
    let between = Instant::now();
    wide(25);
    let wide_ns = between.elapsed().as_nanos() as u64;
    Some((between.duration_since(begun).as_nanos() as u64, wide_ns))
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

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn chain(_: u64) {}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn wide(_: u64) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pulse_takes_time() {
        let Some((chain, wide)) = take() else { return println!("skipped: no loops for this processor") };
        assert!(chain > 0 && wide > 0, "{chain}, {wide}");
    }
}
