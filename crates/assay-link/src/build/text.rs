//! Words for shells and messages.

/// A word as a POSIX shell reads it back unchanged.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+=./,:@%^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// A whole command line.
pub fn command_line(words: &[String]) -> String {
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

/// The words of a command line, as a POSIX shell splits them: blanks, quotes, backslashes; nothing is expanded. `None` where
/// a quote is not closed.
pub fn split(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None::<char>);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), _) if c == open => quote = None,
            (None, '\\') => word.get_or_insert_default().push(chars.next()?),
            (Some('"'), '\\') => {
                let next = chars.next()?;
                let kept = word.get_or_insert_default();
                if !matches!(next, '"' | '\\' | '$' | '`') {
                    kept.push(c);
                }
                kept.push(next);
            }
            (None, _) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// At most `limit` characters of a line.
pub fn clip(line: &str, limit: usize) -> String {
    match line.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quote("-O2"), "-O2");
        assert_eq!(quote("-DX=\"a b\""), "'-DX=\"a b\"'");
        assert_eq!(quote("it's"), "'it'\\''s'");
        assert_eq!(quote(""), "''");
        assert_eq!(quote("~"), "'~'");
        assert_eq!(command_line(&["cc".into(), "a b.c".into()]), "cc 'a b.c'");
    }

    #[test]
    fn a_line_is_split_as_a_shell_splits_it() {
        let split = |line: &str| split(line).map(|words| words.join("|"));
        assert_eq!(split(" ./a  b\t'c d' \"e 'f'\"g\\ h '' ").as_deref(), Some("./a|b|c d|e 'f'g h|"));
        assert_eq!(split(r#""a\"b\c""#).as_deref(), Some(r#"a"b\c"#));
        assert_eq!(
            split(r#""a\\b""#).as_deref(),
            Some(r"a\b"),
            "a backslash hides another one between double quotes"
        );
        assert_eq!([split("a 'b"), split("a\\"), split("")], [None, None, Some(String::new())]);
        for words in [vec!["it's", "a b", "", "x\"y\\z"], vec!["-DX=\"a b\""]] {
            let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
            assert_eq!(super::split(&command_line(&words)), Some(words));
        }
    }

    #[test]
    fn a_line_is_cut_between_characters() {
        assert_eq!(clip("åäö", 2), "åä…");
        assert_eq!(clip("åäö", 3), "åäö");
    }
}
