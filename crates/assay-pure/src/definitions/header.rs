//! What the words of a header say: what is defined, what it acts on, what follows.

use super::tokens::{Token, names, tokens};
use crate::language::Language;
use std::collections::BTreeSet;

/// Keywords of scopes whose contents are definitions of their own.
const TYPES: [&str; 5] = ["class", "struct", "union", "impl", "trait"];
/// What begins with parentheses and belongs to the definition that follows.
const ATTRIBUTES: [&str; 9] = [
    "__attribute__",
    "__declspec",
    "alignas",
    "_Alignas",
    "noexcept",
    "decltype",
    "requires",
    "explicit",
    "__asm__",
];
/// Calls of macros that define nothing which others could use.
const HARMLESS: [&str; 6] =
    ["static_assert", "_Static_assert", "BENCHMARK", "TEST", "criterion_group", "criterion_main"];
/// What libraries and loops use though nobody mentions it.
const CALLED_BY_LIBRARIES: [&str; 5] = ["swap", "begin", "end", "hash", "get"];

/// What begins an item of Rust's and says what it is.
const KINDS: [&str; 12] = [
    "fn",
    "const",
    "static",
    "type",
    "struct",
    "enum",
    "union",
    "trait",
    "impl",
    "mod",
    "use",
    "macro_rules",
];
/// Words of signatures that do not say on which types an operator or a trait acts.
const OF_ALL: [&str; 36] = [
    "const",
    "constexpr",
    "inline",
    "static",
    "friend",
    "template",
    "typename",
    "class",
    "struct",
    "noexcept",
    "auto",
    "void",
    "bool",
    "char",
    "short",
    "int",
    "long",
    "unsigned",
    "float",
    "double",
    "std",
    "operator",
    "impl",
    "for",
    "where",
    "dyn",
    "mut",
    "unsafe",
    "crate",
    "self",
    "Self",
    "super",
    "core",
    "alloc",
    "ops",
    "fn",
];
/// Tokens between angles beyond which they count as not closed.
const LONGEST_ANGLES: usize = 1000;
/// Names in a header that say what it acts on; the names of parameters do not.
pub fn telling(header: &[Token]) -> Vec<String> {
    let is_of_all = |token: &Token| matches!(token, Token::Name(name) if OF_ALL.contains(name));
    let is_parameter = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| header.get(before));
        matches!(header.get(at + 1), Some(Token::Sign(',' | ')')))
            && matches!(before, Some(Token::Name(_) | Token::Sign('&' | '*' | '>')))
            && !before.is_some_and(is_of_all)
    };
    let kept: Vec<Token> = (0..header.len())
        .filter(|&at| !is_of_all(&header[at]) && !is_parameter(at))
        .map(|at| header[at])
        .collect();
    mentions(&kept).into_iter().collect()
}

/// What an item of Rust's is, and where that stands among the tokens without attributes.
pub fn kind(header: &[Token]) -> Option<(&'static str, usize)> {
    let header = without_attributes(header);
    header.iter().enumerate().find_map(|(at, token)| {
        let Token::Name(word) = token else { return None };
        let kind = KINDS.iter().find(|kind| *kind == word)?;
        let next = header.get(at + 1);
        let is_part = match *kind {
            "const" => matches!(next, Some(Token::Name("fn" | "unsafe" | "async" | "extern"))),
            "union" => !matches!(next, Some(Token::Name(_))),
            _ => false,
        };
        (!is_part).then_some((*kind, at))
    })
}

/// Behind the angles that open here, with what they enclose; none where they do not.
pub fn angles_end(tokens: &[Token], begin: usize) -> Option<usize> {
    let (mut at, mut depth, mut inner) = (begin, 0, 0);
    loop {
        // What never closes would be read again for each that opens.
        if at - begin > LONGEST_ANGLES {
            return None;
        }
        let next = tokens.get(at + 1);
        match tokens.get(at)? {
            Token::Sign('(') => inner += 1,
            Token::Sign(')') => inner -= 1,
            Token::Sign('{' | '}' | ';') => return None,
            // Comparisons and shifts.
            Token::Sign('<') if next == Some(&Token::Sign('=')) => {}
            Token::Sign('<') if next == Some(&Token::Sign('<')) => at += 1,
            Token::Sign('<') if inner == 0 => depth += 1,
            Token::Sign('-') if next == Some(&Token::Sign('>')) => at += 1,
            Token::Sign('>') if inner == 0 => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return (at > begin + 1).then_some(at);
        }
    }
}

