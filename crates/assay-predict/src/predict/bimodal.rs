//! A two-bit counter per branch address: what gshare is without a history.
//!
//! Source: J. E. Smith, "A study of branch prediction strategies", ISCA 1981 (strategy 7).
//! Known limits: branches that share the low bits of their address share a counter, as in hardware.

use super::family::{Configured, Parameter, PredictorFamily};
use super::gshare;
use super::{PredictionKind, PredictorEntry};

/// The names of this family.
pub const ENTRIES: &[PredictorEntry] = &[PredictorEntry {
    name: "bimodal",
    what: "2^14 two-bit counters by the low bits of pc ^ pc >> 2 (4 KB)",
    source: "Smith, ISCA 1981, strategy 7",
    judges: &[PredictionKind::Direction],
    make: || gshare::of_size(14, 0),
}];

/// `bimodal:bits=14`.
pub const FAMILY: PredictorFamily = PredictorFamily {
    name: "bimodal",
    source: "Smith, ISCA 1981, strategy 7",
    judges: &[PredictionKind::Direction],
    parameters: &[Parameter {
        name: "bits",
        what: "2^bits two-bit counters",
        domain: gshare::SIZES,
        usual: "14",
    }],
    make: |values| {
        let bits = values[0].unwrap_or(14);
        let size = gshare::kilobytes(bits);
        Ok(Configured {
            what: format!("2^{bits} two-bit counters by the low bits of pc ^ pc >> 2 ({size})"),
            member: gshare::of_size(bits, 0),
        })
    },
};
