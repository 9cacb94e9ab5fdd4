//! A predictor's name and what it stands for.

use super::{Member, PredictionKind};

/// A name and what it stands for.
pub struct PredictorEntry {
    /// The name, in lower case with hyphens.
    pub name: &'static str,
    /// What it is, in one line: method, tables, history.
    pub what: &'static str,
    /// Who described it, where.
    pub source: &'static str,
    /// Which branches it judges.
    pub judges: &'static [PredictionKind],
    /// A fresh one.
    pub make: fn() -> Box<dyn Member>,
}
