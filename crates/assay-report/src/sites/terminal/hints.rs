//! The hints: the wrong ones at length, the unclear ones with their reason, the right ones counted.

use super::short;
use crate::ink::Ink;
use crate::prose::file_name;
use crate::sheet::Sheet;
use crate::sites::page::{HintOrigin, HintVerdict, Hints, JudgedHint};
use assay_pure::words;

/// Unclear hints that are listed, per reason.
const LISTED: usize = 8;

/// Shows the hints.
pub fn show(hints: &Hints, sheet: &mut Sheet) {
    sheet.heading("Hints");
    let counts = format!(
        "{} right, {} wrong, {} unclear, {} never executed",
        hints.right, hints.wrong, hints.unclear, hints.not_executed
    );
    sheet.paragraph(Ink::Plain, "  ", &counts);
    let of = |verdict| hints.list.iter().filter(move |hint| hint.verdict == verdict);
    for hint in of(HintVerdict::Wrong) {
        sheet.gap();
        sheet.labelled(Ink::Bad, "  wrong    ", &place(hint));
        wrong(hint, sheet);
    }
    unclear(&of(HintVerdict::Unclear).collect::<Vec<_>>(), sheet);
    legend(hints, sheet);
}

/// The unclear ones, those with the same reason together.
fn unclear(hints: &[&JudgedHint], sheet: &mut Sheet) {
    let mut reasons: Vec<(&str, Vec<&JudgedHint>)> = Vec::new();
    for hint in hints {
        let reason = hint.reason.as_deref().unwrap_or_default();
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, of_reason)) => of_reason.push(hint),
            None => reasons.push((reason, vec![hint])),
        }
    }
    for (reason, of_reason) in reasons {
        sheet.gap();
        sheet.labelled(Ink::Doubt, "  unclear  ", &format!("{reason}:"));
        for hint in of_reason.iter().take(LISTED) {
            sheet.labelled(Ink::Plain, "           ", &place(hint));
        }
        let more = of_reason.len().saturating_sub(LISTED);
        if more > 0 {
            sheet.paragraph(Ink::Dim, "           ", &format!("and {more} more: --json lists them"));
        }
    }
}

fn place(hint: &JudgedHint) -> String {
    let at = hint.file.as_deref().zip(hint.line).map(|(file, line)| format!("{}:{line}", file_name(file)));
    let function = hint.function.as_deref().map(short);
    let where_it_is = match (at, function) {
        (Some(at), Some(function)) => format!("{at} {function}"),
        (Some(at), None) => at,
        (None, Some(function)) => function,
        (None, None) => hint.branches.first().cloned().unwrap_or_default(),
    };
    if hint.origin == HintOrigin::Source {
        format!("{where_it_is}  {}", hint.text)
    } else {
        format!("{where_it_is} {}", hint.text)
    }
}

fn wrong(hint: &JudgedHint, sheet: &mut Sheet) {
    let total = hint.likely + hint.unlikely + hint.unknown;
    let share = words::part(hint.unlikely as f64 / total.max(1) as f64);
    let counts = || hint.mispredictions.iter().map(|missed| missed.count as f64);
    let missed = match (counts().reduce(f64::min), counts().reduce(f64::max)) {
        (Some(low), Some(high)) => format!(", {} mispredictions", words::compact_span(low, high)),
        _ => String::new(),
    };
    let mut text = format!(
        "the unlikely side ran {} of {} times ({share}); {} taken branches{missed}",
        words::compact(hint.unlikely as f64),
        words::compact(total as f64),
        words::compact(hint.taken as f64)
    );
    if let Some(cycles) = hint.cycles {
        text += &format!(": {} cycles", words::compact_span(cycles.low, cycles.high));
    }
    sheet.labelled(Ink::Plain, "           ", &text);
    if let Some(remedy) = &hint.remedy {
        sheet.labelled(Ink::Dim, "           ", remedy);
    }
}

fn legend(hints: &Hints, sheet: &mut Sheet) {
    sheet.gap();
    let text = format!(
        "A hint is wrong if the side that it calls unlikely runs most of the time (confidence 95 %). Branches with fewer \
         than {} executions are not judged: too few to tell 60 % from 50 %. Sides are identified by the lines of the debug \
         information, because compilers swap taken and not taken.",
        hints.fewest
    );
    sheet.paragraph(Ink::Dim, "  ", &text);
    if hints.wrong > 0 {
        let text = "Cycles: 10 to 20 per misprediction, which inverting a hint does not change, and 0 to 2 per taken branch, \
                    which it does.";
        sheet.paragraph(Ink::Dim, "  ", text);
    }
}
