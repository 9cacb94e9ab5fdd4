//! The answer: what the contrasts say to the question in the file, in plain words, at most about five lines; then what to
//! do about what it leaves open (`next`).
//!
//! Method: per candidate, each input is classed by the verdicts it has in all builds (`finding`); a sentence names the
//! classes with the span of the estimates (`sentence`). However many contrasts there are, three rules keep it honest.
//! An input counts for a class only if every build that is decided says so. Builds that disagree on an input are told
//! by name, or that input is told to depend on them. What a build leaves undecided is named, or counted, in the same
//! sentence: so no "on all 9 inputs" hides an open contrast. It opens with "Yes" or "No" only where the question can be
//! understood to ask for that, and names a winner only where one was asked for (`asked`, `winner`). What makes the
//! figures untrue (`findings`) comes before everything, then a failed twin control; a busy neighbour stands after the
//! verdicts. Sizes are of the code effect, never as built; percentages are of the baseline's time ("12 % less time", as
//! "12 % faster" has two meanings).
//! Limits: but for a winner, candidates are only compared with the baseline, as the contrasts are, not with each other.

mod asked;
mod builds;
mod finding;
pub(crate) mod next;
mod sentence;
mod winner;

use self::asked::Asked;
use self::finding::{CandidateFinding, InputClass};
pub use self::next::next;
use self::sentence::Sentence;
use super::page::{
    AsBuiltSays, Axis, Cause, FindingKind, LearnedInput, Page, PageContrast, SAME_CODE, SAME_LOOPS,
    TwinVerdict, Verdict,
};
use assay_pure::words;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Candidates that get a clause of their own; with more they are listed by what was found.
const MOST_CLAUSES: usize = 3;

/// The answer to the page's question, composed from its contrasts, its twin control and its failures.
pub fn answer(page: &Page) -> String {
    let (carried, not_carried) = carried(page);
    let page = carried.as_ref();
    let findings = findings(page);
    let builds = builds::sentences(page);
    if findings.is_empty() && builds.is_empty() {
        let text = [misleading(page), nothing_compared(page)];
        return text.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    }
    let variants = if findings.is_empty() { String::new() } else { found(page, &findings) };
    let flips = super::usage::flips(page).join(" ");
    let text = [
        misleading(page),
        twin_failed(page),
        variants,
        proven(page),
        same_loops(page),
        page.neighbour.clone().unwrap_or_default(),
        not_carried,
        unmeasured(page),
        flips,
        learned(page),
        misled(page, &findings),
        builds,
    ];
    text.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The page without the verdicts that its twin control does not carry, and what is said of them: where noise alone
/// may leave more than a candidate differs by, the answer claims nothing.
pub(crate) fn carried(page: &Page) -> (Cow<'_, Page>, String) {
    let twin = &page.twin_control;
    let (Some(lower), Some(upper), TwinVerdict::Undecided) = (twin.lower, twin.upper, twin.verdict) else {
        return (Cow::Borrowed(page), String::new());
    };
    let is_carried = |contrast: &PageContrast| {
        !contrast.verdict.is_difference()
            || contrast
                .code
                .is_none_or(|code| code.ratio < lower.min(1.0 / upper) || code.ratio > upper.max(1.0 / lower))
    };
    let lost = page.contrasts.iter().filter(|contrast| !is_carried(contrast)).count() as u64;
    if lost == 0 {
        return (Cow::Borrowed(page), String::new());
    }
    let mut without = page.clone();
    for contrast in without.contrasts.iter_mut().filter(|contrast| !is_carried(contrast)) {
        contrast.verdict = Verdict::Undecided;
    }
    let are = if lost == 1 { "1 difference is" } else { "differences are" };
    let count = if lost == 1 { String::new() } else { format!("{lost} ") };
    let said = format!(
        "{count}{are} within the noise of this campaign ({}, twin control).",
        words::fine_span(lower, upper)
    );
    (Cow::Owned(without), said)
}

/// One finding per pair of candidate and baseline, in order of appearance.
fn findings(page: &Page) -> Vec<CandidateFinding<'_>> {
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    let mut inputs: Vec<&str> = page.inputs.iter().map(|input| input.name.as_str()).collect();
    for contrast in page.along(Axis::Variant) {
        let pair = (contrast.candidate.as_str(), contrast.baseline.as_str());
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
        if !inputs.contains(&contrast.input.as_str()) {
            inputs.push(&contrast.input);
        }
    }
    let of_pair = |(candidate, baseline): &(&str, &str)| {
        let matching = |c: &&PageContrast| c.candidate == *candidate && c.baseline == *baseline;
        CandidateFinding::of(page.along(Axis::Variant).filter(matching).collect(), inputs.len())
    };
    pairs.iter().map(of_pair).collect()
}

