//! Tokens cut into definitions.

use super::Language;
use super::tokens::{Token, names, tokens};
use std::collections::BTreeSet;

/// One definition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Definition {
    /// All of it, in the class that it belongs to.
    pub text: String,
    /// What it defines.
    pub names: Vec<String>,
    /// All names in it.
    pub mentions: BTreeSet<String>,
    /// Lines for the preprocessor ahead of it: what they say holds for it.
    pub place: usize,
    /// Whether it acts where none of its names is mentioned.
    pub acts_anywhere: bool,
    /// Whether what it mentions acts where none of its names is mentioned: what has none, and calls of macros.
    pub is_root: bool,
    /// Whether it means another thing behind others.
    pub is_ordered: bool,
    /// Whether it names what is defined elsewhere.
    pub is_import: bool,
    /// Parts of the names that it puts together; an empty one: any.
    pub pastes: BTreeSet<String>,
    /// Whether its symbol does not say with which types it was made: generic functions of Rust.
    pub is_generic: bool,
}

/// What a file defines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileDefinitions {
    /// In their order.
    pub definitions: Vec<Definition>,
    /// Namespaces and modules.
    pub spaces: BTreeSet<String>,
    /// The lines for the preprocessor that define nothing: conditions, what is included.
    pub conditions: String,
}

/// Cuts a file.
pub fn read(language: Language, text: &str) -> FileDefinitions {
    let tokens = tokens(language, text);
    let found = FileDefinitions::default();
    let mut reader =
        Reader { language, tokens: &tokens, at: 0, found, within: Vec::new(), place: 0, is_open: false };
    while reader.at < reader.tokens.len() {
        reader.scope(None);
        // A brace that nothing opened.
        reader.at += 1;
    }
    reader.found
}

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
/// Attributes of a whole file that change no code.
const LINTS: [&str; 6] = ["allow", "warn", "deny", "forbid", "expect", "doc"];
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
/// Scopes in each other beyond which one is not cut any more.
const DEEPEST: usize = 100;

struct Reader<'t> {
    language: Language,
    tokens: &'t [Token<'t>],
    at: usize,
    found: FileDefinitions,
    /// The headers of the scopes around.
    within: Vec<String>,
    /// Lines for the preprocessor so far.
    place: usize,
    /// The item under way has a brace that nothing closes.
    is_open: bool,
}

/// A class under way: its name, and all that it consists of but its functions, in order.
struct Type {
    name: String,
    header: String,
    layout: Vec<String>,
    mentions: BTreeSet<String>,
    /// Whether what is in it acts where nobody mentions it.
    is_of_trait: bool,
    is_generic: bool,
}

/// How an item ends.
enum End {
    /// With a semicolon, or with the scope.
    Plain,
    /// With a block that belongs to it.
    Block,
    /// With a block of definitions of their own.
    Scope,
}

impl<'t> Reader<'t> {
    /// Reads definitions up to the brace that ends their scope.
    fn scope(&mut self, mut of: Option<&mut Type>) {
        while let Some(&token) = self.tokens.get(self.at) {
            match token {
                Token::Sign('}') => return,
                Token::Directive(line) => {
                    self.at += 1;
                    if let Some(class) = of.as_deref_mut() {
                        class.mentions.extend(included(line));
                    }
                    self.directive(line);
                }
                _ => self.item(of.as_deref_mut()),
            }
        }
    }

    fn directive(&mut self, line: &str) {
        if !self.macro_of(line) {
            self.place += 1;
            self.found.conditions.extend(line.split_whitespace());
            self.found.conditions.push('\n');
        }
    }

    /// Reads a line that defines a macro; whether it does.
    fn macro_of(&mut self, line: &str) -> bool {
        let words = names(Language::C, line.trim_start_matches('#'));
        match words.split_first() {
            Some((word, rest)) if word == "define" && !rest.is_empty() => {
                self.found.definitions.push(Definition {
                    text: line.split_whitespace().collect::<Vec<_>>().join(" "),
                    names: rest[..1].to_vec(),
                    mentions: rest[1..].iter().cloned().collect(),
                    place: self.place,
                    acts_anywhere: false,
                    is_root: false,
                    is_ordered: true,
                    is_import: false,
                    pastes: pasted(line),
                    is_generic: false,
                });
                true
            }
            _ => false,
        }
    }

