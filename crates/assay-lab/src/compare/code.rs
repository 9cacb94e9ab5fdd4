//! What the code of a benchmark says: which functions it executes, which of them differ, and in how many instructions.

use super::executed::{CountedSides, Executed, ExecutedSides, FunctionWork, total};
use assay_pure::definitions::ChangedDefinitions;
use assay_pure::placement::across::{self, CodeChange, FunctionChange, Reached};
use assay_pure::placement::layout::FunctionPlace;
use assay_pure::placement::same_loops::{ENTRY_STEP, SharedLoop, same_loops_across};
use assay_pure::stats::margin::Margin;
use assay_pure::verdict::cause::{Cause, CauseEvidence};
use assay_pure::verdict::{CodeIdentity, ContrastVerdict, Verdict, attribution};
use assay_pure::words;
use assay_report::compare::{DifferingFunction, ExecutedChange, InstructionsPer, SourceLocation};
use assay_trace::sites::image::ModuleImage;
use assay_trace::sites::names::{brief, demangle};
use assay_trace::sites::source::SourceFiles;
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

/// What was found for one benchmark; kept in the ledger.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CodeFindings {
    /// Functions that either side executes, in the binaries that were built; `None`: not known.
    pub executed: Option<u64>,
    /// Those that differ.
    pub functions: Vec<DifferingFunction>,
    /// All that is executed is the same machine code; `None`: not known.
    pub identical: Option<bool>,
    /// So is all that can be reached from it: other code that a processor with more instruction sets would choose, and data.
    #[serde(default)]
    pub closed: bool,
    /// Why it is not known.
    pub unknown: Option<String>,
}

impl CodeFindings {
    /// What is known of a benchmark that executed nothing but functions that both builds have.
    pub fn untouched() -> CodeFindings {
        CodeFindings { identical: Some(true), closed: true, ..CodeFindings::default() }
    }

    /// What this says of the benchmark's two sides.
    pub fn identity(&self) -> Option<CodeIdentity> {
        Some(match (self.identical?, self.closed) {
            (false, _) => CodeIdentity::Different,
            (true, false) => CodeIdentity::SameCode,
            (true, true) => CodeIdentity::Proven,
        })
    }
}

/// The same binary of both sides.
pub struct BinaryPair {
    /// Where the builds left it, baseline and candidate: the output first, then its copies.
    pub paths: [Vec<PathBuf>; 2],
    images: [ModuleImage; 2],
    changes: Vec<FunctionChange>,
    /// Of changed functions all of whose loops are the same, by the address in the baseline's file: names may be alike.
    loops: BTreeMap<u64, Vec<SharedLoop>>,
}

impl BinaryPair {
    /// Reads both files, which lie at `files` at the moment, and compares them function by function. The folder of its own build,
    /// as in a path to its data that is compiled into a benchmark, counts as the same text on both sides.
    ///
    /// # Errors
    /// One cannot be read or has no symbols; a sentence.
    pub fn new(paths: [Vec<PathBuf>; 2], files: [&Path; 2]) -> Result<BinaryPair, String> {
        let read = |path: &Path| {
            std::fs::read(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))
        };
        let [old, new] = files;
        let mut renamed = read(new)?;
        if let Some([own, others]) = trees([&paths[1][0], &paths[0][0]]) {
            replace(&mut renamed, own.as_os_str().as_bytes(), others.as_os_str().as_bytes());
        }
        let before = read(old)?;
        let changes = across::compare(&before, &renamed)
            .map_err(|error| format!("{}: {error}", paths[0][0].display()))?;
        let loops = same_loops_of_changed(&changes, &before, &renamed);
        Ok(BinaryPair { images: [ModuleImage::open(old)?, ModuleImage::open(new)?], paths, changes, loops })
    }

    /// Where code of a side lies that does the same in the other file; link-time addresses.
    pub fn untouched(&self, side: usize) -> Vec<Range<u64>> {
        let places = self.changes.iter().filter(|change| change.is_untouched());
        let place = places.filter_map(|change| [&change.old, &change.new][side].as_ref());
        place.map(|place| place.address..place.address + place.size).collect()
    }

    /// Whether a function of either file has a symbol with this in it.
    pub fn has_function(&self, part: &str) -> bool {
        self.changes.iter().any(|change| change.name.contains(part))
    }

    /// The file of a side as the tracer's images know it.
    pub fn image(&self, side: usize) -> &ModuleImage {
        &self.images[side]
    }
}

