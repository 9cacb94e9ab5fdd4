//! Does the answer depend on the input? Which inputs favour which variant?
//!
//! Method: two inputs answer differently when the intervals of their code effects have no point in common and the
//! estimates differ by more than the margin. Undecided contrasts take no part in it.
//! Limits: disjoint intervals are a stricter test than an interval of the difference; a dependence may go unseen,
//! one that is reported is hardly noise.

use super::build::Build;
use super::cause::{Cause, CauseEvidence};
use super::contrast::{ContrastVerdict, Verdict};
use super::wording::percent;
use crate::stats::margin::Margin;
use crate::words::list;

/// How the answer depends on the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Dependence {
    /// Faster on some inputs, slower on others.
    Sign,
    /// The same sign, or none, but sizes that differ.
    Size,
}

/// One candidate, one compiler, one flag set, over all inputs.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct InputDependence {
    /// Candidate variant.
    pub candidate: String,
    /// Baseline variant.
    pub baseline: String,
    /// Compiler name.
    pub compiler: String,
    /// Flag set name.
    pub flags: String,
    /// The baseline's build, where that is another one.
    pub against: Option<Build>,
    /// Inputs on which the candidate is faster.
    pub faster: Vec<String>,
    /// Inputs on which both are equivalent.
    pub equivalent: Vec<String>,
    /// Inputs on which the candidate is slower.
    pub slower: Vec<String>,
    /// Inputs on which nothing can be said.
    pub undecided: Vec<String>,
    /// What kind of dependence there is; `None`: none was found.
    pub dependence: Option<Dependence>,
    /// The whole in one sentence.
    pub statement: String,
}

/// Groups the contrasts by everything but the input. Order: that of the contrasts.
pub fn input_dependence(contrasts: &[ContrastVerdict], margin: Margin) -> Vec<InputDependence> {
    let mut firsts: Vec<&ContrastVerdict> = Vec::new();
    for contrast in contrasts {
        if !firsts.iter().any(|first| same_group(first, contrast)) {
            firsts.push(contrast);
        }
    }
    firsts
        .into_iter()
        .map(|first| {
            let group: Vec<&ContrastVerdict> =
                contrasts.iter().filter(|other| same_group(first, other)).collect();
            summarise(&group, margin)
        })
        .collect()
}

/// The input as a cause of one contrast's verdict: another input answers differently.
pub fn input_cause(
    contrast: &ContrastVerdict,
    all: &[ContrastVerdict],
    margin: Margin,
) -> Option<CauseEvidence> {
    let own = contrast.code?;
    let others: Vec<&ContrastVerdict> =
        all.iter().filter(|other| same_group(contrast, other) && differ(contrast, other, margin)).collect();
    let said: Vec<String> = others
        .iter()
        .filter_map(|other| Some(format!("{} on {}", percent(other.code?.ratio.ln()), other.input)))
        .collect();
    (!said.is_empty()).then(|| {
        let flips = others.iter().any(|other| opposite(contrast, other));
        let what = if flips { "the sign flips with the input" } else { "the size depends on the input" };
        CauseEvidence {
            cause: Cause::Input,
            share: None,
            evidence: format!(
                "{what}: {} here ({}), but {}; the intervals do not overlap",
                percent(own.ratio.ln()),
                contrast.input,
                list(&said)
            ),
        }
    })
}

fn same_group(a: &ContrastVerdict, b: &ContrastVerdict) -> bool {
    (&a.candidate, &a.baseline, &a.compiler, &a.flags, &a.against)
        == (&b.candidate, &b.baseline, &b.compiler, &b.flags, &b.against)
}

/// Two decided contrasts with disjoint intervals and estimates farther apart than the margin.
fn differ(a: &ContrastVerdict, b: &ContrastVerdict, margin: Margin) -> bool {
    match (a.verdict, b.verdict, a.code, b.code) {
        (Verdict::Undecided, ..) | (_, Verdict::Undecided, ..) => false,
        (_, _, Some(own), Some(other)) => {
            own.log_interval().disjoint(&other.log_interval())
                && margin.is_exceeded_by(own.ratio / other.ratio)
        }
        _ => false,
    }
}

fn opposite(a: &ContrastVerdict, b: &ContrastVerdict) -> bool {
    a.verdict.is_difference() && b.verdict.is_difference() && a.verdict != b.verdict
}

fn summarise(group: &[&ContrastVerdict], margin: Margin) -> InputDependence {
    let first = group[0];
    let on = |verdict: Verdict| -> Vec<String> {
        group.iter().filter(|found| found.verdict == verdict).map(|found| found.input.clone()).collect()
    };
    let (faster, slower) = (on(Verdict::Faster), on(Verdict::Slower));
    let any_pair =
        group.iter().enumerate().any(|(at, a)| group[at + 1..].iter().any(|b| differ(a, b, margin)));
    let dependence = match (faster.is_empty() || slower.is_empty(), any_pair) {
        (false, _) => Some(Dependence::Sign),
        (true, true) => Some(Dependence::Size),
        (true, false) => None,
    };
    let mut summary = InputDependence {
        candidate: first.candidate.clone(),
        baseline: first.baseline.clone(),
        compiler: first.compiler.clone(),
        flags: first.flags.clone(),
        against: first.against.clone(),
        faster,
        equivalent: on(Verdict::Equivalent),
        slower,
        undecided: on(Verdict::Undecided),
        dependence,
        statement: String::new(),
    };
    summary.statement = statement(&summary, &first.between().names());
    summary
}

fn statement(summary: &InputDependence, (candidate, baseline): &(String, String)) -> String {
    let parts: Vec<String> = [
        ("faster", &summary.faster),
        ("equivalent", &summary.equivalent),
        ("slower", &summary.slower),
        ("undecided", &summary.undecided),
    ]
    .into_iter()
    .filter(|(_, inputs)| !inputs.is_empty())
    .map(|(word, inputs)| format!("{word} on {}", list(inputs)))
    .collect();
    let end = match summary.dependence {
        Some(Dependence::Sign) => ": which is faster depends on the input",
        Some(Dependence::Size) => ": by how much depends on the input",
        None => "",
    };
    format!(
        "{candidate} against {baseline} ({}, {}): {}{end}.",
        summary.compiler,
        summary.flags,
        parts.join(", ")
    )
}
