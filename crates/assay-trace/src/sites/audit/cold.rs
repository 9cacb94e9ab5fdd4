//! Hints that show in the machine code: calls of functions marked cold, and code set apart as cold.

use super::super::blocks::{block, is_one_sided};
use super::super::image::ModuleImage;
use super::super::instruction::InstructionFlow;
use super::written::ScannedFile;
use super::{AuditedHint, Located};
use assay_pure::trace::hints::{Balance, ColdFunction, HintJudgement, Unclear, judge};
use assay_report::sites::names::short;
use assay_report::sites::page::HintOrigin;
use std::collections::{BTreeMap, BTreeSet};

/// What a row is about: origin, image, what is cold, file and line of the branch, the function it is in.
type Key = (HintOrigin, usize, String, Option<String>, u32);

/// Compares the branches that no written hint decided with what their cold sides say.
pub fn audit(
    images: &[ModuleImage],
    rest: Vec<(usize, &Located)>,
    files: &BTreeMap<String, ScannedFile>,
) -> Vec<AuditedHint> {
    let marked = marked_functions(images, files);
    let mut rows: BTreeMap<Key, (AuditedHint, Balance)> = BTreeMap::new();
    for (number, site) in rest.into_iter().filter(|(_, site)| site.seen.class.is_conditional()) {
        let Some(image) = site.seen.place.image else { continue };
        let Some((origin, what, cold_is_taken)) = cold_side(&images[image], &marked[image], site) else {
            continue;
        };
        let own = site.frames.first();
        let (file, line) = (own.and_then(|own| own.file.clone()), own.map_or(0, |own| own.at.line));
        // Without lines each branch is a row of its own, told apart by its address.
        let key_line = if line == 0 { number as u32 } else { line };
        let row = rows.entry((origin, image, what.clone(), file.clone(), key_line)).or_insert_with(|| {
            let by_symbol =
                || images[image].function(site.seen.place.address).map(|function| function.name());
            let held = AuditedHint {
                origin,
                form: None,
                file,
                line,
                function: own.and_then(|own| own.function.clone()).or_else(by_symbol),
                text: what,
                judgement: HintJudgement::unclear(Unclear::NoBranch),
                likely: 0,
                unlikely: 0,
                unknown: 0,
                sites: Vec::new(),
            };
            (held, Balance::default())
        });
        let (taken, not_taken) = (site.seen.taken, site.seen.executed - site.seen.taken);
        let (cold, warm) = if cold_is_taken { (taken, not_taken) } else { (not_taken, taken) };
        row.0.sites.push(number);
        row.1 = row.1.plus(Balance { yes: cold, no: warm, unknown: 0, known_by_both: cold + warm });
    }
    let finish = |(mut held, balance): (AuditedHint, Balance)| {
        held.count(false, &balance);
        held.judgement = judge(false, &balance);
        held
    };
    rows.into_values().map(finish).collect()
}

/// Which side of a branch is cold and why: by a call of a marked function, or by where the compiler put it.
fn cold_side(
    image: &ModuleImage,
    marked: &BTreeMap<u64, String>,
    site: &Located,
) -> Option<(HintOrigin, String, bool)> {
    let at = site.seen.place.address;
    let target = site.seen.target?;
    let own = image.function(at)?;
    let code = image.code(at);
    let next = code.instructions[code.index(at)?].end();
    let calls = |start: u64| -> Option<&String> {
        // A call in tail position is a jump, and that may be the branch itself.
        if let Some(name) = marked.get(&start) {
            return Some(name);
        }
        let code = image.code(start);
        let is_own = image.function(start).is_some_and(|function| function.start == own.start);
        if is_own && !is_one_sided(&code, start, at) {
            return None;
        }
        block(&code, start).iter().find_map(|instruction| match instruction.flow {
            InstructionFlow::Call(callee) | InstructionFlow::Jump(callee) => marked.get(&callee),
            _ => None,
        })
    };
    match (calls(target), calls(next)) {
        (Some(name), None) => {
            return Some((HintOrigin::ColdCall, format!("calls {name}, which is marked cold"), true));
        }
        (None, Some(name)) => {
            return Some((HintOrigin::ColdCall, format!("calls {name}, which is marked cold"), false));
        }
        (Some(_), Some(_)) => return None,
        (None, None) => {}
    }
    let part = image.function(target).filter(|function| function.is_cold_part() && !own.is_cold_part())?;
    let name = short(&part.name());
    Some((HintOrigin::ColdPart, format!("the compiler put it out of line, into {name}"), true))
}

/// Per image, where the functions begin that a source marks as cold, with their names.
fn marked_functions(
    images: &[ModuleImage],
    files: &BTreeMap<String, ScannedFile>,
) -> Vec<BTreeMap<u64, String>> {
    let mut by_name: BTreeMap<&str, Vec<(&str, &ColdFunction)>> = BTreeMap::new();
    for (file, scanned) in files {
        for cold in &scanned.scan.cold_functions {
            by_name.entry(&cold.name).or_default().push((file, cold));
        }
    }
    if by_name.is_empty() {
        return vec![BTreeMap::new(); images.len()];
    }
    let of_image = |image: &ModuleImage| {
        let mut found = BTreeMap::new();
        for function in image.functions().filter(|function| !function.is_cold_part()) {
            let name = function.name();
            let last = last_component(&name);
            let Some(marks) = by_name.get(last.as_str()) else { continue };
            if marks.iter().any(|(file, cold)| is_that(image, function.start, file, cold, function.symbol)) {
                found.insert(function.start, last);
            }
        }
        found
    };
    images.iter().map(of_image).collect()
}

/// The last part of a path, without arguments and what the compiler appended.
fn last_component(name: &str) -> String {
    let short = short(name);
    let last = short.rsplit("::").next().unwrap_or(&short);
    last.split('.').next().unwrap_or(last).to_owned()
}

/// Whether the function that begins at an address is the one that the source marks.
fn is_that(image: &ModuleImage, start: u64, file: &str, cold: &ColdFunction, symbol: &str) -> bool {
    if !cold.is_definition {
        // Declared elsewhere: a name of C is a name.
        return symbol.split('.').next() == Some(cold.name.as_str());
    }
    let frames = image.frames(start);
    let lines: BTreeSet<u32> = frames
        .iter()
        .filter(|frame| frame.file.as_deref() == Some(file))
        .map(|frame| frame.at.line)
        .collect();
    lines.iter().any(|line| cold.span.touches(*line))
}
