//! Measures what no file says: time taken away, a busy sibling thread, the clocks, pairs of identical code, which events open.
//!
//! Method: a thread bound to the measuring processor first only reads the clock and sums the gaps, then takes pulses one after
//! another, then times one function twice in the design of a campaign: visits of one warm-up sample and five of 0.2 ms, in turn and
//! in reversed order, interrupted samples discarded, a log ratio of medians per pair. The kernel's counts of stolen and busy time
//! are read before and after.
//! Known limits: the function lies at one place, so the spread of placement is not included ([`super::pair`] has it);
//! docs/methodology/doctor.md says what is assumed.

use super::facts::{Gaps, Kernel, MachineMeasurements, SamePlace, TimerFacts, TriedEvent};
use assay_linux::clock::{KernelClock, now};
use assay_linux::perf::{CounterEvent, RefusalContext, RunningCounters, Target};
use assay_linux::pin::cpu_list;
use assay_linux::{pin, pulse};
use assay_pure::pulse::Pulse;
use assay_pure::stats::foresight::foresee;
use assay_pure::stats::quantile::median;
use assay_pure::stats::sharing::{Sharing, TimedPulse, sharing};
use std::hint::black_box;
use std::time::Duration;

/// A gap between two reads that something else must have filled, nanoseconds.
const GAP_NS: f64 = 1000.0;
/// The part of the time that is spent on gaps and on pulses; the rest on pairs.
const GAPS_SHARE: f64 = 0.4;
const PULSES_SHARE: f64 = 0.3;
/// A sample's aim, nanoseconds, and how many a visit has after one that warms up.
const SAMPLE_NS: f64 = 200_000.0;
const SAMPLES: usize = 5;
/// Below this share of CPU time in wall time a sample was interrupted; as in campaigns.
const UNDISTURBED: f64 = 0.98;
/// The budget that is foreseen, seconds, and the level.
pub(super) const BUDGET_SECONDS: f64 = 60.0;
const ALPHA: f64 = 0.05;
/// Pulses that are kept at most: a second's worth on a fast machine, thrice.
const MOST_PULSES: usize = 1 << 20;
/// Events that campaigns ask for, and cycles.
const EVENTS: [&str; 4] = ["instructions:u", "branches:u", "branch-misses:u", "cycles:u"];

/// Measures for about so many seconds.
pub fn measure(kernel: &Kernel, seconds: f64) -> MachineMeasurements {
    let before = Ticks::here();
    let begun = now(KernelClock::Monotonic);
    let cpu = kernel.cpu;
    let bound = std::thread::spawn(move || {
        pin::pin(0, cpu).ok()?;
        let gaps = gaps(Duration::from_secs_f64(seconds * GAPS_SHARE));
        let timer = timer();
        let sharing = pulses(Duration::from_secs_f64(seconds * PULSES_SHARE));
        let same_place = same_place(Duration::from_secs_f64(seconds * (1.0 - GAPS_SHARE - PULSES_SHARE)));
        Some((gaps, timer, sharing, same_place))
    });
    let bound = bound.join().expect("the measuring thread only computes");
    let after = Ticks::here();
    let siblings = kernel.siblings.as_deref().unwrap_or_default();
    let busy = siblings.iter().filter_map(|sibling| Ticks::busy(&before, &after, *sibling));
    MachineMeasurements {
        seconds: (now(KernelClock::Monotonic) - begun).as_secs_f64(),
        steal: Ticks::steal(&before, &after, cpu),
        sibling_busy: busy.reduce(f64::max),
        gaps: bound.map(|(gaps, ..)| gaps),
        timer: bound.map(|(_, timer, ..)| timer),
        sharing: bound.and_then(|(_, _, sharing, _)| sharing),
        known_width: None,
        same_place: bound.and_then(|(.., same_place)| same_place),
        two_places: None,
        counters: counters(),
        tracing: None,
        compilers: Vec::new(),
        linkers: Vec::new(),
    }
}

