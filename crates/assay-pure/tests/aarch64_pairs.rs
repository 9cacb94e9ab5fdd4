//! Two functions of one program for AArch64: are they the same machine code, and do they have the same loops? On what the cross
//! compilers of this machine make of C; skipped, with the reason, where there is none.

use crate::identity::damaged_files_are_compared;
use crate::identity::pairs::{COLD, LOOP, SWITCH, SWITCHES, TEXT, pair, recursion, twins};
use crate::identity::toolchain::{compilers_for_aarch64, link};
use assay_pure::placement::identity::{Identity, same_code};
use assay_pure::placement::layout::functions;
use assay_pure::placement::same_execution::followed;
use assay_pure::placement::same_loops::{SharedLoop, same_loops};

/// Dynamic and static programs, position-independent or not.
const LINKS: &[&[&str]] = &[
    &["-O1"],
    &["-O2"],
    &["-O3", "-ffunction-sections"],
    &["-O2", "-no-pie", "-fno-pie"],
    &["-O2", "-static"],
];

/// `one` against `two` as each compiler makes and links them.
#[track_caller]
fn all(source: &str, wanted: fn(&Identity) -> bool) {
    for compiler in compilers_for_aarch64() {
        for flags in LINKS {
            let found = same_code(&link(compiler, flags, source), "one", "two").expect("both are there");
            assert!(wanted(&found), "{compiler} {}: {found:?}\n{source}", flags.join(" "));
        }
    }
}

fn is_identical(found: &Identity) -> bool {
    matches!(found, Identity::Identical { .. })
}

fn is_different(found: &Identity) -> bool {
    matches!(found, Identity::Different { .. })
}

fn is_unknown(found: &Identity) -> bool {
    matches!(found, Identity::Unknown { .. })
}

fn is_not_proven(found: &Identity) -> bool {
    !is_identical(found)
}

/// A function with a name of its own that is not inlined.
fn callee(name: &str, constant: u32) -> String {
    format!(
        "APART __attribute__((used)) uint64_t {name}(uint64_t x) {{ __asm__(\"\" : \"+r\"(x)); return x * {constant}; }}"
    )
}

/// `LOOP` twice, each with a callee of its own.
fn with_callees(second: u32) -> String {
    let calls = |name| LOOP.replace("shared", name);
    pair(&callee("step", 5), &calls("step"), &callee("leap", second), &calls("leap"))
}

#[test]
fn a_function_and_its_twin_are_the_same_code_wherever_they_lie_and_whatever_they_reach() {
    // Where an address may be passed to a callee, the end of a table of jumps is not certain.
    let switch = SWITCH.replace("shared(x)", "(x * 3)");
    for body in [LOOP, TEXT, &switch, COLD] {
        all(&twins(body), is_identical);
    }
    for body in [SWITCH, SWITCHES] {
        all(&twins(body), |found| !is_different(found));
    }
    all(&with_callees(5), is_identical);
    // One variable, one variable of the thread, one constant.
    let before = "static volatile uint64_t state; static _Thread_local volatile uint64_t own;\n\
                  static const uint16_t table[40] = {9, 8, 7, [39] = 77};";
    let body =
        "for (size_t i = 0; i < size; i++) { state += table[data[i] % 40]; own ^= state; } return own;";
    all(&pair(before, body, "", body), is_identical);
    let declared =
        "uint64_t one(const uint8_t *, size_t, uint64_t); uint64_t two(const uint8_t *, size_t, uint64_t);";
    all(&pair(declared, &recursion("one"), "", &recursion("two")), is_identical);
}

#[test]
fn another_constant_register_operation_or_called_function_is_a_difference() {
    let pinned = |register: &str| {
        format!(
            "register uint64_t kept __asm__(\"{register}\") = x; __asm__ volatile(\"\" : \"+r\"(kept)); return kept * size;"
        )
    };
    for (one, two) in [
        (LOOP.to_owned(), LOOP.replace("data[i] & 1", "data[i] & 2")),
        (LOOP.to_owned(), LOOP.replace("data[i] & 1", "!(data[i] & 1)")),
        (LOOP.to_owned(), LOOP.replace("return x;", "return x + 1;")),
        (TEXT.to_owned(), TEXT.replace("of some", "of same")),
        (TEXT.to_owned(), TEXT.replace("0.37", "0.38")),
        (TEXT.to_owned(), TEXT.replace("strlen((const char *)data)", "shared(x)")),
        (TEXT.to_owned(), TEXT.replace("puts(", "perror(")),
        (pinned("x9"), pinned("x10")),
        (COLD.to_owned(), COLD.replace("shared(i)", "shared(i + 1)")),
    ] {
        all(&pair("", &one, "", &two), is_different);
    }
    all(&with_callees(6), is_different);
}

