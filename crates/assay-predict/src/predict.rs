//! How well would a predictor have done on this stream of branches?
//!
//! Method: trace-driven simulation in the manner of the branch prediction championships: a prediction is made, and the
//! predictor learns the outcome at once, before the next branch; there is no wrong path. Sources: the file of each
//! predictor names its own.
//!
//! [`Zoo`] holds predictors by name and walks them over a stream, [`Tally`] counts what they got wrong per site. A new
//! predictor is a file with a [`DirectionPredictor`] or [`TargetPredictor`] and a [`PredictorEntry`] in [`zoo`]'s list.

pub mod bimodal;
pub mod block;
mod conditionals;
pub mod contract;
pub mod counters;
mod entry;
pub mod family;
pub mod fixed;
pub mod floor;
pub mod gshare;
pub mod histories;
pub mod ittage;
pub mod last_target;
pub mod member;
pub mod perceptron;
mod prefetch;
pub mod profile;
pub mod return_stack;
pub mod run_table;
pub mod steps;
pub mod tage;
pub mod tage_sc;
pub mod tage_sc_l;
pub mod tally;
pub mod tournament;
pub mod two_level;
pub mod widest;
pub mod zoo;

pub use block::{Block, BlockPredictor};
pub use contract::{DirectionPredictor, TargetPredictor};
pub use entry::PredictorEntry;
pub use family::{Parameter, PredictorFamily, expand};
pub use floor::{Floor, SiteFloor};
pub use member::{Conditionals, Member, Profile, Simulated, TargetMember};
pub use return_stack::Returns;
pub use run_table::{IS_RUN, RUN, Repeated, RunTable};
pub use steps::{KeptSteps, NO_RUNS, Steps};
pub use tally::{PredictionKind, SiteTally, Tally};
pub use zoo::{PredictorDescription, UnknownPredictor, Zoo};
