//! The verdict tables: a row per contrast, or per candidate and verdict where there would be too many rows.

use super::{Detail, build_name, candidate_name, distinct, says_word, verdict_word};
use crate::ink::Ink;
use crate::number;
use crate::page::{AsBuiltSays, Axis, Contrast, Page};
use crate::prose;
use crate::sheet::Sheet;
use crate::table::{Column, Entry, Table};

/// More contrasts than this are grouped in the brief view: a screenful.
const MOST_ROWS: usize = 24;

/// Adds the section, one table per build.
pub(super) fn show(page: &Page, detail: Detail, sheet: &mut Sheet) {
    let all: Vec<&Contrast> = page.along(Axis::Variant).collect();
    if all.is_empty() {
        return;
    }
    let grouped = detail == Detail::Brief && all.len() > MOST_ROWS;
    sheet.heading("Verdicts");
    legend(page, sheet);
    for (compiler, flags) in distinct(all.iter().map(|c| (&c.compiler, &c.flags))) {
        sheet.gap();
        sheet.paragraph(Ink::Bold, "  ", &build_name(compiler, flags));
        let own: Vec<&Contrast> =
            all.iter().copied().filter(|c| (&c.compiler, &c.flags) == (compiler, flags)).collect();
        sheet.table(&if grouped { by_verdict(page, &own) } else { by_contrast(page, &own) });
    }
    if grouped {
        sheet.gap();
        let rows = format!("{} grouped; every row: --all", prose::plural(all.len() as u64, "contrast"));
        sheet.paragraph(Ink::Dim, "  ", &rows);
    }
}

fn legend(page: &Page, sheet: &mut Sheet) {
    let legend = format!(
        "Time of the candidate against {}: -12 % takes 12 % less, +12 % takes 12 % more. Code effect: mean over \
         placements, ± its interval at {} for all contrasts together; as built: one plain link.",
        page.baseline,
        number::confidence(page.campaign.confidence)
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

fn by_contrast(page: &Page, contrasts: &[&Contrast]) -> Table {
    let columns = vec![
        Column::left("candidate"),
        Column::left("input"),
        Column::right("as built"),
        Column::right("placement").optional(3),
        Column::right("code effect"),
        Column::left("verdict"),
        Column::left("as built is"),
        Column::left("cause").optional(2),
        Column::right("rotations").optional(4),
        Column::right("detectable").optional(5),
    ];
    let mut table = Table::new(columns, 2);
    let mut previous = String::new();
    for contrast in contrasts {
        let candidate = candidate_name(page, contrast);
        let (verdict, verdict_ink) = verdict_word(contrast.verdict);
        let says = contrast.as_built_says.map(says_word);
        let causes: Vec<&str> = contrast.causes.iter().map(|cause| cause.cause.name()).collect();
        table.row(vec![
            if candidate == previous { Entry::default() } else { candidate.clone().into() },
            contrast.input.clone().into(),
            contrast.as_built.map_or("-".to_owned(), |effect| number::change(effect.ratio)).into(),
            contrast.placement_ratio.map(number::change).unwrap_or_default().into(),
            contrast.code.map_or("-".to_owned(), |effect| number::change_with_interval(&effect)).into(),
            Entry::inked(verdict, verdict_ink),
            says.map_or(Entry::default(), |(word, ink, _)| Entry::inked(word, ink)),
            causes.join(", ").into(),
            contrast.rotations.to_string().into(),
            contrast.minimum_detectable_effect.map(number::fraction).unwrap_or_default().into(),
        ]);
        previous = candidate;
    }
    table
}

fn by_verdict(page: &Page, contrasts: &[&Contrast]) -> Table {
    let columns = vec![
        Column::left("candidate"),
        Column::left("verdict"),
        Column::right("code effect"),
        Column::right("as built").optional(2),
        Column::left("as built is").optional(1),
        Column::left("inputs").wrapping(),
    ];
    let mut table = Table::new(columns, 1);
    for candidate in distinct(contrasts.iter().map(|c| candidate_name(page, c))) {
        let own: Vec<&Contrast> =
            contrasts.iter().copied().filter(|c| candidate_name(page, c) == candidate).collect();
        let mut verdicts = distinct(own.iter().map(|c| c.verdict));
        verdicts.sort_unstable();
        for (index, verdict) in verdicts.into_iter().enumerate() {
            let group: Vec<&Contrast> = own.iter().copied().filter(|c| c.verdict == verdict).collect();
            let (word, ink) = verdict_word(verdict);
            let inputs: Vec<&str> = group.iter().map(|c| c.input.as_str()).collect();
            table.row(vec![
                if index == 0 { candidate.clone().into() } else { Entry::default() },
                Entry::inked(word, ink),
                number::change_span(group.iter().filter_map(|c| c.code.map(|code| code.ratio))).into(),
                number::change_span(group.iter().filter_map(|c| c.as_built.map(|built| built.ratio))).into(),
                misleading(&group),
                tell_inputs(&inputs, own.len()).into(),
            ]);
        }
    }
    table
}

/// "all 4", or which of them.
pub(super) fn tell_inputs<S: AsRef<str>>(inputs: &[S], all: usize) -> String {
    if inputs.len() == all && all > 1 {
        return format!("all {all}");
    }
    inputs.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")
}

/// "2 ghost, 1 inflated".
pub(super) fn misleading(group: &[&Contrast]) -> Entry {
    let mut kinds: Vec<AsBuiltSays> = distinct(group.iter().filter_map(|c| c.as_built_says));
    kinds.retain(|&says| says != AsBuiltSays::Confirmed);
    kinds.sort_unstable();
    let counted = |says: &AsBuiltSays| {
        let count = group.iter().filter(|c| c.as_built_says == Some(*says)).count();
        format!("{count} {}", says_word(*says).0)
    };
    Entry::inked(kinds.iter().map(counted).collect::<Vec<_>>().join(", "), Ink::Doubt)
}
