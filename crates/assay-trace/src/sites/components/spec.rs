//! Components by name, and the globs for their functions.

use assay_report::sites::names::{NO_SYMBOL, short};
use std::fmt;
use wildmatch::WildMatch;

/// Names that rows have without being components.
const RESERVED: [&str; 3] = ["other", "unattributed", "total"];

/// What is wrong with a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadSpec {
    /// No `NAME=` in front of the globs.
    NoName(String),
    /// A name that stands for code outside all components.
    Reserved(String),
    /// A component without a glob, or with an empty one.
    NoGlob(String),
}

impl fmt::Display for BadSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadSpec::NoName(text) => {
                write!(
                    f,
                    "`{text}` is not a component: write NAME=GLOB[,GLOB...], for example \
                     allocation=malloc,tiny_alloc*"
                )
            }
            BadSpec::Reserved(name) => {
                write!(f, "a component cannot be called `{name}`: that row is for code outside all of them")
            }
            BadSpec::NoGlob(name) => write!(
                f,
                "component `{name}` has an empty glob: name functions, for example {}=malloc,tiny_alloc*",
                if name.is_empty() { "allocation" } else { name }
            ),
        }
    }
}

impl std::error::Error for BadSpec {}

/// A pattern for functions: `NAME` or `FILE:NAME`, in which * stands for any text and ? for one character.
///
/// NAME fits a function's name as its source has it, without its arguments, or without what a compiler appended (`.cold`,
/// `.part.0`). FILE is the name of a mapped file without its folder; only with one does a pattern fit code without a name.
#[derive(Clone, Debug)]
pub struct Glob {
    text: String,
    file: Option<WildMatch>,
    name: WildMatch,
}

impl Glob {
    /// Reads a pattern; `None` for an empty one. The first colon that is no part of `::` ends FILE.
    pub fn new(text: &str) -> Option<Glob> {
        let text = text.trim();
        let (file, name) = match lone_colon(text) {
            Some(at) => (Some(&text[..at]), &text[at + 1..]),
            None => (None, text),
        };
        if name.is_empty() || file == Some("") {
            return None;
        }
        Some(Glob { text: text.to_owned(), file: file.map(WildMatch::new), name: WildMatch::new(name) })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it fits a function of a file; `None` is code without a name.
    pub fn fits(&self, file: &str, function: Option<&str>) -> bool {
        if self.file.as_ref().is_some_and(|wanted| !wanted.matches(file)) {
            return false;
        }
        let Some(function) = function else {
            return self.file.is_some() && self.name.matches(NO_SYMBOL);
        };
        let bare = short(function);
        let stem = bare.split('.').next().unwrap_or(&bare);
        [function, &bare, stem].into_iter().any(|name| self.name.matches(name))
    }
}

/// Where the first colon stands that has no other beside it.
fn lone_colon(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_colon = |at: usize| bytes.get(at) == Some(&b':');
    (0..bytes.len()).find(|&at| is_colon(at) && !is_colon(at + 1) && (at == 0 || !is_colon(at - 1)))
}

/// Functions that are counted together.
#[derive(Clone, Debug)]
pub struct ComponentSpec {
    /// Its name.
    pub name: String,
    /// Which functions.
    pub globs: Vec<Glob>,
}

/// The components of a program, in the order of their precedence.
#[derive(Clone, Debug, Default)]
pub struct ComponentSpecs {
    /// Of two that fit one frame the first has it.
    pub components: Vec<ComponentSpec>,
}

impl ComponentSpecs {
    /// From names and globs.
    ///
    /// # Errors
    /// A name that is empty or taken, a component without a glob, an empty glob.
    pub fn new<N: AsRef<str>, G: AsRef<str>>(
        components: impl IntoIterator<Item = (N, Vec<G>)>,
    ) -> Result<ComponentSpecs, BadSpec> {
        let mut spec = ComponentSpecs::default();
        for (name, globs) in components {
            let name = name.as_ref().trim();
            if name.is_empty() {
                return Err(BadSpec::NoName(String::new()));
            }
            if RESERVED.contains(&name) {
                return Err(BadSpec::Reserved(name.to_owned()));
            }
            let read = globs.iter().map(|glob| Glob::new(glob.as_ref())).collect::<Option<Vec<Glob>>>();
            let read = read.filter(|globs| !globs.is_empty());
            spec.add(name, read.ok_or_else(|| BadSpec::NoGlob(name.to_owned()))?);
        }
        Ok(spec)
    }