fn nothing_compared(page: &Page) -> String {
    match page.failures.first() {
        Some(failure) => {
            // A compiler's complaint has many lines; all of them stand below, where there is room.
            let reason = failure.reason.lines().next().unwrap_or_default().trim_end_matches(['.', ':']);
            format!("No answer: nothing could be compared ({}: {reason}).", failure.what)
        }
        None => "No answer: nothing was compared.".to_owned(),
    }
}

fn twin_failed(page: &Page) -> String {
    if page.twin_control.verdict != TwinVerdict::Different {
        return String::new();
    }
    let distance = page
        .twin_control
        .ratio
        .map_or("a measurable amount".to_owned(), |ratio| words::fraction(ratio - 1.0));
    format!("Not to be trusted: where there is no difference, this campaign finds {distance} (twin control).")
}

/// Two variants, and how many of their contrasts need no times.
struct ProvenPair<'a> {
    candidate: &'a str,
    baseline: &'a str,
    proven: u64,
    all: u64,
    /// What proves it: of several, the weaker.
    proof: &'static str,
}

/// "b is the same machine code as a in every build: equivalent by proof." of what needs no times.
fn proven(page: &Page) -> String {
    let mut pairs: Vec<ProvenPair<'_>> = Vec::new();
    for contrast in page.along(Axis::Variant) {
        let (candidate, baseline) = (contrast.candidate.as_str(), contrast.baseline.as_str());
        let at = pairs.iter().position(|pair| (pair.candidate, pair.baseline) == (candidate, baseline));
        let at = at.unwrap_or_else(|| {
            pairs.push(ProvenPair { candidate, baseline, proven: 0, all: 0, proof: SAME_CODE });
            pairs.len() - 1
        });
        let pair = &mut pairs[at];
        pair.all += 1;
        if let Some(proof) = contrast.proof() {
            pair.proven += 1;
            pair.proof = if proof == SAME_LOOPS { proof } else { pair.proof };
        }
    }
    let one = |pair: &ProvenPair<'_>| {
        let ProvenPair { candidate, baseline, proven, all, proof } = pair;
        let part = if proven == all { String::new() } else { format!(" in {proven} of {all} contrasts") };
        let how = if *proof == SAME_CODE { "is" } else { "executes" };
        format!("{candidate} {how} the {proof} as {baseline}{part}: equivalent by proof.")
    };
    pairs.iter().filter(|pair| pair.proven > 0).map(one).collect::<Vec<_>>().join(" ")
}

/// "Misleading: hash on long is dead code: a call reads none of the input's 2 pages. 2 more findings are below."
fn misleading(page: &Page) -> String {
    let Some((first, others)) = page.findings.split_first() else { return String::new() };
    let rest = match others.len() {
        0 => String::new(),
        1 => " 1 more finding is below.".to_owned(),
        more => format!(" {more} more findings are below."),
    };
    format!("Misleading: {}{rest}", first.sentence())
}

