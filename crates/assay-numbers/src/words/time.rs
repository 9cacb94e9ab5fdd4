//! Times in units that people read: 18.6 ms, not 18564308 ns.

/// A unit of time, for a column of times that share one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeUnit {
    /// "ns", "µs", "ms", "s".
    pub name: &'static str,
    /// Nanoseconds of one.
    pub ns: f64,
}

impl TimeUnit {
    /// The units there are, the smallest first.
    pub const ALL: [TimeUnit; 4] = [
        TimeUnit { name: "ns", ns: 1.0 },
        TimeUnit { name: "µs", ns: 1e3 },
        TimeUnit { name: "ms", ns: 1e6 },
        TimeUnit { name: "s", ns: 1e9 },
    ];

    /// The largest unit of which a time is at least one, as it is shown: 999.6 ns is 1.00 µs.
    pub fn of(ns: f64) -> Self {
        let reached = |unit: &&TimeUnit| ns.abs() >= 0.9995 * unit.ns;
        *Self::ALL.iter().rev().find(reached).unwrap_or(&Self::ALL[0])
    }

    /// A time in this unit, without its name: what stands in a column headed by it.
    pub fn figure(self, ns: f64) -> String {
        super::ns(ns / self.ns)
    }
}

/// A time with three digits and its unit: "0.713 ns", "134 ns", "1.24 µs", "18.6 ms", "2.34 s"; from a minute on "3 min 20 s".
///
/// Input: nanoseconds.
pub fn time(ns: f64) -> String {
    if ns == 0.0 || !ns.is_finite() {
        return format!("{} ns", ns + 0.0);
    }
    if ns >= 59.95e9 {
        return duration(ns / 1e9);
    }
    let unit = TimeUnit::of(ns);
    let scaled = ns / unit.ns;
    format!("{scaled:.*} {}", three_digits(scaled), unit.name)
}

/// A difference of times with its sign: "+1.24 µs", "-0.713 ns".
///
/// Input: nanoseconds.
pub fn signed_time(ns: f64) -> String {
    if ns < 0.0 { time(ns) } else { format!("+{}", time(ns)) }
}

/// A time with the longer side of its interval, which sets the digits of both: "18.564 ± 0.021 ms".
///
/// Input: nanoseconds. The unit is that of the median.
pub fn time_with_interval(median: f64, lower: f64, upper: f64) -> String {
    let half = (upper - median).max(median - lower);
    if !(half.is_finite() && half > 0.0) {
        return time(median);
    }
    let unit = TimeUnit::of(median);
    let (median, half) = (median / unit.ns, half / unit.ns);
    let decimals = interval_decimals(half);
    format!("{median:.decimals$} ± {half:.decimals$} {}", unit.name)
}

/// Two digits of an interval that begins with 1, else one.
fn interval_decimals(half: f64) -> usize {
    let place = half.log10().floor();
    let begins_low = half / 10f64.powf(place) < 1.95;
    (f64::from(u8::from(begins_low)) - place).clamp(0.0, 6.0) as usize
}

fn three_digits(value: f64) -> usize {
    match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        v if v >= 0.09995 => 3,
        _ => 4,
    }
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

fn with_rest(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    if small == 0 {
        format!("{large} {large_unit}")
    } else {
        format!("{large} {large_unit} {small} {small_unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_three_digits_and_the_unit_that_people_read() {
        let cases = [
            (0.0, "0 ns"),
            (-0.0, "0 ns"),
            (0.03124, "0.0312 ns"),
            (0.7134, "0.713 ns"),
            (5.6037, "5.60 ns"),
            (18.377, "18.4 ns"),
            (134.94, "135 ns"),
            (999.4, "999 ns"),
            (999.6, "1.00 µs"),
            (1_236.0, "1.24 µs"),
            (18_564_308.0, "18.6 ms"),
            (999_600_000.0, "1.00 s"),
            (2.344e9, "2.34 s"),
            (59.9e9, "59.9 s"),
            (59.96e9, "1 min"),
            (200e9, "3 min 20 s"),
        ];
        for (value, text) in cases {
            assert_eq!(time(value), text, "{value}");
        }
        assert_eq!(time(-1_236.0), "-1.24 µs");
        assert_eq!([-1_236.0, 1_236.0].map(signed_time), ["-1.24 µs", "+1.24 µs"]);
        assert_eq!(time(f64::INFINITY), "inf ns");
    }

    #[test]
    fn the_interval_sets_the_digits_of_a_time() {
        assert_eq!(time_with_interval(18_564_308.0, 18_543_000.0, 18_580_000.0), "18.56 ± 0.02 ms");
        assert_eq!(time_with_interval(18_564_308.0, 18_550_308.0, 18_570_000.0), "18.564 ± 0.014 ms");
        assert_eq!(time_with_interval(5.6037, 5.5, 6.0), "5.6 ± 0.4 ns");
        assert_eq!(time_with_interval(134.9, 90.0, 150.0), "135 ± 45 ns");
        assert_eq!(time_with_interval(134.9, 134.9, 134.9), "135 ns");
        assert_eq!(time_with_interval(2e9, f64::NEG_INFINITY, f64::INFINITY), "2.00 s");
    }

    #[test]
    fn a_column_has_the_unit_of_its_head() {
        let unit = TimeUnit::of(18_564_308.0);
        assert_eq!(
            (unit.name, unit.figure(18_564_308.0), unit.figure(912_345.0)),
            ("ms", "18.56".into(), "0.912".into())
        );
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
}
