//! What a question asks for: yes or no, a winner, or neither.

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

const OPENINGS: [&str; 13] =
    ["is", "are", "does", "do", "did", "was", "will", "would", "can", "could", "has", "have", "should"];
const FASTER: [&str; 6] = ["faster", "quicker", "speed", "beat", "beats", "win"];
const SLOWER: [&str; 5] = ["slower", "slow", "slows", "regress", "regression"];
/// Words that make two questions of one, or turn one round.
const CONFUSING: [&str; 4] = ["or", "not", "no", "why"];
const FASTEST: [&str; 7] = ["fastest", "faster", "quickest", "quicker", "best", "wins", "win"];

impl Asked {
    /// Reads the question. Where it names the baseline before the comparing word and the candidate after it ("is branch
    /// faster than table", branch being the baseline), the direction turns; what remains unclear is [`Asked::Open`],
    /// because a wrong "Yes" is worse than none.
    pub(super) fn read(question: &str, candidate: &str, baseline: &str) -> Self {
        let words = words(question);
        let first_of = |wanted: &[&str]| words.iter().position(|word| wanted.contains(&word.as_str()));
        let opens = words.first().is_some_and(|word| OPENINGS.contains(&word.as_str()));
        if !opens || first_of(&CONFUSING).is_some() {
            return Self::Open;
        }
        let (at, asked) = match (first_of(&FASTER), first_of(&SLOWER)) {
            (Some(at), None) => (at, Self::WhetherFaster),
            (None, Some(at)) => (at, Self::WhetherSlower),
            _ => return Self::Open,
        };
        let before = |name: &str| position(&words, name).map(|found| found < at);
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

/// Whether the question names this variant.
pub(super) fn names(question: &str, variant: &str) -> bool {
    position(&words(question), variant).is_some()
}

/// "Which decoder is fastest?"
pub(super) fn asks_for_a_winner(question: &str) -> bool {
    let words = words(question);
    let opens = words.first().is_some_and(|word| word == "which" || word == "what");
    opens && words.iter().any(|word| FASTEST.contains(&word.as_str()))
}

/// Where a variant is named, by itself or as the start of a compound ("table-driven").
fn position(words: &[String], variant: &str) -> Option<usize> {
    let name = variant.to_lowercase();
    let is_name =
        |word: &String| word.strip_prefix(&name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    words.iter().position(is_name)
}

/// Words in lower case without the punctuation around them.
fn words(question: &str) -> Vec<String> {
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    question.split_whitespace().map(bare).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn understands_polar_questions_in_both_directions() {
        let read = |question| Asked::read(question, "table", "branch");
        assert_eq!(read("Is table faster than branch?"), Asked::WhetherFaster);
        assert_eq!(read("Is a table-driven decoder faster than a branch per byte?"), Asked::WhetherFaster);
        assert_eq!(read("Is a lookup decoder faster on real data?"), Asked::WhetherFaster);
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
        assert_eq!(read("Are branch and table, taken together, faster?"), Asked::Open);
        assert_eq!(read(""), Asked::Open);
    }

    #[test]
    fn knows_when_a_winner_is_asked_for() {
        assert!(asks_for_a_winner("Which decoder is fastest?"));
        assert!(!asks_for_a_winner("Is the table the fastest?"));
        assert!(!asks_for_a_winner("What does the table bring?"));
    }

    #[test]
    fn a_name_is_not_found_inside_another_word() {
        assert!(names("Is the Table-driven one faster?", "table"));
        assert!(!names("Is the tableau faster?", "table"));
    }
}
