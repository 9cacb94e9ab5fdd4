//! How well would a predictor have done on this stream of branches?
//!
//! Method: trace-driven simulation in the manner of the branch prediction championships: a prediction is made, and the
//! predictor learns the outcome at once, before the next branch; there is no wrong path. Sources: the file of each
//! predictor names its own.

pub mod contract;
pub mod tally;
pub mod zoo;

pub use contract::{DirectionPredictor, TargetPredictor};
pub use tally::{SiteTally, Tally};
pub use zoo::{UnknownPredictor, Zoo};
