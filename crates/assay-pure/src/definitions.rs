//! Which definitions of two source trees differ, and which functions may be made from one that does?
//!
//! Method: source text is cut into definitions (functions, types, variables, macros), each with the names that it defines and those
//! that it mentions. Definitions that only one tree has are changed. A function's source is the same if no chain of names leads from
//! it to a changed definition; everything that a compiler may inline into it is on such a chain.
//! Limits: C, C++ and Rust. Text is not preprocessed, and names have no scopes, so more counts as changed than is: also what moved,
//! or stands in another order. What can act without being named (operators, traits, macros that define something, conditions and
//! includes) makes all of it unknown where it changed. Source that a build generates is not seen, nor what a changed caller lets a
//! compiler assume of a function.
//! Checked by: texts below; those of `unlinked`, each of which once was taken for drift; `codegen-drift` in the comparisons of
//! assay's tests.

mod header;
mod items;
mod tokens;
#[cfg(test)]
mod unlinked;

use crate::language::Language;
use items::{Definition, FileDefinitions};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The source files of one tree.
#[derive(Debug, Default)]
pub struct SourceTree {
    files: BTreeMap<String, FileDefinitions>,
    spaces: BTreeSet<String>,
}

impl SourceTree {
    /// Adds a file by its path in the tree, the same in both trees.
    ///
    /// Cost: linear in its length.
    pub fn add(&mut self, path: &str, language: Language, text: &str) {
        let mut file = items::read(language, text);
        if language == Language::C {
            // Who includes it amid a definition is made from all of it.
            for definition in &mut file.definitions {
                definition.names.push(header::file_name(path));
            }
        }
        self.spaces.extend(file.spaces.iter().cloned());
        if language == Language::Rust {
            // Modules are called as their files.
            self.spaces.extend(tokens::names(language, path));
        }
        self.files.insert(path.to_owned(), file);
    }

    /// Adds a crate of the tree, as its manifest calls it.
    pub fn add_crate(&mut self, name: &str) {
        self.spaces.insert(name.replace('-', "_"));
    }
}

/// What differs between two trees.
#[derive(Debug)]
pub struct ChangedDefinitions {
    /// Names of definitions that differ.
    changed: BTreeSet<String>,
    /// Names of definitions that stand in another order.
    moved: BTreeSet<String>,
    /// Something differs that may act anywhere.
    anywhere: bool,
    /// The definitions of either tree.
    definitions: Vec<Definition>,
    /// Those that define a name.
    by_name: BTreeMap<String, Vec<usize>>,
    /// Namespaces, modules and crates of either tree.
    spaces: BTreeSet<String>,
    /// Functions whose symbol does not say with which types they were made.
    generic: BTreeSet<String>,
}

impl ChangedDefinitions {
    /// Compares two trees.
    pub fn between(old: &SourceTree, new: &SourceTree) -> ChangedDefinitions {
        let mut all: BTreeSet<&Definition> = BTreeSet::new();
        let (mut differing, mut moved): (BTreeSet<&Definition>, BTreeSet<String>) = Default::default();
        let mut anywhere = is_shadowed(old, new);
        let none = FileDefinitions::default();
        for path in old.files.keys().chain(new.files.keys()).collect::<BTreeSet<_>>() {
            let files = [old, new].map(|tree| tree.files.get(path));
            let is_other = matches!(files, [Some(old), Some(new)] if old.conditions != new.conditions);
            anywhere |= is_other;
            let files = files.map(|file| &file.unwrap_or(&none).definitions);
            let (only, other_order) = differences(files, !is_other);
            differing.extend(only);
            moved.extend(other_order.into_iter().flat_map(|definition| definition.names.iter().cloned()));
            all.extend(files.into_iter().flatten());
        }
        anywhere |= differing.iter().any(|definition| definition.acts_anywhere);
        let changed = differing.iter().flat_map(|definition| definition.names.iter().cloned()).collect();
        let definitions: Vec<Definition> = all.into_iter().cloned().collect();
        let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (definition, at) in definitions.iter().zip(0..) {
            for name in &definition.names {
                by_name.entry(name.clone()).or_default().push(at);
            }
        }
        let generic = definitions.iter().filter(|definition| definition.is_generic);
        let generic = generic.flat_map(|definition| definition.names.iter().cloned()).collect();
        let spaces = old.spaces.union(&new.spaces).cloned().collect();
        let mut found =
            ChangedDefinitions { changed, moved, anywhere, definitions, by_name, spaces, generic };
        let roots = found.definitions.iter().filter(|definition| definition.is_root);
        let reached =
            found.reaches_a_change(roots.flat_map(|definition| &definition.mentions).map(String::as_str));
        found.anywhere |= reached;
        found
    }

