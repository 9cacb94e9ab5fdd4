//! The page as text for a terminal: the answer first, then what could make it wrong, then the tables, then the reasons.
//!
//! Made for 80 columns and for 160: a table leaves out or adds columns, nothing runs past the margin. No colour carries
//! meaning alone. Checked by golden texts at both widths (`tests/golden`) and by a test that no line exceeds its width.

mod closing;
mod reasons;
mod times;
mod verdicts;

use super::ink::Ink;
use super::number;
use super::page::{AsBuiltSays, Contrast, Page, Verdict};
use super::sheet::Sheet;

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
pub fn render(page: &Page, width: usize, colour: bool, detail: Detail) -> String {
    let mut sheet = Sheet::new(width, colour);
    opening(page, &mut sheet);
    verdicts::show(page, detail, &mut sheet);
    times::show(page, detail, &mut sheet);
    reasons::show(page, detail, &mut sheet);
    closing::show(page, detail, &mut sheet);
    sheet.into_text()
}

fn opening(page: &Page, sheet: &mut Sheet) {
    sheet.paragraph(Ink::Bold, "", &page.answer);
    sheet.labelled(Ink::Dim, "asked     ", &page.question);
    if let Some(prediction) = &page.prediction {
        sheet.labelled(Ink::Dim, "expected  ", prediction);
    }
    let warnings: Vec<String> = twin_warning(page).into_iter().chain(page.warnings.iter().cloned()).collect();
    if !warnings.is_empty() {
        sheet.gap();
    }
    for warning in &warnings {
        sheet.labelled(Ink::Doubt, "! ", warning);
    }
}

/// What the twin control says where it isn't what it should be.
fn twin_warning(page: &Page) -> Option<String> {
    let found = twin_found(page);
    let margin = number::fraction(page.campaign.minimum_effect);
    match page.twin_control.verdict {
        Verdict::Equivalent => None,
        Verdict::Faster | Verdict::Slower => Some(format!(
            "The twin control failed: {found}. The same code can't differ from itself, so differences of this size below \
             may be none; find the disturbance and measure again."
        )),
        Verdict::Inconclusive => Some(format!(
            "The twin control is not decided: {found}. That the same code differs by less than {margin} here is not shown."
        )),
    }
}

/// "branch against itself +0.1 % ± 0.3 (p80, gcc-12)".
fn twin_found(page: &Page) -> String {
    let twin = &page.twin_control;
    let size = match (twin.ratio, twin.lower, twin.upper) {
        (Some(ratio), Some(lower), Some(upper)) => {
            number::change_with_interval(&super::page::Effect { ratio, lower, upper })
        }
        (Some(ratio), ..) => number::change(ratio),
        _ => "was not compared".to_owned(),
    };
    let note = twin.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
    format!("{} against itself {size}{note}", page.baseline)
}

/// The word of a verdict in its ink.
fn verdict_word(verdict: Verdict) -> (&'static str, Ink) {
    match verdict {
        Verdict::Faster => ("faster", Ink::Good),
        Verdict::Slower => ("slower", Ink::Bad),
        Verdict::Equivalent => ("equivalent", Ink::Calm),
        Verdict::Inconclusive => ("inconclusive", Ink::Doubt),
    }
}

/// The word for what as-built amounts to, in its ink, and its meaning.
fn says_word(says: AsBuiltSays) -> (&'static str, Ink, &'static str) {
    match says {
        AsBuiltSays::Reversed => ("reversed", Ink::Bad, "as built has the other sign"),
        AsBuiltSays::Ghost => ("ghost", Ink::Doubt, "as built says different, the code is equivalent"),
        AsBuiltSays::Masked => ("masked", Ink::Doubt, "as built says equal, the code is not"),
        AsBuiltSays::Inflated => ("inflated", Ink::Doubt, "right sign, too large by more than a half"),
        AsBuiltSays::Deflated => ("deflated", Ink::Doubt, "right sign, too small by more than a half"),
        AsBuiltSays::Confirmed => ("confirmed", Ink::Dim, "as built agrees"),
    }
}

/// Compiler and flag set as the tables name a build.
fn build_name(compiler: &str, flags: &str) -> String {
    format!("{compiler} {flags}").trim().to_owned()
}

/// Names the candidate, and the baseline too where it isn't the page's.
fn candidate_name(page: &Page, contrast: &Contrast) -> String {
    if contrast.baseline == page.baseline {
        contrast.candidate.clone()
    } else {
        format!("{} / {}", contrast.candidate, contrast.baseline)
    }
}

/// Different values in the order of their first appearance.
fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}
