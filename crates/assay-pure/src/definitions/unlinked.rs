//! Changes that reach a function on ways that its text does not show: none of them is drift.

use super::{ChangedDefinitions, SourceTree};
use crate::language::Language::{self, C, Rust};

/// A tree of a file, or of several behind lines `//// name`.
fn tree(language: Language, text: &str) -> SourceTree {
    let mut tree = SourceTree::default();
    tree.add_crate("it");
    let mut parts = text.split("//// ");
    let first = parts.next().unwrap_or_default();
    if !first.trim().is_empty() {
        tree.add(if language == C { "it.h" } else { "src/lib.rs" }, language, first);
    }
    for part in parts {
        let (name, text) = part.split_once('\n').unwrap_or((part, ""));
        tree.add(name.trim(), language, text);
    }
    tree
}

/// What is said of a function where `«old»new»` stands for what differs.
fn said(language: Language, text: &str, function: &str) -> Option<bool> {
    let (mut old, mut new) = (String::new(), String::new());
    for (at, part) in text.split('«').enumerate() {
        let mut sides = part.split('»');
        let first = sides.next().unwrap_or_default();
        if at == 0 {
            old.push_str(first);
            new.push_str(first);
            continue;
        }
        let (other, rest) = (sides.next().unwrap_or_default(), sides.next().unwrap_or_default());
        old.push_str(first);
        old.push_str(rest);
        new.push_str(other);
        new.push_str(rest);
    }
    let changed = ChangedDefinitions::between(&tree(language, &old), &tree(language, &new));
    changed.is_same_source(function)
}

/// Every case: what it is, its text, the function.
fn none_is_the_same(language: Language, cases: &[(&str, &str, &str)]) {
    let wrong: Vec<&str> = cases
        .iter()
        .filter(|(_, text, function)| said(language, text, function) == Some(true))
        .map(|(what, ..)| *what)
        .collect();
    assert!(wrong.is_empty(), "the same source in spite of: {wrong:#?}");
}

