//! Numbers as a reader wants them: as many digits as the measurement carries, always the same way.
//!
//! A change of time is a percentage of the baseline's time: `-12.3 %` takes 12.3 % less, `+12.3 %` takes 12.3 % more.

use super::page::Effect;

/// A ratio of times as a signed change with one decimal: 1.206 is "+20.6 %", 0.9996 is "0.0 %".
pub fn change(ratio: f64) -> String {
    format!("{} %", signed(percent(ratio), 1))
}

/// A ratio with its interval: "+8.9 % ± 0.5".
///
/// The interval is not symmetric in percent; the longer side is shown, so that it never looks narrower than it is.
/// Digits follow the interval: ±12 has none, ±0.5 one, ±0.04 two.
pub fn change_with_interval(effect: &Effect) -> String {
    let center = percent(effect.ratio);
    let half = (percent(effect.upper) - center).max(center - percent(effect.lower));
    let decimals = match half {
        h if h >= 9.95 => 0,
        h if h >= 0.095 => 1,
        _ => 2,
    };
    format!("{} % ± {half:.decimals$}", signed(center, decimals))
}

/// The span of several ratios: "+12.1 to +38.0 %", or one change where both ends print the same. Empty: "".
pub fn change_span(ratios: impl IntoIterator<Item = f64>) -> String {
    let Some((low, high)) = ends(ratios) else { return String::new() };
    let (low_text, high_text) = (signed(percent(low), 1), signed(percent(high), 1));
    if low_text == high_text { format!("{low_text} %") } else { format!("{low_text} to {high_text} %") }
}

/// The sizes of several changes for a sentence, without sign: "12 to 38 %", "8.9 %". Empty: "".
pub fn size_span(ratios: impl IntoIterator<Item = f64>) -> String {
    let sizes = ratios.into_iter().map(|ratio| percent(ratio).abs());
    let Some((low, high)) = ends(sizes) else { return String::new() };
    let (low_text, high_text) = (plain(low), plain(high));
    if low_text == high_text { format!("{low_text} %") } else { format!("{low_text} to {high_text} %") }
}

/// A fraction as an unsigned percentage for a sentence: 0.005 is "0.5 %", 0.01 is "1 %", 0.2061 is "21 %".
pub fn fraction(value: f64) -> String {
    let text = plain((value * 100.0).abs());
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

/// Nanoseconds with at least three digits: "0.0312", "0.713", "5.604", "18.38", "134.9", "20418".
pub fn ns(value: f64) -> String {
    let decimals = ns_decimals(value);
    format!("{value:.decimals$}")
}

/// Nanoseconds with the longer side of their interval, to the same place: "0.713 ± 0.004".
pub fn ns_with_interval(median: f64, lower: f64, upper: f64) -> String {
    let (half, decimals) = ((upper - median).max(median - lower), ns_decimals(median));
    format!("{median:.decimals$} ± {half:.decimals$}")
}

fn ns_decimals(value: f64) -> usize {
    match value.abs() {
        v if v >= 999.5 => 0,
        v if v >= 99.95 => 1,
        v if v >= 9.995 => 2,
        v if v >= 0.09995 => 3,
        _ => 4,
    }
}

/// Seconds as a duration: "0.4 s", "2.3 s", "41 s", "3 min 20 s", "1 h 4 min".
pub fn duration(seconds: f64) -> String {
    // The sum of nothing is -0, which no duration is.
    let seconds = seconds + 0.0;
    if seconds < 9.95 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => with_rest(whole / 60, "min", whole % 60, "s"),
        _ => with_rest(whole / 3600, "h", (whole % 3600) / 60, "min"),
    }
}

