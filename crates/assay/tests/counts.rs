//! `events` in a whole campaign: programs in assembly, whose counts per unit are known by hand, traced, explained, kept.
//!
//! Limits: x86-64 only, and skipped with the reason where gcc or the emulator is missing.

use crate::robust::lab::Lab;
use crate::trace_fixtures;
use assay_linux::perf::{RunningCounters, Target};
use serde_json::Value;

/// Per byte: `count` executes 4 instructions, one of them a branch that is always taken but at the end; `decide` executes 5
/// or 6, two of them branches, one on a bit that is a coin toss; `wide` does what `count` does after an instruction that the emulator
/// lacks, if it was compiled with it.
const PROGRAM: &str = r#"
#include <assay.h>
#include <stdlib.h>
#ifndef MORE
#define MORE 0
#endif
static uint64_t count(const uint8_t *data, size_t size)
{
    uint64_t sum = 0, byte;
    const uint8_t *end = data + size;
    __asm__ volatile("1: movzbl (%[at]), %k[byte]\n inc %[at]\n cmp %[end], %[at]\n jne 1b"
                     : [at] "+r"(data), [byte] "=&r"(byte) : [end] "r"(end) : "cc", "memory");
    return size + sum + MORE;
}
static uint64_t decide(const uint8_t *data, size_t size)
{
    uint64_t sum = 0;
    const uint8_t *end = data + size;
    __asm__ volatile("1: testb $1, (%[at])\n je 2f\n inc %[sum]\n 2: inc %[at]\n cmp %[end], %[at]\n jne 1b"
                     : [at] "+r"(data), [sum] "+r"(sum) : [end] "r"(end) : "cc", "memory");
    __asm__ volatile("" : : "r"(sum));
    return size;
}
static uint64_t wide(const uint8_t *data, size_t size)
{
#ifdef __AVX512F__
    __asm__ volatile("vpxord %%zmm0, %%zmm0, %%zmm0" : : : "xmm0");
#endif
    return count(data, size);
}
/* Leaves for the C library, which has no records. */
static uint64_t outside(const uint8_t *data, size_t size)
{
    qsort(NULL, 0, 1, NULL);
    return count(data, size);
}
ASSAY_VARIANT("count", count)
ASSAY_VARIANT("decide", decide)
ASSAY_VARIANT("wide", wide)
ASSAY_VARIANT("outside", outside)
ASSAY_MAIN()
"#;

const EVENTS: &str = "events = [\"instructions\", \"branches\", \"branch-misses\"]\n";

/// An experiment over one megabyte of coin tosses in the lowest bit; None where something is missing.
fn lab(flags: &str, variants: &[&str]) -> Option<Lab> {
    if !cfg!(target_arch = "x86_64") {
        println!("skipped: the program is x86-64 assembly");
        return None;
    }
    let emulator = std::process::Command::new("qemu-x86_64").arg("--version").output();
    if !emulator.is_ok_and(|output| output.status.success()) {
        println!("skipped: qemu-x86_64 is not on PATH");
        return None;
    }
    let events = ["instructions:u", "branches:u", "branch-misses:u"].map(|name| name.parse().expect("known"));
    if RunningCounters::open(&events, Target::Here).is_ok() {
        println!("skipped: this machine counts these events, so that nothing would be traced");
        return None;
    }
    trace_fixtures::plugin();
    let lab = Lab::with_program(PROGRAM, variants)?;
    // xorshift64 (Marsaglia 2003).
    let mut state = 88_172_645_463_325_252u64;
    let mut tosses = Vec::with_capacity(1 << 20);
    while tosses.len() < 1 << 20 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        tosses.push((state >> 40) as u8);
    }
    std::fs::write(lab.file("tosses.bin"), &tosses).expect("the input is written");
    lab.edit(|text| {
        let recorded = "[inputs.tosses]\npath = \"tosses.bin\"\nformat = \"bytes\"\nwindow_units = 4096\n";
        let (head, tail) = text.split_once("[inputs.bytes]").expect("the lab's own input");
        let tail = tail.split_once("\n[[variants]]").expect("its variants").1;
        let head = head.replace("minimum_effect", &format!("{EVENTS}minimum_effect")).replace("-Og", flags);
        format!("{head}{recorded}\n[[variants]]{tail}")
    });
    Some(lab)
}

fn figure(page: &Value, variant: &str, event: &str) -> f64 {
    figure_of(page, variant, event, "instrumented")
}

