//! A command that is stopped and continued by turns: what runs for a fixed time does less meanwhile, what does a fixed amount of
//! work takes longer.

use std::time::{Duration, Instant};

/// When a process group is stopped, and for how long it was.
pub(super) struct Pauses {
    turn: Option<Duration>,
    since: Instant,
    stopped: bool,
    /// All of it so far.
    pub(super) total: Duration,
}

impl Pauses {
    /// Turns of this length, running first; none: never stopped.
    pub(super) fn new(turn: Option<Duration>) -> Pauses {
        Pauses { turn, since: Instant::now(), stopped: false, total: Duration::ZERO }
    }

    /// How long the group may be left alone, at most `most`.
    pub(super) fn left(&self, most: Duration) -> Duration {
        self.turn.map_or(most, |turn| turn.saturating_sub(self.since.elapsed()).min(most))
    }

    /// Stops or continues the group where its turn is over.
    pub(super) fn turn(&mut self, pid: u32) {
        if self.turn.is_some_and(|turn| self.since.elapsed() >= turn) {
            self.set(pid, !self.stopped);
        }
    }

    /// Continues the group, for good.
    pub(super) fn end(&mut self, pid: u32) {
        if self.turn.take().is_some() && self.stopped {
            self.set(pid, false);
        }
    }

    fn set(&mut self, pid: u32, stop: bool) {
        let signal = if stop { libc::SIGSTOP } else { libc::SIGCONT };
        // SAFETY: plain numbers; the group is the child's own, which was not waited for yet.
        unsafe { libc::kill(-(pid as i32), signal) };
        if self.stopped {
            self.total += self.since.elapsed();
        }
        self.since = Instant::now();
        self.stopped = stop;
    }
}
