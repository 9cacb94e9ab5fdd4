//! Is only the work in the measured region, the same in each call, and long enough for the clock?

use super::in_cells;
use super::work::{is_dead, is_hoisted, too_fast};
use crate::examine::check::{Advice, CheckFinding, CheckOutcome};
use crate::examine::facts::{ExecutedCounts, ExperimentFacts, PlannedSample, TracedCell};
use crate::examine::names::{FunctionPurpose, purpose};
use assay_pure::protocol::VariantKind;
use assay_pure::stats::quantile::quantile;
use assay_pure::words::{count, plural, time};
use assay_report::sites::names::short;

/// A settled call that executes less than this share of the first has found something done.
const DONE_BEFORE: f64 = 0.9;
/// A last call that executes more than this times the second has found something left behind.
const GREW: f64 = 1.05;
/// Instructions that must be between them, or a branch more or less decides.
const LEAST: u64 = 256;
/// The upper decile of windows over the lower one from which on they are unequal.
const UNEQUAL: f64 = 1.5;
/// Fewer windows of one size have no deciles.
pub const FEWEST_WINDOWS: usize = 8;
/// A sample of so many windows averages over them.
const AVERAGED: u64 = 16;
/// Names that a message shows.
const SHOWN: usize = 4;
/// A sample must last so many times what an empty region takes.
const TIMES: f64 = 100.0;
/// A variant that takes so many times as long sets the number of calls for the other.
const SLOWER: f64 = 10.0;

const DONE: Advice = Advice::new(
    "Samples time later calls, on data that an earlier call has already worked on (a sorted list sorted again).",
    "give each call fresh data: make a copy in the call, in all variants alike, and subtract nothing",
);
const GROWS: Advice = Advice::new(
    "The later a sample is taken, the longer it takes: the time depends on how often assay calls.",
    "free or reset in the call what the call leaves behind, or recreate the state in each call",
);
const WINDOWS: Advice = Advice::new(
    "Samples of few calls then differ by their windows, not by the machine, and more of them are needed for the same certainty.",
    "use larger windows (window_units), so that each holds the same mix, or an input for each kind of work",
);
const SETUP: Advice = Advice::new(
    "Setup is timed with the code under test in each call, and differs between machines more than that code does.",
    "do it before the region: in a prepared variant (ASSAY_VARIANT_PREPARED), or once in a static buffer; if it is what you \
     measure, mark it with [[accept]]",
);
const TOO_SHORT: &str = "What the clock takes is subtracted, but known only to some nanoseconds: that is a visible part of so short \
a sample, and so are the clock's steps.";

const FIRST_TOUCH: Advice = Advice::new(
    "The system clears and maps a page when it is touched first: that is the system's time, and a program that keeps using its \
     memory does not pay for it.",
    "allocate and touch the memory before the region (a prepared variant, or a static buffer) and use it again in each call; if new \
     memory is what you measure, mark it with [[accept]]",
);
const TOO_SMALL: Advice = Advice::new(
    "The loop that calls the function is timed with it, and is the same for all variants: it hides what they differ by.",
    "give a call more units (window_units), or register a loop (ASSAY_LOOP) that takes one unit per iteration",
);

/// New pages in each call from which on they are no accident.
const NEW_PAGES: f64 = 2.0;
/// What the system needs for a new page, nanoseconds: an exception and 4 KiB cleared; 250 without and 700 with a hypervisor.
const NEW_PAGE_NS: f64 = 400.0;
/// New pages are told if they take at least this part of the call.
const TOUCHING: f64 = 0.05;
/// What calling a function that does nothing takes, nanoseconds, with the loop around it: some ten cycles.
const EMPTY_CALL_NS: f64 = 2.0;
/// A call must take so many times as long.
const CALLS: f64 = 3.0;

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

