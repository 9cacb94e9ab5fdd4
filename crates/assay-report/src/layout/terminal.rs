//! The layout as text for a terminal: the answer, the functions, their loops at each offset, advice, what changed.

use super::page::{
    Binary, CodeChange, FileChanges, FunctionAcross, FunctionLayout, IterationAtPhase, LayoutPage, LoopLayout,
};
use crate::ink::Ink;
use crate::prose::shorten;
use crate::sheet::Sheet;
use crate::table::{Column, Entry, Table};
use assay_pure::words;
use assay_pure::words::plural;

/// Source lines of a function that are shown; all are in the JSON.
const LINES_SHOWN: usize = 6;

/// The page as text, no line wider than `width` columns (at least 40), with ANSI colours if `colour`. Of the functions
/// and of the changes of each file at most `top` are shown.
pub fn render_layout(page: &LayoutPage, width: usize, colour: bool, top: usize) -> String {
    let mut sheet = Sheet::new(width, colour);
    sheet.answer(&page.answer, next(page).as_deref());
    sheet.warnings(&page.warnings);
    if let Some(against) = &page.against {
        changes(against, top, &mut sheet);
    }
    for binary in &page.binaries {
        one(page, binary, width, top, &mut sheet);
    }
    host(page, &mut sheet);
    sheet.into_text()
}

/// What to do about it, where a loop's place can matter.
fn next(page: &LayoutPage) -> Option<String> {
    let advised = page.binaries.iter().any(|binary| !binary.advice.is_empty());
    advised
        .then(|| "align what is worth pinning (below), or let `assay run` average over placements".to_owned())
}

fn one(page: &LayoutPage, binary: &Binary, width: usize, top: usize, sheet: &mut Sheet) {
    if binary.functions.is_empty() {
        return;
    }
    sheet.gap();
    sheet.heading(&binary.path);
    let sizes = format!(
        "{} of code, {} of it padding between functions; {} of {} functions",
        words::bytes(binary.text_bytes),
        words::bytes(binary.padding_bytes),
        words::count(binary.functions.len() as u64),
        words::count(binary.functions_in_file)
    );
    sheet.paragraph(Ink::Dim, "", &sizes);
    sheet.table(&functions(binary, width, top));
    if binary.functions.len() > top {
        let rest = (binary.functions.len() - top) as u64;
        sheet.paragraph(Ink::Dim, "  ", &format!("and {}; --top N shows more", plural(rest, "function")));
    }
    for function in chosen(binary, top) {
        for body in function.loops.iter().filter(|body| body.innermost && body.depends_on_place) {
            loop_at(page, function, body, sheet);
        }
    }
    if !binary.advice.is_empty() {
        sheet.gap();
        sheet.heading("Worth pinning");
    }
    for advice in binary.advice.iter().take(top) {
        let gain = match advice.pinned_ratio {
            Some(ratio) => format!("; measured: {} relative to the mean over offsets", words::change(ratio)),
            None => String::new(),
        };
        let text =
            format!("aligned(64) adds {} here: {}{gain}", plural(advice.pin_bytes, "byte"), advice.reason);
        sheet.labelled(Ink::Plain, &format!("  {}  ", shorten(&advice.function, width / 3)), &text);
    }
}

/// The functions shown: those with loops whose place can matter first, the shortest loop first.
pub(crate) fn chosen(binary: &Binary, top: usize) -> Vec<&FunctionLayout> {
    let shortest = |function: &&FunctionLayout| {
        let depending = function.loops.iter().filter(|body| body.innermost && body.depends_on_place);
        depending.map(|body| body.bytes).min().unwrap_or(u64::MAX)
    };
    let mut found: Vec<&FunctionLayout> = binary.functions.iter().collect();
    found.sort_by_key(|function| (shortest(function), function.address));
    found.truncate(top);
    found
}

/// A column of the functions' table, what it says of one, and whether it is of windows and borders, which are x86-64's.
type FunctionColumn = (Column, fn(&FunctionLayout) -> String, bool);

