//! Machine-code identity across two files, on what the compilers of this machine make of C.

use crate::identity::toolchain::{Scratch, compilers, compilers_for_aarch64, link, run};
use assay_pure::placement::identity::Identity;
use assay_pure::placement::layout::LayoutError;
use assay_pure::placement::{CodeChange, FunctionChange, Reached, compare, same_code_across};
use std::collections::BTreeMap;

/// A library of functions around one that is told to change, `cold`.
const SOURCE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#define APART __attribute__((noinline))
static const int table[300] = {[0] = -2000, [5] = 7, [299] = -3};
static int state;
APART static int cold(int x) { BODY return x; }
APART int pick(int x) {
    switch (x) {
    case 0: return 5; case 1: return 77; case 2: puts("two"); return 1;
    case 4: return 9; case 5: return rand(); case 6: return 1234;
    }
    return 0;
}
APART int hot(const unsigned char *p, size_t n) {
    int s = 0;
    for (size_t i = 0; i < n; i++) { s += table[p[i]]; if (p[i] == 255) state++; }
    return s;
}
APART int calls(int n) { if (n > 7) return cold(n); return hot((const unsigned char *)"hello world", n) + pick(n); }
APART double scaled(double x) { return x * SCALE + 1.5; }
const char *names[] = {"zero", "one", "two", "three"};
int main(int c, char **v) { (void)v; printf("%d %s %f\n", calls(c), names[c & 3], scaled(c)); return 0; }
"#;

fn source(body: &str, scale: &str) -> String {
    SOURCE.replace("BODY", body).replace("SCALE", scale).replace("int main(", "int program(")
}

const SHORT: &str = r#"fprintf(stderr, "cold %d\n", x);"#;
const LONG: &str = r#"fprintf(stderr, "cold %d\n", x); fprintf(stderr, "another text %d %s\n", x, "here");"#;

const LINKS: &[&[&str]] =
    &[&["-O2"], &["-O2", "-no-pie", "-fno-pie"], &["-O2", "-static"], &["-O3", "-ffunction-sections"]];

fn by_name(found: Vec<FunctionChange>) -> BTreeMap<String, FunctionChange> {
    found.into_iter().map(|change| (change.name.clone(), change)).collect()
}

/// What became of each function, for every compiler and way to link.
fn compared(links: &[&[&str]], old: &str, new: &str) -> Vec<(String, BTreeMap<String, FunctionChange>)> {
    let mut found = Vec::new();
    for compiler in compilers() {
        for flags in links {
            let (old, new) = (link(compiler, flags, old), link(compiler, flags, new));
            let changes = compare(&old, &new).expect("both are linked files with symbols");
            found.push((format!("{compiler} {}", flags.join(" ")), by_name(changes)));
        }
    }
    found
}

#[test]
fn a_change_in_a_cold_function_is_found_there_alone() {
    for (how, changes) in compared(LINKS, &source(SHORT, "0.37"), &source(LONG, "0.37")) {
        assert!(changes["cold"].own == CodeChange::Changed, "{how}: {:?}", changes["cold"]);
        for same in ["hot", "pick", "calls", "scaled", "program", "main"] {
            assert!(changes[same].is_same_code(), "{how} {same}: {:?}", changes[same]);
        }
        assert_eq!(changes["hot"].reached, Reached::Same, "{how}");
        assert_eq!(changes["scaled"].reached, Reached::Same, "{how}");
        for caller in ["calls", "program"] {
            let through = Reached::Changed { through: "cold".to_owned() };
            assert_eq!(changes[caller].reached, through, "{how} {caller}");
        }
    }
}

