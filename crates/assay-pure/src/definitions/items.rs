//! Tokens cut into definitions.

use super::header::{
    angles_end, are_called_by_libraries, calls_a_macro, defined, has_word, included, is_initialiser,
    is_scope, is_type_word, kind, mentions, pasted, pastes_of, takes_types, telling, type_name,
    without_attributes, written,
};
use super::tokens::{Token, names, tokens};
use crate::language::Language;
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

/// Attributes of a whole file that change no code.
const LINTS: [&str; 6] = ["allow", "warn", "deny", "forbid", "expect", "doc"];
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
                        Language::Rust | Language::Zig => {
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
