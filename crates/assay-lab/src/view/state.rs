//! How something stands that may still be measured, in a sentence.

use crate::store::{Advance, Kept, KeptRow, Ledger};
use anyhow::Result;
use assay_pure::ledger::Stopped;
use assay_pure::words;
use serde::Serialize;

/// A thing's state, small enough to be asked for every two seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct State {
    /// It came to an end.
    pub over: bool,
    /// The whole in a sentence.
    pub text: String,
    /// Changes whenever there is more to see.
    pub changed: String,
}

/// How a thing stands, now being Unix seconds.
///
/// # Errors
/// The ledger cannot be read.
pub fn state(ledger: &Ledger, row: &KeptRow, now: f64) -> Result<State> {
    let parts = parts(ledger, row)?;
    // A diary's sentence is of its last session, a sweep's of all its steps.
    let shown = if row.kind == Kept::Diary { parts.last().cloned() } else { Some(together(&parts)) };
    Ok(told(row.stopped, &shown.unwrap_or_default(), &parts, now))
}

/// Whether one of these is being measured, as far as the ledger tells: it has not ended, and began or had a round lately.
///
/// # Errors
/// The ledger cannot be read.
pub fn is_measured(ledger: &Ledger, rows: &[KeptRow], now: f64) -> Result<bool> {
    /// Longer than most rounds and builds, seconds.
    const LATELY: f64 = 120.0;
    for row in rows.iter().filter(|row| row.stopped.is_none()) {
        let rounds = parts(ledger, row)?.into_iter().filter_map(|one| one.last_at);
        if now - rounds.fold(row.started_at, f64::max) < LATELY {
            return Ok(true);
        }
    }
    Ok(false)
}

fn parts(ledger: &Ledger, row: &KeptRow) -> Result<Vec<Advance>> {
    Ok(match row.kind {
        Kept::Campaign => vec![ledger.advance_of_campaign(row.id)?],
        Kept::Comparison => vec![ledger.advance_of_comparison(row.id)?],
        Kept::Sweep => {
            let steps = ledger.sweep_steps(row.id)?;
            steps.iter().map(|step| ledger.advance_of_campaign(step.campaign)).collect::<Result<_>>()?
        }
        Kept::Diary => {
            let sessions = ledger.sessions(&row.name)?;
            sessions.iter().map(|one| ledger.advance_of_comparison(one.comparison)).collect::<Result<_>>()?
        }
    })
}

fn together(parts: &[Advance]) -> Advance {
    let [only] = parts else {
        return Advance {
            rounds: parts.iter().map(|one| one.rounds).sum(),
            samples: parts.iter().map(|one| one.samples).sum(),
            seconds: parts.iter().map(|one| one.seconds).sum(),
            last_at: parts.iter().filter_map(|one| one.last_at).reduce(f64::max),
            decided: None,
        };
    };
    *only
}

fn told(stopped: Option<Stopped>, advance: &Advance, parts: &[Advance], now: f64) -> State {
    let done = format!(
        "{} and {}, {} of measuring",
        words::plural(advance.rounds, "round"),
        words::plural(advance.samples, "sample"),
        words::duration(advance.seconds)
    );
    let decided = advance.decided.map(|(decided, all)| {
        format!("; {decided} of {} decided at the last look", words::plural(all, "contrast"))
    });
    let decided = decided.unwrap_or_default();
    let text = match stopped {
        Some(Stopped::Interrupted) => format!("Interrupted after {done}{decided}. --resume continues."),
        Some(because) => format!("Ended ({}) after {done}{decided}.", because.word()),
        None => {
            let age = advance.last_at.map(|at| (now - at).max(0.0));
            let last = age.map_or(
                "nothing is measured yet (a run builds first, and waits while another measures on its core)"
                    .to_owned(),
                |age| format!("the last round ended {} ago", words::duration(age)),
            );
            format!("Under way, or killed: {done}{decided}; {last}.")
        }
    };
    // Of every part: a new session may have as many samples as the one before.
    let each = parts.iter().map(|one| format!("{}.{}.{:?}", one.rounds, one.samples, one.last_at));
    let changed = format!("{} {}", each.collect::<Vec<_>>().join(","), stopped.map_or("", Stopped::word));
    State { over: stopped.is_some(), text, changed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_under_way_says_how_far_it_has_come() {
        let advance =
            Advance { rounds: 3, samples: 1200, seconds: 2.5, last_at: Some(100.0), decided: Some((1, 4)) };
        let parts = [advance];
        let found = told(None, &advance, &parts, 103.0);
        assert_eq!(
            found.text,
            "Under way, or killed: 3 rounds and 1,200 samples, 2.5 s of measuring; 1 of 4 contrasts decided at the last \
             look; the last round ended 3.0 s ago."
        );
        assert!(!found.over);
        let ended = told(Some(Stopped::Decided), &advance, &parts, 103.0);
        assert!(ended.over && ended.text.starts_with("Ended (decided) after 3 rounds"), "{}", ended.text);
        assert_ne!(found.changed, ended.changed);
        let twice = told(None, &advance, &[advance, advance], 103.0);
        assert_ne!(found.changed, twice.changed, "a session more, with as many samples");
    }
}