#[test]
fn cases_that_change_places_are_never_the_same() {
    // The same code for the cases, in the same order; only the table says which value leads where.
    let swapped =
        SWITCH.replace("case 4:", "case Q:").replace("case 5:", "case 4:").replace("case Q:", "case 5:");
    all(&pair("", SWITCH, "", &swapped), is_different);
}

#[test]
fn another_variable_is_never_the_same_whatever_its_name() {
    let before = "volatile uint64_t left = 1, right = 1; _Thread_local volatile uint64_t own, other;";
    let body =
        |name: &str| format!("for (size_t i = 0; i < size; i++) {{ {name} += data[i]; }} return {name};");
    // Compilers that reach both from one address write other distances.
    all(&pair(before, &body("left"), "", &body("right")), is_not_proven);
    all(&pair(before, &body("own"), "", &body("other")), is_not_proven);
    // Two static variables of one name: in the symbol table `kept.0` and `kept.1`.
    let apart = |section: &str| {
        format!("static volatile uint64_t kept __attribute__((section(\"{section}\"))) = 1; {}", body("kept"))
    };
    all(&pair("", &apart(".data.one"), "", &apart(".data.two")), is_unknown);
    let kept = format!("static _Thread_local volatile uint64_t kept; {}", body("kept"));
    all(&pair("", &kept, "", &kept), is_not_proven);
}

#[test]
fn constants_are_the_same_by_all_of_their_bytes_whatever_their_name() {
    let table = |name: &str, text: &str, last: u32| {
        // Apart, or compilers would reach both from one address, or make them one.
        format!(
            "static const uint8_t {name}[80] __attribute__((section(\".rodata.{name}\"), used)) = {{{text}, 0, [79] = {last}}};"
        )
    };
    let body = |name: &str| {
        format!("for (size_t i = 0; i < size; i++) {{ x = x * 3 + {name}[data[i] % 80]; }} return x;")
    };
    let source = |text, last| {
        pair(&table("low", "'a', 'b'", 7), &body("low"), &table("high", text, last), &body("high"))
    };
    all(&source("'a', 'b'", 7), is_identical);
    // Not always a difference: where a table begins another object may end.
    all(&source("'a', 'c'", 7), is_not_proven);
    // What begins like a text goes on behind its zero.
    all(&source("'a', 'b'", 8), is_not_proven);
    // Nothing but the next address that is known ends what has no name.
    let nameless = |last: u32| {
        let data = |name, last| format!(".L{name}: .asciz \\\"ab\\\"\\n.skip 76, 5\\n.byte {last}\\n");
        let before =
            format!("__asm__(\".section .rodata\\n{}{}.text\");", data("low", 7), data("high", last));
        let body = |name| {
            format!(
                "const uint8_t *table; __asm__(\"adrp %0, .L{name}\\nadd %0, %0, :lo12:.L{name}\" : \"=r\"(table)); \
                 for (size_t i = 0; i < size; i++) {{ x = x * 3 + table[data[i] % 80]; }} return x;"
            )
        };
        pair(&before, &body("low"), "", &body("high"))
    };
    all(&nameless(8), is_not_proven);
}

#[test]
fn the_end_of_a_table_is_not_taken_for_what_lies_behind_it() {
    // A loop over a table ends at the address just past it, which is that of something else.
    let table = |name: &str| {
        format!(
            "static const uint8_t {name}[80] __attribute__((section(\".rodata.{name}\"), used)) = {{1, 2, [79] = 3}};"
        )
    };
    let body = |name: &str| {
        format!(
            "for (const uint8_t *at = {name}; at != {name} + 80; at++) {{ __asm__(\"\" : \"+r\"(at)); x = x * 3 + *at; }} return x + data[size];"
        )
    };
    let other = "static const uint8_t other[80] __attribute__((section(\".rodata.other\"), used)) = {9};";
    let before = [table("low"), other.to_owned(), table("high")].join("\n");
    all(&pair(&before, &body("low"), "", &body("high")), |found| !is_different(found));
}

