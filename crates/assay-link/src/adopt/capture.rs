//! A build that assay does not own, linked again in any placement.
//!
//! Question: how can the code of somebody else's build be put elsewhere, without its sources, flags or build system being
//! touched? Method: the build runs with a stand-in for each linker ahead of the real one ([`build()`]); the stand-in
//! records the call with all it reads, then becomes the linker. Afterwards each recorded call is made again, as it was or
//! with a padding ahead of all code and the program's sections in a seeded order ([`CapturedLink::replay`]), by calling
//! the linker itself: no compiler runs, unless the link optimises.
//! cargo is given a wrapper for rustc, as rustc's driver passes `COMPILER_PATH` over (`rust.rs`); zig,
//! which has its linker inside, a stand-in of its own (`zig.rs`). cargo also starts benchmarks through us (`runner.rs`).
//! A link is also made again with records of its branches (`instrumented`), from the texts that assemblers were given (`assembler`)
//! or that rustc (`units`), clang (`clang`), zig (`zig_call`) and LLVM in a linker (`bitcode`) write when they are called again.
//! Limits: a linker that the build names by path is not seen; a link with a linker script of its own is repeated but not
//! placed. Checked: every kind of link is captured, repeated to the same code, and moved as asked
//! (`crates/assay/tests/capture.rs`); what it costs is measured in `bench/capture`.

mod assembler;
mod bitcode;
mod builds;
mod call;
mod clang;
mod copies;
mod failure;
mod go;
mod held;
mod instrumented;
mod kept;
mod link;
mod linker;
mod linkers;
mod pairs;
mod program;
mod response;
mod run;
mod runner;
mod rust;
mod rustc_call;
mod sections;
mod stand_in;
mod started;
mod units;
mod words;
mod zig;
mod zig_call;

pub use builds::{BuildAsked, CapturedBuild, TextsAsked, build};
pub use failure::{BuildError, FailedBuild, NothingCaptured, ReplayError};
pub use held::{HELD_VERSION, HeldLink};
pub use instrumented::InstrumentAsked;
pub use link::{CapturedLink, Repeated, Replayed};
pub use program::PlacementLimit;
pub use stand_in::stand_in;
pub use started::{StartedProgram, started};
pub use zig_call::ZigCall;

/// The variable by which a build tells stand-ins where to record.
const VARIABLE: &str = "ASSAY_CAPTURE";
/// Further words for each rustc that compiles, with the unit separator between them: they come last, so they win.
pub(crate) const RUSTC_FLAGS_VARIABLE: &str = "ASSAY_RUSTC_FLAGS";
/// The variable in which a build finds the folder of stand-ins, for those that name their linker by path.
const LINKERS_VARIABLE: &str = "ASSAY_LINKERS";
/// The variable that tells cargo's runner how long criterion is to measure each benchmark, seconds.
pub(super) const CRITERION_VARIABLE: &str = "ASSAY_CRITERION_SECONDS";
/// The variable that tells the stand-in for rustc of the user's own wrapper.
const WRAPPER_VARIABLE: &str = "ASSAY_RUSTC_WRAPPER";
/// The variable that tells the stand-in for a driver which one it stands in for.
const DRIVER_VARIABLE: &str = "ASSAY_DRIVER";
