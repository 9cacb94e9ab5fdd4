//! Shows events while they happen, on stderr: a bar on a terminal, plain lines elsewhere, nothing when quiet.
//!
//! While something may be timed there is no ticking thread: it would wake up in the middle of samples. The bar moves when an
//! event comes; one who waits tells so every second. A build ticks, so that one sees that it lives.

mod tracker;

use super::prose;
use std::collections::BTreeSet;
use std::io::Write;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use self::tracker::Tracker;
use assay_pure::event::Event;
use assay_pure::words;

/// Redraws of the bar per second at most; each costs the machine that is being measured.
const REDRAWS_PER_SECOND: u8 = 4;
/// Between two redraws while nothing happens.
const TICK: Duration = Duration::from_secs(1);
/// Between two plain lines at least, that tell how far something is.
const LINE_INTERVAL: Duration = Duration::from_secs(5);
/// The same of lines that tell what begins.
const BEGIN_INTERVAL: Duration = Duration::from_secs(1);
/// The same of lines that tell what is waited for.
const WAIT_INTERVAL: Duration = Duration::from_secs(30);
/// A shorter wait is not worth a line.
const WORTH_A_LINE: f64 = 1.0;

/// How events are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// A bar that is redrawn.
    Bar,
    /// A line now and then.
    Lines,
    /// Nothing; the report tells warnings and failures anyway.
    Quiet,
}

impl Show {
    /// What fits: nothing if `quiet`, a bar if stderr is a terminal, else lines.
    pub fn choose(quiet: bool, stderr_is_terminal: bool) -> Self {
        match (quiet, stderr_is_terminal) {
            (true, _) => Self::Quiet,
            (false, true) => Self::Bar,
            (false, false) => Self::Lines,
        }
    }
}

/// A consumer of events.
pub struct Progress {
    started: Instant,
    tracker: Tracker,
    view: View,
    /// Reasons of failures that were told: thirty stages that lack one tool fail for one reason.
    reasons: BTreeSet<String>,
}

enum View {
    Bar(Bar),
    Lines(Lines),
    Quiet,
}

/// A bar, and whether its wait was told above it: a narrow terminal cuts off who is waited for.
struct Bar {
    bar: ProgressBar,
    told: bool,
}

impl Bar {
    /// Who is waited for, once for each wait.
    fn waiting(&mut self, event: &Event, tracker: &Tracker, now: Duration) -> Option<String> {
        match event {
            Event::Waiting { seconds, .. } if *seconds >= WORTH_A_LINE => {
                let told = std::mem::replace(&mut self.told, true);
                (!told).then(|| format!("{}: {}", tracker.phase(), tracker.message(now)))
            }
            Event::WaitOver => {
                self.told = false;
                None
            }
            _ => None,
        }
    }
}

/// Plain lines, and when the last ones came.
struct Lines {
    out: Box<dyn Write + Send>,
    last: Option<Duration>,
    waited: Option<Duration>,
}

impl Lines {
    fn new(out: Box<dyn Write + Send>) -> Self {
        Self { out, last: None, waited: None }
    }

    /// Whether an event is worth a line now, by its kind and by when the last line came.
    fn is_due(&mut self, event: &Event, now: Duration) -> bool {
        let since = |last: Option<Duration>, interval| last.is_none_or(|last| now >= last + interval);
        let due = match event {
            Event::Finished | Event::WaitOver => false,
            Event::Waiting { seconds, .. } => *seconds >= WORTH_A_LINE && since(self.waited, WAIT_INTERVAL),
            Event::Phase { .. } | Event::Doing { .. } => since(self.last, BEGIN_INTERVAL),
            _ => since(self.last, LINE_INTERVAL),
        };
        if due {
            self.last = Some(now);
            self.waited = if matches!(event, Event::Waiting { .. }) { Some(now) } else { self.waited };
        }
        due
    }
}