#[test]
fn a_function_that_moved_is_told_from_one_that_stayed() {
    let ahead = "__attribute__((noinline, used)) int ahead(int x) { return x * 77 + 3; }\n";
    let twice = format!("{ahead}{}", ahead.replace("ahead", "beside").replace("77", "79"));
    let source = source(SHORT, "0.37");
    for (how, changes) in compared(LINKS, &format!("{ahead}{source}"), &format!("{twice}{source}")) {
        assert_eq!(changes["beside"].own, CodeChange::OnlyNew, "{how}");
        assert!(changes["beside"].old.is_none() && changes["beside"].new.is_some());
        let moved = changes.values().filter(|change| change.own == CodeChange::Moved).count();
        assert!(moved >= 3, "{how}: {moved} moved");
        for change in changes.values().filter(|change| change.own == CodeChange::Moved) {
            let (old, new) = (change.old.as_ref().expect("paired"), change.new.as_ref().expect("paired"));
            assert!(old.address != new.address && old.name == new.name, "{how}");
        }
    }
}

#[test]
fn a_file_is_the_same_as_itself() {
    let source = source(LONG, "0.37");
    for (how, changes) in compared(LINKS, &source, &source) {
        for name in ["cold", "hot", "pick", "calls", "scaled", "program", "main"] {
            assert_eq!(changes[name].own, CodeChange::Identical, "{how} {name}");
        }
        for name in ["hot", "scaled", "main"] {
            assert_eq!(changes[name].reached, Reached::Same, "{how} {name}");
        }
    }
}

#[test]
fn a_table_of_offsets_is_other_data_where_what_it_leads_to_is() {
    // clang makes 32-bit offsets of these pointers; they are the same in both files.
    let source = |second: &str| {
        let text = r#"
static const int table[4] = {1, SECOND, 3, 4};
static const int *const tables[3] = {table, table + 1, table};
__attribute__((noinline)) int followed(int x) { return tables[x & 1][x & 3]; }
"#;
        text.replace("SECOND", second)
    };
    for compiler in compilers() {
        for flags in [&["-O2"][..], &["-O1", "-fPIC"]] {
            let (old, new) = (link(compiler, flags, &source("2")), link(compiler, flags, &source("200")));
            let change = by_name(compare(&old, &new).expect("linked files"));
            let change = &change["followed"];
            assert!(!change.is_untouched() && change.reached != Reached::Same, "{compiler}: {change:?}");
            let same = by_name(compare(&old, &old).expect("linked files"));
            assert!(same["followed"].is_untouched(), "{compiler}: {:?}", same["followed"]);
        }
    }
}

#[test]
fn a_line_of_rusts_source_that_shifted_is_the_same_data_and_nothing_else_is() {
    // What rustc makes of `&'static core::panic::Location`.
    let source = |file: &str, line: u32, column: u32| {
        format!(
            "#include <stdio.h>\nstruct location {{ const char *file; size_t length; unsigned line, column; }};\n\
             static const struct location here = {{ \"{file}\", {}, {line}, {column} }};\n\
             __attribute__((noinline)) void told(const struct location *at) {{ printf(\"%s %u\", at->file, at->line); }}\n\
             __attribute__((noinline)) int checked(int x) {{ if (x > 9) told(&here); return x * 3; }}\n",
            file.len()
        )
    };
    let base = source("src/lib.rs", 185, 9);
    for (other, same) in [
        (source("src/lib.rs", 195, 9), true),
        (source("src/lib.rs", 195, 10), false),
        (source("src/other.rs", 185, 9), false),
        (source("src/lib.rs", 185, 9), true),
    ] {
        for (how, changes) in compared(&[&["-O1"]], &base, &other) {
            assert_eq!(changes["checked"].is_untouched(), same, "{how}: {:?}", changes["checked"]);
        }
    }
    let [c, shifted] = [185, 195].map(|line| source("src/lib.cc", line, 9));
    for (how, changes) in compared(&[&["-O1"]], &c, &shifted) {
        assert!(!changes["checked"].is_untouched(), "{how}: no name of a Rust file");
    }
}

