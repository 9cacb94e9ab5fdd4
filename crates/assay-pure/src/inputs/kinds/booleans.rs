//! Booleans: how many are true, and how much each is like the one before.

use super::{ArgumentError, Arguments, Domain, Kind, Parameter, Preset};
use crate::inputs::draw::{Draw, Threshold};
use crate::inputs::number::integers;
use crate::inputs::{Format, NumberType};

pub(super) const KINDS: &[Kind] = &[Kind {
    name: "booleans",
    says: "bytes 0 and 1, each depending on the one before",
    formats: &[Format::Numbers(NumberType::U8)],
    units: 1_000_000,
    parameters: &[
        Parameter {
            name: "p",
            says: "the share of ones",
            domain: Domain::Share,
            preset: Preset::Number(0.5),
            example: "p = \"30 %\"",
        },
        Parameter {
            name: "correlation",
            says: "correlation with the one before: 1 never changes, 0 is independent, -1 alternates",
            domain: Domain::Number(-1.0, 1.0),
            preset: Preset::Number(0.0),
            example: "correlation = 0.5",
        },
    ],
    check,
    make,
}];

/// With more ones than zeros, some ones must follow ones: that bounds a negative correlation.
fn check(arguments: &Arguments, _: u64) -> Result<(), ArgumentError> {
    let (p, correlation) = (arguments.number("p"), arguments.number("correlation"));
    let more = p.max(1.0 - p);
    let least = 1.0 - 1.0 / more;
    if correlation >= least - 1e-12 {
        return Ok(());
    }
    let message = format!("with p = {p} the correlation cannot be below {least:.3}; it is {correlation}");
    Err(ArgumentError::new("correlation", message))
}

/// A chain of two states: a one follows a one with p + c (1 - p), a zero with p (1 - c).
fn make(arguments: &Arguments, units: u64, draw: &mut Draw) -> Vec<u8> {
    let (p, correlation) = (arguments.number("p"), arguments.number("correlation"));
    let after = [p * (1.0 - correlation), p + correlation * (1.0 - p)];
    let after = after.map(|probability| Threshold::new(probability.clamp(0.0, 1.0)));
    let mut before = None;
    integers(NumberType::U8, units, || {
        let threshold = before.map_or(Threshold::new(p), |before: u64| after[before as usize]);
        let now = u64::from(draw.happens(threshold));
        before = Some(now);
        now
    })
}