fn functions(binary: &Binary, width: usize, top: usize) -> Table {
    let columns: [FunctionColumn; 9] = [
        (Column::right("address").optional(2), |one| format!("{:#x}", one.address), false),
        (Column::right("@64"), |one| one.line_offset.to_string(), false),
        (Column::right("@32").optional(3), |one| one.window_offset.to_string(), true),
        (Column::right("bytes"), |one| one.size.to_string(), false),
        (Column::right("lines"), |one| one.lines.to_string(), false),
        (Column::right("windows"), |one| one.windows.to_string(), true),
        (Column::right("loops"), |one| one.loops.len().to_string(), false),
        (Column::right("borders").optional(1), |one| one.border_branches.len().to_string(), true),
        (Column::right("padding").optional(4), |one| one.padding_bytes.to_string(), false),
    ];
    let is_told = |column: &FunctionColumn| !column.2 || binary.without_rule.is_none();
    let told: Vec<FunctionColumn> = columns.into_iter().filter(is_told).collect();
    let titles = told.iter().map(|column| column.0.clone());
    let mut table = Table::new(std::iter::once(Column::left("function")).chain(titles).collect(), 1);
    for function in chosen(binary, top) {
        let name = Entry::from(shorten(&function.name, width.saturating_sub(46).max(14)));
        let figures = told.iter().map(|column| Entry::from(column.1(function)));
        table.row(std::iter::once(name).chain(figures).collect());
    }
    table
}

/// What an iteration touches at each offset, beside what was measured there.
fn loop_at(page: &LayoutPage, function: &FunctionLayout, body: &LoopLayout, sheet: &mut Sheet) {
    sheet.gap();
    let text = format!(
        "{}: loop at +{:#x}, {} in {} bytes, back from {}",
        function.name,
        body.head,
        plural(body.instructions, "instruction"),
        body.bytes,
        body.branches.iter().map(|at| format!("+{at:#x}")).collect::<Vec<_>>().join(", ")
    );
    sheet.paragraph(Ink::Plain, "  ", &text);
    let ruled = page.host.rule.is_some();
    let mut columns = vec![Column::right("function @64"), Column::right("head @64"), Column::right("lines")];
    columns.push(Column::right("windows"));
    if ruled {
        columns.extend([Column::right("fetches"), Column::right("op cache"), Column::right("entries")]);
        columns.push(Column::right("uncached"));
    }
    columns.push(Column::right("borders").optional(1));
    columns
        .extend(function.measured.iter().map(|one| Column::right(&format!("ns, {}", one.input)).optional(2)));
    let mut table = Table::new(columns, 1);
    let best = |of: &dyn Fn(&IterationAtPhase) -> u64| body.at.iter().map(of).min().unwrap_or(0);
    let inked = |value: u64, least: u64| {
        Entry::inked(value.to_string(), if value > least { Ink::Doubt } else { Ink::Plain })
    };
    for at in &body.at {
        let mut row: Vec<Entry> = vec![at.offset.to_string().into(), at.head_offset.to_string().into()];
        row.push(inked(at.lines, best(&|at| at.lines)));
        row.push(inked(at.windows, best(&|at| at.windows)));
        if ruled {
            for of in [
                |at: &IterationAtPhase| at.fetches.unwrap_or(0),
                |at: &IterationAtPhase| at.op_cache_windows.unwrap_or(0),
                |at: &IterationAtPhase| at.op_cache_entries.unwrap_or(0),
                |at: &IterationAtPhase| at.left_out.unwrap_or(0),
            ] {
                row.push(inked(of(at), best(&of)));
            }
        }
        row.push(at.border_branches.to_string().into());
        for one in &function.measured {
            let time = one.by_offset.iter().find(|time| time.offset == at.offset);
            row.push(time.map_or(String::new(), |time| words::ns(time.ns_per_unit)).into());
        }
        table.row(row);
    }
    sheet.table(&table);
}