#[test]
fn numbers_that_an_instruction_reads_are_no_offsets_though_code_lies_so_far_ahead() {
    // Constants lie a page behind the code, so each of these would lead to some function, and most of those have moved.
    let vectors: String = (0..24)
        .map(|number| {
            let addend = -4200 + 16 * number;
            format!(
                "__attribute__((noinline, used)) void vector{number}(int *p) {{ for (int i = 0; i < 64; i++) p[i] += {addend}; }}\n"
            )
        })
        .collect();
    let ahead = "__attribute__((noinline, used)) int ahead(int x) { return x * 77 + 3; }\n";
    let (old, new) = (vectors.clone(), format!("{ahead}{vectors}"));
    for (how, changes) in compared(&[&["-O3"]], &old, &new) {
        for (name, change) in changes.iter().filter(|(name, _)| name.starts_with("vector")) {
            assert!(change.is_untouched(), "{how} {name}: {change:?}");
        }
    }
    for (how, changes) in compared(&[&["-O3"]], &old, &old.replace("-4200", "-4201")) {
        assert!(!changes["vector0"].is_untouched(), "{how}");
    }
}

#[test]
fn constants_without_a_name_belong_to_the_code_and_named_ones_to_what_it_reaches() {
    for (how, changes) in compared(LINKS, &source(SHORT, "0.37"), &source(SHORT, "0.38")) {
        assert!(changes["scaled"].own == CodeChange::Changed, "{how}: {:?}", changes["scaled"]);
        assert!(changes["hot"].is_same_code(), "{how}");
    }
    let other = source(SHORT, "0.37").replace("\"hello world\"", "\"hello earth\"");
    for (how, changes) in compared(&LINKS[..2], &source(SHORT, "0.37"), &other) {
        assert!(changes["calls"].own == CodeChange::Changed, "{how}: {:?}", changes["calls"]);
    }
    let other = source(SHORT, "0.37").replace("[5] = 7", "[5] = 8");
    for (how, changes) in compared(&LINKS[..2], &source(SHORT, "0.37"), &other) {
        assert!(changes["hot"].is_same_code(), "{how}: {:?}", changes["hot"]);
        assert_eq!(changes["hot"].reached, Reached::Changed { through: "table".to_owned() }, "{how}");
    }
}

#[test]
fn another_function_imported_or_another_case_is_a_change() {
    for (from, to, changed) in [
        ("return rand();", "return getchar();", "pick"),
        ("case 1: return 77;", "case 1: return 78;", "pick"),
        ("state++", "state--", "hot"),
        ("case 4:", "case 3:", "pick"),
    ] {
        let (old, new) = (source(SHORT, "0.37"), source(SHORT, "0.37").replace(from, to));
        for (how, changes) in compared(&LINKS[..1], &old, &new) {
            let found = &changes[changed];
            assert!(found.own == CodeChange::Changed, "{how} {from} -> {to}: {found:?}");
        }
    }
}

#[test]
fn two_functions_are_compared_with_all_that_they_reach() {
    for compiler in compilers() {
        let old = link(compiler, &["-O2"], &source(SHORT, "0.37"));
        let new = link(compiler, &["-O2"], &source(LONG, "0.37"));
        let across = |name| same_code_across(&old, name, &new, name).expect("there");
        assert!(matches!(across("hot"), Identity::Identical { .. }), "{compiler}: {:?}", across("hot"));
        let Identity::Different { at } = across("calls") else { panic!("{compiler}: `cold` changed") };
        let calls = compare(&old, &new).expect("files").into_iter().find(|change| change.name == "calls");
        assert!(at < calls.and_then(|change| change.old).expect("there").size);
        assert!(matches!(same_code_across(&old, "hot", &new, "pick"), Ok(Identity::Different { .. })));
        let absent = LayoutError::NoFunction { name: "nowhere".to_owned() };
        assert_eq!(same_code_across(&old, "hot", &new, "nowhere"), Err(absent));
    }
}

