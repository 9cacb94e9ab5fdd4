//! The command line.
#![forbid(unsafe_code)]

pub mod cli;
