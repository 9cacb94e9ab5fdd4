//! Answers before timing: every artifact proves on every input that its variants compute the same.

use super::fault::{ProgramFault, Stage};

/// One variant's answers on one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// Variant name.
    pub variant: String,
    /// One call over the whole input.
    pub whole: u64,
    /// By windows, combined; None where one call gets the whole input and there is nothing to combine.
    pub by_window: Option<u64>,
}

/// Compares the answers of all variants of one artifact on one input with the first one's and returns the faults of
/// those that differ, as (index into `answers`, fault).
///
/// The first is the baseline, so "differs" is said of the candidate; which of the two is wrong is unknown.
pub fn disagreements(answers: &[Answered]) -> Vec<(usize, ProgramFault)> {
    let Some(first) = answers.first() else { return Vec::new() };
    answers
        .iter()
        .enumerate()
        .skip(1)
        .filter_map(|(index, answer)| {
            let (how, ours, theirs) = if answer.whole != first.whole {
                ("on the whole input", answer.whole, first.whole)
            } else {
                match (answer.by_window, first.by_window) {
                    (Some(ours), Some(theirs)) if ours != theirs => ("window by window", ours, theirs),
                    _ => return None,
                }
            };
            let what = format!(
                "answers {ours:016x} {how} where `{}` answers {theirs:016x}: the two compute different \
                 results, so their times are not compared; which of them is wrong is unknown; detected",
                first.variant
            );
            Some((index, ProgramFault { shows_alone: true, ..ProgramFault::of_lab(Stage::Agree, what) }))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(variant: &str, whole: u64, by_window: u64) -> Answered {
        Answered { variant: variant.into(), whole, by_window: Some(by_window) }
    }

    #[test]
    fn accepts_equal_answers() {
        assert!(disagreements(&[answered("a", 1, 2), answered("b", 1, 2)]).is_empty());
        assert!(disagreements(&[]).is_empty());
    }

    #[test]
    fn compares_by_window_only_what_is_called_by_window() {
        let loops = Answered { by_window: None, ..answered("loop", 1, 0) };
        assert!(disagreements(&[answered("a", 1, 2), loops]).is_empty());
    }

    #[test]
    fn names_the_variant_that_differs_and_how() {
        let found = disagreements(&[answered("a", 1, 2), answered("b", 1, 3), answered("c", 9, 2)]);
        assert_eq!(found.iter().map(|(index, _)| *index).collect::<Vec<_>>(), vec![1, 2]);
        assert!(found[0].1.what.contains("window by window"), "{}", found[0].1.what);
        assert!(found[1].1.what.contains("on the whole input where `a` answers"));
    }
}