/// Is each call the same work? Instructions of calls one after another on the same bytes, and of neighbouring windows.
pub fn unequal_work(facts: &ExperimentFacts) -> CheckOutcome {
    let mut found = Vec::new();
    for cell in facts.cells.iter().filter(|cell| !is_hoisted(cell)) {
        let Some(work) = &cell.work else { continue };
        let evidence =
            [(grows(work), GROWS), (done_before(work), DONE), (unequal_windows(cell, work), WINDOWS)];
        found.extend(
            evidence
                .into_iter()
                .filter_map(|(saw, advice)| Some(CheckFinding::new(facts.place(cell), saw?, advice))),
        );
    }
    CheckOutcome::found_or(found, None)
}

fn grows(work: &ExecutedCounts) -> Option<String> {
    let later = work.passes.get(1..).filter(|later| later.len() >= 3)?;
    let rises = later.windows(2).all(|pair| pair[1] > pair[0]);
    let (second, last) = (*later.first()?, *later.last()?);
    let much = last as f64 > GREW * second as f64 && last - second >= LEAST;
    let each = || work.passes.iter().map(|passes| count(*passes)).collect::<Vec<_>>().join(" - ");
    (rises && much).then(|| format!("calls on the same bytes execute more and more instructions: {}", each()))
}

fn done_before(work: &ExecutedCounts) -> Option<String> {
    let fell = |passes: &[u64]| {
        let (first, last) = (*passes.first()?, *passes.last()?);
        // Falling once: what goes on falling is a state that shrinks, and reported all the same.
        Some(first >= last + LEAST && (last as f64) < DONE_BEFORE * first as f64)
    };
    let again = fell(&work.other).or_else(|| fell(&work.half))?;
    (fell(&work.passes)? && again).then(|| {
        format!(
            "the first call on some bytes executes {} instructions and later ones {}; other bytes start over",
            count(work.passes[0]),
            count(work.passes[work.passes.len() - 1])
        )
    })
}

fn unequal_windows(cell: &TracedCell, work: &ExecutedCounts) -> Option<String> {
    let sample = cell.sample.filter(|sample| sample.iterations < AVERAGED)?;
    let most = work.windows.iter().map(|(units, _)| *units).max()?;
    let full = work.windows.iter().filter(|(units, _)| *units == most && *units > 0);
    let each: Vec<f64> = full.map(|(units, instructions)| *instructions as f64 / *units as f64).collect();
    if each.len() < FEWEST_WINDOWS {
        return None;
    }
    let (low, high) = (quantile(&each, 0.1)?, quantile(&each, 0.9)?);
    (low > 0.0 && high > UNEQUAL * low).then(|| {
        format!(
            "windows of {} execute {low:.1} to {high:.1} instructions per unit, and a sample holds only {}",
            plural(most, "unit"),
            plural(sample.iterations, "window")
        )
    })
}

/// Is something timed that belongs before the region? Functions called and system calls made between the marks, in a call when
/// nothing is new.
pub fn setup_inside(facts: &ExperimentFacts) -> CheckOutcome {
    in_cells(facts, |cell| Some((setup(facts, cell)?, SETUP)))
}

fn setup(facts: &ExperimentFacts, cell: &TracedCell) -> Option<String> {
    let work = cell.work.as_ref()?;
    let mut parts: Vec<String> = Vec::new();
    let named = work.calls.iter().filter_map(|(name, times)| Some((setup_kind(name)?, name, *times)));
    for (kind, name, times) in named.take(SHOWN) {
        parts.push(format!("{} ({kind}) {}", short(name), plural(times, "time")));
    }
    if work.system_calls > 0 {
        parts.push(plural(work.system_calls, "system call"));
    }
    let units = plural(work.sizes.units, &facts.unit);
    (!parts.is_empty()).then(|| format!("a call of {units} makes: {}", parts.join(", ")))
}

