//! Source text as tokens with their places: comments and literals of C, C++, Rust and Zig understood, nothing else.

use super::Position;
use crate::language::Language;

/// What a token is, as far as hints need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name or keyword.
    Word,
    /// A number.
    Number,
    /// A string or character.
    Literal,
    /// Anything else.
    Sign,
}

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LexedToken<'a> {
    pub kind: TokenKind,
    pub text: &'a str,
    pub first: Position,
    pub last: Position,
}

/// A text as tokens, and the preprocessor's lines apart from them.
#[derive(Debug, Default)]
pub struct Lexed<'a> {
    pub tokens: Vec<LexedToken<'a>>,
    /// `#define` lines, as tokens from the macro's name on.
    pub macros: Vec<Vec<LexedToken<'a>>>,
}

/// Signs of two characters that mean something else than their parts.
const PAIRS: [&str; 10] = ["&&", "||", "::", "=>", "->", "==", "!=", "<=", ">=", ".."];

/// Cuts a text into tokens.
pub fn lex(text: &str, language: Language) -> Lexed<'_> {
    let mut lexer = Lexer { text, at: 0, line: 1, line_start: 0, language };
    let mut lexed = Lexed::default();
    let mut last_line = 0;
    while let Some(token) = lexer.next() {
        let opens_line = token.first.line != last_line;
        last_line = token.last.line;
        if language == Language::C && token.text == "#" && opens_line {
            let directive = lexer.directive();
            if directive.first().is_some_and(|word| word.text == "define") {
                lexed.macros.push(directive[1..].to_vec());
            }
            last_line = 0;
        } else {
            lexed.tokens.push(token);
        }
    }
    lexed
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    line_start: usize,
    language: Language,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn position(&self, at: usize) -> Position {
        let clamp = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        Position { line: self.line, column: clamp(at - self.line_start + 1) }
    }

    /// Moves on by so many bytes, counting lines.
    fn advance(&mut self, bytes: usize) {
        let end = self.at + bytes;
        for (offset, byte) in self.text.as_bytes()[self.at..end].iter().enumerate() {
            if *byte == b'\n' {
                self.line += 1;
                self.line_start = self.at + offset + 1;
            }
        }
        self.at = end;
    }

    /// Past spaces and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            if blank > 0 {
                self.advance(blank);
            } else if rest.starts_with("//") || self.language == Language::Zig && rest.starts_with("\\\\") {
                self.advance(rest.find('\n').unwrap_or(rest.len()));
            } else if rest.starts_with("/*") && self.language != Language::Zig {
                self.advance(comment_bytes(rest, self.language == Language::Rust));
            } else if rest.starts_with("\\\n") {
                self.advance(2);
            } else {
                return;
            }
        }
    }

    fn next(&mut self) -> Option<LexedToken<'a>> {
        self.skip();
        let rest = self.rest();
        let character = rest.chars().next()?;
        let (kind, bytes) = if let Some(bytes) = raw_string_bytes(rest, self.language) {
            (TokenKind::Literal, bytes)
        } else if character.is_alphabetic() || character == '_' {
            (TokenKind::Word, run(rest, |c| c.is_alphanumeric() || c == '_'))
        } else if character.is_ascii_digit() {
            (TokenKind::Number, number_bytes(rest))
        } else if character == '"' {
            (TokenKind::Literal, quoted_bytes(rest, '"'))
        } else if character == '\'' {
            self.apostrophe(rest)
        } else if PAIRS.iter().any(|pair| rest.starts_with(pair)) {
            (TokenKind::Sign, 2)
        } else {
            (TokenKind::Sign, character.len_utf8())
        };
        let (start, first) = (self.at, self.position(self.at));
        self.advance(bytes - 1);
        let last = self.position(self.at);
        self.advance(1);
        Some(LexedToken { kind, text: &self.text[start..start + bytes], first, last })
    }

    /// A character, or in Rust the beginning of a lifetime.
    fn apostrophe(&self, rest: &str) -> (TokenKind, usize) {
        let mut after = rest[1..].chars();
        let (first, second) = (after.next(), after.next());
        if self.language == Language::Rust && first != Some('\\') && second != Some('\'') {
            return (TokenKind::Sign, 1);
        }
        (TokenKind::Literal, quoted_bytes(rest, '\''))
    }

    /// The rest of a preprocessor's line, with its continuations.
    fn directive(&mut self) -> Vec<LexedToken<'a>> {
        let rest = self.rest();
        let mut end = 0;
        for line in rest.split_inclusive('\n') {
            end += line.len();
            if !line.trim_end_matches(['\n', '\r']).ends_with('\\') {
                break;
            }
        }
        let end = self.at + end;
        let mut tokens = Vec::new();
        loop {
            self.skip();
            if self.at >= end {
                return tokens;
            }
            match self.next() {
                Some(token) => tokens.push(token),
                None => return tokens,
            }
        }
    }
}

fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

/// Digits, suffixes and points, and the apostrophes between digits of C++.
fn number_bytes(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        let follows = |next: Option<&u8>| next.is_some_and(u8::is_ascii_alphanumeric);
        let belongs = byte.is_ascii_alphanumeric()
            || byte == b'_'
            || (byte == b'.' && bytes.get(at + 1) != Some(&b'.'))
            || (byte == b'\'' && follows(bytes.get(at + 1)));
        if !belongs {
            break;
        }
        at += 1;
    }
    at
}

/// To the closing quote, or to the end of the line where there is none.
fn quoted_bytes(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + 1,
            '\n' if quote == '\'' => return at,
            _ => {}
        }
    }
    text.len()
}

/// A comment with its ends; in Rust they nest.
fn comment_bytes(text: &str, nests: bool) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") && (nests || depth == 0) {
            depth += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// `r#"…"#` of Rust, `R"x(…)x"` of C++.
fn raw_string_bytes(text: &str, language: Language) -> Option<usize> {
    let (body, close) = match language {
        Language::Rust => {
            let after = text.strip_prefix("br").or_else(|| text.strip_prefix('r'))?;
            let hashes = run(after, |c| c == '#');
            (after[hashes..].strip_prefix('"')?, format!("\"{}", "#".repeat(hashes)))
        }
        Language::C => {
            let prefixes = ["u8R\"", "uR\"", "UR\"", "LR\"", "R\""];
            let after = prefixes.iter().find_map(|prefix| text.strip_prefix(prefix))?;
            let (delimiter, body) = after.split_once('(')?;
            if delimiter.len() > 16 {
                return None;
            }
            (body, format!("){delimiter}\""))
        }
        Language::Zig => return None,
    };
    let opened = text.len() - body.len();
    Some(body.find(&close).map_or(text.len(), |end| opened + end + close.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, language: Language) -> Vec<&str> {
        lex(text, language).tokens.iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_and_literals_hide_what_is_in_them() {
        let text = "a // if\n/* if */ b \"if \\\" if\" c 'x' '\\'' d";
        assert_eq!(words(text, Language::C), ["a", "b", "\"if \\\" if\"", "c", "'x'", "'\\''", "d"]);
        assert_eq!(words("/* /* */ x */ y", Language::Rust), ["y"]);
        assert_eq!(words("/* /* */ x", Language::C), ["x"]);
        assert_eq!(words("R\"q( if )\" )q\" z", Language::C), ["R\"q( if )\" )q\"", "z"]);
        assert_eq!(words("r#\" \" \"# z", Language::Rust), ["r#\" \" \"#", "z"]);
        assert_eq!(words("\\\\ if likely\nz", Language::Zig), ["z"]);
    }

    #[test]
    fn lifetimes_are_no_characters_and_digits_may_be_set_apart() {
        assert_eq!(words("&'a str, 'b'", Language::Rust), ["&", "'", "a", "str", ",", "'b'"]);
        assert_eq!(words("1'000'000UL + 0..9", Language::C), ["1'000'000UL", "+", "0", "..", "9"]);
        assert_eq!(words("0.95f", Language::C), ["0.95f"]);
    }

    #[test]
    fn positions_count_lines_and_bytes_from_one() {
        let lexed = lex("é if\n\t(x&&y)", Language::C);
        let at = |index: usize| (lexed.tokens[index].first, lexed.tokens[index].last);
        let position = |line, column| Position { line, column };
        assert_eq!(at(1), (position(1, 4), position(1, 5)));
        assert_eq!(at(2), (position(2, 2), position(2, 2)));
        assert_eq!(at(4), (position(2, 4), position(2, 5)));
    }

    #[test]
    fn directives_are_apart_with_their_continuations() {
        let text =
            "#include <x.h>\n#define likely(x) \\\n  __builtin_expect((x), 1)\na # b\n# define B 2 // c\nc";
        let lexed = lex(text, Language::C);
        let text_of =
            |tokens: &[LexedToken]| tokens.iter().map(|token| token.text).collect::<Vec<_>>().join(" ");
        assert_eq!(text_of(&lexed.tokens), "a # b c");
        let macros: Vec<String> = lexed.macros.iter().map(|tokens| text_of(tokens)).collect();
        assert_eq!(macros, ["likely ( x ) __builtin_expect ( ( x ) , 1 )", "B 2"]);
    }

    #[test]
    fn a_text_that_ends_in_the_middle_ends() {
        for text in ["\"abc", "/* abc", "'", "r#\"abc", "R\"x(abc", "'\\", "#define", "\\", "é", "'é"] {
            for language in [Language::C, Language::Rust, Language::Zig] {
                assert!(lex(text, language).tokens.len() <= 3, "{text:?}");
            }
        }
    }
}
