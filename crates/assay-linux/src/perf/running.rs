//! Events of a process that goes on already, read before and after what it is asked to do.
//!
//! Known limits: of the threads, the first counts, and those that it starts after the opening.

use super::counter::{Counter, CounterReading, Target};
use super::event::CounterEvent;
use super::refusal::CounterRefusal;
use std::io;

/// Open events of one target, on counters together.
#[derive(Debug)]
pub struct RunningCounters {
    counters: Vec<Counter>,
}

impl RunningCounters {
    /// Opens all of them: the first hardware event leads the others, so that all are on counters at the same time or none
    /// is. Software events need no counter and stand alone.
    ///
    /// # Errors
    /// The first refusal of the kernel.
    pub fn open(events: &[CounterEvent], target: Target) -> Result<RunningCounters, CounterRefusal> {
        let mut counters: Vec<Counter> = Vec::new();
        let mut leader = None;
        for event in events {
            let leading = leader.filter(|_| !event.is_software()).map(|at: usize| &counters[at]);
            let counter = Counter::open(event, target, leading)?;
            if leader.is_none() && !event.is_software() {
                leader = Some(counters.len());
            }
            counters.push(counter);
        }
        Ok(RunningCounters { counters })
    }

    /// What each has counted so far, in order.
    ///
    /// # Errors
    /// A failing read.
    pub fn read(&self) -> io::Result<Vec<CounterReading>> {
        self.counters.iter().map(Counter::read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_running_process_does_between_two_readings_is_counted_and_what_it_did_before_is_not() {
        use std::io::{BufRead as _, BufReader, Write as _};
        // A text that doubles needs pages that the shell did not have before.
        let script = "s=$(printf %4096s x); while read word; do s=$s$s; echo done; done";
        let mut child = std::process::Command::new("sh")
            .args(["-c", script])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("there is a shell");
        let mut requests = child.stdin.take().expect("a pipe");
        let mut replies = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut ask = |word: &str| {
            writeln!(requests, "{word}").expect("the shell reads");
            let mut line = String::new();
            replies.read_line(&mut line).expect("the shell answers");
            assert_eq!(line, "done\n");
        };
        ask("double");
        let events: Vec<CounterEvent> =
            ["page-faults", "task-clock"].map(|name| name.parse().expect("known")).to_vec();
        let running = match RunningCounters::open(&events, Target::Running { process: child.id() }) {
            Ok(running) => running,
            Err(refusal) => {
                drop(requests);
                child.wait().expect("the shell ends");
                return println!("skipped: {refusal}");
            }
        };
        let begun = running.read().expect("open counters are read");
        assert_eq!(begun.len(), 2);
        assert!(begun[0].value < 20, "what it did before is not counted: {begun:?}");
        for _ in 0..8 {
            ask("double");
        }
        let done = running.read().expect("open counters are read");
        let since: Vec<CounterReading> =
            done.iter().zip(&begun).map(|(after, before)| after.since(before)).collect();
        // From 8 KB to 2 MB; a large page may serve many.
        assert!(since[0].value >= 8, "{since:?}");
        assert!(since[1].value > 0 && since.iter().all(|reading| !reading.is_multiplexed()), "{since:?}");
        drop(requests);
        child.wait().expect("the shell ends");
    }

    #[test]
    fn one_refused_event_refuses_all() {
        // No processor has this one: it is the largest number there is.
        let events: Vec<CounterEvent> =
            ["page-faults", "rffffffffffffffff"].map(|name| name.parse().expect("well formed")).to_vec();
        let refusal = RunningCounters::open(&events, Target::Here).expect_err("nobody counts that");
        assert!(refusal.event.starts_with("rffffffffffffffff"), "{refusal:?}");
    }
}
