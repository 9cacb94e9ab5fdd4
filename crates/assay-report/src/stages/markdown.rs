//! The diary as Markdown: the answer first, then the tables of the terminal with all their columns.

use super::answer::next;
use super::not_measured::not_measured;
use super::page::DiaryPage;
use super::terminal::{DISTANCES, components, components_title, distances, of_role, role_title};
use crate::page::ClaimStatus;
use crate::picture::{PictureReference, reference};
use crate::prose::escape;
use crate::sheet::doubts;
use crate::table::Table;
use assay_pure::verdict::CountSource;
use assay_pure::words;

/// The page as GitHub-flavoured Markdown, with pictures that were drawn of it.
pub fn markdown(page: &DiaryPage, pictures: &[PictureReference]) -> String {
    let mut text = format!("### assay stages: {}\n\n", escape(&page.diary));
    if !page.question.is_empty() {
        text += &format!("*{}*\n\n", escape(&page.question));
    }
    text += &format!("{}\n\n", escape(&page.answer));
    if let Some(next) = next(page) {
        text += &format!("Next: {}.\n\n", escape(&next));
    }
    text += &reference(&page.answer, pictures);
    for doubt in doubts(&page.warnings, &page.limits) {
        text += &format!("> {}\n>\n", escape(&doubt));
    }
    for role in &page.roles {
        text += &titled(&role_title(page, role), &of_role(page, role));
    }
    text += &titled(DISTANCES, &distances(page));
    for role in &page.roles {
        text +=
            &components(role).map_or(String::new(), |table| titled(&components_title(page, role), &table));
    }
    for step in &page.steps {
        for trap in &step.traps {
            let (stage, baseline, role) = (escape(&step.stage), escape(&step.baseline), escape(&step.role));
            text += &format!("- {stage} compared with {baseline} in {role}: {}\n", escape(trap));
        }
    }
    for cause in not_measured(page) {
        text += &format!("- not measured: {}: {}\n", escape(&cause.what()), escape(cause.brief()));
    }
    text += &claims(page);
    text += &format!(
        "\n<sub>Times: median over placements. Changes: mean over rotations, with its interval; the verdicts are {} sure for all steps of a session together, \
         margin {}; compared within a session only, where the builds are interleaved. Branches and instructions are exact{}.</sub>\n",
        words::confidence(page.confidence),
        words::asked(page.minimum_effect),
        page.predictor.as_ref().map_or_else(String::new, |name| match name {
            counter if counter == CountSource::Counted.word() => {
                "; misses are the processor's own count".to_owned()
            }
            name => format!("; misses are simulated by {}", escape(name)),
        })
    );
    text
}

fn titled(title: &str, table: &Table) -> String {
    if table.is_empty() { String::new() } else { format!("#### {}\n\n{}", escape(title), table.markdown()) }
}

fn claims(page: &DiaryPage) -> String {
    let mut text = String::new();
    for claim in &page.claims {
        let word = match claim.status {
            ClaimStatus::Confirmed => "confirmed",
            ClaimStatus::Refuted => "**refuted**",
            ClaimStatus::Undecided => "undecided",
        };
        text += &format!("- {word}: \"{}\": {}\n", escape(&claim.text), escape(&claim.found));
    }
    text
}
