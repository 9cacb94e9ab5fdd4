//! Builds side by side: each variant with itself by another compiler or with other flags, what the plain links show beside
//! what all placements show, and where the functions lie. Shown where an experiment compares builds.

use super::verdicts::{misleading, tell_inputs};
use super::{Detail, distinct, says_word, verdict_word};
use crate::ink::Ink;
use crate::page::{Axis, BuildLayout, Landing, Page, PageCell, PageContrast};
use crate::sheet::Sheet;
use crate::table::{Column, Entry, Table};
use assay_pure::words;

/// Inputs and flag sets with a table of times of their own in the brief view.
const MOST_SHOWN: usize = 1;

/// What a contrast of builds is: the candidate's level on the axis, and the baseline's.
fn levels(contrast: &PageContrast) -> (&str, &str) {
    let (compiler, flags) = contrast.baseline_build();
    match contrast.axis {
        Axis::Flags => (&contrast.flags, flags),
        Axis::Compiler | Axis::Variant => (&contrast.compiler, compiler),
    }
}

/// Does the page compare builds?
fn compares_builds(page: &Page) -> bool {
    page.contrasts.iter().any(|contrast| contrast.axis != Axis::Variant)
}

/// Adds the verdicts along compilers and flags.
pub(super) fn verdicts(page: &Page, detail: Detail, sheet: &mut Sheet) {
    let mut told = false;
    for (axis, title) in [(Axis::Compiler, "Between compilers"), (Axis::Flags, "Between flags")] {
        let own: Vec<&PageContrast> = page.along(axis).collect();
        if own.is_empty() {
            continue;
        }
        sheet.heading(title);
        let legend = "Each variant with itself in two builds. Code effect: the mean over all placements of both; as \
                      built: their plain links, the usual comparison.";
        if !std::mem::replace(&mut told, true) {
            sheet.paragraph(Ink::Dim, "  ", legend);
        }
        for pair in distinct(own.iter().map(|contrast| levels(contrast))) {
            sheet.gap();
            sheet.paragraph(Ink::Bold, "  ", &format!("{} against {}", pair.0, pair.1));
            let of_pair: Vec<&PageContrast> =
                own.iter().copied().filter(|contrast| levels(contrast) == pair).collect();
            sheet.table(&match detail {
                Detail::Brief => by_verdict(&of_pair),
                Detail::Full => by_contrast(&of_pair),
            });
        }
    }
}

/// Where a contrast of builds was made: its input, and the part of the build that both sides share.
fn place(contrast: &PageContrast) -> String {
    let shared = if contrast.axis == Axis::Flags { &contrast.compiler } else { &contrast.flags };
    format!("{} {shared}", contrast.input)
}

fn by_verdict(contrasts: &[&PageContrast]) -> Table {
    let columns = vec![
        Column::left("variant"),
        Column::left("verdict"),
        Column::right("code effect"),
        Column::right("as built"),
        Column::left("as built is").optional(1),
        Column::left("where").wrapping(),
    ];
    let mut table = Table::new(columns, 1);
    for variant in distinct(contrasts.iter().map(|contrast| contrast.candidate.as_str())) {
        let own: Vec<&PageContrast> = contrasts.iter().copied().filter(|c| c.candidate == variant).collect();
        let mut verdicts = distinct(own.iter().map(|contrast| contrast.verdict));
        verdicts.sort_unstable();
        for (index, verdict) in verdicts.into_iter().enumerate() {
            let group: Vec<&PageContrast> = own.iter().copied().filter(|c| c.verdict == verdict).collect();
            let (word, ink) = verdict_word(verdict);
            let places: Vec<String> = group.iter().map(|contrast| place(contrast)).collect();
            table.row(vec![
                if index == 0 { variant.into() } else { Entry::default() },
                Entry::inked(word, ink),
                words::change_span(group.iter().filter_map(|c| c.code.map(|code| code.ratio))).into(),
                words::change_span(group.iter().filter_map(|c| c.as_built.map(|built| built.ratio))).into(),
                misleading(&group),
                tell_inputs(&places, own.len()).into(),
            ]);
        }
    }
    table
}

fn by_contrast(contrasts: &[&PageContrast]) -> Table {
    let columns = vec![
        Column::left("variant"),
        Column::left("where"),
        Column::right("as built"),
        Column::right("placement").optional(1),
        Column::right("code effect"),
        Column::left("verdict"),
        Column::left("as built is"),
        Column::right("rotations").optional(2),
    ];
    let mut table = Table::new(columns, 2);
    let mut previous = "";
    for contrast in contrasts {
        let (verdict, ink) = verdict_word(contrast.verdict);
        let says = contrast.as_built_says.map(says_word);
        table.row(vec![
            if contrast.candidate == previous { Entry::default() } else { contrast.candidate.clone().into() },
            place(contrast).into(),
            contrast.as_built.map_or("-".to_owned(), |effect| words::change(effect.ratio)).into(),
            contrast.placement_ratio.map(words::change).unwrap_or_default().into(),
            contrast.code.map_or("-".to_owned(), |effect| effect.change()).into(),
            Entry::inked(verdict, ink),
            says.map_or(Entry::default(), |(word, ink, _)| Entry::inked(word, ink)),
            contrast.rotations.to_string().into(),
        ]);
        previous = &contrast.candidate;
    }
    table
}

