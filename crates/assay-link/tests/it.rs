//! The integration tests of this crate, one program: each one more would be linked and started on its own, and what they
//! share would be compiled and prepared again.

mod build_cache;
mod build_damage;
mod build_failures;
mod build_placement;
mod build_support;
