//! The page as text for a terminal: the answer first, then what could make it wrong, then the tables, then the reasons.
//!
//! Made for 80 columns and for 160: a table leaves out or adds columns, nothing runs past the margin. No colour carries
//! meaning alone. Checked by golden texts at both widths (`tests/golden`) and by a test that no line exceeds its width.

pub(crate) mod build_column;
pub(crate) mod builds;
mod closing;
mod companions;
mod counts;
mod limits;
mod reasons;
mod states;
mod times;
pub(crate) mod verdicts;

pub(crate) use closing::claims;

use super::answer;
use super::ink::{Ink, Palette};
use super::modes::{self, ByMode};
use super::page::{AsBuiltSays, Axis, Page, PageContrast, PageFinding, TwinVerdict, Verdict};
use super::sheet::Sheet;
use assay_pure::words;

/// How much is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// What a reader needs first: many contrasts are grouped, only telling placements and noteworthy contrasts are shown.
    #[default]
    Brief,
    /// Every row, with intervals and reasons.
    Full,
}

/// The page as text, no line wider than `width` columns (at least 40), with ANSI colours if `colour`.
///
/// Whether colour is wanted (a terminal, NO_COLOR unset) is the caller's business.
pub fn render(page: &Page, width: usize, palette: impl Into<Palette>, detail: Detail) -> String {
    let mut sheet = Sheet::new(width, palette);
    opening(page, detail, &mut sheet);
    verdicts::show(page, detail, &mut sheet);
    builds::verdicts(page, detail, &mut sheet);
    builds::side_by_side(page, detail, &mut sheet);
    states::show(page, detail, &mut sheet);
    times::show(page, detail, &mut sheet);
    counts::show(page, detail, &mut sheet);
    limits::show(page, detail, &mut sheet);
    reasons::show(page, detail, &mut sheet);
    if detail == Detail::Full {
        by_mode(page, &mut sheet);
    }
    closing::show(page, detail, &mut sheet);
    sheet.into_text()
}

fn opening(page: &Page, detail: Detail, sheet: &mut Sheet) {
    sheet.paragraph(Ink::Bold, "", &page.answer);
    if let Some(next) = answer::next(page) {
        sheet.labelled(Ink::Plain, "next      ", &next);
    }
    if let Some(gate) = &page.gate {
        gate.show(sheet);
    }
    sheet.labelled(Ink::Dim, "asked     ", &page.question);
    if let Some(prediction) = &page.prediction {
        sheet.labelled(Ink::Dim, "expected  ", prediction);
    }
    // Usually the warnings have the twin control's sentence already, as the first.
    // Where nothing was compared, there is nothing that it could weaken.
    let twin = Some(twin_found(page))
        .filter(|_| !page.contrasts.is_empty())
        .filter(|twin| page.twin_control.verdict == TwinVerdict::Different && !page.warnings.contains(twin));
    let notes = page.notes.iter().filter(|_| detail == Detail::Full);
    // The answer tells the first.
    let more: Vec<String> = page.findings.iter().skip(1).map(prose_of).collect();
    let told: Vec<(Ink, &String)> = (more.iter().chain(&twin).chain(&page.warnings))
        .map(|warning| (Ink::Doubt, warning))
        .chain(notes.map(|note| (Ink::Dim, note)))
        .collect();
    if !told.is_empty() {
        sheet.gap();
    }
    for (ink, text) in told {
        sheet.labelled(ink, if ink == Ink::Doubt { "! " } else { "- " }, text);
    }
}

/// What runs at two speeds, mode by mode.
fn by_mode(page: &Page, sheet: &mut Sheet) {
    let of = |contrast: &PageContrast| {
        let build = build_name(&contrast.compiler, &contrast.flags);
        format!("{} on {}, {build}", candidate_name(page, contrast), contrast.input)
    };
    let found = page.contrasts.iter().filter_map(|contrast| {
        Some(ByMode {
            of: of(contrast),
            sides: [&contrast.candidate, &contrast.baseline],
            unit: "ns",
            modes: contrast.modes.as_ref()?,
        })
    });
    modes::show(&found.collect::<Vec<_>>(), sheet);
}

/// A finding and what to change.
fn prose_of(found: &PageFinding) -> String {
    let sentence = found.sentence();
    // A variant's name stays as the program spells it.
    let sentence = if found.variant.is_some() { sentence } else { words::capital(&sentence) };
    format!("{sentence} To fix it: {}.", found.remedy)
}