/// Whether the brace behind this holds the value of a member, in a constructor's list of them: `A::A() : a` of `A::A() : a{1} {}`.
pub fn is_initialiser(header: &[Token]) -> bool {
    if !matches!(header.last(), Some(Token::Name(_) | Token::Sign('>'))) || has_word(header, "enum") {
        return false;
    }
    let header = without_attributes(header);
    let is_colon = |at: usize| header.get(at) == Some(&Token::Sign(':'));
    let Some(close) = header.iter().position(|token| *token == Token::Sign(')')) else { return false };
    (close + 1..header.len()).any(|at| is_colon(at) && !is_colon(at - 1) && !is_colon(at + 1))
}

/// The file that a line includes, as the definitions in it are called.
pub fn included(line: &str) -> Option<String> {
    let file = line.trim_start_matches('#').trim_start().strip_prefix("include")?;
    let file = file.trim_start_matches("_next").trim().strip_prefix(['"', '<'])?;
    let file = file.split(['"', '>']).next()?;
    Some(file_name(file))
}

/// What the definitions in a file are called together, which is no name of the language.
pub fn file_name(path: &str) -> String {
    format!("#{}", path.rsplit('/').next().unwrap_or(path))
}

/// Parts of names that a macro puts together.
pub fn pasted(line: &str) -> BTreeSet<String> {
    let tokens = tokens(Language::C, line.trim_start_matches('#').trim_start());
    let takes = tokens.get(2) == Some(&Token::Sign('('));
    let taken: Vec<&Token> =
        tokens.iter().skip(3).take_while(|token| takes && **token != Token::Sign(')')).collect();
    let mut found = BTreeSet::new();
    for part in tokens.windows(4) {
        let [left, Token::Sign('#'), Token::Sign('#'), right] = part else { continue };
        if matches!(left, Token::Sign(symbol) if *symbol != ')') {
            // `, ##__VA_ARGS__`
            continue;
        }
        let known = [left, right].into_iter().find_map(|part| match part {
            Token::Name(name) if !taken.contains(&part) => Some((*name).to_owned()),
            _ => None,
        });
        found.insert(known.unwrap_or_default());
    }
    found
}

/// The same of what macros of Rust's put together: that is not said.
pub fn pastes_of(mentions: &BTreeSet<String>) -> BTreeSet<String> {
    let pastes = mentions.contains("paste") || mentions.contains("concat_idents");
    pastes.then(String::new).into_iter().collect()
}