/// Adds the tables of times, of convergence and of addresses.
pub(super) fn side_by_side(page: &Page, detail: Detail, sheet: &mut Sheet) {
    if !compares_builds(page) {
        return;
    }
    let most = if detail == Detail::Full { usize::MAX } else { MOST_SHOWN };
    let inputs = distinct(page.cells.iter().map(|cell| cell.input.as_str()));
    sheet.heading(&format!("Nanoseconds per {} by build", page.unit));
    let legend = "As built; below it the fastest and the slowest of all placements of the same code.";
    sheet.paragraph(Ink::Dim, "  ", legend);
    for input in inputs.iter().take(most) {
        times(page, input, sheet);
    }
    convergence(page, &inputs[..inputs.len().min(most)], sheet);
    if inputs.len() > most {
        sheet.gap();
        let left = words::plural((inputs.len() - most) as u64, "more input");
        sheet.paragraph(Ink::Dim, "  ", &format!("{left}: --all"));
    }
    landings(page, most, sheet);
}

/// One table per flag set: variants down, compilers across.
fn times(page: &Page, input: &str, sheet: &mut Sheet) {
    let of_input = || page.cells.iter().filter(|cell| cell.input == input);
    let compilers = distinct(of_input().map(|cell| cell.compiler.as_str()));
    for flags in distinct(of_input().map(|cell| cell.flags.as_str())) {
        let titles = compilers.iter().map(|compiler| Column::right(compiler));
        let title = format!("{input}, {flags}");
        let mut table = Table::new(std::iter::once(Column::left(&title)).chain(titles).collect(), 1);
        for variant in distinct(of_input().map(|cell| cell.variant.as_str())) {
            let cell = |compiler: &&str| {
                of_input().find(|c| c.variant == variant && c.compiler == **compiler && c.flags == flags)
            };
            let built = compilers.iter().map(|compiler| as_built(page, cell(compiler)));
            table.row(std::iter::once(variant.into()).chain(built).collect());
            let ranges = compilers.iter().map(|compiler| Entry::inked(range(cell(compiler)), Ink::Dim));
            table.row(std::iter::once(Entry::default()).chain(ranges).collect());
        }
        sheet.gap();
        sheet.table(&table);
    }
}

fn as_built(page: &Page, cell: Option<&PageCell>) -> Entry {
    match cell {
        Some(cell) if page.is_skipped(cell) => Entry::inked("skipped", Ink::Dim),
        Some(PageCell { failed: Some(_), .. }) => Entry::inked("failed", Ink::Bad),
        Some(PageCell { as_built_ns: Some(ns), .. }) => words::ns(*ns).into(),
        _ => Entry::inked("-", Ink::Dim),
    }
}

/// "1.36-1.92".
fn range(cell: Option<&PageCell>) -> String {
    let range = cell.and_then(|cell| cell.range.as_ref());
    range.map_or(String::new(), |range| {
        format!("{}-{}", words::ns(range.fastest_ns), words::ns(range.slowest_ns))
    })
}

/// How far compilers are apart with each flag set, as built and over all placements.
fn convergence(page: &Page, inputs: &[&str], sheet: &mut Sheet) {
    let flags = distinct(page.cells.iter().map(|cell| cell.flags.as_str()));
    if distinct(page.cells.iter().map(|cell| cell.compiler.as_str())).len() < 2 {
        return;
    }
    sheet.heading("Differences between compilers");
    let legend = "The slowest against the fastest of them: as built / mean over placements.";
    sheet.paragraph(Ink::Dim, "  ", legend);
    for input in inputs {
        let titles = flags.iter().map(|flags| Column::right(flags));
        let mut table = Table::new(std::iter::once(Column::left(input)).chain(titles).collect(), 1);
        for variant in distinct(page.cells.iter().map(|cell| cell.variant.as_str())) {
            let apart = flags.iter().map(|flags| {
                let own: Vec<&PageCell> = page
                    .cells
                    .iter()
                    .filter(|c| {
                        (c.variant.as_str(), c.input.as_str(), c.flags.as_str()) == (variant, input, flags)
                    })
                    .collect();
                let built = own.iter().filter_map(|cell| cell.as_built_ns);
                let mean = own.iter().filter_map(|cell| cell.ns_per_unit.map(|spread| spread.median));
                Entry::from(format!("{} / {}", spread(built), spread(mean)))
            });
            table.row(std::iter::once(variant.into()).chain(apart).collect());
        }
        sheet.gap();
        sheet.table(&table);
    }
}

