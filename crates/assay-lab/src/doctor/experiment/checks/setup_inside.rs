//! Is something timed that belongs ahead of the region? Functions called and calls of the system made between the marks, in a
//! call when nothing is new.

use super::{Found, Looked, found_or_well, nothing_examined};
use crate::doctor::experiment::facts::{Cell, Facts};
use crate::doctor::names::{Purpose, purpose};
use assay_report::prose::plural;
use assay_report::sites::names::short;

/// Names that a message shows.
const SHOWN: usize = 4;

/// What allocates, by the names of C, C++, Rust and Zig.
const ALLOCATION: [&str; 17] = [
    "malloc",
    "__libc_malloc",
    "calloc",
    "__libc_calloc",
    "realloc",
    "__libc_realloc",
    "reallocarray",
    "aligned_alloc",
    "posix_memalign",
    "memalign",
    "free",
    "__libc_free",
    "cfree",
    "operator new",
    "operator delete",
    "operator new[]",
    "operator delete[]",
];

/// What opens, reads and writes files by way of a library.
const FILES: [&str; 14] = [
    "fopen",
    "fopen64",
    "_IO_fopen",
    "fclose",
    "_IO_fclose",
    "fread",
    "_IO_fread",
    "fwrite",
    "_IO_fwrite",
    "fgets",
    "getline",
    "getdelim",
    "fscanf",
    "fflush",
];

const WORDS: (&str, &str) = (
    "It is timed with the code under test, once per call, and differs from machine to machine more than that code does.",
    "do it ahead of the region: in a prepared variant (ASSAY_VARIANT_PREPARED), or once in a static buffer; if it is what is \
     measured, say so by [[accept]]",
);

pub fn look(facts: &Facts) -> Looked {
    if let Some(reason) = &facts.not_traced {
        return Looked::CannotTell(reason.clone());
    }
    if facts.cells.iter().all(|cell| cell.work.is_none()) {
        return nothing_examined();
    }
    let found = |cell: &Cell| Some(Found::of(facts, cell, inside(facts, cell)?, WORDS));
    found_or_well(facts.cells.iter().filter_map(found).collect(), None)
}

fn inside(facts: &Facts, cell: &Cell) -> Option<String> {
    let work = cell.work.as_ref()?;
    let mut parts: Vec<String> = Vec::new();
    let named = work.calls.iter().filter_map(|(name, times)| Some((kind(name)?, name, *times)));
    for (kind, name, times) in named.take(SHOWN) {
        let times = if times == 1 { "once".to_owned() } else { format!("{times} times") };
        parts.push(format!("{} ({kind}) {times}", short(name)));
    }
    if work.system_calls > 0 {
        parts.push(plural(work.system_calls, "system call"));
    }
    let units = plural(work.sizes.units, &facts.unit);
    (!parts.is_empty()).then(|| format!("in a call of {units}: {}", parts.join(", ")))
}

/// What a function is for, if it has no place in a region.
fn kind(name: &str) -> Option<&'static str> {
    let bare = short(name);
    let bare = bare.split('(').next().unwrap_or_default().trim();
    if ALLOCATION.contains(&bare) || bare.starts_with("alloc::alloc::") || bare.starts_with("__rust_alloc") {
        return Some("memory");
    }
    if FILES.contains(&bare) {
        return Some("a file");
    }
    Some(match purpose(name)? {
        Purpose::Environment => "the environment",
        Purpose::Clock => "a clock",
        Purpose::Text => "text",
        Purpose::Random => "random numbers",
        Purpose::System => "the system",
    })
}