/// The loops of the functions that changed around them, by the function's address in the old file. Only of functions that start at
/// a multiple of 16: of others, as `-O1` leaves them, an order moves the loops by any number of bytes.
fn same_loops_of_changed(
    changes: &[FunctionChange],
    old: &[u8],
    new: &[u8],
) -> BTreeMap<u64, Vec<SharedLoop>> {
    let changed = changes.iter().filter(|change| change.own == CodeChange::Changed);
    let places: Vec<(u64, u64)> = changed
        .filter_map(|change| Some((change.old.as_ref()?.address, change.new.as_ref()?.address)))
        .filter(|(old, new)| [old, new].into_iter().all(|address| address % ENTRY_STEP == 0))
        .collect();
    // What cannot be told is no cause.
    let found = same_loops_across(old, new, &places).unwrap_or_default();
    places.iter().zip(found).filter_map(|((old, _), loops)| Some((*old, loops?))).collect()
}

/// The folders of two files up to where they lie at the same place.
fn trees(files: [&Path; 2]) -> Option<[PathBuf; 2]> {
    let [one, other] = files.map(|file| file.components().collect::<Vec<_>>());
    let common = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    let tree = |parts: &[Component<'_>]| parts.iter().take(parts.len() - common).collect::<PathBuf>();
    let found = [tree(&one), tree(&other)];
    found.iter().all(|tree| tree.parent().is_some()).then_some(found)
}

/// Writes `new` over each `old`, if it is as long: nothing in a file may move.
fn replace(bytes: &mut [u8], old: &[u8], new: &[u8]) {
    if old.len() != new.len() || old == new {
        return;
    }
    let mut at = 0;
    while let Some(found) = bytes[at..].windows(old.len()).position(|window| window == old) {
        at += found;
        bytes[at..at + old.len()].copy_from_slice(new);
        at += old.len();
    }
}

/// What is known of the source of both sides.
pub struct KnownSource<'a> {
    /// By the lines that debug information has.
    pub files: SourceFiles,
    /// By the revisions; asked for when it is needed.
    pub revisions: Box<dyn Fn() -> Option<ChangedDefinitions> + 'a>,
    read: OnceCell<Option<ChangedDefinitions>>,
}

impl<'a> KnownSource<'a> {
    /// Nothing is read yet.
    pub fn new(revisions: impl Fn() -> Option<ChangedDefinitions> + 'a) -> KnownSource<'a> {
        KnownSource { files: SourceFiles::default(), revisions: Box::new(revisions), read: OnceCell::new() }
    }

    /// Whether a function was made from the same source on both sides, what is inlined into it included. Its lines alone do not tell
    /// of macros, types and tables that it is made from.
    fn is_same(&self, pair: &BinaryPair, change: &FunctionChange) -> Option<bool> {
        change.old.as_ref().zip(change.new.as_ref())?;
        let lines = same_lines(pair, change, &self.files);
        if lines == Some(false) {
            return lines;
        }
        let revisions = self.read.get_or_init(|| (self.revisions)()).as_ref()?;
        let name = demangle(&change.name);
        match lines {
            Some(_) => (!revisions.may_reach(&name)).then_some(true),
            None => revisions.is_same_source(&name),
        }
    }
}

/// How much functions execute, as it is told.
struct CountedWork<'a> {
    sides: &'a [Executed; 2],
    per: InstructionsPer,
    /// Iterations or runs.
    number: f64,
    /// By which shares are taken; `None` where other things are counted as well.
    totals: Option<[u64; 2]>,
}

