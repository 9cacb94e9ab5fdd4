//! A sweep to try things on.

use super::spec::SweepSpec;

/// A linear sweep of a number with as many points.
pub(crate) fn spec(from: f64, to: f64, points: u32) -> SweepSpec {
    SweepSpec { points, ..SweepSpec::over("inputs.mixed.multi_byte", from, to) }
}
