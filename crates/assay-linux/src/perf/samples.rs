//! Where do a process and what it starts spend their time? Addresses of code, sampled by the kernel's clock.
//!
//! Method: the software event `cpu-clock` needs no performance counters. It is opened on the process for each processor, as an
//! event that is inherited has no buffer for all of them, and the kernel writes a record per [`PERIOD`] of a task's time into a
//! ring that is read here. Source: `man 2 perf_event_open`.
//! Known limits: time in the kernel is not sampled; threads and processes that were there before it was opened are not followed;
//! a ring that nobody reads for half a second of work loses what comes then.

use super::attribute::Attribute;
use super::event::CounterEvent;
use super::refusal::CounterRefusal;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::sync::atomic::{AtomicU64, Ordering};

/// Nanoseconds of a task's time between two samples; no even fraction of what timers do.
const PERIOD: u64 = 499_000;
/// Bytes of a ring without the kernel's page of words: a power of two of pages.
const RING: usize = 8 * PAGE;
const PAGE: usize = 4096;
/// Offsets of `data_head` and `data_tail` in the page of words.
const HEAD: usize = 1024;
const TAIL: usize = 1032;
/// `PERF_RECORD_SAMPLE`.
const SAMPLE: u32 = 9;

/// One moment of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockSample {
    /// Address of the code that was executed.
    pub address: u64,
    /// The process.
    pub process: u32,
}

/// Samples of a process and of what it starts from now on.
#[derive(Debug)]
pub struct ClockSamples {
    rings: Vec<Ring>,
}

impl ClockSamples {
    /// Begins to sample a process.
    ///
    /// # Errors
    /// The kernel's refusal, with its cause.
    pub fn open(process: u32) -> Result<ClockSamples, CounterRefusal> {
        let event: CounterEvent = "cpu-clock:u".parse().expect("an event of every kernel");
        let attribute = Attribute::of(&event).inherited(true).sampled(PERIOD);
        let refusal = |error: io::Error| CounterRefusal::new(&event, error.raw_os_error().unwrap_or(0));
        // SAFETY: a number of the machine.
        let processors = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) } as libc::c_int;
        let mut rings = Vec::new();
        for processor in 0..processors.max(1) {
            let descriptor = attribute.open_on(process as libc::pid_t, processor, -1);
            if descriptor < 0 {
                let error = io::Error::last_os_error();
                // It is switched off.
                if error.raw_os_error() == Some(libc::ENODEV) {
                    continue;
                }
                return Err(refusal(error));
            }
            // SAFETY: the kernel has just given us this descriptor; nobody else has it.
            rings.push(Ring::of(unsafe { File::from_raw_fd(descriptor) }).map_err(refusal)?);
        }
        Ok(ClockSamples { rings })
    }

    /// Hands on all samples since the last call.
    pub fn take(&mut self, told: &mut impl FnMut(ClockSample)) {
        self.rings.iter_mut().for_each(|ring| ring.take(told));
    }
}

/// The records of one processor.
#[derive(Debug)]
struct Ring {
    _descriptor: File,
    memory: *mut u8,
}

// SAFETY: the memory is the kernel's and this ring's alone, whichever thread looks at it.
unsafe impl Send for Ring {}

impl Ring {
    fn of(descriptor: File) -> io::Result<Ring> {
        // SAFETY: a new mapping of a descriptor that is ours, unmapped when the ring is dropped.
        let memory = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let file = descriptor.as_raw_fd();
            libc::mmap(std::ptr::null_mut(), PAGE + RING, access, libc::MAP_SHARED, file, 0)
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Ring { _descriptor: descriptor, memory: memory.cast() })
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: an aligned word of the mapping's first page, which the kernel and we read and write as a whole.
        unsafe { AtomicU64::from_ptr(self.memory.add(offset).cast()) }
    }

    /// The bytes from a place on, which counts on where the ring begins again.
    fn bytes<const LENGTH: usize>(&self, place: u64) -> [u8; LENGTH] {
        // SAFETY: below the head the kernel does not write until the tail is moved; the offset is within the ring.
        std::array::from_fn(|at| unsafe {
            self.memory.add(PAGE + (place as usize + at) % RING).read_volatile()
        })
    }

    fn take(&mut self, told: &mut impl FnMut(ClockSample)) {
        let head = self.word(HEAD).load(Ordering::Acquire);
        let mut place = self.word(TAIL).load(Ordering::Relaxed);
        while place < head {
            // Kind, flags and length; of a sample then address, process and thread.
            let kind = u32::from_ne_bytes(self.bytes(place));
            let length = u16::from_ne_bytes(self.bytes(place + 6));
            if kind == SAMPLE {
                let address = u64::from_ne_bytes(self.bytes(place + 8));
                told(ClockSample { address, process: u32::from_ne_bytes(self.bytes(place + 16)) });
            }
            place += u64::from(length.max(8));
        }
        self.word(TAIL).store(place, Ordering::Release);
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: mapped in `of` with this length, and nothing points into it any more.
        unsafe { libc::munmap(self.memory.cast(), PAGE + RING) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;
    use std::time::{Duration, Instant};

    #[inline(never)]
    fn busy() -> u64 {
        (0..1_000_000u64).fold(0, |sum, number| black_box(sum ^ number))
    }

    #[test]
    fn a_process_at_work_is_sampled_where_it_works_and_each_sample_is_told_once() {
        let own = std::process::id();
        // SAFETY: asks for a number. The thread of the test stands for a process's first.
        let first = unsafe { libc::gettid() } as u32;
        let mut samples = match ClockSamples::open(first) {
            Ok(samples) => samples,
            Err(refusal) => return println!("skipped: {refusal}"),
        };
        // It is a thread that is started from now on. The ring is gone around several times.
        let worker = std::thread::spawn(|| {
            let started = Instant::now();
            while started.elapsed() < Duration::from_secs(2) {
                black_box(busy());
            }
        });
        let mut found: Vec<ClockSample> = Vec::new();
        while !worker.is_finished() {
            samples.take(&mut |sample| found.push(sample));
            std::thread::sleep(Duration::from_millis(10));
        }
        samples.take(&mut |sample| found.push(sample));
        let (before, mut after) = (found.len(), 0);
        samples.take(&mut |_| after += 1);
        assert!(before > 0 && after <= 1, "{before}, {after}");
        assert!(found.iter().all(|sample| sample.process == own));
        let text = busy as *const () as u64;
        let near = found.iter().filter(|sample| sample.address.abs_diff(text) < 1 << 30).count();
        assert!(near * 10 > before * 9, "{near} of {before} are in this program");
    }
}
