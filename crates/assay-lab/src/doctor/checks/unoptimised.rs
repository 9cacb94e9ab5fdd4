//! Code that was built without optimisation.
//!
//! First what the compiler wrote down: gcc's producer holds its flags, where -O0, -Og or no -O means none. Where nobody wrote
//! it down (clang, Zig, Rust), the code itself: unoptimised code keeps each variable on the stack and loads what it has just
//! stored (`assay_pure::placement::optimised`). Traced, only functions that make a hundredth of the branches or instructions
//! count; one finding per file of machine code, at the function that executes
//! most.

use super::super::names::is_library;
use super::super::subject::Subject;
use super::{Found, said};
use assay_pure::placement::optimised::level_of_producer;
use assay_report::doctor::page::Place as Spot;
use std::collections::BTreeMap;

/// The part of all instructions that a function must execute to count.
const SHARE: f64 = 0.01;
/// The part of what functions execute that are judged by their shape, from which on the shape counts.
const OF_SHAPE: f64 = 0.25;

/// A function with what it executed.
struct Function {
    image: usize,
    start: u64,
    instructions: u64,
    branches: u64,
    misses: f64,
}

impl Function {
    /// What it counts for: the instructions executed; where nothing was, each function alike.
    fn weight(&self) -> u64 {
        self.instructions.max(1)
    }
}

/// Looks for unoptimised code.
pub fn look(subject: &Subject) -> Vec<Found> {
    let mut files: BTreeMap<usize, File> = BTreeMap::new();
    for function in functions(subject) {
        let file = files.entry(function.image).or_default();
        match evidence(subject, &function) {
            Evidence::Nothing => {}
            Evidence::Optimised => file.executed += function.weight(),
            Evidence::Written(text) => file.written.push((entry(subject, &function), function, text)),
            Evidence::Shape(text) => {
                file.executed += function.weight();
                file.shaped.push((entry(subject, &function), function, text));
            }
        }
    }
    files.into_values().filter_map(|file| finding(subject, file)).collect()
}

/// A function that is unoptimised, where it begins, and what says so.
type Unoptimised = (Spot, Function, String);

/// What was found in one file of machine code.
#[derive(Default)]
struct File {
    /// By what the compiler wrote down.
    written: Vec<Unoptimised>,
    /// By their shape.
    shaped: Vec<Unoptimised>,
    /// What all functions weigh that are judged by their shape.
    executed: u64,
}

/// What says whether a function is optimised.
enum Evidence {
    /// It is, as far as its shape tells.
    Optimised,
    /// It is, or nothing tells.
    Nothing,
    /// The compiler wrote down that it is not.
    Written(String),
    /// Its shape says that it is not.
    Shape(String),
}

/// The functions that count.
fn functions(subject: &Subject) -> Vec<Function> {
    let mut known: BTreeMap<(usize, u64), Function> = BTreeMap::new();
    for (image, file) in subject.images.iter().enumerate().filter(|(image, _)| subject.own[*image]) {
        for function in file.functions() {
            let new = Function { image, start: function.start, instructions: 0, branches: 0, misses: 0.0 };
            known.insert((image, function.start), new);
        }
    }
    let start = |image: usize, address: u64| Some((image, subject.images[image].function(address)?.start));
    for (&(image, address), &times) in &subject.executed {
        if let Some(function) = start(image, address).and_then(|key| known.get_mut(&key)) {
            function.instructions += times;
        }
    }
    for (site, cost) in subject.sites.iter().zip(&subject.costs) {
        let place = site.seen.place;
        let key = place.image.and_then(|image| start(image, place.address));
        if let Some(function) = key.and_then(|key| known.get_mut(&key)) {
            function.branches += site.seen.executed;
            function.misses += cost;
        }
    }
    let whole = subject.whole;
    let counts = |function: &Function| {
        let part = |own: u64, all: u64| own as f64 >= SHARE * all.max(1) as f64;
        !subject.is_traced
            || part(function.instructions, whole.instructions)
            || part(function.branches, whole.branches)
    };
    known.into_values().filter(counts).collect()
}

/// What says whether a function is optimised.
fn evidence(subject: &Subject, function: &Function) -> Evidence {
    let image = &subject.images[function.image];
    if let Some(producer) = image.producer(function.start)
        && let Some(level) = level_of_producer(&producer)
    {
        if !level.is_unoptimised() {
            return Evidence::Nothing;
        }
        let compiler: Vec<&str> = producer.split(' ').take(3).collect();
        return Evidence::Written(format!("{} wrote down {level}", compiler.join(" ")));
    }
    let shape = image.shape(function.start);
    if !shape.is_unoptimised() {
        return if shape.instructions < 10 { Evidence::Nothing } else { Evidence::Optimised };
    }
    Evidence::Shape(format!(
        "{} of {} instructions are for variables kept on the stack, and {} load what was just stored there",
        shape.of_stack, shape.instructions, shape.reloads
    ))
}

fn entry(subject: &Subject, function: &Function) -> Spot {
    subject.spot(function.image, function.start)
}

/// The finding of a file: what the compiler wrote down says it alone; by their shape a part of the functions must say it,
/// because one in a hundred looks so in code that is optimised.
fn finding(subject: &Subject, file: File) -> Option<Found> {
    let shaped: u64 = file.shaped.iter().map(|(_, function, _)| function.weight()).sum();
    let mut functions = file.written;
    if shaped as f64 >= OF_SHAPE * file.executed.max(1) as f64 && file.shaped.len() > 1 {
        functions.extend(file.shaped);
    }
    // Start-up files of the toolchain are nobody's fault.
    functions.retain(|(spot, ..)| spot.file.as_deref().is_none_or(|file| !is_library(file)));
    functions.sort_by_key(|(_, function, _)| std::cmp::Reverse(function.instructions));
    let (place, first, evidence) = functions.first()?;
    Some(Found {
        saw: format!("the code is unoptimised: {evidence}"),
        place: place.clone(),
        executed: subject.is_traced.then(|| entries(subject, first)),
        branches: functions.iter().map(|(_, function, _)| function.branches).sum(),
        misses: functions.iter().map(|(_, function, _)| function.misses).sum(),
        why: "Where time goes in unoptimised code says nothing about the code that is shipped: every variable lives in memory \
              and every small function is called."
            .to_owned(),
        remedy: "build with -O2 (Zig: ReleaseFast or ReleaseSafe, Rust: --release); keep -g for lines".to_owned(),
        also: functions.iter().skip(1).map(|(spot, ..)| said(spot)).collect(),
    })
}

/// Executions of a function's first instruction.
fn entries(subject: &Subject, function: &Function) -> u64 {
    subject.executed.get(&(function.image, function.start)).copied().unwrap_or(0)
}