/// What each processor did so far, in the kernel's ticks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ticks(Vec<(usize, Vec<u64>)>);

impl Ticks {
    fn here() -> Ticks {
        Ticks::read(&std::fs::read_to_string("/proc/stat").unwrap_or_default())
    }

    /// From the text of /proc/stat.
    pub fn read(text: &str) -> Ticks {
        let line = |line: &str| {
            let mut words = line.strip_prefix("cpu")?.split_whitespace();
            let cpu = *cpu_list(words.next()?).first()?;
            Some((cpu, words.filter_map(|word| word.parse().ok()).collect()))
        };
        // The first line sums all processors up, and has no number.
        Ticks(text.lines().filter(|line| !line.starts_with("cpu ")).filter_map(line).collect())
    }

    /// What a processor did between two readings: user, nice, system, idle, iowait, irq, softirq, steal.
    fn between(before: &Ticks, after: &Ticks, cpu: usize) -> Option<Vec<u64>> {
        let of =
            |ticks: &Ticks| ticks.0.iter().find(|(number, _)| *number == cpu).map(|(_, all)| all.clone());
        let (before, after) = (of(before)?, of(after)?);
        Some(after.iter().zip(&before).take(8).map(|(after, before)| after.saturating_sub(*before)).collect())
    }

    /// The share of time that was stolen; none where the kernel does not count it. A single tick may be a trifle that made
    /// a sum of years whole, and is none.
    pub fn steal(before: &Ticks, after: &Ticks, cpu: usize) -> Option<f64> {
        let spent = Ticks::between(before, after, cpu)?;
        let all: u64 = spent.iter().sum();
        let stolen = Some(*spent.get(7)?).filter(|ticks| *ticks > 1).unwrap_or(0);
        (all > 0).then_some(stolen as f64 / all as f64)
    }

    /// The share of time that was neither idle nor waiting for a disk.
    pub fn busy(before: &Ticks, after: &Ticks, cpu: usize) -> Option<f64> {
        let spent = Ticks::between(before, after, cpu)?;
        let all: u64 = spent.iter().sum();
        (all > 0).then_some(1.0 - (spent.get(3)? + spent.get(4)?) as f64 / all as f64)
    }
}

/// Reads the clock again and again, and sums what was taken away between two reads.
fn gaps(duration: Duration) -> Gaps {
    let switches = switches();
    let cpu = now(KernelClock::ThreadCpu);
    let begun = now(KernelClock::Monotonic);
    let (mut last, mut found) = (begun, Gaps::default());
    while last - begun < duration {
        let read = now(KernelClock::Monotonic);
        let gap = (read - last).as_nanos() as f64;
        if gap > GAP_NS {
            found.taken_ns += gap;
            found.count += 1;
            found.longest_ns = found.longest_ns.max(gap);
        }
        last = read;
    }
    found.lasted_ns = (last - begun).as_nanos() as f64;
    found.cpu_ns = (now(KernelClock::ThreadCpu) - cpu).as_nanos() as f64;
    found.switches = self::switches().zip(switches).map(|(after, before)| after.saturating_sub(before));
    found
}

/// How often another thread ran in the place of this one although it could have gone on.
fn switches() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/thread-self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:")?.trim().parse().ok())
}

/// Takes pulses for so long, on the processor that the thread is bound to; none where too few were clean, or where the loops are
/// not written for the processor.
fn pulses(duration: Duration) -> Option<Sharing> {
    let begun = now(KernelClock::Monotonic);
    let mut taken = Vec::new();
    loop {
        let at = now(KernelClock::Monotonic) - begun;
        if at >= duration || taken.len() == MOST_PULSES {
            return sharing(&taken);
        }
        let (chain_ns, wide_ns) = pulse::take()?;
        taken.push(TimedPulse { at_ns: at.as_nanos() as f64, pulse: Pulse::of_additions(chain_ns, wide_ns) });
    }
}

