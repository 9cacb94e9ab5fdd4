//! Machine-code identity, on what the compilers of this machine make of C.

#[path = "identity/pairs.rs"]
pub mod pairs;
#[path = "identity/toolchain.rs"]
pub mod toolchain;

use self::pairs::{COLD, LOOP, SWITCH, SWITCHES, TEXT, pair, recursion, twins};
use self::toolchain::{compilers, link};
use assay_pure::placement::identity::{Identity, same_code};
use assay_pure::placement::layout::{LayoutError, functions};
use assay_pure::placement::same_loops::same_loops;

/// `one` against `two` as each compiler makes them with each set of flags.
fn compared(source: &str, flags: &[&[&str]]) -> Vec<(String, Identity)> {
    let mut found = Vec::new();
    for compiler in compilers() {
        for flags in flags {
            let elf = link(compiler, flags, source);
            let identity = same_code(&elf, "one", "two").expect("both functions are there");
            found.push((format!("{compiler} {}", flags.join(" ")), identity));
        }
    }
    found
}

const OPTIMISED: &[&[&str]] = &[&["-O2"], &["-O3", "-ffunction-sections"]];

#[track_caller]
fn all_identical(source: &str, flags: &[&[&str]]) {
    for (how, found) in compared(source, flags) {
        assert!(matches!(found, Identity::Identical { .. }), "{how}: {found:?}");
    }
}

#[track_caller]
fn all_different(source: &str, flags: &[&[&str]]) {
    for (how, found) in compared(source, flags) {
        assert!(matches!(found, Identity::Different { .. }), "{how}: {found:?}");
    }
}

#[test]
fn the_same_loop_twice_is_identical_wherever_it_lies() {
    all_identical(&twins(LOOP), OPTIMISED);
    all_identical(&twins(LOOP), &[&["-O2", "-no-pie", "-fno-pie"]]);
}

#[test]
fn texts_and_constants_and_library_calls_are_looked_at() {
    all_identical(&twins(TEXT), OPTIMISED);
    all_different(&pair("", TEXT, "", &TEXT.replace("of some", "of same")), &[&["-O2"]]);
    all_different(&pair("", TEXT, "", &TEXT.replace("0.37", "0.38")), &[&["-O2"]]);
    all_different(&pair("", TEXT, "", &TEXT.replace("strlen((const char *)data)", "shared(x)")), &[&["-O2"]]);
}

#[test]
fn jump_tables_are_followed() {
    all_identical(&twins(SWITCH), OPTIMISED);
    all_identical(&twins(SWITCHES), OPTIMISED);
    all_identical(&twins(SWITCH), &[&["-O2", "-no-pie", "-fno-pie"]]);
}

#[test]
fn cases_that_change_places_are_a_difference() {
    // The same code for the cases, in the same order; only the table says which value leads where.
    let swapped =
        SWITCH.replace("case 4:", "case Q:").replace("case 5:", "case 4:").replace("case Q:", "case 5:");
    for (how, found) in
        compared(&pair("", SWITCH, "", &swapped), &[&["-O2"], &["-O2", "-no-pie", "-fno-pie"]])
    {
        assert!(matches!(found, Identity::Different { .. }), "{how}: {found:?}");
    }
}

#[test]
fn split_off_parts_are_compared() {
    all_identical(&twins(COLD), OPTIMISED);
    all_different(&pair("", COLD, "", &COLD.replace("shared(i)", "shared(i + 1)")), &[&["-O2"]]);
}

#[test]
fn a_function_that_calls_itself_is_identical_to_its_twin_that_calls_itself() {
    let before =
        "uint64_t one(const uint8_t *, size_t, uint64_t); uint64_t two(const uint8_t *, size_t, uint64_t);";
    all_identical(&pair(before, &recursion("one"), "", &recursion("two")), &[&["-O1"]]);
    all_identical(&pair(before, &recursion("two"), "", &recursion("one")), &[&["-O1"]]);
}

