//! The kernel's `struct perf_event_attr` in its first published size, which every kernel takes.

use super::event::CounterEvent;
use assay_pure::command::Scope;
use std::os::fd::RawFd;

/// `PERF_ATTR_SIZE_VER0`, bytes. The kernel takes missing fields as zero, so the oldest size is the most portable one.
const SIZE: u32 = 64;
/// `PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING`.
const TIMES: u64 = 1 | 2;
/// `PERF_SAMPLE_IP`.
const ADDRESS: u64 = 1;
/// `PERF_SAMPLE_TID`.
const TASK: u64 = 2;
/// `PERF_FLAG_FD_CLOEXEC`: a counted program does not inherit the descriptor.
const CLOSE_ON_EXEC: libc::c_ulong = 8;

const DISABLED: u64 = 1 << 0;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_USER: u64 = 1 << 4;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const ENABLE_ON_EXEC: u64 = 1 << 12;
/// Since Linux 5.13.
const INHERIT_THREAD: u64 = 1 << 35;

/// What is said to the kernel about one event.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attribute {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

impl Attribute {
    /// Counted from now on, in this thread alone.
    pub(super) fn of(event: &CounterEvent) -> Attribute {
        let excluded = match event.scope {
            Scope::User => EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR,
            Scope::Kernel => EXCLUDE_USER | EXCLUDE_HYPERVISOR,
            Scope::All => 0,
        };
        Attribute {
            kind: event.kind,
            size: SIZE,
            config: event.config,
            sample_period: 0,
            sample_type: 0,
            read_format: TIMES,
            flags: excluded,
            wakeup_events: 0,
            breakpoint_type: 0,
            config1: event.config1,
        }
    }

    /// Counted in threads that the process starts, too, and in processes if they are followed.
    pub(super) fn inherited(mut self, follow: bool) -> Attribute {
        self.flags |= if follow { INHERIT } else { INHERIT | INHERIT_THREAD };
        self
    }

    /// Not only counted: the kernel tells address, process and thread each time that it has counted so many.
    pub(super) fn sampled(mut self, period: u64) -> Attribute {
        self.sample_period = period;
        self.sample_type = ADDRESS | TASK;
        self
    }

    /// Counted from the next exec on. Only for an event that leads its group: the others follow it.
    pub(super) fn starting_at_exec(mut self) -> Attribute {
        self.flags |= DISABLED | ENABLE_ON_EXEC;
        self
    }

    /// A descriptor, or a negative number with the reason in `errno`.
    pub(super) fn open(&self, process: libc::pid_t, leader: RawFd) -> RawFd {
        self.open_on(process, -1, leader)
    }

    /// The same while the process is on one processor.
    pub(super) fn open_on(&self, process: libc::pid_t, processor: libc::c_int, leader: RawFd) -> RawFd {
        // SAFETY: the kernel reads `size` bytes, which is the size of this struct (held by a test); the other arguments
        // are integers.
        let descriptor = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                self as *const Attribute,
                process,
                processor,
                leader,
                CLOSE_ON_EXEC,
            )
        };
        descriptor as RawFd
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_as_long_as_it_says() {
        assert_eq!(size_of::<Attribute>(), SIZE as usize);
    }

    #[test]
    fn the_scope_and_the_start_are_bits_of_the_kernels_header() {
        // include/uapi/linux/perf_event.h: disabled 0, inherit 1, exclude_user 4, exclude_kernel 5, exclude_hv 6,
        // enable_on_exec 12.
        let flags = |event: &str| Attribute::of(&event.parse().unwrap()).flags;
        assert_eq!(flags("branches:u"), 0b110_0000);
        assert_eq!(flags("branches:k"), 0b101_0000);
        assert_eq!(flags("branches:uk"), 0);
        let event: CounterEvent = "branches".parse().unwrap();
        let attribute = Attribute::of(&event).inherited(true).starting_at_exec();
        assert_eq!(attribute.flags, 0b1_0000_0110_0011);
        assert_eq!(attribute.read_format, 3);
        // inherit_thread 35
        assert_eq!(Attribute::of(&event).inherited(false).flags, (1 << 35) | 0b110_0010);
    }
}