impl<'a> CountedWork<'a> {
    fn of(executed: &'a ExecutedSides) -> CountedWork<'a> {
        let (sides, per, number, alone) = match &executed.counted {
            CountedSides::Iterations { sides, number, alone } => {
                (sides, InstructionsPer::Iteration, f64::from(*number), *alone)
            }
            CountedSides::Run => (&executed.all, InstructionsPer::Run, 1.0, true),
            CountedSides::Calls => (&executed.all, InstructionsPer::Call, 1.0, true),
        };
        CountedWork { sides, per, number, totals: alone.then(|| [total(&sides[0]), total(&sides[1])]) }
    }

    /// A function that one side executes, or both.
    fn differing(&self, pair: &BinaryPair, change: &FunctionChange) -> DifferingFunction {
        let work = of_places(change, |side, address| {
            self.sides[side].get(&pair.paths[side][0])?.get(&address).copied()
        });
        let [before, after] = work.map(|work| match self.per {
            InstructionsPer::Call => work?.per_call(),
            _ => Some(work?.instructions as f64 / self.number),
        });
        let share = self.totals.map(|totals| {
            let of = |side: usize| {
                let instructions = work[side].map_or(0, |work| work.instructions);
                instructions as f64 / totals[side].max(1) as f64
            };
            of(0).max(of(1))
        });
        DifferingFunction {
            name: change.name.clone(),
            change: change.own.into(),
            baseline_instructions: before,
            candidate_instructions: after,
            per: self.per,
            share: if work == [None, None] { Some(0.0) } else { share },
            same_source: None,
            loops: change
                .old
                .as_ref()
                .and_then(|old| pair.loops.get(&old.address))
                .cloned()
                .unwrap_or_default(),
            begins: begins(pair, change),
        }
    }
}

/// Where a function begins in its source: in the newer one, where both sides have it.
fn begins(pair: &BinaryPair, change: &FunctionChange) -> Option<SourceLocation> {
    let of = |side: usize, place: &Option<FunctionPlace>| {
        // The outermost place is the function's own, whatever is inlined at its start.
        let frame = pair.images[side].frames(place.as_ref()?.address).pop()?;
        (frame.at.line > 0).then_some(())?;
        Some(SourceLocation { file: frame.file?, line: frame.at.line })
    };
    of(1, &change.new).or_else(|| of(0, &change.old))
}

/// What the functions that a benchmark executes say.
pub fn found(pairs: &[BinaryPair], sides: &ExecutedSides, sources: &KnownSource<'_>) -> CodeFindings {
    let counted = CountedWork::of(sides);
    let mut functions = Vec::new();
    let (mut count, mut same, mut known, mut closed) = (0, true, true, true);
    for pair in pairs {
        for change in &pair.changes {
            let work = of_places(change, |side, address| {
                sides.all[side].get(&pair.paths[side][0])?.get(&address).copied()
            });
            if work == [None, None] {
                continue;
            }
            count += 1;
            closed &= change.reached == Reached::Same;
            if change.is_same_code() {
                let [before, after] = work.map(|work| work.and_then(|work| work.per_call()));
                // The same code in another number of steps reads other data: that is no difference of place.
                known &=
                    before.zip(after).is_none_or(|(before, after)| (after / before).ln().abs() <= SAME_WORK);
                continue;
            }
            same = false;
            known &= change.own != CodeChange::Unknown;
            let same_source = sources.is_same(pair, change);
            functions.push(DifferingFunction { same_source, ..counted.differing(pair, change) });
        }
    }
    known &= pairs.iter().all(|pair| unlisted_are_alike(pair, &sides.all));
    name_readably(&mut functions);
    functions.sort_by(by_weight);
    let identical = if !same && functions.iter().any(|function| function.change != ExecutedChange::Unknown) {
        Some(false)
    } else {
        (known && same && count > 0).then_some(true)
    };
    CodeFindings { executed: Some(count), functions, identical, closed, unknown: None }
}

/// What a function did on both sides, by its address on each.
fn of_places(
    change: &FunctionChange,
    work: impl Fn(usize, u64) -> Option<FunctionWork>,
) -> [Option<FunctionWork>; 2] {
    [(0, &change.old), (1, &change.new)].map(|(side, place)| work(side, place.as_ref()?.address))
}

/// Names as the source has them, with their parameters only where several would be called alike.
fn name_readably(functions: &mut [DifferingFunction]) {
    let briefs: Vec<String> = functions.iter().map(|function| brief(&function.name)).collect();
    for (function, own) in functions.iter_mut().zip(&briefs) {
        let is_alone = briefs.iter().filter(|other| *other == own).count() == 1;
        function.name = if is_alone { own.clone() } else { demangle(&function.name) };
    }
}

/// Code by symbols without a size (start-up code, hand-written assembly) is in no list of changes: it counts as the same if
/// both sides execute the same names in the same number of instructions.
fn unlisted_are_alike(pair: &BinaryPair, executed: &[Executed; 2]) -> bool {
    let of = |side: usize| -> BTreeSet<(String, FunctionWork)> {
        let places = pair.changes.iter().filter_map(|change| [&change.old, &change.new][side].as_ref());
        let listed: BTreeSet<u64> = places.map(|place| place.address).collect();
        let work = executed[side].get(&pair.paths[side][0]).into_iter().flatten();
        let unlisted = work.filter(|(start, _)| !listed.contains(start));
        let named = |start: u64| pair.images[side].function(start).map(|function| function.name());
        unlisted.map(|(start, work)| (named(*start).unwrap_or_default(), *work)).collect()
    };
    of(0) == of(1)
}

/// Whether the lines that a function was made from, inlined ones included, read the same on both sides.
fn same_lines(pair: &BinaryPair, change: &FunctionChange, sources: &SourceFiles) -> Option<bool> {
    let (old, new) = (change.old.as_ref()?, change.new.as_ref()?);
    let before = lines_of(&pair.images[0], old.address, old.size, sources)?;
    let after = lines_of(&pair.images[1], new.address, new.size, sources)?;
    Some(before == after)
}

/// The text from the first to the last line of each function that code at these addresses was made from.
fn lines_of(image: &ModuleImage, address: u64, size: u64, sources: &SourceFiles) -> Option<BTreeSet<String>> {
    let mut spans: BTreeMap<(String, String), (u32, u32)> = BTreeMap::new();
    for at in image.marked_addresses(address, address + size) {
        for frame in image.frames(at) {
            let (Some(file), line) = (frame.file, frame.at.line) else { continue };
            if line > 0 {
                let span = spans.entry((frame.function.unwrap_or_default(), file)).or_insert((line, line));
                *span = (span.0.min(line), span.1.max(line));
            }
        }
    }
    let mut texts = BTreeSet::new();
    for ((_, file), (first, last)) in spans {
        let source = sources.get(&file)?;
        let lines: Vec<&str> = (first..=last).map(|line| source.line(line).unwrap_or_default()).collect();
        texts.insert(lines.join("\n"));
    }
    (!texts.is_empty()).then_some(texts)
}

/// Instructions per call or iteration that differ by less are counted as the same: loops end a little earlier or later.
const SAME_WORK: f64 = 0.002;

/// The causes that the code speaks for.
///
/// Work needs a difference in time to be the cause of, in the same direction: more instructions make nothing faster. Code that
/// drifted is told wherever it is executed.
pub fn causes(found: &CodeFindings, verdict: &ContrastVerdict, margin: Margin) -> Vec<CauseEvidence> {
    let mut causes = Vec::new();
    let named = |cause, evidence: String| CauseEvidence { cause, share: None, evidence };
    let differs =
        verdict.verdict.is_difference() || verdict.code.is_some_and(|code| margin.is_exceeded_by(code.ratio));
    let towards = verdict.code.map(|code| code.ratio > 1.0);
    if let Some(evidence) = towards.filter(|_| differs).and_then(|slower| work(&found.functions, slower)) {
        causes.push(named(Cause::Work, evidence));
    }
    causes.extend(same_loops(found, verdict, margin));
    let drifted: Vec<&str> = found
        .functions
        .iter()
        .filter(|function| function.change == ExecutedChange::Changed && function.same_source == Some(true))
        .map(|function| function.name.as_str())
        .collect();
    if let [first, rest @ ..] = drifted.as_slice() {
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        causes.push(named(
            Cause::CodegenDrift,
            format!("the machine code of {first}{more} changed, but not its source"),
        ));
    }
    causes
}

/// The function of the largest share that changed around loops which are the same, and lie elsewhere in it; where the sides are not
/// equal, and its number of instructions does not tell why.
fn same_loops(found: &CodeFindings, verdict: &ContrastVerdict, margin: Margin) -> Option<CauseEvidence> {
    if verdict.verdict == Verdict::Equivalent {
        return None;
    }
    let does_other_work = |function: &DifferingFunction| {
        both(function).is_some_and(|(before, after)| margin.is_exceeded_by(after / before))
    };
    let sides = [verdict.candidate.as_str(), verdict.baseline.as_str()];
    found
        .functions
        .iter()
        .filter(|function| function.change == ExecutedChange::Changed && function.share != Some(0.0))
        .filter(|function| !does_other_work(function))
        .filter_map(|function| {
            let cause = attribution::same_loops_of(&function.name, &function.loops, sides)?;
            Some((function.share.unwrap_or(0.0), cause))
        })
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, cause)| cause)
}

