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
    fn a_line_is_cut_between_characters() {
        assert_eq!(clip("åäö", 2), "åä…");
        assert_eq!(clip("åäö", 3), "åäö");
    }
}