/// Whether a header of Rust's has parameters that are types: `fn a<T>`, `impl<T>`, or `impl Trait` among the arguments.
pub fn takes_types(header: &[Token]) -> bool {
    let is_lifetime = |at: usize| header.get(at) == Some(&Token::Sign('\''));
    let mut depth = 0;
    for (at, token) in header.iter().enumerate() {
        match token {
            Token::Sign('(') => depth += 1,
            Token::Sign(')') => depth -= 1,
            Token::Name("impl") if depth > 0 => return true,
            // Parameters stand behind `impl` and behind a function's name.
            Token::Sign('<') if depth == 0 => {
                let declares = at.checked_sub(1).is_some_and(|before| header[before] == Token::Name("impl"))
                    || at.checked_sub(2).is_some_and(|before| header[before] == Token::Name("fn"));
                let end =
                    (at..header.len()).find(|&end| header[end] == Token::Sign('>')).unwrap_or(header.len());
                let has_types = (at + 1..end)
                    .any(|inside| matches!(header[inside], Token::Name(_)) && !is_lifetime(inside - 1));
                if declares && has_types {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

pub fn is_type_word(token: &Token) -> bool {
    matches!(token, Token::Name(word) if TYPES.contains(word))
}

pub fn are_called_by_libraries(names: &[String]) -> bool {
    names.iter().any(|name| CALLED_BY_LIBRARIES.contains(&name.as_str()))
}

/// Whether a header's block holds definitions of their own.
pub fn is_scope(language: Language, header: &[Token]) -> bool {
    let plain = without_attributes(header);
    if let [Token::Name("extern"), Token::Literal(_)]
    | [Token::Name("unsafe"), Token::Name("extern"), Token::Literal(_)] = plain.as_slice()
    {
        return true;
    }
    if language == Language::Rust {
        return matches!(kind(header), Some(("struct" | "union" | "impl" | "trait" | "mod", _)));
    }
    // What a base is made with is no call.
    let is_colon = |at: usize| plain.get(at) == Some(&Token::Sign(':'));
    let base = (0..plain.len()).find(|&at| {
        at > 0 && is_colon(at) && !is_colon(at - 1) && !is_colon(at + 1) && !is_label(&plain[at - 1])
    });
    let calls = plain[..base.unwrap_or(plain.len())].contains(&Token::Sign('('));
    let is_type = plain.iter().any(is_type_word) && !has_word(&plain, "enum");
    let is_space = plain.iter().any(|token| matches!(token, Token::Name("namespace" | "mod")));
    !calls && (is_type || is_space)
}

fn is_label(token: &Token) -> bool {
    matches!(token, Token::Name("public" | "private" | "protected" | "signals" | "slots"))
}

/// A header without what stands in brackets and behind the names of attributes.
pub fn without_attributes<'t>(header: &[Token<'t>]) -> Vec<Token<'t>> {
    let mut kept: Vec<Token<'t>> = Vec::new();
    let mut at = 0;
    while let Some(&token) = header.get(at) {
        let is_attribute = matches!(token, Token::Name(name) if ATTRIBUTES.contains(&name));
        // So is a macro between `class` and the name: `class API(x) Name`.
        let is_of_type = at > 0
            && matches!(header[at - 1], Token::Name("class" | "struct" | "union"))
            && matches!(token, Token::Name(_))
            && header.get(at + 2) != Some(&Token::Sign('*'));
        let is_call = (is_attribute || is_of_type) && header.get(at + 1) == Some(&Token::Sign('('));
        if is_call || token == Token::Sign('[') {
            let mut depth = 0;
            at += usize::from(is_call);
            while let Some(token) = header.get(at) {
                match token {
                    Token::Sign('(' | '[') => depth += 1,
                    Token::Sign(')' | ']') => depth -= 1,
                    _ => {}
                }
                at += 1;
                if depth == 0 {
                    break;
                }
            }
            // `#[` and `#![`
            if token == Token::Sign('[') && kept.last() == Some(&Token::Sign('#')) {
                kept.pop();
            }
        } else {
            kept.push(token);
            at += 1;
        }
    }
    kept
}

/// What a header defines, and whether that is a function.
pub fn defined(language: Language, header: &[Token]) -> (Vec<String>, bool) {
    if language == Language::Rust {
        return rust(&without_attributes(header));
    }
    let (mut plain, mut at, mut is_clear) = (Vec::new(), 0, true);
    while at < header.len() {
        if header[at] == Token::Name("template") {
            let end = angles_end(header, at + 1);
            is_clear &= end.is_some() || header.get(at + 1) != Some(&Token::Sign('<'));
            at = end.unwrap_or(at + 1);
        } else {
            plain.push(header[at]);
            at += 1;
        }
    }
    let (mut names, is_function) = declared(&without_attributes(&plain));
    if !is_clear {
        names.extend(mentions(header));
    }
    (names, is_function)
}

/// The same without attributes and templates.
fn declared(header: &[Token]) -> (Vec<String>, bool) {
    let next = |at: usize| header.get(at + 1);
    let is_operator = has_word(header, "operator");
    let (mut names, mut last) = (Vec::new(), None);
    let (mut depth, mut is_value, mut is_first, mut is_function) = (0, false, true, false);
    let mut at = 0;
    while let Some(token) = header.get(at) {
        match token {
            // Types with others: what they are made with is not declared here.
            Token::Sign('<') if depth == 0 && !is_operator && !is_value => {
                if let Some(end) = angles_end(header, at) {
                    at = end;
                    continue;
                }
            }
            Token::Sign('(') => {
                if depth == 0 && !is_value {
                    names.extend(last.take());
                    is_function |= is_first && !is_pointer(&header[at..]);
                    is_first = false;
                }
                depth += 1;
            }
            Token::Sign('{') => depth += 1,
            Token::Sign(')' | '}') => {
                depth -= 1;
                // `(*name)(...)`
                if depth == 0 && next(at) != Some(&Token::Sign('(')) && is_function {
                    last = None;
                }
            }
            Token::Sign('=') if depth == 0 && !is_value => {
                names.extend(last.take());
                is_value = true;
                // `int DEFINE(name) = 3`: a macro, whose name is no function's.
                let is_absent =
                    matches!(next(at), Some(Token::Name("default" | "delete") | Token::Literal("0")));
                if is_function && !is_absent {
                    names.extend(mentions(&header[..at]));
                }
            }
            Token::Sign(',') if depth == 0 => {
                names.extend(last.take());
                is_value = false;
            }
            Token::Name(name) if !is_value => last = Some((*name).to_owned()),
            _ => {}
        }
        at += 1;
    }
    names.extend(last.filter(|_| !is_function && !is_value));
    (names, is_function)
}

/// Whether these parentheses enclose what points to functions: `(*name)(`, `(Class::*name)(`.
fn is_pointer(tokens: &[Token]) -> bool {
    let close = tokens.iter().position(|token| *token == Token::Sign(')')).unwrap_or(tokens.len());
    let points = |token: &Token| matches!(token, Token::Sign('*' | '&' | '^'));
    points(tokens.get(1).unwrap_or(&Token::Sign(' ')))
        || tokens[..close].iter().any(points) && tokens.get(close + 1) == Some(&Token::Sign('('))
}

/// The same in Rust, which says what it is.
fn rust(header: &[Token]) -> (Vec<String>, bool) {
    let Some((kind, at)) = kind(header) else { return (Vec::new(), false) };
    if matches!(kind, "impl" | "use" | "enum") {
        return (Vec::new(), false);
    }
    let behind = header[at + 1..].iter().find_map(|token| match token {
        Token::Name(name) if *name != "mut" && *name != "r" => Some((*name).to_owned()),
        _ => None,
    });
    (behind.into_iter().collect(), kind == "fn")
}

/// Whether an item is the call of a macro, which may define anything.
pub fn calls_a_macro(header: &[Token]) -> bool {
    let header = without_attributes(header);
    let is_storage = |token: &&Token| matches!(token, Token::Name("static" | "extern" | "const" | "typedef"));
    let storage = header.iter().take_while(is_storage).count();
    match &header[storage..] {
        [Token::Name(name), Token::Sign('('), ..] | [Token::Name(name), Token::Sign('!'), ..] => {
            *name != "macro_rules" && !HARMLESS.iter().any(|harmless| name.starts_with(harmless))
        }
        _ => false,
    }
}

pub fn type_name(header: &[Token], keyword: &str) -> String {
    let header = without_attributes(header);
    let behind = header.iter().skip_while(|token| **token != Token::Name(keyword)).skip(1);
    let mut depth = 0;
    let mut last = "";
    for token in behind {
        match token {
            Token::Sign('<') => depth += 1,
            Token::Sign('>') => depth -= 1,
            Token::Sign(':') | Token::Name("where") if depth == 0 && !last.is_empty() => break,
            Token::Name("for") => last = "",
            Token::Name(name) if depth == 0 && *name != "final" => last = name,
            _ => {}
        }
    }
    last.to_owned()
}

pub fn has_word(tokens: &[Token], word: &str) -> bool {
    tokens.contains(&Token::Name(word))
}

pub fn written(tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens {
        token.push_to(&mut text);
    }
    text
}

pub fn mentions(tokens: &[Token]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for token in tokens {
        match token {
            Token::Name(name) => {
                found.insert((*name).to_owned());
            }
            Token::Directive(line) => {
                found.extend(names(Language::C, line));
                found.extend(included(line));
            }
            Token::Literal(text) => found.extend(named(text)),
            Token::Sign(_) => {}
        }
    }
    found
}

/// What a text names: all of it may be a path, as in attributes, or there are names in braces, as in formats.
fn named(text: &str) -> Vec<String> {
    let Some((_, inside)) = text.split_once('"') else { return Vec::new() };
    let inside = inside.trim_end_matches('#').trim_end_matches('"');
    let is_part = |symbol: char| symbol == '_' || symbol.is_alphanumeric();
    if inside.chars().all(|symbol| is_part(symbol) || symbol == ':') {
        return inside.split(':').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    }
    let behind = inside.split('{').skip(1).map(|part| part.split(|symbol| !is_part(symbol)).next());
    behind.flatten().filter(|name| !name.is_empty()).map(str::to_owned).collect()
}
