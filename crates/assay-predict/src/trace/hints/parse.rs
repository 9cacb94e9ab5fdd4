//! The hints of a source text.

use super::controls::{Control, TokenTree};
use super::lex::{Lexed, LexedToken, TokenKind, lex};
use super::{ColdFunction, Form, Hint, Scan, Span, Split, Unclear};
use crate::language::Language;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The most columns of a hint's text that are kept.
const TEXT_LIMIT: usize = 120;

/// Finds the hints of a source text and the functions it marks as cold.
pub fn scan(text: &str, language: Language) -> Scan {
    let lexed = lex(text, language);
    let names = HintNames::of(&lexed, language);
    let mut source = TokenTree::new(&lexed.tokens, language);
    let functions = Finder { source: &source, names: &names, language }.functions();
    let names = HintNames { functions, ..names };
    let controls = source.controls();
    let finder = Finder { source: &source, names: &names, language };
    let mut hints: BTreeMap<usize, Hint> = BTreeMap::new();
    for control in &controls {
        for (at, hint) in finder.hints_of(control) {
            hints.entry(at).or_insert(hint);
        }
    }
    for (at, hint) in finder.others() {
        hints.entry(at).or_insert(hint);
    }
    Scan { hints: hints.into_values().collect(), cold_functions: finder.cold_functions() }
}

/// What names say: `likely` and its relatives, and macros of this text that are nothing but `__builtin_expect`.
struct HintNames {
    language: Language,
    own: BTreeMap<String, bool>,
    /// Functions that only have such a name, as `is_most_likely(word)`.
    functions: BTreeSet<String>,
}

impl HintNames {
    fn of(lexed: &Lexed<'_>, language: Language) -> HintNames {
        let mut names = HintNames { language, own: BTreeMap::new(), functions: BTreeSet::new() };
        for tokens in &lexed.macros {
            let source = TokenTree::new(tokens, language);
            let Some(close) = source.mate(1).filter(|_| source.text(1) == "(") else { continue };
            let finder = Finder { source: &source, names: &names, language };
            if let Some(expected) = finder.whole(close + 1..tokens.len()) {
                names.own.insert(tokens[0].text.to_owned(), expected);
            }
        }
        names
    }

    /// What a function or macro of this name says of its argument.
    fn expects(&self, name: &str) -> Option<bool> {
        if let Some(expected) = self.own.get(name) {
            return Some(*expected);
        }
        if self.functions.contains(name) {
            return None;
        }
        if self.language != Language::C {
            return match name {
                "likely" => Some(true),
                "unlikely" => Some(false),
                _ => None,
            };
        }
        let lower = name.to_ascii_lowercase();
        let is = |ending: &str| {
            let front = lower.strip_suffix(ending);
            front.is_some_and(|front| front.is_empty() || (front.ends_with('_') && front != "is_"))
        };
        match name {
            "UNEXPECTED" => Some(false),
            "EXPECTED" => Some(true),
            _ if is("unlikely") || is("predict_false") || is("expect_false") => Some(false),
            _ if is("likely") || is("predict_true") || is("expect_true") => Some(true),
            _ => None,
        }
    }

    fn is_expect(&self, name: &str) -> bool {
        name.starts_with("__builtin_expect") || self.expects(name).is_some()
    }
}

struct Finder<'s, 't, 'a> {
    source: &'s TokenTree<'t, 'a>,
    names: &'s HintNames,
    language: Language,
}