#[test]
fn c_and_cpp_have_many_ways_to_reach_a_function() {
    none_is_the_same(
        C,
        &[
            (
                "default template argument",
                "template <class T = int> T twice(T x) { return «x + x»2 * x»; } int hot(int n) { return twice(n); }",
                "hot(int)",
            ),
            (
                "enable_if",
                "template <class T, enable_if_t<is_x<T>, int> = 0> T twice(T x) { return «x + x»2 * x»; } int hot(int n) { return twice(n); }",
                "hot(int)",
            ),
            (
                "macro before template",
                "EXPORT template <class T = int> T twice(T x) { return «x + x»2 * x»; } long o(long n) { return 3; } int hot(int n) { return twice(n); }",
                "hot(int)",
            ),
            (
                "second declarator",
                "static const int a = 1, b = «2»3»; int hot(int n) { return n * b; }",
                "hot",
            ),
            (
                "table of an unnamed struct",
                "static const struct { const char *name; int v; } table[] = { {\"a\", «1»2»}, {\"b\", 2} }; int hot(int n) { return table[n].v; }",
                "hot",
            ),
            (
                "value beside a struct",
                "static struct s { int v; } one = { «1»2» }; int hot(int n) { return one.v; }",
                "hot",
            ),
            (
                "function mentioned beside a struct",
                "int f(void) { return «1»2»; } static const struct s { int (*v)(void); } one[] = { { g }, { f } }; int hot(int n) { return one[1].v(); }",
                "hot",
            ),
            (
                "function pointer as a field",
                "struct ops { «»void (*first)(void *);» int b; }; int hot(struct ops *o) { return o->b; }",
                "hot",
            ),
            (
                "std::function as a field",
                "struct ops { «»std::function<void()> cb;» int b; }; int hot(ops *o) { return o->b; }",
                "hot(ops*)",
            ),
            (
                "std::function as a variable",
                "std::function<void()> cb = «f»g»; int hot(int n) { cb(); return n; }",
                "hot(int)",
            ),
            (
                "what an operator calls",
                "struct P { int a; }; int helper(int a) { return a «*»+» 3; } P operator+(P a, P b) { return P{helper(a.a)}; } int hot(P a, P b) { return (a + b).a; }",
                "hot(P, P)",
            ),
            (
                "what an operator of a class calls",
                "int helper(int a) { return a «*»+» 3; } struct P { int a; P operator+(P b) { return P{helper(a)}; } }; int hot(P a, P b) { return (a + b).a; }",
                "hot(P, P)",
            ),
            (
                "what a conversion calls",
                "int helper(int a) { return a «*»+» 3; } struct P { int a; operator long() const { return helper(a); } }; int hot(P a) { return 1 + a; }",
                "hot(P)",
            ),
            (
                "what a conversion outside of its class calls",
                "int helper(int a) { return a «*»+» 3; } struct P { int a; operator long() const; }; P::operator long() const { return helper(a); } int hot(P a) { return 1 + a; }",
                "hot(P)",
            ),
            (
                "what a literal calls",
                "int helper(int a) { return a «*»+» 3; } constexpr long operator\"\"_km(unsigned long long a) { return helper(a); } int hot(int a) { return a + 3_km; }",
                "hot(int)",
            ),
            (
                "what new calls",
                "void *helper(size_t a) { return a «*»+» 3; } void *operator new(size_t a) { return helper(a); } int hot(int a) { return *new int(a); }",
                "hot(int)",
            ),
            (
                "what begin calls",
                "int *helper(int *a) { return a «+»-» 1; } struct L { int *a; int *begin() { return helper(a); } int *end() { return a; } }; int hot(L l) { int s = 0; for (auto x : l) s += x; return s; }",
                "hot(L)",
            ),
            (
                "what a constructor with braces calls",
                "void init(int &a) { a = «1»2»; } struct P { int a; P(); }; P::P() : a{2} { init(a); } int hot(int n) { P p; return p.a; }",
                "hot(int)",
            ),
            (
                "K&R",
                "int helper(int a) { return a «*»+» 3; } int hot(a, b) int a; int b; { return helper(a) + b; }",
                "hot",
            ),
            (
                "macro defines a function",
                "#define DEFINE(n) int n(void) { return «3»4»; }\nDEFINE(three)\nint hot(int n) { return n * three(); }",
                "hot",
            ),
            (
                "macro defines a function of another name",
                "#define DEFINE(n) int get_##n(void) { return «3»4»; }\nDEFINE(three)\nint hot(int n) { return n * get_three(); }",
                "hot",
            ),
            (
                "what a defined function calls",
                "int helper(int a) { return a «*»+» 3; }\n#define DEFINE(n) int get_##n(void) { return helper(1); }\nDEFINE(three)\nint hot(int n) { return n * get_three(); }",
                "hot",
            ),
            (
                "pasted name",
                "#define CALL(n, x) impl_##n(x)\nint impl_fast(int x) { return x «*»+» 3; }\nint hot(int n) { return CALL(fast, n); }",
                "hot",
            ),
            (
                "what a pasted name calls",
                "#define CALL(n, x) n ## _impl(x)\nint helper(int x) { return x «*»+» 3; } int fast_impl(int x) { return helper(x); }\nint hot(int n) { return CALL(fast, n); }",
                "hot",
            ),
            ("static macro", "static TABLE(lut, «3»4»);\nint hot(int n) { return lut[n]; }", "hot"),
            (
                "macro in a function",
                "int f(void) {\n#define N «3»4»\nreturn N; }\nint hot(int n) { return n * N; }",
                "hot",
            ),
            (
                "branches of macros",
                "#if A\n#define N «3»4»\n#else\n#define N «4»3»\n#endif\nint hot(int n) { return n * N; }",
                "hot",
            ),
            (
                "branches of functions",
                "#if A\nint f(int n) { return «3»4»; }\n#else\nint f(int n) { return «4»3»; }\n#endif\nint hot(int n) { return f(n); }",
                "hot",
            ),
            (
                "beyond a pragma",
                "struct P { char a; int b; };\n#pragma pack(1)\n«»struct Q { char a; int b; };»\nint x;\n#pragma pack()\n«struct Q { char a; int b; };»»\nint hot(struct Q *q) { return q->b; }",
                "hot",
            ),
            (
                "order of overloads",
                "int f(long a) { return 1; }\n«»int f(int a) { return 2; }»int hot(int n) { return f(n); }\n«int f(int a) { return 2; }»»",
                "hot(int)",
            ),
            (
                "order of macros",
                "#define N «3»4»\nint hot(int n) { return n * N; }\n#define N «4»3»\nint o(int n) { return N; }",
                "hot",
            ),
            (
                "statics of two files",
                "//// a.c\nstatic int f(int n) { return «3»4»; }\nint hot(int n) { return f(n); }\n//// b.c\nstatic int f(int n) { return «4»3»; }\n",
                "hot",
            ),
            (
                "namespaces",
                "namespace «a»b» { int f(int n) { return 3; } } namespace «b»a» { int f(int n) { return 4; } } int hot(int n) { return a::f(n); }",
                "hot(int)",
            ),
            (
                "inline namespace",
                "namespace v { «inline»» namespace a { int f(int n) { return 3; } } «»inline» namespace b { int f(int n) { return 4; } } } int hot(int n) { return v::f(n); }",
                "hot(int)",
            ),
            (
                "using namespace",
                "namespace a { int f(int n) { return 3; } } namespace b { int f(int n) { return 4; } } using namespace «a»b»; int hot(int n) { return f(n); }",
                "hot(int)",
            ),
            (
                "function of an enumeration ahead",
                "int helper(int a) { return a «*»+» 3; } enum e f(int x) { return x; } int hot(int y) { int a = 1; y += a; return helper(y); }",
                "hot",
            ),
            (
                "braces in both branches",
                "#ifdef A\nint f(int x) {\n#else\nint f(long x) {\n#endif\nreturn 3; }\nint helper(int x) { return x «*»+» 3; }\n//// b.c\nint hot(int x) { return helper(x); }",
                "hot",
            ),
            (
                "a brace that is not closed",
                "int f(int x) {\n#ifdef A\n  if (x) {\n#endif\n return 3; }\nint helper(int x) { return x «*»+» 3; }\n//// b.c\nint hot(int x) { return helper(x); }",
                "hot",
            ),
            (
                "one digit separator",
                "int f(int x) { return 100'000; } int helper(int x) { return x «*»+» 3; } char c = 'x';\n//// b.c\nint hot(int x) { return helper(x); }",
                "hot",
            ),
            (
                "an apostrophe that is not compiled",
                "#if 0\nI don't\n#endif\nint helper(int x) { return x «*»+» 3; } char c = 'x';\n//// b.c\nint hot(int x) { return helper(x); }",
                "hot",
            ),
            (
                "a comment's begin in a text of a directive",
                "#define ALL \"a/*\"\nint helper(int x) { return x «*»+» 3; } /* x */\n//// b.c\nint hot(int x) { return helper(x); }",
                "hot",
            ),
            (
                "a comment's begin in a comment of a directive",
                "#define ALL 3 // a/*\nint helper(int x) { return x «*»+» 3; } /* x */\n//// b.c\nint hot(int x) { return helper(x); }",
                "hot",
            ),
            (
                "a blank behind a backslash",
                "#define F(x) \\ \n x «*»+» 3\nint hot(int x) { return F(x); }",
                "hot",
            ),
            (
                "byte order mark",
                "\u{feff}#define N «3»4»\nint other(int x) { return 3; }\nint hot(int x) { return x * N; }",
                "hot",
            ),
            (
                "include in a function",
                "//// body.inc\nreturn helper(x);\n//// a.c\nint helper(int x) { return x «*»+» 3; } int hot(int x) {\n#include \"body.inc\"\n}",
                "hot",
            ),
            (
                "include in a struct",
                "//// members.inc\n«»long z;»int a;\n//// a.c\nstruct P {\n#include \"members.inc\"\nint b; }; int hot(struct P *p) { return p->b; }",
                "hot",
            ),
            (
                "header added ahead of another of its name",
                "//// a/config.h\n#define N 3\n//// a.c\n#include \"config.h\"\nint hot(int x) { return x; }\n«»//// b/config.h\n#pragma GCC optimize(\"O0\")\n»",
                "hot",
            ),
            (
                "header added that is asked for",
                "//// a.c\n#if __has_include(\"local.h\")\n#include \"local.h\"\n#endif\nint hot(int x) { return x; }\n«»//// local.h\n#pragma GCC optimize(\"O0\")\n»",
                "hot",
            ),
            (
                "what an unnamed union consists of",
                "struct Y { «int»long» a; }; struct X { union { struct Y y; char c; }; int b; }; int hot(struct X *x) { return x->b; }",
                "hot",
            ),
            (
                "alias",
                "int helper(int x) { return x «*»+» 3; } int other(int x) __attribute__((alias(\"helper\"))); int hot(int x) { return other(x); }",
                "hot",
            ),
            (
                "class behind a macro with arguments",
                "int helper(int x) { return x «*»+» 3; } class API(x) P { public: int run(int x) { return helper(x); } }; int hot(P *p, int x) { return p->run(x); }",
                "hot(P*, int)",
            ),
            (
                "class of a base with parentheses",
                "int helper(int x) { return x «*»+» 3; } class P : public V<void(int)> { public: int run(int x) { return helper(x); } }; int hot(P *p, int x) { return p->run(x); }",
                "hot(P*, int)",
            ),
            (
                "default argument of a second function",
                "int f(int a = 1), g(int b = «2»3»); int hot(int n) { return g(); }",
                "hot(int)",
            ),
            (
                "a name that was cut short",
                "struct P { «int»long» a; }; template <class T> int hot(T x) { return 3; }",
                "int hot<std::vector<…",
            ),
            (
                "typedef chain",
                "typedef «int»long» a_t; typedef a_t b_t; struct P { b_t b; int c; }; int hot(struct P *p) { return p->c; }",
                "hot",
            ),
            (
                "macro argument",
                "struct P { «int»long» a; }; int DECLARE(lut) = «3»4»; int hot(int p) { return lut; }",
                "hot",
            ),
            (
                "requires",
                "template <class T> requires requires(T t) { t.x(); } T f(T t) { return «3»4»; } int hot(int p) { return f(p); }",
                "hot(int)",
            ),
            (
                "try block",
                "int helper(int x) { return x «*»+» 3; } int hot(int x) try { return x; } catch (...) { return helper(x); }",
                "hot(int)",
            ),
            (
                "virtual",
                "int helper(int x) { return x «*»+» 3; } struct B { virtual int step(int x) { return x; } int drive(int x) { return step(x); } }; struct D final : B { int step(int x) override { return helper(x); } }; int hot(D *d) { return d->drive(3); }",
                "hot(D*)",
            ),
            (
                "CRTP",
                "int helper(int x) { return x «*»+» 3; } template <class D> struct B { int drive(int x) { return static_cast<D *>(this)->step(x); } }; struct D : B<D> { int step(int x) { return helper(x); } }; int hot(D *d) { return d->drive(3); }",
                "hot(D*)",
            ),
            (
                "destructor of a member",
                "int helper(int x) { return x «*»+» 3; } struct M { ~M(); }; M::~M() { helper(3); } struct P { M m; }; P make(int); int hot(int x) { auto p = make(x); return x; }",
                "hot(int)",
            ),
            (
                "bit field",
                "struct P { unsigned a : «3»4», b : 4; }; int hot(struct P *p) { return p->b; }",
                "hot",
            ),
            (
                "array of function pointers",
                "int a(int x) { return x «*»+» 3; } int (*const table[2])(int) = {b, a}; int hot(int x) { return table[1](x); }",
                "hot",
            ),
            ("enumerator", "enum { A, «»C,» B }; int hot(int x) { return x * B; }", "hot"),
            (
                "typed enumeration",
                "enum class E : int { A, «»C,» B }; int hot(int x) { return x * (int)E::B; }",
                "hot(int)",
            ),
        ],
    );
}

