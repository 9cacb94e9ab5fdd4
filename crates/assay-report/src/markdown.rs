//! A campaign as a summary for a pull request or a CI job: the answer first, its picture, every verdict folded away below.

use crate::answer::next;
use crate::page::{FailureKind, Page};
use crate::picture::{PictureReference, reference};
use crate::prose::escape;
use crate::terminal::verdicts::every_contrast;
use assay_pure::words;

/// The page as GitHub-flavoured Markdown, with pictures that were drawn of it.
pub fn markdown(page: &Page, pictures: &[PictureReference]) -> String {
    let mut text = format!("### assay run: {}\n\n", escape(&page.experiment));
    if !page.question.is_empty() {
        text += &format!("*{}*\n\n", escape(&page.question));
    }
    text += &format!("{}\n\n", escape(&page.answer));
    if let Some(next) = next(page) {
        text += &format!("Next: {}.\n\n", escape(next.trim_end_matches('.')));
    }
    if let Some(gate) = &page.gate {
        text += &gate.markdown();
    }
    text += &reference(&page.answer, pictures);
    for warning in &page.warnings {
        text += &format!("> {}\n>\n", escape(warning));
    }
    let table = every_contrast(page);
    if !table.is_empty() {
        let count = words::plural(page.contrasts.len() as u64, "contrast");
        text += &format!("<details><summary>{count}</summary>\n\n{}</details>\n\n", table.markdown());
    }
    for failure in &page.failures {
        let word = if failure.kind == FailureKind::Failed { "failed" } else { "left out" };
        let reason = failure.reason.lines().next().unwrap_or_default();
        text += &format!("- {} {word}: {}\n", escape(&failure.what), escape(reason));
    }
    text += &format!(
        "\n<sub>Time compared with {}. Code effect: mean over placements, with its interval; the verdicts are {} sure for all contrasts together. As \
         built: one ordinary link. Margin {}.</sub>\n",
        escape(&page.baseline),
        words::confidence(page.campaign.confidence),
        words::asked(page.campaign.minimum_effect)
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::Picture;
    use crate::{golden, sample};

    #[test]
    fn the_summary_is_the_golden_text() {
        let picture = PictureReference { kind: Picture::Svg, address: "picture-run.svg".to_owned() };
        golden::assert_golden("run.md", &markdown(&sample::page(), &[picture]));
    }
}
