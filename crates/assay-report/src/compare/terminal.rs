//! The view on a terminal.

use super::answer::next;
use super::page::{ComparePage, Compared, DifferingFunction, ExecutedChange, Method, SideFigure};
use crate::Detail;
use crate::forest::{ForestBar, ForestColumn};
use crate::ink::{Ink, Palette};
use crate::link::SourcePlace;
use crate::modes::{self, ByMode};
use crate::page::{AsBuiltSays, Cause, CauseEvidence, TwinVerdict, Verdict};
use crate::prose;
use crate::sheet::Sheet;
use crate::table::{Column, Entry, Table};
use crate::terminal::{says_word, verdict_word};
use assay_pure::words;

/// Functions named per benchmark in the brief view.
const MOST_FUNCTIONS: usize = 3;

/// The page as text, `width` columns wide.
pub fn render_compare(
    page: &ComparePage,
    width: usize,
    palette: impl Into<Palette>,
    detail: Detail,
) -> String {
    let mut sheet = Sheet::new(width, palette);
    sheet.answer(&page.answer, next(page).as_deref());
    if let Some(gate) = &page.gate {
        gate.show(&mut sheet);
    }
    sheet.warnings(page.doubts(detail));
    for note in page.notes.iter().filter(|_| detail == Detail::Full) {
        sheet.labelled(Ink::Dim, "- ", note);
    }
    table(page, detail, &mut sheet);
    if let Some(told) = memory(page, detail) {
        sheet.gap();
        sheet.labelled(Ink::Plain, "  Peak memory: ", &told);
    }
    why(page, detail, &mut sheet);
    if detail == Detail::Full {
        by_mode(page, &mut sheet);
    }
    one_sided(page, &mut sheet);
    factors(page, &mut sheet);
    closing(page, &mut sheet);
    sheet.into_text()
}

fn table(page: &ComparePage, detail: Detail, sheet: &mut Sheet) {
    if page.benchmarks.is_empty() {
        return;
    }
    sheet.heading("Benchmarks");
    match page.sides.as_slice() {
        [baseline, candidate] => {
            let over = match page.method {
                Method::Placements => "code effect: mean over placements",
                Method::Surroundings => {
                    "code effect: mean over random environment sizes and stack offsets, with and without address randomisation"
                }
            };
            let legend = format!(
                "Slower first, then faster, misleading, undecided, equivalent. Time in {} relative to {}: -12 % takes 12 % \
                 less, +12 % takes 12 % more. {over}, ± its interval; the verdicts are {} sure for all benchmarks together. as built: each \
                 binary exactly as its build linked it.",
                candidate.name,
                baseline.name,
                words::confidence(page.measured.confidence)
            );
            sheet.paragraph(Ink::Dim, "  ", &legend);
            says_legend(page, sheet);
            let (rows, folded) = shown(page, detail);
            let bare = of_two(&rows, detail, None);
            let effects: Vec<ForestBar> = rows.iter().map(|found| effect(found)).collect();
            let margin = page.measured.minimum_effect;
            let forest =
                sheet.bar_columns(&bare).and_then(|columns| ForestColumn::over(&effects, margin, columns));
            if forest.is_some() {
                sheet.paragraph(Ink::Dim, "  ", &ForestColumn::legend(margin));
            }
            sheet.gap();
            sheet.table(&match &forest {
                Some(forest) => of_two(&rows, detail, Some(forest)),
                None => bare,
            });
            if folded > 0 {
                sheet.gap();
                sheet.paragraph(
                    Ink::Dim,
                    "  ",
                    &format!("And {folded} that are equivalent by proof; --all shows them."),
                );
            }
        }
        _ => {
            let legend = "Widest spread first. Median, best and worst over placements. as built: the one link that the build made.";
            sheet.paragraph(Ink::Dim, "  ", legend);
            sheet.gap();
            sheet.table(&of_one(page));
        }
    }
}

/// "48.0 MiB in main, 61.0 MiB in HEAD (+27.1 % ± 0.4)": where it differs, or all is asked for.
pub(super) fn memory(page: &ComparePage, detail: Detail) -> Option<String> {
    let found = page.memory.filter(|found| found.differs || detail == Detail::Full)?;
    let of = |number: usize, bytes: u64| {
        page.sides.get(number).map(|side| format!("{} in {}", words::bytes(bytes), side.name))
    };
    let change = found.change.map_or(String::new(), |change| format!(" ({})", change.change()));
    let sides = [of(0, found.baseline_bytes), found.candidate_bytes.and_then(|bytes| of(1, bytes))];
    Some(format!("{}{change}", sides.into_iter().flatten().collect::<Vec<_>>().join(", ")))
}