#[test]
fn rust_has_many_ways_to_reach_a_function() {
    none_is_the_same(
        Rust,
        &[
            (
                "behind an item type",
                "pub fn iter(n: u8) -> impl Iterator<Item = u8> { 0..n } fn helper(n: u8) -> u8 { n «*»+» 3 } const X: u8 = 3; //// src/b.rs\npub fn hot(n: u8) -> u8 { helper(n) }",
                "it::b::hot",
            ),
            (
                "behind a where with an item type",
                "struct P; impl P { fn iter(n: Box<dyn Iterator<Item = u8>>) where X: Y<Z = u8> { } fn helper(n: u8) -> u8 { n «*»+» 3 } } pub fn hot(n: u8) -> u8 { helper(n) }",
                "it::hot",
            ),
            (
                "struct with fn pointer",
                "pub struct A(fn(u16), «u32»u64», u8); pub fn hot(a: &A) -> u8 { a.2 }",
                "it::hot",
            ),
            (
                "table of fn pointers",
                "static T: [fn(u16) -> u8; 1] = [«f»g»]; pub fn hot(n: u8) -> u8 { T[0](3) }",
                "it::hot",
            ),
            (
                "alias of fn pointers",
                "type F = «fn(u16)»Box<dyn Fn(u16)>»; pub struct P { f: F, a: u8 } pub fn hot(p: &P) -> u8 { p.a }",
                "it::hot",
            ),
            (
                "constant with a function in it",
                "const N: u8 = { const fn f(i: u8) -> u8 { «i»3» } f(4) }; pub fn hot(n: u8) -> u8 { n * N }",
                "it::hot",
            ),
            (
                "exported macro",
                "#[macro_export] macro_rules! m { ($x:expr) => { helper($x) } } fn helper(n: u8) -> u8 { n «*»+» 3 } pub fn hot(n: u8) -> u8 { m!(n) }",
                "it::hot",
            ),
            (
                "trait for a crate",
                "fn helper(n: u8) -> u8 { n «*»+» 3 } pub(crate) trait Run { fn run(&self) -> u8 { helper(3) } } pub fn hot(n: u16) -> u8 { n.run() }",
                "it::hot",
            ),
            (
                "impl with parentheses",
                "fn helper(n: u8) -> u8 { n «*»+» 3 } impl Run for (A, B) { fn run(&self) -> u8 { helper(3) } } pub fn hot(n: u16) -> u8 { n.run() }",
                "it::hot",
            ),
            (
                "module for a crate",
                "pub(crate) mod imp { pub fn f(n: u8) -> u8 { n «*»+» 3 } } use imp::*; pub fn hot(n: u8) -> u8 { f(n) }",
                "it::hot",
            ),
            (
                "macro that makes methods",
                "fn helper(n: u8) -> u8 { n «*»+» 3 } trait Write { fn write(self) -> u8; } macro_rules! all { ($($t:ident)*) => { $(impl Write for $t { fn write(self) -> u8 { helper(3) } })* } } all!(u8 u16); pub fn hot(n: u16) -> u8 { n.write() }",
                "it::hot",
            ),
            (
                "operator on a foreign type",
                "fn helper(n: u8) -> u8 { n «*»+» 3 } pub struct P(u8); impl Add<P> for i32 { fn add(self, p: P) -> u8 { helper(p.0) } } pub fn hot(p: P) -> u8 { 3 + p }",
                "it::hot",
            ),
            (
                "what drop calls",
                "fn helper(n: u8) -> u8 { n «*»+» 3 } pub struct P(u8); impl Drop for P { fn drop(&mut self) { helper(self.0); } } fn make() -> P { P(3) } pub fn hot(n: u8) -> u8 { let p = make(); n }",
                "it::hot",
            ),
            (
                "name in a format",
                "const N: u8 = «3»4»; pub fn hot(s: &mut String) { write!(s, \"{N:02}\"); }",
                "it::hot",
            ),
            (
                "function in an attribute",
                "#[derive(Deserialize)] pub struct P { #[serde(default = \"fall::back\")] a: u8 } fn back() -> u8 { «3»4» } pub fn hot(s: &str) -> P { from_str(s) }",
                "it::hot",
            ),
            (
                "conditions of modules",
                "#[cfg(«a»b»)] mod imp { pub fn f() -> u8 { 3 } } #[cfg(«b»a»)] mod imp { pub fn f() -> u8 { 4 } } use imp::*; pub fn hot() -> u8 { f() }",
                "it::hot",
            ),
            (
                "conditions of impls",
                "pub struct P; #[cfg(«a»b»)] impl P { fn f() -> u8 { 3 } } #[cfg(«b»a»)] impl P { fn f() -> u8 { 4 } } pub fn hot() -> u8 { P::f() }",
                "it::hot",
            ),
            (
                "condition of a module's file",
                "#[cfg(a)] #[path = \"«b»c».rs\"] mod imp; use imp::*; pub fn hot() -> u8 { f() }\n//// src/b.rs\npub fn f() -> u8 { 3 }\n//// src/c.rs\npub fn f() -> u8 { 4 }",
                "it::hot",
            ),
            (
                "glob",
                "mod a { pub fn f() -> u8 { 3 } } mod b { pub fn f() -> u8 { 4 } } use «a»b»::*; pub fn hot() -> u8 { f() }",
                "it::hot",
            ),
            (
                "attribute of the crate",
                "«»#![no_builtins]» use std::fmt; pub fn hot() -> u8 { f() }",
                "it::hot",
            ),
            ("attribute of a file", "#![cfg(«a»b»)] use std::fmt; pub fn hot() -> u8 { f() }", "it::hot"),
            (
                "files of one name",
                "use a::f; pub fn hot() -> u8 { f() }\n//// src/a.rs\npub fn f() -> u8 { «3»4» }\n//// src/b.rs\npub fn f() -> u8 { «4»3» }",
                "it::hot",
            ),
            (
                "default method made for a type",
                "fn helper(n: u8) -> u8 { n «*»+» 3 } trait Twice: Add { fn twice(self) -> u8 { self + self } } impl Twice for P {} pub struct P(u8); impl Add for P { fn add(self, p: P) -> u8 { helper(p.0) } }",
                "it::Twice::twice",
            ),
            (
                "a library's function of a type",
                "use alloc::vec::Vec; pub struct P(«u8»u16»); struct Q; impl Drop for Q { fn drop(&mut self) {} } fn push() {}",
                "alloc::vec::Vec<T>::push",
            ),
            (
                "a library's method of a type",
                "pub struct P(«u8»u16»); struct Q; impl Drop for Q { fn drop(&mut self) {} }",
                "<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop",
            ),
            (
                "unnamed constant",
                "const _: () = { impl Deref for P { fn deref(&self) -> &u8 { «&self.0»&self.1» } } }; pub struct P(u8, u8); pub fn hot(p: &P) -> u8 { **p }",
                "it::hot",
            ),
            (
                "what an unnamed constant calls",
                "fn helper(n: u8) -> u8 { n «*»+» 3 } const _: () = { impl Deref for P { fn deref(&self) -> &u8 { helper(3) } } }; pub struct P(u8, u8); pub fn hot(p: &P) -> u8 { **p }",
                "it::hot",
            ),
            (
                "pasted name",
                "macro_rules! call { ($n:ident) => { paste! { [<impl_ $n>]() } } } fn impl_fast() -> u8 { «3»4» } pub fn hot() -> u8 { call!(fast) }",
                "it::hot",
            ),
            (
                "order of macros",
                "macro_rules! m { () => { «3»4» } } pub fn hot() -> u8 { m!() } macro_rules! m { () => { «4»3» } }",
                "it::hot",
            ),
            (
                "question mark",
                "fn helper(n: u8) -> u8 { n «*»+» 3 } pub struct A; pub struct B; impl From<A> for B { fn from(a: A) -> B { helper(3); B } } fn f() -> Result<u8, A> { Ok(3) } type R = Result<u8, B>; pub fn hot() -> R { Ok(f()?) }",
                "it::hot",
            ),
            (
                "renamed",
                "pub mod a { pub fn b() -> u8 { «3»4» } } use a::b as c; pub fn hot() -> u8 { c() }",
                "it::hot",
            ),
            (
                "derive",
                "#[derive(Clone, «»Copy»)] pub struct P(u8); pub fn hot(p: &P) -> u8 { p.0 }",
                "it::hot",
            ),
            (
                "enum",
                "pub enum E { A, «»C,» B } fn f() -> E { E::B } pub fn hot() -> bool { f().is_b() }",
                "it::hot",
            ),
        ],
    );
}

