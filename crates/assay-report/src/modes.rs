//! Contrasts whose sides run at two speeds, mode by mode: one table for campaigns and comparisons.

use super::ink::Ink;
use super::page::{ContrastModes, RatioInterval, SideModes};
use super::sheet::Sheet;
use super::table::{Column, Table};
use assay_pure::words;

/// A contrast with two speeds, and how it is told.
pub(crate) struct ByMode<'a> {
    /// Which contrast.
    pub(crate) of: String,
    /// The candidate, then the baseline.
    pub(crate) sides: [&'a str; 2],
    /// Unit of the figures: "ns" for times per unit.
    pub(crate) unit: &'a str,
    /// What was found.
    pub(crate) modes: &'a ContrastModes,
}

/// Adds them under a heading; nothing without any.
pub(crate) fn show(found: &[ByMode<'_>], sheet: &mut Sheet) {
    if found.is_empty() {
        return;
    }
    sheet.heading("Modes");
    let legend = "Code that runs at two speeds at one place: its time in either mode, how often it is slow, and the mean, which an \
                  ordinary long run would have reported.";
    sheet.paragraph(Ink::Dim, "  ", legend);
    sheet.gap();
    sheet.table(&table(found));
}

fn table(found: &[ByMode<'_>]) -> Table {
    let mut table = Table::new(
        vec![
            Column::left("contrast"),
            Column::left("side"),
            Column::right("fast"),
            Column::right("slow"),
            Column::right("slow in"),
            Column::right("mean"),
            Column::right("visits").optional(2),
            Column::left("both at offsets").optional(1),
        ],
        2,
    );
    for one in found {
        let ContrastModes { candidate, baseline, .. } = one.modes;
        let figure = |value: f64| words::figure(value, one.unit);
        for (name, side) in one.sides.iter().zip([candidate, baseline]) {
            let SideModes { visits, fast, slow, slow_share, mean, offsets } = side;
            let offsets: Vec<String> = offsets.iter().map(u32::to_string).collect();
            table.row(vec![
                one.of.clone().into(),
                (*name).into(),
                figure(*fast).into(),
                slow.map_or("-".to_owned(), figure).into(),
                if *slow_share > 0.0 { words::fraction(*slow_share) } else { "0 %".to_owned() }.into(),
                figure(*mean).into(),
                words::count(*visits).into(),
                offsets.join(", ").into(),
            ]);
        }
        let share = one.modes.slow_share_difference;
        table.row(vec![
            one.of.clone().into(),
            "difference".into(),
            one.modes.fast.change().into(),
            one.modes.slow.map_or("-".to_owned(), RatioInterval::change).into(),
            points(share.lower, share.upper).into(),
            words::change(candidate.mean / baseline.mean).into(),
            "".into(),
            "".into(),
        ]);
    }
    table
}

/// "-2 to +12 points" of shares in percent.
fn points(lower: f64, upper: f64) -> String {
    let whole = |share: f64| match (100.0 * share).round() as i64 {
        0 => "0".to_owned(),
        points => format!("{points:+}"),
    };
    format!("{} to {} points", whole(lower), whole(upper))
}