/// The twin control in one sentence.
fn twin_found(page: &Page) -> String {
    let twin = &page.twin_control;
    if let Some(note) = &twin.note {
        return note.clone();
    }
    let word = match twin.verdict {
        TwinVerdict::Equivalent => "The twin control holds",
        TwinVerdict::Different => "The twin control failed",
        TwinVerdict::Undecided => "The twin control is undecided",
    };
    let size = match (twin.ratio, twin.lower, twin.upper) {
        (Some(ratio), Some(lower), Some(upper)) => {
            format!("{} is left", words::change_with_interval(ratio, lower, upper))
        }
        (Some(ratio), ..) => format!("{} is left", words::change(ratio)),
        _ => return format!("{word}."),
    };
    format!("{word}: with both names swapped in half of the rotations {size}.")
}

/// The word of a verdict in its ink.
pub(crate) fn verdict_word(verdict: Verdict) -> (&'static str, Ink) {
    let ink = match verdict {
        Verdict::Faster => Ink::Good,
        Verdict::Slower => Ink::Bad,
        Verdict::Equivalent => Ink::Calm,
        Verdict::Undecided => Ink::Doubt,
    };
    (verdict.word(), ink)
}

/// The word for what as-built amounts to, in its ink, and its meaning.
pub(crate) fn says_word(says: AsBuiltSays) -> (&'static str, Ink, &'static str) {
    let (ink, meaning) = match says {
        AsBuiltSays::Reversed => (Ink::Bad, "the ordinary link shows the opposite sign"),
        AsBuiltSays::Ghost => {
            (Ink::Doubt, "the ordinary link shows a difference that the code does not have")
        }
        AsBuiltSays::Masked => (Ink::Doubt, "the ordinary link hides a difference that the code has"),
        AsBuiltSays::Inflated => (Ink::Doubt, "right sign, too large by more than a half"),
        AsBuiltSays::Deflated => (Ink::Doubt, "right sign, too small by more than a half"),
        AsBuiltSays::Confirmed => (Ink::Dim, "the ordinary link agrees"),
    };
    (says.word(), ink, meaning)
}

/// Compiler and flag set as the tables name a build.
pub(crate) fn build_name(compiler: &str, flags: &str) -> String {
    format!("{compiler} {flags}").trim().to_owned()
}

/// Names the candidate, and the baseline too where it isn't the page's.
pub(crate) fn candidate_name(page: &Page, contrast: &PageContrast) -> String {
    if let Some(against) = &contrast.against {
        let other = if contrast.axis == Axis::Flags { &against.flags } else { &against.compiler };
        return format!("{} / {other}", contrast.candidate);
    }
    if contrast.baseline == page.baseline {
        contrast.candidate.clone()
    } else {
        format!("{} / {}", contrast.candidate, contrast.baseline)
    }
}

/// Different values in the order of their first appearance.
pub(crate) fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{Axis, FailureKind, PageFailure};

    #[test]
    fn a_variant_that_was_left_out_is_skipped_and_not_failed() {
        for mut page in [crate::sample::page(), crate::sample::builds()] {
            let cell = page.cells.iter_mut().find(|cell| cell.failed.is_none()).expect("a cell");
            let reason = "this CPU lacks avx512_vbmi2".to_owned();
            (cell.failed, cell.ns_per_unit) = (Some(crate::page::Failed { reason: reason.clone() }), None);
            let skipped = PageFailure { kind: FailureKind::Skipped, what: cell.variant.clone(), reason };
            let count = |page: &Page, word: &str| {
                let text = render(page, 160, false, Detail::Full);
                text.split_whitespace().filter(|found| *found == word).count()
            };
            let failed = [count(&page, "failed"), count(&page, "skipped")];
            page.failures.push(skipped);
            let along_builds = page.contrasts.iter().any(|found| found.axis != Axis::Variant);
            assert!(count(&page, "skipped") > failed[1], "{along_builds}");
            assert!(count(&page, "failed") < failed[0], "{along_builds}");
        }
    }

    #[test]
    fn what_makes_figures_untrue_stands_in_the_first_lines_with_what_to_do() {
        let text = render(&crate::sample::misleading(), 300, false, Detail::Brief);
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[0].starts_with("Misleading: table on all-1 is dead code: a call takes 2.1 ns"),
            "{text}"
        );
        assert_eq!(lines[1], "next      make the answer depend on every unit");
        assert!(text.contains("! The predictor memorises all-1: branch takes 0.500 ns per varint"), "{text}");
        assert!(text.contains("To fix it: use at least 140,000 varints."), "{text}");
    }
}
