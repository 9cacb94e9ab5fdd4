//! What does the kernel cost: a call, a read of a clock, a first touch of a page, a switch to another thread?

use crate::window::clock;
use std::io::{self, Read as _, Write as _};

/// The cheapest call of the system that is always made: who is the parent.
pub fn system_call() {
    // SAFETY: takes no argument and cannot fail.
    unsafe { libc::syscall(libc::SYS_getppid) };
}

/// Reads the monotonic clock.
pub fn read_monotonic() {
    std::hint::black_box(clock(libc::CLOCK_MONOTONIC));
}

/// Reads the thread's CPU clock.
pub fn read_thread_clock() {
    std::hint::black_box(clock(libc::CLOCK_THREAD_CPUTIME_ID));
}

/// Reads the processor's own counter; false where this architecture has none that a program may read.
pub fn read_counter() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: every x86-64 has it, and Linux lets programs read it.
        std::hint::black_box(unsafe { std::arch::x86_64::_rdtsc() });
        true
    }
    #[cfg(target_arch = "aarch64")]
    {
        let count: u64;
        // SAFETY: Linux lets programs read the virtual counter.
        unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) count, options(nomem, nostack)) };
        std::hint::black_box(count);
        true
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    false
}

/// Fresh memory none of whose pages is there yet.
#[derive(Debug)]
pub struct Untouched {
    start: *mut libc::c_void,
    pages: usize,
    page: usize,
}

impl Untouched {
    /// So many pages of the architecture's base size.
    ///
    /// # Errors
    /// The kernel has not got so much.
    pub fn new(pages: usize) -> io::Result<Untouched> {
        // SAFETY: asks for a constant of the system.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
        let bytes = pages * page;
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches nothing that exists.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, kind, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the mapping's own range; a kernel without huge pages refuses, and has none to give.
        unsafe { libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE) };
        Ok(Untouched { start, pages, page })
    }

    /// Writes to each page once; returns how many.
    pub fn touch(&mut self) -> u64 {
        for at in 0..self.pages {
            // SAFETY: within the mapping; volatile, so that it happens.
            unsafe { self.start.cast::<u8>().add(at * self.page).write_volatile(1) };
        }
        self.pages as u64
    }
}

impl Drop for Untouched {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nothing borrowed from it is left.
        unsafe { libc::munmap(self.start, self.pages * self.page) };
    }
}

/// Two threads on one processor that hand a byte to and fro.
#[derive(Debug)]
pub struct PingPong {
    there: io::PipeWriter,
    back: io::PipeReader,
    other: Option<std::thread::JoinHandle<()>>,
}

impl PingPong {
    /// Starts the other thread, on `cpu`; the caller must be bound to it too.
    ///
    /// # Errors
    /// No pipe, no thread, or no such processor.
    pub fn new(cpu: usize) -> io::Result<PingPong> {
        let (mut from_here, there) = io::pipe()?;
        let (back, mut to_here) = io::pipe()?;
        let other = std::thread::Builder::new().name("ping-pong".into()).spawn(move || {
            // Without the processor there is no answer, and `hand` says so.
            if crate::pin::pin(0, cpu).is_err() {
                return;
            }
            let mut byte = [0u8];
            while from_here.read_exact(&mut byte).is_ok() && to_here.write_all(&byte).is_ok() {}
        })?;
        Ok(PingPong { there, back, other: Some(other) })
    }

    /// Hands the byte there and back `times` times: two switches each.
    ///
    /// # Errors
    /// The other thread is gone.
    pub fn hand(&mut self, times: u64) -> io::Result<()> {
        let mut byte = [1u8];
        for _ in 0..times {
            self.there.write_all(&byte)?;
            self.back.read_exact(&mut byte)?;
        }
        Ok(())
    }

    /// Ends the other thread.
    pub fn end(self) {
        let PingPong { there, back, mut other } = self;
        drop((there, back));
        if let Some(other) = other.take() {
            // It only waits for a byte that will not come.
            let _ = other.join();
        }
    }
}

/// CPU time of the whole process so far, nanoseconds.
pub fn process_cpu_ns() -> f64 {
    clock(libc::CLOCK_PROCESS_CPUTIME_ID).as_nanos() as f64
}

/// The monotonic clock, nanoseconds.
pub fn monotonic_ns() -> f64 {
    clock(libc::CLOCK_MONOTONIC).as_nanos() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_touched_and_given_back() {
        let mut fresh = Untouched::new(8).unwrap();
        assert_eq!((fresh.touch(), fresh.touch()), (8, 8));
    }

    #[test]
    fn the_byte_comes_back_as_often_as_it_is_handed_on() {
        let cpu = crate::pin::allowed_cpus().unwrap()[0];
        let mut pair = PingPong::new(cpu).unwrap();
        pair.hand(100).unwrap();
        pair.end();
        // On a processor that cannot be had nobody answers.
        let mut alone = PingPong::new(1000).unwrap();
        assert!(alone.hand(1).is_err());
        alone.end();
    }

    #[test]
    fn calls_and_clocks_return() {
        system_call();
        read_monotonic();
        read_thread_clock();
        assert_eq!(read_counter(), cfg!(any(target_arch = "x86_64", target_arch = "aarch64")));
        assert!(process_cpu_ns() > 0.0 && monotonic_ns() > 0.0);
    }
}
