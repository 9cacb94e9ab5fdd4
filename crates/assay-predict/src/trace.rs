//! What did the branches of a program do? The stream of executed branches, as data.
//!
//! A stream comes from the tracer (a plugin in an emulator), from a stored trace or from a test; the predictors of
//! [`crate::predict`] and the statistics per site walk over it without knowing which.

pub mod branch;
pub mod bt9;
pub mod cbp;
pub mod champsim;
pub mod channel;
pub mod classify;
pub mod continuity;
pub mod hints;
pub mod jiegec;
pub mod recognise;
pub mod sbbt;
pub mod source;
pub mod stored;

pub use branch::{Branch, BranchClass, BranchKind, BranchSite};
pub use continuity::Continuity;
pub use recognise::{TraceFormat, recognise};
pub use source::{Batch, TraceError, TraceSource};