    /// Reads `#![...]`, which holds for all that is around it; whether it stands here.
    fn inner_attribute(&mut self) -> bool {
        let begins = [Token::Sign('#'), Token::Sign('!'), Token::Sign('[')];
        if self.language != Language::Rust || !self.tokens[self.at..].starts_with(&begins) {
            return false;
        }
        let (begin, mut depth) = (self.at, 0);
        while let Some(token) = self.tokens.get(self.at) {
            self.at += 1;
            match token {
                Token::Sign('[') => depth += 1,
                Token::Sign(']') => depth -= 1,
                _ => {}
            }
            if depth == 0 && *token == Token::Sign(']') {
                break;
            }
        }
        let whole = &self.tokens[begin..self.at];
        if !matches!(whole.get(3), Some(Token::Name(word)) if LINTS.contains(word)) {
            self.found.definitions.push(Definition {
                text: self.within.concat() + &written(whole),
                names: Vec::new(),
                mentions: mentions(whole),
                place: self.place,
                acts_anywhere: true,
                is_root: true,
                is_ordered: false,
                is_import: false,
                pastes: BTreeSet::new(),
                is_generic: false,
            });
        }
        true
    }

    /// Reads one definition, and those in it.
    fn item(&mut self, of: Option<&mut Type>) {
        if self.inner_attribute() {
            return;
        }
        let begin = self.at;
        self.is_open = false;
        let end = self.item_end();
        let header = &self.tokens[begin..self.at];
        if let End::Scope = end {
            self.nested(header, of);
            return;
        }
        if let End::Block = end {
            self.skip_group();
            // What is declared beside an enumeration, or ends it.
            let goes_on = has_word(header, "enum")
                && self.language == Language::C
                && !without_attributes(header).contains(&Token::Sign('('));
            while goes_on && !matches!(self.tokens.get(self.at), None | Some(Token::Sign(';' | '}'))) {
                self.at += 1;
            }
        }
        let whole = &self.tokens[begin..self.at];
        self.skip_semicolon();
        if !whole.is_empty() {
            self.define(header, whole, of);
        }
    }

    /// Goes to where the block of an item begins, or to its end.
    fn item_end(&mut self) -> End {
        let begin = self.at;
        let (mut depth, mut is_value) = (0_i32, false);
        while let Some(&token) = self.tokens.get(self.at) {
            let header = &self.tokens[begin..self.at];
            match token {
                Token::Name("template") if self.language == Language::C => {
                    self.at = angles_end(self.tokens, self.at + 1).unwrap_or(self.at + 1);
                    continue;
                }
                Token::Sign('(' | '[') => depth += 1,
                Token::Sign(')' | ']') => depth -= 1,
                Token::Sign('=') if depth == 0 && !is_value => {
                    is_value = match self.language {
                        Language::C => !has_word(header, "operator"),
                        // Elsewhere it says what a type of a trait is: `impl Iterator<Item = u8>`.
                        Language::Rust => {
                            matches!(kind(header), None | Some(("const" | "static" | "type" | "use", _)))
                        }
                    };
                }
                Token::Sign(';' | '}') if depth <= 0 => return End::Plain,
                Token::Sign('{') if depth > 0 || is_value => {
                    self.skip_group();
                    continue;
                }
                Token::Sign('{') => {
                    let is_deep = self.within.len() >= DEEPEST;
                    if is_scope(self.language, header) && !is_deep {
                        return End::Scope;
                    }
                    if self.language == Language::C && is_initialiser(header) {
                        self.skip_group();
                        continue;
                    }
                    return End::Block;
                }
                // Labels of classes (`public:`) belong to what follows; a directive among the words of an item is part of it.
                _ => {}
            }
            self.at += 1;
        }
        End::Plain
    }

    /// Skips a block with all blocks in it. Of the branches that a preprocessor chooses from, the first counts; without another one,
    /// none does.
    fn skip_group(&mut self) {
        let mut depth = 0;
        // The depth at `#if`, and behind the first branch.
        let mut branches: Vec<(i32, Option<i32>)> = Vec::new();
        while let Some(token) = self.tokens.get(self.at) {
            match token {
                Token::Sign('{') => depth += 1,
                Token::Sign('}') => depth -= 1,
                Token::Directive(line) => {
                    let word = line.trim_start_matches('#').trim_start();
                    if word.starts_with("if") {
                        branches.push((depth, None));
                    } else if word.starts_with("el") {
                        if let Some((before, first)) = branches.last_mut() {
                            first.get_or_insert(depth);
                            depth = *before;
                        }
                    } else if word.starts_with("endif")
                        && let Some((before, first)) = branches.pop()
                    {
                        depth = first.unwrap_or(before);
                    }
                }
                _ => {}
            }
            self.at += 1;
            if depth <= 0 && branches.is_empty() {
                return;
            }
        }
        self.is_open = true;
    }