/// Which functions execute more, or fewer, instructions: the one that weighs most, or all together where code moved between them,
/// as a compiler does that no longer inlines one.
fn work(functions: &[DifferingFunction], more: bool) -> Option<String> {
    let mut repeated: Vec<&DifferingFunction> = functions
        .iter()
        .filter(|function| function.change != ExecutedChange::Unknown && function.share != Some(0.0))
        .collect();
    repeated.sort_by(|one, other| by_weight(one, other));
    let goes_along = |(before, after): (f64, f64)| {
        let ratio = after / before;
        before > 0.0 && ratio.ln().abs() > SAME_WORK && (ratio > 1.0) == more
    };
    let per = repeated.first()?.per;
    let has_moved = repeated.iter().any(|function| function.change != ExecutedChange::Changed);
    let (who, (before, after), share) = if per != InstructionsPer::Call && has_moved {
        let sum = |of: fn(&DifferingFunction) -> Option<f64>| -> f64 {
            repeated.iter().filter_map(|function| of(function)).sum()
        };
        let both =
            (sum(|function| function.baseline_instructions), sum(|function| function.candidate_instructions));
        let shares: Option<f64> = repeated.iter().map(|function| function.share).sum();
        let names: Vec<&str> = repeated.iter().map(|function| function.name.as_str()).collect();
        let who = match names.as_slice() {
            [one] => format!("{one} executes"),
            [one, other] => format!("{one} and {other} execute"),
            [one, ..] => format!("{one} and {} other functions execute", names.len() - 1),
            [] => return None,
        };
        (who, both, shares.map(|share| share.min(1.0)))
    } else {
        let changed = |function: &&&DifferingFunction| {
            function.change == ExecutedChange::Changed && both(function).is_some_and(goes_along)
        };
        let function = repeated.iter().find(changed)?;
        (format!("{} executes", function.name), both(function)?, function.share)
    };
    if !goes_along((before, after)) {
        return None;
    }
    let of_all = share.map(|share| format!("; {} of {}", words::fraction(share), per.all()));
    Some(format!(
        "{who} {} instructions per {}, previously {} ({}){}",
        words::short(after),
        per.word(),
        words::short(before),
        words::change(after / before),
        of_all.unwrap_or_default()
    ))
}

