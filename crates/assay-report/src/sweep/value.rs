//! Values of a swept key as a reader wants them: 25,000; 31 %; 0.375.

use super::page::{CrossoverPage, PageSweepKey};
use assay_pure::words;

/// A side of an interval that is shorter than this part of the other is not told by the other's length.
const LOPSIDED: f64 = 0.25;

/// A value: `31 %`, `25,000`, `0.375`.
pub fn value(key: &PageSweepKey, at: f64) -> String {
    if key.percent {
        return format!("{} %", plain(at * 100.0, 4));
    }
    plain(at, 6)
}

/// A range of values: `28 to 33 %`.
pub fn span(key: &PageSweepKey, from: f64, to: f64) -> String {
    if key.percent {
        return format!("{} to {} %", plain(from * 100.0, 4), plain(to * 100.0, 4));
    }
    format!("{} to {}", plain(from, 6), plain(to, 6))
}

/// Where something is: `units = 25,000 ± 1,200`.
pub fn at(key: &PageSweepKey, shown: &str) -> String {
    format!("{} = {shown}", key.label)
}

/// Where a crossover is, as far as it is known.
pub enum CrossoverPlace {
    /// `31 % ± 2`
    Near(String),
    /// Its interval's ends: `3,200` and `910,000`, `78.3` and `87.5 %`.
    Between(String, String),
}

/// A crossover with the longer side of its interval, `31 % ± 2`, `25,000 ± 1,200`, where that is nearly both sides' and the place is
/// known to half of its value at least. Else it has its ends: the middle of a geometric range plus or minus its longer side read
/// `0 ± 900,000`, and `87 % ± 9` of what lies from 78.3 to 87.5 % promised 8 points that were excluded.
pub fn place(key: &PageSweepKey, found: &CrossoverPage) -> CrossoverPlace {
    let (above, below) = (found.upper - found.at, found.at - found.lower);
    let side = above.max(below);
    let factor = if key.percent { 100.0 } else { 1.0 };
    let (at, longer) = (found.at * factor, side * factor);
    let unit = if key.percent { " %" } else { "" };
    let between = |digits: &dyn Fn(f64) -> i32| {
        let end = |value: f64| if value == 0.0 { "0".to_owned() } else { rounded(value, digits(value)) };
        CrossoverPlace::Between(end(found.lower * factor), format!("{}{unit}", end(found.upper * factor)))
    };
    if longer > at.abs() / 2.0 {
        return between(&two_figures);
    }
    if above.min(below) < LOPSIDED * side {
        return between(&|_| digits_for((found.upper - found.lower) * factor) + 1);
    }
    let digits = digits_for(longer);
    CrossoverPlace::Near(format!("{}{unit} ± {}", rounded(at, digits), rounded(longer, digits)))
}

/// The same in a table: `31 % ± 2`, `3,200 to 910,000`.
pub fn crossover(key: &PageSweepKey, found: &CrossoverPage) -> String {
    match place(key, found) {
        CrossoverPlace::Near(text) => text,
        CrossoverPlace::Between(from, to) => format!("{from} to {to}"),
    }
}

/// The same behind "above" or "up to": `31 % ± 2`, `a point between 3,200 and 910,000`.
pub fn point(key: &PageSweepKey, found: &CrossoverPage) -> String {
    match place(key, found) {
        CrossoverPlace::Near(text) => text,
        CrossoverPlace::Between(from, to) => format!("a point between {from} and {to}"),
    }
}

/// With the key's name: `multi_byte = 31 % ± 2`, `a point between multi_byte = 78.3 and 87.5 %`.
pub fn named_point(key: &PageSweepKey, found: &CrossoverPage) -> String {
    match place(key, found) {
        CrossoverPlace::Near(text) => at(key, &text),
        CrossoverPlace::Between(from, to) => format!("a point between {} = {from} and {to}", key.label),
    }
}

/// Decimals (below 0: places before the point) at which an uncertainty has two figures if it begins with 1, else one.
fn digits_for(side: f64) -> i32 {
    if side <= 0.0 {
        return 6;
    }
    let exponent = side.log10().floor();
    let leading = side / 10f64.powf(exponent);
    let figures = if leading < 1.95 { 1 } else { 0 };
    figures - exponent as i32
}

/// Decimals that leave a value two figures.
fn two_figures(value: f64) -> i32 {
    1 - value.abs().log10().floor() as i32
}

fn rounded(value: f64, digits: i32) -> String {
    if digits > 0 {
        return format!("{value:.*}", digits as usize);
    }
    let unit = 10f64.powi(-digits);
    thousands((value / unit).round() * unit)
}

/// A number of so many figures at most, thousands set apart.
fn plain(value: f64, figures: i32) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return thousands(value);
    }
    let digits = (figures - 1 - value.abs().log10().floor() as i32).max(0);
    let text = format!("{value:.*}", digits as usize);
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    text.to_owned()
}

fn thousands(whole: f64) -> String {
    let digits = words::count(whole.abs().round() as u64);
    if whole < 0.0 { format!("-{digits}") } else { digits }
}