impl Progress {
    /// A consumer that writes to stderr.
    pub fn new(show: Show) -> Self {
        let view = match show {
            Show::Bar => View::Bar(Bar { bar: new_bar(), told: false }),
            Show::Lines => View::Lines(Lines::new(Box::new(std::io::stderr()))),
            Show::Quiet => View::Quiet,
        };
        Self { started: Instant::now(), tracker: Tracker::default(), view, reasons: BTreeSet::new() }
    }

    /// Takes note of an event and shows it if it is time to. A stderr that can't be written to is no reason to stop.
    pub fn event(&mut self, event: &Event) {
        self.event_at(event, self.started.elapsed());
    }

    /// [`Progress::event`] with the time since the start given, so that the pace of lines is tested without a clock.
    fn event_at(&mut self, event: &Event, now: Duration) {
        self.tracker.observe(event, now);
        let again = match event {
            Event::Failed { reason, .. } => !self.reasons.insert(reason.clone()),
            _ => false,
        };
        let urgent = urgent(event, again);
        match &mut self.view {
            View::Quiet => {}
            View::Bar(bar) => redraw(bar, &self.tracker, event, urgent, now),
            View::Lines(lines) => {
                let line = match urgent {
                    Some(line) => line,
                    None if lines.is_due(event, now) => {
                        format!("{}: {}", self.tracker.phase(), self.tracker.message(now))
                    }
                    None => return,
                };
                let _ = writeln!(lines.out, "{}", prose::clean(&line).trim_end_matches(": "));
            }
        }
    }
}

/// What is told at once, whatever the pace; `again`: a failure for a reason that was told.
fn urgent(event: &Event, again: bool) -> Option<String> {
    match event {
        Event::Warning(text) => Some(format!("warning: {text}")),
        Event::Failed { what, .. } if again => Some(format!("failed: {what}, for the same reason")),
        Event::Failed { what, reason } => Some(format!("failed: {what}: {reason}")),
        Event::Step { step, points, again, points_left, seconds_left } => Some(format!(
            "step {}: {}{}, at most {points_left} more after it; at most {} of measuring left",
            step + 1,
            words::plural(*points, "point"),
            if *again { " measured again" } else { "" },
            words::duration(*seconds_left)
        )),
        _ => None,
    }
}

fn new_bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr_with_hz(REDRAWS_PER_SECOND));
    let style = ProgressStyle::with_template("{prefix:<9} [{bar:18}] {wide_msg} {so_far:>7}")
        .expect("the template is valid");
    let so_far = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        let seconds = state.elapsed().as_secs();
        let _ = match seconds {
            0..10 => write!(out, "{seconds} s"),
            _ => out.write_str(&words::duration(seconds as f64)),
        };
    };
    bar.set_style(style.progress_chars("=> ").with_key("so_far", so_far));
    bar
}