/// Benchmarks that are explained unless all is asked for.
const MOST_EXPLAINED: usize = 5;
/// Proven benchmarks beyond which they are counted and not shown.
const MOST_PROVEN: usize = 8;

/// The rows of the table, and how many are left out: what is proven to be equivalent, where that is much and not all was asked for.
fn shown(page: &ComparePage, detail: Detail) -> (Vec<&Compared>, usize) {
    let all = ordered(page);
    let is_folded = |found: &&Compared| found.proven && rank(found) == 4;
    let folded = all.iter().filter(|found| is_folded(found)).count();
    if detail == Detail::Full || folded <= MOST_PROVEN || folded == all.len() {
        return (all, 0);
    }
    (all.into_iter().filter(|found| !is_folded(found)).collect(), folded)
}

fn says_legend(page: &ComparePage, sheet: &mut Sheet) {
    let mut occurring: Vec<AsBuiltSays> =
        page.benchmarks.iter().filter_map(|found| found.as_built_says).collect();
    occurring.sort_unstable();
    occurring.dedup();
    for says in occurring.into_iter().filter(|says| *says != AsBuiltSays::Confirmed) {
        let (word, ink, meaning) = says_word(says);
        sheet.labelled(ink, &format!("  {word:<8}  "), meaning);
    }
}

/// Most telling first: what differs, what misleads, what is open, the rest.
pub(crate) fn rank(found: &Compared) -> u8 {
    match (found.verdict, found.as_built_says) {
        (Some(Verdict::Slower), _) => 0,
        (Some(Verdict::Faster), _) => 1,
        (Some(Verdict::Undecided), _) => 3,
        (_, Some(says)) if says != AsBuiltSays::Confirmed => 2,
        _ => 4,
    }
}

pub(crate) fn ordered(page: &ComparePage) -> Vec<&Compared> {
    let mut found: Vec<&Compared> = page.benchmarks.iter().collect();
    found.sort_by_key(|found| rank(found));
    found
}

/// The median with its unit.
pub(crate) fn figure(level: &SideFigure, unit: &str) -> String {
    words::figure(level.median, unit)
}

/// What a benchmark's bar shows.
fn effect(found: &Compared) -> ForestBar {
    ForestBar { code: found.code, as_built: found.as_built.map(|built| built.ratio) }
}

pub(super) fn of_two(rows: &[&Compared], detail: Detail, forest: Option<&ForestColumn>) -> Table {
    let mut columns = vec![
        Column::left("benchmark"),
        Column::right("before").optional(3),
        Column::right("after").optional(4),
        Column::right("as built"),
        Column::right("code effect"),
        Column::left("verdict"),
    ];
    columns.extend(forest.map(|forest| Column::left(&forest.title())));
    columns.extend([
        Column::left("as built is"),
        Column::left("cause").optional(2),
        Column::right("detectable").optional(5),
        Column::right("U test p").optional(6),
    ]);
    let mut table = Table::new(columns, 1);
    for found in rows {
        let (verdict, ink) = found.verdict.map_or(("-", Ink::Plain), verdict_word);
        let says = found.as_built_says.map(says_word);
        let mut causes: Vec<&str> = found.causes.iter().map(|cause| cause.cause.name()).collect();
        causes.dedup();
        let name = &found.benchmark;
        let mut row: Vec<Entry> = vec![
            if detail == Detail::Full { name.clone() } else { prose::shorten(name, 36) }.into(),
            figure(&found.baseline, &found.unit).into(),
            found.candidate.as_ref().map_or("-".into(), |level| figure(level, &found.unit)).into(),
            found.as_built.map_or("-".into(), |effect| words::change(effect.ratio)).into(),
            found.code.map_or("-".into(), |effect| effect.change()).into(),
            Entry::inked(verdict, ink),
        ];
        row.extend(forest.map(|forest| Entry::inked(forest.bar(effect(found)), ink)));
        row.extend([
            says.map_or(Entry::default(), |(word, ink, _)| Entry::inked(word, ink)),
            causes.join(", ").into(),
            found.minimum_detectable_effect.map(words::fraction).unwrap_or_default().into(),
            found
                .u_test_p
                .map(|p| if p < 0.0001 { "<0.0001".into() } else { format!("{p:.4}") })
                .unwrap_or_default()
                .into(),
        ]);
        table.row(row);
    }
    table
}

