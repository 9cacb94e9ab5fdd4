//! The sample page that compares builds of one variant with each other.

use super::cells::cell;
use super::contrasts::{built, contrast, dependence};
use super::page;
use crate::answer;
use crate::page::*;

/// Three variants by three compilers with two flag sets: two ghosts that alignment ends, one difference that is real.
pub(crate) fn builds() -> Page {
    let mut page = Page { contrasts: Vec::new(), cells: Vec::new(), input_dependence: Vec::new(), ..page() };
    page.question = "How much of a difference between compilers is placement?".to_owned();
    page.baseline = "direct".to_owned();
    let compilers = ["clang-16", "gcc-11", "gcc-12"];
    for flags in ["default", "a64"] {
        for compiler in compilers {
            let aligned = flags == "a64";
            let at = |bad: &str| if compiler == bad && !aligned { 1.65 } else { 1.37 };
            let moving = if aligned { [1.37; 4] } else { [1.37, 1.37, 1.65, 1.37] };
            for (variant, built_ns, offsets) in [
                ("virtual", at("gcc-12"), moving),
                ("crtp", at("gcc-11"), moving),
                ("visit", if compiler == "gcc-11" { 1.94 } else { 0.59 }, [0.59; 4]),
            ] {
                let scale = if variant == "visit" { built_ns / 0.59 } else { 1.0 };
                let one = cell(variant, "mono", compiler, offsets.map(|ns| ns * scale));
                page.cells.push(PageCell { flags: flags.to_owned(), as_built_ns: Some(built_ns), ..one });
            }
            page.layouts.push(layout(compiler, flags, aligned));
        }
        for (newer, older) in [("gcc-11", "clang-16"), ("gcc-12", "clang-16"), ("gcc-12", "gcc-11")] {
            for variant in ["virtual", "crtp", "visit"] {
                page.contrasts.push(across(&page, variant, &build(newer, flags), &build(older, flags)));
            }
        }
    }
    for compiler in compilers {
        for variant in ["virtual", "crtp", "visit"] {
            page.contrasts.push(across(&page, variant, &build(compiler, "a64"), &build(compiler, "default")));
        }
    }
    page.input_dependence = vec![InputDependentContrast {
        against: Some(build("gcc-11", "default")),
        ..dependence("gcc-12", "by how much depends on the input")
    }];
    page.answer = answer(&page);
    page
}

fn build(compiler: &str, flags: &str) -> Build {
    Build { compiler: compiler.to_owned(), flags: flags.to_owned() }
}

/// A variant against itself in another build, as the cells of the page have it.
fn across(page: &Page, variant: &str, own: &Build, other: &Build) -> PageContrast {
    let cell = |build: &Build| {
        let is =
            |c: &&PageCell| c.variant == variant && c.compiler == build.compiler && c.flags == build.flags;
        page.cells.iter().find(is).expect("the cell was just made")
    };
    let mean = |cell: &PageCell| cell.ns_per_unit.map_or(1.0, |spread| spread.median);
    let (left, right) = (cell(own), cell(other));
    // Means differ by the placements of one in four; on average over rotations they do not.
    let code = if variant == "visit" { mean(left) / mean(right) } else { 1.001 };
    let ratio = left.as_built_ns.unwrap_or(1.0) / right.as_built_ns.unwrap_or(1.0);
    let verdict = match code {
        code if code < 0.99 => Verdict::Faster,
        code if code > 1.01 => Verdict::Slower,
        _ => Verdict::Equivalent,
    };
    let ghost = verdict == Verdict::Equivalent && !(0.99..1.01).contains(&ratio);
    let says = if ghost { AsBuiltSays::Ghost } else { AsBuiltSays::Confirmed };
    let mut found = built(contrast(variant, "mono", &own.compiler, verdict, code), ratio, says);
    found.baseline = variant.to_owned();
    found.flags = own.flags.clone();
    found.axis = if own.compiler == other.compiler { Axis::Flags } else { Axis::Compiler };
    found.against = Some(other.clone());
    found
}

fn layout(compiler: &str, flags: &str, aligned: bool) -> BuildLayout {
    let start: u64 = if compiler == "gcc-12" { 0x1660 } else { 0x1690 };
    let step = if aligned { 64 } else { 0x30 };
    let names =
        [("run_virtual", Some("virtual")), ("run_visit", Some("visit")), ("G1::store(int*, int)", None)];
    let functions = names.iter().zip(0u64..).map(|(&(name, variant), number)| {
        let address = if aligned { 0x1680 } else { start } + number * step;
        let variant = variant.map(str::to_owned);
        Landing { name: name.to_owned(), variant, address, size: 28, offset: address % 64 }
    });
    BuildLayout {
        compiler: compiler.to_owned(),
        flags: flags.to_owned(),
        text_bytes: if aligned { 11_733 } else { 9_605 },
        functions: functions.collect(),
    }
}
