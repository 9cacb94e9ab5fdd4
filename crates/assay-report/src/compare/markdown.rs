//! The summary for a pull request or a CI job: Markdown, the answer first, what is equivalent folded away.

use super::answer::next;
use super::page::{ComparePage, Compared};
use super::terminal::{besides_work, function_told, memory, of_two, ordered};
use crate::Detail;
use crate::page::{AsBuiltSays, Verdict};
use crate::picture::{PictureReference, reference};
use crate::prose::escape;
use assay_pure::words;
use assay_pure::words::plural;

/// The page as GitHub-flavoured Markdown, with pictures that were drawn of it.
pub fn markdown(page: &ComparePage, pictures: &[PictureReference]) -> String {
    let mut text = String::new();
    let names: Vec<&str> = page.sides.iter().map(|side| side.name.as_str()).collect();
    text += &format!("### assay compare: {}\n\n{}\n\n", escape(&names.join(" → ")), escape(&page.answer));
    if let Some(next) = next(page) {
        text += &format!("Next: {}.\n\n", escape(&next));
    }
    if let Some(gate) = &page.gate {
        text += &gate.markdown();
    }
    text += &reference(&page.answer, pictures);
    for doubt in page.doubts(Detail::Brief) {
        text += &format!("> {}\n>\n", escape(&doubt));
    }
    let telling = |found: &&Compared| {
        found.verdict != Some(Verdict::Equivalent)
            || found.as_built_says.is_some_and(|says| says != AsBuiltSays::Confirmed)
    };
    let (shown, folded): (Vec<&Compared>, Vec<&Compared>) = ordered(page).into_iter().partition(telling);
    text += &of_two(&shown, Detail::Full, None).markdown();
    text += &evidence(&shown);
    if !folded.is_empty() {
        text += &format!("<details><summary>{} equivalent</summary>\n\n", folded.len());
        text += &of_two(&folded, Detail::Full, None).markdown();
        text += "</details>\n\n";
    }
    if let Some(told) = memory(page, Detail::Brief) {
        text += &format!("- peak memory: {}\n", escape(&told));
    }
    for found in &page.one_sided {
        text += &format!("- {} is only in {}\n", escape(&found.benchmark), escape(&found.only_in));
    }
    for spoilt in &page.spoilt {
        let runs = plural(spoilt.visits, "run");
        text += &format!("- {runs} of {} failed: {}\n", escape(&spoilt.side), escape(&spoilt.reason));
    }
    text += &format!(
        "\n<sub>Code effect: mean over {} rotations of 4 placements, with its interval; the verdicts are {} sure for all benchmarks together. As \
         built: each binary exactly as its build linked it. Margin {}.</sub>\n",
        page.measured.rotations,
        words::confidence(page.measured.confidence),
        words::asked(page.measured.minimum_effect)
    );
    text
}

fn evidence(rows: &[&Compared]) -> String {
    let mut text = String::new();
    for found in rows {
        let told = found
            .causes
            .iter()
            .map(|cause| format!("{}: {}", cause.cause.name(), cause.evidence))
            .chain(besides_work(found, Detail::Brief).into_iter().take(3).map(function_told));
        for line in told {
            text += &format!("- {}: {}\n", escape(&found.benchmark), escape(&line));
        }
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}
