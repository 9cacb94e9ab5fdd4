//! What a predictor sees: inputs and how they are made, the branches that a program executes, predictors over both.
//!
//! Nothing here knows of experiments or verdicts; like all that only computes, it names no clock, file, process or thread.
// But where loops are compiled for a CPU's vectors (predict/widest.rs), and where memory is asked for (predict/prefetch.rs).
#![deny(unsafe_code)]

pub mod inputs;
pub mod language;
pub mod predict;
pub mod trace;

// What is computed below; its names are as if they were of this crate.
use assay_numbers::{stats, words};