/// The largest against the smallest, as a change: "+20 %"; "-" of fewer than two.
fn spread(times: impl Iterator<Item = f64>) -> String {
    let times: Vec<f64> = times.filter(|ns| *ns > 0.0).collect();
    let (least, most) = times.iter().fold((f64::INFINITY, 0.0f64), |(a, b), &ns| (a.min(ns), b.max(ns)));
    if times.len() < 2 { "-".to_owned() } else { words::change(most / least) }
}

/// Where the functions lie as built: one table per flag set.
fn landings(page: &Page, most: usize, sheet: &mut Sheet) {
    if page.layouts.is_empty() {
        return;
    }
    sheet.heading("Where the functions lie as built");
    let legend = "Address, and after @ the offset in the 64-byte line. .text: bytes of all code.";
    sheet.paragraph(Ink::Dim, "  ", legend);
    let flags = distinct(page.layouts.iter().map(|layout| layout.flags.as_str()));
    for set in flags.iter().take(most) {
        let own: Vec<&BuildLayout> = page.layouts.iter().filter(|layout| layout.flags == *set).collect();
        let titles = own.iter().map(|layout| Column::right(&layout.compiler));
        let mut table = Table::new(std::iter::once(Column::left(set)).chain(titles).collect(), 1);
        let named = |landing: &Landing| match &landing.variant {
            Some(variant) => format!("{variant} (entry)"),
            None => short(&landing.name),
        };
        let mut names = distinct(own.iter().flat_map(|layout| layout.functions.iter().map(named)));
        let entries = |name: &String| !name.ends_with("(entry)");
        names.sort_by_key(entries);
        for name in names {
            let at = own.iter().map(|layout| {
                let landing = layout.functions.iter().find(|landing| named(landing) == name);
                let text = landing.map(|landing| format!("{:#x} @{}", landing.address, landing.offset));
                Entry::from(text.unwrap_or_else(|| "-".to_owned()))
            });
            table.row(std::iter::once(name.clone().into()).chain(at).collect());
        }
        let sizes = own.iter().map(|layout| Entry::from(words::count(layout.text_bytes)));
        table.row(std::iter::once(".text".into()).chain(sizes).collect());
        sheet.gap();
        sheet.table(&table);
    }
    if flags.len() > most {
        let left = words::plural((flags.len() - most) as u64, "more flag set");
        sheet.gap();
        sheet.paragraph(Ink::Dim, "  ", &format!("{left}: --all"));
    }
}

/// A C++ name without its parameters and without all but the last of the scopes around it: a table has no room for more.
pub(crate) fn short(name: &str) -> String {
    let name = name.replace("(anonymous namespace)::", "");
    let at_depth_0 = |wanted: &dyn Fn(&str) -> bool| -> Vec<usize> {
        let mut depth = 0;
        let mut places = Vec::new();
        for (at, letter) in name.char_indices() {
            match letter {
                '<' => depth += 1,
                '>' => depth -= 1,
                _ if depth == 0 && wanted(&name[at..]) => places.push(at),
                _ => {}
            }
        }
        places
    };
    let end = at_depth_0(&|rest| rest.starts_with('(')).first().copied().unwrap_or(name.len());
    let scopes: Vec<usize> =
        at_depth_0(&|rest| rest.starts_with("::")).into_iter().filter(|at| *at < end).collect();
    let start = scopes.len().checked_sub(2).map_or(0, |second_last| scopes[second_last] + 2);
    let bare = &name[start..end];
    match (bare.find('<'), bare.rfind('>')) {
        (Some(open), Some(close)) if open < close => {
            let inner: Vec<String> =
                bare[open + 1..close].split(", ").map(|one| last_scope(one).to_owned()).collect();
            format!("{}<{}>{}", &bare[..open], inner.join(", "), &bare[close + 1..])
        }
        _ => bare.to_owned(),
    }
}

fn last_scope(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn names_are_as_short_as_they_can_be_told_apart() {
        let names = [
            ("dispatch::(anonymous namespace)::VirtualG1::store(int*, int)", "VirtualG1::store"),
            ("dispatch::(anonymous namespace)::pointed_g1(int*, int)", "dispatch::pointed_g1"),
            (
                "dispatch::Decoupled<dispatch::(anonymous namespace)::DecoupledG1>::store(int*, int)",
                "Decoupled<DecoupledG1>::store",
            ),
            ("decode_branch", "decode_branch"),
            ("a::b::c::d", "c::d"),
            ("", ""),
        ];
        for (name, expected) in names {
            assert_eq!(short(name), expected);
        }
    }
}
