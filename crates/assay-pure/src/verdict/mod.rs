//! From samples to verdicts with causes.

pub mod observed;