    /// Whether the source of a function, given by its demangled name, is the same in both trees; none where that cannot be told.
    pub fn is_same_source(&self, function: &str) -> Option<bool> {
        let path = path_of(function);
        let (own, around) = path.split_last()?;
        // What is a library's has source that no revision has; those of Rust do not say with which types they were made.
        let is_defined = |name: &String| {
            self.by_name.get(name).is_some_and(|all| all.iter().any(|&at| !self.definitions[at].is_import))
        };
        let is_known = |name: &String| self.spaces.contains(name) || is_defined(name);
        let is_library = around.first().is_some_and(|first| LIBRARIES.contains(&first.as_str()));
        if is_library || !is_defined(own) || self.generic.contains(own) || !around.iter().all(is_known) {
            return None;
        }
        if self.changed.contains(own) {
            return Some(false);
        }
        (!self.may_reach(function)).then_some(true)
    }

    /// Whether a function, given by its demangled name, or one of a library that was made for types of the trees, may be made from
    /// a definition that differs.
    pub fn may_reach(&self, function: &str) -> bool {
        let is_part = |symbol: char| symbol == '_' || symbol.is_alphanumeric();
        let names = function.split(|symbol| !is_part(symbol)).filter(|name| !name.is_empty());
        self.anywhere || function.ends_with('…') || self.reaches_a_change(names)
    }

    /// Whether a chain of names leads from one of these to a definition that differs.
    fn reaches_a_change<'n>(&'n self, names: impl Iterator<Item = &'n str>) -> bool {
        let mut seen: BTreeSet<&str> = names.collect();
        let mut waiting: VecDeque<&str> = seen.iter().copied().collect();
        let mut visited = vec![false; self.definitions.len()];
        while let Some(name) = waiting.pop_front() {
            if self.changed.contains(name) || self.moved.contains(name) {
                return true;
            }
            for &at in self.by_name.get(name).into_iter().flatten() {
                if std::mem::replace(&mut visited[at], true) {
                    continue;
                }
                let definition = &self.definitions[at];
                waiting.extend(
                    definition.mentions.iter().map(String::as_str).filter(|other| seen.insert(other)),
                );
                for part in &definition.pastes {
                    if part.is_empty() && !(self.changed.is_empty() && self.moved.is_empty()) {
                        return true;
                    }
                    let put =
                        self.by_name.keys().filter(|name| name.contains(part.as_str())).map(String::as_str);
                    waiting.extend(put.filter(|other| seen.insert(other)));
                }
            }
        }
        false
    }
}

/// Crates and namespaces that no tree has.
const LIBRARIES: [&str; 3] = ["core", "alloc", "std"];