fn of_one(page: &ComparePage) -> Table {
    let columns = vec![
        Column::left("benchmark"),
        Column::right("median"),
        Column::right("best"),
        Column::right("worst"),
        Column::right("spread"),
        Column::right("as built"),
    ];
    let mut table = Table::new(columns, 1);
    let spread = |found: &Compared| found.baseline.worst / found.baseline.best;
    let mut rows: Vec<&Compared> = page.benchmarks.iter().collect();
    rows.sort_by(|one, other| spread(other).total_cmp(&spread(one)));
    for found in rows {
        let level = &found.baseline;
        table.row(vec![
            found.benchmark.clone().into(),
            figure(level, &found.unit).into(),
            words::change(level.best / level.median).into(),
            words::change(level.worst / level.median).into(),
            words::fraction(spread(found) - 1.0).into(),
            level.as_built.map_or("-".into(), |ns| words::change(ns / level.median)).into(),
        ]);
    }
    table
}

/// The evidence of what differs or misleads; of all in the full view.
fn why(page: &ComparePage, detail: Detail, sheet: &mut Sheet) {
    let telling = |found: &&Compared| detail == Detail::Full || rank(found) < 4;
    let found: Vec<&Compared> = ordered(page).into_iter().filter(telling).collect();
    if found.is_empty() || page.sides.len() < 2 {
        return;
    }
    sheet.heading("Why");
    let explained = if detail == Detail::Full { found.len() } else { MOST_EXPLAINED };
    for compared in found.iter().take(explained) {
        sheet.gap();
        sheet.paragraph(Ink::Bold, "  ", &compared.benchmark);
        for cause in &compared.causes {
            sheet.labelled(Ink::Plain, &format!("    {}: ", cause.cause.name()), &cause.evidence);
        }
        let functions = besides_work(compared, detail);
        let shown =
            if detail == Detail::Full { functions.len() } else { functions.len().min(MOST_FUNCTIONS) };
        for function in &functions[..shown] {
            let place = function.begins.as_ref().and_then(|at| SourcePlace::of(&at.file, at.line.into()));
            sheet.labelled_at(
                Ink::Plain,
                "    function ",
                &function_told(function),
                &named(function),
                place.as_ref(),
            );
        }
        if let hidden @ 1.. = functions.len() - shown {
            let differ = if hidden == 1 { "function differs" } else { "functions differ" };
            sheet.paragraph(Ink::Dim, "    ", &format!("{hidden} more {differ}; --all shows them"));
        }
        let bare = compared.causes.is_empty() && functions.is_empty();
        if bare || detail == Detail::Full || compared.verdict == Some(Verdict::Undecided) {
            for reason in &compared.reasons {
                sheet.paragraph(Ink::Plain, "    ", reason);
            }
        }
    }
    if found.len() > explained {
        sheet.gap();
        let more = format!("{} more: --all explains each.", found.len() - explained);
        sheet.paragraph(Ink::Dim, "  ", &more);
    }
}

/// What runs at two speeds, mode by mode.
fn by_mode(page: &ComparePage, sheet: &mut Sheet) {
    let [baseline, candidate] = page.sides.as_slice() else { return };
    let found = ordered(page).into_iter().filter_map(|found| {
        Some(ByMode {
            of: found.benchmark.clone(),
            sides: [&candidate.name, &baseline.name],
            unit: &found.unit,
            modes: found.modes.as_ref()?,
        })
    });
    modes::show(&found.collect::<Vec<_>>(), sheet);
}

/// Functions that differ, without the one that `work` has told of, and without those that only the start executes but in the full
/// view.
pub(super) fn besides_work(found: &Compared, detail: Detail) -> Vec<&DifferingFunction> {
    let told = |function: &&DifferingFunction| {
        let by_work = |cause: &CauseEvidence| {
            cause.cause == Cause::Work && cause.evidence.starts_with(&format!("{} executes ", function.name))
        };
        (detail == Detail::Full || function.share != Some(0.0))
            && (function.same_source == Some(true) || !found.causes.iter().any(by_work))
    };
    found.functions.iter().filter(told).collect()
}

/// The least share of a benchmark's instructions that is told of a function.
const LEAST_SHARE: f64 = 0.001;

/// "crc32, crc.c:9", where it is known.
fn named(function: &DifferingFunction) -> String {
    let line = function.begins.as_ref().map(|at| {
        let file = at.file.rsplit('/').next().unwrap_or(&at.file);
        format!(", {file}:{}", at.line)
    });
    format!("{}{}", function.name, line.unwrap_or_default())
}