/// "b and a execute the same loops: the difference is how these are aligned inside the functions; -falign-loops=64 removes it." of
/// what was called different.
fn same_loops(page: &Page) -> String {
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    let differs = |contrast: &&PageContrast| matches!(contrast.verdict, Verdict::Faster | Verdict::Slower);
    for contrast in page.along(Axis::Variant).filter(differs) {
        let names = (contrast.candidate.as_str(), contrast.baseline.as_str());
        let caused =
            contrast.causes.iter().any(|cause| cause.cause == Cause::SameLoops && cause.share.is_some());
        if caused && !pairs.contains(&names) {
            pairs.push(names);
        }
    }
    let one = |(candidate, baseline): &(&str, &str)| {
        format!(
            "{candidate} and {baseline} execute the same loops: the difference is how these are aligned inside the functions; \
             -falign-loops=64 removes it."
        )
    };
    pairs.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// "A predictor memorises log-uniform (10,000 varints)." of inputs whose times are those of a memory.
fn learned(page: &Page) -> String {
    let one = |input: &LearnedInput| {
        let part = if input.in_part { ", in part" } else { "" };
        format!("{} ({}{part})", input.input, words::plural(input.units, &page.unit))
    };
    // What was found before measuring is told already.
    let is_told = |input: &&LearnedInput| {
        let mut found = page.findings.iter().filter(|finding| finding.kind == FindingKind::Memorised);
        found.any(|finding| finding.inputs.contains(&input.input))
    };
    let learned: Vec<&LearnedInput> = page.learned_inputs.iter().filter(|input| !is_told(input)).collect();
    match learned.as_slice() {
        [] => String::new(),
        several => {
            let names: Vec<String> = several.iter().map(|input| one(input)).collect();
            format!("Short enough for the predictor to memorise: {}.", words::list(&names))
        }
    }
}

/// "djb could not be measured; the reasons are below." of variants that failed wherever they were tried, while others were compared.
fn unmeasured(page: &Page) -> String {
    let measured: BTreeSet<&str> =
        page.cells.iter().filter(|cell| cell.failed.is_none()).map(|cell| cell.variant.as_str()).collect();
    let mut variants: Vec<&str> = page.cells.iter().map(|cell| cell.variant.as_str()).collect();
    let mut seen = BTreeSet::new();
    variants.retain(|variant| !measured.contains(variant) && seen.insert(*variant));
    if variants.is_empty() {
        return String::new();
    }
    format!("{} could not be measured; the reasons are below.", words::list(&variants))
}

fn found(page: &Page, findings: &[CandidateFinding]) -> String {
    let question = &page.question;
    let sentence = Sentence::for_page(page);
    let about_one =
        |one: &CandidateFinding| sentence.one(one, Asked::read(question, one.candidate, one.baseline));
    if let [only] = findings {
        return about_one(only);
    }
    if asked::asks_for_a_winner(question) {
        return format!(
            "{} {}",
            sentence::capital(&winner::sentence(findings, sentence.axis())),
            all_of(&sentence, findings)
        );
    }
    // A question about one of several candidates is answered first.
    let (named, others): (Vec<&CandidateFinding>, Vec<&CandidateFinding>) =
        findings.iter().partition(|finding| asked::names(question, finding.candidate));
    match named.as_slice() {
        [named] if Asked::read(question, named.candidate, named.baseline) != Asked::Open => {
            format!("{} The others: {}.", about_one(named), several(&sentence, others))
        }
        _ => all_of(&sentence, findings),
    }
}

/// "Against branch (gcc-12): table takes ...; bmi2 takes ...."
fn all_of(sentence: &Sentence, findings: &[CandidateFinding]) -> String {
    format!("{}: {}.", sentence.against(findings[0].baseline), several(sentence, findings))
}

fn several<'a>(sentence: &Sentence, findings: impl IntoIterator<Item = &'a CandidateFinding<'a>>) -> String {
    let findings: Vec<&CandidateFinding> = findings.into_iter().collect();
    if findings.len() <= MOST_CLAUSES { sentence.several(&findings) } else { sentence.many(&findings) }
}

/// "As built (one ordinary link), 3 of 18 contrasts mislead: 2 ghosts and 1 reversed." where that is news.
fn misled(page: &Page, findings: &[CandidateFinding]) -> String {
    let count = |says| page.along(Axis::Variant).filter(|c| c.as_built_says == Some(says)).count() as u64;
    let (ghosts, reversed, masked) =
        (count(AsBuiltSays::Ghost), count(AsBuiltSays::Reversed), count(AsBuiltSays::Masked));
    let all = ghosts + reversed + masked;
    let one_ghost_is_told = matches!(findings, [only] if only.classes() == [InputClass::Same]) && ghosts == 1;
    if all == 0 || (one_ghost_is_told && all == 1) {
        return String::new();
    }
    let mut kinds = Vec::new();
    if ghosts > 0 {
        kinds.push(words::plural(ghosts, "ghost"));
    }
    if reversed > 0 {
        kinds.push(format!("{reversed} reversed"));
    }
    if masked > 0 {
        kinds.push(format!("{masked} masked"));
    }
    let verb = if all == 1 { "misleads" } else { "mislead" };
    let contrasts = words::plural(page.along(Axis::Variant).count() as u64, "contrast");
    format!("As built (one ordinary link), {all} of {contrasts} {verb}: {}.", words::list(&kinds))
}

#[cfg(test)]
mod tests;
