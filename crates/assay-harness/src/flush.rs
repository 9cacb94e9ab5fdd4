//! The instructions that put lines out of all caches, and the code that fills a branch predictor, by architecture.

use crate::system;

/// Blocks of 32 branches on random outcomes and an indirect jump.
pub(crate) const OTHER_BLOCKS: usize = 1024;

/// Whether single lines can be put out of all caches by an instruction that programs may execute.
pub(crate) const FLUSHES: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// Puts the lines of some bytes out of all caches of the machine; they stay readable. `code`: out of those of instructions
/// too, which x86-64 does anyway.
#[cfg(target_arch = "x86_64")]
pub(crate) fn flush_lines(start: *const u8, bytes: usize, _code: bool) {
    use std::arch::asm;
    use std::sync::OnceLock;
    /// Many at a time, where clflush waits for each.
    static OPTIMISED: OnceLock<bool> = OnceLock::new();
    let optimised = *OPTIMISED.get_or_init(|| {
        // SAFETY: every x86-64 processor has cpuid; leaf 7 is asked for only where leaf 0 says that it is there.
        #[allow(unused_unsafe, reason = "safe from Rust 1.94 on")]
        unsafe {
            std::arch::x86_64::__cpuid(0).eax >= 7
                && std::arch::x86_64::__cpuid_count(7, 0).ebx & (1 << 23) != 0
        }
    });
    // SAFETY (all three): fences, and flushes of lines that are mapped as far as the caller's bytes are; they change no
    // memory.
    unsafe { asm!("mfence", options(nostack, preserves_flags)) }
    for at in (start.addr() & !63..start.addr() + bytes).step_by(64) {
        if optimised {
            unsafe { asm!(".byte 0x66; clflush [{}]", in(reg) at, options(nostack, preserves_flags)) }
        } else {
            unsafe { asm!("clflush [{}]", in(reg) at, options(nostack, preserves_flags)) }
        }
    }
    unsafe { asm!("mfence", options(nostack, preserves_flags)) }
}

/// See above.
#[cfg(target_arch = "aarch64")]
pub(crate) fn flush_lines(start: *const u8, bytes: usize, code: bool) {
    use std::arch::asm;
    let kind: u64;
    // SAFETY: Linux lets programs read the register.
    unsafe { asm!("mrs {}, ctr_el0", out(reg) kind, options(nomem, nostack, preserves_flags)) }
    let line = (4usize << (kind >> 16 & 15)).min(4 << (kind & 15));
    for at in (start.addr() & !(line - 1)..start.addr() + bytes).step_by(line) {
        // SAFETY: maintenance of lines that are mapped as far as the caller's bytes are, which Linux allows programs; it
        // changes no memory.
        unsafe {
            asm!("dc civac, {}", in(reg) at, options(nostack, preserves_flags));
            if code {
                asm!("ic ivau, {}", in(reg) at, options(nostack, preserves_flags));
            }
        }
    }
    // SAFETY: fences.
    unsafe { asm!("dsb ish", "isb", options(nostack, preserves_flags)) }
}

/// Nothing: see [`FLUSHES`].
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) fn flush_lines(_: *const u8, _: usize, _: bool) {}

/// Puts the program's own code out of all caches: the executable segments of its image.
pub(crate) fn flush_code() {
    for (start, bytes) in system::code() {
        flush_lines(start, bytes, true);
    }
}

/// Writes the work that fills a branch predictor. Each block loads 32 random bits, jumps over a no-op or not by each of them,
/// and ends with an indirect jump.
#[cfg(target_arch = "x86_64")]
pub(crate) fn write_other_work(code: &mut [u8]) {
    let mut bytes = vec![0xf3, 0x0f, 0x1e, 0xfa]; // endbr64
    for _ in 0..OTHER_BLOCKS {
        bytes.extend([0x8b, 0x07, 0x48, 0x83, 0xc7, 0x04]); // mov eax, [rdi]; add rdi, 4
        for bit in 0..32 {
            bytes.extend([0x0f, 0xba, 0xe0, bit, 0x72, 0x01, 0x90]); // bt eax, bit; jc over; nop
        }
        bytes.extend([0x48, 0x8d, 0x15, 2, 0, 0, 0, 0xff, 0xe2]); // lea rdx, [after]; jmp rdx
    }
    bytes.push(0xc3); // ret
    code[..bytes.len()].copy_from_slice(&bytes);
}

/// See above.
#[cfg(target_arch = "aarch64")]
pub(crate) fn write_other_work(code: &mut [u8]) {
    let mut words: Vec<u32> = Vec::new();
    for _ in 0..OTHER_BLOCKS {
        words.push(0xb840_4401); // ldr w1, [x0], #4
        for bit in 0..32 {
            words.extend([0x3600_0041 | bit << 19, 0xd503_201f]); // tbz w1, bit, over; nop
        }
        words.extend([0x1000_0042, 0xd61f_0040]); // adr x2, after; br x2
    }
    words.push(0xd65f_03c0); // ret
    for (place, word) in code.chunks_exact_mut(4).zip(&words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    // As data the code is in the data cache: out of it, and the old out of the instruction cache.
    flush_lines(code.as_ptr(), 4 * words.len(), true);
}

/// Nothing: see [`FLUSHES`].
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) fn write_other_work(_: &mut [u8]) {
    let _ = OTHER_BLOCKS;
}
