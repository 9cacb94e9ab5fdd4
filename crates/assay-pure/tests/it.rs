//! The integration tests of this crate, one program: each one more would be linked and started on its own, and what they
//! share would be compiled and prepared again.

mod aarch64_pairs;
mod across;
mod experiment_files;
mod facts;
mod figures;
mod identity;
mod protocol;
mod shipped_diaries;
mod shipped_experiments;
mod tripwire;
