//! When did a figure change, over campaigns of months? Change points of a series, found as its points arrive.
//!
//! Method: E-divisive (Matteson and James 2014, JASA 109: 334-345) with α = 1, as MongoDB and Hunter use it for benchmarks
//! (Daly et al. 2020; Fleming et al. 2023). After each new point the stretch since the last change is divided where the
//! energy statistic is largest, and the division is kept where hardly any series without a change divides as well
//! ([`divisive`]). Campaigns that follow each other are alike, so these other series have the stretch's own
//! autocorrelation ([`noise`]); a plain permutation test takes slow drift for a change, 6 times too often.
//! A machine is a series of its own ([`scan`]): another machine is a known boundary, never a change.
//! Limits: fewer than 6 points on a machine are not examined; a change is looked for in the last 150 points since the last one.
//! Checked by: statistics of Apache Otava, change points of MongoDB's library; false alarms and power by simulation.

mod divisive;
mod gate;
mod kind;
mod noise;
mod outlying;
mod scan;

pub use divisive::FEWEST;
pub use gate::{GateReading, LevelChange, LevelReading, Reference, compare, limit, reference, rounding};
pub use kind::{instructions, processor_name};
pub use outlying::{
    Apart, LEVEL, MachineReading, NOISE, OutOfLine, Outlying, SharedFigure, TIME_TOLERANCE, out_of_line,
};
pub use scan::{Change, Sensitivity, changes, changes_by_machine, spread};