#[test]
fn callees_of_their_own_are_compared() {
    let callee = |name: &str, constant: u32| {
        format!(
            "APART __attribute__((used)) uint64_t {name}(uint64_t x) {{ __asm__(\"\" : \"+r\"(x)); return x * {constant}; }}"
        )
    };
    let source = |second| {
        pair(
            &callee("step", 5),
            &LOOP.replace("shared", "step"),
            &callee("leap", second),
            &LOOP.replace("shared", "leap"),
        )
    };
    all_identical(&source(5), OPTIMISED);
    all_different(&source(6), &[&["-O2"]]);
}

#[test]
fn one_more_operation_another_constant_and_an_inverted_branch_are_differences() {
    all_different(&pair("", LOOP, "", &LOOP.replace("return x;", "return x + 1;")), &[&["-O2"]]);
    all_different(&pair("", LOOP, "", &LOOP.replace("data[i] & 1", "data[i] & 2")), &[&["-O2"]]);
    all_different(&pair("", LOOP, "", &LOOP.replace("data[i] & 1", "!(data[i] & 1)")), &[&["-O2"]]);
}

#[test]
fn tables_of_the_same_values_are_equal_and_others_are_not() {
    let table = |name: &str, last: u32| {
        format!("static const uint16_t {name}[40] = {{9, 8, 7, 6, 5, [39] = {last}}};")
    };
    let body =
        |name: &str| format!("for (size_t i = 0; i < size; i++) {{ x += {name}[data[i] % 40]; }} return x;");
    let source = |last| pair(&table("low", 77), &body("low"), &table("high", last), &body("high"));
    for (how, found) in compared(&source(77), &[&["-O2"]]) {
        assert!(matches!(found, Identity::Identical { .. }), "{how}: {found:?}");
    }
    all_different(&source(78), &[&["-O2"]]);
}

#[test]
fn tables_of_texts_are_never_taken_for_what_they_are_not() {
    // clang makes them tables of offsets, which differ where the texts are the same.
    let body = |last: &str| {
        format!(
            "static const char *const names[] = {{\"zero\", \"one\", \"two\", \"{last}\"}}; puts(names[x & 3]); return size;"
        )
    };
    for (how, found) in compared(&pair("", &body("three"), "", &body("three")), &[&["-O2"]]) {
        assert!(!matches!(found, Identity::Different { .. }), "{how}: {found:?}");
    }
    for (how, found) in compared(&pair("", &body("three"), "", &body("four")), &[&["-O2"]]) {
        assert!(!matches!(found, Identity::Identical { .. }), "{how}: {found:?}");
    }
}

#[test]
fn variables_of_their_own_cannot_be_compared() {
    let body = |name: &str| format!("static uint64_t {name}; {name} += x; return {name};");
    for (how, found) in compared(&pair("", &body("p"), "", &body("q")), &[&["-O2"]]) {
        assert!(matches!(found, Identity::Unknown { .. }), "{how}: {found:?}");
    }
}

#[test]
fn what_is_no_linked_file_with_symbols_is_refused() {
    for compiler in compilers() {
        let object = link(compiler, &["-O2", "-r", "-nostdlib"], &twins(LOOP));
        assert!(matches!(same_code(&object, "one", "two"), Ok(Identity::Unknown { .. })));
        let stripped = link(compiler, &["-O2", "-s"], &twins(LOOP));
        assert!(same_code(&stripped, "one", "two").is_err());
        let linked = link(compiler, &["-O2"], &twins(LOOP));
        let absent = LayoutError::NoFunction { name: "three".to_owned() };
        assert_eq!(same_code(&linked, "one", "three"), Err(absent));
    }
    assert!(matches!(same_code(b"", "one", "two"), Err(LayoutError::NotElf(_))));
}

#[test]
fn damaged_files_never_make_it_panic() {
    for compiler in compilers() {
        damaged_files_are_compared(compiler);
    }
}

