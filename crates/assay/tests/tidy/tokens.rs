//! Rust text as tokens, and the paths that it names. Just enough of the grammar to follow `use` and `a::b::c`.

/// A word, `::` or one character of punctuation, with its line from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Token<'a> {
    /// The text.
    pub text: &'a str,
    /// Where it stands.
    pub line: usize,
}

/// A path as named in the text.
#[derive(Debug, PartialEq)]
pub struct NamedPath {
    /// Its segments; a `use` tree gives one path per leaf.
    pub segments: Vec<String>,
    /// Line of its last segment.
    pub line: usize,
    /// How many inline modules stand around it; each takes up one `super`.
    pub inline_modules: usize,
}

/// All tokens; comments, strings and characters are left out.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut line = 1;
    while let Some(first) = text[at..].chars().next() {
        let (length, kept) = next_token(&text[at..], first);
        let token = &text[at..at + length];
        if kept {
            found.push(Token { text: token, line });
        }
        line += token.matches('\n').count();
        at += length;
    }
    found
}

/// Length of what stands at the start of `rest`, and whether it is a token of interest.
fn next_token(rest: &str, first: char) -> (usize, bool) {
    let word = |text: &str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    if rest.starts_with("//") {
        (rest.find('\n').unwrap_or(rest.len()), false)
    } else if rest.starts_with("/*") {
        (block_comment(rest), false)
    } else if let Some(length) = raw_string(rest) {
        (length, false)
    } else if first == '"' {
        (quoted(rest, '"'), false)
    } else if rest.starts_with("b\"") || rest.starts_with("c\"") {
        (1 + quoted(&rest[1..], '"'), false)
    } else if first == '\'' {
        (character_or_lifetime(rest), false)
    } else if first.is_alphanumeric() || first == '_' {
        (word(rest), true)
    } else if rest.starts_with("::") {
        (2, true)
    } else {
        (first.len_utf8(), !first.is_whitespace())
    }
}

fn block_comment(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

fn raw_string(rest: &str) -> Option<usize> {
    let prefix = ["r", "br", "cr"].into_iter().find(|prefix| rest.starts_with(prefix))?;
    let body = &rest[prefix.len()..];
    let hashes = body.len() - body.trim_start_matches('#').len();
    let body = body[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = body.find(&end).map_or(body.len(), |at| at + end.len());
    Some(prefix.len() + hashes + 1 + length)
}

fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return at + 1;
        }
    }
    rest.len()
}

/// `'a'` and `'\n'` end at their quote; `'static` is its quote alone, the word follows as an ordinary token.
fn character_or_lifetime(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    match (characters.next(), characters.next()) {
        (Some((_, '\\')), _) => quoted(rest, '\''),
        (_, Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

/// Every path of two segments or more, in `use` items and in expressions, types and attributes.
pub fn paths(text: &str) -> Vec<NamedPath> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    let mut open_braces = Vec::new(); // for each open brace: does it open an inline module?
    let mut at = 0;
    while at < tokens.len() {
        let inline_modules = open_braces.iter().filter(|is_module| **is_module).count();
        match tokens[at].text {
            "use" => {
                let mut tree = UseTree { tokens: &tokens, at: at + 1, inline_modules, found: &mut found };
                tree.read(&[]);
                at = tree.at;
                continue;
            }
            "{" => open_braces.push(at >= 2 && tokens[at - 2].text == "mod"),
            "}" => {
                open_braces.pop();
            }
            _ => {
                if let Some((path, next)) = plain_path(&tokens, at, inline_modules) {
                    found.push(path);
                    at = next;
                    continue;
                }
            }
        }
        at += 1;
    }
    found
}

fn is_word(token: Option<&Token>) -> bool {
    token.is_some_and(|token| token.text.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

fn plain_path(tokens: &[Token], start: usize, inline_modules: usize) -> Option<(NamedPath, usize)> {
    if !is_word(tokens.get(start)) {
        return None;
    }
    let mut segments = vec![tokens[start].text.to_string()];
    let mut at = start + 1;
    while tokens.get(at).is_some_and(|token| token.text == "::") && is_word(tokens.get(at + 1)) {
        segments.push(tokens[at + 1].text.to_string());
        at += 2;
    }
    let line = tokens[at - 1].line;
    (segments.len() > 1).then_some((NamedPath { segments, line, inline_modules }, at))
}

struct UseTree<'a> {
    tokens: &'a [Token<'a>],
    at: usize,
    inline_modules: usize,
    found: &'a mut Vec<NamedPath>,
}

impl UseTree<'_> {
    /// Reads one tree (`a::b`, `a::{b, c::d}`, `a::*`, `a as b`) and stops at the `,`, `}` or `;` after it.
    fn read(&mut self, prefix: &[String]) {
        let mut segments = prefix.to_vec();
        let mut line = 0;
        while let Some(token) = self.tokens.get(self.at) {
            match token.text {
                "," | "}" | ";" => break,
                "{" => return self.read_group(&segments),
                "::" => {}
                "as" => self.at += 1, // the new name is of no interest
                word => {
                    segments.push(word.to_string());
                    line = token.line;
                }
            }
            self.at += 1;
        }
        if line > 0 {
            self.found.push(NamedPath { segments, line, inline_modules: self.inline_modules });
        }
    }

    fn read_group(&mut self, prefix: &[String]) {
        self.at += 1;
        while let Some(token) = self.tokens.get(self.at) {
            match token.text {
                "}" => {
                    self.at += 1;
                    return;
                }
                "," => self.at += 1,
                ";" => return,
                _ => self.read(prefix),
            }
        }
    }
}
