//! The verdict tables: a row per contrast, or per candidate and verdict where there would be too many rows.

use super::build_column::BuildColumn;
use super::{Detail, candidate_name, distinct, says_word, verdict_word};
use crate::forest::{ForestBar, ForestColumn};
use crate::ink::Ink;
use crate::page::{AsBuiltSays, Axis, Page, PageContrast, Verdict};
use crate::sheet::Sheet;
use crate::table::{Column, Entry, Table};
use assay_pure::words;

/// More contrasts than this are grouped in the brief view: a screenful.
const MOST_ROWS: usize = 24;

/// Adds the section: one table, in which a column tells the builds apart.
pub(super) fn show(page: &Page, detail: Detail, sheet: &mut Sheet) {
    let all = in_order(page);
    if all.is_empty() {
        return;
    }
    let grouped = detail == Detail::Brief && all.len() > MOST_ROWS;
    let builds = BuildColumn::of(page);
    let table = if grouped {
        by_verdict(page, &all, &builds)
    } else {
        by_contrast(page, &all, &builds, detail, None)
    };
    let columns = if grouped { None } else { sheet.bar_columns(&table) };
    let effects: Vec<ForestBar> = all.iter().map(|contrast| effect(contrast)).collect();
    let forest =
        columns.and_then(|columns| ForestColumn::over(&effects, page.campaign.minimum_effect, columns));
    sheet.heading(&builds.heading("Verdicts"));
    legend(page, sheet);
    match forest {
        Some(forest) => {
            sheet.paragraph(Ink::Dim, "  ", &ForestColumn::legend(page.campaign.minimum_effect));
            sheet.gap();
            sheet.table(&by_contrast(page, &all, &builds, detail, Some(&forest)));
        }
        None => {
            sheet.gap();
            sheet.table(&table);
        }
    }
    if grouped {
        sheet.gap();
        let rows = format!("{} in groups; --all shows each", words::plural(all.len() as u64, "contrast"));
        sheet.paragraph(Ink::Dim, "  ", &rows);
    }
}

/// Contrasts of variants by candidate, then by input.
fn in_order(page: &Page) -> Vec<&PageContrast> {
    let mut all: Vec<&PageContrast> = page.along(Axis::Variant).collect();
    let order = |of: &dyn Fn(&PageContrast) -> String| distinct(page.along(Axis::Variant).map(of));
    let candidates = order(&|c| candidate_name(page, c));
    let inputs = order(&|c| c.input.clone());
    let at = |names: &[String], name: &str| names.iter().position(|known| known == name);
    all.sort_by_key(|c| (at(&candidates, &candidate_name(page, c)), at(&inputs, &c.input)));
    all
}

/// Every contrast of variants, for Markdown, where lines may be long.
pub(crate) fn every_contrast(page: &Page) -> Table {
    by_contrast(page, &in_order(page), &BuildColumn::of(page), Detail::Full, None)
}

fn legend(page: &Page, sheet: &mut Sheet) {
    let legend = format!(
        "Time relative to {}: -12 % takes 12 % less. code effect: mean over all placements, ± its interval; the verdicts are {} \
         sure for all contrasts together. as built: one ordinary link.",
        page.baseline,
        words::asked(page.campaign.confidence)
    );
    sheet.paragraph(Ink::Dim, "  ", &legend);
    let mut occurring: Vec<AsBuiltSays> = distinct(page.contrasts.iter().filter_map(|c| c.as_built_says));
    occurring.retain(|&says| says != AsBuiltSays::Confirmed);
    occurring.sort_unstable();
    for says in occurring {
        let (word, ink, meaning) = says_word(says);
        sheet.labelled(ink, &format!("  {word:<8}  "), meaning);
    }
}

/// What a contrast's bar shows.
fn effect(contrast: &PageContrast) -> ForestBar {
    ForestBar { code: contrast.code, as_built: contrast.as_built.map(|built| built.ratio) }
}

fn by_contrast(
    page: &Page,
    contrasts: &[&PageContrast],
    builds: &BuildColumn,
    detail: Detail,
    forest: Option<&ForestColumn>,
) -> Table {
    let mut columns = vec![Column::left("variant"), Column::left("input")];
    columns.extend(builds.column());
    let keys = columns.len();
    columns.extend([Column::right("code effect"), Column::left("verdict")]);
    columns.extend(forest.map(|forest| Column::left(&forest.title())));
    columns.extend([
        Column::left("as built").optional(1),
        Column::right("placement").optional(3),
        Column::left("cause").optional(2),
        Column::right("rotations").optional(4),
        Column::right("detectable").optional(5),
    ]);
    let mut table = Table::new(columns, keys);
    let room = contrasts.iter().map(|c| as_built_change(c).len()).max().unwrap_or(0);
    let (mut previous, mut previous_input) = (String::new(), "");
    for contrast in contrasts {
        let candidate = candidate_name(page, contrast);
        let (verdict, verdict_ink) = verdict_word(contrast.verdict);
        // That an ordinary link agrees is no news.
        let is_news = |says: &AsBuiltSays| detail == Detail::Full || *says != AsBuiltSays::Confirmed;
        let says = contrast.as_built_says.filter(is_news).map(says_word);
        let causes: Vec<&str> = contrast.causes.iter().map(|cause| cause.cause.name()).collect();
        let (same, same_input) = (candidate == previous, contrast.input == previous_input);
        let once = |again: bool, text: &str| if again { Entry::default() } else { text.into() };
        let mut row = vec![once(same, &candidate), once(same && same_input, &contrast.input)];
        row.extend(builds.entry(&contrast.compiler, &contrast.flags));
        row.extend([
            contrast.code.map_or("-".to_owned(), |effect| effect.change()).into(),
            Entry::inked(verdict, verdict_ink),
        ]);
        row.extend(forest.map(|forest| Entry::inked(forest.bar(effect(contrast)), verdict_ink)));
        row.extend([
            as_built_entry(contrast, says, room),
            contrast.placement_ratio.map(words::change).unwrap_or_default().into(),
            causes.join(", ").into(),
            contrast.rotations.to_string().into(),
            contrast.minimum_detectable_effect.map(words::fraction).unwrap_or_default().into(),
        ]);
        table.row(row);
        (previous, previous_input) = (candidate, &contrast.input);
    }
    table
}

