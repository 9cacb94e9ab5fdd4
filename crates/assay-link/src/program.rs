//! A program of an experiment, however it is built: compiled by us from its sources, or by a build of the user's own.
//!
//! A build of its own runs as it is, in folders of the store where that can be had; its last link is captured and made again
//! in each placement, so that a placement costs a link and no build. Limits: the link must go through a linker that can be
//! stood in for (`adopt::capture`); code of libraries that the build did not make stays where its linker puts it.

mod aside;
mod builder;
mod captured;
mod cargo;
mod cmake;
mod late;
mod own;
mod toolchain;
mod zig;

pub use builder::{ProgramBuilder, ProgramRecipe};
pub use toolchain::find_toolchains;
pub use zig::HARNESS as ZIG_HARNESS;
