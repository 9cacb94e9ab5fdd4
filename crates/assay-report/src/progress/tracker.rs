//! Where a campaign stands, in words, as a function of the events so far and the time given.
//!
//! Remaining time is told in two ways, by what is known: measuring has a budget, so "at most"; building goes by the
//! links done so far, so "about", and only from the second link on. Cached links say nothing about the pace of others.

use std::time::Duration;

use assay_pure::event::{Event, Wait};
use assay_pure::words;

/// Phases in which nothing is timed, so that a line that ticks disturbs nobody.
const UNTIMED: [&str; 5] = ["inputs", "build", "link", "answers", "verdicts"];
/// Links really made before their pace is believed.
const LINKS_FOR_PACE: u64 = 2;

/// What was heard so far.
#[derive(Debug, Default)]
pub(super) struct Tracker {
    phase: String,
    doing: String,
    waiting: Option<(Wait, f64)>,
    phase_began: Duration,
    done: u64,
    total: u64,
    noun: &'static str,
    cached: u64,
    measuring: Option<Measuring>,
    look: Option<(u64, u64)>,
}

#[derive(Debug)]
struct Measuring {
    round: u32,
    measured_seconds: f64,
    budget_seconds: f64,
}

impl Tracker {
    /// Takes note of an event that came `now` after the start.
    pub(super) fn observe(&mut self, event: &Event, now: Duration) {
        let is_told = matches!(event, Event::Warning(_) | Event::Failed { .. });
        self.waiting = self.waiting.take().filter(|_| is_told);
        match event {
            Event::Phase { name } => {
                // "build queue: cc -c queue.c" is a phase and what it does now.
                let at = name.find([' ', ':']).filter(|_| name.starts_with("build")).unwrap_or(name.len());
                let (phase, doing) = name.split_at(at);
                let (phase, doing) = (phase.to_owned(), doing.trim_start_matches([':', ' ']).to_owned());
                let look = self.look;
                *self = Self { phase, doing, phase_began: now, look, ..Self::default() };
            }
            Event::Doing { what } => self.doing.clone_from(what),
            Event::Waiting { wait, seconds } => self.waiting = Some((wait.clone(), *seconds)),
            Event::InputReady { done, total } => self.count(*done, *total, "input"),
            Event::Linked { done, total, cached } => {
                self.count(*done, *total, "link");
                self.cached = *cached;
            }
            Event::Proved { done, total } => self.count(*done, *total, "answer"),
            Event::Counted { done, total } => self.count(*done, *total, "cell"),
            Event::Judged { done, total } => self.count(*done, *total, "measurement"),
            Event::Round { round, visits_done, visits_total, measured_seconds, budget_seconds } => {
                self.count(*visits_done, *visits_total, "visit");
                self.measuring = Some(Measuring {
                    round: *round,
                    measured_seconds: *measured_seconds,
                    budget_seconds: *budget_seconds,
                });
            }
            Event::Look { decided, contrasts, .. } => self.look = Some((*decided, *contrasts)),
            Event::WaitOver
            | Event::Step { .. }
            | Event::Warning(_)
            | Event::Failed { .. }
            | Event::Finished => {}
        }
    }

    /// The phase's name.
    pub(super) fn phase(&self) -> &str {
        &self.phase
    }

    /// Whether a line may tick meanwhile: nothing is timed.
    pub(super) fn may_tick(&self) -> bool {
        UNTIMED.contains(&self.phase.as_str())
    }

    /// How much of how much, for the bar: of the budget while measuring (milliseconds), else of the things counted.
    pub(super) fn extent(&self) -> (u64, u64) {
        let milliseconds = |seconds: f64| (seconds.max(0.0) * 1000.0) as u64;
        match &self.measuring {
            Some(m) => {
                (milliseconds(m.measured_seconds.min(m.budget_seconds)), milliseconds(m.budget_seconds))
            }
            None => (self.done, self.total),
        }
    }

    /// One line, `now` after the start; empty while nothing is known.
    pub(super) fn message(&self, now: Duration) -> String {
        if let Some((wait, seconds)) = &self.waiting {
            return waits(wait, *seconds);
        }
        let mut parts = Vec::new();
        match &self.measuring {
            // What matters most first: a narrow terminal cuts the end off.
            Some(measuring) => {
                let left = (measuring.budget_seconds - measuring.measured_seconds).max(0.0);
                parts.push(format!("at most {} left", words::duration(left)));
                if let Some((decided, contrasts)) = self.look {
                    parts.push(format!("{decided} of {contrasts} decided"));
                }
                let round = u64::from(measuring.round) + 1;
                parts.push(format!(
                    "round {round} ({} of {})",
                    self.done,
                    words::plural(self.total, self.noun)
                ));
            }
            None if self.total > 0 => {
                parts.push(format!("{} of {}", self.done, words::plural(self.total, self.noun)));
                if self.cached > 0 {
                    parts.push(format!("{} cached", self.cached));
                }
                parts.extend(
                    self.left_at_pace(now).map(|left| format!("about {} left", words::duration(left))),
                );
                parts.extend((!self.doing.is_empty()).then(|| self.doing.clone()));
            }
            None => return self.doing.clone(),
        }
        parts.join(", ")
    }

