//! What makes figures untrue.

use assay_pure::words;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is wrong, by the names of the doctor's checks; the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Nothing of the work is left.
    DeadCode,
    /// The work is done outside of the measured calls.
    HoistedWork,
    /// The time is shorter than the work can take.
    SubCycle,
    /// The answer does not depend on the input.
    UnusedAnswers,
    /// A sample or a call is short compared with what surrounds it.
    TooFewUnits,
    /// Each call touches new memory.
    FirstTouch,
    /// The predictor memorises the input.
    Memorised,
    /// Setup is timed.
    SetupInside,
    /// Calls do unequal work.
    UnequalWork,
}

impl FindingKind {
    /// All, the gravest first.
    pub const ALL: [FindingKind; 9] = [
        FindingKind::DeadCode,
        FindingKind::HoistedWork,
        FindingKind::SubCycle,
        FindingKind::UnusedAnswers,
        FindingKind::TooFewUnits,
        FindingKind::FirstTouch,
        FindingKind::Memorised,
        FindingKind::SetupInside,
        FindingKind::UnequalWork,
    ];

    /// The name of the check, as in files that accept it.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::DeadCode => "dead-code",
            FindingKind::HoistedWork => "hoisted-work",
            FindingKind::SubCycle => "sub-cycle",
            FindingKind::UnusedAnswers => "unused-answers",
            FindingKind::TooFewUnits => "too-few-units",
            FindingKind::FirstTouch => "first-touch",
            FindingKind::Memorised => "memorised",
            FindingKind::SetupInside => "setup-inside",
            FindingKind::UnequalWork => "unequal-work",
        }
    }

    /// Whether it is a consequence of another finding of the same variant on the same input.
    pub fn follows_from(self, graver: FindingKind) -> bool {
        match graver {
            FindingKind::DeadCode | FindingKind::HoistedWork => self != FindingKind::Memorised,
            FindingKind::FirstTouch => self == FindingKind::SetupInside,
            _ => false,
        }
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageFinding {
    /// What is wrong.
    pub kind: FindingKind,
    /// The variant, if it concerns one.
    pub variant: Option<String>,
    /// The inputs that show it.
    pub inputs: Vec<String>,
    /// What was seen.
    pub saw: String,
    /// Why it matters.
    pub why: String,
    /// What to change.
    pub remedy: String,
    /// Figures of the first input that shows it, by name; nanoseconds, pages or instructions.
    pub figures: BTreeMap<String, f64>,
}

impl PageFinding {
    /// "hash on long is dead code: a call takes 2.1 ns on 8,192 bytes and 2.1 ns on 4,096."
    pub fn sentence(&self) -> String {
        let inputs: Vec<&str> = self.inputs.iter().map(String::as_str).collect();
        let on = if inputs.is_empty() { String::new() } else { format!(" on {}", words::list(&inputs)) };
        let who = format!("{}{on}", self.variant.as_deref().unwrap_or("a variant"));
        let what = match self.kind {
            FindingKind::DeadCode => format!("{who} is dead code"),
            FindingKind::HoistedWork => format!("{who} does its work outside the measured calls"),
            FindingKind::SubCycle => format!("{who} is too fast to be true"),
            FindingKind::UnusedAnswers => format!("{who} gives an answer that nothing depends on"),
            FindingKind::TooFewUnits => format!("{who} is too short to be timed"),
            FindingKind::FirstTouch => format!("{who} touches new memory in each call"),
            FindingKind::Memorised => format!("the predictor memorises {}", words::list(&inputs)),
            FindingKind::SetupInside => format!("{who} times its own setup"),
            FindingKind::UnequalWork => format!("{who} does unequal work in its calls"),
        };
        format!("{what}: {}.", self.saw)
    }
}
