//! The only part of assay that speaks to the kernel directly: starting and stopping measured programs, pinning,
//! the facts of the machine. Everything else in the lab is safe, portable Rust.
//!
//! Errors are `io::Error`s whose text names the call, its target and what to do about it.

#[cfg(not(target_os = "linux"))]
compile_error!(
    "assay supports only Linux for now: placement, pinning and clocks use its kernel's interfaces"
);

pub mod branch_timing;
mod cache;
pub mod clock;
pub mod command;
pub mod family;
pub mod given;
pub mod identity;
pub mod interrupt;
pub mod limits;
pub mod lock;
pub mod machine;
pub mod opened;
pub mod output;
pub mod perf;
pub mod pin;
pub mod pipe;
pub mod private;
pub mod process;
pub mod pulse;
mod resident;
pub mod session;
pub mod shared;
pub mod tied;
pub mod wait;
pub mod window;

pub use cache::user_cache;
