//! Source text as tokens, without comments and blanks.

use crate::language::Language;

/// A piece of source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'t> {
    /// A name or keyword.
    Name(&'t str),
    /// A number, a text, a character.
    Literal(&'t str),
    /// A sign; each is by itself.
    Sign(char),
    /// A whole line for C's preprocessor, with those that it goes on in.
    Directive(&'t str),
}

impl<'t> Token<'t> {
    /// As it is written.
    pub fn push_to(self, text: &mut String) {
        match self {
            Token::Name(part) | Token::Literal(part) | Token::Directive(part) => text.push_str(part),
            Token::Sign(sign) => text.push(sign),
        }
        text.push(' ');
    }
}

/// The names in a text.
pub fn names(language: Language, text: &str) -> Vec<String> {
    let names = tokens(language, text).into_iter().filter_map(|token| match token {
        Token::Name(name) => Some(name.to_owned()),
        _ => None,
    });
    names.collect()
}

/// All tokens of a text. What is not closed ends with the text.
pub fn tokens(language: Language, text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    // A mark of the byte order is no sign: what stands behind it begins a line.
    let (mut at, mut line_begins) = (if text.starts_with('\u{feff}') { 3 } else { 0 }, true);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = if first == '\n' {
            line_begins = true;
            1
        } else if first.is_whitespace() {
            first.len_utf8()
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            comment(rest, language == Language::Rust)
        } else {
            let (token, length) = token(language, rest, first, line_begins);
            line_begins = false;
            found.push(token);
            length
        };
        at += length;
    }
    found
}

/// The first token of a text that begins with one.
fn token(language: Language, rest: &str, first: char, line_begins: bool) -> (Token<'_>, usize) {
    if first == '#' && line_begins && language == Language::C {
        let length = directive(rest);
        return (Token::Directive(rest[..length].trim_end()), length);
    }
    if let Some(length) = quoted(language, rest) {
        return (Token::Literal(&rest[..length]), length);
    }
    let is_part = |symbol: char| symbol == '_' || symbol.is_alphanumeric();
    let word = rest.find(|symbol| !is_part(symbol)).unwrap_or(rest.len());
    match word {
        0 => (Token::Sign(first), first.len_utf8()),
        _ if first.is_ascii_digit() => {
            let mut end = word;
            // `1'000` is one number, not the begin of a character.
            while language == Language::C && rest[end..].starts_with('\'') {
                let more = rest[end + 1..].find(|symbol| !is_part(symbol)).unwrap_or(rest.len() - end - 1);
                if more == 0 {
                    break;
                }
                end += 1 + more;
            }
            (Token::Literal(&rest[..end]), end)
        }
        _ => (Token::Name(&rest[..word]), word),
    }
}

/// Length of a comment; Rust's contain each other.
fn comment(text: &str, nested: bool) -> usize {
    let (mut depth, mut at) = (0, 0);
    let bytes = text.as_bytes();
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" if nested || depth == 0 => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// Length of a line that goes on where it ends with a backslash. A comment that begins in it may go on, too; what a text or another
/// comment has in it begins none.
fn directive(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut inside) = (0, None);
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1);
        match byte {
            b'\n' => return at,
            b'\\' => {
                let blanks =
                    bytes[at + 1..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
                at += if bytes.get(at + 1 + blanks) == Some(&b'\n') { blanks + 1 } else { 1 };
            }
            _ if inside.is_some() => inside = inside.filter(|quote| *quote != byte),
            b'"' | b'\'' => inside = Some(byte),
            b'/' if next == Some(&b'/') => inside = Some(b'\n'),
            b'/' if next == Some(&b'*') => {
                let length = comment(&text[at..], false);
                if text[at..at + length].contains('\n') {
                    return at;
                }
                at += length - 1;
            }
            _ => {}
        }
        at += 1;
    }
    text.len()
}

/// Length of a text or character that stands at the beginning; none where none does.
fn quoted(language: Language, text: &str) -> Option<usize> {
    let prefix = text.find(|symbol: char| !symbol.is_ascii_alphanumeric()).filter(|&at| at <= 3)?;
    let (word, rest) = text.split_at(prefix);
    let is_prefix = matches!(
        word,
        "" | "L" | "u" | "U" | "u8" | "R" | "LR" | "uR" | "u8R" | "r" | "b" | "br" | "c" | "cr"
    );
    if !is_prefix {
        return None;
    }
    let raw = word.ends_with(['R', 'r']);
    let length = match rest.chars().next()? {
        '"' | '#' if raw && language == Language::Rust => {
            let marks = rest.find(|symbol| symbol != '#')?;
            let inside = rest[marks..].strip_prefix('"')?;
            let end = format!("\"{}", "#".repeat(marks));
            marks + 1 + inside.find(&end).map_or(inside.len(), |at| at + end.len())
        }
        '"' if raw => {
            let open = rest.find('(')?;
            let end = format!("){}\"", &rest[1..open]);
            rest[open..].find(&end).map_or(rest.len(), |at| open + at + end.len())
        }
        '"' => until(rest, '"', language)?,
        // A lifetime has no second quote.
        '\'' if language == Language::Rust => {
            let mut symbols = rest[1..].chars();
            let (first, second) = (symbols.next()?, symbols.next());
            match first == '\\' || second == Some('\'') {
                true => until(rest, '\'', language)?,
                false => return None,
            }
        }
        '\'' => until(rest, '\'', language)?,
        _ => return None,
    };
    Some(prefix + length)
}

/// Length of what stands between two quotes, with both. In C none where the line ends before: it is an apostrophe of what is not
/// compiled.
fn until(text: &str, quote: char, language: Language) -> Option<usize> {
    let mut escaped = false;
    for (at, symbol) in text.char_indices().skip(1) {
        match symbol {
            _ if escaped => escaped = symbol == '\r',
            '\\' => escaped = true,
            '\n' if language == Language::C => return None,
            _ if symbol == quote => return Some(at + symbol.len_utf8()),
            _ => {}
        }
    }
    Some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(language: Language, text: &str) -> Vec<String> {
        let written = tokens(language, text).into_iter().map(|token| {
            let mut text = String::new();
            token.push_to(&mut text);
            text.trim_end().to_owned()
        });
        written.collect()
    }

    #[test]
    fn comments_go_and_texts_stay_whole() {
        assert_eq!(
            read(Language::C, "a /* b // */ c // d\n\"e\\\" { \" 'f' '\\'' u8R\"x(g)\" )x\" 1'000"),
            ["a", "c", "\"e\\\" { \"", "'f'", "'\\''", "u8R\"x(g)\" )x\"", "1'000"]
        );
        assert_eq!(
            read(Language::Rust, "/* a /* b */ c */ &'d e 'f' b'\\n' r#\"g \" h\"# r\"i\" #[j]"),
            ["&", "'", "d", "e", "'f'", "b'\\n'", "r#\"g \" h\"#", "r\"i\"", "#", "[", "j", "]"]
        );
    }

    #[test]
    fn a_directive_is_a_line_and_those_that_it_goes_on_in() {
        assert_eq!(
            read(Language::C, "  #define A(x) \\\n   x + 1 \n#if B /* and\n more */\nc #d"),
            ["#define A(x) \\\n   x + 1", "#if B", "c", "#", "d"]
        );
        assert_eq!(read(Language::C, "#endif"), ["#endif"]);
        assert_eq!(read(Language::C, "/* a"), [""; 0]);
    }
}