/// Two source files that each have a static function of one name.
fn of_two_files(compiler: &str, first: &str, second: &str, order: [&str; 2]) -> Vec<u8> {
    let scratch = Scratch::new();
    let path = |name: &str| scratch.0.join(name).to_string_lossy().into_owned();
    for (name, constant, exported) in [("first.c", first, "one"), ("second.c", second, "two")] {
        let text = format!(
            "__attribute__((noinline)) static int step(int x) {{ return x * {constant}; }} \
             int {exported}(int x) {{ return step(x) + step(x + 1); }}"
        );
        std::fs::write(path(name), text).expect("the folder is ours");
    }
    std::fs::write(path("main.c"), "int main(void) { return 0; }").expect("the folder is ours");
    let (left, right) = (path(order[0]), path(order[1]));
    run(compiler, &["-O2", &path("main.c"), &left, &right, "-o", &path("program")]);
    std::fs::read(path("program")).expect("the compiler wrote it")
}

#[test]
fn static_functions_of_one_name_are_told_apart_by_their_source_file() {
    for compiler in compilers() {
        let old = of_two_files(compiler, "11", "13", ["first.c", "second.c"]);
        let new = of_two_files(compiler, "11", "17", ["second.c", "first.c"]);
        let changes = compare(&old, &new).expect("linked files");
        let steps: Vec<&FunctionChange> = changes.iter().filter(|change| change.name == "step").collect();
        let changed = steps.iter().filter(|change| change.own == CodeChange::Changed).count();
        assert_eq!((steps.len(), changed), (2, 1), "{compiler}: {steps:?}");
        let one = changes.iter().find(|change| change.name == "one").expect("there");
        let two = changes.iter().find(|change| change.name == "two").expect("there");
        assert_eq!(one.reached, Reached::Same, "{compiler}");
        assert!(two.is_same_code() && two.reached != Reached::Same, "{compiler}: {two:?}");
        assert!(matches!(same_code_across(&old, "step", &new, "step"), Ok(Identity::Unknown { .. })));
    }
}

#[test]
fn a_stripped_file_is_refused() {
    for compiler in compilers() {
        let linked = link(compiler, &["-O2"], &source(SHORT, "0.37"));
        let stripped = link(compiler, &["-O2", "-s"], &source(SHORT, "0.37"));
        assert_eq!(compare(&linked, &stripped), Err(LayoutError::NoSymbols));
        assert!(matches!(compare(&linked, b"text"), Err(LayoutError::NotElf(_))));
        let object = link(compiler, &["-O2", "-r", "-nostdlib"], &source(SHORT, "0.37"));
        let found = by_name(compare(&linked, &object).expect("an ELF file with symbols"));
        assert_eq!(found["hot"].own, CodeChange::Unknown);
    }
}

#[test]
fn a_pointer_to_itself_is_followed_once() {
    // Rust's standard library hands `__dso_handle` to the C library in every program.
    let handle = |cold: &str| {
        let more =
            "extern void *__dso_handle; APART void *handle(void) { return &__dso_handle; }\nint program(";
        source(cold, "0.37").replace("int program(", more).replace("calls(c),", "calls(c) + (handle() == v),")
    };
    for (how, changes) in compared(&[&["-O2", "-fPIE", "-pie"]], &handle(SHORT), &handle(LONG)) {
        assert_eq!(changes["handle"].reached, Reached::Same, "{how}");
        assert!(changes["cold"].own == CodeChange::Changed, "{how}");
    }
}

/// A loop with a callee, behind what a call does once.
const LOOPED: &str = r#"
#include <stdint.h>
#include <stddef.h>
static const uint32_t table[256] = { 1, 2, 3, 5, 8, 13 };
int state, flag;
__attribute__((noinline)) void told(int x) { state ^= x; }
__attribute__((noinline)) uint64_t summed(const uint8_t *data, size_t size) {
    uint64_t sum = 0;
    BODY
    for (size_t i = 0; i < size; i++) { if (data[i] & MASK) sum += table[data[i]]; else told(data[i]); }
    return sum;
}
int program(int c, char **v) { return (int)summed((const uint8_t *)v[0], c); }
"#;

