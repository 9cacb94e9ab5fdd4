//! The view on a terminal.

use super::answer::next;
use super::not_measured::not_measured;
use super::page::{Against, Brought, DiaryPage, EntrantKind, PageRole, StageStep};
use super::words::{
    StageRow, brought, count_change, counted, part, rate, rows, session_of, time_change, time_verdict,
};
use crate::Detail;
use crate::ink::Ink;
use crate::modes::{self, ByMode};
use crate::page::Stopped;
use crate::prose;
use crate::sheet::{Sheet, doubts};
use crate::table::{Column, Entry, Table};
use crate::terminal::claims;
use assay_pure::verdict::CountSource;
use assay_pure::words;

/// The page as text, `width` columns wide.
pub fn render_stages(page: &DiaryPage, width: usize, colour: bool, detail: Detail) -> String {
    let mut sheet = Sheet::new(width, colour);
    sheet.answer(&page.answer, next(page).as_deref());
    sheet.warnings(doubts(&page.warnings, &page.limits));
    for role in &page.roles {
        sheet.heading(&role_title(page, role));
        if let Some(note) = &role.note {
            sheet.paragraph(Ink::Dim, "  ", note);
        }
        let table = of_role(page, role);
        if table.is_empty() {
            sheet.paragraph(Ink::Dim, "  ", "nothing was measured");
        } else {
            sheet.table(&table);
        }
    }
    let table = distances(page);
    if !table.is_empty() {
        sheet.heading(DISTANCES);
        sheet.gap();
        sheet.table(&table);
    }
    for role in &page.roles {
        if let Some(table) = components(role) {
            sheet.heading(&components_title(page, role));
            sheet.table(&table);
        }
    }
    traps(page, &mut sheet);
    reasons(page, detail, &mut sheet);
    if detail == Detail::Full {
        by_mode(page, &mut sheet);
    }
    failures(page, &mut sheet);
    claims(&page.claims, &mut sheet);
    closing(page, &mut sheet);
    sheet.into_text()
}

pub(super) fn role_title(page: &DiaryPage, role: &PageRole) -> String {
    format!("{}, per {}", role.name, page.unit)
}

/// Stages in order with their figures per unit, then references.
pub(super) fn of_role(page: &DiaryPage, role: &PageRole) -> Table {
    let with_memory = role.differs_in_memory(page.minimum_effect);
    let mut columns = vec![
        Column::left("stage"),
        Column::right("ns"),
        Column::right("vs. before"),
        Column::left("verdict"),
        Column::right("share of saving").optional(4),
        Column::right("vs. first").optional(5),
        Column::right("branches"),
        Column::right("change").optional(2),
        Column::right("misses"),
        Column::right("change").optional(6),
        Column::right("rate").optional(1),
        Column::right("instructions").optional(3),
        Column::right("code, bytes").optional(7),
        Column::right("session").optional(3),
    ];
    if with_memory {
        columns.push(Column::right("peak memory").optional(3));
    }
    let mut table = Table::new(columns, 1);
    for StageRow { cell, entrant, before, first, share } in rows(page, role) {
        let word = before.map(brought);
        let ink = if entrant.kind == EntrantKind::Reference { Ink::Dim } else { Ink::Plain };
        let mut row: Vec<Entry> = vec![
            Entry::inked(prose::shorten(&cell.entrant, 24), ink),
            cell.time.map_or_else(|| "-".into(), |time| words::ns(time.ns_per_unit)).into(),
            time_change(before).into(),
            word.map_or_else(
                || Entry::inked(reference_word(entrant.kind), Ink::Dim),
                |(word, ink)| Entry::inked(word, ink),
            ),
            part(share).into(),
            time_verdict(first.or(before)).into(),
            counted(cell, |counts| counts.branches_per_unit).into(),
            count_change(before, "branches").into(),
            counted(cell, |counts| counts.misses_per_unit).into(),
            count_change(before, "misses").into(),
            rate(cell).into(),
            counted(cell, |counts| counts.instructions_per_unit).into(),
            entrant.text_bytes.map(words::count).unwrap_or_default().into(),
            session_of(page, entrant).into(),
        ];
        if with_memory {
            row.push(cell.memory.map_or_else(|| "-".into(), |memory| words::bytes(memory.peak_bytes)).into());
        }
        table.row(row);
    }
    table
}

