//! Points as comma-separated values, one row per series and point, a column per variant and pair: for a spreadsheet, or
//! `plot "sweep.csv" using 4:7` in gnuplot (which wants `set datafile separator ","`).

use super::page::{SeriesPage, SweepPage};
use std::fmt::Write as _;

/// The whole page as CSV with a header line. Where something was not measured, its field is empty.
pub fn columns(page: &SweepPage) -> String {
    let Some(widest) = page.series.iter().max_by_key(|series| series.curves.len()) else {
        return String::new();
    };
    let variants: Vec<&str> = widest.curves.iter().map(|curve| curve.variant.as_str()).collect();
    let pairs: Vec<(&str, &str)> =
        widest.pairs.iter().map(|pair| (pair.candidate.as_str(), pair.baseline.as_str())).collect();
    let mut header = vec!["input".to_owned(), "compiler".into(), "flags".into(), field(&page.key.label)];
    header.extend(["input bytes", "input units"].map(str::to_owned));
    for variant in &variants {
        header.extend(["ns", "ns lower", "ns upper"].map(|what| field(&format!("{variant} {what}"))));
    }
    for (candidate, baseline) in &pairs {
        let name = format!("{candidate}/{baseline}");
        header.extend(["", " lower", " upper", " shared"].map(|what| field(&format!("{name}{what}"))));
    }
    let mut text = header.join(",") + "\n";
    for series in &page.series {
        for point in &page.points {
            let number = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
            let mut row = vec![field(&series.input), field(&series.compiler), field(&series.flags)];
            row.extend([point.at.to_string(), number(point.bytes), number(point.units)]);
            times(series, &variants, point.at, &mut row);
            ratios(series, &pairs, point.at, &mut row);
            let _ = writeln!(text, "{}", row.join(","));
        }
    }
    text
}

fn times(series: &SeriesPage, variants: &[&str], at: f64, row: &mut Vec<String>) {
    for variant in variants {
        let curve = series.curves.iter().find(|curve| curve.variant == **variant);
        let time = curve.and_then(|curve| curve.times.iter().find(|time| time.at == at));
        let ends = time.map(|time| [time.ns_per_unit.median, time.ns_per_unit.lower, time.ns_per_unit.upper]);
        row.extend(numbers(ends));
    }
}

fn ratios(series: &SeriesPage, pairs: &[(&str, &str)], at: f64, row: &mut Vec<String>) {
    for (candidate, baseline) in pairs {
        let pair =
            series.pairs.iter().find(|pair| (&*pair.candidate, &*pair.baseline) == (*candidate, *baseline));
        let ratio = pair.and_then(|pair| pair.ratios.iter().find(|ratio| ratio.at == at));
        row.extend(numbers(ratio.map(|ratio| [ratio.ratio.ratio, ratio.ratio.lower, ratio.ratio.upper])));
        row.push(ratio.map_or(String::new(), |ratio| u8::from(ratio.shared).to_string()));
    }
}

fn numbers(three: Option<[f64; 3]>) -> [String; 3] {
    three.map_or_else(|| [const { String::new() }; 3], |values| values.map(|value| value.to_string()))
}

/// A field in quotes where it needs them.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
