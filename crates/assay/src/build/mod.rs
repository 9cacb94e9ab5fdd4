//! Building: compilers found, objects compiled, the program relinked at every placement, all of it kept by content so
//! that a second campaign starts no compiler. It knows nothing of measuring.

mod artifact;
mod cache;
mod command;
mod failure;
mod linker;
mod recipe;
mod script;
mod toolchain;

pub use artifact::{Artifact, Builder, Link};
pub use failure::BuildFailure;
pub use recipe::Recipe;
pub use toolchain::{Compiler, Family, ToolchainError, find_compilers};