impl Finder<'_, '_, '_> {
    /// The hints about one condition, by the token they stand at.
    fn hints_of(&self, control: &Control) -> Vec<(usize, Hint)> {
        let mut found = Vec::new();
        for at in control.condition.clone().filter(|&at| self.is_call_of_expect(at)) {
            let about = match self.whole(control.condition.clone()) {
                Some(expects_yes) => self.split(control, expects_yes),
                None => Err(Unclear::PartOfCondition),
            };
            found.push((at, self.hint(at, Form::Expect, self.call_text(at), about)));
            if self.whole(control.condition.clone()).is_some() {
                break;
            }
        }
        for (part, is_yes) in [(Some(&control.yes), true), (control.no.as_ref(), false)] {
            let Some(part) = part else { continue };
            if let Some((at, form, is_likely)) = self.mark_of(part) {
                let about = self.split(control, is_likely == is_yes);
                found.push((at, self.hint(at, form, self.line_text(at), about)));
            }
        }
        found
    }

    /// Hints that belong to no condition; [`scan`] keeps those found before.
    fn others(&self) -> Vec<(usize, Hint)> {
        let mut found = Vec::new();
        for at in 0..self.source.tokens.len() {
            let (form, text) = if self.is_call_of_expect(at) && !self.is_defined_here(at) {
                (Form::Expect, self.call_text(at))
            } else if self.attribute(at).is_some() {
                (Form::Attribute, self.line_text(at))
            } else if let Some((form, _)) = self.block_mark(at) {
                (form, self.line_text(at))
            } else {
                continue;
            };
            found.push((at, self.hint(at, form, text, Err(Unclear::NoCondition))));
        }
        found
    }

    fn hint(&self, at: usize, form: Form, text: String, about: Result<Split, Unclear>) -> Hint {
        Hint { at: self.source.tokens[at].first, form, text, about }
    }

    /// What this text declares as functions of such a name, but `likely` and its like themselves, and those that pass the
    /// hint on.
    fn functions(&self) -> BTreeSet<String> {
        let named = (0..self.source.tokens.len()).filter(|&at| {
            let is_hint = ["likely", "unlikely"].contains(&self.source.text(at));
            self.is_call_of_expect(at) && !is_hint && self.is_defined_here(at) && !self.passes_on(at)
        });
        named.map(|at| self.source.text(at).to_owned()).collect()
    }

    /// The function that is defined here is nothing but a hint: `{ return __builtin_expect(x, 1); }`.
    fn passes_on(&self, at: usize) -> bool {
        let body =
            self.source.mate(at + 1).map(|close| close + 1).filter(|&from| self.source.text(from) == "{");
        let range = body.and_then(|from| Some(from..self.source.mate(from)?));
        range.is_some_and(|mut range| range.any(|at| self.source.text(at).starts_with("__builtin_expect")))
    }

    /// A definition or import of such a name, no use of it.
    fn is_defined_here(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map_or("", |before| self.source.text(before));
        let after = self.source.mate(at + 1).map_or("", |close| self.source.text(close + 1));
        let is_typed = at > 0
            && self.source.tokens[at - 1].kind == TokenKind::Word
            && !["return", "else", "case", "and", "or", "not", "in", "match"].contains(&before);
        before == "fn" || (is_typed && ["{", ";", "-"].contains(&after))
    }

    /// A hint is of something, and nobody's method.
    fn is_call_of_expect(&self, at: usize) -> bool {
        let is_method = at > 0 && [".", "->"].contains(&self.source.text(at - 1));
        self.source.text(at + 1) == "("
            && self.source.text(at + 2) != ")"
            && !is_method
            && self.names.is_expect(self.source.text(at))
    }

    fn split(&self, control: &Control, expects_yes: bool) -> Result<Split, Unclear> {
        let span = |range: &Range<usize>| {
            let (first, last) =
                (self.source.tokens.get(range.start)?, self.source.tokens.get(range.end.checked_sub(1)?)?);
            (range.start < range.end).then_some(Span { first: first.first, last: last.last })
        };
        let condition = span(&(control.first..control.condition.end)).ok_or(Unclear::NoCondition)?;
        let yes = span(&control.yes).ok_or(Unclear::NoCondition)?;
        let no = control.no.as_ref().and_then(span);
        Ok(Split { condition, yes, no, expects_yes, simple: self.is_simple(&control.condition) })
    }

    /// Whether a condition takes one comparison.
    fn is_simple(&self, condition: &Range<usize>) -> bool {
        condition.clone().all(|at| {
            let token = &self.source.tokens[at];
            let is_call = token.kind == TokenKind::Word
                && self.source.text(at + 1) == "("
                && !self.names.is_expect(token.text)
                && !["sizeof", "alignof", "and", "or", "not"].contains(&token.text);
            let is_connective = ["&&", "||", "?", "and", "or"].contains(&token.text);
            !is_call && !is_connective
        })
    }

    /// What a range says of itself as a whole: `likely(x)`, `!unlikely(x)`, `(__builtin_expect(x, 0) != 0)`.
    fn whole(&self, range: Range<usize>) -> Option<bool> {
        if range.is_empty() || range.end > self.source.tokens.len() {
            return None;
        }
        let (first, last) = (self.source.text(range.start), range.end - 1);
        if ["!", "not"].contains(&first) {
            return self.whole(range.start + 1..range.end).map(|expected| !expected);
        }
        if first == "(" && self.source.mate(range.start) == Some(last) {
            return self.whole(range.start + 1..last);
        }
        if range.len() > 2 && self.source.text(last) == "0" {
            match self.source.text(last - 1) {
                "!=" => return self.whole(range.start..last - 1),
                "==" => return self.whole(range.start..last - 1).map(|expected| !expected),
                _ => {}
            }
        }
        let mut at = range.start;
        while self.source.text(at) == "::" || self.source.text(at + 1) == "::" {
            at += if self.source.text(at) == "::" { 1 } else { 2 };
        }
        if at + 1 >= range.end || self.source.text(at + 1) != "(" || self.source.mate(at + 1) != Some(last) {
            return None;
        }
        match self.source.text(at) {
            "__builtin_expect" => self.expected_argument(at + 2..last, None),
            "__builtin_expect_with_probability" => self.expected_argument(at + 2..last, Some(2)),
            name => self.names.expects(name),
        }
    }

    /// The value that `__builtin_expect` names, if it is written out.
    fn expected_argument(&self, range: Range<usize>, probability: Option<usize>) -> Option<bool> {
        let arguments = self.source.split(range, ",");
        let word = |index: usize| {
            let argument = arguments.get(index)?;
            (argument.len() == 1).then(|| self.source.text(argument.start))
        };
        let expected = match word(1)?.trim_end_matches(['u', 'U', 'l', 'L']) {
            "0" | "false" => false,
            "1" | "true" => true,
            _ => return None,
        };
        match probability.map(|index| word(index)?.trim_end_matches('f').parse::<f64>().ok()) {
            None => (arguments.len() == 2).then_some(expected),
            Some(Some(chance)) if chance > 0.5 => Some(expected),
            Some(Some(chance)) if chance < 0.5 => Some(!expected),
            Some(_) => None,
        }
    }

    /// `[[likely]]` in front of a part, or a mark at the top level of its block.
    fn mark_of(&self, part: &Range<usize>) -> Option<(usize, Form, bool)> {
        // `trim` has put the part behind its attributes; they end right before it.
        if let Some(close) = part.start.checked_sub(1).filter(|&close| self.source.text(close) == "]") {
            let open = self.source.mate(close)?;
            if let Some(likely) = self.attribute(open) {
                return Some((open, Form::Attribute, likely));
            }
        }
        if self.source.text(part.start) != "{" {
            return None;
        }
        let mut at = part.start + 1;
        while at + 1 < part.end {
            if let Some((form, likely)) = self.block_mark(at) {
                return Some((at, form, likely));
            }
            at = self.source.mate(at).filter(|mate| *mate > at).unwrap_or(at) + 1;
        }
        None
    }

    /// What `[[likely]]` at this token says.
    fn attribute(&self, at: usize) -> Option<bool> {
        let is_attribute = self.language == Language::C
            && self.source.text(at) == "["
            && self.source.text(at + 1) == "["
            && self.source.text(at + 3) == "]";
        match self.source.text(at + 2) {
            "likely" if is_attribute => Some(true),
            "unlikely" if is_attribute => Some(false),
            _ => None,
        }
    }

    /// What a statement at this token says of the block it stands in.
    fn block_mark(&self, at: usize) -> Option<(Form, bool)> {
        match (self.language, self.source.text(at)) {
            (Language::Rust, "cold_path") if self.source.text(at + 1) == "(" => {
                let before = at.checked_sub(1).map_or("", |before| self.source.text(before));
                (before != "fn").then_some((Form::ColdPath, false))
            }
            (Language::Zig, "branchHint") if self.source.text(at + 1) == "(" => {
                match self.source.text(at + 3) {
                    "likely" => Some((Form::BranchHint, true)),
                    "unlikely" | "cold" => Some((Form::BranchHint, false)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The functions marked cold, by attribute or by Zig's hint at their beginning.
    fn cold_functions(&self) -> Vec<ColdFunction> {
        let mark = match self.language {
            Language::Zig => return Vec::new(),
            Language::Rust | Language::C => "cold",
        };
        let tokens = self.source.tokens;
        let is_cold = |token: &LexedToken| token.text == mark || token.text == "__cold__";
        (0..tokens.len()).filter(|&at| is_cold(&tokens[at])).filter_map(|at| self.cold_function(at)).collect()
    }

    fn cold_function(&self, at: usize) -> Option<ColdFunction> {
        let (start, after) = self.attribute_around(at)?;
        // The attribute stands in front of the declaration, or behind the arguments.
        let behind = start.checked_sub(1).filter(|&close| self.source.text(close) == ")");
        let name_at = match behind.and_then(|close| self.source.mate(close)) {
            Some(open) if self.language == Language::C => open.checked_sub(1)?,
            _ => self.declared_name(after)?,
        };
        let name = self.source.tokens.get(name_at).filter(|token| token.kind == TokenKind::Word)?;
        let mut end = after;
        while !["{", ";", ""].contains(&self.source.text(end)) {
            end = self.source.mate(end).filter(|mate| *mate > end).unwrap_or(end) + 1;
        }
        // Optimised code may begin with a line of the body.
        let closing = self.source.mate(end).filter(|_| self.source.text(end) == "{");
        let last = self.source.tokens.get(closing.unwrap_or(end))?.last;
        let first = self.source.tokens[start.min(name_at)].first;
        let is_definition = self.source.text(end) == "{";
        Some(ColdFunction { name: name.text.to_owned(), span: Span { first, last }, is_definition })
    }

    /// From the word in `#[cold]`, `__attribute__((cold))` or `[[gnu::cold]]` to where the attribute begins, and past it.
    fn attribute_around(&self, at: usize) -> Option<(usize, usize)> {
        let source = self.source;
        let enclosing = |at: usize, open: &str| {
            (at.saturating_sub(24)..at)
                .rev()
                .find(|&start| source.text(start) == open && source.mate(start).is_some_and(|mate| mate > at))
        };
        if self.language == Language::Rust {
            let is_attribute = at >= 2 && source.text(at - 1) == "[" && source.text(at - 2) == "#";
            return is_attribute.then(|| (at - 2, at + 2));
        }
        if let Some(inner) = enclosing(at, "(") {
            let outer = enclosing(inner, "(")?;
            let is_attribute = outer > 0 && source.text(outer - 1) == "__attribute__";
            return is_attribute.then(|| Some((outer - 1, source.mate(outer)? + 1))).flatten();
        }
        let outer = enclosing(enclosing(at, "[")?, "[")?;
        Some((outer, source.mate(outer)? + 1))
    }

    /// The name of the function that is declared from here.
    fn declared_name(&self, at: usize) -> Option<usize> {
        if self.language == Language::Rust {
            let keyword = (at..at + 40).find(|&at| ["fn", "{", ";"].contains(&self.source.text(at)))?;
            return (self.source.text(keyword) == "fn").then_some(keyword + 1);
        }
        let mut at = at;
        loop {
            match self.source.text(at) {
                "__attribute__" => at = self.source.mate(at + 1)? + 1,
                "[" => at = self.source.mate(at)? + 1,
                "(" => return at.checked_sub(1),
                "" | "{" | "}" | ";" | "=" => return None,
                _ => at += 1,
            }
        }
    }

    /// The call at a name, on one line.
    fn call_text(&self, at: usize) -> String {
        let end = self.source.mate(at + 1).unwrap_or(at);
        self.joined(at..end + 1)
    }

    /// What else is on the token's line, as much as says what the hint is about.
    fn line_text(&self, at: usize) -> String {
        let tokens = self.source.tokens;
        let line = tokens[at].first.line;
        let start = (0..=at).rev().take_while(|&index| tokens[index].first.line == line).last().unwrap_or(at);
        let length = tokens[start..].iter().take_while(|token| token.first.line == line).count();
        self.joined(start..start + length)
    }

    /// Tokens with the spaces that they were written with, as far as one can tell: one where there was any.
    fn joined(&self, range: Range<usize>) -> String {
        let mut text = String::new();
        let mut before: Option<&LexedToken> = None;
        for token in &self.source.tokens[range] {
            let touches = before.is_some_and(|before| {
                before.last.line == token.first.line && before.last.column + 1 == token.first.column
            });
            if before.is_some() && !touches {
                text.push(' ');
            }
            text.push_str(token.text);
            before = Some(token);
            if text.len() > TEXT_LIMIT {
                text.push('…');
                break;
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each hint as "line:column text: expects", the reason where it is unclear.
    fn hints(text: &str, language: Language) -> Vec<String> {
        let describe = |hint: &Hint| {
            let about = match &hint.about {
                Ok(split) => {
                    let kind = if split.simple { "" } else { ", not simple" };
                    format!("{}{kind}", if split.expects_yes { "yes" } else { "no" })
                }
                Err(unclear) => format!("{unclear:?}"),
            };
            format!("{}:{} {}: {about}", hint.at.line, hint.at.column, hint.text)
        };
        scan(text, language).hints.iter().map(describe).collect()
    }

    #[test]
    fn expectations_are_read_from_calls_macros_and_names() {
        let cases = [
            ("if (__builtin_expect(x > 3, 1)) a(); ", "1:5 __builtin_expect(x > 3, 1): yes"),
            ("if (__builtin_expect(!!(x), 0L)) a(); ", "1:5 __builtin_expect(!!(x), 0L): no"),
            ("if (!__builtin_expect(x, 0)) a(); ", "1:6 __builtin_expect(x, 0): yes"),
            ("if ((unlikely(x)) != 0) a(); ", "1:6 unlikely(x): no"),
            ("if (unlikely(x) == 0) a(); ", "1:5 unlikely(x): yes"),
            ("if (__glibc_unlikely (x)) a(); ", "1:5 __glibc_unlikely (x): no"),
            ("if (ABSL_PREDICT_TRUE(x)) a(); ", "1:5 ABSL_PREDICT_TRUE(x): yes"),
            (
                "if (__builtin_expect_with_probability(x, 1, 0.2)) a(); ",
                "1:5 __builtin_expect_with_probability(x, 1, 0.2): no",
            ),
            ("if (likely(a && f(b))) a(); ", "1:5 likely(a && f(b)): yes, not simple"),
            ("if (likely(a || b)) a(); ", "1:5 likely(a || b): yes, not simple"),
            ("if (likely(f(b))) a(); ", "1:5 likely(f(b)): yes, not simple"),
            ("if (likely(a < sizeof(b))) a(); ", "1:5 likely(a < sizeof(b)): yes"),
            ("while (likely(p < end)) p++;", "1:8 likely(p < end): yes"),
            ("for (;likely(p < end); p++) a();", "1:7 likely(p < end): yes"),
            ("do a(); while (unlikely(b));", "1:16 unlikely(b): no"),
            ("return likely(a) ? b : c;", "1:8 likely(a): yes"),
        ];
        for (text, found) in cases {
            assert_eq!(hints(text, Language::C), [found], "{text}");
        }
    }

    #[test]
    fn macros_of_the_text_say_what_they_expand_to() {
        let text = "#define HOT(x) __builtin_expect((x), 1)\n#define COLD(x) (__builtin_expect(!!(x), 0))\n\
                    #define CHECK(x) if (__builtin_expect(x, 0)) fail()\nif (HOT(a)) b(); if (COLD(c)) d(); CHECK(e);";
        assert_eq!(hints(text, Language::C), ["4:5 HOT(a): yes", "4:22 COLD(c): no"]);
        // A name that means the opposite here.
        let text = "#define likely(x) __builtin_expect((x), 0)\nif (likely(a)) b();";
        assert_eq!(hints(text, Language::C), ["2:5 likely(a): no"]);
    }

    #[test]
    fn a_function_with_such_a_name_is_no_hint() {
        let defined = "static int is_most_likely(int x) { return x > 3; }\nint f(int x) { if (is_most_likely(x)) a(); }";
        assert_eq!(hints(defined, Language::C), [""; 0]);
        let declared = "bool most_unlikely(int x);\nint f(int x) { if (most_unlikely(x)) a(); }";
        assert_eq!(hints(declared, Language::C), [""; 0]);
        assert_eq!(hints("if (word.very_likely(x)) a();", Language::C), [""; 0]);
        assert_eq!(hints("if (rain_likely()) a();", Language::C), [""; 0]);
        // Unless it is one.
        let passes = "static inline bool my_likely(bool x) { return __builtin_expect(x, 1); }\nint f(int x) { if (my_likely(x)) a(); }";
        assert!(
            hints(passes, Language::C).contains(&"2:20 my_likely(x): yes".to_owned()),
            "{:?}",
            hints(passes, Language::C)
        );
    }

    #[test]
    fn what_is_not_the_whole_condition_is_unclear() {
        let cases = [
            ("if (likely(a) && b) c();", "1:5 likely(a): PartOfCondition"),
            ("if (__builtin_expect(a, 3) == 3) c();", "1:5 __builtin_expect(a, 3): PartOfCondition"),
            ("if (__builtin_expect(a, b)) c();", "1:5 __builtin_expect(a, b): PartOfCondition"),
            ("bool ok = likely(a);", "1:11 likely(a): NoCondition"),
            ("switch (__builtin_expect(a, 3)) { }", "1:9 __builtin_expect(a, 3): NoCondition"),
            (
                "switch (a) { case 1: [[likely]] b(); }",
                "1:22 switch (a) { case 1: [[likely]] b(); }: NoCondition",
            ),
            ("while (likely(a));", "1:8 likely(a): NoCondition"),
        ];
        for (text, found) in cases {
            assert_eq!(hints(text, Language::C), [found], "{text}");
        }
        for text in [
            "if (is_likely(a)) b();",
            "int likely = 3;",
            "// if (likely(a)) b();",
            "static bool likely(bool x) { return x; }",
        ] {
            assert_eq!(hints(text, Language::C), [""; 0], "{text}");
        }
    }

    #[test]
    fn attributes_speak_of_the_part_they_stand_before() {
        assert_eq!(
            hints("if (a) [[likely]] b(); else c();", Language::C)[0],
            "1:8 if (a) [[likely]] b(); else c();: yes"
        );
        assert_eq!(hints("if (a)\n  [[unlikely]] { b(); }", Language::C), ["2:3 [[unlikely]] { b(); }: no"]);
        assert_eq!(
            hints("if (a) b();\nelse [[unlikely]] c();", Language::C),
            ["2:6 else [[unlikely]] c();: yes"]
        );
        assert_eq!(hints("if (a) b();\nelse [[likely]] c();", Language::C), ["2:6 else [[likely]] c();: no"]);
        assert_eq!(hints("int x[3]; if (a) b[[c]]; ", Language::C), [""; 0]);
    }

    #[test]
    fn rust_and_zig_mark_blocks() {
        let rust = "fn f() { if a { core::hint::cold_path(); b() } else { c() } }";
        assert_eq!(hints(rust, Language::Rust)[0], format!("1:29 {rust}: no"));
        assert_eq!(
            hints("if a {\n b()\n} else {\n cold_path();\n}", Language::Rust),
            ["4:2 cold_path();: yes"]
        );
        assert_eq!(
            hints("if a {\n if b { cold_path(); } }", Language::Rust),
            ["2:9 if b { cold_path(); } }: no"]
        );
        assert_eq!(
            hints("if std::hint::unlikely(a == 0) { b }", Language::Rust),
            ["1:15 unlikely(a == 0): no"]
        );
        assert_eq!(hints("if !likely(a) { b }", Language::Rust), ["1:5 likely(a): no"]);
        assert_eq!(
            hints("match a {\n 1 => { cold_path(); }\n}", Language::Rust),
            ["2:9 1 => { cold_path(); }: NoCondition"]
        );
        let zig = "if (a) {\n @branchHint(.unlikely);\n b(); } else {\n @branchHint(.likely);\n}";
        assert_eq!(
            hints(zig, Language::Zig),
            ["2:3 @branchHint(.unlikely);: no", "4:3 @branchHint(.likely);: no"]
        );
        assert_eq!(hints("if (a) { @branchHint(.unpredictable); }", Language::Zig), [""; 0]);
    }

    #[test]
    fn functions_marked_cold_are_known_by_name_and_place() {
        let cold = |text: &str, language| {
            let found = scan(text, language).cold_functions;
            let describe = |cold: &ColdFunction| {
                format!(
                    "{} {}-{} {}",
                    cold.name, cold.span.first.line, cold.span.last.line, cold.is_definition
                )
            };
            found.iter().map(describe).collect::<Vec<_>>()
        };
        assert_eq!(cold("__attribute__((cold)) static void\nf(int a) { b(); }", Language::C), ["f 1-2 true"]);
        assert_eq!(
            cold("__attribute__((cold)) void f() {\n b();\n}\nvoid g() {}", Language::C),
            ["f 1-3 true"]
        );
        assert_eq!(cold("__attribute__((noinline, cold))\nvoid f(int a);", Language::C), ["f 1-2 false"]);
        assert_eq!(cold("void f(int a) __attribute__((__cold__));", Language::C), ["f 1-1 false"]);
        assert_eq!(cold("[[gnu::cold, noreturn]] void f();", Language::C), ["f 1-1 false"]);
        assert_eq!(
            cold("__attribute__((cold)) NOINLINE __attribute__((noinline)) int f() {}", Language::C),
            ["f 1-1 true"]
        );
        assert_eq!(
            cold(
                "#[cold]\n#[inline(never)]\npub(crate) fn f<T>(a: T) -> u8 where T: X { 1 }",
                Language::Rust
            ),
            ["f 1-3 true"]
        );
        assert_eq!(cold("int cold = 3; f(cold); a[cold];", Language::C), [""; 0]);
    }
}
