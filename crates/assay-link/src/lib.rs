//! Everything that speaks to compilers and linkers: builds of our own, and other people's taken as they are.
#![forbid(unsafe_code)]

pub mod adopt;
pub mod build;
pub mod program;