#[test]
fn loops_are_recognised_in_a_function_that_was_changed_around_them() {
    use assay_pure::placement::same_loops::same_loops_across;
    let source = |body: &str, mask: &str| LOOPED.replace("BODY", body).replace("MASK", mask);
    let (old, once) = (source("", "1"), source("if (flag) { flag = 0; return 7; }", "1"));
    // With more optimisation the loop may get other registers, and is another one.
    let links: &[&[&str]] = &[&["-O1"], &["-O1", "-no-pie", "-fno-pie"]];
    for compiler in compilers() {
        for flags in links {
            let how = format!("{compiler} {}", flags.join(" "));
            let before = link(compiler, flags, &old);
            let shared = |new: &str| {
                let after = link(compiler, flags, new);
                let changes = by_name(compare(&before, &after).expect("linked files"));
                let of = &changes["summed"];
                let places = (of.old.as_ref().expect("old").address, of.new.as_ref().expect("new").address);
                let found = same_loops_across(&before, &after, &[places]).expect("linked files").remove(0);
                (of.own, found)
            };
            let (own, found) = shared(&once);
            assert_eq!(own, CodeChange::Changed, "{how}");
            let found = found.unwrap_or_else(|| panic!("{how}: the loop is the same"));
            assert!(found.len() == 1 && found[0].first != found[0].second, "{how}: {found:?}");
            assert_eq!(shared(&source("", "2")).1, None, "{how}: another loop");
            let other = old.replace("told(", "other(");
            assert_eq!(shared(&other.replace("^= x", "+= 3 * x")).1, None, "{how}: another callee");
        }
    }
}

/// Ways in which compilers for AArch64 reach what the linker placed.
const REACHED: &str = r#"
#include <stdio.h>
#define APART __attribute__((noinline, noclone))
MORE
static int first = 3, second = 5;
static int counts[8];
static __thread int own, others[40];
extern int program(int, char **);
APART int anchored(int x) { first += x; second ^= first; counts[x & 7]++; return second; }
APART int looped(int n) { int sum = 0; for (int i = 0; i < n; i++) { sum += counts[i & 7] * first; if (sum > 99) second = sum; } return sum; }
APART int kept(int n) { int sum = first; for (int i = 0; i < n; i++) { printf("%d\n", sum); sum += second; } return sum; }
APART int threads(int x) { own += x; others[x & 31] = own; return others[3]; }
APART int chosen(int x) { int *at = x > 3 ? &first : &second; *at += 2; return *at; }
APART int switched(int x, int y) {
    switch (x) {
    case 0: y += first; break; case 1: y ^= 0x55; break; case 2: y *= 7; break; case 3: y -= second; break;
    case 4: y += y >> 3; break; case 5: y = ~y; printf("%d\n", y); break; case 6: y = anchored(y) ^ 3; break;
    case 7: return y; case 9: y |= 1; break; case 10: y <<= 2; break; case 11: y >>= 1; break;
    }
    return y + counts[x & 7];
}
APART int computed(const unsigned char *code) {
    static void *const way[] = {&&add, &&twice, &&less, &&done};
    int sum = first;
    goto *way[*code++ & 3];
add: sum += second; goto *way[*code++ & 3];
twice: sum *= 2; goto *way[*code++ & 3];
less: sum -= 7; second = sum; goto *way[*code++ & 3];
done: return sum;
}
APART int passed(int (*f)(int), int x) { return f(x + first); }
/* One keeps a page in its frame across a call; the other has code of another way behind a call that never returns. */
extern int framed(int), guarded(int);
__asm__(".text\n.balign 4\n.type framed, %function\nframed:\n"
    "stp x29, x30, [sp, #-48]!\nmov x29, sp\nadrp x1, second\nstr x1, [sp, #40]\nbl anchored\n"
    "ldr x1, [x29, #40]\nldr w1, [x1, #:lo12:second]\nadd w0, w0, w1\nldp x29, x30, [sp], #48\nret\n.size framed, .-framed\n"
    ".type guarded, %function\nguarded:\n"
    "adrp x1, second\ncbz w0, 1f\nadrp x1, program\nbl abort\n1: ldr w0, [x1, #:lo12:second]\nret\n.size guarded, .-guarded\n");
