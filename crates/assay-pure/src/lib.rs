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
pub mod inputs;
pub mod language;
pub mod ledger;
pub mod limits;
pub mod parquet;
pub mod placement;
pub mod predict;
pub mod protocol;
pub mod pulse;
pub mod stages;
pub mod stats;
pub mod sweep;
pub mod trace;
pub mod verdict;
pub mod words;
