//! From sources to binaries whose placement is known: compilers, recipes, links, and the cache that keeps them.
//!
//! A program is compiled once per compiler and flag set (a [`Recipe`]) and linked once per placement (an [`Artifact`]).
//! Everything made is kept by the hash of its content and found again by the hash of what it was made from, so that a
//! second campaign starts neither compiler nor linker. It knows nothing of measuring.

mod artifact;
mod builder;
mod cache;
pub(crate) mod command;
mod compilers;
mod dependencies;
mod failure;
mod instrument;
mod keys;
mod linker;
mod objects;
mod ordering;
mod recipe;
mod relink;
pub mod text;
pub(crate) mod unresolved;
mod workshop;

pub use artifact::{Artifact, Link};
pub use assay_pure::outcomes::LoggingProgram;
pub use builder::Builder;
pub(crate) use builder::in_pairs;
pub use cache::kept_artifact;
pub(crate) use compilers::name_apart;
pub use compilers::{
    Compiler, CompilerFamily, ToolchainError, Toolchains, find_compilers, find_compilers_in,
};
pub use failure::{BuildFailure, Stage};
pub use instrument::Scope;
pub(crate) use instrument::{WRAPPED, program_side, rewrite};
pub use linker::{Linker, LinkerKind, default_script, identify};
pub use ordering::{OrderError, Ordering, misplaced, names_a_script, words as order_words};
pub(crate) use recipe::ADDED_FLAG;
pub use recipe::{Recipe, needs_cxx};
pub use workshop::{HARNESS, Stats};