/// What a function is for, if it has no place in a region.
fn setup_kind(name: &str) -> Option<&'static str> {
    let bare = short(name);
    let bare = bare.split('(').next().unwrap_or_default().trim();
    if ALLOCATION.contains(&bare) || bare.starts_with("alloc::alloc::") || bare.starts_with("__rust_alloc") {
        return Some("memory");
    }
    if FILES.contains(&bare) {
        return Some("file");
    }
    Some(match purpose(name)? {
        FunctionPurpose::Environment => "environment",
        FunctionPurpose::Clock => "clock",
        FunctionPurpose::Text => "text",
        FunctionPurpose::Random => "random numbers",
        FunctionPurpose::System => "system",
    })
}

/// Is a sample long compared with what the clock itself takes? All variants of an input get one number of calls per sample, so a
/// slow one leaves the fast one with too few.
pub fn too_few_units(facts: &ExperimentFacts) -> CheckOutcome {
    let mut found = Vec::new();
    let mut shortest = f64::INFINITY;
    for cell in &facts.cells {
        let Some(sample) = cell.sample else { continue };
        let lasts = sample.call_ns * sample.iterations as f64;
        shortest = shortest.min(lasts);
        let is_called = cell.kind.is_some_and(VariantKind::is_windowed);
        // What does nothing, or only a part, is fast for another reason, which another check reports.
        let is_reported = is_dead(facts, cell) || is_hoisted(cell) || too_fast(facts, cell).is_some();
        if lasts < TIMES * sample.region_ns && !is_reported {
            let saw = format!(
                "a sample of {} lasts {}, and an empty region takes {} on the same clock",
                plural(sample.iterations, "call"),
                time(lasts),
                time(sample.region_ns)
            );
            found.push(CheckFinding::new(facts.place(cell), saw, longer(facts, cell, &sample)));
        } else if is_called && sample.call_ns < CALLS * EMPTY_CALL_NS && !is_reported {
            let saw = format!(
                "a call takes {}, of which the loop around it is about {}",
                time(sample.call_ns),
                time(EMPTY_CALL_NS)
            );
            found.push(CheckFinding::new(facts.place(cell), saw, TOO_SMALL));
        }
    }
    let saw = shortest.is_finite().then(|| format!("the shortest sample lasts {}", time(shortest)));
    CheckOutcome::found_or(found, saw)
}

/// Does each call touch memory that no call has touched before? What the system takes for it is timed, too.
pub fn first_touch(facts: &ExperimentFacts) -> CheckOutcome {
    if facts.cells.iter().all(|cell| cell.new_pages.is_none()) {
        return CheckOutcome::cannot_tell("the kernel does not report page faults");
    }
    in_cells(facts, |cell| {
        let (pages, sample) = (cell.new_pages?, cell.sample.as_ref()?);
        let is_much = pages >= NEW_PAGES && pages * NEW_PAGE_NS >= TOUCHING * sample.call_ns;
        is_much.then(|| {
            let saw = format!(
                "each call of {} touches {} for the first time",
                time(sample.call_ns),
                plural(pages.round() as u64, "page")
            );
            (saw, FIRST_TOUCH)
        })
    })
}

fn longer(facts: &ExperimentFacts, cell: &TracedCell, sample: &PlannedSample) -> Advice {
    let slowest = facts
        .cells
        .iter()
        .filter(|other| other.input == cell.input)
        .filter_map(|other| Some((other.sample?.call_ns, other.variant.as_str())));
    let slowest = slowest.max_by(|one, other| one.0.total_cmp(&other.0));
    match slowest.filter(|(ns, _)| *ns > SLOWER * sample.call_ns) {
        Some((ns, variant)) => Advice::with(
            TOO_SHORT,
            format!(
                "`{variant}` takes {} per call, which sets the number of calls for all: move it to another experiment, or use \
                 smaller windows for both",
                time(ns)
            ),
        ),
        None => Advice::new(TOO_SHORT, "give a call more units (window_units)"),
    }
}
