//! The few functions of the C library that the standard library does not offer, each behind a safe function.

use crate::heap;
use std::ffi::{c_int, c_long, c_void};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;

/// Readable zero bytes after the end of an input.
pub(crate) const PADDING_BYTES: usize = 64;

const CLOCK_MONOTONIC: c_int = 1;
const CLOCK_THREAD_CPUTIME_ID: c_int = 3;
const RUSAGE_THREAD: c_int = 1;
const F_SETFD: c_int = 2;
const FD_CLOEXEC: c_int = 1;
const SC_PAGESIZE: c_int = 30;
const PROT_READ: c_int = 1;
const PROT_WRITE: c_int = 2;
const PROT_EXEC: c_int = 4;
const MADV_NOHUGEPAGE: c_int = 15;
const MADV_DONTNEED: c_int = 4;
const MAP_PRIVATE: c_int = 2;
const MAP_FIXED: c_int = 0x10;
#[cfg(not(any(target_arch = "mips64", target_arch = "mips64r6")))]
const MAP_ANONYMOUS: c_int = 0x20;
#[cfg(any(target_arch = "mips64", target_arch = "mips64r6"))]
const MAP_ANONYMOUS: c_int = 0x800;

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

/// `struct rusage` of 64-bit Linux: two `timeval`s, then 14 longs of which the last is `ru_nivcsw`.
#[repr(C)]
struct Rusage {
    times: [i64; 4],
    counts: [c_long; 14],
}

unsafe extern "C" {
    fn clock_gettime(clock: c_int, now: *mut Timespec) -> c_int;
    fn getrusage(who: c_int, usage: *mut Rusage) -> c_int;
    fn fcntl(descriptor: c_int, command: c_int, ...) -> c_int;
    fn sysconf(name: c_int) -> c_long;
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    fn prctl(option: c_int, ...) -> c_int;
    fn mmap(
        at: *mut c_void,
        bytes: usize,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: i64,
    ) -> *mut c_void;
    fn munmap(at: *mut c_void, bytes: usize) -> c_int;
    fn mprotect(at: *mut c_void, bytes: usize, protection: c_int) -> c_int;
    fn madvise(at: *mut c_void, bytes: usize, advice: c_int) -> c_int;
    /// The first byte of the program's image, defined by the linker.
    static __ehdr_start: u8;
}

#[inline(always)]
fn clock_ns(clock: c_int) -> u64 {
    let mut now = MaybeUninit::<Timespec>::uninit();
    // SAFETY: the pointer is to a timespec of this platform, which the call fills: both clocks exist since Linux 2.6, so
    // it cannot fail. The fields are read one by one because the clock has just stored them one by one: a compiler that
    // loads both at once waits for the stores to leave the store buffer, 7 ns inside every region (seen with rustc 1.95).
    let (seconds, nanoseconds) = unsafe {
        clock_gettime(clock, now.as_mut_ptr());
        let now = now.as_ptr();
        ((&raw const (*now).seconds).read_volatile(), (&raw const (*now).nanoseconds).read_volatile())
    };
    (seconds as u64).wrapping_mul(1_000_000_000).wrapping_add(nanoseconds as u64)
}

/// CLOCK_MONOTONIC, nanoseconds.
#[inline(always)]
pub(crate) fn wall_ns() -> u64 {
    clock_ns(CLOCK_MONOTONIC)
}

/// CLOCK_THREAD_CPUTIME_ID, nanoseconds.
#[inline(always)]
pub(crate) fn cpu_ns() -> u64 {
    clock_ns(CLOCK_THREAD_CPUTIME_ID)
}

