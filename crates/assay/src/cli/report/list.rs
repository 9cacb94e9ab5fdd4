//! `assay report --list`: what the ledger has.

use super::super::{DONE, screen};
use super::ReportArguments;
use anyhow::Result;
use assay_lab::store::{Kept, Ledger};
use assay_lab::view::{self, Judge, ListRequest};
use assay_pure::figures::origin;
use assay_report::{Progress, Show, render_list};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::io::IsTerminal as _;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

/// What a ledger keeps, by its verb or its own name.
pub fn kinds() -> impl TypedValueParser<Value = Kept> {
    let named = |kind: Kept| {
        let help = match kind {
            Kept::Campaign => "Campaigns of experiments",
            Kept::Comparison => "Comparisons of builds or commands",
            Kept::Sweep => "Sweeps",
            Kept::Diary => "Optimisation diaries",
        };
        PossibleValue::new(kind.verb()).alias(kind.name()).help(help)
    };
    PossibleValuesParser::new(Kept::ALL.map(named))
        .map(|word| Kept::of(&word).expect("one of the possible values"))
}

/// From when on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Since {
    /// Seconds before now.
    Ago(f64),
    /// Unix seconds.
    At(f64),
}

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const UNITS: [(&[&str], f64); 4] = [
            (&["min", "mins", "minute", "minutes"], 60.0),
            (&["h", "hour", "hours"], 3600.0),
            (&["d", "day", "days"], 86_400.0),
            (&["w", "week", "weeks"], 604_800.0),
        ];
        if let Some(at) = origin::unix(text) {
            return Ok(Self::At(at));
        }
        let digits = text.trim_end_matches(|c: char| c.is_alphabetic() || c == ' ');
        let unit = text[digits.len()..].trim();
        let unit = UNITS.iter().find(|(names, _)| names.contains(&unit)).map(|(_, seconds)| *seconds);
        match (digits.parse::<f64>(), unit) {
            (Ok(number), Some(unit)) if number >= 0.0 => Ok(Self::Ago(number * unit)),
            _ => Err(format!("`{text}` is not a time: write 30min, 3h, 7d, 2w, or a day such as 2026-11-21")),
        }
    }
}

/// Shows the list, or writes it.
///
/// # Errors
/// No ledger, or no such name in it.
pub fn run(arguments: &ReportArguments) -> Result<u8> {
    let ledger = Ledger::open(arguments.places.find_ledger("assay run")?)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
    let asked = ListRequest {
        names: arguments.what.clone(),
        name: None,
        kinds: arguments.kind.clone(),
        since: arguments.since.map(|since| match since {
            Since::Ago(seconds) => now - seconds,
            Since::At(at) => at,
        }),
        newest: (!arguments.all).then_some(arguments.newest),
    };
    let is_seen = std::io::stderr().is_terminal();
    let mut progress = Progress::new(Show::choose(!is_seen, is_seen));
    let page = view::list(&ledger, &asked, Judge::Missing, now, &mut |event| progress.event(&event))?;
    drop(progress);
    if let Some(file) = &arguments.json {
        screen::write(file, &page.to_json())?;
    }
    if !arguments.json.as_deref().is_some_and(screen::is_stdout) {
        screen::show(&render_list(&page, screen::width(), screen::colour()));
    }
    Ok(DONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_while_ago_or_a_day() {
        let of = |text: &str| text.parse::<Since>();
        assert_eq!(of("3h"), Ok(Since::Ago(10_800.0)));
        for week in ["7 days", "1week", "1 weeks", "1w", "168 hours", "168hour"] {
            assert_eq!(of(week), Ok(Since::Ago(604_800.0)), "{week}");
        }
        assert_eq!(of("60 minutes"), of("1hour"));
        assert_eq!(of("1970-01-02"), Ok(Since::At(86_400.0)));
        for wrong in ["", "3", "3 moons", "yesterday", "-1d"] {
            assert!(of(wrong).is_err_and(|said| said.contains("2026-11-21")), "{wrong}");
        }
    }
}