fn timer() -> TimerFacts {
    const READS: usize = 20_000;
    let (mono, raw) = (now(KernelClock::Monotonic), now(KernelClock::Raw));
    let read_ns = per_read(KernelClock::Monotonic, READS);
    let cpu_read_ns = per_read(KernelClock::ThreadCpu, READS / 10);
    let mut step = f64::INFINITY;
    let mut last = now(KernelClock::Monotonic);
    for _ in 0..READS {
        let read = now(KernelClock::Monotonic);
        if read > last {
            step = step.min((read - last).as_nanos() as f64);
        }
        last = read;
    }
    // The two rates differ by so little that some milliseconds show only a gross difference.
    std::thread::sleep(Duration::from_millis(50));
    let (mono, raw) = (now(KernelClock::Monotonic) - mono, now(KernelClock::Raw) - raw);
    let drift_ppm = (mono.as_secs_f64() / raw.as_secs_f64() - 1.0) * 1e6;
    TimerFacts { read_ns, step_ns: if step.is_finite() { step } else { 0.0 }, cpu_read_ns, drift_ppm }
}

/// The least mean of several stretches of reads.
fn per_read(clock: KernelClock, reads: usize) -> f64 {
    let stretch = |_| {
        let begun = now(KernelClock::Monotonic);
        for _ in 0..reads / 10 {
            black_box(now(clock));
        }
        (now(KernelClock::Monotonic) - begun).as_nanos() as f64 / (reads / 10) as f64
    };
    (0..10).map(stretch).fold(f64::INFINITY, f64::min)
}