#[test]
fn what_still_leads_nowhere_has_the_same_source() {
    for (what, language, text, function) in [
        (
            "a new file with includes",
            C,
            "//// a.c\n#include \"a.h\"\nint hot(int x) { return x; }\n«»//// b.c\n#include \"b.h\"\nint f(void) { return 3; }\n//// b.h\nint f(void);\n»",
            "hot",
        ),
        (
            "a new declared method",
            C,
            "struct P { int a; «»int more(int x);» int run() { return a; } }; int hot(P *p) { return p->run(); }",
            "hot(P*)",
        ),
        (
            "an operator on others",
            C,
            "int helper(int a) { return a «*»+» 3; } struct P {}; struct Q { int b; }; P operator+(P a, P b) { return helper(3); } int hot(Q q) { return q.b; }",
            "hot(Q)",
        ),
        (
            "what a trait of another type calls",
            Rust,
            "fn helper(n: u8) -> u8 { n «*»+» 3 } struct P; impl Drop for P { fn drop(&mut self) { helper(3); } } pub fn hot(n: u8) -> u8 { n }",
            "it::hot",
        ),
        ("lints", Rust, "«»#![allow(dead_code)]» pub fn hot(n: u8) -> u8 { n }", "it::hot"),
        ("a new module", Rust, "«»mod more;» pub fn hot(n: u8) -> u8 { n }", "it::hot"),
        (
            "new tests",
            Rust,
            "pub fn hot(n: u8) -> u8 { n } «»#[cfg(test)] mod tests { use super::*; #[test] fn works() { hot(3); } }»",
            "it::hot",
        ),
    ] {
        assert_eq!(said(language, text, function), Some(true), "{what}");
    }
    assert_eq!(
        said(
            C,
            "«»int f(int x) { return x; }»int hot(int x) { return 3; }«int f(int x) { return x; }»»",
            "hot"
        ),
        None
    );
}

#[test]
fn long_and_deep_texts_are_read_to_their_end() {
    let lines = |line: &str| line.repeat(20_000);
    for text in [
        lines("int f(int x) { return x; }\n"),
        lines("X = 1,\n"),
        lines("struct a { "),
        lines("namespace a {\n"),
        lines("( [ {\n"),
        lines("'\n"),
        lines("R\"\n"),
        lines("/*\n"),
        lines("#if A\n{\n#else\n"),
        lines("template <\n"),
        lines("a < b <\n"),
        lines("a = \"é\\\n"),
        lines("impl A for B { fn\n"),
        lines("#![a\n"),
        format!("enum e {{ {} }};", (0..20_000).map(|n| format!("N{n},\n")).collect::<String>()),
    ] {
        for language in [C, Rust] {
            let one = tree(language, &text);
            let other = tree(language, &format!("int hot;\n{text}"));
            // One that needs quadratic time takes a minute here.
            let found = ChangedDefinitions::between(&one, &other).is_same_source("g");
            assert_eq!(found, None, "{language:?} {:?}", text.chars().take(20).collect::<String>());
        }
    }
}
