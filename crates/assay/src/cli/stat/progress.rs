//! A sign of life on a terminal while a command is traced, which takes longer than the command alone.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time between two lines; a command that takes less shows none.
const TICK: Duration = Duration::from_secs(1);

/// Branches that have passed.
#[derive(Debug, Default)]
pub struct Ticker {
    branches: AtomicU64,
    ended: AtomicBool,
}

impl Ticker {
    /// One that nobody shows.
    #[cfg(test)]
    pub fn quiet() -> Ticker {
        Ticker::default()
    }

    /// So many more.
    pub fn add(&self, branches: u64) {
        self.branches.fetch_add(branches, Ordering::Relaxed);
    }

    /// All so far.
    pub fn branches(&self) -> u64 {
        self.branches.load(Ordering::Relaxed)
    }
}

/// Shows a ticker until it is dropped.
#[derive(Debug)]
pub struct StatProgress {
    ticker: Arc<Ticker>,
    thread: Option<JoinHandle<()>>,
}

impl StatProgress {
    /// Shown on standard error if `show`.
    pub fn new(show: bool) -> StatProgress {
        let ticker = Arc::new(Ticker::default());
        let shown = Arc::clone(&ticker);
        let thread = show.then(|| std::thread::spawn(move || tick(&shown)));
        StatProgress { ticker, thread }
    }

    /// What it shows.
    pub fn ticker(&self) -> &Arc<Ticker> {
        &self.ticker
    }
}

impl Drop for StatProgress {
    fn drop(&mut self) {
        self.ticker.ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A thread that panicked has shown less than it could; nothing depends on it.
            let _ = thread.join();
        }
    }
}

fn tick(ticker: &Ticker) {
    let started = Instant::now();
    let (mut last, mut before, mut shown) = (started, 0, false);
    while !ticker.ended.load(Ordering::Relaxed) {
        std::thread::park_timeout(TICK);
        let now = Instant::now();
        if now - last < TICK || ticker.ended.load(Ordering::Relaxed) {
            continue;
        }
        let branches = ticker.branches();
        let text = line(
            (now - started).as_secs(),
            branches,
            (branches - before) as f64 / (now - last).as_secs_f64(),
        );
        let _ = write!(std::io::stderr(), "\r{text}\x1b[K");
        (last, before, shown) = (now, branches, true);
    }
    if shown {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
}

/// "assay: tracing, 12 s, 1234 M branches, 103.4 M per second"; without branches where only blocks are counted.
fn line(seconds: u64, branches: u64, per_second: f64) -> String {
    let mut text = format!("assay: tracing, {seconds} s");
    if branches > 0 {
        let millions = branches / 1_000_000;
        text.push_str(&format!(", {millions} M branches, {:.1} M per second", per_second / 1e6));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_branches_per_second_where_they_pass() {
        assert_eq!(line(12, 0, 0.0), "assay: tracing, 12 s");
        assert_eq!(
            line(12, 1_234_567_890, 103.44e6),
            "assay: tracing, 12 s, 1234 M branches, 103.4 M per second"
        );
    }

    #[test]
    fn a_hidden_progress_still_counts_and_ends_at_once() {
        let progress = StatProgress::new(false);
        progress.ticker().add(5);
        progress.ticker().add(6);
        assert_eq!(progress.ticker().branches(), 11);
    }
}