    fn count(&mut self, done: u64, total: u64, noun: &'static str) {
        (self.done, self.total, self.noun) = (done, total, noun);
    }

    /// Seconds that the rest of the links takes at the pace so far.
    fn left_at_pace(&self, now: Duration) -> Option<f64> {
        let made = self.done.saturating_sub(self.cached);
        if !["link", "cell", "measurement"].contains(&self.noun)
            || made < LINKS_FOR_PACE
            || self.done >= self.total
        {
            return None;
        }
        let pace = now.saturating_sub(self.phase_began).as_secs_f64() / made as f64;
        Some(pace * (self.total - self.done) as f64)
    }
}

/// What is waited for, the reason first: a narrow terminal cuts the end off.
fn waits(wait: &Wait, seconds: f64) -> String {
    // Less says only that it waits, which is said already.
    let so_far = if seconds < 1.0 { String::new() } else { format!(" ({})", words::duration(seconds)) };
    match wait {
        Wait::Turn { cpu, holder } => {
            let holder = holder.as_ref().map_or(String::new(), |holder| format!(", {holder}"));
            format!("waits for core {cpu}{so_far}: another assay measures{holder}")
        }
        Wait::Core { cpu, visits } => format!(
            "waits for core {cpu}{so_far}: other programs share it, {} to repeat",
            words::plural(*visits, "visit")
        ),
        Wait::Store { holder } => {
            let holder = holder.as_ref().map_or(String::new(), |holder| format!(", {holder}"));
            format!("waits for the store{so_far}: another assay places binaries or puts them back{holder}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(events: &[Event], seconds: u64) -> (String, (u64, u64)) {
        let mut tracker = Tracker::default();
        for event in events {
            tracker.observe(event, Duration::ZERO);
        }
        (tracker.message(Duration::from_secs(seconds)), tracker.extent())
    }

    #[test]
    fn the_pace_of_links_leaves_out_those_in_the_store() {
        let linked = |done, cached| [Event::Linked { done, total: 20, cached }];
        assert_eq!(after(&linked(14, 10), 8).0, "14 of 20 links, 10 cached, about 12 s left");
        assert_eq!(after(&linked(11, 10), 8).0, "11 of 20 links, 10 cached");
        assert_eq!(after(&linked(20, 0), 8).0, "20 of 20 links");
    }

    #[test]
    fn measuring_tells_what_is_decided_and_what_is_left_of_the_budget() {
        let events = [
            Event::Look { rotations: 4, decided: 12, contrasts: 27 },
            Event::Round {
                round: 6,
                visits_done: 30,
                visits_total: 120,
                measured_seconds: 22.5,
                budget_seconds: 60.0,
            },
        ];
        let (message, extent) = after(&events, 100);
        assert_eq!(message, "at most 38 s left, 12 of 27 decided, round 7 (30 of 120 visits)");
        assert_eq!(extent, (22_500, 60_000));
    }

    #[test]
    fn what_was_decided_survives_a_new_phase_and_counts_do_not() {
        let events = [
            Event::Look { rotations: 4, decided: 12, contrasts: 27 },
            Event::Proved { done: 3, total: 9 },
            Event::Phase { name: "measure".to_owned() },
        ];
        assert_eq!(after(&events, 1), (String::new(), (0, 0)));
    }

    #[test]
    fn a_step_that_waits_says_for_what_and_how_long_until_it_goes_on() {
        let wait = |wait, seconds| Event::Waiting { wait, seconds };
        let holder = Some("process 4711, assay run sums.toml".to_owned());
        let mut events = vec![wait(Wait::Turn { cpu: 3, holder }, 65.0), Event::Warning("x".into())];
        assert_eq!(
            after(&events, 1).0,
            "waits for core 3 (1 min 5 s): another assay measures, process 4711, assay run sums.toml"
        );
        events.push(wait(Wait::Core { cpu: 3, visits: 12 }, 3.2));
        assert_eq!(
            after(&events, 1).0,
            "waits for core 3 (3.2 s): other programs share it, 12 visits to repeat"
        );
        events.push(Event::WaitOver);
        assert_eq!(after(&events, 1).0, "");
    }

    #[test]
    fn what_is_done_now_is_told_alone_and_behind_what_is_counted() {
        let mut events = vec![
            Event::Phase { name: "build queue: cc -c queue.c".to_owned() },
            Event::Doing { what: "compiling with gcc-12".to_owned() },
        ];
        let tracker = |events: &[Event]| {
            let mut tracker = Tracker::default();
            events.iter().for_each(|event| tracker.observe(event, Duration::ZERO));
            tracker
        };
        let first = tracker(&events[..1]);
        assert_eq!(
            (first.phase(), first.message(Duration::ZERO).as_str()),
            ("build", "queue: cc -c queue.c")
        );
        assert!(first.may_tick());
        assert_eq!(after(&events, 1).0, "compiling with gcc-12");
        events.push(Event::Counted { done: 3, total: 8 });
        assert_eq!(after(&events, 6).0, "3 of 8 cells, about 10 s left, compiling with gcc-12");
        assert!(!tracker(&[Event::Phase { name: "measure".to_owned() }]).may_tick());
    }
}