fn reference_word(kind: EntrantKind) -> &'static str {
    if kind == EntrantKind::Reference { "reference" } else { "" }
}

/// The heading of what [`distances`] shows.
pub(super) const DISTANCES: &str = "Distance to references: each figure divided by the reference's";

/// How many times a reference's figures the first and the last stage have.
pub(super) fn distances(page: &DiaryPage) -> Table {
    let columns = vec![
        Column::left("stage"),
        Column::left("reference"),
        Column::left("role"),
        Column::right("time"),
        Column::left("verdict"),
        Column::right("branches"),
        Column::right("misses"),
        Column::right("instructions").optional(1),
    ];
    let mut table = Table::new(columns, 3);
    for step in page.steps.iter().filter(|step| step.against == Against::Reference) {
        let code = step.time.as_ref().and_then(|time| time.code);
        let time = code.map_or_else(
            || "-".into(),
            |code| {
                format!(
                    "{} ({} to {})",
                    words::short(code.ratio),
                    words::short(code.lower),
                    words::short(code.upper)
                )
            },
        );
        // Of a reference there is no step that could have changed nothing.
        let (word, ink) = match step.brought {
            Brought::OnlyCounts | Brought::Nothing => ("equivalent", Ink::Plain),
            _ => brought(step),
        };
        let ratio = |quantity: &str| {
            let found = step.counts.iter().find(|count| count.quantity == quantity);
            found.and_then(|count| count.ratio).map_or_else(|| "-".to_owned(), words::short)
        };
        table.row(vec![
            step.stage.clone().into(),
            step.baseline.clone().into(),
            step.role.clone().into(),
            time.into(),
            Entry::inked(word, ink),
            ratio("branches").into(),
            ratio("misses").into(),
            ratio("instructions").into(),
        ]);
    }
    table
}

pub(super) fn components_title(page: &DiaryPage, role: &PageRole) -> String {
    format!("{}: branches per {} by component (per call)", role.name, page.unit)
}

/// Exact branches per unit of each component, an entrant per column; none where components were not named.
pub(super) fn components(role: &PageRole) -> Option<Table> {
    let cells: Vec<_> = role
        .cells
        .iter()
        .filter_map(|cell| Some((cell, cell.counts.as_ref()?)))
        .filter(|(_, counts)| counts.components.len() > 2)
        .collect();
    if cells.is_empty() {
        return None;
    }
    let mut names: Vec<&str> = Vec::new();
    for component in cells.iter().flat_map(|(_, counts)| &counts.components) {
        if !names.contains(&component.name.as_str()) {
            names.push(&component.name);
        }
    }
    // Code outside the named components comes last.
    names.sort_by_key(|name| {
        ["other", "unattributed"].iter().position(|rest| rest == name).map_or(0, |at| at + 1)
    });
    let mut columns = vec![Column::left("component")];
    columns.extend(cells.iter().map(|(cell, _)| Column::right(&prose::shorten(&cell.entrant, 20))));
    let mut table = Table::new(columns, 1);
    for name in names {
        let mut row: Vec<Entry> = vec![name.into()];
        for (_, counts) in &cells {
            let found = counts.components.iter().find(|component| component.name == name);
            row.push(found.map_or_else(Entry::default, |component| {
                let own = words::ns(component.branches_per_unit);
                let per_call =
                    component.branches_per_call.map(|branches| format!(" ({})", words::ns(branches)));
                format!("{own}{}", per_call.unwrap_or_default()).into()
            }));
        }
        table.row(row);
    }
    Some(table)
}

fn traps(page: &DiaryPage, sheet: &mut Sheet) {
    let found: Vec<(&StageStep, &String)> =
        page.steps.iter().flat_map(|step| step.traps.iter().map(move |trap| (step, trap))).collect();
    if found.is_empty() {
        return;
    }
    sheet.heading("What may mislead");
    let mut told = std::collections::HashSet::new();
    for (step, trap) in found {
        let against = if step.against == Against::Before {
            String::new()
        } else {
            format!(" compared with {}", step.baseline)
        };
        if told.insert((&step.stage, &step.role, trap)) {
            sheet.labelled(Ink::Doubt, &format!("  {}{against} in {}: ", step.stage, step.role), trap);
        }
    }
}

