//! Functions that differ around the same loops: proven to be equivalent where the loops execute the same on the same addresses, and
//! only there. Limits: x86-64 only; skipped with the reason where a compiler or the emulator is missing.

use crate::trace_fixtures;
use serde_json::Value;
use std::process::Command;

/// `a`, and five that have its loop: `flagged` tests a flag first; `other_table` reads a table with the same bytes elsewhere;
/// `twice` walks through everything once more, and drops what it finds; `serialises` waits for the processor once a call; `later` does
/// other work from its second walk on.
const PROGRAM: &str = r#"#include <assay.h>
#include <string.h>
static uint64_t tables[2][256];
static volatile int flag;
__attribute__((constructor)) static void fill(void)
{
    for (size_t i = 0; i < 256; i++)
        tables[0][i] = tables[1][i] = i * 0x9E3779B97F4A7C15u;
}
static inline __attribute__((always_inline)) uint64_t work(const uint64_t *table, const uint8_t *data, size_t size)
{
    uint64_t sum = 0;
    __asm__ volatile("" : "+r"(table));
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ table[data[i]]) * 0x9E3779B97F4A7C15u;
    return sum;
}
static __attribute__((noinline, cold)) uint64_t never(const uint8_t *data, size_t size) { return data[size / 2]; }
static uint64_t a(const uint8_t *data, size_t size) { return work(tables[0], data, size); }
static uint64_t flagged(const uint8_t *data, size_t size)
{
    if (flag)
        return never(data, size);
    return work(tables[0], data, size);
}
static uint64_t other_table(const uint8_t *data, size_t size)
{
    if (flag)
        return never(data, size);
    return work(tables[1], data, size);
}
static __attribute__((noinline, cold)) uint64_t otherwise(const uint8_t *data, size_t size) { return work(tables[1], data, size); }
static uint64_t later(const uint8_t *data, size_t size)
{
    static volatile uint32_t calls;
    calls = calls + 1;
    if (calls > 8)
        return otherwise(data, size);
    return work(tables[0], data, size);
}
static uint64_t serialises(const uint8_t *data, size_t size)
{
    uint32_t a = 0, b, c = 0, d;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return work(tables[0], data, size);
}
static __attribute__((noinline, noclone)) uint64_t whole(const uint8_t *data, size_t size) { return work(tables[0], data, size); }
static uint64_t twice(const uint8_t *data, size_t size)
{
    uint64_t unused = whole(data, size);
    __asm__ volatile("" : : "r"(unused));
    return work(tables[0], data, size);
}
ASSAY_VARIANT("a", a)
ASSAY_VARIANT("flagged", flagged)
ASSAY_VARIANT("other_table", other_table)
ASSAY_VARIANT("twice", twice)
ASSAY_VARIANT("serialises", serialises)
ASSAY_VARIANT("later", later)
ASSAY_MAIN()
"#;

const EXPERIMENT: &str = r#"question = "Do these differ?"
unit = "byte"
baseline = "a"
variants = ["a", "flagged", "other_table", "twice", "serialises", "later"]
compilers = ["COMPILER"]
flags = [{ name = "set", flags = ["-O2", "-falign-loops=16", "-falign-functions=16"] }]
budget = 20

[program]
sources = ["program.c"]

[inputs.bytes]
generator = "uniform_value"
max = 255
units = 65536
window_units = 16384
format = "bytes"

[placement]
rotations = 1
max_rotations = 1
phases = [0]
"#;

#[test]
fn loops_that_execute_the_same_on_the_same_addresses_prove_it_and_on_others_they_do_not() {
    if !cfg!(target_arch = "x86_64") {
        println!("skipped: only x86-64 is followed");
        return;
    }
    if let Err(refusal) = assay_trace::available(Some(trace_fixtures::plugin())) {
        println!("skipped: {refusal}");
        return;
    }
    for compiler in ["gcc", "clang"] {
        if !Command::new(compiler).arg("--version").output().is_ok_and(|output| output.status.success()) {
            println!("skipped: there is no {compiler}");
            continue;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("program.c"), PROGRAM).expect("written");
        let experiment = EXPERIMENT.replace("COMPILER", compiler);
        std::fs::write(folder.path().join("experiment.toml"), experiment).expect("written");
        let run = |words: &[&str]| -> Value {
            let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
            command.args(["run", "experiment.toml", "--quiet", "--json", "page.json"]).args(words);
            let output = command.current_dir(folder.path()).output().expect("assay starts");
            assert!(output.status.success(), "{compiler}: {}", String::from_utf8_lossy(&output.stderr));
            serde_json::from_slice(&std::fs::read(folder.path().join("page.json")).expect("written"))
                .expect("JSON")
        };
        let page = run(&[]);
        let proven = |page: &Value| -> Vec<String> {
            let contrasts = page["contrasts"].as_array().expect("a list");
            let proven = contrasts.iter().filter(|contrast| contrast["proven"] == true);
            proven.map(|contrast| contrast["candidate"].as_str().expect("a name").to_owned()).collect()
        };
        assert_eq!(proven(&page), ["flagged"], "{compiler}: {page:#}");
        let flagged =
            page["contrasts"].as_array().expect("a list").iter().find(|one| one["candidate"] == "flagged");
        let flagged = flagged.expect("it was measured");
        assert_eq!(flagged["verdict"], "equivalent");
        let reason = flagged["reasons"][0].as_str().expect("a reason");
        assert!(reason.contains("execute the same") && reason.contains("equivalent by proof"), "{reason}");
        let answer = page["answer"].as_str().expect("an answer");
        assert!(answer.contains("flagged executes the same loops as a"), "{answer}");
        // What was followed is a fact of the artifact: a campaign without the time for it finds it.
        assert_eq!(proven(&run(&["--budget", "0.01"])), ["flagged"], "{compiler}");
    }
}
