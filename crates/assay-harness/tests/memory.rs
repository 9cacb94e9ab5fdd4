//! The memory of fresh states, and allocations where the lab counts them.

use crate::support::{build, compilers, input, scratch, talk};
use std::path::PathBuf;

fn program(name: &str, text: &str, flags: &[&str]) -> PathBuf {
    let source = scratch(&format!("{name}.c"));
    std::fs::write(&source, text).expect("the scratch directory is writable");
    let all = [&["-O1", "-std=gnu11"], flags].concat();
    build(compilers(&["gcc", "clang"])[0], &all, &[source], name)
}

/// A first state of 16 bytes, then larger ones; says at its end how many there were.
const GROWING: &str = r#"
#include <assay.h>
static int made;
static void *make(const uint8_t *data, size_t size)
{
    size_t bytes = size == 1 ? 16 : 4 << 20;
    (void)data;
    made++;
    return memset(malloc(bytes), 1, bytes);
}
static uint64_t run(void *state) { return *(uint8_t *)state; }
static void tell(void) { fprintf(stderr, "made %d\n", made); }
ASSAY_VARIANT_FRESH("growing", make, run, free)
int main(int argc, char **argv) { atexit(tell); return assay_main(argc, argv); }
"#;

#[test]
fn states_that_grow_do_not_outgrow_their_memory() {
    let program = program("growing", GROWING, &[]);
    let mut requests = format!("load id=0 size=4096 units=200 windows=200 path={}\n", input().display());
    (0..200)
        .for_each(|window| requests += &format!("window {window} {} 1\n", if window == 0 { 1 } else { 2 }));
    requests += "measure variant=0 input=0 window=0 iterations=200 warmup=0 samples=1\nbye\n";
    let said = talk(&program, requests.as_bytes(), 1 << 16, "60");
    assert!(said.lines().iter().any(|line| line.contains("take more memory")), "{:?}", said.lines());
    let made = said.stderr.trim().strip_prefix("made ").and_then(|made| made.parse::<u32>().ok());
    // Some are tried to learn what one costs; then at most twice the limit of 64 MiB.
    assert!(made.is_some_and(|made| made < 48), "{}", said.stderr);
}

/// Stands in for the lab's library in the program itself.
const HEAP: &str = r#"
#include <assay.h>
static struct { uint64_t allocations, allocated; int64_t live, peak; } counts;
extern void *__libc_malloc(size_t bytes);
void *malloc(size_t bytes) { counts.allocations += COUNTED; return __libc_malloc(bytes); }
__attribute__((constructor)) static void tell(void)
{
    static char text[32];
    snprintf(text, sizeof text, "%llx", (unsigned long long)(uintptr_t)&counts);
    setenv("ASSAY_HEAP", text, 1);
}
static uint64_t run(const uint8_t *data, size_t size)
{
    void *volatile block = malloc(size);
    free(block);
    return data[0];
}
ASSAY_VARIANT("run", run)
ASSAY_MAIN()
"#;

#[test]
fn an_allocator_that_nothing_counts_is_not_one_that_allocates_nothing() {
    for (counted, is_told) in [("-DCOUNTED=1", true), ("-DCOUNTED=0", false)] {
        let program = program(&format!("heap{counted}"), HEAP, &["-D_GNU_SOURCE", counted]);
        let requests = format!(
            "load id=0 size=4096 units=1 windows=1 path={}\nwindow 0 4096 1\n\
             trace variant=0 input=0 window=0 windows=1 passes=1\nbye\n",
            input().display()
        );
        let said = talk(&program, requests.as_bytes(), 1 << 16, "60").lines();
        let traced = said.iter().find(|line| line.starts_with("traced ")).expect("it walked");
        assert_eq!(traced.contains("allocations=1"), is_told, "{traced}");
        assert_eq!(traced.contains("allocations="), is_told, "{traced}");
    }
}
