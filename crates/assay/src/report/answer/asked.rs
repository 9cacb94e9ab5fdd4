//! Whether a question can be answered by yes or no, and which of the two a candidate that takes less time means.

/// What a question asks of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// "Is the table faster?"
    WhetherFaster,
    /// "Does the change make it slower?"
    WhetherSlower,
    /// Anything that yes and no don't answer, or that isn't understood.
    Open,
}

const OPENINGS: [&str; 14] = [
    "is", "are", "does", "do", "did", "was", "will", "would", "can", "could", "has", "have", "should",
    "isn't",
];
const FASTER: [&str; 6] = ["faster", "quicker", "speed", "beat", "beats", "win"];
const SLOWER: [&str; 5] = ["slower", "slow", "slows", "regress", "regression"];
/// Words that make two questions of one, or turn one round.
const CONFUSING: [&str; 6] = ["or", "not", "isn't", "no", "why", "which"];

impl Asked {
    /// Reads the question. Where it names the baseline before the comparing word and the candidate after it ("is branch
    /// faster than table", branch being the baseline), the direction turns; what remains unclear is [`Asked::Open`],
    /// because a wrong "Yes" is worse than none.
    pub(super) fn read(question: &str, candidate: &str, baseline: &str) -> Self {
        let words: Vec<String> = question.split_whitespace().map(bare).collect();
        let position = |wanted: &[&str]| words.iter().position(|word| wanted.contains(&word.as_str()));
        let opens = words.first().is_some_and(|word| OPENINGS.contains(&word.as_str()));
        if !opens || position(&CONFUSING).is_some() {
            return Self::Open;
        }
        let (at, asked) = match (position(&FASTER), position(&SLOWER)) {
            (Some(at), None) => (at, Self::WhetherFaster),
            (None, Some(at)) => (at, Self::WhetherSlower),
            _ => return Self::Open,
        };
        let before = |name: &str| position(&[&name.to_lowercase()]).map(|found| found < at);
        match (before(candidate), before(baseline)) {
            (Some(true), Some(true)) => Self::Open,
            (None | Some(false), Some(true)) => asked.turned(),
            _ => asked,
        }
    }

    fn turned(self) -> Self {
        match self {
            Self::WhetherFaster => Self::WhetherSlower,
            Self::WhetherSlower => Self::WhetherFaster,
            Self::Open => Self::Open,
        }
    }
}

/// A word in lower case without the punctuation around it.
fn bare(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn understands_polar_questions_in_both_directions() {
        let read = |question| Asked::read(question, "table", "branch");
        assert_eq!(read("Is table faster than branch?"), Asked::WhetherFaster);
        assert_eq!(read("Is a lookup-table decoder faster on real data?"), Asked::WhetherFaster);
        assert_eq!(read("Does the table slow it down?"), Asked::WhetherSlower);
        assert_eq!(read("Is branch faster than table?"), Asked::WhetherSlower);
        assert_eq!(read("Is branch slower than table?"), Asked::WhetherFaster);
    }

    #[test]
    fn leaves_open_what_yes_and_no_do_not_answer() {
        let read = |question| Asked::read(question, "table", "branch");
        assert_eq!(read("Which decoder is faster?"), Asked::Open);
        assert_eq!(read("Is table faster or slower?"), Asked::Open);
        assert_eq!(read("Is table or branch faster?"), Asked::Open);
        assert_eq!(read("Is table not faster?"), Asked::Open);
        assert_eq!(read("How much does the table bring?"), Asked::Open);
        assert_eq!(read("Between branch and table, is one faster?"), Asked::Open);
        assert_eq!(read(""), Asked::Open);
    }
}
