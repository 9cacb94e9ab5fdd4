//! What became of a gate: of a comparison of two builds, or of an experiment's variants.

use crate::ink::Ink;
use crate::page::{Axis, Page, PageContrast};
use crate::prose::escape;
use crate::sheet::Sheet;
use assay_pure::compare::Gate;
use assay_pure::words;
use serde::{Deserialize, Serialize};

/// A gate's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GateResult {
    /// As the user wrote it.
    pub gate: String,
    /// Whether the build may pass.
    pub passed: bool,
    /// Benchmarks that fail it.
    pub failed: Vec<String>,
    /// Benchmarks that are not decided, and may be slower by more than the gate allows.
    #[serde(default)]
    pub undecided: Vec<String>,
}

impl GateResult {
    /// The gate on an experiment: each variant beside the baseline. It passes where none can be slower by what it does not allow.
    pub fn of_campaign(page: &Page, gate: Gate) -> Self {
        let named = |told: &dyn Fn(&PageContrast) -> bool| -> Vec<String> {
            let contrasts = page.contrasts.iter().filter(|found| found.axis == Axis::Variant && told(found));
            contrasts.map(|found| name_of(page, found)).collect()
        };
        let failed = named(&|found| gate.fails(found.verdict, found.code));
        let undecided = named(&|found| gate.is_open(found.verdict, found.code));
        let passed = failed.is_empty() && undecided.is_empty();
        Self { gate: gate.to_string(), passed, failed, undecided }
    }

    /// Whether it passed, in a word, and what is to be said to it.
    pub fn outcome(&self) -> (&'static str, String) {
        let open = |all: &[String]| match all {
            [one] => format!("{one} is undecided and may be slower by more"),
            [first, more @ ..] => {
                format!("{first} and {} more are undecided and may be slower by more", more.len())
            }
            [] => String::new(),
        };
        match (&self.failed[..], &self.undecided[..]) {
            ([], []) => ("passed", String::new()),
            ([], undecided) if self.passed => {
                ("passed", format!(", as nothing is shown to be slower; {}", open(undecided)))
            }
            ([], undecided) => ("undecided", format!(": {}", open(undecided))),
            (failed, []) => ("failed", format!(" by {}", words::list(failed))),
            (failed, undecided) => ("failed", format!(" by {}; {}", words::list(failed), open(undecided))),
        }
    }

    /// What became of it.
    pub fn sentence(&self) -> String {
        let (word, more) = self.outcome();
        format!("{word}{more}")
    }

    /// The same for a pull request.
    pub(crate) fn markdown(&self) -> String {
        let (word, more) = self.outcome();
        let word = if self.passed { word.to_owned() } else { format!("**{word}**") };
        format!("Gate `{}`: {word}{}.\n\n", self.gate, escape(&more))
    }

    /// On a terminal, below the answer.
    pub(crate) fn show(&self, sheet: &mut Sheet) {
        let ink = match (self.failed.is_empty(), self.undecided.is_empty()) {
            (false, _) => Ink::Bad,
            (_, true) => Ink::Good,
            _ => Ink::Doubt,
        };
        sheet.labelled(ink, &format!("gate {}: ", self.gate), &self.sentence());
    }
}

/// "b on bytes", with its build where there are several.
fn name_of(page: &Page, contrast: &PageContrast) -> String {
    let mut name = format!("{} on {}", contrast.candidate, contrast.input);
    if page.machine.compilers.len() > 1 {
        name += &format!(", {}", contrast.compiler);
    }
    if page.flag_sets.len() > 1 {
        name += &format!(", {}", contrast.flags);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{RatioInterval, Verdict};
    use crate::sample;

    fn page(verdicts: &[(Verdict, [f64; 3])]) -> Page {
        let mut page = sample::page();
        let like = page.contrasts[0].clone();
        let contrast = |(number, (verdict, code)): (usize, &(Verdict, [f64; 3]))| PageContrast {
            candidate: format!("v{number}"),
            verdict: *verdict,
            code: Some(RatioInterval { ratio: code[0], lower: code[1], upper: code[2] }),
            ..like.clone()
        };
        page.contrasts = verdicts.iter().enumerate().map(contrast).collect();
        page
    }

    fn said(verdicts: &[(Verdict, [f64; 3])]) -> (bool, &'static str, usize, usize) {
        let found = GateResult::of_campaign(&page(verdicts), Gate { slower: 0.02 });
        (found.passed, found.outcome().0, found.failed.len(), found.undecided.len())
    }

    #[test]
    fn an_experiment_passes_where_no_variant_can_be_slower_by_more_than_the_gate_allows() {
        let slower = (Verdict::Slower, [1.05, 1.04, 1.06]);
        let by_less = (Verdict::Slower, [1.015, 1.012, 1.018]);
        let open = (Verdict::Inconclusive, [1.0, 0.9, 1.1]);
        let faster_or_not = (Verdict::Inconclusive, [0.98, 0.96, 1.01]);
        let same = (Verdict::Equivalent, [1.0, 0.995, 1.005]);
        assert_eq!(said(&[same, by_less, faster_or_not]), (true, "passed", 0, 0));
        assert_eq!(said(&[same, open]), (false, "undecided", 0, 1));
        assert_eq!(said(&[slower, open]), (false, "failed", 1, 1));
    }

    #[test]
    fn variants_of_other_axes_are_not_the_gates_business() {
        let mut page = page(&[(Verdict::Slower, [1.5, 1.4, 1.6])]);
        page.contrasts[0].axis = Axis::Compiler;
        assert!(GateResult::of_campaign(&page, Gate { slower: 0.02 }).passed);
    }
}