fn changes(against: &FileChanges, top: usize, sheet: &mut Sheet) {
    sheet.gap();
    sheet.heading(&format!("From {} to {}", against.old, against.new));
    let counts = against.counts;
    let text = format!(
        "{} identical, {} moved, {} respaced, {} changed, {} new, {} gone, {} unknown; {} unchanged but calling changed \
         code",
        counts.identical,
        counts.moved,
        counts.respaced,
        counts.changed,
        counts.only_new,
        counts.only_old,
        counts.unknown,
        counts.reaches_a_change
    );
    sheet.paragraph(Ink::Plain, "", &text);
    let signed = |old: u64, new: u64| format!("{:+}", new as i64 - old as i64);
    let sizes = format!(
        ".text {} bytes ({}), padding between functions {} bytes ({})",
        against.new_text_bytes,
        signed(against.old_text_bytes, against.new_text_bytes),
        against.new_padding_bytes,
        signed(against.old_padding_bytes, against.new_padding_bytes)
    );
    sheet.paragraph(Ink::Plain, "", &sizes);
    let told: Vec<&FunctionAcross> = against.functions.iter().filter(|change| is_told(change)).collect();
    for change in told.iter().take(top) {
        one_change(change, sheet);
    }
    if told.len() > top {
        let rest = (told.len() - top) as u64;
        sheet.paragraph(Ink::Dim, "  ", &format!("and {}; --top N shows more", plural(rest, "function")));
    }
    if let Some(why) = &against.without_lines {
        sheet.labelled(Ink::Dim, "lines  ", why);
    }
}

/// What moved, or only reaches a change, is counted; all of it is in the JSON.
fn is_told(change: &FunctionAcross) -> bool {
    !matches!(change.own, CodeChange::Identical | CodeChange::Moved | CodeChange::Respaced)
}

fn one_change(change: &FunctionAcross, sheet: &mut Sheet) {
    let size = match (change.old, change.new) {
        (Some(old), Some(new)) => format!("{} to {} bytes", old.size, new.size),
        (Some(place), None) | (None, Some(place)) => format!("{} bytes", place.size),
        (None, None) => String::new(),
    };
    let mut text = format!("{}, {size}", change.name);
    if let Some(reason) = &change.reason {
        text += &format!(": {reason}");
    }
    let ink = if change.own == CodeChange::Unknown { Ink::Doubt } else { Ink::Plain };
    sheet.labelled(ink, &format!("  {:<9}", change.own.word()), &text);
    for (label, lines) in [("- ", &change.old_lines), ("+ ", &change.new_lines)] {
        if lines.is_empty() {
            continue;
        }
        let mut text = lines.iter().take(LINES_SHOWN).cloned().collect::<Vec<_>>().join(", ");
        if lines.len() > LINES_SHOWN {
            text += &format!(" and {} more", lines.len() - LINES_SHOWN);
        }
        sheet.labelled(Ink::Dim, &format!("           {label}"), &text);
    }
}

fn host(page: &LayoutPage, sheet: &mut Sheet) {
    sheet.gap();
    if page.binaries.iter().all(|binary| binary.without_rule.is_some()) && !page.binaries.is_empty() {
        let text = "@64: offset in the 64-byte line. What processors of another instruction set than x86-64 fetch at once, and \
                    keep decoded, is unknown here.";
        sheet.labelled(Ink::Dim, "host  ", text);
        return;
    }
    let text = match &page.host.rule {
        Some(rule) => format!(
            "{} ({}): {} bytes fetched at once, op cache by {} bytes, {} operations per entry; {}. Source: {}.",
            page.host.cpu,
            rule.name,
            rule.fetch_bytes,
            rule.window_bytes,
            rule.entry_operations,
            match rule.jump_erratum {
                true => "branches at 32-byte borders keep their window out of the op cache (JCC erratum)",
                false => "branches at 32-byte borders do not matter (no JCC erratum)",
            },
            rule.source
        ),
        None => format!("{}: how it fetches code is unknown, so only addresses are shown.", page.host.cpu),
    };
    sheet.labelled(Ink::Dim, "host  ", &text);
    let cached = match page.host.rule {
        Some(_) => {
            " entries: of the op cache, at least (counted in instructions). uncached: windows that the op cache cannot hold."
        }
        None => "",
    };
    let text = format!(
        "@64, @32: offset in the 64-byte line and the 32-byte window. borders: branches that cross or end at a 32-byte \
         border.{cached} Marked figures are worse than at the best offset."
    );
    sheet.labelled(Ink::Dim, "      ", &text);
}