/// A count with its thousands set apart: 1000000 is "1,000,000".
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes in the largest binary unit that keeps at least one digit before the point: "64 B", "2.63 MiB".
pub fn bytes(value: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut scaled = value as f64;
    let mut unit = 0;
    while scaled >= 1024.0 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    let decimals = match scaled {
        _ if unit == 0 => 0,
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{scaled:.decimals$} {}", UNITS[unit])
}

fn with_rest(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    if small == 0 {
        format!("{large} {large_unit}")
    } else {
        format!("{large} {large_unit} {small} {small_unit}")
    }
}

fn percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

/// A signed number that has no sign where it prints as zero: "-0.0" would be read as a finding.
fn signed(value: f64, decimals: usize) -> String {
    let text = format!("{value:+.decimals$}");
    if text.chars().any(|c| ('1'..='9').contains(&c)) { text } else { text[1..].to_owned() }
}

/// In a sentence one decimal below ten, none from ten.
fn plain(size: f64) -> String {
    if size < 9.95 { format!("{size:.1}") } else { format!("{size:.0}") }
}

fn ends(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    values.into_iter().fold(None, |ends, value| match ends {
        None => Some((value, value)),
        Some((low, high)) => Some((value.min(low), value.max(high))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(ratio: f64, lower: f64, upper: f64) -> Effect {
        Effect { ratio, lower, upper }
    }

    #[test]
    fn a_change_has_a_sign_one_decimal_and_no_negative_zero() {
        assert_eq!(change(1.206), "+20.6 %");
        assert_eq!(change(0.877), "-12.3 %");
        assert_eq!(change(0.9996), "0.0 %");
        assert_eq!(change(1.0004), "0.0 %");
        assert_eq!(change(0.999), "-0.1 %");
        assert_eq!(change(3.305), "+230.5 %");
    }

    #[test]
    fn the_interval_sets_the_digits_of_both_numbers() {
        assert_eq!(change_with_interval(&effect(1.089, 1.084, 1.094)), "+8.9 % ± 0.5");
        assert_eq!(change_with_interval(&effect(0.5004, 0.5001, 0.5007)), "-49.96 % ± 0.03");
        assert_eq!(change_with_interval(&effect(1.30, 1.10, 1.50)), "+30 % ± 20");
        assert_eq!(change_with_interval(&effect(1.00004, 0.9999, 1.0002)), "0.00 % ± 0.02");
    }

    #[test]
    fn the_longer_side_of_an_interval_is_shown() {
        assert_eq!(change_with_interval(&effect(1.10, 1.09, 1.13)), "+10.0 % ± 3.0");
        assert_eq!(change_with_interval(&effect(1.10, 1.07, 1.11)), "+10.0 % ± 3.0");
    }

    #[test]
    fn a_span_of_equal_ends_is_one_number() {
        assert_eq!(change_span([1.121, 1.38, 1.2]), "+12.1 to +38.0 %");
        assert_eq!(change_span([0.498, 0.909]), "-50.2 to -9.1 %");
        assert_eq!(change_span([1.1211, 1.1209]), "+12.1 %");
        assert_eq!(change_span([]), "");
        assert_eq!(size_span([1.121, 1.384]), "12 to 38 %");
        assert_eq!(size_span([0.498, 0.909]), "9.1 to 50 %");
        assert_eq!(size_span([1.089]), "8.9 %");
    }

    #[test]
    fn fractions_read_as_percentages_without_a_useless_decimal() {
        assert_eq!(fraction(0.01), "1 %");
        assert_eq!(fraction(0.005), "0.5 %");
        assert_eq!(fraction(0.2061), "21 %");
        assert_eq!(fraction(-0.021), "2.1 %");
    }

    #[test]
    fn nanoseconds_keep_at_least_three_digits() {
        let cases = [
            (0.03124, "0.0312"),
            (0.0999, "0.0999"),
            (0.099_96, "0.100"),
            (0.7134, "0.713"),
            (5.6037, "5.604"),
            (9.9949, "9.995"),
            (9.9996, "10.00"),
            (18.377, "18.38"),
            (134.94, "134.9"),
            (999.46, "999.5"),
            (999.6, "1000"),
            (20418.4, "20418"),
        ];
        for (value, text) in cases {
            assert_eq!(ns(value), text, "{value}");
        }
    }

    #[test]
    fn an_interval_in_nanoseconds_ends_at_the_place_of_its_median() {
        assert_eq!(ns_with_interval(0.7134, 0.7101, 0.7172), "0.713 ± 0.004");
        assert_eq!(ns_with_interval(18.377, 18.3, 18.4), "18.38 ± 0.08");
    }

    #[test]
    fn durations_carry_at_most_two_units() {
        let cases = [
            (0.04, "0.0 s"),
            (2.34, "2.3 s"),
            (9.96, "10 s"),
            (41.4, "41 s"),
            (59.7, "1 min"),
            (200.0, "3 min 20 s"),
            (3600.0, "1 h"),
            (3840.0, "1 h 4 min"),
        ];
        for (seconds, text) in cases {
            assert_eq!(duration(seconds), text, "{seconds}");
        }
    }

    #[test]
    fn counts_and_bytes_are_readable() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1000), "1,000");
        assert_eq!(count(12_345_678), "12,345,678");
        assert_eq!(bytes(64), "64 B");
        assert_eq!(bytes(2048), "2.00 KiB");
        assert_eq!(bytes(2_758_000), "2.63 MiB");
        assert_eq!(bytes(104_857_600), "100 MiB");
    }
}
