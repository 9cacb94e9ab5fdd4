//! One site with the source and the code around it.

use super::{place_of, short};
use crate::ink::Ink;
use crate::prose::file_name;
use crate::sheet::Sheet;
use crate::sites::page::Site;
use assay_pure::words;

/// Shows a site at close range.
pub fn show(site: &Site, sheet: &mut Sheet) {
    sheet.gap();
    sheet.place(Ink::Bold, "", &format!("{}  {}", site.rank, title(site)), place_of(site).as_ref());
    for frame in &site.inlined_into {
        let place = frame.file.as_deref().zip(frame.line);
        let place = place.map_or(String::new(), |(file, line)| format!(", {}:{line}", file_name(file)));
        let function = frame.function.as_deref().map_or_else(|| "?".to_owned(), short);
        sheet.paragraph(Ink::Dim, "   ", &format!("inlined into {function}{place}"));
    }
    sheet.paragraph(Ink::Plain, "   ", &did(site));
    if let Some(text) = could_be_known(site) {
        sheet.paragraph(Ink::Plain, "   ", &text);
    }
    for line in &site.source {
        let (mark, ink) = if line.here { ('>', Ink::Bold) } else { (' ', Ink::Plain) };
        sheet.verbatim(ink, "", &format!("  {mark}{:>5} │ {}", line.line, line.text));
    }
    if !site.source.is_empty() && !site.code.is_empty() {
        sheet.verbatim(Ink::Dim, "", "        ┄");
    }
    let width = site.code.iter().map(|line| line.address.trim_start_matches("0x").len()).max().unwrap_or(0);
    for line in &site.code {
        let (mark, ink) = if line.here { ('>', Ink::Bold) } else { (' ', Ink::Plain) };
        let note = if line.target { "   <- taken target" } else { "" };
        let address = line.address.trim_start_matches("0x");
        sheet.verbatim(ink, "", &format!("  {mark} {address:>width$}  {}{note}", line.text));
    }
}

fn title(site: &Site) -> String {
    let function = site.function.clone().unwrap_or_else(|| "?".to_owned());
    let place = match (&site.file, site.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        _ => format!("{} {}", site.module.as_deref().unwrap_or("code made at run time"), site.address),
    };
    format!("{function}, {place}")
}

fn did(site: &Site) -> String {
    let taken = site.taken as f64 / site.executed.max(1) as f64;
    let mut text = format!("{}, executed {}", site.class, words::plural(site.executed, "time"));
    if site.class.starts_with("conditional") {
        text += &format!(", taken {} ({})", words::count(site.taken), words::part(taken));
    }
    let missed: Vec<String> = site
        .mispredictions
        .iter()
        .map(|missed| {
            let rate = missed.count as f64 / site.executed.max(1) as f64;
            format!("{} {} ({})", missed.predictor, words::count(missed.count), words::part(rate))
        })
        .collect();
    if !missed.is_empty() {
        text += &format!("; mispredicted by {}", missed.join(", "));
    }
    text
}

/// How much of it a rule could have known.
fn could_be_known(site: &Site) -> Option<String> {
    let floor = site.floor.as_ref()?;
    let of = |count: f64| {
        format!("{} ({})", words::compact(count), words::part(count / site.executed.max(1) as f64))
    };
    let constant = format!("always predicting the same side misses {}", of(floor.constant as f64));
    Some(match floor.best {
        Some(best) => format!("floor: {constant}, the best rule on its last 8 outcomes {}", of(best)),
        None => format!("floor: {constant}; patterns of its outcomes were not counted (too many sites)"),
    })
}