/// What is timed against itself: dependent arithmetic over a buffer that the first-level cache holds.
#[inline(never)]
fn work(buffer: &[u64], calls: u64) -> u64 {
    let mut mixed = 0_u64;
    for _ in 0..calls {
        for word in black_box(buffer) {
            mixed = (mixed ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        }
    }
    mixed
}

/// Pairs of visits to the same code, for so long; none where too few samples were clean.
fn same_place(duration: Duration) -> Option<SamePlace> {
    let buffer: Vec<u64> = (0..512).map(|word: u64| word.wrapping_mul(0x2545_f491_4f6c_dd1d)).collect();
    let calls = tuned(&buffer);
    let begun = now(KernelClock::Monotonic);
    let (mut ratios, mut taken, mut lost) = (Vec::new(), 0_u64, 0_u64);
    let mut visit = || {
        black_box(work(&buffer, calls));
        let samples: Vec<f64> = (0..SAMPLES).filter_map(|_| sample(&buffer, calls)).collect();
        taken += SAMPLES as u64;
        lost += (SAMPLES - samples.len()) as u64;
        (samples.len() * 2 > SAMPLES).then(|| median(&samples)).flatten()
    };
    let mut is_turned = false;
    while now(KernelClock::Monotonic) - begun < duration {
        let (first, second) = (visit(), visit());
        let (one, other) = if is_turned { (second, first) } else { (first, second) };
        ratios.extend(one.zip(other).map(|(one, other): (f64, f64)| (one / other).ln()));
        is_turned = !is_turned;
    }
    let seconds = (now(KernelClock::Monotonic) - begun).as_secs_f64();
    let foreseen = foresee(&ratios, seconds, BUDGET_SECONDS, ALPHA).ok()?;
    Some(SamePlace {
        pairs: ratios.len() as u64,
        seconds,
        interrupted: lost as f64 / taken.max(1) as f64,
        smallest: foreseen.smallest.exp_m1(),
        estimate: foreseen.estimate.exp_m1(),
    })
}

/// Calls that fill a sample.
fn tuned(buffer: &[u64]) -> u64 {
    let least = |_| {
        let begun = now(KernelClock::Monotonic);
        black_box(work(buffer, 10));
        (now(KernelClock::Monotonic) - begun).as_nanos() as f64 / 10.0
    };
    let each = (0..20).map(least).fold(f64::INFINITY, f64::min);
    (SAMPLE_NS / each.max(1.0)).max(1.0) as u64
}

/// One sample, nanoseconds; none where it was interrupted. The wall clock is read innermost, as by the harness.
fn sample(buffer: &[u64], calls: u64) -> Option<f64> {
    let cpu = now(KernelClock::ThreadCpu);
    let wall = now(KernelClock::Monotonic);
    black_box(work(buffer, calls));
    let wall = (now(KernelClock::Monotonic) - wall).as_nanos() as f64;
    let cpu = (now(KernelClock::ThreadCpu) - cpu).as_nanos() as f64;
    (wall > 0.0 && cpu >= UNDISTURBED * wall).then_some(wall)
}

/// Which events open for this thread, and why others don't.
fn counters() -> Vec<TriedEvent> {
    let conditions = RefusalContext::here();
    let open = |name: &str| {
        let event: CounterEvent = name.parse().expect("perf's own name");
        let opened = RunningCounters::open(std::slice::from_ref(&event), Target::Here).map(drop);
        let refusal = opened.err();
        let refused = refusal.as_ref().map(|refusal| refusal.reason(&conditions));
        TriedEvent {
            event: name.to_owned(),
            refused,
            remedy: refusal.and_then(|refusal| refusal.remedy(&conditions)),
        }
    };
    EVENTS.iter().map(|name| open(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "cpu  100 0 100 1000 0 0 0 0 0 0\ncpu0 60 0 60 500 10 0 0 0 0 0\ncpu1 40 0 40 500 0 0 0 10 0 0\nintr 5\n";
    const AFTER: &str = "cpu  300 0 100 1100 0 0 0 9 0 0\ncpu0 110 0 60 540 20 0 0 0 0 0\ncpu1 140 0 40 550 0 0 0 60 0 0\nintr 9\n";

    #[test]
    fn stolen_and_busy_time_are_shares_of_what_passed_on_that_processor() {
        let (before, after) = (Ticks::read(BEFORE), Ticks::read(AFTER));
        // Of 200 ticks 50 were stolen; on the other processor 50 of 100 were neither idle nor waiting.
        assert_eq!(Ticks::steal(&before, &after, 1), Some(0.25));
        assert_eq!(Ticks::steal(&before, &after, 0), Some(0.0));
        assert_eq!(Ticks::busy(&before, &after, 0), Some(0.5));
        assert_eq!(Ticks::steal(&before, &after, 7), None);
        assert_eq!(Ticks::steal(&before, &before, 1), None, "no time has passed");
        assert_eq!(Ticks::read(""), Ticks::default());
        let one = AFTER.replace("0 0 0 60 0 0\nintr", "0 0 0 11 0 0\nintr");
        assert_eq!(Ticks::steal(&before, &Ticks::read(&one), 1), Some(0.0), "one tick is no theft");
        let two = AFTER.replace("0 0 0 60 0 0\nintr", "0 0 0 12 0 0\nintr");
        assert_eq!(Ticks::steal(&before, &Ticks::read(&two), 1), Some(2.0 / 152.0));
    }

    #[test]
    fn whatever_the_machine_is_something_is_measured() {
        let allowed = pin::allowed_cpus().expect("the kernel says");
        let cpu = *allowed.last().expect("at least one");
        let measured = measure(&Kernel { cpu, allowed, ..Kernel::default() }, 0.2);
        let (gaps, timer) = (measured.gaps.expect("a loop ran"), measured.timer.expect("clocks were read"));
        assert!(gaps.lasted_ns > 0.0 && gaps.taken_ns <= gaps.lasted_ns && gaps.longest_ns <= gaps.taken_ns);
        assert!(timer.read_ns > 0.0 && timer.cpu_read_ns > 0.0);
        assert_eq!(measured.counters.len(), EVENTS.len());
        assert!(measured.two_places.is_none(), "it is measured by who has compilers");
        if let Some(sharing) = measured.sharing {
            assert!((0.0..=1.0).contains(&sharing.share) && sharing.slowdown >= 1.0, "{sharing:?}");
        }
    }
}
