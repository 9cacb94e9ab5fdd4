//! From how an input is to be used to what programs are asked for: numbers of copies, steps between windows, how many calls
//! a sample may have. All of it follows from the file, the bytes and the machine, so a campaign that goes on asks the same.

use crate::run::tune::{CallLimits, FreshLimits};
use assay_pure::experiment::{CacheState, Measure, Usage};
use assay_pure::inputs::Window;
use assay_pure::protocol::CallUsage;

/// The last-level cache where the machine does not say its own, bytes.
const UNKNOWN_LAST_LEVEL: u64 = 32 << 20;
/// All copies of an input together, at most, bytes; what a machine's memory leaves for one program.
const MOST_COPIED: u64 = 1 << 30;
/// Copies of an input, at most: what the protocol allows.
const MOST_COPIES: u64 = 1 << 20;
/// Calls that are listed beforehand, at most: their list must leave most of the first cache to the data.
const MOST_LISTED: u64 = 1024;
/// Two windows of one sample lie at least this far apart where data must be cold, bytes: a line and its neighbour, which
/// processors fetch in pairs.
const APART: u64 = 128;

/// The largest cache, bytes, of what the kernel says of them ("L3 32768K").
pub fn last_level_bytes(caches: &[String]) -> u64 {
    let bytes = |cache: &String| -> Option<u64> {
        let size = cache.split_whitespace().nth(1)?;
        let digits = size.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
        let unit = match &size[digits.len()..] {
            "" => 1,
            "K" => 1 << 10,
            "M" => 1 << 20,
            "G" => 1 << 30,
            _ => return None,
        };
        digits.parse::<u64>().ok()?.checked_mul(unit)
    };
    caches.iter().filter_map(bytes).max().filter(|&bytes| bytes > 0).unwrap_or(UNKNOWN_LAST_LEVEL)
}

/// How many copies are rotated over: as many as asked for, else so many that they exceed twice the last-level cache.
pub fn copies(used: Usage, input_bytes: u64, last_level: u64) -> u64 {
    if used.state != CacheState::Rotating {
        return 0;
    }
    let input_bytes = input_bytes.max(1);
    let enough = 2 * last_level / input_bytes + 1;
    let most = (MOST_COPIED / input_bytes).clamp(2, MOST_COPIES);
    used.copies.unwrap_or(enough.clamp(2, most))
}

/// What programs are asked for so that an input is used as the experiment wants it.
pub fn wanted(used: Usage, input_bytes: u64, windows: &[Window], last_level: u64) -> CallLimits {
    let mut usage = CallUsage {
        state: used.state,
        measure: used.measure,
        copies: copies(used, input_bytes, last_level),
        ..CallUsage::default()
    };
    let mut most_iterations = match (used.state, used.measure) {
        (CacheState::Hot, Measure::Throughput) => u64::MAX,
        (CacheState::ColdCode, _) => 1,
        _ => MOST_LISTED,
    };
    if used.state == CacheState::ColdData {
        usage.evict_bytes = 2 * last_level;
        let (step, most) = spaced(windows);
        usage.step = step;
        most_iterations = most_iterations.min(most);
    }
    CallLimits { usage, most_iterations, fresh: FreshLimits::default() }
}

/// The same where the experiment says how much memory the states of fresh variants may take. Half of the second cache level
/// is theirs where they are to be hot.
pub fn with_fresh(mut limits: CallLimits, memory: Option<u64>, caches: &[String]) -> CallLimits {
    limits.usage.fresh_bytes = memory.unwrap_or(0);
    limits.fresh.memory = memory.unwrap_or(limits.fresh.memory);
    let second: Vec<String> = caches.iter().filter(|cache| cache.starts_with("L2 ")).cloned().collect();
    let hot = limits.usage.state == CacheState::Hot;
    limits.fresh.cached = match hot {
        true if second.is_empty() => limits.fresh.cached,
        true => last_level_bytes(&second) / 2,
        false => u64::MAX,
    };
    limits
}

/// Steps that are tried for one input.
const STEPS: u64 = 32;