fn as_built_change(contrast: &PageContrast) -> String {
    contrast.as_built.map_or("-".to_owned(), |effect| words::change(effect.ratio))
}

/// "-6.9 % reversed": the number to the right of `room` columns, then the word.
fn as_built_entry(contrast: &PageContrast, says: Option<(&str, Ink, &str)>, room: usize) -> Entry {
    let change = as_built_change(contrast);
    match says {
        Some((word, ink, _)) => Entry::inked(format!("{change:>room$} {word}"), ink),
        None => format!("{change:>room$}").into(),
    }
}

/// A row per candidate, verdict and set of inputs; builds that have that verdict on the same inputs share it.
fn by_verdict(page: &Page, contrasts: &[&PageContrast], builds: &BuildColumn) -> Table {
    let mut columns = vec![Column::left("variant"), Column::left("verdict")];
    columns.extend(builds.column());
    columns.extend([
        Column::right("code effect"),
        Column::right("as built").optional(2),
        Column::left("as built is").optional(1),
        Column::left("inputs").wrapping(),
    ]);
    let mut table = Table::new(columns, 1);
    for candidate in distinct(contrasts.iter().map(|c| candidate_name(page, c))) {
        let own: Vec<&PageContrast> =
            contrasts.iter().copied().filter(|c| candidate_name(page, c) == candidate).collect();
        let all_builds = distinct(own.iter().map(|c| builds.name(&c.compiler, &c.flags)));
        let all_inputs = distinct(own.iter().map(|c| c.input.as_str())).len();
        let mut verdicts = distinct(own.iter().map(|c| c.verdict));
        verdicts.sort_unstable();
        let groups = verdicts.into_iter().flat_map(|verdict| alike(&own, verdict, builds));
        for (index, group) in groups.enumerate() {
            let (word, ink) = verdict_word(group.contrasts[0].verdict);
            let mut row = vec![
                if index == 0 { candidate.clone().into() } else { Entry::default() },
                Entry::inked(word, ink),
            ];
            row.extend(builds.title().map(|_| Entry::from(tell_inputs(&group.builds, all_builds.len()))));
            let ratios =
                |of: fn(&PageContrast) -> Option<f64>| group.contrasts.iter().filter_map(move |c| of(c));
            row.extend([
                words::change_span(ratios(|c| c.code.map(|code| code.ratio))).into(),
                words::change_span(ratios(|c| c.as_built.map(|built| built.ratio))).into(),
                misleading(&group.contrasts),
                tell_inputs(&group.inputs, all_inputs).into(),
            ]);
            table.row(row);
        }
    }
    table
}

/// Contrasts of one candidate with one verdict, by builds that have it on the same inputs.
struct Alike<'a> {
    builds: Vec<String>,
    inputs: Vec<&'a str>,
    contrasts: Vec<&'a PageContrast>,
}

fn alike<'a>(own: &[&'a PageContrast], verdict: Verdict, builds: &BuildColumn) -> Vec<Alike<'a>> {
    let mut groups: Vec<Alike> = Vec::new();
    let name = |c: &PageContrast| builds.name(&c.compiler, &c.flags);
    for build in distinct(own.iter().map(|c| name(c))) {
        let of_build: Vec<&PageContrast> =
            own.iter().copied().filter(|c| c.verdict == verdict && name(c) == build).collect();
        let inputs: Vec<&str> = of_build.iter().map(|c| c.input.as_str()).collect();
        match groups.iter_mut().find(|group| group.inputs == inputs) {
            _ if inputs.is_empty() => {}
            Some(group) => {
                group.builds.push(build);
                group.contrasts.extend(of_build);
            }
            None => groups.push(Alike { builds: vec![build], inputs, contrasts: of_build }),
        }
    }
    groups
}

/// "all 4", or which of them.
pub(super) fn tell_inputs<S: AsRef<str>>(inputs: &[S], all: usize) -> String {
    if inputs.len() == all && all > 1 {
        return format!("all {all}");
    }
    inputs.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")
}

/// "2 ghost, 1 inflated".
pub(super) fn misleading(group: &[&PageContrast]) -> Entry {
    let mut kinds: Vec<AsBuiltSays> = distinct(group.iter().filter_map(|c| c.as_built_says));
    kinds.retain(|&says| says != AsBuiltSays::Confirmed);
    kinds.sort_unstable();
    let counted = |says: &AsBuiltSays| {
        let count = group.iter().filter(|c| c.as_built_says == Some(*says)).count();
        format!("{count} {}", says_word(*says).0)
    };
    Entry::inked(kinds.iter().map(counted).collect::<Vec<_>>().join(", "), Ink::Doubt)
}