/// Compares functions of 2,000 damaged files that a compiler made.
pub fn damaged_files_are_compared(compiler: &str) {
    let source = pair("", &[SWITCHES, COLD].join("\n"), "", &[SWITCHES, COLD].join("\n"));
    let elf = link(compiler, &["-O2"], &source);
    // SplitMix64, so that every failure comes again.
    let mut state = 2026_u64;
    let mut random = |below: usize| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % below as u64) as usize
    };
    let filled: Vec<usize> = (0..elf.len()).filter(|&at| elf[at] != 0).collect();
    let places: Vec<u64> = functions(&elf).expect("functions").iter().map(|place| place.address).collect();
    let mut refused = 0;
    for _ in 0..2000 {
        let mut damaged = elf.clone();
        for _ in 0..1 + random(8) {
            damaged[filled[random(filled.len())]] = random(256) as u8;
        }
        // The header, the section headers and the symbols are small, but most of what is read.
        let near_the_ends = if random(2) == 0 { random(64) } else { damaged.len() - 1 - random(2048) };
        damaged[near_the_ends] ^= 1 << random(8);
        if random(16) == 0 {
            damaged.truncate(random(elf.len()));
        }
        refused += usize::from(same_code(&damaged, "one", "two").is_err());
        let any = [random(places.len()), random(places.len())].map(|at| places[at]);
        let _ = same_loops(&damaged, any[0], any[1]);
    }
    assert!(refused > 0 && refused < 2000, "{refused} of 2000 refused: too many or too few to test anything");
}

/// Pairs of `fixtures/verdicts`, linked like their experiment says; what is the same for all of them is compiled once.
fn fixtures<const N: usize>(compiler: &str, names: [&'static str; N]) -> [(&'static str, Identity); N] {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let scratch = toolchain::Scratch::new();
    let [main, program] = ["main.o", "pair"].map(|name| scratch.0.join(name).to_string_lossy().into_owned());
    let include = format!("-I{root}/harness");
    let source = format!("{root}/fixtures/verdicts/main.c");
    toolchain::run(compiler, &["-O2", &include, "-c", &source, "-o", &main]);
    names.map(|name| {
        let pair = format!("{root}/fixtures/verdicts/{name}/pair.c");
        toolchain::run(compiler, &["-O2", &include, &pair, &main, "-Wl,-Ttext=0x10000", "-o", &program]);
        let elf = std::fs::read(&program).expect("the compiler wrote it");
        (name, same_code(&elf, "pair_a", "pair_b").expect("both functions are there"))
    })
}

#[test]
fn null_pairs_are_identical_and_real_pairs_are_not() {
    let pairs = [
        "null_03_varint_loop",
        "null_11_small_callee",
        "null_15_sort_sixteens",
        "null_17_state_machine",
        "real_03_chain_3_slower",
        "real_15_faster_behind_a_callee",
        "real_18_slower_behind_a_table",
    ];
    for compiler in compilers() {
        for (name, found) in fixtures(compiler, pairs) {
            let is_told = match found {
                Identity::Identical { .. } => name.starts_with("null_"),
                Identity::Different { .. } => name.starts_with("real_"),
                _ => false,
            };
            assert!(is_told, "{compiler} {name}: {found:?}");
        }
    }
}

/// The same loop behind a flag that is tested once, and another loop.
const FLAGGED: &str = r#"
#include <stddef.h>
#include <stdint.h>
static const uint32_t table[256] = {1, 2, 3, 5, 8};
volatile int flag;
__attribute__((noinline)) uint64_t one(const uint8_t *data, size_t size) {
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i++) { if (data[i] & 1) sum += table[data[i]]; else sum ^= i; }
    return sum;
}
__attribute__((noinline)) uint64_t two(const uint8_t *data, size_t size) {
    uint64_t sum = 0;
    if (flag == 77) return size * 3;
    for (size_t i = 0; i < size; i++) { if (data[i] & 1) sum += table[data[i]]; else sum ^= i; }
    return sum;
}
__attribute__((noinline)) uint64_t three(const uint8_t *data, size_t size) {
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i++) { if (data[i] & 2) sum += table[data[i]]; else sum ^= i; }
    return sum;
}
"#;

