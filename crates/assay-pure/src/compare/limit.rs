//! What a gate allows, as it is written: `slower:2%`, `peak:5%`, `allocations:0`, or several of them with commas between.
//!
//! Time is a [`Gate`], judged by its verdict. Memory is counted, so what it may rise by is a number and needs no margin.

use super::gate::{Gate, GateError};
use crate::verdict::RatioInterval;
use std::str::FromStr;

/// By how much a count may rise.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rise {
    /// By this share of the baseline's: 0.05 is 5 %.
    Share(f64),
    /// By so many per unit.
    Count(f64),
}

/// What one gate allows; what it does not name it does not judge.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GateLimits {
    /// Of time.
    pub slower: Option<Gate>,
    /// Of the most memory at once.
    pub peak: Option<Rise>,
    /// Of the number of allocations.
    pub allocations: Option<Rise>,
}

/// What a limit says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitReading {
    /// It is kept.
    Kept,
    /// It is not.
    Exceeded,
    /// It may not be.
    Open,
}

/// Counts are divided by units: the last digits of a quotient are no allocation.
const ROUNDING: f64 = 1e-9;

impl Rise {
    /// Of exact counts per unit.
    pub fn of_counts(self, baseline: f64, candidate: f64) -> LimitReading {
        let allowed = match self {
            Rise::Share(share) => baseline * (1.0 + share),
            Rise::Count(count) => baseline + count,
        };
        if candidate > allowed + ROUNDING * allowed.abs().max(1.0) {
            LimitReading::Exceeded
        } else {
            LimitReading::Kept
        }
    }

    /// Of a measured change, candidate / baseline. As with times, only what is shown to have risen fails, and only what
    /// ends below the limit passes. A rise that is not a share cannot be told of it.
    pub fn of_change(self, change: Option<RatioInterval>) -> LimitReading {
        let (Some(change), Rise::Share(share)) = (change, self) else { return LimitReading::Open };
        if change.lower > 1.0 && change.ratio - 1.0 > share + ROUNDING {
            LimitReading::Exceeded
        } else if change.upper - 1.0 > share + ROUNDING {
            LimitReading::Open
        } else {
            LimitReading::Kept
        }
    }
}

impl From<Gate> for GateLimits {
    fn from(gate: Gate) -> GateLimits {
        GateLimits { slower: Some(gate), ..GateLimits::default() }
    }
}

impl FromStr for GateLimits {
    type Err = GateError;

    fn from_str(text: &str) -> Result<GateLimits, GateError> {
        let mut limits = GateLimits::default();
        for part in text.split(',').map(str::trim) {
            let (kind, amount) = part.split_once(':').unwrap_or((part, "0%"));
            let twice = match kind {
                "slower" => limits.slower.replace(part.parse()?).is_some(),
                "peak" => limits.peak.replace(share(kind, amount)?).is_some(),
                "allocations" => {
                    let rise = count(amount).map_or_else(|| share(kind, amount), Ok)?;
                    limits.allocations.replace(rise).is_some()
                }
                _ => return Err(GateError::Limit(kind.into())),
            };
            if twice {
                return Err(GateError::Twice(kind.into()));
            }
        }
        Ok(limits)
    }
}

fn share(kind: &str, amount: &str) -> Result<Rise, GateError> {
    let percent = amount.trim().strip_suffix('%').and_then(|percent| percent.trim().parse::<f64>().ok());
    match percent {
        Some(percent) if (0.0..=1000.0).contains(&percent) => Ok(Rise::Share(percent / 100.0)),
        _ => Err(GateError::Rise { kind: kind.into(), amount: amount.into() }),
    }
}

fn count(amount: &str) -> Option<Rise> {
    amount.trim().parse::<f64>().ok().filter(|count| (0.0..1e15).contains(count)).map(Rise::Count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_alone_and_together() {
        let read = |text: &str| text.parse::<GateLimits>();
        let slower: Gate = "slower:2%".parse().unwrap();
        assert_eq!(read("slower:2%"), Ok(slower.into()));
        let all = GateLimits {
            slower: Some(slower),
            peak: Some(Rise::Share(0.05)),
            allocations: Some(Rise::Count(0.0)),
        };
        assert_eq!(read("slower:2%, peak:5 %,allocations:0"), Ok(all));
        let alone = |peak, allocations| Ok(GateLimits { slower: None, peak, allocations });
        assert_eq!(read("peak"), alone(Some(Rise::Share(0.0)), None));
        assert_eq!(read("allocations"), alone(None, Some(Rise::Share(0.0))));
        assert_eq!(read("allocations:10%"), alone(None, Some(Rise::Share(0.1))));
        assert_eq!(read("allocations:0.5"), alone(None, Some(Rise::Count(0.5))));
        for wrong in
            ["peak:5", "peak:-1%", "allocations:-1", "allocations:x", "peak:", "slower:2%,", "", "fast"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert_eq!(read("peak:1%,peak:2%"), Err(GateError::Twice("peak".into())));
    }

    #[test]
    fn a_count_fails_by_the_first_event_too_many() {
        use LimitReading::{Exceeded, Kept};
        assert_eq!(Rise::Count(0.0).of_counts(2.0, 2.0), Kept);
        assert_eq!(Rise::Count(0.0).of_counts(2.0, 2.001), Exceeded);
        assert_eq!(Rise::Count(0.0).of_counts(0.0, 0.0), Kept);
        assert_eq!(Rise::Share(0.1).of_counts(2.0, 2.2), Kept);
        assert_eq!(Rise::Share(0.1).of_counts(2.0, 2.3), Exceeded);
        assert_eq!(Rise::Share(0.1).of_counts(0.0, 1.0), Exceeded);
        assert_eq!(Rise::Count(1.0).of_counts(0.0, 1.0), Kept);
    }

    #[test]
    fn a_measured_rise_fails_beyond_the_limit_and_is_open_where_its_interval_reaches_it() {
        let read = |ratio: f64, half: f64| {
            let change = RatioInterval { ratio, lower: ratio - half, upper: ratio + half };
            Rise::Share(0.05).of_change(Some(change))
        };
        assert_eq!(read(1.1, 0.01), LimitReading::Exceeded);
        assert_eq!(read(1.04, 0.02), LimitReading::Open);
        assert_eq!(read(1.06, 0.07), LimitReading::Open, "it may not have risen at all");
        assert_eq!(read(1.02, 0.02), LimitReading::Kept);
        assert_eq!(Rise::Share(0.05).of_change(None), LimitReading::Open);
    }
}
