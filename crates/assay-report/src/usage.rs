//! One input in several uses (hot, cold, latency), as pages, tables and answers speak of them.

use super::page::{Axis, Page, PageContrast, PageInput, Verdict};
use assay_pure::experiment::{CacheState, Measure};
use assay_pure::words;

/// An input of the experiment file and all its uses on the page, in page order.
pub(super) struct UsedInput<'a> {
    /// Its name in the file.
    pub(super) name: &'a str,
    /// Its uses, two or more.
    pub(super) inputs: Vec<&'a PageInput>,
}

impl UsedInput<'_> {
    /// Hot and throughput, which all others are compared with.
    pub(super) fn plain(&self) -> Option<&PageInput> {
        self.inputs.iter().copied().find(|input| is_plain(input))
    }
}

fn is_plain(input: &PageInput) -> bool {
    input.state == CacheState::Hot && input.measure == Measure::Throughput
}

/// The inputs that are used in more than one way.
pub(super) fn used(page: &Page) -> Vec<UsedInput<'_>> {
    let mut found: Vec<UsedInput<'_>> = Vec::new();
    for input in &page.inputs {
        let name = input.of.as_deref().unwrap_or(&input.name);
        match found.iter_mut().find(|used| used.name == name) {
            Some(used) => used.inputs.push(input),
            None => found.push(UsedInput { name, inputs: vec![input] }),
        }
    }
    found.retain(|used| used.inputs.len() > 1 && used.inputs.iter().any(|input| !is_plain(input)));
    found
}

/// "hot", "latency", "rotating, 65 copies", "cold data, latency".
pub(super) fn label(input: &PageInput) -> String {
    let latency = input.measure == Measure::Latency;
    let state = match (input.state, input.copies) {
        (CacheState::Rotating, Some(copies)) => format!("rotating, {copies} copies"),
        (CacheState::Hot, _) if latency => return "hot, latency".to_owned(),
        (state, _) => state.word().replace('_', " "),
    };
    if latency { format!("{state}, latency") } else { state }
}

/// "hot", "waiting for each other", "on cold data".
fn adverb(input: &PageInput) -> String {
    let state = match input.state {
        CacheState::Hot => "hot",
        CacheState::Rotating => "rotating over copies",
        CacheState::ColdData => "on cold data",
        CacheState::ColdCode => "with cold code",
    };
    match (input.state, input.measure) {
        (CacheState::Hot, Measure::Latency) => "as latency".to_owned(),
        (_, Measure::Latency) => format!("{state} as latency"),
        (_, Measure::Throughput) => state.to_owned(),
    }
}

/// Where the winner depends on how an input is used: one sentence per candidate and input.
pub(super) fn flips(page: &Page) -> Vec<String> {
    let mut sentences = Vec::new();
    for used in used(page) {
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for contrast in page.along(Axis::Variant) {
            let pair = (contrast.candidate.as_str(), contrast.baseline.as_str());
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
        for (candidate, baseline) in pairs {
            let all = |input: &PageInput, verdict: Verdict| {
                let own: Vec<&PageContrast> = page
                    .along(Axis::Variant)
                    .filter(|c| c.candidate == candidate && c.baseline == baseline && c.input == input.name)
                    .collect();
                !own.is_empty() && own.iter().all(|contrast| contrast.verdict == verdict)
            };
            let on = |verdict: Verdict| -> Vec<String> {
                used.inputs.iter().filter(|input| all(input, verdict)).map(|input| adverb(input)).collect()
            };
            let (faster, slower) = (on(Verdict::Faster), on(Verdict::Slower));
            if faster.is_empty() || slower.is_empty() {
                continue;
            }
            sentences.push(format!(
                "The winner flips on `{}`: {candidate} takes less time than {baseline} {}, more {}.",
                used.name,
                words::list(&faster),
                words::list(&slower)
            ));
        }
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer;
    use crate::sample::{contrast, in_uses};

    #[test]
    fn names_uses_as_a_reader_says_them() {
        let page = in_uses(&[]);
        let labels: Vec<String> = page.inputs.iter().map(label).collect();
        assert_eq!(
            labels,
            ["hot", "hot, latency", "rotating, 65 copies", "cold data", "cold data, latency", "cold code"]
        );
        let used = used(&page);
        assert_eq!((used.len(), used[0].name, used[0].inputs.len()), (1, "p80", 6));
        assert_eq!(used[0].plain().map(|input| input.name.as_str()), Some("p80"));
    }

    #[test]
    fn tells_that_the_winner_flips_between_uses() {
        let page = in_uses(&[
            contrast("bmi2", "p80", "gcc-12", Verdict::Faster, 0.6),
            contrast("bmi2", "p80@latency", "gcc-12", Verdict::Slower, 1.3),
            contrast("bmi2", "p80@cold-data", "gcc-12", Verdict::Faster, 0.8),
            contrast("bmi2", "p80@cold-data,latency", "gcc-12", Verdict::Equivalent, 1.0),
            contrast("table", "p80", "gcc-12", Verdict::Slower, 1.6),
            contrast("table", "p80@cold-code", "gcc-12", Verdict::Slower, 1.3),
        ]);
        let sentence = "The winner flips on `p80`: bmi2 takes less time than branch hot and on cold data, more as latency.";
        assert_eq!(flips(&page), [sentence]);
        assert!(answer(&page).contains(sentence), "{}", answer(&page));
    }

    #[test]
    fn builds_that_disagree_are_no_flip() {
        let page = in_uses(&[
            contrast("bmi2", "p80", "gcc-12", Verdict::Faster, 0.6),
            contrast("bmi2", "p80@latency", "gcc-12", Verdict::Slower, 1.3),
            contrast("bmi2", "p80@latency", "clang-16", Verdict::Equivalent, 1.0),
        ]);
        assert!(flips(&page).is_empty());
    }
}