#[test]
fn the_same_loops_are_recognised_in_functions_that_differ() {
    for compiler in compilers() {
        for flags in [&["-O1"][..], &["-O2", "-fno-tree-vectorize"]] {
            let elf = link(compiler, flags, FLAGGED);
            let all = functions(&elf).expect("functions");
            let at = |name: &str| all.iter().find(|place| place.name == name).expect(name).address;
            let how = format!("{compiler} {flags:?}");
            assert!(matches!(same_code(&elf, "one", "two"), Ok(Identity::Different { .. })), "{how}");
            let shared = same_loops(&elf, at("one"), at("two")).expect("an ELF file");
            let shared = shared.unwrap_or_else(|| panic!("{how}: the loops are the same"));
            assert!(
                shared.len() == 1 && shared[0].instructions >= 5 && shared[0].first != shared[0].second,
                "{how}: {shared:?}"
            );
            assert_eq!(
                same_loops(&elf, at("one"), at("three")).expect("an ELF file"),
                None,
                "{how}: another loop"
            );
            let itself = same_loops(&elf, at("three"), at("three")).expect("an ELF file").expect("itself");
            assert!(itself.iter().all(|same| same.first == same.second && same.reaches_the_same(16)));
        }
    }
}

/// Functions that differ around a loop: `one` and `flagged` execute the same; `divides` has a loop whose time depends on values, as has
/// `adds` with floating-point numbers.
const FOLLOWED: &str = r#"
#include <stddef.h>
#include <stdint.h>
static volatile int flag;
#define APART __attribute__((noinline, noclone))
#define WORK(name, type, step) \
    APART type name(const uint8_t *data, size_t size) { type sum = 1; for (size_t i = 0; i < size; i++) { step; } return sum; } \
    APART type name##_flagged(const uint8_t *data, size_t size) \
    { if (flag) return 7; type sum = 1; for (size_t i = 0; i < size; i++) { step; } return sum; }
WORK(plain, uint64_t, sum = (sum ^ data[i]) * 0x9E3779B97F4A7C15u)
WORK(divides, uint64_t, sum = (sum + 977) / (data[i] + 1u) + data[i])
WORK(adds, double, sum += data[i] * sum)
WORK(shifted, uint64_t, sum = (sum ^ data[i]) << 3)
"#;

#[test]
fn loops_are_followed_by_numbers_that_both_sides_share_and_not_where_times_depend_on_values() {
    use assay_pure::placement::same_execution::{FollowedRole, followed};
    for compiler in compilers() {
        let flags = ["-O1", "-falign-loops=16", "-falign-functions=16"];
        let elf = link(compiler, &flags, FOLLOWED);
        let all = functions(&elf).expect("functions");
        let at = |name: &str| all.iter().find(|place| place.name == name).expect(name).address;
        let of = |one: &str, other: &str| followed(&elf, at(one), at(other)).expect("an ELF file");
        let [one, other] = of("plain", "plain_flagged").unwrap_or_else(|why| panic!("{compiler}: {why}"));
        let numbers = |side: &std::collections::BTreeMap<u64, FollowedRole>| -> Vec<u32> {
            let number = |role: &FollowedRole| match role {
                FollowedRole::Looped(number) => Some(*number),
                _ => None,
            };
            side.values().filter_map(number).collect()
        };
        assert_eq!(numbers(&one), (0..numbers(&one).len() as u32).collect::<Vec<_>>(), "{compiler}");
        assert!(numbers(&one).len() >= 5 && numbers(&one) == numbers(&other), "{compiler}");
        let around = |side: &std::collections::BTreeMap<u64, FollowedRole>| {
            side.values().filter(|role| **role == FollowedRole::Around).count()
        };
        assert!(around(&other) > around(&one), "{compiler}: the flag is tested around the loop");
        for name in ["divides", "adds"] {
            let why = of(name, name).expect_err("its time depends on values");
            assert!(why.contains("depends on the values"), "{compiler} {name}: {why}");
        }
        let why = of("plain", "shifted").expect_err("another loop");
        assert_eq!(why, "their loops are not the same", "{compiler}");
    }
}