fn redraw(drawn: &mut Bar, tracker: &Tracker, event: &Event, urgent: Option<String>, now: Duration) {
    let line = urgent.or_else(|| drawn.waiting(event, tracker, now));
    let bar = &drawn.bar;
    if *event == Event::Finished {
        bar.finish_and_clear();
        return;
    }
    if let Some(line) = line {
        bar.suspend(|| {
            let _ = writeln!(std::io::stderr(), "{}", prose::clean(&line));
        });
    }
    if let Event::Phase { .. } = event {
        if tracker.may_tick() {
            bar.enable_steady_tick(TICK);
        } else {
            bar.disable_steady_tick();
        }
    }
    let (done, total) = tracker.extent();
    // Both at once, and never of nothing: a bar of length 0 would be drawn full.
    bar.update(|state| {
        state.set_len(total.max(1));
        state.set_pos(done);
    });
    bar.set_prefix(prose::on_one_line(&prose::clean(tracker.phase())));
    bar.set_message(prose::on_one_line(&prose::clean(&tracker.message(now))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("no writer panics").extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn lines(events: &[(u64, Event)]) -> String {
        let written = Written::default();
        let view = View::Lines(Lines::new(Box::new(written.clone())));
        let mut progress =
            Progress { started: Instant::now(), tracker: Tracker::default(), view, reasons: BTreeSet::new() };
        for (seconds, event) in events {
            progress.event_at(event, Duration::from_secs(*seconds));
        }
        let bytes = written.0.lock().expect("no writer panics").clone();
        String::from_utf8(bytes).expect("lines are text")
    }

    #[test]
    fn who_is_waited_for_is_told_in_full_once_for_each_wait() {
        let wait = |seconds| Event::Waiting {
            wait: assay_pure::event::Wait::Turn {
                cpu: 1,
                holder: Some("process 7, assay run other.toml".into()),
            },
            seconds,
        };
        let (mut bar, mut tracker) = (Bar { bar: ProgressBar::hidden(), told: false }, Tracker::default());
        let mut line = |event: &Event| {
            tracker.observe(event, Duration::ZERO);
            bar.waiting(event, &tracker, Duration::ZERO)
        };
        assert_eq!(line(&wait(0.2)), None);
        let told = line(&wait(1.0)).expect("worth a line");
        assert!(told.ends_with("another assay measures, process 7, assay run other.toml"), "{told}");
        assert_eq!(line(&wait(2.0)), None);
        assert_eq!(line(&Event::WaitOver), None);
        assert!(line(&wait(3.0)).is_some());
    }

    #[test]
    fn plain_lines_come_at_most_every_five_seconds() {
        let linked = |done| Event::Linked { done, total: 36, cached: 0 };
        let mut events = vec![(0, Event::Phase { name: "build".to_owned() })];
        events.extend((1..=12).map(|done| (done, linked(done))));
        assert_eq!(
            lines(&events),
            "build\nbuild: 5 of 36 links, about 31 s left\nbuild: 10 of 36 links, about 26 s left\n"
        );
    }

    #[test]
    fn a_reason_that_was_told_is_not_told_again() {
        let failed =
            |what: &str, reason: &str| (0, Event::Failed { what: what.into(), reason: reason.into() });
        let told = lines(&[failed("a", "no zig"), failed("b", "no zig"), failed("c", "no make")]);
        assert_eq!(told, "failed: a: no zig\nfailed: b, for the same reason\nfailed: c: no make\n");
    }

    #[test]
    fn warnings_and_failures_are_told_at_once() {
        let events = [
            (0, Event::Phase { name: "build".to_owned() }),
            (1, Event::Warning("the governor is not performance".to_owned())),
            (
                1,
                Event::Failed {
                    what: "clang-16 \u{1b}[31mO2".to_owned(),
                    reason: "exit status\u{7} 1".to_owned(),
                },
            ),
            (2, Event::Finished),
        ];
        let expected = "build\nwarning: the governor is not performance\nfailed: clang-16 \u{fffd}[31mO2: exit status\u{fffd} 1\n";
        assert_eq!(lines(&events), expected);
    }

    #[test]
    fn quiet_wins_over_a_terminal() {
        assert_eq!(Show::choose(true, true), Show::Quiet);
        assert_eq!(Show::choose(false, true), Show::Bar);
        assert_eq!(Show::choose(false, false), Show::Lines);
    }

    #[test]
    fn a_wait_is_told_when_it_lasts_and_then_twice_a_minute() {
        let wait = |seconds: u64| {
            let wait = assay_pure::event::Wait::Turn { cpu: 1, holder: None };
            (seconds + 1, Event::Waiting { wait, seconds: seconds as f64 })
        };
        let mut events = vec![(0, Event::Phase { name: "measure".to_owned() })];
        events.extend((0..40).map(wait));
        events.push((41, Event::WaitOver));
        assert_eq!(
            lines(&events),
            "measure\nmeasure: waits for core 1 (1.0 s): another assay measures\nmeasure: waits for core 1 (31 s): another \
             assay measures\n"
        );
    }

    #[test]
    fn what_begins_is_told_sooner_than_how_far_it_is() {
        let doing = |what: &str| Event::Doing { what: what.to_owned() };
        let events = [
            (0, Event::Phase { name: "examine".to_owned() }),
            (2, doing("tracing")),
            (3, Event::Counted { done: 1, total: 2 }),
            (4, doing("simulating")),
        ];
        assert_eq!(lines(&events), "examine\nexamine: tracing\nexamine: 1 of 2 cells, simulating\n");
    }
}
