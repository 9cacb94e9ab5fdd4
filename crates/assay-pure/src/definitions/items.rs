//! Tokens cut into definitions.

use super::Language;
use super::tokens::{Token, names, tokens};
use std::collections::BTreeSet;

/// One definition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Definition {
    /// All of it, in the class that it belongs to.
    text: String,
    /// What it defines.
    pub names: Vec<String>,
    /// All names in it.
    pub mentions: BTreeSet<String>,
    /// Whether it acts where none of its names is mentioned.
    pub acts_anywhere: bool,
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
    let mut reader = Reader { language, tokens: &tokens, at: 0, found: FileDefinitions::default() };
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

struct Reader<'t> {
    language: Language,
    tokens: &'t [Token<'t>],
    at: usize,
    found: FileDefinitions,
}

/// A class under way: its name, and all that it consists of but its functions, in order.
struct Type {
    name: String,
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
                    self.directive(line);
                }
                _ => self.item(of.as_deref_mut()),
            }
        }
    }

    fn directive(&mut self, line: &str) {
        let words = names(Language::C, line.trim_start_matches('#'));
        match words.split_first() {
            Some((word, rest)) if word == "define" && !rest.is_empty() => {
                self.found.definitions.push(Definition {
                    text: line.split_whitespace().collect::<Vec<_>>().join(" "),
                    names: rest[..1].to_vec(),
                    mentions: rest[1..].iter().cloned().collect(),
                    acts_anywhere: false,
                    is_generic: false,
                })
            }
            _ => {
                self.found.conditions.extend(line.split_whitespace());
                self.found.conditions.push('\n');
            }
        }
    }

    /// Reads one definition, and those in it.
    fn item(&mut self, of: Option<&mut Type>) {
        let begin = self.at;
        let end = self.item_end();
        let header = &self.tokens[begin..self.at];
        if let End::Scope = end {
            self.nested(header, of);
            return;
        }
        if let End::Block = end {
            self.skip_group();
            // What is declared beside an enumeration, or ends it.
            let goes_on = has_word(header, "enum") && self.language == Language::C;
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
        if self.tokens.get(self.at) == Some(&Token::Name("template")) {
            self.at += 1;
            self.skip_angles();
        }
        while let Some(&token) = self.tokens.get(self.at) {
            match token {
                Token::Sign('(' | '[') => depth += 1,
                Token::Sign(')' | ']') => depth -= 1,
                Token::Sign('=') if depth == 0 && !has_word(&self.tokens[begin..self.at], "operator") => {
                    is_value = true;
                }
                Token::Sign(';' | '}') if depth <= 0 => return End::Plain,
                Token::Sign('{') if depth > 0 || is_value => {
                    self.skip_group();
                    continue;
                }
                Token::Sign('{') => {
                    let header = &self.tokens[begin..self.at];
                    return if is_scope(header) { End::Scope } else { End::Block };
                }
                // Labels of classes (`public:`) belong to what follows; a directive among the words of an item is part of it.
                _ => {}
            }
            self.at += 1;
        }
        End::Plain
    }

    fn skip_angles(&mut self) {
        let mut depth = 0;
        while let Some(token) = self.tokens.get(self.at) {
            match token {
                Token::Sign('<') => depth += 1,
                Token::Sign('>') => depth -= 1,
                Token::Sign('{' | '}' | ';') => return,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    /// Skips a block with all blocks in it.
    fn skip_group(&mut self) {
        let mut depth = 0;
        while let Some(token) = self.tokens.get(self.at) {
            match token {
                Token::Sign('{') => depth += 1,
                Token::Sign('}') => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    /// A namespace, class or module, at its brace.
    fn nested(&mut self, header: &[Token<'t>], of: Option<&mut Type>) {
        self.at += 1;
        let keyword = header.iter().find_map(|token| match token {
            Token::Name(word) if is_type_word(token) => Some(*word),
            _ => None,
        });
        let Some(keyword) = keyword else {
            self.found.spaces.extend(mentions(header));
            self.scope(of);
            self.at += 1;
            return;
        };
        let mut class = Type {
            name: type_name(header, keyword),
            layout: vec![written(header)],
            mentions: mentions(header),
            is_of_trait: (keyword == "impl" && has_word(header, "for")) || keyword == "trait",
            is_generic: takes_types(header),
        };
        self.scope(Some(&mut class));
        self.at += 1;
        let mut names: Vec<String> = Some(class.name).into_iter().filter(|name| !name.is_empty()).collect();
        if self.language == Language::C {
            let begin = self.at;
            while !matches!(self.tokens.get(self.at), None | Some(Token::Sign(';' | '}'))) {
                self.at += 1;
            }
            names.extend(mentions(&self.tokens[begin..self.at]));
            self.skip_semicolon();
        }
        // What surrounds a type is made of it.
        if let Some(outer) = of {
            outer.mentions.extend(names.iter().cloned());
        }
        self.found.definitions.push(Definition {
            text: class.layout.join(""),
            acts_anywhere: class.is_of_trait || names.is_empty() || are_called_by_libraries(&names),
            names,
            mentions: class.mentions,
            is_generic: false,
        });
    }

    fn skip_semicolon(&mut self) {
        if let Some(Token::Sign(';')) = self.tokens.get(self.at) {
            self.at += 1;
        }
    }

    fn define(&mut self, header: &[Token<'t>], whole: &[Token<'t>], of: Option<&mut Type>) {
        let (mut names, is_function) = defined(self.language, header);
        let (mut text, mut mentions) = (String::new(), mentions(whole));
        let is_of_generic = of.as_ref().is_some_and(|class| class.is_generic);
        if let Some(class) = of {
            let is_virtual = has_word(header, "virtual") || has_word(header, "override");
            if !is_function || is_virtual || class.is_of_trait {
                class.layout.push(written(whole));
                class.mentions.extend(mentions.iter().cloned());
            }
            if !is_function {
                return;
            }
            text.clone_from(&class.name);
            mentions.insert(class.name.clone());
        }
        if has_word(header, "enum") || has_word(header, "use") {
            names.extend(mentions.iter().cloned());
        }
        text.push_str(&written(whole));
        let is_type = header.iter().take_while(|token| **token != Token::Sign('(')).any(is_type_word);
        let is_unclear = names.is_empty()
            || calls_a_macro(header)
            || has_word(header, "operator")
            || is_type && is_function && !has_word(header, "fn")
            || are_called_by_libraries(&names);
        let is_generic =
            self.language == Language::Rust && is_function && (is_of_generic || takes_types(header));
        self.found.definitions.push(Definition {
            text,
            names,
            mentions,
            acts_anywhere: is_unclear,
            is_generic,
        });
    }
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
fn is_scope(header: &[Token]) -> bool {
    let header = without_attributes(header);
    let calls = header.contains(&Token::Sign('('));
    let is_type = header.iter().any(is_type_word) && !has_word(&header, "enum");
    let is_space = header.iter().any(|token| matches!(token, Token::Name("namespace" | "mod")));
    let is_linkage = matches!(header.as_slice(), [Token::Name("extern"), Token::Literal(_)]);
    !calls && (is_type || is_space || is_linkage)
}

/// A header without what stands in brackets and behind the names of attributes.
fn without_attributes<'t>(header: &[Token<'t>]) -> Vec<Token<'t>> {
    let mut kept: Vec<Token<'t>> = Vec::new();
    let mut at = 0;
    while let Some(&token) = header.get(at) {
        let is_attribute = matches!(token, Token::Name(name) if ATTRIBUTES.contains(&name));
        let is_call = is_attribute && header.get(at + 1) == Some(&Token::Sign('('));
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
        } else {
            kept.push(token);
            at += 1;
        }
    }
    kept
}

/// What a header defines, and whether that is a function.
fn defined(language: Language, header: &[Token]) -> (Vec<String>, bool) {
    let header = without_attributes(header);
    if language == Language::Rust {
        return rust(&header);
    }
    let end = header.iter().position(|token| *token == Token::Sign('=')).unwrap_or(header.len());
    let (mut names, mut declared) = (Vec::new(), Vec::new());
    let (mut depth, mut last) = (0, None);
    for token in &header[..end] {
        match token {
            Token::Sign('(') => {
                names.extend(last.take().filter(|_| depth == 0));
                depth += 1;
            }
            Token::Sign(')') => depth -= 1,
            Token::Sign(',') if depth == 0 => declared.extend(last.take()),
            Token::Name(name) => last = Some((*name).to_owned()),
            _ => {}
        }
    }
    declared.extend(last);
    let is_function = header[..end].contains(&Token::Sign('('));
    (if is_function { names } else { declared }, is_function)
}

/// The same in Rust, which says what it is.
fn rust(header: &[Token]) -> (Vec<String>, bool) {
    if let [Token::Name("macro_rules"), Token::Sign('!'), Token::Name(name), ..] = header {
        return (vec![(*name).to_owned()], false);
    }
    let words: Vec<&str> = header
        .iter()
        .filter_map(|token| match token {
            Token::Name(name) if *name != "mut" => Some(*name),
            _ => None,
        })
        .collect();
    let is_function = words.contains(&"fn");
    let keywords: &[&str] = if is_function { &["fn"] } else { &["const", "static", "type", "struct", "mod"] };
    let behind = words.iter().skip_while(|word| !keywords.contains(word)).nth(1);
    (behind.map(|name| (*name).to_owned()).into_iter().collect(), is_function)
}

/// Whether an item is the call of a macro, which may define anything.
fn calls_a_macro(header: &[Token]) -> bool {
    let header = without_attributes(header);
    match header.as_slice() {
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
            Token::Directive(line) => found.extend(names(Language::C, line)),
            _ => {}
        }
    }
    found
}