    /// From words of a command line, `NAME=GLOB[,GLOB...]` each; one name may be given several times.
    ///
    /// # Errors
    /// As [`ComponentSpecs::new`], and a word without `=`.
    pub fn parse(words: &[String]) -> Result<ComponentSpecs, BadSpec> {
        let mut read = Vec::new();
        for word in words {
            let Some((name, globs)) = word.split_once('=').filter(|(name, _)| !name.trim().is_empty()) else {
                return Err(BadSpec::NoName(word.clone()));
            };
            read.push((name, globs.split(',').collect::<Vec<&str>>()));
        }
        ComponentSpecs::new(read)
    }

    /// Whether no component is named.
    pub fn is_empty(&self) -> bool {
        self.components.is_empty()
    }

    fn add(&mut self, name: &str, globs: Vec<Glob>) {
        match self.components.iter_mut().find(|component| component.name == name) {
            Some(known) => known.globs.extend(globs),
            None => self.components.push(ComponentSpec { name: name.to_owned(), globs }),
        }
    }

    /// The globs that fit a function, each as its component's place and its own; the first one's component has it.
    pub fn fitting(&self, file: &str, function: Option<&str>) -> Vec<(usize, usize)> {
        let mut fitting = Vec::new();
        for (at, component) in self.components.iter().enumerate() {
            let globs = component.globs.iter().enumerate();
            fitting.extend(globs.filter(|(_, glob)| glob.fits(file, function)).map(|(nth, _)| (at, nth)));
        }
        fitting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(words: &[&str]) -> Result<ComponentSpecs, BadSpec> {
        ComponentSpecs::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_glob_fits_names_with_and_without_arguments_and_suffixes() {
        let fits = |glob: &str, name: &str| Glob::new(glob).expect("a glob").fits("a.out", Some(name));
        assert!(fits("malloc", "malloc") && !fits("malloc", "tiny_malloc") && !fits("malloc", "malloc_hook"));
        assert!(fits("tiny_*", "tiny_alloc.part.0") && fits("tiny_alloc", "tiny_alloc.cold"));
        assert!(fits("a::b", "a::b(int, char)") && fits("a::*", "a::b<c>::d()") && !fits("a::b", "a::bc()"));
        assert!(fits("f?", "f1") && !fits("f?", "f12"));
    }

    #[test]
    fn a_file_is_named_before_a_lone_colon_and_only_then_nameless_code_fits() {
        let glob = Glob::new("libc.so.6:*").expect("a glob");
        assert!(glob.fits("libc.so.6", None) && glob.fits("libc.so.6", Some("malloc")));
        assert!(!glob.fits("a.out", Some("malloc")) && !glob.fits("a.out", None));
        assert!(!Glob::new("*").expect("a glob").fits("libc.so.6", None));
        assert!(Glob::new("lib*:a::b").expect("a glob").fits("liba.so", Some("a::b()")));
        assert!(Glob::new("libc.so.6:(no symbol)").expect("a glob").fits("libc.so.6", None));
        assert!(!Glob::new("libc.so.6:m*").expect("a glob").fits("libc.so.6", None));
        assert!(Glob::new("std::*").expect("a glob").fits("x", Some("std::sort")));
    }

    #[test]
    fn the_first_component_that_fits_has_the_function() {
        let spec =
            spec(&["slow=*_slow", "all=tiny_*,huge", "slow=cold*"]).expect("three words, two components");
        let find = |name| spec.fitting("a", Some(name)).first().map(|(component, _)| *component);
        assert_eq!(
            [find("tiny_slow"), find("tiny_fast"), find("huge"), find("cold_x"), find("main")],
            [Some(0), Some(1), Some(1), Some(0), None]
        );
    }

    #[test]
    fn what_is_no_component_is_refused_with_an_example() {
        let no_name = |text: &str| Some(BadSpec::NoName(text.to_owned()));
        assert_eq!(spec(&["malloc"]).err(), no_name("malloc"));
        assert_eq!(spec(&["=malloc"]).err(), no_name("=malloc"));
        assert_eq!(spec(&["other=x"]).err(), Some(BadSpec::Reserved("other".to_owned())));
        for empty in ["a=", "a=x,", "a=x,,y", "a=libc.so.6:", "a=:x"] {
            assert_eq!(spec(&[empty]).err(), Some(BadSpec::NoGlob("a".to_owned())), "{empty}");
        }
        assert!(spec(&["malloc"]).is_err_and(|bad| bad.to_string().contains("allocation=malloc")));
    }
}
