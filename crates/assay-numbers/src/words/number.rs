//! Numbers with as many digits as they carry.
//!
//! A change of time is a percentage of the baseline's time: `-12.3 %` takes 12.3 % less, `+12.3 %` takes 12.3 % more.

/// A ratio as a signed change with one decimal, for tables: 1.206 is "+20.6 %", 0.9996 is "0.0 %".
pub fn change(ratio: f64) -> String {
    format!("{} %", signed(percent(ratio), 1))
}

/// A ratio as a signed change for reasons, where a hundredth below 1 % may decide: "+8.9 %", "-0.42 %".
pub fn fine_change(ratio: f64) -> String {
    let percent = percent(ratio);
    format!("{} %", signed(percent, if percent.abs() < 1.0 { 2 } else { 1 }))
}

/// The two ends of an interval of ratios: "+8.4 % to +9.4 %".
pub fn fine_span(lower: f64, upper: f64) -> String {
    format!("{} to {}", fine_change(lower), fine_change(upper))
}

/// A ratio with its interval: "+8.9 % ± 0.5".
///
/// The interval is not symmetric in percent; the longer side is shown, so that it never looks narrower than it is.
/// Digits follow the interval: ±12 has none, ±0.5 one, ±0.04 two. Where the longer side on both sides would reach over 0 and
/// the interval does not, both ends are shown: "+84 % (+12 to +203)". A "slower by 84 % ± 119" contradicts itself.
pub fn change_with_interval(ratio: f64, lower: f64, upper: f64) -> String {
    let center = percent(ratio);
    let half = (percent(upper) - center).max(center - percent(lower));
    let decimals = match half {
        h if h >= 9.95 => 0,
        h if h >= 0.095 => 1,
        _ => 2,
    };
    // As they are printed: 9.96 is 10 too.
    let shown = |value: f64, decimals: usize| -> f64 {
        format!("{:.decimals$}", value.abs()).parse().expect("it was printed as a number")
    };
    let is_beyond = lower > 1.0 || upper < 1.0;
    if is_beyond && shown(half, decimals) >= shown(center, decimals) {
        let nearest = percent(lower).abs().min(percent(upper).abs());
        let decimals = (decimals..2).find(|decimals| shown(nearest, *decimals) > 0.0).unwrap_or(2);
        let ends = [lower, upper].map(|end| signed(percent(end), decimals));
        return format!("{} % ({} to {})", signed(center, decimals), ends[0], ends[1]);
    }
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

/// A measured fraction without sign, with two digits: 0.2061 is "21 %", 0.0214 "2.1 %", 0.0042 "0.42 %", 0.01 "1 %".
///
/// What is not nothing is never "0 %". A number that somebody asked for is written by [`asked`].
pub fn fraction(value: f64) -> String {
    let percent = (value * 100.0).abs();
    let decimals = match percent {
        p if p >= 9.95 => 0,
        p if p >= 0.995 => 1,
        0.0 => 0,
        p if p < 0.005 => return "<0.01 %".to_owned(),
        _ => 2,
    };
    format!("{} %", trimmed(format!("{percent:.decimals$}")))
}

/// A fraction as it stands in a file, with all its digits: 0.0125 is "1.25 %", 0.01 is "1 %".
pub fn asked(fraction: f64) -> String {
    format!("{} %", trimmed(format!("{:.4}", 100.0 * fraction)))
}

/// A confidence with as many nines as it has: "95 %", "99.979 %".
pub fn confidence(level: f64) -> String {
    let digits = if level >= 0.9999 {
        4
    } else if level >= 0.99 {
        2
    } else {
        1
    };
    format!("{} %", trimmed(format!("{:.digits$}", 100.0 * level)))
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

/// A number per unit of work, or how many times as much, with three digits or so: "1,204", "120", "38.5", "1.62", "0.0042".
pub fn short(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 999.5 && value > 0.0 => return count(value.round() as u64),
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.0995 => 2,
        0.0 => 0,
        _ => 4,
    };
    format!("{value:.decimals$}")
}

/// A figure with its unit, without the iteration or the command that goes without saying: "7.53 ms", "5.60 ns/byte", "12 MB".
pub fn figure(value: f64, unit: &str) -> String {
    match unit.split_once('/') {
        Some(("ns", "iteration" | "command")) => super::time(value),
        Some(("ns", per)) => format!("{}/{per}", super::time(value)),
        None if unit == "ns" => super::time(value),
        _ => format!("{} {unit}", short(value)).trim_end().to_owned(),
    }
}

/// A number of any size: whole ones in full, others with so many digits, the largest and smallest with an exponent.
pub fn any_size(value: f64, digits: usize) -> String {
    let size = value.abs();
    let sign = if value < 0.0 { "-" } else { "" };
    if value.fract() == 0.0 && size < 1e15 {
        return format!("{sign}{}", count(size as u64));
    }
    if !(1e-4..1e15).contains(&size) {
        return format!("{value:.*e}", digits.saturating_sub(1));
    }
    match digits as i32 - 1 - size.log10().floor() as i32 {
        decimals if decimals > 0 => format!("{value:.*}", decimals as usize),
        _ => format!("{sign}{}", count(size.round() as u64)),
    }
}

/// A rate with three digits, for a column of them: "43.2 %", "4.32 %", "0.432 %".
///
/// What is not nothing is never "0 %".
pub fn rate(value: f64) -> String {
    format!("{} %", rate_digits(value))
}

/// From one rate to another: "3.10 to 3.71 %"; one where both print the same.
pub fn rate_span(low: f64, high: f64) -> String {
    let (low, high) = (rate_digits(low), rate_digits(high));
    if low == high { format!("{low} %") } else { format!("{low} to {high} %") }
}

fn rate_digits(value: f64) -> String {
    let percent = value * 100.0;
    match percent.abs() {
        0.0 => "0".to_owned(),
        p if p < 0.000_5 => "<0.001".to_owned(),
        p if p < 0.995 => format!("{percent:.3}"),
        p if p < 9.995 => format!("{percent:.2}"),
        _ => format!("{percent:.1}"),
    }
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

fn percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

/// With a sign, but "0.0" where the digits shown are all zero: a sign of nothing is not a finding.
fn signed(value: f64, decimals: usize) -> String {
    let text = format!("{value:+.decimals$}");
    if text.chars().any(|c| ('1'..='9').contains(&c)) { text } else { text[1..].to_owned() }
}

/// In a sentence one decimal below ten, none from ten.
fn plain(size: f64) -> String {
    if size < 9.95 { format!("{size:.1}") } else { format!("{size:.0}") }
}

/// Without zeros at the end of a decimal fraction.
fn trimmed(text: String) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
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

    #[test]
    fn a_number_of_any_size_keeps_its_digits() {
        let cases = [
            (0.0, "0"),
            (-1_234_567.0, "-1,234,567"),
            (2e9, "2,000,000,000"),
            (123_456.7, "123,457"),
            (12_345.6, "12,346"),
            (-1.5, "-1.5000"),
            (0.000_123_456, "0.00012346"),
            (0.000_012_345_6, "1.2346e-5"),
            (2.5e20, "2.5000e20"),
        ];
        for (value, expected) in cases {
            assert_eq!(any_size(value, 5), expected);
        }
        assert_eq!((any_size(0.1234, 3), any_size(12.34, 3)), ("0.123".to_owned(), "12.3".to_owned()));
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
    fn a_fine_change_has_hundredths_below_one_per_cent() {
        assert_eq!(fine_change(1.089), "+8.9 %");
        assert_eq!(fine_change(0.9958), "-0.42 %");
        assert_eq!(fine_change(1.00001), "0.00 %");
        assert_eq!(fine_span(0.99, 1.02), "-1.0 % to +2.0 %");
    }

    #[test]
    fn the_interval_sets_the_digits_of_both_numbers() {
        assert_eq!(change_with_interval(1.089, 1.084, 1.094), "+8.9 % ± 0.5");
        assert_eq!(change_with_interval(0.5004, 0.5001, 0.5007), "-49.96 % ± 0.03");
        assert_eq!(change_with_interval(1.30, 1.10, 1.50), "+30 % ± 20");
        assert_eq!(change_with_interval(1.00004, 0.9999, 1.0002), "0.00 % ± 0.02");
    }

    #[test]
    fn the_longer_side_of_an_interval_is_shown() {
        assert_eq!(change_with_interval(1.10, 1.09, 1.13), "+10.0 % ± 3.0");
        assert_eq!(change_with_interval(1.10, 1.07, 1.11), "+10.0 % ± 3.0");
    }

    #[test]
    fn an_interval_beyond_0_never_reads_as_if_it_held_0() {
        assert_eq!(change_with_interval(1.839, 1.1168, 3.0283), "+84 % (+12 to +203)");
        assert_eq!(change_with_interval(0.974, 0.471, 2.014), "-3 % ± 104");
        // The numbers as they are printed decide, and the nearer end is never printed as 0.
        assert_eq!(change_with_interval(1.1004, 1.0008, 1.2000), "+10.0 % (+0.1 to +20.0)");
        assert_eq!(change_with_interval(1.05, 1.0002, 1.102), "+5.00 % (+0.02 to +10.20)");
        assert_eq!(change_with_interval(0.93, 0.86, 0.9995), "-7.00 % (-14.00 to -0.05)");
        assert_eq!(change_with_interval(1.10, 1.005, 1.204), "+10.0 % (+0.5 to +20.4)");
        assert_eq!(change_with_interval(1.10, 1.005, 1.19), "+10.0 % ± 9.5");
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
    fn a_fraction_has_two_digits_and_no_useless_zero() {
        let cases = [
            (0.01, "1 %"),
            (0.005, "0.5 %"),
            (0.0025, "0.25 %"),
            (0.2061, "21 %"),
            (-0.021, "2.1 %"),
            (0.0995, "10 %"),
            (0.000_06, "0.01 %"),
            (0.000_04, "<0.01 %"),
            (0.0, "0 %"),
            (1.0, "100 %"),
        ];
        for (value, text) in cases {
            assert_eq!(fraction(value), text, "{value}");
        }
    }

    #[test]
    fn what_was_asked_for_keeps_its_digits() {
        assert_eq!(asked(0.0125), "1.25 %");
        assert_eq!(asked(0.01), "1 %");
        assert_eq!(asked(0.07), "7 %");
        assert_eq!(asked(0.125), "12.5 %");
        assert_eq!(asked(0.0), "0 %");
        assert_eq!(asked(1.0), "100 %");
    }

    #[test]
    fn a_confidence_has_its_nines() {
        assert_eq!(confidence(0.95), "95 %");
        assert_eq!(confidence(0.9998), "99.98 %");
        assert_eq!(confidence(0.99998), "99.998 %");
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

    #[test]
    fn rates_keep_three_digits_and_are_not_rounded_to_nothing() {
        let cases = [
            (0.0, "0 %"),
            (0.000_001, "<0.001 %"),
            (0.000_012_3, "0.001 %"),
            (0.004_321, "0.432 %"),
            (0.0432, "4.32 %"),
            (0.099_96, "10.0 %"),
            (0.4321, "43.2 %"),
            (1.0, "100.0 %"),
        ];
        for (value, text) in cases {
            assert_eq!(rate(value), text, "{value}");
        }
        assert_eq!(rate_span(0.031, 0.0371), "3.10 to 3.71 %");
        assert_eq!(rate_span(0.031, 0.031_001), "3.10 %");
    }

    #[test]
    fn a_number_per_unit_has_three_digits_or_so() {
        let cases = [
            (1204.4, "1,204"),
            (120.4, "120"),
            (99.96, "100"),
            (99.94, "99.9"),
            (38.46, "38.5"),
            (9.996, "10.0"),
            (9.994, "9.99"),
            (1.618, "1.62"),
            (0.0042, "0.0042"),
            (0.0, "0"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text, "{value}");
        }
    }
}
