//! How many bytes per nanosecond can one core read, write and copy? The loops.
//!
//! Method: straight loops over a stretch of memory, one instruction per 8, 32 or 64 bytes and nothing else, the C library's
//! memset and memcpy, and stores that go past the caches. Which of them a decoder can use depends on it; the fastest is the limit.
//! Checked: what is written and copied arrives, and nothing beside it.

use std::fmt;

/// All lengths are multiples of this.
pub const BLOCK: usize = 512;

/// What is done with the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Every byte is loaded.
    Read,
    /// Every byte is stored.
    Write,
    /// Every byte of one half is stored to the other.
    Copy,
}

/// By which instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum By {
    /// A general register.
    Bytes8,
    /// A vector register (AVX), or a pair of them (AArch64).
    Bytes32,
    /// A vector register (AVX-512).
    Bytes64,
    /// memset or memcpy of the C library.
    Library,
    /// Vector stores that do not stay in the caches.
    NonTemporal,
}

/// A way of moving bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamKernel {
    /// What it does.
    pub operation: Operation,
    /// How.
    pub by: By,
}

impl fmt::Display for By {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(match self {
            By::Bytes8 => "8-byte",
            By::Bytes32 => "32-byte",
            By::Bytes64 => "64-byte",
            By::Library => "library",
            By::NonTemporal => "non-temporal",
        })
    }
}

/// Those that this processor can execute.
pub fn kernels() -> Vec<StreamKernel> {
    let ways = [By::Bytes8, By::Bytes32, By::Bytes64, By::Library, By::NonTemporal];
    let operations = [Operation::Read, Operation::Write, Operation::Copy];
    let all = operations.into_iter().flat_map(|operation| ways.map(|by| StreamKernel { operation, by }));
    all.filter(|kernel| kernel.is_there()).collect()
}

impl StreamKernel {
    /// Whether there is such a loop and this processor can execute it.
    pub fn is_there(&self) -> bool {
        match (self.by, self.operation) {
            (By::Bytes8, _) => true,
            (By::Library, operation) => operation != Operation::Read,
            (By::Bytes32, _) => has_vectors(),
            (By::Bytes64, _) => has_wide_vectors(),
            (By::NonTemporal, operation) => operation != Operation::Read && has_vectors(),
        }
    }

    /// Reads `from`, writes `to`, or copies the one to the other, so many times over (at least once), with nothing in between:
    /// of a small working set the ends would be a large part.
    ///
    /// # Panics
    /// The processor lacks it; a length is no multiple of [`BLOCK`]; copying between different lengths; a start that is not
    /// a multiple of 64.
    pub fn run(&self, from: &[u8], to: &mut [u8], times: u64) {
        assert!(self.is_there(), "{self:?} is not there");
        let bytes = if self.operation == Operation::Read { from.len() } else { to.len() };
        assert!(bytes.is_multiple_of(BLOCK), "{bytes} bytes");
        assert!(
            self.operation != Operation::Copy || from.len() == to.len(),
            "{} to {}",
            from.len(),
            to.len()
        );
        assert!(from.as_ptr().addr().is_multiple_of(64) || self.operation == Operation::Write);
        assert!(to.as_ptr().addr().is_multiple_of(64) || self.operation == Operation::Read);
        if bytes > 0 {
            // SAFETY: both ranges are readable or writable for their lengths as the operation needs, the loops touch exactly
            // `bytes` of them, and the processor has the instructions.
            unsafe { dispatch(*self, from.as_ptr(), to.as_mut_ptr(), bytes, times.max(1)) }
        }
    }
}