/// Steps whose runs take one of two times, mode by mode.
fn by_mode(page: &DiaryPage, sheet: &mut Sheet) {
    let found = page.steps.iter().filter_map(|step| {
        Some(ByMode {
            of: step.role.clone(),
            sides: [&step.stage, &step.baseline],
            unit: "ns",
            modes: step.time.as_ref()?.modes.as_ref()?,
        })
    });
    modes::show(&found.collect::<Vec<_>>(), sheet);
}

/// Evidence of each step; all of it in the full view, what is open in the brief one.
fn reasons(page: &DiaryPage, detail: Detail, sheet: &mut Sheet) {
    let open =
        |step: &&StageStep| step.against == Against::Before && step.brought == super::page::Brought::Open;
    let shown: Vec<&StageStep> =
        page.steps.iter().filter(|step| detail == Detail::Full || open(step)).collect();
    let shown: Vec<&StageStep> = shown.into_iter().filter(|step| step.time.is_some()).collect();
    if shown.is_empty() {
        return;
    }
    sheet.heading("Why");
    for step in shown {
        let Some(time) = &step.time else { continue };
        sheet.gap();
        sheet.paragraph(
            Ink::Bold,
            "  ",
            &format!("{} compared with {} in {}", step.stage, step.baseline, step.role),
        );
        for cause in &time.causes {
            sheet.labelled(Ink::Plain, &format!("    {}: ", cause.cause.name()), &cause.evidence);
        }
        for reason in &time.reasons {
            sheet.paragraph(Ink::Plain, "    ", reason);
        }
    }
}

fn failures(page: &DiaryPage, sheet: &mut Sheet) {
    let causes = not_measured(page);
    if causes.is_empty() {
        return;
    }
    sheet.heading("Not measured");
    for cause in causes {
        let mut parts = cause.why.lines();
        sheet.labelled(Ink::Bad, &format!("  {}: ", cause.what()), parts.next().unwrap_or_default());
        for line in parts {
            sheet.quoted(Ink::Dim, "    ", line);
        }
    }
}

fn closing(page: &DiaryPage, sheet: &mut Sheet) {
    sheet.gap();
    let counts = match &page.predictor {
        Some(counter) if counter == CountSource::Counted.word() => "as the processor counted them".to_owned(),
        Some(predictor) => format!(
            "branches and instructions are exact; misses are simulated by {predictor}, a model, not the CPU"
        ),
        None => "nothing was simulated".to_owned(),
    };
    let text = format!(
        "Times: median over placements. Changes: mean over rotations with its interval; the verdicts are {} sure for all steps \
         of a session together, margin {}. Counts: {counts}.",
        words::confidence(page.confidence),
        words::asked(page.minimum_effect),
    );
    sheet.paragraph(Ink::Dim, "", &text);
    sheet.paragraph(
        Ink::Dim,
        "",
        "Times are compared within a session only, because only there the builds are interleaved. A new stage is therefore measured \
         together with the one before it, the first one and the references.",
    );
    for session in &page.sessions {
        let stopped = match session.stopped_because {
            Stopped::Interrupted => ", interrupted",
            Stopped::Nothing => ", nothing could be measured",
            _ => "",
        };
        let text = format!(
            "session {} ({}): {}; {} in {} over {} and {}{stopped}; {}, kernel {}",
            session.session,
            session.started,
            words::list(&session.entrants),
            words::plural(session.visits, "run"),
            words::duration(session.seconds),
            words::plural(session.rotations.into(), "rotation"),
            words::plural(session.rounds.into(), "round"),
            session.cpu,
            session.kernel,
        );
        sheet.paragraph(Ink::Dim, "", &text);
    }
    if let Some(ledger) = &page.ledger {
        sheet.paragraph(Ink::Dim, "", &format!("diary {}, kept in {ledger}", page.diary));
    }
}
