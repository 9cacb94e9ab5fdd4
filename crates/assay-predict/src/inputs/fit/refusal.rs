//! Why a fit is not to be used, and what to do instead.

use crate::words::part;

/// A reason not to use a fit in the place of the data.
#[derive(Clone, Debug, PartialEq)]
pub enum FitRefusal {
    /// There are too few units to tell anything to the margin.
    FewUnits {
        /// Units there are.
        have: u64,
        /// Units it takes.
        need: u64,
    },
    /// The lengths are a stretch repeated.
    Repeats {
        /// Units of the stretch.
        period: u64,
        /// Units looked at.
        units: u64,
    },
    /// The lengths hardly ever change: they are sorted, or nearly so.
    FewRuns {
        /// Runs of equal lengths there are.
        have: u64,
        /// Runs it takes.
        need: u64,
    },
    /// Values are not in their shortest encoding, as generators write them.
    Padded {
        /// Values that are not.
        padded: u64,
        /// Units looked at.
        units: u64,
    },
    /// A figure of the fitted stream is not that of the recorded one.
    Figure {
        /// What it is of: a predictor's mispredictions, branches, a variant's time.
        what: String,
        /// Of the recorded stream.
        real: f64,
        /// Of the fitted stream.
        fitted: f64,
        /// The most by which they may differ.
        allowed: f64,
        /// Units it takes to tell.
        needs: u64,
        /// Whether they do, or whether that cannot be told.
        says: FigureComparison,
    },
    /// The recorded stream changes as it goes: its parts differ from each other, and the fitted streams' do not.
    Changes {
        /// What they differ in.
        what: String,
        /// The least and the most in any part of the recorded stream, per unit.
        parts: (f64, f64),
        /// The same of the fitted streams.
        fitted: (f64, f64),
    },
    /// More of the recorded stream comes a second time than chance would have it.
    SeenBefore {
        /// Share of stretches of 32 lengths seen before, in the recorded stream.
        real: f64,
        /// In the fitted one.
        fitted: f64,
    },
}

impl std::fmt::Display for FitRefusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FitRefusal::FewUnits { have, need } => {
                write!(f, "there are only {have} units, and it takes {need} to tell their order from chance")
            }
            FitRefusal::Repeats { period, units } => write!(
                f,
                "the lengths repeat every {period} units ({:.1} times): a predictor memorises them",
                *units as f64 / *period as f64
            ),
            FitRefusal::FewRuns { have, need } => write!(
                f,
                "the lengths change only {} times, as sorted ones do, and it takes {} changes to tell how often they do",
                have - 1,
                need - 1
            ),
            FitRefusal::Padded { padded, units } => write!(
                f,
                "{padded} of {units} values are not in their shortest encoding, and generators write only shortest encodings (bytes that \
                 are not varints at all look like this, too)"
            ),
            FitRefusal::Figure { what, real, fitted, allowed, says: FigureComparison::Unsure, needs } => {
                write!(
                    f,
                    "{what} cannot be shown to agree: {real:.4} per unit recorded, {fitted:.4} fitted, and it takes about {needs} \
                 units to tell {allowed:.4} from chance"
                )
            }
            FitRefusal::Figure { what, real, fitted, allowed, .. } => write!(
                f,
                "{what} differ: {real:.4} per unit recorded, {fitted:.4} fitted, {allowed:.4} allowed between them"
            ),
            FitRefusal::Changes { what, parts: (low, high), fitted: (least, most) } => write!(
                f,
                "the recorded stream drifts, which no fit reproduces: {low:.3} to {high:.3} {what} per unit in parts of \
                 it, {least:.3} to {most:.3} in those of the fit"
            ),
            FitRefusal::SeenBefore { real, fitted } => write!(
                f,
                "{} of all stretches of 32 lengths were there before, {} in the fitted stream: long stretches repeat",
                part(*real),
                part(*fitted)
            ),
        }
    }
}

impl FitRefusal {
    /// What to do instead.
    pub fn remedy(&self) -> &'static str {
        match self {
            FitRefusal::FewUnits { .. } => "record more of the same",
            FitRefusal::Repeats { .. } => {
                "record a longer one that does not repeat; if it is meant to be memorised, fit a longer recording of the same kind and \
                 set distinct_units to the length of the stretch"
            }
            FitRefusal::FewRuns { .. } => {
                "share what the order follows from instead: a generator for each stretch, as a separate input"
            }
            FitRefusal::Padded { .. } => "re-encode the values, or use the recording itself",
            FitRefusal::Figure { says: FigureComparison::Unsure, .. } => {
                "record more units, or allow more with --margin"
            }
            FitRefusal::Figure { .. } => {
                "the order reaches farther back than a table of lengths: split interleaved fields into separate inputs, \
                 or use the recording itself"
            }
            FitRefusal::Changes { .. } => {
                "cut the recording where it changes and fit each part, or take a fit of its means alone with --changing"
            }
            FitRefusal::SeenBefore { .. } => {
                "use the recording itself, or record parts that do not repeat each other"
            }
        }
    }
}

/// What a comparison of two figures says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FigureComparison {
    /// They agree within what is allowed.
    Close,
    /// They do not.
    Apart,
    /// It cannot be told.
    Unsure,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_numbers_and_a_remedy() {
        let figure = |says| FitRefusal::Figure {
            what: "mispredictions by zen4".into(),
            real: 0.25,
            fitted: 0.5,
            allowed: 0.0125,
            needs: 77_000,
            says,
        };
        for (refusal, numbers) in [
            (FitRefusal::FewUnits { have: 12, need: 10_000 }, &["12", "10000"][..]),
            (FitRefusal::Repeats { period: 1000, units: 10_500 }, &["1000", "10.5"]),
            (FitRefusal::FewRuns { have: 3, need: 200 }, &["2 times", "199"]),
            (FitRefusal::Padded { padded: 7, units: 90 }, &["7 of 90"]),
            (figure(FigureComparison::Apart), &["zen4 differ", "0.2500", "0.5000", "0.0125"]),
            (figure(FigureComparison::Unsure), &["cannot be shown to agree", "77000 units"]),
            (
                FitRefusal::Changes { what: "branches".into(), parts: (0.125, 0.5), fitted: (0.25, 0.375) },
                &["0.125 to 0.500 branches", "0.250 to 0.375"],
            ),
            (FitRefusal::SeenBefore { real: 0.9, fitted: 0.1 }, &["90 %", "10 %"]),
        ] {
            let text = refusal.to_string();
            assert!(numbers.iter().all(|number| text.contains(number)), "{text}");
            assert!(!refusal.remedy().is_empty());
        }
        assert_ne!(figure(FigureComparison::Apart).remedy(), figure(FigureComparison::Unsure).remedy());
    }
}