int program(int c, char **v) { return framed(c) + guarded(c) + anchored(c) + looped(c) + kept(c) + threads(c) + chosen(c) + switched(c, c + 1) + computed((unsigned char *)v[0]) + passed(anchored, c); }
"#;

const REACHING: [&str; 10] = [
    "anchored", "looped", "kept", "threads", "chosen", "switched", "computed", "passed", "framed", "guarded",
];

/// Without and with a variable of each kind more ahead of all others, and a function.
fn reached_differently() -> (String, String) {
    let more = "static __thread int mine = 1; int ahead[4] = {1, 2}; static char zeros[64];\n\
                APART int added(int x) { mine += x; zeros[x & 63] = 1; return ahead[x & 3] + zeros[1]; }";
    (REACHED.replace("MORE", ""), REACHED.replace("MORE", more))
}

#[test]
fn addresses_are_followed_to_the_same_places_wherever_compilers_make_them() {
    let (old, new) = reached_differently();
    for compiler in compilers_for_aarch64() {
        for flags in [&["-O0"][..], &["-O1"], &["-O2"], &["-O3"], &["-Os"], &["-O2", "-static"]] {
            let how = format!("{compiler} {}", flags.join(" "));
            let (before, after) = (link(compiler, flags, &old), link(compiler, flags, &new));
            let changes = by_name(compare(&before, &after).expect("linked files"));
            for name in REACHING {
                assert!(changes[name].is_untouched(), "{how} {name}: {:?}", changes[name]);
            }
            assert_eq!(changes["added"].own, CodeChange::OnlyNew, "{how}");
        }
    }
}

#[test]
fn another_variable_at_the_same_distance_from_an_anchor_is_a_change() {
    // Both are reached from one address, so that what was 4 bytes away is another variable then.
    let other = |from: &str, to: &str| REACHED.replace("MORE", "").replace(from, to);
    for compiler in compilers_for_aarch64() {
        for flags in [&["-O0"][..], &["-O2"]] {
            for (from, to, changed) in [
                ("second ^= first", "second |= first", "anchored"),
                ("int sum = first; for", "int sum = second; for", "kept"),
                ("case 3: y -= second", "case 8: y -= second", "switched"),
                (
                    "case 4: y += y >> 3; break; case 5: y = ~y;",
                    "case 5: y += y >> 3; break; case 4: y = ~y;",
                    "switched",
                ),
                ("{&&add, &&twice,", "{&&twice, &&add,", "computed"),
                ("own += x", "own += x; others[2] = 1", "threads"),
                ("ldr w1, [x1, #:lo12:second]", "ldr w1, [x1, #:lo12:first]", "framed"),
                ("ldr w0, [x1, #:lo12:second]", "ldr w0, [x1, #:lo12:first]", "guarded"),
            ] {
                let how = format!("{compiler} {} {from}", flags.join(" "));
                let old = link(compiler, flags, &other("", ""));
                let changes =
                    by_name(compare(&old, &link(compiler, flags, &other(from, to))).expect("files"));
                let others: Vec<&str> =
                    REACHING.into_iter().filter(|name| !changes[*name].is_untouched()).collect();
                let expected: &[&str] = if changed.is_empty() { &[] } else { &[changed] };
                assert_eq!(others, expected, "{how}");
            }
        }
    }
}

#[test]
fn the_c_library_is_the_same_in_two_static_programs_for_aarch64_and_hardly_any_of_it_unknown() {
    let Some(&compiler) = compilers_for_aarch64().first() else { return };
    let [old, new] = [SHORT, LONG].map(|cold| link(compiler, &["-O2", "-static"], &source(cold, "0.37")));
    let changes = compare(&old, &new).expect("linked files");
    let those = |own| -> Vec<&str> {
        changes.iter().filter(|change| change.own == own).map(|change| change.name.as_str()).collect()
    };
    assert_eq!(those(CodeChange::Changed), ["cold"]);
    let unknown = those(CodeChange::Unknown);
    assert!(unknown.len() * 50 < changes.len(), "{} of {}: {unknown:?}", unknown.len(), changes.len());
}