unsafe fn dispatch(kernel: StreamKernel, from: *const u8, to: *mut u8, bytes: usize, times: u64) {
    use {By::*, Operation::*};
    // SAFETY: as the caller vouches.
    unsafe {
        match (kernel.operation, kernel.by) {
            (Read, Bytes8) => loops::read_8(from, to, bytes, times),
            (Write, Bytes8) => loops::write_8(from, to, bytes, times),
            (Copy, Bytes8) => loops::copy_8(from, to, bytes, times),
            (Write, Library) => (0..times).for_each(|_| library_fill(to, bytes)),
            (Copy, Library) => (0..times).for_each(|_| library_copy(from, to, bytes)),
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            (operation, Bytes32) => match operation {
                Read => loops::read_32(from, to, bytes, times),
                Write => loops::write_32(from, to, bytes, times),
                Copy => loops::copy_32(from, to, bytes, times),
            },
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            (Write, NonTemporal) => loops::write_past(from, to, bytes, times),
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            (Copy, NonTemporal) => loops::copy_past(from, to, bytes, times),
            #[cfg(target_arch = "x86_64")]
            (operation, Bytes64) => match operation {
                Read => loops::read_64(from, to, bytes, times),
                Write => loops::write_64(from, to, bytes, times),
                Copy => loops::copy_64(from, to, bytes, times),
            },
            _ => unreachable!("{kernel:?} is not there"),
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn has_vectors() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

#[cfg(target_arch = "aarch64")]
fn has_vectors() -> bool {
    true
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn has_vectors() -> bool {
    false
}

fn has_wide_vectors() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx512f");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// memset, called as any program does.
#[inline(never)]
unsafe fn library_fill(to: *mut u8, bytes: usize) {
    let (to, bytes) = std::hint::black_box((to, bytes));
    // SAFETY: writable for `bytes`, as the caller vouches.
    unsafe { libc::memset(to.cast(), 1, bytes) };
    std::hint::black_box(to);
}

/// memcpy, called as any program does.
#[inline(never)]
unsafe fn library_copy(from: *const u8, to: *mut u8, bytes: usize) {
    let (from, to, bytes) = std::hint::black_box((from, to, bytes));
    // SAFETY: readable and writable for `bytes` and apart, as the caller vouches.
    unsafe { libc::memcpy(to.cast(), from.cast(), bytes) };
    std::hint::black_box(to);
}

#[cfg(target_arch = "x86_64")]
mod loops {
    /// A loop over `bytes` in blocks of 512. `$step` is repeated within a block for each place named in `$at`, which it calls
    /// `\\k`. `{a}` and `{b}` are free registers that hold ones to be stored.
    macro_rules! looped {
        ($name:ident, $at:literal, [$($step:literal),*], [$($first:literal),*], [$($last:literal),*]) => {
            /// # Safety
            /// What the instructions read and write is there for `bytes`, a multiple of 512 that is not 0, and the processor
            /// has the instructions.
            #[inline(never)]
            pub unsafe fn $name(from: *const u8, to: *mut u8, bytes: usize, times: u64) {
                // SAFETY: walks from 0 to `bytes` and stops there, as often as asked.
                unsafe {
                    std::arch::asm!(
                        $($first,)*
                        "3:",
                        "xor {at:e}, {at:e}",
                        ".p2align 6",
                        "2:",
                        concat!(".irp k, ", $at),
                        $($step,)*
                        ".endr",
                        "add {at}, 512",
                        "cmp {at}, {bytes}",
                        "jne 2b",
                        "dec {times}",
                        "jnz 3b",
                        $($last,)*
                        "/* {from} {to} {a} {b} */",
                        from = in(reg) from,
                        to = in(reg) to,
                        at = out(reg) _,
                        bytes = in(reg) bytes,
                        times = inout(reg) times => _,
                        a = inout(reg) 0x0101_0101_0101_0101u64 => _,
                        b = inout(reg) 0x0101_0101_0101_0101u64 => _,
                        // All of the vector register, however wide.
                        out("xmm0") _,
                        out("xmm1") _,
                        options(nostack)
                    );
                }
            }
        };
    }

    macro_rules! by_16 {
        ($name:ident, [$($step:literal),*]) => {
            looped!(
                $name,
                "0,16,32,48,64,80,96,112,128,144,160,176,192,208,224,240,256,272,288,304,320,336,352,368,384,400,416,432,448,464,480,496",
                [$($step),*], [], []
            );
        };
    }

    macro_rules! by_64 {
        ($name:ident, [$($step:literal),*], [$($first:literal),*], [$($last:literal),*]) => {
            looped!($name, "0,64,128,192,256,320,384,448", [$($step),*], [$($first),*], [$($last),*]);
        };
    }

    by_16!(read_8, ["mov {a}, [{from} + {at} + \\k]", "mov {b}, [{from} + {at} + \\k + 8]"]);
    by_16!(write_8, ["mov [{to} + {at} + \\k], {a}", "mov [{to} + {at} + \\k + 8], {b}"]);
    by_16!(
        copy_8,
        [
            "mov {a}, [{from} + {at} + \\k]",
            "mov {b}, [{from} + {at} + \\k + 8]",
            "mov [{to} + {at} + \\k], {a}",
            "mov [{to} + {at} + \\k + 8], {b}"
        ]
    );
    by_64!(
        read_32,
        ["vmovdqu ymm0, [{from} + {at} + \\k]", "vmovdqu ymm1, [{from} + {at} + \\k + 32]"],
        [],
        ["vzeroupper"]
    );
    by_64!(
        write_32,
        ["vmovdqu [{to} + {at} + \\k], ymm0", "vmovdqu [{to} + {at} + \\k + 32], ymm0"],
        ["vmovq xmm0, {a}", "vpbroadcastq ymm0, xmm0"],
        ["vzeroupper"]
    );
    by_64!(
        copy_32,
        [
            "vmovdqu ymm0, [{from} + {at} + \\k]",
            "vmovdqu ymm1, [{from} + {at} + \\k + 32]",
            "vmovdqu [{to} + {at} + \\k], ymm0",
            "vmovdqu [{to} + {at} + \\k + 32], ymm1"
        ],
        [],
        ["vzeroupper"]
    );
    by_64!(read_64, ["vmovdqu64 zmm0, [{from} + {at} + \\k]"], [], ["vzeroupper"]);
    by_64!(
        write_64,
        ["vmovdqu64 [{to} + {at} + \\k], zmm0"],
        ["vmovq xmm0, {a}", "vpbroadcastq zmm0, xmm0"],
        ["vzeroupper"]
    );
    by_64!(
        copy_64,
        ["vmovdqu64 zmm0, [{from} + {at} + \\k]", "vmovdqu64 [{to} + {at} + \\k], zmm0"],
        [],
        ["vzeroupper"]
    );
    // The fence waits until the stores have gone, so that their time is in the window.
    by_64!(
        write_past,
        ["vmovntdq [{to} + {at} + \\k], ymm0", "vmovntdq [{to} + {at} + \\k + 32], ymm0"],
        ["vmovq xmm0, {a}", "vpbroadcastq ymm0, xmm0"],
        ["sfence", "vzeroupper"]
    );
    by_64!(
        copy_past,
        [
            "vmovdqu ymm0, [{from} + {at} + \\k]",
            "vmovdqu ymm1, [{from} + {at} + \\k + 32]",
            "vmovntdq [{to} + {at} + \\k], ymm0",
            "vmovntdq [{to} + {at} + \\k + 32], ymm1"
        ],
        [],
        ["sfence", "vzeroupper"]
    );
}

#[cfg(target_arch = "aarch64")]
mod loops {
    /// A loop over `bytes` in blocks of 512, `$step` repeated `$times` within one.
    macro_rules! looped {
        ($name:ident, $times:literal, [$($step:literal),*]) => {
            /// # Safety
            /// What the instructions read and write is there for `bytes`, a multiple of 512 that is not 0.
            #[inline(never)]
            pub unsafe fn $name(from: *const u8, to: *mut u8, bytes: usize, times: u64) {
                // SAFETY: walks from 0 to `bytes` and stops there, as often as asked.
                unsafe {
                    std::arch::asm!(
                        "dup v0.2d, {a}",
                        "dup v1.2d, {b}",
                        "3:",
                        "mov {from}, {source}",
                        "mov {to}, {target}",
                        "mov {left}, {bytes}",
                        "2:",
                        concat!(".rept ", $times),
                        $($step,)*
                        ".endr",
                        "subs {left}, {left}, #512",
                        "b.ne 2b",
                        "subs {times}, {times}, #1",
                        "b.ne 3b",
                        source = in(reg) from,
                        target = in(reg) to,
                        bytes = in(reg) bytes,
                        from = out(reg) _,
                        to = out(reg) _,
                        left = out(reg) _,
                        times = inout(reg) times => _,
                        a = inout(reg) 0x0101_0101_0101_0101u64 => _,
                        b = inout(reg) 0x0101_0101_0101_0101u64 => _,
                        out("v0") _,
                        out("v1") _,
                        options(nostack)
                    );
                }
            }
        };
    }

    looped!(read_8, "32", ["ldr {a}, [{from}], #8", "ldr {b}, [{from}], #8"]);
    looped!(write_8, "32", ["str {a}, [{to}], #8", "str {b}, [{to}], #8"]);
    looped!(
        copy_8,
        "32",
        ["ldr {a}, [{from}], #8", "ldr {b}, [{from}], #8", "str {a}, [{to}], #8", "str {b}, [{to}], #8"]
    );
    looped!(read_32, "16", ["ldp q0, q1, [{from}], #32"]);
    looped!(write_32, "16", ["stp q0, q1, [{to}], #32"]);
    looped!(copy_32, "16", ["ldp q0, q1, [{from}], #32", "stp q0, q1, [{to}], #32"]);
    looped!(write_past, "16", ["stnp q0, q1, [{to}]", "add {to}, {to}, #32"]);
    looped!(copy_past, "16", ["ldp q0, q1, [{from}], #32", "stnp q0, q1, [{to}]", "add {to}, {to}, #32"]);
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod loops {
    //! Volatile accesses: each happens, whatever the optimiser thinks of it.

    const WORD: usize = size_of::<u64>();

    /// # Safety
    /// `from` is readable for `bytes`.
    pub unsafe fn read_8(from: *const u8, _to: *mut u8, bytes: usize, times: u64) {
        for at in (0..times).flat_map(|_| (0..bytes).step_by(WORD)) {
            // SAFETY: within `bytes`.
            unsafe { from.add(at).cast::<u64>().read_volatile() };
        }
    }

    /// # Safety
    /// `to` is writable for `bytes`.
    pub unsafe fn write_8(_from: *const u8, to: *mut u8, bytes: usize, times: u64) {
        for at in (0..times).flat_map(|_| (0..bytes).step_by(WORD)) {
            // SAFETY: within `bytes`.
            unsafe { to.add(at).cast::<u64>().write_volatile(0x0101_0101_0101_0101) };
        }
    }

    /// # Safety
    /// Both are there for `bytes`.
    pub unsafe fn copy_8(from: *const u8, to: *mut u8, bytes: usize, times: u64) {
        for at in (0..times).flat_map(|_| (0..bytes).step_by(WORD)) {
            // SAFETY: within `bytes`.
            unsafe { to.add(at).cast::<u64>().write_volatile(from.add(at).cast::<u64>().read_volatile()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::buffer::Buffer;
    use super::*;

    /// Two stretches of a buffer with a block before, between and after them.
    fn stretches(buffer: &mut Buffer, bytes: usize) -> (&mut [u8], &mut [u8], usize) {
        let all = buffer.bytes_mut();
        for (at, byte) in all.iter_mut().enumerate() {
            *byte = (at % 251) as u8;
        }
        let (first, second) = all.split_at_mut(BLOCK + bytes);
        (&mut first[BLOCK..], second, bytes)
    }

    #[test]
    fn what_is_copied_arrives_and_nothing_beside_it() {
        let mut buffer = Buffer::new(1 << 20, None).unwrap();
        for kernel in kernels().into_iter().filter(|kernel| kernel.operation == Operation::Copy) {
            for (bytes, times) in [(BLOCK, 1), (7 * BLOCK, 3), (1 << 18, 0)] {
                let (from, rest, _) = stretches(&mut buffer, bytes);
                let before = rest.to_vec();
                kernel.run(from, &mut rest[BLOCK..BLOCK + bytes], times);
                assert_eq!(from, &rest[BLOCK..BLOCK + bytes], "{kernel:?} {bytes}");
                assert_eq!(before[..BLOCK], rest[..BLOCK], "{kernel:?} {bytes}");
                assert_eq!(before[BLOCK + bytes..], rest[BLOCK + bytes..], "{kernel:?} {bytes}");
            }
        }
    }

    #[test]
    fn what_is_written_is_ones_everywhere_and_nothing_beside_it() {
        let mut buffer = Buffer::new(1 << 20, None).unwrap();
        for kernel in kernels().into_iter().filter(|kernel| kernel.operation == Operation::Write) {
            let (_, rest, bytes) = stretches(&mut buffer, 9 * BLOCK);
            let before = rest.to_vec();
            kernel.run(&[], &mut rest[BLOCK..BLOCK + bytes], 2);
            assert!(rest[BLOCK..BLOCK + bytes].iter().all(|&byte| byte == 1), "{kernel:?}");
            assert_eq!(
                (&before[..BLOCK], &before[BLOCK + bytes..]),
                (&rest[..BLOCK], &rest[BLOCK + bytes..]),
                "{kernel:?}"
            );
        }
    }

    #[test]
    fn reading_changes_nothing_and_ends() {
        let mut buffer = Buffer::new(1 << 20, None).unwrap();
        let (from, ..) = stretches(&mut buffer, 1 << 19);
        let before = from.to_vec();
        for kernel in kernels().into_iter().filter(|kernel| kernel.operation == Operation::Read) {
            kernel.run(from, &mut [], 3);
            kernel.run(&from[..0], &mut [], 1);
        }
        assert_eq!(before, from);
    }

    #[test]
    fn every_operation_can_be_done_by_plain_words() {
        let found = kernels();
        for operation in [Operation::Read, Operation::Write, Operation::Copy] {
            assert!(found.contains(&StreamKernel { operation, by: By::Bytes8 }));
        }
        assert!(found.contains(&StreamKernel { operation: Operation::Copy, by: By::Library }));
        assert!(!found.contains(&StreamKernel { operation: Operation::Read, by: By::Library }));
    }

    #[test]
    #[should_panic(expected = "100 bytes")]
    fn a_length_that_the_loops_cannot_end_at_is_refused() {
        let mut buffer = Buffer::new(1 << 20, None).unwrap();
        StreamKernel { operation: Operation::Write, by: By::Bytes8 }.run(
            &[],
            &mut buffer.bytes_mut()[..100],
            1,
        );
    }
}