/// "crc32: machine code and source changed; 1,076 instructions per iteration, previously 1,024 (+5.1 %); 61 % of all".
pub(super) fn function_told(function: &DifferingFunction) -> String {
    let change = match (function.change, function.same_source) {
        (ExecutedChange::Changed, Some(true)) => "machine code changed, source did not",
        (ExecutedChange::Changed, Some(false)) => "machine code and source changed",
        (ExecutedChange::Changed, None) => "machine code changed",
        (ExecutedChange::OnlyBaseline, _) => "no longer executed",
        (ExecutedChange::OnlyCandidate, _) => "newly executed",
        (ExecutedChange::Unknown, _) => "could not be compared",
    };
    let mut told = format!("{}: {change}", named(function));
    match (function.baseline_instructions, function.candidate_instructions) {
        (Some(before), Some(after)) if before > 0.0 => {
            told += &format!(
                "; {} instructions per {}, previously {} ({})",
                words::short(after),
                function.per.word(),
                words::short(before),
                words::change(after / before)
            );
        }
        (None, Some(after)) => {
            told += &format!("; {} instructions per {}", words::short(after), function.per.word());
        }
        _ => {}
    }
    match function.share {
        Some(0.0) => told += "; only when the program starts",
        Some(share) if share >= LEAST_SHARE => {
            told += &format!("; {} of {}", words::fraction(share), function.per.all());
        }
        _ => {}
    }
    told
}

fn one_sided(page: &ComparePage, sheet: &mut Sheet) {
    if page.one_sided.is_empty() && page.spoilt.is_empty() {
        return;
    }
    sheet.heading("Not compared");
    for found in &page.one_sided {
        sheet.labelled(Ink::Doubt, "  ", &format!("{}: only in {}", found.benchmark, found.only_in));
    }
    for spoilt in &page.spoilt {
        let runs = words::plural(spoilt.visits, "run");
        sheet.labelled(Ink::Bad, "  ", &format!("{runs} of {} failed: {}", spoilt.side, spoilt.reason));
    }
}

fn factors(page: &ComparePage, sheet: &mut Sheet) {
    let Some(factors) = &page.factors else { return };
    sheet.heading("Where the spread comes from");
    sheet.paragraph(Ink::Plain, "  ", &factors.sentence);
    let mut names: Vec<&str> = factors.rows.iter().map(|row| row.factor.as_str()).collect();
    let mut seen = std::collections::HashSet::new();
    names.retain(|name| seen.insert(*name));
    let mut columns = vec![Column::left("benchmark")];
    columns.extend(names.iter().map(|name| Column::right(name)));
    let mut table = Table::new(columns, 1);
    let mut benchmarks: Vec<&str> = factors.rows.iter().map(|row| row.benchmark.as_str()).collect();
    benchmarks.dedup();
    for benchmark in benchmarks {
        let mut row: Vec<Entry> = vec![benchmark.into()];
        for name in &names {
            let found = factors.rows.iter().find(|row| row.benchmark == benchmark && row.factor == *name);
            row.push(found.map_or(Entry::default(), |row| words::fraction(row.share).into()));
        }
        table.row(row);
    }
    sheet.gap();
    sheet.table(&table);
}

fn closing(page: &ComparePage, sheet: &mut Sheet) {
    sheet.gap();
    let measured = &page.measured;
    let how = match page.method {
        Method::Placements => format!("{} of 4 phases", words::plural(measured.rotations.into(), "rotation")),
        Method::Surroundings => "drawn surroundings".to_owned(),
    };
    let runs = format!(
        "{} of the benchmark command in {}",
        words::plural(measured.visits, "run"),
        words::duration(measured.seconds)
    );
    let text = if page.is_measured_for_times_alone() {
        format!("{runs}, for the times alone; figures read as {}.", page.adapter)
    } else {
        format!(
            "{runs}, over {how} and {}; figures read as {}; {}.",
            words::plural(measured.rounds.into(), "round"),
            page.adapter,
            twin(page),
        )
    };
    sheet.paragraph(Ink::Dim, "", &text);
    let kept = measured.ledger.as_ref().map_or(String::new(), |ledger| format!(", kept in {ledger}"));
    let cpu = measured.pinned_cpu.map_or(String::new(), |cpu| format!(" (processor {cpu})"));
    sheet.paragraph(Ink::Dim, "", &format!("comparison {} on {}{cpu}{kept}", page.comparison, measured.cpu));
}

fn twin(page: &ComparePage) -> &'static str {
    match page.twin_control.verdict {
        TwinVerdict::Equivalent => "twin control passed: where there is no difference, none is found",
        TwinVerdict::Different => "twin control failed: a difference is found where there is none",
        TwinVerdict::Undecided => "twin control undecided: too few rotations",
    }
}
