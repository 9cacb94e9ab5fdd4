//! Measuring: speaks to the measured programs, one at a time, and returns samples. It neither prints nor keeps
//! anything, and knows nothing of compilers or verdicts.

pub mod fault;
pub mod flag;
pub mod lineup;
pub mod prove;
pub mod retake;
pub mod round;
pub mod taken;
pub mod tune;
pub mod worker;

pub use fault::{ProgramFault, Stage};
pub use lineup::{Lineup, LoadedInput, Subject};
