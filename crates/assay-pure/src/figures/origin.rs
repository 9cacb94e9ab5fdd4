//! What a file of figures says of itself: when it was made, and on which machine.
//!
//! Method: Google Benchmark's context has `date` (RFC 3339) and `host_name`; Go prints `cpu:`. Others say nothing.
//! Limits: a host's name is not its processor; two files of one host are taken to be of one machine.

use serde_json::Value;

/// Where figures come from, as far as the file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Origin {
    /// Host or processor.
    pub machine: Option<String>,
    /// Unix seconds.
    pub unix: Option<f64>,
}

/// Reads what a text says of its origin.
pub fn of(text: &str) -> Origin {
    if let Ok(json) = serde_json::from_str::<Value>(&super::json::without_nan(text)) {
        let context = |key: &str| json["context"][key].as_str().map(str::to_owned);
        return Origin { machine: context("host_name"), unix: context("date").and_then(|date| unix(&date)) };
    }
    let cpu = text.lines().find_map(|line| line.strip_prefix("cpu: "));
    Origin { machine: cpu.map(|cpu| cpu.trim().to_owned()), unix: None }
}

/// RFC 3339 or ISO 8601 with a time zone as Unix seconds; a day alone is its midnight in UTC. None of other texts.
///
/// Method: days from the civil date by Howard Hinnant's algorithm. Checked: `date -d TEXT +%s` of GNU coreutils.
pub fn unix(text: &str) -> Option<f64> {
    let text = text.trim();
    let (date, rest) = text.split_at_checked(10)?;
    let mut parts = date.split('-').map(str::parse::<i64>);
    let (year, month, day) = (parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
    if !(1..=12).contains(&month) || !(1..=days_of(month, year)).contains(&day) || !(1..=9999).contains(&year)
    {
        return None;
    }
    let shifted = if month <= 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let year_of_era = shifted - era * 400;
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let midnight = (era * 146_097 + day_of_era - 719_468) as f64 * 86_400.0;
    if rest.is_empty() {
        return Some(midnight);
    }
    let rest = rest.strip_prefix(['T', ' ', 't'])?;
    let zone = rest.find(['Z', 'z', '+', '-']);
    let (clock, zone) = zone.map_or((rest, "Z"), |at| rest.split_at(at));
    let offset = match zone.split_at_checked(1)? {
        ("+", offset) => seconds(offset)?,
        ("-", offset) => -seconds(offset)?,
        _ => 0.0,
    };
    Some(midnight + seconds(clock)? - offset)
}

fn days_of(month: i64, year: i64) -> i64 {
    let leaps = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leaps),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Seconds of "07:34:05.2", the last two of which may be missing.
fn seconds(clock: &str) -> Option<f64> {
    // Rust reads "nan", "inf" and "1e300" as numbers.
    if !clock.bytes().all(|byte| byte.is_ascii_digit() || b":.".contains(&byte)) {
        return None;
    }
    let mut parts = clock.split(':').map(str::parse::<f64>);
    let (hour, minute) = (parts.next()?.ok()?, parts.next().map_or(Some(0.0), Result::ok)?);
    let second = parts.next().map_or(Some(0.0), Result::ok)?;
    // A minute with a leap second has 61.
    let fits = hour < 24.0 && minute < 60.0 && second < 61.0 && parts.next().is_none();
    fits.then_some(hour * 3600.0 + minute * 60.0 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_others_read_them() {
        // `date -d TEXT +%s` of GNU coreutils.
        for (text, wanted) in [
            ("1970-01-01", 0.0),
            ("2000-02-29T12:34:56Z", 951_827_696.0),
            ("2026-11-21T07:34:05+00:00", 1_795_246_445.0),
            ("2026-11-21T09:34:05+02:00", 1_795_246_445.0),
            ("2026-11-21 02:34:05-05:00", 1_795_246_445.0),
        ] {
            assert_eq!(unix(text), Some(wanted), "{text}");
        }
        for text in [
            "yesterday",
            "2026-13-01",
            "2026-11-21Tnoon",
            "21.11.2026",
            "2026-11-31",
            "2026-02-29",
            "2026-11-21Tnan",
            "2026-11-21Tinf:00",
            "2026-11-21T1e300",
            "2026-11-21T24:00:00Z",
            "2026-11-21T07:60:00Z",
            "2026-11-21T07:34:05+99:00",
        ] {
            assert_eq!(unix(text), None, "{text}");
        }
    }

    #[test]
    fn files_say_where_they_come_from() {
        let google =
            r#"{"context": {"date": "2026-11-21T07:34:05+00:00", "host_name": "build-7"}, "benchmarks": []}"#;
        assert_eq!(of(google), Origin { machine: Some("build-7".into()), unix: Some(1_795_246_445.0) });
        assert_eq!(of("goos: linux\ncpu: A CPU @ 2 GHz\n").machine.as_deref(), Some("A CPU @ 2 GHz"));
        assert_eq!(of("{\"results\": []}"), Origin::default());
    }
}
