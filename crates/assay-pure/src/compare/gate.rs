//! When a comparison shall fail a build: `slower:2%`.
//!
//! Only a verdict counts, never a figure: what is a ghost, or not known, lets the build pass.

use crate::verdict::{RatioInterval, Verdict};
use std::str::FromStr;

/// A gate: candidates that are slower, by at least so much.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Gate {
    /// Smallest slowdown of the code that fails, as a fraction: 0.02 is 2 %.
    pub slower: f64,
}

/// What is wrong with a gate's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GateError {
    /// It begins with something else than `slower`.
    Kind(String),
    /// What follows the colon is no percentage.
    Amount(String),
}

impl std::fmt::Display for GateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            GateError::Kind(found) => {
                write!(f, "there is no gate `{found}`: write `slower` or `slower:2%`")
            }
            GateError::Amount(found) => {
                write!(f, "`{found}` is not a percentage between 0 and 1000: write it as `slower:2%`")
            }
        }
    }
}

impl std::error::Error for GateError {}

impl FromStr for Gate {
    type Err = GateError;

    fn from_str(text: &str) -> Result<Gate, GateError> {
        let (kind, amount) = text.split_once(':').unwrap_or((text, "0%"));
        if kind != "slower" {
            return Err(GateError::Kind(kind.into()));
        }
        let percent = amount.trim().trim_end_matches('%').trim();
        match percent.parse::<f64>() {
            Ok(percent) if (0.0..=1000.0).contains(&percent) => Ok(Gate { slower: percent / 100.0 }),
            _ => Err(GateError::Amount(amount.into())),
        }
    }
}

impl std::fmt::Display for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.slower > 0.0 { write!(f, "slower:{}%", self.slower * 100.0) } else { f.write_str("slower") }
    }
}

impl Gate {
    /// Is this contrast not decided, and may it be slower by what the gate does not allow?
    pub fn is_open(&self, verdict: Verdict, code: Option<RatioInterval>) -> bool {
        verdict == Verdict::Inconclusive && code.is_none_or(|code| code.upper - 1.0 >= self.slower)
    }

    /// Does this contrast fail it?
    pub fn fails(&self, verdict: Verdict, code: Option<RatioInterval>) -> bool {
        verdict == Verdict::Slower && code.is_some_and(|code| code.ratio - 1.0 >= self.slower)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Side, VisitPlacement, VisitResult, contrasts};
    use super::*;
    use crate::verdict::{ContrastVerdict, VerdictOptions, judge};

    #[test]
    fn a_gate_is_read_as_it_is_written() {
        assert_eq!("slower:2%".parse(), Ok(Gate { slower: 0.02 }));
        assert_eq!("slower: 0.5 %".parse(), Ok(Gate { slower: 0.005 }));
        assert_eq!("slower".parse(), Ok(Gate { slower: 0.0 }));
        assert_eq!("slower:2%".parse::<Gate>().unwrap().to_string(), "slower:2%");
        assert_eq!("faster:2%".parse::<Gate>(), Err(GateError::Kind("faster".into())));
        for wrong in ["slower:", "slower:two", "slower:-1%", "slower:2000%"] {
            assert!(matches!(wrong.parse::<Gate>(), Err(GateError::Amount(_))), "{wrong}");
        }
    }

    /// `as_built` and `code` are the candidate's times; the baseline's are 1.
    fn verdict(as_built: f64, code: f64) -> ContrastVerdict {
        let mut seen = Vec::new();
        for round in 0..6 {
            for (side, ratio) in [(Side::Baseline, [1.0, 1.0]), (Side::Candidate, [as_built, code])] {
                let places = (0..4).map(|rotation| VisitPlacement::Placed { rotation, phase_bytes: 0 });
                for place in std::iter::once(VisitPlacement::AsBuilt).chain(places) {
                    let value = ratio[usize::from(place != VisitPlacement::AsBuilt)];
                    seen.push(VisitResult { round, side, place, figures: vec![("a".into(), vec![value])] });
                }
            }
        }
        judge(&contrasts(&seen, ["main", "HEAD"]), &VerdictOptions::default()).contrasts.remove(0)
    }

    fn fails(gate: Gate, found: &ContrastVerdict) -> bool {
        gate.fails(found.verdict, found.code)
    }

    #[test]
    fn only_slower_code_fails_and_only_beyond_the_gate() {
        let gate = Gate { slower: 0.02 };
        assert!(fails(gate, &verdict(1.03, 1.03)));
        assert!(!fails(gate, &verdict(1.3, 1.0)), "a ghost");
        assert!(!fails(gate, &verdict(1.015, 1.015)), "slower, but by less");
        assert!(!fails(gate, &verdict(0.9, 0.9)));
        assert!(fails(Gate { slower: 0.0 }, &verdict(1.0, 1.015)), "masked as built, slower all the same");
    }
}
