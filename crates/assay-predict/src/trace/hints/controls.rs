//! What depends on which condition: `if`, `while`, `for`, `do` and `a ? b : c`, found among tokens.
//!
//! No grammar of four languages: brackets are matched, statements end at `;` or with their block. What does not fit is
//! left out, and a hint in it is then said to be unclear.

use super::lex::{LexedToken, TokenKind};
use crate::language::Language;
use std::ops::Range;

/// Statements in statements; deeper ones are left out.
const DEEPEST: usize = 200;

/// A condition and what depends on it, as ranges of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    /// The keyword, or the first token of the condition of a `?`.
    pub first: usize,
    /// The condition, without its parentheses.
    pub condition: Range<usize>,
    /// What is done if it holds.
    pub yes: Range<usize>,
    /// What is done if not, where the text says so.
    pub no: Option<Range<usize>>,
}

/// Tokens with their brackets matched.
pub struct TokenTree<'t, 'a> {
    pub tokens: &'t [LexedToken<'a>],
    language: Language,
    mates: Vec<Option<usize>>,
    /// Where the statement that begins at a token ends, once found.
    ends: Vec<Option<usize>>,
}

impl<'t, 'a> TokenTree<'t, 'a> {
    pub fn new(tokens: &'t [LexedToken<'a>], language: Language) -> Self {
        let mut mates = vec![None; tokens.len()];
        let mut open: Vec<usize> = Vec::new();
        for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Sign) {
            let opener = match token.text {
                "(" | "[" | "{" => {
                    open.push(at);
                    continue;
                }
                ")" => "(",
                "]" => "[",
                "}" => "{",
                _ => continue,
            };
            // A bracket that was never closed (by a macro) does not take those around it along.
            if let Some(position) = open.iter().rposition(|&opened| tokens[opened].text == opener) {
                let opened = open[position];
                open.truncate(position);
                mates[opened] = Some(at);
                mates[at] = Some(opened);
            }
        }
        Self { tokens, language, mates, ends: vec![None; tokens.len() + 1] }
    }

    /// The text of a token; empty past the end.
    pub fn text(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    /// The other bracket.
    pub fn mate(&self, at: usize) -> Option<usize> {
        self.mates.get(at).copied().flatten()
    }

    /// All conditions of the text.
    pub fn controls(&mut self) -> Vec<Control> {
        let mut found = Vec::new();
        for at in 0..self.tokens.len() {
            let is_member = at > 0 && [".", "->", "::"].contains(&self.text(at - 1));
            let control = match self.text(at) {
                _ if is_member => None,
                "if" | "while" => self.branch(at),
                "for" if self.language == Language::C => self.counted(at),
                "do" if self.language == Language::C => self.bottom(at),
                "?" if self.language == Language::C => self.choice(at),
                _ => None,
            };
            found.extend(control);
        }
        found
    }

    /// `if` or `while`.
    fn branch(&mut self, at: usize) -> Option<Control> {
        let (condition, body) = self.head(at)?;
        let end = self.statement(body, 0)?;
        if self.text(at) == "while" && self.text(body) == ";" && self.language == Language::C {
            // An empty loop or the end of a `do`; its body would be no text of its own.
            return None;
        }
        let no = (self.text(end) == "else").then(|| self.after_else(end)).flatten();
        Some(Control {
            first: at,
            condition,
            yes: self.trim(body..end),
            no: no.map(|range| self.trim(range)),
        })
    }

    fn after_else(&mut self, at: usize) -> Option<Range<usize>> {
        let start = self.past_capture(at + 1);
        Some(start..self.statement(start, 0)?)
    }

    /// The condition after a keyword, and where the body begins.
    fn head(&self, at: usize) -> Option<(Range<usize>, usize)> {
        if self.language == Language::Rust {
            let mut end = at + 1;
            while self.text(end) != "{" {
                if end >= self.tokens.len() || self.text(end) == ";" || self.text(end) == "}" {
                    return None;
                }
                end = self.mate(end).filter(|mate| *mate > end).unwrap_or(end) + 1;
            }
            return Some((at + 1..end, end));
        }
        let mut open = at + 1;
        while ["constexpr", "consteval"].contains(&self.text(open)) {
            open += 1;
        }
        if self.text(open) != "(" {
            return None;
        }
        let close = self.mate(open)?;
        // C++17: `if (init; condition)`.
        let start = self.split(open + 1..close, ";").last()?.start;
        Some((start..close, self.past_capture(close + 1)))
    }

    /// Zig's `|x|` after a condition.
    fn past_capture(&self, at: usize) -> usize {
        if self.language != Language::Zig || self.text(at) != "|" {
            return at;
        }
        (at + 1..at + 8).find(|&end| self.text(end) == "|").map_or(at, |end| end + 1)
    }

    /// `for (a; b; c)`.
    fn counted(&mut self, at: usize) -> Option<Control> {
        let close = self.mate(at + 1).filter(|_| self.text(at + 1) == "(")?;
        let parts: Vec<Range<usize>> = self.split(at + 2..close, ";");
        let [_, condition, _] = parts.as_slice() else { return None };
        let end = self.statement(close + 1, 0)?;
        let condition = condition.clone();
        Some(Control { first: condition.start, condition, yes: self.trim(close + 1..end), no: None })
    }

    /// `do … while (condition);`
    fn bottom(&mut self, at: usize) -> Option<Control> {
        let end = self.statement(at + 1, 0)?;
        let close = self.mate(end + 1).filter(|_| self.text(end) == "while" && self.text(end + 1) == "(")?;
        Some(Control { first: end, condition: end + 2..close, yes: self.trim(at + 1..end), no: None })
    }

    /// `condition ? yes : no`, where the condition is a call or in parentheses.
    fn choice(&mut self, at: usize) -> Option<Control> {
        let open = self.mate(at.checked_sub(1)?).filter(|&open| open < at)?;
        let mut first = open;
        if first > 0 && self.tokens[first - 1].kind == TokenKind::Word {
            first -= 1;
        }
        while first > 0 && self.text(first - 1) == "!" {
            first -= 1;
        }
        let (mut colon, mut depth) = (at + 1, 0);
        loop {
            match self.text(colon) {
                "?" => depth += 1,
                ":" if depth == 0 => break,
                ":" => depth -= 1,
                "" | ";" | ")" | "]" | "}" => return None,
                _ => {}
            }
            colon = self.mate(colon).filter(|mate| *mate > colon).unwrap_or(colon) + 1;
        }
        let (mut end, mut depth) = (colon + 1, 0);
        loop {
            match self.text(end) {
                "?" => depth += 1,
                ":" if depth > 0 => depth -= 1,
                "" | ";" | "," | ")" | "]" | "}" | ":" => break,
                _ => {}
            }
            end = self.mate(end).filter(|mate| *mate > end).unwrap_or(end) + 1;
        }
        let control = Control { first, condition: first..at, yes: at + 1..colon, no: Some(colon + 1..end) };
        (!control.yes.is_empty() && end > colon + 1).then_some(control)
    }

    /// The parts of a range between separators outside brackets.
    pub fn split(&self, range: Range<usize>, separator: &str) -> Vec<Range<usize>> {
        let (mut parts, mut start, mut at) = (Vec::new(), range.start, range.start);
        while at < range.end {
            if self.text(at) == separator {
                parts.push(start..at);
                start = at + 1;
            }
            at = self.mate(at).filter(|mate| *mate > at).unwrap_or(at) + 1;
        }
        parts.push(start..range.end.max(start));
        parts
    }

    /// Past `[[…]]`.
    pub fn past_attributes(&self, mut at: usize) -> usize {
        while self.text(at) == "[" && self.text(at + 1) == "[" {
            match self.mate(at) {
                Some(close) => at = close + 1,
                None => break,
            }
        }
        at
    }

    /// Without attributes in front and braces around.
    fn trim(&self, range: Range<usize>) -> Range<usize> {
        let start = self.past_attributes(range.start).min(range.end);
        start..range.end
    }

    /// Where the statement that begins here ends.
    fn statement(&mut self, at: usize, depth: usize) -> Option<usize> {
        if depth > DEEPEST || at >= self.tokens.len() {
            return None;
        }
        if let Some(end) = self.ends[at] {
            return Some(end);
        }
        let end = self.find_end(at, depth)?;
        self.ends[at] = Some(end);
        Some(end)
    }

    fn find_end(&mut self, at: usize, depth: usize) -> Option<usize> {
        let start = self.past_attributes(at);
        match self.text(start) {
            "{" => Some(self.mate(start)? + 1),
            "if" => {
                let (_, body) = self.head(start)?;
                let end = self.statement(body, depth + 1)?;
                if self.text(end) != "else" {
                    return Some(end);
                }
                let other = self.past_capture(end + 1);
                self.statement(other, depth + 1)
            }
            "while" | "for" | "switch" if self.language != Language::Rust => {
                let close = self.mate(start + 1).filter(|_| self.text(start + 1) == "(")?;
                let body = self.past_capture(close + 1);
                self.statement(body, depth + 1)
            }
            "do" if self.language == Language::C => {
                let end = self.statement(start + 1, depth + 1)?;
                let close = self.mate(end + 1).filter(|_| self.text(end) == "while")?;
                Some(close + 2)
            }
            _ => Some(self.simple_end(start)),
        }
    }

    /// Past the `;`; before a bracket that closes more than was opened, and before Zig's `else`.
    fn simple_end(&self, mut at: usize) -> usize {
        loop {
            match self.text(at) {
                ";" => return at + 1,
                "" | "}" | ")" | "]" => return at,
                "else" if self.language == Language::Zig => return at,
                "," if self.language == Language::Zig => return at,
                _ => at = self.mate(at).filter(|mate| *mate > at).unwrap_or(at) + 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lex::lex;
    use super::*;

    /// Each control as "condition | yes | no".
    fn controls(text: &str, language: Language) -> Vec<String> {
        let lexed = lex(text, language);
        let mut source = TokenTree::new(&lexed.tokens, language);
        let found = source.controls();
        let words = |range: &Range<usize>| {
            lexed.tokens[range.clone()].iter().map(|token| token.text).collect::<Vec<_>>().join(" ")
        };
        found
            .iter()
            .map(|control| {
                let no = control.no.as_ref().map_or(String::new(), |no| format!(" | {}", words(no)));
                format!("{} | {}{no}", words(&control.condition), words(&control.yes))
            })
            .collect()
    }

    #[test]
    fn finds_what_depends_on_a_condition_in_c() {
        assert_eq!(controls("if (a) b(); else c(); d();", Language::C), ["a | b ( ) ; | c ( ) ;"]);
        assert_eq!(controls("if (a) { b; } c;", Language::C), ["a | { b ; }"]);
        assert_eq!(controls("while (a) b;", Language::C), ["a | b ;"]);
        assert_eq!(controls("for (i = 0; i < n; i++) b;", Language::C), ["i < n | b ;"]);
        assert_eq!(controls("do { a; } while (b); c;", Language::C), ["b | { a ; }"]);
        assert_eq!(controls("x = f(a) ? b : c ? d : e;", Language::C)[0], "f ( a ) | b | c ? d : e");
        assert_eq!(controls("if (int i = f(); i > 2) [[likely]] g();", Language::C), ["i > 2 | g ( ) ;"]);
    }

    #[test]
    fn a_dangling_else_belongs_to_the_inner_condition() {
        let found = controls("if (a) if (b) c; else d; e;", Language::C);
        assert_eq!(found, ["a | if ( b ) c ; else d ;", "b | c ; | d ;"]);
        let found = controls("if (a) for (;;) { b; } else if (c) d; else e;", Language::C);
        assert_eq!(found[0], "a | for ( ; ; ) { b ; } | if ( c ) d ; else e ;");
    }

    #[test]
    fn finds_what_depends_on_a_condition_in_rust_and_zig() {
        let rust = controls("if likely(a) { b } else if c { d } while x(|y| { y }) { z }", Language::Rust);
        assert_eq!(rust, ["likely ( a ) | { b } | if c { d }", "c | { d }", "x ( | y | { y } ) | { z }"]);
        let zig = controls("if (a) |v| b(v) else c(); while (d) : (i += 1) { e; }", Language::Zig);
        assert_eq!(zig[0], "a | b ( v ) | c ( ) ;");
    }

    #[test]
    fn broken_brackets_and_endless_nesting_are_left_out() {
        assert_eq!(controls("if (a { b; }", Language::C), [""; 0]);
        assert_eq!(controls(") } if (a) b; (", Language::C), ["a | b ;"]);
        let deep = "if (a) ".repeat(3000) + "b;";
        assert!(controls(&deep, Language::C).len() < 3000);
        let chain = "if (a) b; else ".repeat(3000) + "c;";
        assert!(controls(&chain, Language::C).len() >= 100);
        assert_eq!(controls("while (a); if (b) c;", Language::C), ["b | c ;"]);
    }
}