/// Definitions of a file that only one side has, and those that stand in another order there. Lines for the preprocessor are places
/// where they are the same.
fn differences(files: [&Vec<Definition>; 2], has_places: bool) -> (Vec<&Definition>, Vec<&Definition>) {
    let key = |definition: &Definition| if has_places { definition.place } else { 0 };
    let key = |definition: &'_ Definition| (definition.text.clone(), key(definition));
    let mut counts: BTreeMap<(String, usize), i64> = BTreeMap::new();
    for (file, step) in files.into_iter().zip([-1, 1]) {
        for definition in file {
            *counts.entry(key(definition)).or_default() += step;
        }
    }
    let is_both = |definition: &&Definition| counts.get(&key(definition)) == Some(&0);
    let only = files.into_iter().flatten().filter(|definition| !is_both(definition)).collect();
    // What both have, up to where they begin to differ and from where they agree again.
    let [old, new] = files.map(|file| {
        file.iter().filter(is_both).filter(|definition| definition.is_ordered).collect::<Vec<_>>()
    });
    let is_same = |(old, new): &(&&Definition, &&Definition)| old.text == new.text;
    let begin = old.iter().zip(&new).take_while(is_same).count();
    let (old, new) = (&old[begin..], &new[begin..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(is_same).count();
    (only, old[..old.len() - end].to_vec())
}

/// Whether a file that only one tree has may be taken for another, or is asked for, by lines that both trees have.
fn is_shadowed(old: &SourceTree, new: &SourceTree) -> bool {
    let is_part = |symbol: char| symbol.is_alphanumeric() || "._-+".contains(symbol);
    let both = old.files.iter().filter(|(path, _)| new.files.contains_key(*path));
    let asked: BTreeSet<&str> =
        both.flat_map(|(_, file)| file.conditions.split(|symbol| !is_part(symbol))).collect();
    let only = |one: &'_ SourceTree, other: &SourceTree| {
        let mut paths = one.files.keys().filter(|path| !other.files.contains_key(*path));
        paths.any(|path| asked.contains(path.rsplit('/').next().unwrap_or(path)))
    };
    only(old, new) || only(new, old)
}

/// The names that lead to a function, and its own: `ns`, `Stack`, `push` of `void ns::Stack<int>::push(int)`. What compilers split
/// off is the function's, closures are that of the function that they stand in.
fn path_of(function: &str) -> Vec<String> {
    let (mut plain, mut depth) = (String::new(), 0);
    // The methods of a trait are the type's that has them.
    let function = match function.strip_prefix('<').and_then(|rest| rest.split_once(" as ")) {
        Some((of, rest)) => &format!("{}::{}", of, rest.rsplit("::").next().unwrap_or_default()),
        None => function,
    };
    for symbol in function.split('(').next().unwrap_or_default().chars() {
        match symbol {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ if depth == 0 => plain.push(symbol),
            _ => {}
        }
    }
    // A type that it gives stands ahead, and a clone's number behind.
    let path = plain.split_whitespace().last().unwrap_or_default();
    let path = path.split('.').next().unwrap_or_default();
    let parts = path.split("::").filter(|part| !part.starts_with(['{', '[']));
    parts.flat_map(|part| tokens::names(Language::C, part)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_s_path_is_without_types_and_what_compilers_add() {
        let path = |function: &str| path_of(function).join("/");
        assert_eq!(path("void ns::Stack<int, ns::A>::push(int, ns::B)"), "ns/Stack/push");
        assert_eq!(path("hot.constprop.0"), "hot");
        assert_eq!(path("ns::run(int)::{lambda(int)#1}::operator()(int) const"), "ns/run");
        assert_eq!(path("itoa::plain::{{closure}}"), "itoa/plain");
        assert_eq!(path("<itoa::Buffer as core::fmt::Display>::fmt"), "itoa/Buffer/fmt");
    }

    fn changed(language: Language, old: &str, new: &str) -> ChangedDefinitions {
        let tree = |text: &str| {
            let mut tree = SourceTree::default();
            tree.add("it", language, text);
            tree.add_crate("itoa");
            tree
        };
        ChangedDefinitions::between(&tree(old), &tree(new))
    }

    const C: &str = "
        #define SCALE 3
        static int helper(int x) { return x * SCALE; } // as it is
        struct point { int a, b; };
        static const int table[] = {1, 2, 3};
        __attribute__((noinline)) int hot(const int *data, int n) {
            int sum = 0;
            for (int i = 0; i < n; i++) { sum += helper(data[i]); }
            return sum;
        }
        int cold(struct point *p) { return p->a + table[1]; }
        ";

    fn c(from: &str, to: &str, function: &str) -> Option<bool> {
        assert!(C.contains(from), "{from}");
        changed(Language::C, C, &C.replace(from, to)).is_same_source(function)
    }

    #[test]
    fn a_function_that_nothing_changed_leads_to_has_the_same_source() {
        assert_eq!(c("int cold", "int unused(int x) { return x; } int cold", "hot"), Some(true));
        assert_eq!(c("return p->a", "return 7 + p->a", "hot"), Some(true));
        assert_eq!(c("// as it is", "/* hot { */", "hot"), Some(true), "comments are no source");
        assert_eq!(c("int sum = 0;\n", "int sum\n = 0;", "hot"), Some(true), "nor are blanks");
        assert_eq!(c("int cold", "int cold", "hot"), Some(true));
    }

    #[test]
    fn a_changed_function_or_anything_that_it_is_made_from_is_no_drift() {
        assert_eq!(c("sum = 0", "sum = 1", "hot"), Some(false));
        assert_eq!(c("noinline", "hot", "hot"), Some(false), "its attributes are its source");
        for (from, to) in [("x * SCALE", "x + SCALE"), ("SCALE 3", "SCALE 4")] {
            assert_eq!(c(from, to, "hot"), None, "{from} reaches it");
        }
        for (from, to) in [("{1, 2, 3}", "{1, 2, 4}"), ("int a, b", "int b, a"), ("int a", "long a")] {
            assert_eq!(c(from, to, "cold"), None, "{from} reaches it");
            assert_eq!(c(from, to, "hot"), Some(true), "{from} does not");
        }
    }

    #[test]
    fn what_acts_without_being_named_makes_all_unknown() {
        for (from, to) in [
            ("#define SCALE 3", "#include <math.h>\n#define SCALE 3"),
            ("int cold", "DEFINE_SOMETHING(hot, 3)\nint cold"),
            ("int cold", "point operator+(point a, point b) { return a; } int cold"),
            ("int cold", "int (*through)(int) = helper; int cold"),
        ] {
            assert_eq!(c(from, to, "hot"), None, "{to}");
        }
        assert_eq!(c("int cold", "int cold", "of_a_library"), None, "no source of it is known");
    }

    const CPP: &str = "
        namespace ns {
        template <class T = int>
        class Stack : public Base<T> {
         public:
          explicit Stack(int n) : size_(n), data_{new T[n]} {}
          void push(T value) { data_[size_++] = value; }
          T pop() { return data_[--size_]; }
         private:
          int size_ = 0;
          T *data_;
        };
        template <typename T> T twice(T x) { return x + x; }
        int run(int n) { Stack<int> all(n); all.push(n); return all.pop(); }
        int other(int n) { return twice(n); }
        auto text() { return R\"(a \" { b)\"; }
        }
        ";

    #[test]
    fn members_of_classes_are_definitions_of_their_own() {
        let of = |from: &str, to: &str, function: &str| {
            assert!(CPP.contains(from), "{from}");
            changed(Language::C, CPP, &CPP.replace(from, to)).is_same_source(function)
        };
        assert_eq!(of("[--size_]", "[size_--]", "ns::run(int)"), None);
        assert_eq!(of("[--size_]", "[size_--]", "ns::other(int)"), Some(true));
        assert_eq!(of("[--size_]", "[size_--]", "int ns::twice<int>(int)"), Some(true));
        assert_eq!(of("T *data_", "T * __restrict data_", "ns::run(int)"), None);
        assert_eq!(of("int size_ = 0", "long size_ = 0", "ns::Stack<int>::push(int)"), None);
        assert_eq!(of("x + x", "2 * x", "ns::other(int)"), None);
        assert_eq!(of("x + x", "2 * x", "ns::run(int)"), Some(true));
        assert_eq!(of("a \" { b", "a \" } b", "ns::run(int)"), Some(true));
        assert_eq!(of("a \" { b", "a \" } b", "ns::text()"), Some(false));
        assert_eq!(of("T pop()", "void clear() {} T pop()", "ns::run(int)"), Some(true));
    }

    const RUST: &str = "
        use std::fmt;
        /// Words with 'quotes' and {
        pub struct Buffer<'a> { bytes: &'a mut [u8; 40], at: usize }
        impl<'a> Buffer<'a> {
            #[inline]
            pub fn format(&mut self, value: u64) -> &str { self.write(value, '{') }
            fn write(&mut self, value: u64, _end: char) -> &str { todo!() }
        }
        impl fmt::Display for Buffer<'_> { fn fmt(&self) -> bool { r#\"a \"{\"#.is_empty() } }
        const LUT: [u8; 4] = { let x = [1, 2, 3, 4]; x };
        pub fn plain(n: usize) -> u8 { LUT[n] }
        struct Sum<T> { of: T }
        impl<T: Add> Sum<T> { fn add(&mut self, value: T) { self.of += value; } }
        fn apply(of: impl Fn(u8)) { of(3) }
        ";

    #[test]
    fn rust_is_read_as_well() {
        let of = |from: &str, to: &str, function: &str| {
            assert!(RUST.contains(from), "{from}");
            changed(Language::Rust, RUST, &RUST.replace(from, to)).is_same_source(function)
        };
        let buffer = "itoa::Buffer::format";
        assert_eq!(of("pub fn plain", "fn unused() {} pub fn plain", buffer), Some(true));
        assert_eq!(of("todo!()", "panic!()", buffer), None);
        assert_eq!(of("todo!()", "panic!()", "itoa::plain"), Some(true));
        assert_eq!(of("#[inline]", "", buffer), Some(false));
        assert_eq!(of("[1, 2, 3, 4]", "[1, 2, 3, 5]", "itoa::plain"), None);
        assert_eq!(of("at: usize", "at: u32", buffer), None);
        assert_eq!(of("is_empty", "is_ascii", "itoa::plain"), None, "traits act without being named");
        assert_eq!(of("use std::fmt;", "use core::fmt;", "itoa::plain"), Some(true));
        assert_eq!(of("pub fn plain", "fn unused() {} pub fn plain", "other::plain"), None, "a library's");
        let same = changed(Language::Rust, RUST, RUST);
        assert_eq!(
            same.is_same_source("itoa::Sum::add"),
            None,
            "made for types that its symbol does not name"
        );
        assert_eq!(same.is_same_source("itoa::apply"), None);
        assert_eq!(same.is_same_source("itoa::plain"), Some(true));
    }
}