    /// A namespace, class or module, at its brace.
    fn nested(&mut self, header: &[Token<'t>], of: Option<&mut Type>) {
        self.at += 1;
        let keyword = header.iter().find_map(|token| match token {
            Token::Name(word) if is_type_word(token) => Some(*word),
            _ => None,
        });
        let is_module = self.language == Language::Rust && matches!(kind(header), None | Some(("mod", _)));
        let keyword = keyword.filter(|_| !is_module);
        self.within.push(written(header));
        let Some(keyword) = keyword else {
            self.found.spaces.extend(mentions(header));
            self.scope(of);
            self.within.pop();
            self.at = (self.at + 1).min(self.tokens.len());
            return;
        };
        let mut class = Type {
            name: type_name(header, keyword),
            header: written(header),
            layout: vec![written(header)],
            mentions: mentions(header),
            is_of_trait: (keyword == "impl" && has_word(header, "for")) || keyword == "trait",
            // A default method is made for each type that has the trait.
            is_generic: takes_types(header) || keyword == "trait",
        };
        self.scope(Some(&mut class));
        self.within.pop();
        // The text may end without the brace.
        self.at = (self.at + 1).min(self.tokens.len());
        let mut names: Vec<String> = Some(class.name).into_iter().filter(|name| !name.is_empty()).collect();
        if self.language == Language::C {
            // What is declared beside the type, with its values.
            let begin = self.at;
            while !matches!(self.tokens.get(self.at), None | Some(Token::Sign(';' | '}'))) {
                match self.tokens[self.at] {
                    Token::Sign('{') => self.skip_group(),
                    _ => self.at += 1,
                }
            }
            let tail = &self.tokens[begin..self.at];
            names.extend(defined(self.language, tail).0);
            class.layout.push(written(tail));
            class.mentions.extend(mentions(tail));
            self.skip_semicolon();
        }
        // What surrounds a type is made of it.
        if let Some(outer) = of {
            outer.mentions.extend(names.iter().cloned());
            if names.is_empty() {
                outer.mentions.extend(class.mentions.iter().cloned());
                outer.layout.extend(class.layout.iter().cloned());
            }
        }
        let is_root = names.is_empty();
        let acts_anywhere = class.is_of_trait || is_root || are_called_by_libraries(&names);
        if keyword == "impl" && class.is_of_trait {
            // Operators act on any type that stands there.
            names.extend(telling(header));
        }
        self.found.definitions.push(Definition {
            text: self.within.concat() + &class.layout.join(""),
            acts_anywhere,
            names,
            pastes: pastes_of(&class.mentions),
            mentions: class.mentions,
            place: self.place,
            is_root,
            is_ordered: self.language == Language::C,
            is_import: false,
            is_generic: false,
        });
    }

    fn skip_semicolon(&mut self) {
        if let Some(Token::Sign(';')) = self.tokens.get(self.at) {
            self.at += 1;
        }
    }

    fn define(&mut self, header: &[Token<'t>], whole: &[Token<'t>], of: Option<&mut Type>) {
        // A macro is known from here on, wherever it stands.
        for token in whole {
            if let Token::Directive(line) = token {
                self.macro_of(line);
            }
        }
        let (mut names, is_function) = defined(self.language, header);
        let (mut text, mut mentions) = (self.within.concat(), mentions(whole));
        let is_of_generic = of.as_ref().is_some_and(|class| class.is_generic);
        let is_c = self.language == Language::C;
        let is_operator = is_c && has_word(header, "operator");
        let is_of_libraries = are_called_by_libraries(&names);
        let mut is_constructor = false;
        if let Some(class) = of {
            let is_virtual = has_word(header, "virtual") || has_word(header, "override");
            if !is_function || is_virtual || is_operator || is_of_libraries || class.is_of_trait {
                class.layout.push(written(whole));
                class.mentions.extend(mentions.iter().cloned());
            }
            if !is_function && !is_operator {
                return;
            }
            is_constructor = names.contains(&class.name);
            text.push_str(&class.header);
            mentions.insert(class.name.clone());
        }
        let kind = if is_c { None } else { kind(header).map(|(kind, _)| kind) };
        if has_word(header, "enum") || has_word(header, "use") || self.is_open {
            names.extend(mentions.iter().cloned());
        }
        let is_unnamed = names.is_empty() || names == ["_"];
        let calls_a_macro = calls_a_macro(header) && !is_constructor;
        // What acts on any type, or on what has no name.
        let acts_on_all = is_operator
            && header.iter().any(|token| {
                matches!(token, Token::Literal(_) | Token::Name("template" | "new" | "delete" | "co_await"))
            });
        if is_c && (is_operator || is_of_libraries) {
            names.extend(telling(header));
        }
        text.push_str(&written(whole));
        let is_type = header.iter().take_while(|token| **token != Token::Sign('(')).any(is_type_word);
        let is_test = text.contains("cfg ( test )");
        // Which names they bring in is not said.
        let brings_names = match kind {
            Some("use") => header.contains(&Token::Sign('*')) && !is_test,
            Some("mod") => header.first() == Some(&Token::Sign('#')),
            _ => is_c && has_word(header, "using") && has_word(header, "namespace"),
        };
        let acts_anywhere = is_unnamed
            || calls_a_macro
            || is_operator
            || brings_names
            || is_type && is_function && kind != Some("fn")
            || is_of_libraries;
        let is_generic = !is_c && is_function && (is_of_generic || takes_types(header));
        self.found.definitions.push(Definition {
            text,
            names,
            pastes: pastes_of(&mentions),
            mentions,
            place: self.place,
            acts_anywhere,
            is_root: is_unnamed || calls_a_macro || acts_on_all,
            is_ordered: is_c || kind == Some("macro_rules"),
            is_import: kind == Some("use"),
            is_generic,
        });
    }
}

/// Names in a header that say what it acts on; the names of parameters do not.
fn telling(header: &[Token]) -> Vec<String> {
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
fn kind(header: &[Token]) -> Option<(&'static str, usize)> {
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
fn angles_end(tokens: &[Token], begin: usize) -> Option<usize> {
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
fn is_initialiser(header: &[Token]) -> bool {
    if !matches!(header.last(), Some(Token::Name(_) | Token::Sign('>'))) || has_word(header, "enum") {
        return false;
    }
    let header = without_attributes(header);
    let is_colon = |at: usize| header.get(at) == Some(&Token::Sign(':'));
    let Some(close) = header.iter().position(|token| *token == Token::Sign(')')) else { return false };
    (close + 1..header.len()).any(|at| is_colon(at) && !is_colon(at - 1) && !is_colon(at + 1))
}

/// The file that a line includes, as the definitions in it are called.
fn included(line: &str) -> Option<String> {
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
fn pasted(line: &str) -> BTreeSet<String> {
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
fn pastes_of(mentions: &BTreeSet<String>) -> BTreeSet<String> {
    let pastes = mentions.contains("paste") || mentions.contains("concat_idents");
    pastes.then(String::new).into_iter().collect()
}

/// Whether a header of Rust's has parameters that are types: `fn a<T>`, `impl<T>`, or `impl Trait` among the arguments.
fn takes_types(header: &[Token]) -> bool {
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

fn is_type_word(token: &Token) -> bool {
    matches!(token, Token::Name(word) if TYPES.contains(word))
}

fn are_called_by_libraries(names: &[String]) -> bool {
    names.iter().any(|name| CALLED_BY_LIBRARIES.contains(&name.as_str()))
}

/// Whether a header's block holds definitions of their own.
fn is_scope(language: Language, header: &[Token]) -> bool {
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
fn without_attributes<'t>(header: &[Token<'t>]) -> Vec<Token<'t>> {
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
fn defined(language: Language, header: &[Token]) -> (Vec<String>, bool) {
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
fn calls_a_macro(header: &[Token]) -> bool {
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

fn type_name(header: &[Token], keyword: &str) -> String {
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

fn has_word(tokens: &[Token], word: &str) -> bool {
    tokens.contains(&Token::Name(word))
}

fn written(tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens {
        token.push_to(&mut text);
    }
    text
}

fn mentions(tokens: &[Token]) -> BTreeSet<String> {
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
