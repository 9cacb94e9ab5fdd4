//! Claims, checked by arithmetic first and by the measurement second.
//!
//! A claim may state several things about several inputs and compilers. It is `refuted` when anything it states is
//! contradicted anywhere (and the finding says where), `confirmed` when everything it states about the measurement
//! holds everywhere, `undecided` otherwise. Its own numbers agreeing with each other confirms nothing by itself.

pub(crate) mod arithmetic;
mod context;
mod events;
mod finding;
mod measured;
mod misses;
mod scope;

use crate::experiment::ClaimSpec;

pub use context::{CellFigure, ClaimContext, InputFacts};
pub(crate) use finding::{ClaimFinding, DEFAULT_TOLERANCE, Standing, conclude};
pub use finding::{ClaimResult, ClaimStatus};

/// Compares one claim with arithmetic, then with the measurement.
///
/// What is impossible is refuted without looking at a single sample.
pub fn check(claim: &ClaimSpec, context: &ClaimContext<'_>) -> ClaimResult {
    let impossible = arithmetic::check(claim, context);
    let refuted_by_arithmetic = impossible.iter().any(|finding| finding.standing == Standing::Contradicted);
    let findings = if refuted_by_arithmetic {
        impossible
    } else {
        impossible
            .into_iter()
            .chain(measured::check(claim, context))
            .chain(misses::check(claim, context))
            .chain(events::check(claim, context))
            .collect()
    };
    conclude(&claim.text, &findings)
}

#[cfg(test)]
mod tests;
