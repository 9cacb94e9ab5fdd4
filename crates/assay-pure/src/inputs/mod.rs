//! Inputs: seeded generators, units and windows in bytes, and a description of what a predictor sees in them.

pub mod describe;
pub mod digest;
pub mod format;
pub mod generate;

pub use describe::Description;
pub use format::{Format, Window};
pub use generate::Generator;