/// Involuntary context switches of this thread so far.
#[inline(always)]
pub(crate) fn switches() -> u64 {
    let mut usage = MaybeUninit::<Rusage>::zeroed();
    // SAFETY: the pointer is to a rusage of this platform; all zero is one, should the call fail.
    let usage = unsafe {
        getrusage(RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    };
    usage.counts[13] as u64
}

/// The option of `prctl` that no Linux has ("assy"), by which a tracer knows our marks.
const MARK: u64 = 0x6173_7379;

/// A mark for a tracer: a call of the system that Linux answers with EINVAL. Made without the C library, so that next to
/// no instruction is between the mark and the work.
#[inline(always)]
fn mark(what: u64, variant: u64, input: u64, pass: u64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prctl (157) of an unknown option does nothing and returns an error; the kernel clobbers rcx and r11.
    unsafe {
        std::arch::asm!("syscall", inlateout("rax") 157u64 => _, in("rdi") MARK, in("rsi") what, in("rdx") variant,
            in("r10") input, in("r8") pass, lateout("rcx") _, lateout("r11") _, options(nostack))
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: prctl (167) of an unknown option does nothing and returns an error.
    unsafe {
        std::arch::asm!("svc #0", in("x8") 167u64, inlateout("x0") MARK => _, in("x1") what, in("x2") variant,
            in("x3") input, in("x4") pass, options(nostack))
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    // SAFETY: prctl of an unknown option does nothing and returns an error.
    unsafe {
        prctl(MARK as c_int, what as c_long, variant as c_long, input as c_long, pass as c_long);
    }
}

/// A pass over an input of a variant begins, by the numbers that the lab knows them by.
#[inline(always)]
pub(crate) fn mark_begin(variant: u64, input: u64, pass: u64) {
    heap::begin();
    mark(1, variant, input, pass);
}

/// The pass is over.
#[inline(always)]
pub(crate) fn mark_end() {
    mark(2, 0, 0, 0);
    heap::end();
}

/// The distance of a function from the start of the program's image; 0 where it lies before it.
pub(crate) fn entry(function: *const ()) -> u64 {
    let image = (&raw const __ehdr_start).addr();
    function.addr().checked_sub(image).map_or(0, |distance| distance as u64)
}

/// The address of what [`entry`] gave a distance of.
pub(crate) fn address(entry: u64) -> *const u8 {
    (&raw const __ehdr_start).wrapping_add(entry as usize)
}

/// Whether `descriptor` is open; if so it will be closed in programs that this one executes.
pub(crate) fn close_on_exec(descriptor: c_int) -> bool {
    // SAFETY: F_SETFD takes one int; a descriptor that is not open is an error and nothing else.
    unsafe { fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 }
}

/// A page of memory, bytes.
pub(crate) fn page_bytes() -> usize {
    // SAFETY: no preconditions.
    let bytes = unsafe { sysconf(SC_PAGESIZE) };
    usize::try_from(bytes).unwrap_or(4096)
}

/// Maps `size` bytes of `file`, or of nothing, read-only, with at least [`PADDING_BYTES`] zero bytes behind them.
///
/// The mapping stays to the end of the program: what a variant prepared from an input may borrow it, and a measured
/// program is over soon. Errors: of `mmap`.
pub(crate) fn map(file: Option<&File>, size: usize) -> io::Result<&'static [u8]> {
    let page = page_bytes();
    let bytes = size
        .checked_add(PADDING_BYTES + page - 1)
        .ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?
        / page
        * page;
    // SAFETY: a new private mapping where the kernel likes it, which nothing else refers to.
    let at = unsafe { mmap(std::ptr::null_mut(), bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) };
    if at.addr() == usize::MAX {
        return Err(io::Error::last_os_error());
    }
    if let Some(file) = file.filter(|_| size != 0) {
        // SAFETY: the range lies within the mapping just made, so MAP_FIXED replaces nothing of anybody else.
        let over = unsafe { mmap(at, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, file.as_raw_fd(), 0) };
        if over.addr() == usize::MAX {
            let error = io::Error::last_os_error();
            // SAFETY: the mapping made above, to which no reference exists yet.
            unsafe { munmap(at, bytes) };
            return Err(error);
        }
    }
    // SAFETY: `size` readable bytes that are never unmapped and that this process cannot write. Whoever changes the
    // file while it is measured changes the input, which the lab prevents: inputs are files by digest.
    Ok(unsafe { std::slice::from_raw_parts(at.cast::<u8>(), size) })
}

/// Private memory of `bytes`, zero.
fn anonymous(bytes: usize) -> io::Result<*mut u8> {
    let protection = PROT_READ | PROT_WRITE;
    // SAFETY: a new private mapping where the kernel likes it, which nothing else refers to.
    let at = unsafe { mmap(std::ptr::null_mut(), bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) };
    if at.addr() == usize::MAX { Err(io::Error::last_os_error()) } else { Ok(at.cast()) }
}

/// Addresses whose memory comes and goes: between [`Reserved::release`] and [`Reserved::open`] the bytes are zero. They stay
/// mapped to the end of the program, so that a reference that was kept reads zeros, never other memory. Pages are of the
/// size that a mapped file has.
pub(crate) struct Reserved {
    at: *mut u8,
    bytes: usize,
}

// SAFETY: a mapping belongs to the process, not to a thread.
unsafe impl Send for Reserved {}

impl Reserved {
    /// Errors: of `mmap`.
    pub(crate) fn new(bytes: usize) -> io::Result<Self> {
        let at = anonymous(bytes)?;
        // SAFETY: the mapping just made.
        unsafe { madvise(at.cast(), bytes, MADV_NOHUGEPAGE) };
        Ok(Self { at, bytes })
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    fn protect(&mut self, protection: c_int) {
        // SAFETY: the whole of our own mapping.
        unsafe { mprotect(self.at.cast(), self.bytes, protection) };
    }

    /// Makes it writable.
    pub(crate) fn open(&mut self) {
        self.protect(PROT_READ | PROT_WRITE);
    }

    /// Makes it read-only.
    pub(crate) fn close(&mut self) {
        self.protect(PROT_READ);
    }

    /// Copies `bytes` to `offset`; the memory must be open.
    pub(crate) fn write(&mut self, offset: usize, bytes: &[u8]) -> &'static [u8] {
        assert!(
            offset.checked_add(bytes.len()).is_some_and(|end| end <= self.bytes),
            "within what was reserved"
        );
        // SAFETY: within our own mapping, at bytes that were not handed out since they were released.
        unsafe { self.at.add(offset).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        self.bytes(offset, bytes.len())
    }

    /// Sets all to `byte`; the memory must be open.
    pub(crate) fn fill(&mut self, byte: u8) {
        // SAFETY: the whole of our own mapping, of which no reference was given out.
        unsafe { self.at.write_bytes(byte, self.bytes) };
    }

    /// A stretch of it.
    pub(crate) fn bytes(&self, offset: usize, count: usize) -> &'static [u8] {
        assert!(offset.checked_add(count).is_some_and(|end| end <= self.bytes), "within what was reserved");
        // SAFETY: within our own mapping, which is never unmapped.
        unsafe { std::slice::from_raw_parts(self.at.add(offset), count) }
    }

    /// Gives the memory back; the addresses stay.
    pub(crate) fn release(&mut self) {
        // SAFETY: the whole of our own mapping; what its bytes were is over with the request.
        unsafe { madvise(self.at.cast(), self.bytes, MADV_DONTNEED) };
    }
}

/// A function whose code `write` writes into at most `bytes`.
///
/// Errors: of `mmap` and `mprotect`, where a system executes only what was linked.
pub(crate) fn executable(bytes: usize, write: fn(&mut [u8])) -> io::Result<extern "C" fn(*const u32)> {
    let at = anonymous(bytes)?;
    // SAFETY: the mapping just made. What is written there is a function of the C calling convention that reads
    // `flush::OTHER_BLOCKS` words from its argument and writes nothing.
    unsafe {
        write(std::slice::from_raw_parts_mut(at, bytes));
        if mprotect(at.cast(), bytes, PROT_READ | PROT_EXEC) != 0 {
            let error = io::Error::last_os_error();
            munmap(at.cast(), bytes);
            return Err(error);
        }
        Ok(std::mem::transmute::<*mut u8, extern "C" fn(*const u32)>(at))
    }
}

/// Where the program's code lies: the executable segments of its own image.
pub(crate) fn code() -> Vec<(*const u8, usize)> {
    const LOAD: u32 = 1;
    const EXECUTABLE: u32 = 1;
    let image = &raw const __ehdr_start;
    // SAFETY: the linker's symbol is the ELF header of this program, which is mapped with its table of segments: the first
    // loaded segment holds both. Offsets are those of 64-bit ELF.
    unsafe {
        let at = |offset: usize| image.wrapping_add(offset);
        let table = at(at(32).cast::<u64>().read_unaligned() as usize);
        let (size, count) = (at(54).cast::<u16>().read_unaligned(), at(56).cast::<u16>().read_unaligned());
        let segments = (0..usize::from(count)).map(|number| {
            let segment = table.wrapping_add(number * usize::from(size));
            let word = |offset: usize| segment.wrapping_add(offset).cast::<u64>().read_unaligned();
            let (kind, flags) = (segment.cast::<u32>().read_unaligned(), (word(0) >> 32) as u32);
            (kind, flags, word(8), word(16), word(40))
        });
        let loaded: Vec<_> = segments.filter(|segment| segment.0 == LOAD).collect();
        let first = loaded.iter().find(|segment| segment.2 == 0).map_or(0, |segment| segment.3);
        let code = loaded.into_iter().filter(|segment| segment.1 & EXECUTABLE != 0);
        code.map(|(_, _, _, address, bytes)| (at(address.wrapping_sub(first) as usize), bytes as usize))
            .collect()
    }
}

/// Reads a byte, which the compiler cannot leave out.
#[inline(always)]
pub(crate) fn read(byte: &u8) -> u8 {
    // SAFETY: a reference can be read.
    unsafe { std::ptr::from_ref(byte).read_volatile() }
}

/// 0, which the compiler does not know.
pub(crate) fn unknown_zero() -> u64 {
    static ZERO: u64 = 0;
    // SAFETY: a reference can be read.
    unsafe { (&raw const ZERO).read_volatile() }
}

/// The same bytes at an address that cannot be known before `zero` is, which is 0.
#[inline(always)]
pub(crate) fn waiting(data: &'static [u8], zero: u64) -> &'static [u8] {
    // SAFETY: `zero` is an answer and-ed with [`unknown_zero`], so these are the same bytes.
    unsafe { std::slice::from_raw_parts(data.as_ptr().wrapping_add(zero as usize), data.len()) }
}

/// The same state at an address that cannot be known before `zero` is, which is 0.
#[inline(always)]
pub(crate) fn waiting_for_state<S>(state: &S, zero: u64) -> &S {
    // SAFETY: as in [`waiting`].
    unsafe { &*std::ptr::from_ref(state).wrapping_byte_add(zero as usize) }
}

/// The same for a state that the call may change.
#[inline(always)]
pub(crate) fn waiting_for_fresh<S>(state: &mut S, zero: u64) -> &mut S {
    // SAFETY: as in [`waiting`].
    unsafe { &mut *std::ptr::from_mut(state).wrapping_byte_add(zero as usize) }
}

/// The program's own memory that the system has given it, bytes; 0 where it does not say.
pub(crate) fn own_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let mut pages = text.split(' ').skip(1).map_while(|field| field.parse::<u64>().ok());
    let (resident, shared) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
    resident.saturating_sub(shared) * page_bytes() as u64
}