/// From one call's window to the next one's, and how many calls keep apart from each other, where calls must not read what
/// others of their sample have fetched.
///
/// Steps near the golden section spread best (the three-distance theorem), and no prefetcher follows them; but a step is a
/// whole number, which follows that rule for some of the way only, so how far is looked at, and the best of some is taken.
fn spaced(windows: &[Window]) -> (u64, u64) {
    let count = windows.len() as u64;
    let bytes: u64 = windows.iter().map(|window| window.size).sum();
    if count < 3 {
        return (1, if bytes >= APART * count { count.max(1) } else { 1 });
    }
    // A window reaches from its first byte to its last, so the gap is one window more than the bytes between.
    let apart = APART * count / bytes.max(1) + 1;
    let golden = (count as f64 * 0.618_033_988_749_894_9).round() as u64;
    let steps = (golden..count).filter(|&step| gcd(step, count) == 1).take(STEPS as usize);
    let best = steps.map(|step| (calls_apart(step, count, apart), step)).max_by_key(|&(calls, step)| {
        // Of steps that are as good the first, so that the choice stays what it is.
        (calls, std::cmp::Reverse(step))
    });
    best.map_or((1, 1), |(calls, step)| (step, calls))
}

/// How many calls in a row, each `step` windows after the last one on a circle of `count`, are `apart` from one another.
fn calls_apart(step: u64, count: u64, apart: u64) -> u64 {
    let most = (count / apart).clamp(1, MOST_LISTED);
    let near = |&call: &u64| {
        let place = call * step % count;
        place.min(count - place) < apart
    };
    // Calls i and j are as far from each other as the first one and that numbered j - i.
    (1..most).find(near).unwrap_or(most)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(count: u64, size: u64) -> Vec<Window> {
        (0..count).map(|number| Window { offset: number * size, size, units: 1 }).collect()
    }

    fn used(state: CacheState) -> Usage {
        Usage { state, ..Usage::default() }
    }

    #[test]
    fn reads_the_largest_cache_of_what_the_kernel_says() {
        let caches = ["L1d 32K", "L1i 32K", "L2 1024K", "L3 32768K"].map(str::to_owned);
        assert_eq!(last_level_bytes(&caches), 32 << 20);
        assert_eq!(last_level_bytes(&["L2 2M".to_owned()]), 2 << 20);
        assert_eq!(last_level_bytes(&[]), UNKNOWN_LAST_LEVEL);
        assert_eq!(last_level_bytes(&["L3 much".to_owned()]), UNKNOWN_LAST_LEVEL);
    }

    #[test]
    fn copies_exceed_twice_the_last_level_cache_within_reason() {
        let rotating = used(CacheState::Rotating);
        assert_eq!(copies(rotating, 1 << 20, 32 << 20), 65);
        assert_eq!(copies(rotating, 1 << 28, 32 << 20), 2, "one would be the input itself");
        assert_eq!(copies(rotating, 1 << 34, 32 << 20), 2);
        assert_eq!(copies(rotating, 1, 32 << 20), MOST_COPIES);
        assert_eq!(copies(Usage { copies: Some(7), ..rotating }, 1 << 20, 32 << 20), 7);
        assert_eq!(copies(used(CacheState::Hot), 1 << 20, 32 << 20), 0);
    }

    #[test]
    fn hot_throughput_is_asked_for_as_ever() {
        let wanted = wanted(Usage::default(), 1000, &windows(10, 100), 1 << 20);
        assert_eq!((wanted.usage, wanted.most_iterations), (CallUsage::default(), u64::MAX));
    }

    #[test]
    fn cold_code_is_one_call_and_what_waits_is_listed() {
        assert_eq!(wanted(used(CacheState::ColdCode), 1000, &windows(10, 100), 1 << 20).most_iterations, 1);
        let latency = Usage { measure: Measure::Latency, ..Usage::default() };
        assert_eq!(wanted(latency, 1000, &windows(10, 100), 1 << 20).most_iterations, MOST_LISTED);
    }

    #[test]
    fn calls_on_cold_data_never_share_a_line_nor_follow_each_other() {
        for (count, size) in
            [(1, 9), (2, 9), (3, 5), (7, 64), (100, 1), (1000, 3), (4096, 64), (99_991, 2), (250, 5000)]
        {
            let windows = windows(count, size);
            let cold = wanted(used(CacheState::ColdData), count * size, &windows, 1 << 20);
            let (step, calls) = (cold.usage.step, cold.most_iterations);
            assert!(calls >= 1 && calls <= count, "{count} {size}: {calls}");
            assert_eq!(cold.usage.evict_bytes, 2 << 20);
            let mut places: Vec<u64> = (0..calls).map(|call| call * step % count).collect();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len() as u64, calls, "{count} {size}: no window twice");
            let apart = |pair: &[u64]| (pair[1] - pair[0] - 1) * size;
            if calls > 1 && size < APART {
                assert!(places.windows(2).all(|pair| apart(pair) >= APART - size), "{count} {size}");
            }
        }
    }
}
