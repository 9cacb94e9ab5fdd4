//! When a gate shall fail a build: `slower:2%`. One rule for builds, for variants, and for the newest run of a history.
//!
//! It fails only by a verdict, never by a figure: a ghost fails nothing. What did not fail is open as long as its interval reaches
//! the slowdown that the gate does not allow, whatever the verdict: `slower` by 0.5 % to 5 % has not passed `slower:2%`.

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
    /// It names no limit of time or memory.
    Limit(String),
    /// What a limit of memory allows cannot be read.
    Rise {
        /// Which.
        kind: String,
        /// As it was written.
        amount: String,
    },
    /// A limit is named twice.
    Twice(String),
}

impl std::fmt::Display for GateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            GateError::Kind(found) => {
                write!(f, "`{found}` is not a gate: write `slower` or `slower:2%`")
            }
            GateError::Amount(found) => {
                write!(f, "`{found}` is not a percentage between 0 and 1000: write it as `slower:2%`")
            }
            GateError::Limit(found) => write!(
                f,
                "`{found}` is not a gate: write `slower:2%`, `peak:5%` or `allocations:0`, several with commas"
            ),
            GateError::Rise { kind, amount } => {
                let or_count = if kind == "allocations" { " or `allocations:0` (more per unit)" } else { "" };
                write!(f, "`{amount}` is not what `{kind}` may rise by: write `{kind}:5%`{or_count}")
            }
            GateError::Twice(kind) => write!(f, "`{kind}` has two limits: name it once"),
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
        let amount_alone = amount.trim();
        let percent = amount_alone.strip_suffix('%').unwrap_or(amount_alone).trim();
        match percent.parse::<f64>() {
            Ok(percent) if (0.0..=1000.0).contains(&percent) => Ok(Gate { slower: percent / 100.0 }),
            _ => Err(GateError::Amount(amount.into())),
        }
    }
}

impl std::fmt::Display for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.slower <= 0.0 {
            return f.write_str("slower");
        }
        let percent = self.slower * 100.0;
        // 0.07 * 100 is 7.000000000000001: the fewest digits that are read as this gate again.
        let fewest = (0..=17).map(|digits| format!("{percent:.digits$}"));
        let fewest =
            fewest.into_iter().find(|text| text.parse().is_ok_and(|read: f64| read / 100.0 == self.slower));
        write!(f, "slower:{}%", fewest.unwrap_or_else(|| percent.to_string()))
    }
}

impl Gate {
    /// The slowdown from which on nothing passes, a fraction: the gate's own, or where it names none the least effect that counts.
    pub fn allowed(&self, minimum_effect: f64) -> f64 {
        if self.slower > 0.0 { self.slower } else { minimum_effect }
    }

    /// Does this contrast neither fail nor pass? It passes where its code is proven to be the same, or where its interval ends
    /// below what is not allowed.
    pub fn is_open(
        &self,
        verdict: Verdict,
        code: Option<RatioInterval>,
        proven: bool,
        minimum_effect: f64,
    ) -> bool {
        let reaches = |code: RatioInterval| code.upper - 1.0 >= self.allowed(minimum_effect);
        !proven && !self.fails(verdict, code) && code.is_none_or(reaches)
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
        assert_eq!("faster:2%".parse::<Gate>(), Err(GateError::Kind("faster".into())));
        for wrong in ["slower:", "slower:two", "slower:-1%", "slower:2000%", "slower:2%%", "slower:%"] {
            assert!(matches!(wrong.parse::<Gate>(), Err(GateError::Amount(_))), "{wrong}");
        }
    }

    #[test]
    fn a_gate_is_shown_as_it_was_written() {
        for tenths in 1..=10_000 {
            let whole = if tenths % 10 == 0 { String::new() } else { format!(".{}", tenths % 10) };
            let text = format!("slower:{}{whole}%", tenths / 10);
            assert_eq!(text.parse::<Gate>().unwrap().to_string(), text);
        }
        assert_eq!("slower:0.125%".parse::<Gate>().unwrap().to_string(), "slower:0.125%");
        assert_eq!("slower:0%".parse::<Gate>().unwrap().to_string(), "slower");
    }

    #[test]
    fn what_may_be_slower_by_more_than_is_allowed_has_not_passed() {
        let open = |gate: &str, verdict, ends: [f64; 3], proven| {
            let code = RatioInterval { ratio: ends[1], lower: ends[0], upper: ends[2] };
            gate.parse::<Gate>().unwrap().is_open(verdict, Some(code), proven, 0.01)
        };
        assert!(open("slower:2%", Verdict::Slower, [1.005, 1.019, 1.05], false));
        assert!(!open("slower:2%", Verdict::Slower, [1.005, 1.01, 1.019], false));
        assert!(!open("slower:2%", Verdict::Slower, [1.01, 1.03, 1.05], false), "it fails");
        assert!(open("slower:1%", Verdict::Equivalent, [0.97, 1.0, 1.03], false));
        assert!(!open("slower:1%", Verdict::Equivalent, [0.97, 1.0, 1.03], true), "the same code");
        assert!(!open("slower:2%", Verdict::Undecided, [0.9, 0.98, 1.01], false));
        assert!(!open("slower", Verdict::Equivalent, [0.995, 1.0, 1.005], false), "less than counts");
        assert!(
            open("slower:0.2%", Verdict::Equivalent, [0.995, 1.0, 1.005], false),
            "more than was asked for"
        );
        let unknown = Gate { slower: 0.02 };
        assert!(unknown.is_open(Verdict::Undecided, None, false, 0.01));
        assert!(!unknown.is_open(Verdict::Equivalent, None, true, 0.01));
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
