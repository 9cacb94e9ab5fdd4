//! What a Rust benchmark links to be measured by assay.
//!
//! # A first benchmark
//!
//! A variant is a function from an input's bytes to an answer; variants of one program must give the same answer. Put this
//! in `src/main.rs` (or in `benches/`, with `harness = false`):
//!
//! ```no_run
//! use assay_harness::Bench;
//! use std::process::ExitCode;
//!
//! fn simple(data: &[u8]) -> u64 {
//!     data.iter().map(|&byte| u64::from(byte)).sum()
//! }
//!
//! fn chunked(data: &[u8]) -> u64 {
//!     let chunks = data.chunks_exact(8);
//!     simple(chunks.remainder()) + chunks.map(simple).sum::<u64>()
//! }
//!
//! fn main() -> ExitCode {
//!     Bench::new().variant("simple", simple).variant("chunked", chunked).main()
//! }
//! ```
//!
//! Run alone (`cargo run --release -- --input FILE`, see `--help`) it prints a small table of the one placement that the
//! linker chose. `assay run` with `cargo = "Cargo.toml"` in its `[program]` measures many placements and gives verdicts;
//! `assay new --rust FOLDER` writes such an experiment.
//!
//! # Where the work is
//!
//! Only what a variant is about should be timed. There are four kinds:
//!
//! | kind | gets | timed |
//! |---|---|---|
//! | [`Bench::variant`] | the bytes of a window | the call |
//! | [`Bench::prepared`] | a state made once of the whole input | the call on it |
//! | [`Bench::fresh`] | a state of its own, made for each call | the call on it, not making or dropping it |
//! | [`Bench::looped`] | the whole input | the loop, from the first [`State::next`] to the last |
//!
//! A lookup is `prepared`: the table is made once, and is the same in every call.
//!
//! ```no_run
//! # use assay_harness::Bench;
//! use std::collections::HashSet;
//!
//! struct Words {
//!     known: HashSet<&'static [u8]>,
//!     text: &'static [u8],
//! }
//!
//! fn learn(data: &'static [u8]) -> Words {
//!     Words { known: data.split(|&byte| byte == b' ').step_by(2).collect(), text: data }
//! }
//!
//! fn count(words: &Words) -> u64 {
//!     words.text.split(|&byte| byte == b' ').filter(|word| words.known.contains(word)).count() as u64
//! }
//!
//! # fn main() -> std::process::ExitCode {
//! Bench::new().prepared("hashed", learn, count).main()
//! # }
//! ```
//!
//! A sort is `fresh`, for it changes what it is called on: the second call would sort what is sorted already.
//!
//! ```no_run
//! # use assay_harness::Bench;
//! fn numbers(data: &'static [u8]) -> Vec<u32> {
//!     data.chunks_exact(4).map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap())).collect()
//! }
//!
//! fn stable(numbers: &mut Vec<u32>) -> u64 {
//!     numbers.sort();
//!     u64::from(numbers[numbers.len() / 2])
//! }
//!
//! fn unstable(numbers: &mut Vec<u32>) -> u64 {
//!     numbers.sort_unstable();
//!     u64::from(numbers[numbers.len() / 2])
//! }
//!
//! # fn main() -> std::process::ExitCode {
//! Bench::new().fresh("stable", numbers, stable).fresh("unstable", numbers, unstable).main()
//! # }
//! ```
//!
//! What is freed is `fresh`, too: keep it in an [`Option`] and drop it in the call (`state.take()`). The states of one sample
//! exist at once; [`Bench::fresh_memory`] says in how much memory.
//!
//! A loop of its own is for what has no input to be cut into windows.
//!
//! ```no_run
//! # use assay_harness::{Bench, use_value};
//! # fn main() -> std::process::ExitCode {
//! Bench::new()
//!     .looped("sum", |state, data| {
//!         let mut total = 0;
//!         while state.next() {
//!             total = data.iter().map(|&byte| u64::from(byte)).sum();
//!             use_value(total);
//!         }
//!         state.answer(total);
//!     })
//!     .main()
//! # }
//! ```
//!
//! # What the compiler may not leave out
//!
//! An answer is used, so what it is made of is computed. Inside a loop [`use_value`] keeps a value, and [`clobber`] makes the
//! compiler believe that all memory has changed.
//!
//! # What is cold
//!
//! An experiment asks for states (`states = ["hot", "rotating", "cold_data", "cold_code"]`) and measures (`measure =
//! ["throughput", "latency"]`); the program need not change for them. Memory that variants read beside their input (a table,
//! an index) is declared by [`reads`], and is then cold too where data are.
//!
//! # How it speaks
//!
//! Run by the lab, which sets `ASSAY_CHANNEL`, the program serves the requests described in PROTOCOL.md and computes no
//! statistics: measured programs only measure. The crate has no dependencies, so it adds nothing else to a benchmark's
//! build; it declares what it needs of the C library itself. It does what `assay.h` does for C and C++, and both are tested
//! with the same vectors.

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
