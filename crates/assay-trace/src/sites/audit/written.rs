//! Hints in the source text.

use super::super::blocks::{ConditionCopy, side};
use super::super::image::ModuleImage;
use super::super::source::{SourceFile, SourceFiles};
use super::{AuditedHint, Located};
use assay_pure::language::Language;
use assay_pure::trace::hints::{
    Balance, BranchSides, Hint, HintJudgement, Scan, TextPlace, Unclear, held_when_taken, judge, scan, weigh,
};
use assay_report::sites::page::HintOrigin;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Branches of one copy of a hint's condition: image, copy of the function, file.
type Copies<'a> = BTreeMap<(usize, Option<u64>), Vec<usize>>;

/// A source file that branches come from.
pub struct ScannedFile {
    pub scan: Scan,
    source: Rc<SourceFile>,
}

/// Scans every source file that the places of the sites name and that is here.
pub fn scan_files(sites: &[&Located], sources: &SourceFiles) -> BTreeMap<String, ScannedFile> {
    let names: BTreeSet<&str> =
        sites.iter().flat_map(|site| site.frames.iter()).filter_map(|frame| frame.file.as_deref()).collect();
    let scanned = names.into_iter().filter_map(|name| {
        let language = Language::of(name)?;
        let source = sources.get(name)?;
        Some((name.to_owned(), ScannedFile { scan: scan(&source.text, language), source }))
    });
    scanned.collect()
}

/// Compares every hint of the scanned files with the branches at its condition.
pub fn audit(
    images: &[ModuleImage],
    sites: &[&Located],
    files: &BTreeMap<String, ScannedFile>,
) -> Vec<AuditedHint> {
    let mut found = Vec::new();
    for (name, file) in files {
        let copies = copies_of(name, &file.scan.hints, sites);
        for (at, hint) in file.scan.hints.iter().enumerate() {
            found.push(hold(images, sites, name, file, hint, &copies[at]));
        }
    }
    found
}

/// For each hint of a file the branches at its condition.
fn copies_of<'a>(file: &str, hints: &[Hint], sites: &[&Located]) -> Vec<Copies<'a>> {
    let mut copies: Vec<Copies<'a>> = vec![Copies::new(); hints.len()];
    for (number, site) in sites.iter().enumerate().filter(|(_, site)| site.seen.class.is_conditional()) {
        let Some(image) = site.seen.place.image else { continue };
        for frame in site.frames.iter().filter(|frame| frame.file.as_deref() == Some(file)) {
            let holds = |hint: &&Hint| {
                let split = hint.about.as_ref().ok();
                split.is_some_and(|split| {
                    split.place(frame.at) == Some(TextPlace::Condition)
                        || frame.at.column == 0 && split.condition.touches(frame.at.line)
                })
            };
            // Of conditions in one another the innermost; without columns all on the line.
            let first = |hint: &Hint| hint.about.as_ref().map(|split| split.condition.first).ok();
            let innermost = hints.iter().filter(holds).filter_map(first).max();
            for (at, hint) in hints.iter().enumerate().filter(|(_, hint)| holds(hint)) {
                if frame.at.column == 0 || first(hint) == innermost {
                    copies[at].entry((image, frame.copy)).or_default().push(number);
                }
            }
        }
    }
    copies
}

fn hold(
    images: &[ModuleImage],
    sites: &[&Located],
    name: &str,
    file: &ScannedFile,
    hint: &Hint,
    copies: &Copies<'_>,
) -> AuditedHint {
    let mut numbers: Vec<usize> = copies.values().flatten().copied().collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut held = AuditedHint {
        origin: HintOrigin::Source,
        form: Some(hint.form),
        file: Some(name.to_owned()),
        line: hint.at.line,
        function: numbers.first().and_then(|&number| function_of(sites[number], name)),
        text: hint.text.clone(),
        judgement: HintJudgement::unclear(Unclear::NoBranch),
        likely: 0,
        unlikely: 0,
        unknown: 0,
        sites: numbers,
    };
    let split = match &hint.about {
        Ok(split) => split,
        Err(unclear) => {
            held.judgement = HintJudgement::unclear(*unclear);
            return held;
        }
    };
    let is_stale = copies.keys().any(|(image, _)| is_newer(&file.source, &images[*image]));
    let (mut balance, mut against_layout) = (Balance::default(), 0);
    for ((image, copy), numbers) in copies {
        let branches: Vec<u64> = numbers.iter().map(|&number| sites[number].seen.place.address).collect();
        let copy = ConditionCopy { split, file: name, copy: *copy, branches: &branches };
        let sided: Vec<BranchSides> =
            numbers.iter().filter_map(|&number| sides(&images[*image], &copy, sites[number])).collect();
        balance = balance.plus(weigh(split, &sided));
        for (branch, held) in sided.iter().zip(held_when_taken(split, &sided)) {
            let likely_is_taken = held.map(|held| held == split.expects_yes);
            // Without optimisation no hint leads to any layout.
            if images[*image].shape(branch.at).is_unoptimised() {
                continue;
            }
            if likely_is_taken == Some(true) && branch.target.block > branch.at {
                against_layout += branch.taken + branch.not_taken;
            }
        }
    }
    held.count(split.expects_yes, &balance);
    held.judgement = match judge(split.expects_yes, &balance) {
        decided if is_stale && decided.is_decided() => HintJudgement::unclear(Unclear::Changed),
        // An accusation needs more than one witness: the text of both sides, or the layout that the hint would have led to.
        HintJudgement::WRONG if against_layout > 0 && balance.known_by_both < balance.total() => {
            HintJudgement::unclear(Unclear::Layout)
        }
        judgement => judgement,
    };
    held
}

fn sides(image: &ModuleImage, copy: &ConditionCopy<'_>, site: &Located) -> Option<BranchSides> {
    let seen = &site.seen;
    let target = seen.target?;
    let code = image.code(seen.place.address);
    let next = code.index(seen.place.address).map(|index| code.instructions[index].end());
    let next = next.unwrap_or(seen.place.address + u64::from(seen.length));
    Some(BranchSides {
        at: seen.place.address,
        taken: seen.taken,
        not_taken: seen.executed - seen.taken,
        target: side(image, copy, target),
        next: side(image, copy, next),
    })
}

/// The function that a branch is in, as far as it is in this file.
fn function_of(site: &Located, file: &str) -> Option<String> {
    let own = site.frames.iter().find(|frame| frame.file.as_deref() == Some(file))?;
    own.function.clone()
}

/// Whether a source was changed after the program was linked from it.
fn is_newer(source: &SourceFile, image: &ModuleImage) -> bool {
    source.changed.zip(image.changed).is_some_and(|(source, image)| source > image)
}
