//! How something stands that may still be measured, in a sentence.

use crate::lead::{hold, turn};
use crate::store::{Advance, Kept, KeptRow, Led, Ledger};
use anyhow::Result;
use assay_pure::ledger::Stopped;
use assay_pure::words;
use serde::Serialize;
use serde_json::Value;

/// A thing's state, small enough to be asked for every two seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasurementState {
    /// It came to an end.
    pub over: bool,
    /// The whole in a sentence.
    pub text: String,
    /// What it does now, in a few words; none where it is over, or nobody seems to work on it.
    pub now: Option<String>,
    /// Changes whenever there is more to see.
    pub changed: String,
}

/// How a thing stands, now being Unix seconds.
///
/// # Errors
/// The ledger cannot be read.
pub fn state(ledger: &Ledger, row: &KeptRow, now: f64) -> Result<MeasurementState> {
    let parts = parts(ledger, row)?;
    // A diary's sentence is of its last session, a sweep's of all its steps.
    let shown = if row.kind == Kept::Diary { parts.last().copied() } else { Some(together(&parts)) };
    let shown = shown.unwrap_or_default();
    let doing = if row.stopped.is_none() { doing(ledger, row, &shown)? } else { None };
    Ok(told(row.stopped, &shown, &parts, doing, now))
}

/// What whoever works on a thing does now.
fn doing(ledger: &Ledger, row: &KeptRow, advance: &Advance) -> Result<Option<String>> {
    let plan = plan(ledger, row)?;
    let Some(worker) = plan.held.iter().find_map(|what| hold::holder(ledger.path(), what)) else {
        return Ok(None);
    };
    let measuring = plan.cpu.and_then(|cpu| Some((cpu, turn::holder(cpu)?)));
    Ok(Some(match measuring {
        Some((cpu, other)) if other != worker => {
            format!("waiting: {} measures on processor {cpu}", turn::named(other))
        }
        _ => step(advance, plan.budget),
    }))
}

/// "measuring round 3 of at most 8, up to 40 s left"; `budget` is of measuring, seconds.
fn step(advance: &Advance, budget: Option<f64>) -> String {
    if advance.rounds == 0 {
        return "preparing: nothing is measured yet".into();
    }
    let round = advance.rounds + 1;
    let Some(left) = budget.map(|budget| budget - advance.seconds) else {
        return format!("measuring round {}", words::count(round));
    };
    let pace = advance.seconds / advance.rounds as f64;
    // At the pace so far; one that is decided ends earlier.
    let most = if pace > 0.0 { advance.rounds + (left / pace).max(0.0) as u64 } else { round };
    if most < round {
        return format!("the last of {} is done; judging", words::plural(advance.rounds, "round"));
    }
    format!(
        "measuring round {} of at most {}, up to {} left",
        words::count(round),
        words::count(most),
        words::duration(left)
    )
}

/// What is known of how a thing is measured.
#[derive(Default)]
struct Plan {
    /// Names of the locks that whoever works on it has.
    held: Vec<String>,
    /// The processor that measures.
    cpu: Option<usize>,
    /// Seconds of measuring.
    budget: Option<f64>,
}