#[test]
fn numbers_that_lead_to_the_same_if_they_are_addresses_are_not_taken_for_that() {
    // The addresses of two functions of the same code: whoever calls them does the same, whoever compares them does not.
    let table = |name: &str, function: &str| {
        format!(
            "static uint64_t (*const {name}[2])(uint64_t) __attribute__((section(\".data.rel.ro.{name}\"), used)) = {{{function}, shared}};"
        )
    };
    let body = |name: &str| format!("return {name}[x & 1](size) + 1;");
    let before =
        [callee("step", 5), callee("leap", 5), table("low", "step"), table("high", "leap")].join("\n");
    let source = pair(&before, &body("low"), "", &body("high"));
    for compiler in compilers_for_aarch64() {
        let by_loader = same_code(&link(compiler, &["-O2", "-fPIE", "-pie"], &source), "one", "two");
        assert!(is_identical(by_loader.as_ref().expect("both are there")), "{compiler}: {by_loader:?}");
        let fixed = same_code(&link(compiler, &["-O2", "-no-pie", "-fno-pie"], &source), "one", "two");
        assert!(is_unknown(fixed.as_ref().expect("both are there")), "{compiler}: {fixed:?}");
    }
}

#[test]
fn damaged_files_never_make_it_panic() {
    for compiler in compilers_for_aarch64() {
        damaged_files_are_compared(compiler);
    }
}

/// A loop behind a flag that is tested once, and others that differ from it in one thing.
const FLAGGED: &str = r#"
#include <stddef.h>
#include <stdint.h>
#define APART __attribute__((noinline))
static const uint32_t table[256] = {1, 2, 3, 5, 8};
volatile int flag;
volatile uint64_t first, second;
_Thread_local volatile uint64_t own, other;
APART uint64_t step(uint64_t x) { __asm__("" : "+r"(x)); return x * 5; }
APART uint64_t leap(uint64_t x) { __asm__("" : "+r"(x)); return x * 5; }
APART uint64_t jump(uint64_t x) { __asm__("" : "+r"(x)); return x * 7; }
#define PAIR(name, once, body) APART uint64_t name(const uint8_t *data, size_t size) \
    { uint64_t sum = 0; size_t i = 0; once; do { body; } while (++i < size); return sum; }
#define FLAG if (flag == 77) return size * 3
#define WORK(bits) if (data[i] & bits) sum += table[data[i]]; else sum ^= i
PAIR(plain, , WORK(1))
PAIR(plain_flagged, FLAG, WORK(1))
PAIR(plain_constant, FLAG, WORK(2))
PAIR(plain_operation, FLAG, if (data[i] & 1) sum += table[data[i]]; else sum |= i)
PAIR(called, , sum ^= step(data[i]))
PAIR(called_flagged, FLAG, sum ^= step(data[i]))
PAIR(called_twin, FLAG, sum ^= leap(data[i]))
PAIR(called_other, FLAG, sum ^= jump(data[i]))
PAIR(stored, , first += data[i])
PAIR(stored_flagged, FLAG, first += data[i])
PAIR(stored_other, FLAG, second += data[i])
PAIR(threaded, , own += data[i])
PAIR(threaded_flagged, FLAG, own += data[i])
PAIR(threaded_again, FLAG, own += data[i])
PAIR(threaded_other, FLAG, other += data[i])
#define IN(name, once) once; register uint64_t kept __asm__(#name) = size; register uint64_t i __asm__("x11") = 0; \
    do { __asm__ volatile("add %0, %0, #3" : "+r"(kept)); } while (++i < size); return kept
APART uint64_t held(const uint8_t *data, size_t size) { IN(x9, ); }
APART uint64_t held_flagged(const uint8_t *data, size_t size) { IN(x9, FLAG); }
APART uint64_t held_register(const uint8_t *data, size_t size) { IN(x10, FLAG); }
#define LEAPS(name, once, target, pad) __asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n" once \
    "1: add x0, x0, #1\ntbz x0, #0, " target "\n" pad "add x2, x2, #1\n2: add x3, x3, #2\n3: subs x1, x1, #1\n" \
    "b.ne 1b\nret\n.size " #name ", . - " #name "\n");
