//! A sweep to try things on.

use super::spec::{Scale, SweepSpec};

/// A linear sweep of a number with as many points.
pub(crate) fn spec(from: f64, to: f64, points: u32) -> SweepSpec {
    SweepSpec {
        name: "share".into(),
        description: None,
        key: "inputs.mixed.multi_byte".into(),
        from,
        to,
        points,
        values: Vec::new(),
        scale: Scale::Linear,
        refine: 12,
        tolerance: None,
        percent: false,
        whole: false,
        variants: Vec::new(),
    }
}