fn plan(ledger: &Ledger, row: &KeptRow) -> Result<Plan> {
    let lock = |led: Led, id: i64| format!("{}-{id}", led.word());
    let budget = |asked: &Value| asked["budget_seconds"].as_f64();
    let cpu_of =
        |campaign: i64| Ok::<_, anyhow::Error>(ledger.campaign(campaign)?.and_then(|row| row.pinned_cpu));
    Ok(match row.kind {
        Kept::Campaign => {
            let found = ledger.campaign(row.id)?;
            let budget = found.as_ref().and_then(|found| budget(&found.spec));
            Plan {
                held: vec![lock(Led::Campaign, row.id)],
                cpu: found.and_then(|found| found.pinned_cpu),
                budget,
            }
        }
        Kept::Comparison => {
            let found = ledger.comparison(Some(row.id))?;
            let budget = found.as_ref().and_then(|found| budget(&found.asked));
            Plan {
                held: vec![lock(Led::Comparison, row.id)],
                cpu: found.and_then(|found| found.pinned_cpu),
                budget,
            }
        }
        Kept::Sweep => {
            let steps = ledger.sweep_steps(row.id)?;
            let cpu = steps.last().map(|step| cpu_of(step.campaign)).transpose()?.flatten();
            let budget = ledger.sweep(Some(row.id))?.and_then(|found| budget(&found.asked));
            Plan { held: vec![lock(Led::Sweep, row.id)], cpu, budget }
        }
        Kept::Diary => {
            let Some(session) = ledger.sessions(&row.name)?.pop() else { return Ok(Plan::default()) };
            let held = vec![lock(Led::Session, session.comparison)];
            let cpu = ledger.comparison(Some(session.comparison))?.and_then(|found| found.pinned_cpu);
            Plan { held, cpu, budget: budget(&session.asked) }
        }
    })
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

/// The seconds of measuring that a thing may take, where its ledger says so, and how far it has come; of a diary its last session.
///
/// # Errors
/// The ledger cannot be read.
pub fn budget_and_advance(ledger: &Ledger, row: &KeptRow) -> Result<(Option<f64>, Advance)> {
    let parts = parts(ledger, row)?;
    let advance = if row.kind == Kept::Diary { parts.last().copied() } else { Some(together(&parts)) };
    Ok((plan(ledger, row)?.budget, advance.unwrap_or_default()))
}

/// All samples of a thing, or visits of a comparison.
pub fn samples(ledger: &Ledger, row: &KeptRow) -> Result<u64> {
    Ok(parts(ledger, row)?.iter().map(|part| part.samples).sum())
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

fn told(
    stopped: Option<Stopped>,
    advance: &Advance,
    parts: &[Advance],
    doing: Option<String>,
    now: f64,
) -> MeasurementState {
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
            match &doing {
                Some(doing) => format!("Under way, {doing}. So far {done}{decided}."),
                None => format!("Under way, or killed: {done}{decided}; {last}."),
            }
        }
    };
    // Of every part: a new session may have as many samples as the one before.
    let each = parts.iter().map(|one| format!("{}.{}.{:?}", one.rounds, one.samples, one.last_at));
    let changed = format!("{} {}", each.collect::<Vec<_>>().join(","), stopped.map_or("", Stopped::word));
    MeasurementState { over: stopped.is_some(), text, now: doing, changed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_under_way_says_how_far_it_has_come() {
        let advance =
            Advance { rounds: 3, samples: 1200, seconds: 2.5, last_at: Some(100.0), decided: Some((1, 4)) };
        let parts = [advance];
        let found = told(None, &advance, &parts, None, 103.0);
        assert_eq!(
            found.text,
            "Under way, or killed: 3 rounds and 1,200 samples, 2.5 s of measuring; 1 of 4 contrasts decided at the last \
             look; the last round ended 3.0 s ago."
        );
        assert!(!found.over);
        let ended = told(Some(Stopped::Decided), &advance, &parts, None, 103.0);
        assert!(ended.over && ended.text.starts_with("Ended (decided) after 3 rounds"), "{}", ended.text);
        assert_ne!(found.changed, ended.changed);
        let twice = told(None, &advance, &[advance, advance], None, 103.0);
        assert_ne!(found.changed, twice.changed, "a session more, with as many samples");
    }
    #[test]
    fn what_is_measured_now_is_told_with_what_is_left_at_the_pace_so_far() {
        let advance = Advance { rounds: 2, seconds: 10.0, ..Advance::default() };
        assert_eq!(step(&advance, Some(42.0)), "measuring round 3 of at most 8, up to 32 s left");
        assert_eq!(step(&advance, None), "measuring round 3");
        assert_eq!(step(&advance, Some(12.0)), "the last of 2 rounds is done; judging");
        assert_eq!(step(&Advance::default(), Some(42.0)), "preparing: nothing is measured yet");
        let found = told(None, &advance, &[advance], Some(step(&advance, Some(42.0))), 103.0);
        assert!(
            found
                .text
                .starts_with("Under way, measuring round 3 of at most 8, up to 32 s left. So far 2 rounds"),
            "{}",
            found.text
        );
        assert_eq!(found.now, Some(step(&advance, Some(42.0))));
    }
}