LEAPS(leaps, "", "2f", "")
LEAPS(leaps_flagged, "mov x4, #0\n", "2f", "")
LEAPS(leaps_padded, "mov x4, #0\n", "2f", "nop\n")
LEAPS(leaps_elsewhere, "mov x4, #0\n", "3f", "")
__asm__(".text\n.globl indirect\n.type indirect, %function\nindirect:\n1: subs x1, x1, #1\nb.ne 1b\nbr x2\n.size indirect, . - indirect\n");
APART uint64_t straight(const uint8_t *data, size_t size) { return data[0] * size; }
"#;

/// What asks for the loops that two functions of a file share, by their names.
fn loops_of(elf: &[u8]) -> impl Fn(&str, &str) -> Option<Vec<SharedLoop>> {
    let all = functions(elf).expect("functions");
    move |one, other| {
        let at = |name: &str| all.iter().find(|place| place.name == name).expect(name).address;
        same_loops(elf, at(one), at(other)).expect("an ELF file")
    }
}

#[test]
fn the_same_loops_are_recognised_in_functions_that_differ_around_them() {
    // With more optimisation a loop may get other registers in the function with the flag, and is another one.
    for compiler in compilers_for_aarch64() {
        for flags in [&["-O1"][..], &["-O1", "-no-pie", "-fno-pie"], &["-O1", "-static"]] {
            let how = format!("{compiler} {}", flags.join(" "));
            let elf = link(compiler, flags, FLAGGED);
            let loops = loops_of(&elf);
            for (one, other) in [
                ("plain", "plain_flagged"),
                ("called", "called_flagged"),
                ("called", "called_twin"),
                ("stored", "stored_flagged"),
                ("threaded", "threaded_flagged"),
                ("held", "held_flagged"),
                ("leaps", "leaps_flagged"),
                ("leaps", "leaps_padded"),
            ] {
                let code = same_code(&elf, one, other);
                assert!(matches!(code, Ok(Identity::Different { .. })), "{how} {one} {other}: {code:?}");
                let shared = loops(one, other).unwrap_or_else(|| panic!("{how}: {one} and {other}"));
                let [only] = shared.as_slice() else { panic!("{how} {one} {other}: {shared:?}") };
                assert!(only.instructions >= 3 && only.first != only.second, "{how} {one} {other}: {only:?}");
            }
        }
    }
}

#[test]
fn a_loop_that_differs_in_one_thing_is_another() {
    for compiler in compilers_for_aarch64() {
        for flags in [&["-O1"][..], &["-O1", "-static"]] {
            let elf = link(compiler, flags, FLAGGED);
            let loops = loops_of(&elf);
            for (one, other) in [
                ("plain_flagged", "plain_constant"),
                ("plain_flagged", "plain_operation"),
                ("called_flagged", "called_other"),
                ("stored_flagged", "stored_other"),
                ("held_flagged", "held_register"),
                ("leaps_flagged", "leaps_elsewhere"),
                ("held_flagged", "straight"),
                ("straight", "straight"),
                // A loop may be made by the jump that is not followed.
                ("indirect", "indirect"),
            ] {
                assert_eq!(loops(one, other), None, "{compiler} {flags:?}: {one} and {other}");
            }
        }
    }
}

#[test]
fn another_variable_of_the_thread_is_another_loop_where_its_address_is_made_in_it() {
    // As it is without optimisation; otherwise it is made once a call, ahead of the loop, which is not compared.
    for compiler in compilers_for_aarch64() {
        let elf = link(compiler, &["-O0"], FLAGGED);
        let loops = loops_of(&elf);
        assert!(loops("threaded_flagged", "threaded_again").is_some(), "{compiler}");
        assert_eq!(loops("threaded_flagged", "threaded_other"), None, "{compiler}");
    }
}

#[test]
fn what_loops_execute_is_not_followed() {
    for compiler in compilers_for_aarch64() {
        let elf = link(compiler, &["-O1"], FLAGGED);
        let all = functions(&elf).expect("functions");
        let at = |name: &str| all.iter().find(|place| place.name == name).expect(name).address;
        let found = followed(&elf, at("plain"), at("plain_flagged")).expect("an ELF file");
        assert!(found.is_err_and(|why| why.contains("only x86-64")), "{compiler}");
    }
}
