//! How often did a program branch, miss, fault? Counts by the kernel's `perf_event_open`, by hand over libc.
//!
//! Method: the events of a command are opened on its process between fork and exec, begin at exec (`enable_on_exec`)
//! and are inherited by all that it starts, so what is counted is the program and nothing of the lab. A program that goes on
//! already is counted between two readings ([`RunningCounters`]). Each reading
//! carries how long the event was wanted and how long it was on a counter: where these differ the kernel shared the
//! counters out (multiplexing), and the value is a part of the truth that only [`CounterReading::scaled`] extrapolates.
//! Source: `man 2 perf_event_open`; `include/uapi/linux/perf_event.h` for numbers and bits.
//! Known limits: processors with two kinds of cores count hardware events on one kind only, which then reads as
//! multiplexed; a program that gains privileges at exec (set-user-ID) is taken off the counters by the kernel and reads
//! as never counted.
//! Checked: software events, which need no performance counters, against programs of known behaviour; everything that
//! a machine can refuse by its error number.

mod attribute;
mod command;
mod counter;
mod event;
mod front_end;
mod refusal;
mod running;
mod samples;

pub use command::{CommandCounters, CommandEnding, spawn};
pub use counter::{Counter, CounterReading, Target};
pub use event::{CounterEvent, KNOWN, UnknownEvent};
pub use refusal::{CounterRefusal, RefusalCause, RefusalContext};
pub use running::RunningCounters;
pub use samples::{ClockSample, ClockSamples};
