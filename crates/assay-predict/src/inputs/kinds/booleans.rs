//! Booleans: how many are true, and how much each is like the one before.

use super::{ArgumentError, Arguments, Domain, Kind, Parameter, Preset};
use crate::inputs::draw::{Draw, Selection, Threshold};
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
            says: "correlation with the one before: near 1 it rarely changes, 0 is independent, -1 alternates",
            domain: Domain::Number(-1.0, 1.0),
            preset: Preset::Number(0.0),
            example: "correlation = 0.5",
        },
    ],
    check,
    make,
}];

/// With more ones than zeros, some ones must follow ones: that bounds a negative correlation.
fn check(arguments: &Arguments, units: u64) -> Result<(), ArgumentError> {
    let (p, correlation) = (arguments.number("p"), arguments.number("correlation"));
    let more = p.max(1.0 - p);
    let least = 1.0 - 1.0 / more;
    let ones = (p * units as f64).round() as u64;
    if !(ones == 0 || ones == units) && expected_changes([units - ones, ones], correlation) < 0.5 {
        let message = format!(
            "with correlation = {correlation} none of {units} units would differ from the one before, so all would be ones or \
             zeros and not a share of {p}; lower it, or set p to 0 or 1"
        );
        return Err(ArgumentError::new("correlation", message));
    }
    if correlation >= least - 1e-12 {
        return Ok(());
    }
    let message = format!("with p = {p} the correlation cannot be below {least:.3}; it is {correlation}");
    Err(ArgumentError::new("correlation", message))
}

/// A chain of two states: a one follows a one with p + c (1 - p), a zero with p (1 - c). Of all that it may make, one that
/// has exactly the ones and the changes it has on average: given how many there are of each, all are equally likely.
fn make(arguments: &Arguments, units: u64, draw: &mut Draw) -> Vec<u8> {
    let (p, correlation) = (arguments.number("p"), arguments.number("correlation"));
    let ones = (p * units as f64).round() as u64;
    let counts = [units - ones, ones];
    if correlation == 1.0 || counts.contains(&0) {
        let is_one = if counts.contains(&0) { ones > 0 } else { draw.happens(Threshold::new(p)) };
        return vec![u8::from(is_one); units as usize];
    }
    let runs = 1 + changes(counts, correlation);
    // Of an odd number, the first has one more; the rarer one may have too few for that.
    let mut now = usize::from(draw.happens(Threshold::new(0.5)));
    if runs.div_ceil(2) > counts[now] {
        now = 1 - now;
    }
    let of_first = runs.div_ceil(2);
    let mut ends = counts.map(|count| Selection::new(runs - of_first - 1, count - 1));
    ends[now] = Selection::new(of_first - 1, counts[now] - 1);
    integers(NumberType::U8, units, || {
        let value = now as u64;
        // Not a branch, which would be mispredicted as often as a reader of these mispredicts.
        now ^= usize::from(ends[now].ends(draw));
        value
    })
}

fn expected_changes([zeros, ones]: [u64; 2], correlation: f64) -> f64 {
    let units = (zeros + ones) as f64;
    2.0 * (zeros as f64 / units) * (ones as f64 / units) * (1.0 - correlation) * (units - 1.0)
}

/// How many neighbours differ on average, as far as so many zeros and ones can.
fn changes([zeros, ones]: [u64; 2], correlation: f64) -> u64 {
    let differ = expected_changes([zeros, ones], correlation);
    let most = if zeros == ones { 2 * ones - 1 } else { 2 * zeros.min(ones) };
    (differ.round() as u64).clamp(1, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_differ_as_often_as_they_can_and_at_least_once() {
        // 2 · 0.3 · 0.7 · 0.5 · 999 = 209.79.
        assert_eq!(changes([700, 300], 0.5), 210);
        assert_eq!((changes([500, 500], -1.0), changes([3, 3], -1.0), changes([9, 1], -0.2)), (999, 5, 2));
        assert_eq!(changes([5, 5], 0.999), 1);
    }
}
