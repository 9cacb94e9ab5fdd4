//! What a program with assay's own harness prints when it is started alone: its table, or its JSON.
//!
//! Method: a row of the table is a variant, its value the nanoseconds of one call. Rows of one variant in several tables are
//! repetitions.
//! Limits: the table shows one figure per variant, so an execution is one repetition.
//! Source: `harness/assay.h` and `crates/assay-harness`, which print the same.
//! Checked by: outputs of the fixtures' programs in `fixtures/adapters`.

use super::json::documents_among_lines;
use super::{BenchmarkClock, BenchmarkOutput, ExecutionFigures, FigureError, Unit, repetitions};
use serde::Deserialize;

/// How errors and `--adapter` name it.
pub const NAME: &str = "assay";
/// Begins the name of the JSON's schema.
const SCHEMA: &str = "\"assay.alone/";

#[derive(Deserialize)]
struct AloneReport {
    variants: Vec<AloneVariant>,
}

#[derive(Deserialize)]
struct AloneVariant {
    variant: String,
    ns_per_call: Option<f64>,
    failed: Option<String>,
}

/// Whether the harness printed its table or its JSON.
pub fn is_in(output: &BenchmarkOutput) -> bool {
    output.stdout.contains(SCHEMA) || output.stdout.lines().any(is_head)
}

/// Reads all that the harness printed.
///
/// # Errors
/// It printed nothing, its JSON is broken, or no variant has a time.
pub fn read(output: &BenchmarkOutput) -> Result<ExecutionFigures, FigureError> {
    let mut reading = ExecutionFigures::default();
    let (reports, broken) = documents_among_lines::<AloneReport>(&output.stdout, SCHEMA);
    let rows: Vec<AloneVariant> = if reports.is_empty() {
        if let Some(error) = broken.filter(|_| output.stdout.contains(SCHEMA)) {
            return Err(FigureError::malformed(NAME, "what was printed", "`variants`", error));
        }
        rows_of_tables(&output.stdout)
    } else {
        reports.into_iter().flat_map(|report| report.variants).collect()
    };
    if rows.is_empty() {
        let expected = "the table or the JSON of a program that includes assay.h";
        return Err(FigureError::nothing(NAME, expected, &output.stdout));
    }
    for row in rows.iter().filter(|row| row.ns_per_call.is_none()) {
        let why = row.failed.as_deref().unwrap_or("it has no time");
        reading.notes.push(format!("{}: the variant failed: {why}.", row.variant));
    }
    for (name, values) in
        repetitions(rows.into_iter().filter_map(|row| Some((row.variant, row.ns_per_call?))))
    {
        reading.add(name, Unit::ns_per("call"), BenchmarkClock::Wall, &values, None);
    }
    reading.or_failed(NAME)
}

fn is_head(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    matches!(words[..], ["variant", "ns/call", "ns/unit" | "ns/byte", "answer"])
}

fn rows_of_tables(text: &str) -> Vec<AloneVariant> {
    let mut inside = false;
    let mut rows = Vec::new();
    for line in text.lines() {
        let found = row(line).filter(|_| inside);
        inside = is_head(line) || found.is_some();
        rows.extend(found);
    }
    rows
}

/// A line below the table's head; none where the table has ended.
fn row(line: &str) -> Option<AloneVariant> {
    let mut words = line.split_whitespace();
    let (variant, call, unit, answer) =
        (words.next()?.to_owned(), words.next()?, words.next()?, words.next()?);
    if [call, unit, answer] == ["-", "-", "-"] {
        let why = words.collect::<Vec<_>>().join(" ");
        return Some(AloneVariant { variant, ns_per_call: None, failed: Some(why) });
    }
    Some(AloneVariant { variant, ns_per_call: Some(call.parse().ok()?), failed: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> BenchmarkOutput {
        BenchmarkOutput { stdout: text.into(), ..BenchmarkOutput::default() }
    }

    const TABLE: &str = "\
input: in.bin, 4096 bytes, 8 units
variant         ns/call      ns/unit  answer          \n\
std            1234.501     154.3126  00000000deadbeef
table             2.981       0.3726  00000000deadbeef  differs from std
avx512                -            -  -                 unavailable: needs AVX-512
Only one placement was measured: a difference may come from placement alone.
";

    #[test]
    fn rows_of_the_table_are_figures() {
        assert!(is_in(&printed(TABLE)));
        let found = read(&printed(TABLE)).unwrap();
        let values: Vec<(&str, f64)> =
            found.figures.iter().map(|figure| (figure.name.as_str(), figure.values[0])).collect();
        assert_eq!(values, [("std", 1234.501), ("table", 2.981)]);
        assert_eq!(found.notes, ["avx512: the variant failed: unavailable: needs AVX-512."]);
        assert_eq!(read(&printed(&TABLE.repeat(2))).unwrap().figures[1].values.len(), 2);
    }

    #[test]
    fn the_json_is_preferred_and_what_failed_is_a_note() {
        let json = "{\"schema\": \"assay.alone/1\", \"placements\": 1, \"variants\": [\n  {\"variant\": \"a\", \
                    \"ns_per_call\": 12.345, \"agrees\": true},\n  {\"variant\": \"b\", \"failed\": \"no\"}\n]}\n";
        let found = read(&printed(json)).unwrap();
        assert_eq!((found.figures.len(), found.figures[0].values[0]), (1, 12.345));
        assert_eq!(found.notes, ["b: the variant failed: no."]);
        assert!(matches!(read(&printed(&json[..90])), Err(FigureError::Malformed { .. })));
        assert!(matches!(read(&printed("variant ns/call\n")), Err(FigureError::Nothing { .. })));
    }
}
