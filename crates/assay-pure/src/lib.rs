//! The part of assay that only computes: no clock, no file, no process, no thread, no unseeded randomness.
//!
//! Everything here is a function of its arguments, so every verdict can be recomputed from the ledger and every
//! numeric claim can be tested against an independent source.
#![forbid(unsafe_code)]

pub mod command;
pub mod compare;
pub mod definitions;
pub mod discover;
pub mod event;
pub mod experiment;
pub mod figures;
pub mod history;
pub mod ledger;
pub mod limits;
pub mod outcomes;
pub mod parquet;
pub mod placement;
pub mod protocol;
pub mod simulation;
pub mod stages;
pub mod sweep;
pub mod verdict;

// What is computed on the two floors below; its names are as if they were of this crate.
pub use assay_numbers::{pulse, stats, words};
pub use assay_predict::{inputs, language, predict, trace};
