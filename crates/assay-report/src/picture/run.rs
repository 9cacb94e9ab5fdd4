//! A campaign: its contrasts as a forest, then the times by offset that show why.

use super::forest::{ForestPicture, ForestRow, MOST_ROWS, remarks};
use super::frame;
use super::offsets;
use super::scene::Scene;
use crate::answer::carried;
use crate::page::{AsBuiltSays, Axis, Page, PageContrast, Verdict};
use crate::terminal::build_column::BuildColumn;
use crate::terminal::{build_name, candidate_name, distinct};
use assay_pure::words;

/// The picture of a campaign.
pub fn of_campaign(page: &Page) -> Scene {
    let caution = page.neighbour.clone().unwrap_or_default();
    let (mut scene, mut y) = frame::begin_with(&page.question, &without(&page.answer, &caution), &caution);
    // As the answer has it: without verdicts that the twin control does not carry.
    let (carried, _) = carried(page);
    let page = carried.as_ref();
    let builds = BuildColumn::of(page);
    let all = in_order(page);
    let shown = most_telling(&all);
    if !shown.is_empty() {
        y = forest(page, &builds, &all).draw(&mut scene, y, &rows(page, &builds, &shown));
        if shown.len() < all.len() {
            y = frame::remark(&mut scene, y, &left_out(&all, &shown));
        }
    }
    y = offsets::draw(&mut scene, y, page, &builds);
    frame::end(&mut scene, y, &source(page));
    scene
}

/// The answer without a sentence in it that is told apart.
fn without(answer: &str, sentence: &str) -> String {
    let rest = answer.replacen(sentence, "", usize::from(!sentence.is_empty()));
    rest.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// As in the tables: by candidate, then by input; variants before builds.
fn in_order(page: &Page) -> Vec<&PageContrast> {
    let mut all: Vec<&PageContrast> = page.contrasts.iter().collect();
    let candidates = distinct(all.iter().map(|c| candidate_name(page, c)));
    let inputs = distinct(all.iter().map(|c| c.input.as_str()));
    let at = |names: &[String], name: &str| names.iter().position(|known| known == name);
    all.sort_by_key(|c| {
        let input = inputs.iter().position(|known| *known == c.input);
        (c.axis != Axis::Variant, at(&candidates, &candidate_name(page, c)), input)
    });
    all
}

/// As many as there is room for, in their order: what misleads, what differs, what is open, then the rest.
fn most_telling<'a>(all: &[&'a PageContrast]) -> Vec<&'a PageContrast> {
    let rank = |c: &PageContrast| match (c.as_built_says, c.verdict) {
        (Some(AsBuiltSays::Reversed | AsBuiltSays::Ghost | AsBuiltSays::Masked), _) => 0,
        (_, verdict) if verdict.is_difference() => 1,
        (_, Verdict::Undecided) => 2,
        _ => 3,
    };
    let mut numbered: Vec<(usize, &&PageContrast)> = all.iter().enumerate().collect();
    numbered.sort_by_key(|(_, c)| rank(c));
    numbered.truncate(MOST_ROWS);
    numbered.sort_by_key(|(at, _)| *at);
    numbered.into_iter().map(|(_, c)| *c).collect()
}

fn left_out(all: &[&PageContrast], shown: &[&PageContrast]) -> String {
    let left: Vec<Verdict> =
        all.iter().filter(|c| !shown.iter().any(|s| std::ptr::eq(*s, **c))).map(|c| c.verdict).collect();
    counted(&left, "contrast")
}

/// "Left out: 32 contrasts (30 equivalent, 2 undecided)."
pub fn counted(left: &[Verdict], noun: &str) -> String {
    let mut kinds = distinct(left.iter().copied());
    kinds.sort_unstable();
    let of = |kind: &Verdict| {
        let count = left.iter().filter(|verdict| *verdict == kind).count();
        format!("{count} {}", kind.word())
    };
    let kinds: Vec<String> = kinds.iter().map(of).collect();
    format!("Left out: {} ({}).", words::plural(left.len() as u64, noun), kinds.join(", "))
}

fn forest<'a>(page: &'a Page, builds: &BuildColumn, all: &[&PageContrast]) -> ForestPicture<'a> {
    let mut columns = vec!["variant", "input"];
    columns.extend(builds.title());
    let many = if all.len() == 1 { " sure" } else { " sure for all contrasts together" };
    ForestPicture {
        columns,
        baseline: &page.baseline,
        margin: page.campaign.minimum_effect,
        confidence: format!("{}{many}", words::confidence(page.campaign.confidence)),
        over: "placements",
    }
}

fn rows(page: &Page, builds: &BuildColumn, shown: &[&PageContrast]) -> Vec<ForestRow> {
    let row = |c: &&PageContrast| {
        let mut labels = vec![candidate_name(page, c), c.input.clone()];
        labels.extend(builds.title().map(|_| builds.name(&c.compiler, &c.flags)));
        let mut told = remarks(&c.causes, c.proof(), c.as_built.zip(c.as_built_says));
        if c.verdict == Verdict::Undecided {
            let more = c.more_rotations().map(|more| words::plural(u64::from(more), "more rotation"));
            told.extend(more.map(|more| format!("{more} should decide it")));
        }
        ForestRow {
            labels,
            code: c.code,
            as_built: c.as_built,
            verdict: Some(c.verdict),
            proven: c.proven,
            remarks: told,
        }
    };
    shown.iter().map(row).collect()
}

fn source(page: &Page) -> Vec<String> {
    let builds = distinct(page.cells.iter().map(|cell| build_name(&cell.compiler, &cell.flags)));
    let builds = if builds.len() > 3 { format!("{} builds", builds.len()) } else { words::list(&builds) };
    vec![
        format!("assay run, experiment {}", page.experiment),
        page.machine.cpu.clone(),
        builds,
        words::plural(u64::from(page.campaign.rotations), "rotation"),
        format!("{} of measuring", words::duration(page.campaign.measured_seconds)),
        page.campaign.started.chars().take(10).collect(),
    ]
}
