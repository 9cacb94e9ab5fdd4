//! One open event, and what is read from it.

use super::attribute::Attribute;
use super::event::CounterEvent;
use super::refusal::CounterRefusal;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsRawFd, FromRawFd};

/// Whose events are counted, and from when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// This thread alone, from now.
    Here,
    /// A process from its next exec on, with all its threads.
    FromExec {
        /// Its number.
        process: u32,
        /// And all processes that it starts.
        follow: bool,
    },
    /// A process that goes on already, from now: its first thread, and those that it starts later.
    Running {
        /// Its number.
        process: u32,
    },
}

/// An open event; closed when dropped.
#[derive(Debug)]
pub struct Counter {
    descriptor: File,
}

/// What a counter says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterReading {
    /// Events counted while it was on a counter; nanoseconds of the two clocks.
    pub value: u64,
    /// How long it was wanted, nanoseconds, summed over processes and threads.
    pub enabled_ns: u64,
    /// How long it was on a counter, nanoseconds.
    pub running_ns: u64,
}

impl CounterReading {
    /// What was counted after an earlier reading of the same counter.
    pub fn since(&self, before: &CounterReading) -> CounterReading {
        CounterReading {
            value: self.value.saturating_sub(before.value),
            enabled_ns: self.enabled_ns.saturating_sub(before.enabled_ns),
            running_ns: self.running_ns.saturating_sub(before.running_ns),
        }
    }

    /// Whether it was on a counter at all: if not, its value says nothing.
    pub fn was_counted(&self) -> bool {
        self.running_ns > 0
    }

    /// Whether it was on a counter for a part of the time only.
    pub fn is_multiplexed(&self) -> bool {
        self.running_ns < self.enabled_ns
    }

    /// The share of the time for which it was on a counter, 0 to 1; 0 where it never was wanted.
    pub fn share(&self) -> f64 {
        if self.enabled_ns == 0 { 0.0 } else { self.running_ns as f64 / self.enabled_ns as f64 }
    }

    /// The value extrapolated to the whole time, as if the program did the same all along; None where it was never
    /// on a counter.
    pub fn scaled(&self) -> Option<f64> {
        self.was_counted().then(|| self.value as f64 * (self.enabled_ns as f64 / self.running_ns as f64))
    }
}

impl Counter {
    /// Opens an event. With a `leader`, which must have the same target, both are on counters at the same time or not
    /// at all.
    ///
    /// # Errors
    /// The kernel's refusal, with its cause.
    pub fn open(
        event: &CounterEvent,
        target: Target,
        leader: Option<&Counter>,
    ) -> Result<Counter, CounterRefusal> {
        let plain = Attribute::of(event);
        let (attribute, process) = match target {
            Target::Here => (plain, 0),
            Target::FromExec { process, follow } => {
                let inherited = plain.inherited(follow);
                let attribute = if leader.is_some() { inherited } else { inherited.starting_at_exec() };
                (attribute, process as libc::pid_t)
            }
            Target::Running { process } => (plain.inherited(false), process as libc::pid_t),
        };
        let leader = leader.map_or(-1, |leader| leader.descriptor.as_raw_fd());
        let descriptor = attribute.open(process, leader);
        if descriptor < 0 {
            let errno = io::Error::last_os_error().raw_os_error().unwrap_or(0);
            return Err(CounterRefusal::new(event, errno));
        }
        // SAFETY: the kernel has just given us this descriptor; nobody else has it.
        Ok(Counter { descriptor: unsafe { File::from_raw_fd(descriptor) } })
    }

    /// What it has counted so far. It sums over processes that have ended and those that go on.
    ///
    /// # Errors
    /// A failing `read`. An event that lost its place on the processor for good reads as end of file: that is said too.
    pub fn read(&self) -> io::Result<CounterReading> {
        let mut bytes = [0u8; 24];
        let count = (&self.descriptor).read(&mut bytes)?;
        if count != bytes.len() {
            let message =
                format!("reading a counter gave {count} bytes, not 24: the kernel removed it from the CPU");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message));
        }
        let word = |at: usize| {
            let bytes: [u8; 8] = bytes[at * 8..at * 8 + 8].try_into().expect("eight bytes");
            u64::from_ne_bytes(bytes)
        };
        Ok(CounterReading { value: word(0), enabled_ns: word(1), running_ns: word(2) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_shared_out_says_its_share_and_scales_only_when_asked() {
        let reading = CounterReading { value: 300, enabled_ns: 1000, running_ns: 250 };
        assert!(reading.was_counted() && reading.is_multiplexed());
        assert_eq!((reading.share(), reading.scaled(), reading.value), (0.25, Some(1200.0), 300));
        let whole = CounterReading { value: 300, enabled_ns: 1000, running_ns: 1000 };
        assert!(whole.was_counted() && !whole.is_multiplexed());
        assert_eq!((whole.share(), whole.scaled()), (1.0, Some(300.0)));
    }

    #[test]
    fn what_lies_between_two_readings_has_times_of_its_own() {
        let before = CounterReading { value: 300, enabled_ns: 1000, running_ns: 250 };
        let after = CounterReading { value: 500, enabled_ns: 1400, running_ns: 650 };
        let between = after.since(&before);
        assert_eq!(between, CounterReading { value: 200, enabled_ns: 400, running_ns: 400 });
        assert!(after.is_multiplexed() && !between.is_multiplexed(), "it was on a counter all this while");
    }

    #[test]
    fn a_counter_that_never_had_its_turn_has_no_value() {
        let reading = CounterReading { value: 0, enabled_ns: 1000, running_ns: 0 };
        assert!(!reading.was_counted() && reading.is_multiplexed());
        assert_eq!((reading.share(), reading.scaled()), (0.0, None));
        let never = CounterReading { value: 0, enabled_ns: 0, running_ns: 0 };
        assert!(!never.was_counted() && !never.is_multiplexed());
        assert_eq!(never.share(), 0.0);
    }

    #[test]
    fn page_faults_of_this_thread_are_counted_one_per_page() {
        let event: CounterEvent = "page-faults:u".parse().unwrap();
        let counter = match Counter::open(&event, Target::Here, None) {
            Ok(counter) => counter,
            Err(refusal) => return println!("skipped: {refusal}"),
        };
        let before = counter.read().unwrap();
        // Of its own: an allocator may hand out, and write to, any number of pages.
        let (pages, size) = (64, 4096);
        // SAFETY: a new private mapping of that size, written to within its bounds and unmapped once.
        let after = unsafe {
            let (access, kind) =
                (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            let memory = libc::mmap(std::ptr::null_mut(), pages * size, access, kind, -1, 0);
            assert_ne!(memory, libc::MAP_FAILED);
            for page in 0..pages {
                memory.cast::<u8>().add(page * size).write_volatile(1);
            }
            let after = counter.read().unwrap();
            libc::munmap(memory, pages * size);
            after
        };
        let faults = after.value - before.value;
        // A large page may serve many of them, so there is no lower bound but one; the counter's own pages may be among them.
        assert!((1..=64 + 16).contains(&faults), "{faults}");
        assert!(after.running_ns > before.running_ns && !after.is_multiplexed());
    }
}
