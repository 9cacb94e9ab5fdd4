//! Sweeps: one key of an input varied over a range. Where to measure next, where the winner flips, where a time steps.
//!
//! Method: docs/methodology/sweeps.md. Everything here works on readings (a log ratio or the logarithm of a time
//! with its standard error at a value of the key), so it is tested on simulated machines of known truth.

pub mod bend;
pub mod confirm;
pub mod crossover;
pub mod drift;
pub mod grid;
pub mod key;
pub mod naming;
pub mod reading;
pub mod refine;
pub mod repeats;
#[cfg(test)]
pub(crate) mod sample;
pub mod scale;
pub mod spec;
pub mod steps;
pub mod zones;

pub use crossover::{Crossover, crossovers};
pub use reading::{CampaignsSeen, Curve, Reading};
pub use scale::Scale;
pub use spec::{SweepSpec, Tolerance};
pub use steps::{CurveStep, steps};
pub use zones::{Winner, Zone, zones};
