//! Large counts, and parts of a whole, in the few columns of a table.

/// A count in at most six columns: "12,345", "123 k", "1.23 M"; three digits from 100,000 on.
pub fn compact(value: f64) -> String {
    let (number, unit) = parts(value);
    if unit.is_empty() { number } else { format!("{number} {unit}") }
}

/// From one count to another: "11.2-12.0 M"; one where both print the same.
pub fn compact_span(low: f64, high: f64) -> String {
    // Three digits are enough for the ends of a range.
    let ((low, low_unit), (high, high_unit)) = (parts_from(low, 9_999.5), parts_from(high, 9_999.5));
    match (low == high && low_unit == high_unit, low_unit == high_unit) {
        (true, _) if high_unit.is_empty() => high,
        (true, _) => format!("{high} {high_unit}"),
        (false, true) if high_unit.is_empty() => format!("{low}-{high}"),
        (false, true) => format!("{low}-{high} {high_unit}"),
        (false, false) => format!(
            "{low}{}-{high} {high_unit}",
            if low_unit.is_empty() { String::new() } else { format!(" {low_unit}") }
        ),
    }
}

fn parts(value: f64) -> (String, &'static str) {
    parts_from(value, 99_999.5)
}

/// Number and unit; below `exact` all digits.
fn parts_from(value: f64, exact: f64) -> (String, &'static str) {
    if value < exact {
        return (super::count(value.round() as u64), "");
    }
    let (scaled, unit) = [(1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T")]
        .into_iter()
        .map(|(scale, unit)| (value / scale, unit))
        .find(|(scaled, _)| *scaled < 999.5)
        .unwrap_or((value / 1e15, "P"));
    let decimals = match scaled {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    (format!("{scaled:.decimals$}"), unit)
}

/// A part of a whole: "41 %", "4.1 %", "0.1 %"; "0 %" only for nothing, "100 %" only for all.
///
/// What was lost where the whole is a gain is negative: "-4.8 %".
pub fn part(part: f64) -> String {
    let value = part * 100.0;
    match value {
        v if v <= -0.05 => format!("-{}", self::part(-part)),
        0.0 => "0 %".to_owned(),
        v if v < 0.05 => "<0.1 %".to_owned(),
        v if v < 9.95 => format!("{v:.1} %"),
        v if (99.5..100.0).contains(&v) => ">99 %".to_owned(),
        v => format!("{v:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_keep_three_digits_in_few_columns() {
        let cases = [
            (0.0, "0"),
            (12_345.4, "12,345"),
            (99_999.4, "99,999"),
            (99_999.6, "100 k"),
            (123_456.0, "123 k"),
            (999_499.0, "999 k"),
            (999_500.0, "1.00 M"),
            (12_345_678.0, "12.3 M"),
            (1.5e9, "1.50 G"),
            (2.5e12, "2.50 T"),
            (2.5e16, "25.0 P"),
        ];
        for (value, expected) in cases {
            assert_eq!(compact(value), expected);
        }
    }

    #[test]
    fn a_span_names_its_unit_once() {
        assert_eq!(compact_span(11.2e6, 12e6), "11.2-12.0 M");
        assert_eq!(compact_span(1.0, 2.0), "1-2");
        assert_eq!(compact_span(5e5, 5e6), "500 k-5.00 M");
        assert_eq!(compact_span(5.0, 5e6), "5-5.00 M");
        assert_eq!(compact_span(5e6, 5e6), "5.00 M");
        assert_eq!(compact_span(7.0, 7.0), "7");
        assert_eq!(compact_span(9_999.0, 21_124.0), "9,999-21.1 k");
        assert_eq!(compact_span(16_622.0, 21_124.0), "16.6-21.1 k");
    }

    #[test]
    fn only_nothing_is_0_and_only_all_is_100_per_cent() {
        let cases = [
            (0.0, "0 %"),
            (0.0001, "<0.1 %"),
            (0.0006, "0.1 %"),
            (0.0412, "4.1 %"),
            (0.0996, "10 %"),
            (0.41, "41 %"),
            (0.994, "99 %"),
            (0.996, ">99 %"),
            (1.0, "100 %"),
            (1.204, "120 %"),
            (-0.048, "-4.8 %"),
            (-0.0004, "<0.1 %"),
        ];
        for (value, expected) in cases {
            assert_eq!(part(value), expected, "{value}");
        }
    }
}