/// The one that weighs most first.
fn by_weight(one: &DifferingFunction, other: &DifferingFunction) -> Ordering {
    weight(other).total_cmp(&weight(one)).then_with(|| one.name.cmp(&other.name))
}

/// What a function's change of instructions makes of those of the benchmark: the change itself, or |ln ratio| times its share where
/// only calls can be compared.
fn weight(function: &DifferingFunction) -> f64 {
    let (before, after) = (function.baseline_instructions, function.candidate_instructions);
    match function.per {
        InstructionsPer::Iteration | InstructionsPer::Run => {
            (after.unwrap_or_default() - before.unwrap_or_default()).abs()
        }
        InstructionsPer::Call => {
            let ratio = both(function).map_or(0.0, |(before, after)| (after / before).ln().abs());
            ratio * function.share.unwrap_or(1.0)
        }
    }
}

/// Instructions of both sides.
fn both(function: &DifferingFunction) -> Option<(f64, f64)> {
    let both = (function.baseline_instructions?, function.candidate_instructions?);
    (both.0 > 0.0 && both.1 > 0.0).then_some(both)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_pure::compare::{Side, VisitPlacement, VisitResult, contrasts};
    use assay_pure::verdict::{VerdictOptions, judge};

    /// The candidate takes `ratio` times as long, without noise.
    fn verdict(ratio: f64) -> ContrastVerdict {
        let mut seen = Vec::new();
        for round in 0..6 {
            for (side, value) in [(Side::Baseline, 1.0), (Side::Candidate, ratio)] {
                for rotation in 0..4 {
                    let figures = vec![("a".to_owned(), vec![value])];
                    seen.push(VisitResult {
                        round,
                        side,
                        place: VisitPlacement::Placed { rotation, phase_bytes: 0 },
                        figures,
                    });
                }
            }
        }
        judge(&contrasts(&seen, ["main", "HEAD"]), &VerdictOptions::default()).contrasts.remove(0)
    }

    fn changed(name: &str, before: f64, after: f64, same_source: Option<bool>) -> DifferingFunction {
        DifferingFunction {
            name: name.into(),
            change: ExecutedChange::Changed,
            baseline_instructions: Some(before),
            candidate_instructions: Some(after),
            per: InstructionsPer::Call,
            share: None,
            same_source,
            loops: Vec::new(),
            begins: None,
        }
    }

    fn kinds(functions: Vec<DifferingFunction>, ratio: f64) -> Vec<(Cause, String)> {
        let found = CodeFindings {
            executed: Some(3),
            functions,
            identical: Some(false),
            closed: false,
            unknown: None,
        };
        causes(&found, &verdict(ratio), Margin::of(0.02))
            .into_iter()
            .map(|cause| (cause.cause, cause.evidence))
            .collect()
    }

    #[test]
    fn the_folder_of_its_own_build_is_the_same_text_on_both_sides() {
        let files = ["/s/trees/aa1/build/p", "/s/trees/bb2/build/p"].map(Path::new);
        assert_eq!(trees(files), Some(["/s/trees/aa1", "/s/trees/bb2"].map(PathBuf::from)));
        let dirty = ["/s/dirty/aa1/p", "/s/trees/bb2/p"].map(Path::new);
        assert_eq!(trees(dirty), Some(["/s/dirty/aa1", "/s/trees/bb2"].map(PathBuf::from)));
        assert_eq!(trees([files[0], files[0]]), None);
        let mut bytes = *b"x/s/trees/aa1/data /s/trees/aa1";
        replace(&mut bytes, b"/s/trees/aa1", b"/s/trees/bb2");
        assert_eq!(&bytes, b"x/s/trees/bb2/data /s/trees/bb2");
        replace(&mut bytes, b"/s/trees/bb2", b"/longer/than/that");
        assert_eq!(&bytes, b"x/s/trees/bb2/data /s/trees/bb2");
    }

    #[test]
    fn the_function_whose_work_changed_most_is_the_cause_of_a_difference() {
        let functions =
            || vec![changed("small", 100.0, 101.0, Some(false)), changed("large", 100.0, 90.0, Some(false))];
        let said = "large executes 90.0 instructions per call, previously 100 (-10.0 %)".to_owned();
        assert_eq!(kinds(functions(), 0.9), [(Cause::Work, said)]);
        let said = "small executes 101 instructions per call, previously 100 (+1.0 %)".to_owned();
        assert_eq!(kinds(functions(), 1.1), [(Cause::Work, said)], "fewer instructions make nothing slower");
        assert_eq!(kinds(functions(), 1.0), [], "without a difference there is nothing to be the cause of");
        assert_eq!(
            kinds(vec![changed("alike", 1000.0, 1001.0, None)], 0.9),
            [],
            "a loop that ends a little earlier"
        );
    }

    #[test]
    fn a_loop_that_lies_elsewhere_in_a_changed_function_is_a_cause_where_its_work_is_none() {
        let moved = |first, second, after| {
            let loops = vec![SharedLoop { first, second, instructions: 9 }];
            vec![DifferingFunction { loops, ..changed("crc32", 1000.0, after, Some(false)) }]
        };
        let told = kinds(moved(24, 37, 1003.0), 1.05);
        let (_, evidence) = told.iter().find(|(cause, _)| *cause == Cause::SameLoops).expect("a cause");
        assert!(
            evidence.starts_with("crc32 was changed around the same loop of 9 instructions")
                && evidence.contains("5 bytes past a multiple of 16 in HEAD and 8 in main")
                && evidence.contains("-falign-loops=64"),
            "{evidence}"
        );
        let has =
            |functions, ratio| kinds(functions, ratio).iter().any(|(cause, _)| *cause == Cause::SameLoops);
        assert!(!has(moved(24, 40, 1003.0), 1.05), "placements bring both to the same places");
        assert!(!has(moved(24, 37, 1003.0), 1.0), "nothing differs");
        assert!(!has(moved(24, 37, 1100.0), 1.05), "work tells why");
        assert!(!has(vec![changed("crc32", 1000.0, 1003.0, None)], 1.05), "other loops");
    }

    #[test]
    fn work_is_what_changed_most_of_all_and_never_what_only_a_start_up_does() {
        let of =
            |function: DifferingFunction, share: f64| DifferingFunction { share: Some(share), ..function };
        let functions = vec![
            of(changed("start", 10.0, 90.0, None), 0.0),
            of(changed("seldom", 100.0, 150.0, None), 0.01),
            of(changed("hot", 100.0, 112.5, None), 0.61),
        ];
        let said = "hot executes 112 instructions per call, previously 100 (+12.5 %); 61 % of the whole run"
            .to_owned();
        assert_eq!(kinds(functions, 1.07), [(Cause::Work, said)]);
        let start = vec![of(changed("start", 10.0, 90.0, None), 0.0)];
        assert_eq!(kinds(start, 1.07), []);
    }

    #[test]
    fn work_is_that_of_all_functions_where_code_moved_between_them() {
        let of = |function: DifferingFunction, share: f64| DifferingFunction {
            per: InstructionsPer::Iteration,
            share: Some(share),
            ..function
        };
        let outlined = |name: &str| DifferingFunction {
            change: ExecutedChange::OnlyCandidate,
            baseline_instructions: None,
            ..changed(name, 0.0, 34.0, None)
        };
        // The loop has fewer instructions, and calls what was inlined into it.
        let functions = || vec![of(outlined("format"), 0.4), of(changed("run", 63.0, 50.0, None), 0.5)];
        let said =
            "format and run execute 84.0 instructions per iteration, previously 63.0 (+33.3 %); 90 % of all";
        assert_eq!(kinds(functions(), 1.5), [(Cause::Work, said.to_owned())]);
        assert_eq!(kinds(functions(), 0.9), [], "more instructions make nothing faster");
        let start = || of(outlined("start"), 0.0);
        let said = "run executes 50.0 instructions per iteration, previously 63.0 (-20.6 %); 50 % of all";
        let functions = vec![start(), of(changed("run", 63.0, 50.0, None), 0.5)];
        assert_eq!(kinds(functions, 0.8), [(Cause::Work, said.to_owned())]);
        let many = ["a", "b", "c"].map(|name| of(outlined(name), 0.1));
        let (_, said) =
            kinds([vec![of(changed("run", 10.0, 9.0, None), 0.5)], many.into()].concat(), 1.5).remove(0);
        assert_eq!(
            said,
            "a and 3 other functions execute 111 instructions per iteration, previously 10.0 (+1010.0 %); 80 % of all"
        );
    }

    #[test]
    fn parameters_are_told_where_several_functions_are_called_alike() {
        let mut functions: Vec<DifferingFunction> = ["_ZN3foo3barEi", "_ZN3foo3barEv", "_ZN3foo3bazEi"]
            .map(|name| changed(name, 1.0, 2.0, None))
            .into();
        name_readably(&mut functions);
        let names: Vec<&str> = functions.iter().map(|function| function.name.as_str()).collect();
        assert_eq!(names, ["foo::bar(int)", "foo::bar()", "foo::baz"]);
    }

    #[test]
    fn code_that_changed_though_its_source_did_not_has_drifted() {
        let functions = vec![changed("one", 10.0, 10.0, Some(true)), changed("two", 10.0, 10.0, Some(false))];
        let found = kinds(functions, 1.0);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, Cause::CodegenDrift);
        assert!(found[0].1.starts_with("the machine code of one changed"), "{}", found[0].1);
    }
}
