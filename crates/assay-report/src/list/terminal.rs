//! The list as a table: at 80 columns what names a measurement, when, and what was answered; where there is more room what
//! was asked and how it ended.
//!
//! The newest stands first: it is what was just measured, and where a pager or `head` begins.

use super::page::{ListPage, ListRow};
use crate::ink::{Ink, Palette};
use crate::prose;
use crate::sheet::Sheet;
use crate::table::{Column, Entry, Table};
use assay_pure::words;

/// The least that a name may be cut to.
const NAME: usize = 22;
/// From this width on every column is shown.
const WIDE: usize = 120;

/// The list as text, no line wider than `width` columns.
pub fn render(page: &ListPage, width: usize, palette: impl Into<Palette>) -> String {
    let mut sheet = Sheet::new(width, palette);
    if page.rows.is_empty() {
        sheet.paragraph(Ink::Bold, "", &format!("Nothing in {} matches.", page.ledger));
        return sheet.into_text();
    }
    sheet.table(&table(page, width));
    sheet.gap();
    let shown = page.rows.len() as u64;
    let all = words::plural(page.total, "measurement");
    let older = if shown < page.total {
        format!("The newest {shown} of {all}; --all lists the others. ")
    } else {
        format!("{}. ", words::capital(&all))
    };
    let first = page.rows[0].what();
    let text = format!(
        "{older}-12 % takes 12 % less time, by the code alone. `assay report {first}` shows the first; a name shows its \
         newest."
    );
    sheet.paragraph(Ink::Dim, "  ", &text);
    sheet.into_text()
}

fn table(page: &ListPage, width: usize) -> Table {
    let wide = width >= WIDE;
    let columns = vec![
        Column::left("what"),
        Column::right("when"),
        Column::left("kind").optional(3),
        Column::left("name"),
        Column::left("asked").optional(1),
        Column::left("answered").wrapping(),
        Column::left("ended").optional(2),
    ];
    let mut table = Table::new(columns, 2);
    for row in &page.rows {
        let only_wide = |text: &str| if wide { text.to_owned() } else { String::new() };
        let (answered, ink) = answered(row);
        table.row(vec![
            row.what().into(),
            Entry::inked(ago(row), Ink::Dim),
            only_wide(row.kind.verb()).into(),
            prose::shorten(&row.name, NAME.max(width / 5)).into(),
            only_wide(&prose::shorten(&row.asked, width / 4)).into(),
            Entry::inked(answered, ink),
            Entry::inked(only_wide(&ended(row)), if row.is_over() { Ink::Plain } else { Ink::Doubt }),
        ]);
    }
    table
}

/// The answer, and what is unusual about the end, where nothing else would say it.
fn answered(row: &ListRow) -> (String, Ink) {
    match &row.answer {
        Some(answer) if row.is_over() => (answer.text.clone(), answer.tone.ink()),
        Some(answer) => (format!("{}: {}", row.state.word(), answer.text), Ink::Doubt),
        None => (row.state.word().to_owned(), Ink::Doubt),
    }
}

/// "decided, 12 s"
fn ended(row: &ListRow) -> String {
    match row.seconds {
        Some(seconds) => format!("{}, {}", row.state.word(), words::duration(seconds)),
        // It stands where the answer would.
        None => String::new(),
    }
}

/// "4 min ago"; of another week the day.
fn ago(row: &ListRow) -> String {
    const DAY: f64 = 86_400.0;
    let whole = |unit: f64, name: &str| format!("{:.0} {name} ago", (row.age_seconds / unit).floor());
    match row.age_seconds.max(0.0) {
        seconds if seconds < 60.0 => "just now".into(),
        seconds if seconds < 3600.0 => whole(60.0, "min"),
        seconds if seconds < DAY => whole(3600.0, "h"),
        seconds if seconds < 2.0 * DAY => "1 day ago".into(),
        seconds if seconds < 7.0 * DAY => whole(DAY, "days"),
        _ => row.began.get(..10).unwrap_or(&row.began).to_owned(),
    }
}
