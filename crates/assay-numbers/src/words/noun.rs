//! Names in a row, and nouns in the plural. The noun is often a unit from somebody's file: "varint", "query", "KiB".

use super::count;

/// Units that are symbols have no plural: 3 KiB, 5 ns.
const SYMBOLS: [&str; 10] = ["B", "b", "s", "ms", "us", "µs", "ns", "h", "min", "%"];

/// What no rule gives, as ends of words.
const IRREGULAR: [(&str, &str); 9] = [
    ("epoch", "epochs"),
    ("matrix", "matrices"),
    ("vertex", "vertices"),
    ("analysis", "analyses"),
    ("basis", "bases"),
    ("child", "children"),
    ("half", "halves"),
    ("leaf", "leaves"),
    ("lens", "lenses"),
];

/// "1 link", "3 queries", "1,200 KiB".
pub fn plural(number: u64, singular: &str) -> String {
    let text = count(number);
    if number == 1 { format!("{text} {singular}") } else { format!("{text} {}", plural_noun(singular)) }
}

/// The plural of a noun: "link" is "links", "query" "queries", "hash" "hashes", "kind of call" "kinds of call".
///
/// What is a plural already ("bytes") and what is a symbol ("KiB") stay as they are.
pub fn plural_noun(singular: &str) -> String {
    for between in [" of ", " per ", " in ", " to "] {
        if let Some((noun, rest)) = singular.split_once(between) {
            return format!("{}{between}{rest}", plural_noun(noun));
        }
    }
    let start = singular.rfind([' ', '-']).map_or(0, |at| at + 1);
    let (before, word) = singular.split_at(start);
    format!("{before}{}", plural_word(word))
}

fn plural_word(word: &str) -> String {
    if let Some((end, plural)) = IRREGULAR.iter().find(|(end, _)| word.ends_with(end)) {
        return format!("{}{plural}", word.strip_suffix(end).unwrap_or_default());
    }
    let mut ends = word.chars().rev();
    let (last, before) = (ends.next(), ends.next());
    match (last, before) {
        _ if is_symbol(word) => word.to_owned(),
        (Some('y'), Some(before)) if before.is_alphabetic() && !is_vowel(before) => {
            format!("{}ies", &word[..word.len() - 1])
        }
        (Some('s'), Some('s' | 'u' | 'i' | 'a' | 'o')) => format!("{word}es"),
        (Some('s'), _) => word.to_owned(),
        (Some('x' | 'z'), _) | (Some('h'), Some('c' | 's')) => format!("{word}es"),
        _ => format!("{word}s"),
    }
}

/// An abbreviation: a known one, or with a capital behind its start, as "KiB" and "MB".
fn is_symbol(word: &str) -> bool {
    word.is_empty() || SYMBOLS.contains(&word) || word.chars().skip(1).any(char::is_uppercase)
}

fn is_vowel(letter: char) -> bool {
    matches!(letter.to_ascii_lowercase(), 'a' | 'e' | 'i' | 'o' | 'u')
}

/// "a", "a and b", "a, b and c".
pub fn list<S: AsRef<str>>(names: &[S]) -> String {
    row(names, "and")
}

/// "a", "a or b", "a, b or c".
pub fn list_or<S: AsRef<str>>(names: &[S]) -> String {
    row(names, "or")
}

fn row<S: AsRef<str>>(names: &[S], word: &str) -> String {
    match names {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} {word} {}", first.join(", "), last.as_ref())
        }
    }
}

/// The text with a capital first.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    first + letters.as_str()
}

/// A text as a sentence: a capital first, a full stop last.
pub fn sentence(text: &str) -> String {
    format!("{}.", capital(text.trim_end_matches('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_use_commas_and_one_conjunction() {
        assert_eq!(list::<&str>(&[]), "");
        assert_eq!(list(&["a"]), "a");
        assert_eq!(list(&["a", "b"]), "a and b");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!(list_or(&["a", "b", "c"]), "a, b or c");
    }

    #[test]
    fn plurals_follow_the_count() {
        assert_eq!(plural(0, "link"), "0 links");
        assert_eq!(plural(1, "link"), "1 link");
        assert_eq!(plural(1200, "link"), "1,200 links");
        assert_eq!(plural(1, "query"), "1 query");
    }

    #[test]
    fn plurals_follow_the_word() {
        let words = [
            ("varint", "varints"),
            ("byte", "bytes"),
            ("query", "queries"),
            ("key", "keys"),
            ("class", "classes"),
            ("process", "processes"),
            ("bus", "buses"),
            ("alias", "aliases"),
            ("box", "boxes"),
            ("match", "matches"),
            ("hash", "hashes"),
            ("path", "paths"),
            ("epoch", "epochs"),
            ("submatrix", "submatrices"),
            ("branch-miss", "branch-misses"),
            ("more query", "more queries"),
            ("system call", "system calls"),
            ("kind of query", "kinds of query"),
            ("y", "ys"),
        ];
        for (singular, expected) in words {
            assert_eq!(plural_noun(singular), expected);
        }
    }

    #[test]
    fn plurals_and_symbols_stay() {
        for word in ["bytes", "calls", "lookups", "queries", "KiB", "MB", "ns", "µs", "s", ""] {
            assert_eq!(plural_noun(word), word);
        }
    }
}
