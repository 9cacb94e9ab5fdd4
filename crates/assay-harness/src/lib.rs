//! What a Rust benchmark links to be measured by assay.
//!
//! ```no_run
//! use assay_harness::{Bench, use_value};
//! use std::process::ExitCode;
//!
//! fn sum(data: &[u8]) -> u64 {
//!     data.iter().map(|&byte| u64::from(byte)).sum()
//! }
//!
//! fn main() -> ExitCode {
//!     Bench::new()
//!         .variant("sum", sum)
//!         .looped("sum/looped", |state, data| {
//!             let mut total = 0;
//!             while state.next() {
//!                 total = sum(data);
//!                 use_value(total);
//!             }
//!             state.answer(total);
//!         })
//!         .main()
//! }
//! ```
//!
//! A variant is a function from an input's bytes to an answer; variants of one program must give the same answer. Run
//! alone, the program prints a small table (see `--help`). Run by the lab (`assay run`), which sets `ASSAY_CHANNEL`, it
//! serves the requests described in PROTOCOL.md and computes no statistics: measured programs only measure.
//!
//! The crate has no dependencies, so it adds nothing else to a benchmark's build; it declares what it needs of the C library
//! itself. It does what `harness/assay.h` does, and both are tested with `harness/vectors.txt`.

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
compile_error!("assay-harness works on 64-bit Linux only: its clocks and mappings are Linux's");

mod alone;
mod bench;
mod beside;
mod channel;
mod clock;
mod cool;
mod fields;
mod flush;
mod fresh;
mod heap;
mod inputs;
mod lab;
mod listed;
mod options;
mod pulse;
mod sample;
mod state;
mod system;
mod table;
mod trace;
mod usage;
mod variant;

pub use bench::Bench;
pub use state::State;

/// Keeps `value`, and all that it points to, alive: the compiler must compute it and assume nothing about its use.
///
/// Cost: a store, in the shadow of the work. Unlike `std::hint::black_box` nothing is read back.
#[inline(always)]
pub fn use_value<T>(value: T) {
    // SAFETY: no instruction is executed. Not being `pure` or `nomem`, the statement stays, and counts as reading and
    // writing whatever can be reached from the address.
    unsafe { std::arch::asm!("/* {} */", in(reg) &raw const value, options(nostack, preserves_flags)) }
}

/// Makes the compiler believe that all memory that can be reached was read and written.
#[inline(always)]
pub fn clobber() {
    // SAFETY: no instruction is executed.
    unsafe { std::arch::asm!("", options(nostack, preserves_flags)) }
}

/// A second input, which the experiment gives beside the one that a variant is called with: `with = { table = "..." }`.
///
/// Ask for it in a `prepare` where calls are short, for it costs a comparison of names. A name that the experiment does not
/// give ends the program. Run alone with a file, the program finds it as `FILE.table`.
#[must_use]
pub fn input(name: &str) -> &'static [u8] {
    beside::find(name)
}

/// Declares memory that variants read beside their input (a table, an index): states with cold data make it cold too.
/// Call it before [`Bench::main`] or in a `prepare`. The memory must stay mapped; an empty slice that starts there
/// takes a declaration back.
pub fn reads<T>(memory: &[T]) {
    cool::declare(memory.as_ptr().cast(), std::mem::size_of_val(memory));
}
