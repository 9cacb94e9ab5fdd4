//! Where a campaign stands, in words, as a function of the events so far and the time given.
//!
//! Remaining time is told in two ways, by what is known: measuring has a budget, so "at most"; building goes by the
//! links done so far, so "about", and only from the second link on. Cached links say nothing about the pace of others.

use std::time::Duration;

use assay_pure::event::Event;
use assay_pure::words;

/// Links really made before their pace is believed.
const LINKS_FOR_PACE: u64 = 2;

/// What was heard so far.
#[derive(Debug, Default)]
pub(super) struct Tracker {
    phase: String,
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
        match event {
            Event::Phase { name } => {
                let look = self.look;
                *self = Self { phase: name.clone(), phase_began: now, look, ..Self::default() };
            }
            Event::InputReady { done, total } => self.count(*done, *total, "input"),
            Event::Linked { done, total, cached } => {
                self.count(*done, *total, "link");
                self.cached = *cached;
            }
            Event::Proved { done, total } => self.count(*done, *total, "answer"),
            Event::Counted { done, total } => self.count(*done, *total, "cell"),
            Event::Round { round, visits_done, visits_total, measured_seconds, budget_seconds } => {
                self.count(*visits_done, *visits_total, "visit");
                self.measuring = Some(Measuring {
                    round: *round,
                    measured_seconds: *measured_seconds,
                    budget_seconds: *budget_seconds,
                });
            }
            Event::Look { decided, contrasts, .. } => self.look = Some((*decided, *contrasts)),
            Event::Step { .. } | Event::Warning(_) | Event::Failed { .. } | Event::Finished => {}
        }
    }

    /// The phase's name.
    pub(super) fn phase(&self) -> &str {
        &self.phase
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
            }
            None => {}
        }
        parts.join(", ")
    }

    fn count(&mut self, done: u64, total: u64, noun: &'static str) {
        (self.done, self.total, self.noun) = (done, total, noun);
    }

    /// Seconds that the rest of the links takes at the pace so far.
    fn left_at_pace(&self, now: Duration) -> Option<f64> {
        let made = self.done.saturating_sub(self.cached);
        if !["link", "cell"].contains(&self.noun) || made < LINKS_FOR_PACE || self.done >= self.total {
            return None;
        }
        let pace = now.saturating_sub(self.phase_began).as_secs_f64() / made as f64;
        Some(pace * (self.total - self.done) as f64)
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
}
