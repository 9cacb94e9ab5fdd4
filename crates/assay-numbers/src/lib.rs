//! Numbers: estimates and their intervals, choices that are the same for ever, and how numbers are written in prose.
//!
//! Nothing here knows of experiments; like all that only computes, it names no clock, file, process or thread.
#![forbid(unsafe_code)]

pub mod choices;
pub mod pulse;
pub mod stats;
pub mod words;
