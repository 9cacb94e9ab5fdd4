//! The integration tests of this crate, one program: each one more would be linked and started on its own, and what they
//! share would be compiled and prepared again.

mod alone;
mod conformance;
mod cpp;
mod faults;
mod memory;
mod states;
mod support;
