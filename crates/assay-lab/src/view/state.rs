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
    let advance = match row.kind {
        Kept::Campaign => ledger.advance_of_campaign(row.id)?,
        Kept::Comparison => ledger.advance_of_comparison(row.id)?,
        Kept::Sweep => {
            let mut all = Advance::default();
            for step in ledger.sweep_steps(row.id)? {
                let one = ledger.advance_of_campaign(step.campaign)?;
                all.rounds += one.rounds;
                all.samples += one.samples;
                all.seconds += one.seconds;
                all.last_at = one.last_at.or(all.last_at);
            }
            all
        }
        Kept::Diary => match ledger.sessions(&row.name)?.last() {
            Some(session) => ledger.advance_of_comparison(session.comparison)?,
            None => Advance::default(),
        },
    };
    Ok(told(row.stopped, &advance, now))
}

fn told(stopped: Option<Stopped>, advance: &Advance, now: f64) -> State {
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
            let last = age.map_or("nothing is measured yet".to_owned(), |age| {
                format!("the last round ended {} ago", words::duration(age))
            });
            format!("Under way, or killed: {done}{decided}; {last}.")
        }
    };
    let changed = format!("{} {}", advance.samples, stopped.map_or("", Stopped::word));
    State { over: stopped.is_some(), text, changed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_under_way_says_how_far_it_has_come() {
        let advance =
            Advance { rounds: 3, samples: 1200, seconds: 2.5, last_at: Some(100.0), decided: Some((1, 4)) };
        let found = told(None, &advance, 103.0);
        assert_eq!(
            found.text,
            "Under way, or killed: 3 rounds and 1,200 samples, 2.5 s of measuring; 1 of 4 contrasts decided at the last \
             look; the last round ended 3.0 s ago."
        );
        assert!(!found.over);
        let ended = told(Some(Stopped::Decided), &advance, 103.0);
        assert!(ended.over && ended.text.starts_with("Ended (decided) after 3 rounds"), "{}", ended.text);
        assert_ne!(found.changed, ended.changed);
    }
}