fn figure_of(page: &Value, variant: &str, event: &str, source: &str) -> f64 {
    let cells = page["cells"].as_array().expect("cells");
    let cell = cells.iter().find(|cell| cell["variant"] == variant).expect("the variant's cell");
    let count = &cell["per_unit"][event];
    assert_eq!(count["source"], source, "{cell}");
    count["value"].as_f64().unwrap_or_else(|| panic!("no {event} of {variant}: {cell}"))
}

fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}

#[test]
fn a_campaign_counts_what_its_variants_execute_per_unit_and_a_second_one_finds_it_in_the_ledger() {
    let Some(lab) = lab("-O1", &["count", "decide"]) else { return };
    let said = lab.run(&["--seed", "1"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let page = lab.page();
    // A window of 4096 bytes adds some twenty instructions and a few branches.
    near(figure(&page, "count", "instructions"), 4.0, 0.02);
    near(figure(&page, "count", "branches"), 1.0, 0.005);
    near(figure(&page, "decide", "instructions"), 5.5, 0.05);
    near(figure(&page, "decide", "branches"), 2.0, 0.005);
    near(figure(&page, "count", "branch-misses"), 0.0, 0.01);
    let misses = figure(&page, "decide", "branch-misses");
    near(misses, 0.5, 0.03);
    let decide = &page["cells"][1]["per_unit"]["branch-misses"];
    assert!(decide["predictor"].is_string(), "a simulated figure names its predictor: {decide}");
    let (lower, upper) = (decide["lower"].as_f64().unwrap_or(1.0), decide["upper"].as_f64().unwrap_or(0.0));
    assert!(lower <= misses && misses <= upper, "{decide}");
    let note = page["cells"][0]["count_note"].as_str().expect("why nothing was counted by hardware");
    assert!(note.starts_with("without counters, as instructions:u cannot be counted: "), "{note}");
    assert!(!said.page.contains("2 cells: without counters"), "for --all: {}", said.page);
    assert_eq!(page["learned_inputs"], serde_json::json!([]), "no predictor memorises a million tosses");
    assert!(said.page.contains("mispredictions are simulated by"), "{}", said.page);
    assert!(!said.page.contains("counted by hardware"), "{}", said.page);

    let rows =
        || lab.ledger().query_row("SELECT count(*) FROM count", [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(rows(), 2, "one walk of a long input for each variant");
    let again = lab.run(&["--seed", "2"]);
    assert_eq!((again.code, rows()), (Some(0), 2), "{again:?}");
    near(figure(&lab.page(), "decide", "instructions"), 5.5, 0.05);
}

#[test]
fn a_program_that_the_emulator_cannot_run_is_counted_in_another_build_and_its_cells_say_so() {
    let features = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    if !features.contains("avx512f") {
        println!("skipped: this CPU has no AVX-512 to measure with");
        return;
    }
    let Some(lab) = lab("-O1\", \"-mavx512f", &["count", "wide"]) else { return };
    lab.run(&[]).assert_code(0);
    near(figure(&lab.page(), "wide", "instructions"), 4.0, 0.02);
    let said = lab.run(&["--source", "traced"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let page = lab.page();
    near(figure_of(&page, "wide", "instructions", "traced"), 4.0, 0.02);
    let note = |at: usize| page["cells"][at]["count_note"].clone();
    assert!(note(1).as_str().is_some_and(|note| note.contains("-march=x86-64-v3")), "{}", note(1));
    let sql =
        "SELECT count(*) FROM count WHERE executed <> artifact AND note IS NOT NULL AND variant = 'wide'";
    let capped: i64 = lab.ledger().query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(capped, 1);
}

#[test]
fn where_nothing_can_be_traced_the_cells_say_why_and_the_campaign_is_whole() {
    let Some(lab) = lab("-O1", &["count", "decide"]) else { return };
    let mut command = lab.command("run", &["experiment.toml", "--source", "traced"]);
    // The compiler is found, the emulator is not.
    let folder = lab.file("only-gcc");
    std::fs::create_dir_all(&folder).expect("a folder");
    for tool in ["gcc", "ld", "ld.bfd", "as", "nm", "objdump", "readelf"] {
        for from in ["/usr/bin", "/usr/local/bin"] {
            let file = std::path::Path::new(from).join(tool);
            if file.exists() && !folder.join(tool).exists() {
                std::os::unix::fs::symlink(&file, folder.join(tool)).expect("a link");
            }
        }
    }
    command.env("PATH", &folder);
    let output = command.output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let page = lab.page();
    let cells = page["cells"].as_array().expect("cells");
    assert!(
        cells.iter().all(|cell| cell["ns_per_unit"].is_object() && cell["per_unit"] == serde_json::json!({})),
        "{page}"
    );
    assert!(
        cells.iter().all(|cell| cell["uncounted"]["reason"].as_str().is_some_and(|why| why.contains("qemu"))),
        "{page}"
    );
    assert!(text.contains("not counted"), "{text}");
}

/// `twice` asks for 24 bytes two times in each call and gives them back at its end; with OWN the program has an allocator.
const ALLOCATING: &str = r#"
#include <assay.h>
#ifdef OWN
static char all[1 << 24];
static size_t used;
void *malloc(size_t bytes) { char *block = all + used % (sizeof all / 2); used += (bytes + 15) / 16 * 16; return block; }
void *calloc(size_t count, size_t bytes) { return memset(malloc(count * bytes), 0, count * bytes); }
void *realloc(void *old, size_t bytes) { void *block = malloc(bytes); return old ? memmove(block, old, bytes) : block; }
void *aligned_alloc(size_t unit, size_t bytes) { return (void *)(((uintptr_t)malloc(bytes + unit) + unit - 1) / unit * unit); }
void free(void *block) { (void)block; }
#endif
static uint64_t none(const uint8_t *data, size_t size)
{
    return data[0] + size;
}
static uint64_t twice(const uint8_t *data, size_t size)
{
    void *volatile first = malloc(24), *volatile second = malloc(24);
    free(first);
    free(second);
    return data[0] + size;
}
ASSAY_VARIANT("none", none)
ASSAY_VARIANT("twice", twice)
ASSAY_MAIN()
"#;

/// An experiment that counts what is allocated.
fn allocating(flags: &str) -> Option<Lab> {
    let lab = Lab::with_program(ALLOCATING, &["none", "twice"])?;
    let events = "events = [\"allocations\", \"allocated-bytes\", \"peak-bytes\"]\n";
    lab.edit(|text| {
        text.replace("minimum_effect", &format!("{events}minimum_effect"))
            .replace("-Og", flags)
            .replace("units = 10_000", "units = 10_000\nwindow_units = 1")
    });
    Some(lab)
}

#[test]
fn a_campaign_counts_what_its_variants_allocate_and_a_second_one_finds_it_in_the_ledger() {
    let Some(lab) = allocating("-Og") else { return };
    let said = lab.run(&["--seed", "1", "--all"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.page.contains("Allocated per byte"), "{}", said.page);
    let rows = || {
        let sql =
            "SELECT variant, calls, allocations, bytes, peak_bytes, windows FROM allocation ORDER BY variant";
        let ledger = lab.ledger();
        let mut found = ledger.prepare(sql).unwrap();
        let row = |row: &rusqlite::Row<'_>| {
            let figures: Vec<i64> = (1..6).map(|at| row.get(at).unwrap()).collect();
            Ok((row.get::<_, String>(0)?, figures))
        };
        found.query_map([], row).unwrap().map(Result::unwrap).collect::<Vec<_>>()
    };
    let found = rows();
    let names: Vec<&str> = found.iter().map(|(variant, _)| variant.as_str()).collect();
    assert_eq!(names, ["none", "twice"]);
    assert_eq!(found[0].1[1..4], [0, 0, 0]);
    assert_eq!(found[1].1, [4096, 2 * 4096, 48 * 4096, 48 * 4096, 10_000]);
    assert!(said.page.contains("allocations counted in 4,096 of 10,000 calls"), "{}", said.page);
    let again = lab.run(&["--seed", "2"]);
    assert_eq!((again.code, rows()), (Some(0), found), "{again:?}");
}

#[test]
fn what_a_program_with_an_allocator_of_its_own_allocates_is_not_zero_but_unknown() {
    let Some(lab) = allocating("-Og\", \"-DOWN") else { return };
    let said = lab.run(&[]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.page.contains("without an allocator of its own"), "{}", said.page);
    let cells = lab.page()["cells"].clone();
    for cell in cells.as_array().expect("cells") {
        assert_eq!(cell["per_unit"], serde_json::json!({}), "{cell}");
    }
}

#[test]
fn an_instrumented_build_gives_the_figures_that_the_emulator_gives() {
    let Some(lab) = lab("-O1", &["count", "decide"]) else { return };
    let figures = |source: &str, word: &str| -> Vec<Value> {
        let said = lab.run(&["--seed", "1", "--source", source]);
        assert_eq!(said.code, Some(0), "{said:?}");
        let mut cells = lab.page()["cells"].as_array().expect("cells").clone();
        cells
            .iter_mut()
            .map(|cell| {
                let counts = cell["per_unit"].take();
                for event in ["instructions", "branches", "branch-misses"] {
                    assert_eq!(counts[event]["source"], word, "{counts}");
                }
                Value::Array(
                    ["instructions", "branches", "branch-misses"]
                        .map(|event| {
                            ["value", "lower", "upper", "predictor"]
                                .map(|part| counts[event][part].clone())
                                .to_vec()
                                .into()
                        })
                        .to_vec(),
                )
            })
            .collect()
    };
    let traced = figures("traced", "traced");
    assert_eq!(figures("instrumented", "instrumented"), traced);
    assert_eq!(figures("auto", "instrumented"), traced);
    assert_eq!(traced.len(), 2);
}

#[test]
fn flags_that_change_what_is_answered_are_counted_each() {
    let Some(lab) = lab("-O1", &["count", "wide"]) else { return };
    lab.edit(|text| {
        text.replace("flags = [\"-O1\"]", "flags = { plain = [\"-O1\"], more = [\"-O1\", \"-DMORE=1\"] }")
    });
    let said = lab.run(&["--seed", "1"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let page = lab.page();
    let cells = page["cells"].as_array().expect("cells");
    let counted = cells.iter().filter(|cell| cell["per_unit"]["instructions"]["value"].is_number()).count();
    assert_eq!((cells.len(), counted), (4, 4), "{}", page["cells"]);
}

#[test]
fn what_cannot_be_instrumented_is_counted_by_the_emulator_and_says_so() {
    let Some(lab) = lab("-O1", &["count", "outside"]) else { return };
    let said = lab.run(&["--seed", "1", "--source", "instrumented"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let page = lab.page();
    near(figure_of(&page, "outside", "instructions", "traced"), 4.0, 0.05);
    let cells = page["cells"].as_array().expect("cells");
    let outside = cells.iter().find(|cell| cell["variant"] == "outside").expect("its cell");
    let note = outside["count_note"].as_str().expect("why the emulator counted");
    assert!(note.contains("cannot be counted: ") && note.contains("was not instrumented"), "{note}");
}

#[test]
fn named_predictors_judge_a_campaign_and_leave_the_counts_of_others_alone() {
    let Some(lab) = lab("-O1", &["count", "decide"]) else { return };
    let misses = |arguments: &[&str]| {
        let said = lab.run(arguments);
        assert_eq!(said.code, Some(0), "{said:?}");
        lab.page()["cells"][1]["per_unit"]["branch-misses"].clone()
    };
    let usual = misses(&["--seed", "1"]);
    let named = misses(&["--seed", "1", "--predictor", "gshare:bits=8..9,always-taken"]);
    assert_eq!(named["predictor"], "gshare:bits=8");
    let by: Vec<&String> = named["by_predictor"].as_object().expect("each one's").keys().collect();
    assert_eq!(by, ["always-taken", "gshare:bits=8", "gshare:bits=9"]);
    // A toss of two is not taken, and the loop's own branch always is.
    near(named["by_predictor"]["always-taken"].as_f64().expect("a figure"), 0.5, 0.01);
    assert_eq!(named["by_predictor"]["gshare:bits=8"], named["value"]);
    assert_ne!(usual["predictor"], named["predictor"]);
    // Found in the ledger, where the newest counts are the named predictors'.
    assert_eq!(misses(&["--seed", "2"]), usual);
    lab.edit(|text| text.replace(EVENTS, ""));
    let named = misses(&["--predictor", "bimodal"]);
    near(figure(&lab.page(), "decide", "instructions"), 5.5, 0.05);
    assert_eq!(
        (named["predictor"].clone(), named["lower"].clone()),
        ("bimodal".into(), named["value"].clone())
    );
}

#[test]
fn an_unknown_predictor_is_refused_before_anything_is_measured() {
    let Some(lab) = Lab::with_program("", &["a", "b"]) else { return };
    let said = lab.run(&["--predictor", "gshar"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.errors.contains("did you mean `gshare`?"), "{}", said.errors);
    let said = lab.run(&["--predictor", "help"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.page.contains("zen4") && said.page.contains("source:"), "{}", said.page);
}
