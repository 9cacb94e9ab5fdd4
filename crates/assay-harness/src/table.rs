//! What a program run alone prints: a table, or JSON. The same text as assay.h prints.

use crate::inputs::MappedInput;
use crate::options::HarnessOptions;
use crate::variant::RegisteredVariant;
use std::fmt::Write as _;

/// The first variant with an answer, which the others must share.
pub(crate) fn reference<'a>(rows: &[VariantRow<'a>]) -> Option<(&'a str, u64)> {
    rows.iter().find_map(|row| row.outcome.as_ref().ok().map(|figure| (&*row.variant.name, figure.answer)))
}

/// An aligned table.
pub(crate) fn text(rows: &[VariantRow<'_>], options: &HarnessOptions, input: &MappedInput) -> String {
    let reference = reference(rows);
    let width = rows.iter().map(|row| row.variant.name.len()).max().unwrap_or(0).max("variant".len());
    let per = if options.units.is_some() { "ns/unit" } else { "ns/byte" };
    let name = options.input.as_deref().unwrap_or("built-in pseudo-random bytes (seed 42)");
    let mut text = format!("input: {name}, {} bytes, {} units\n", input.data.len(), input.units);
    text += &format!("{:<width$}  {:>14}  {per:>11}  {:<16}\n", "variant", "ns/call", "answer");
    for VariantRow { variant, outcome } in rows {
        let line = match outcome {
            Err(why) => {
                let why: String = why.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
                format!("{:>14}  {:>11}  {:<16}  {why}", "-", "-", "-")
            }
            Ok(figure) => {
                let per_unit = match input.units {
                    0 => "-".to_owned(),
                    units => format!("{:.4}", figure.ns_per_call / units as f64),
                };
                let mut note = match reference {
                    Some((first, answer)) if answer != figure.answer => format!("  differs from {first}"),
                    _ => String::new(),
                };
                if figure.samples_ns.is_empty() {
                    note += "  other work interrupted every sample";
                }
                if let Some(bytes) = figure.state_bytes {
                    let kib = (figure.iterations * bytes).div_ceil(1024);
                    note += &format!("  {} fresh states at a time, {kib} KiB", figure.iterations);
                }
                format!("{:>14.3}  {per_unit:>11}  {:016x}{note}", figure.ns_per_call, figure.answer)
            }
        };
        text += &format!("{:<width$}  {line}\n", variant.name);
    }
    text + "Only one placement was measured: a difference may come from placement alone.\n`assay run` measures many placements and gives verdicts.\n"
}

/// `assay.alone/1`.
pub(crate) fn json(rows: &[VariantRow<'_>], options: &HarnessOptions, input: &MappedInput) -> String {
    let reference = reference(rows);
    let name = quoted(options.input.as_deref().unwrap_or("built-in"));
    let (bytes, units) = (input.data.len(), input.units);
    let rows: Vec<String> = rows
        .iter()
        .map(|VariantRow { variant, outcome }| {
            let figures = match outcome {
                Err(why) => format!("\"failed\": {}", quoted(why)),
                Ok(figure) => format!(
                    "\"ns_per_call\": {:.3}, \"samples\": {}, \"interrupted\": {}, \"iterations\": {}, \"answer\": \"{:016x}\", \"agrees\": {}",
                    figure.ns_per_call,
                    figure.samples_ns.len(),
                    figure.interrupted_ns.len(),
                    figure.iterations,
                    figure.answer,
                    reference.is_some_and(|(_, answer)| answer == figure.answer)
                ),
            };
            format!("\n  {{\"variant\": {}, {figures}}}", quoted(&variant.name))
        })
        .collect();
    format!(
        "{{\"schema\": \"assay.alone/1\", \"placements\": 1, \"input\": {name}, \"bytes\": {bytes}, \"units\": {units}, \"variants\": [{}\n]}}\n",
        rows.join(",")
    )
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut json = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            c if c < ' ' => write!(json, "\\u{:04x}", u32::from(c)).expect("a String takes every write"),
            c => json.push(c),
        }
    }
    json + "\""
}

/// What was found of one variant.
pub(crate) struct VariantRow<'a> {
    pub(crate) variant: &'a RegisteredVariant,
    pub(crate) outcome: Result<VariantFigures, String>,
}

/// A variant's figures.
#[derive(Default)]
pub(crate) struct VariantFigures {
    pub(crate) answer: u64,
    pub(crate) iterations: u64,
    /// Per call, one for each sample that nothing interrupted.
    pub(crate) samples_ns: Vec<f64>,
    /// The same for those that other work interrupted; they count only where there are no others.
    pub(crate) interrupted_ns: Vec<f64>,
    pub(crate) ns_per_call: f64,
    /// What a state of a fresh variant costs.
    pub(crate) state_bytes: Option<u64>,
}

#[cfg(test)]
mod tests {
    #[test]
    fn json_text_escapes_what_json_cannot_hold() {
        assert_eq!(super::quoted("a \"b\" \\ \n\u{1}é"), "\"a \\\"b\\\" \\\\ \\u000a\\u0001é\"");
    }
}
