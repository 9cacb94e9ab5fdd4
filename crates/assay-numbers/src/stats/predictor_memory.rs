//! How long may a repeated sequence of coin tosses be that this CPU's predictor memorises?
//!
//! Method: a **sweep** times repeated sequences of growing length, each of tosses of its own (assay-linux, `branch_timing`).
//! The time of an outcome rises from that of memorised ones to that of fresh ones. The length at which half of this extra
//! time is reached is what is memorised: there the curve is steep, so that noise moves it least. It is interpolated between
//! two lengths of the sweep, on their logarithm, after a running median of three that removes a single odd length.
//! Sweeps are repeated until the newest three agree within 20 %, and their middle one is given. Where none agree, other work
//! takes a part of the predictor away now and then, and the figure is the range of all.
//! Why so: read from one sweep at a tenth of the extra time, the same machine said 46,336 and 23,168.
//! Known limits: tosses of one branch; a predictor that learns another number of branches may hold fewer outcomes of each.
//! Checked: by hand.

use super::quantile::median;
use crate::words::count;

/// A length in outcomes, and the nanoseconds per outcome of each usable window over a sequence of that length.
pub type SweepPoint = (u64, Vec<f64>);

/// By rising length.
pub type MemorySweep = [SweepPoint];

/// The newest so many sweeps must agree,
const AGREEING: usize = 3;
/// the largest within so much of the smallest.
const WITHIN: f64 = 1.2;

/// How far from an end of the scale still counts as that end.
const NEARLY: f64 = 0.1;

/// What the predictor remembers, in independent fair outcomes of one branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredictorMemory {
    /// The length of a repeated sequence at which half of the extra time is reached: the middle one of the sweeps.
    pub learned_outcomes: u64,
    /// The least and the most that the sweeps said; those that agree, where some do.
    pub lower: u64,
    /// As `lower`.
    pub upper: u64,
    /// The shortest of which it knows nothing; none where even the longest tried is known in part.
    pub unlearned_outcomes: Option<u64>,
}

impl PredictorMemory {
    /// As one sweep gives it.
    pub const fn of(learned_outcomes: u64, unlearned_outcomes: Option<u64>) -> PredictorMemory {
        PredictorMemory {
            learned_outcomes,
            lower: learned_outcomes,
            upper: learned_outcomes,
            unlearned_outcomes,
        }
    }

    /// "about 16,600", or "12,000 to 16,600" where the sweeps did not agree.
    pub fn in_words(&self) -> String {
        if self.is_agreed() {
            return format!("about {}", count(self.learned_outcomes));
        }
        format!("{} to {}", count(self.lower), count(self.upper))
    }

    /// Whether the sweeps agreed: one number says it.
    pub fn is_agreed(&self) -> bool {
        self.upper as f64 <= WITHIN * self.lower as f64
    }
}

/// Reads the sweeps, in the order in which they were made.
///
/// Input: the sweeps, and the time of fresh tosses. Returns: outcomes with three digits, or nothing where no sweep shows that
/// something is memorised. Checked: by hand.
pub fn memory<S: AsRef<MemorySweep>>(sweeps: &[S], fresh_ns: f64) -> Option<PredictorMemory> {
    let read: Vec<Option<SweepReading>> =
        sweeps.iter().map(|sweep| SweepReading::of(sweep.as_ref(), fresh_ns)).collect();
    let newest = &read[read.len().saturating_sub(AGREEING)..];
    let used: Vec<SweepReading> =
        if agree(newest) { newest } else { &read }.iter().flatten().copied().collect();
    let halves: Vec<f64> = used.iter().map(|reading| reading.half).collect();
    let ends: Vec<f64> = used.iter().filter_map(|reading| reading.end).collect();
    let (lower, upper) = halves
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(least, most), half| (least.min(*half), most.max(*half)));
    Some(PredictorMemory {
        learned_outcomes: three_digits(median(&halves)?),
        lower: three_digits(lower),
        upper: three_digits(upper),
        // An end that most sweeps have not reached is unknown.
        unlearned_outcomes: median(&ends).filter(|_| 2 * ends.len() > used.len()).map(three_digits),
    })
}

/// Whether more sweeps would say the same: the newest ones agree, be it that nothing is memorised.
pub fn is_settled<S: AsRef<MemorySweep>>(sweeps: &[S], fresh_ns: f64) -> bool {
    let newest = sweeps[sweeps.len().saturating_sub(AGREEING)..].iter();
    agree(&newest.map(|sweep| SweepReading::of(sweep.as_ref(), fresh_ns)).collect::<Vec<_>>())
}

fn agree(newest: &[Option<SweepReading>]) -> bool {
    let halves: Vec<f64> = newest.iter().flatten().map(|reading| reading.half).collect();
    let near = |a: f64, b: f64| a.max(b) <= WITHIN * a.min(b);
    newest.len() == AGREEING
        && (halves.is_empty()
            || halves.len() == AGREEING && halves.iter().all(|a| halves.iter().all(|b| near(*a, *b))))
}

/// Where one sweep rises.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SweepReading {
    /// Half of the way; the longest where it does not come so far.
    half: f64,
    /// Nearly all of it.
    end: Option<f64>,
}

impl SweepReading {
    /// Nothing where the shortest length has no usable window or is not clearly faster than fresh tosses. The time of memorised
    /// tosses is that of the sweep's own shortest lengths: a longer sequence takes a little more even when it is known.
    fn of(sweep: &MemorySweep, fresh_ns: f64) -> Option<SweepReading> {
        let times: Vec<(u64, f64)> =
            sweep.iter().filter_map(|(outcomes, ns)| median(ns).map(|ns| (*outcomes, ns))).collect();
        let ns = |of: &[(u64, f64)]| median(&of.iter().map(|(_, ns)| *ns).collect::<Vec<_>>());
        let learned_ns = ns(&times[..times.len().min(5)]).filter(|learned| *learned < 0.8 * fresh_ns)?;
        // Likewise at the other end, unless even the longest are known: then the series' own time is all there is.
        let longest = ns(&times[times.len().saturating_sub(3)..]);
        let fresh_ns = longest.filter(|longest| *longest > 0.85 * fresh_ns).unwrap_or(fresh_ns);
        let smooth = |at: usize| ns(&times[at.saturating_sub(1)..times.len().min(at + 2)]);
        let rise: Vec<(f64, f64)> = (0..times.len())
            .filter_map(|at| Some((times[at].0 as f64, (smooth(at)? - learned_ns) / (fresh_ns - learned_ns))))
            .collect();
        let longest = rise.last()?.0;
        Some(SweepReading { half: reaches(&rise, 0.5).unwrap_or(longest), end: reaches(&rise, 1.0 - NEARLY) })
    }
}

/// The length from which on a rising curve, by length, is at `level` or above, between the points around it.
fn reaches(rise: &[(f64, f64)], level: f64) -> Option<f64> {
    let above = rise.iter().rev().take_while(|(_, share)| *share >= level).count();
    let first = rise.len() - above;
    let (length, share) = *rise.get(first)?;
    let Some((before, low)) = first.checked_sub(1).map(|at| rise[at]) else { return Some(length) };
    Some(before * (length / before).powf((level - low) / (share - low)))
}

/// Rounded: more digits are noise.
fn three_digits(outcomes: f64) -> u64 {
    let digit = 10f64.powf(outcomes.max(1.0).log10().floor() - 2.0).max(1.0);
    ((outcomes / digit).round() * digit) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths of 1000, 2000, 4000 and so on.
    fn sweep(ns: &[f64]) -> Vec<(u64, Vec<f64>)> {
        ns.iter().enumerate().map(|(at, ns)| (1000 << at, vec![*ns, *ns, 9.0 * ns])).collect()
    }

    /// Learned 0.5, fresh 2.5; `between` at 32,000 outcomes, half at 1.5.
    fn step(between: f64) -> Vec<(u64, Vec<f64>)> {
        sweep(&[0.5, 0.5, 0.5, 0.5, 0.5, between, 2.5, 2.5, 2.5, 2.5])
    }

    fn one(sweep: Vec<(u64, Vec<f64>)>, fresh_ns: f64) -> Option<(u64, Option<u64>)> {
        memory(&[sweep], fresh_ns).map(|found| (found.learned_outcomes, found.unlearned_outcomes))
    }

    #[test]
    fn half_of_the_extra_time_is_interpolated_between_two_lengths() {
        // At 16,000 nothing of the way, at 64,000 all of it, at 32,000 half, a quarter, three quarters.
        assert_eq!(one(step(1.5), 2.5).unwrap().0, 32_000);
        // A third of the octave above: 32,000 * 2^(1/3); two thirds of the one below.
        assert_eq!(one(step(1.0), 2.5).unwrap().0, 40_300);
        assert_eq!(one(step(2.0), 2.5).unwrap().0, 25_400);
        // Nine tenths lie at four fifths of the octave above: 32,000 * 2^0.8.
        assert_eq!(one(step(1.5), 2.5).unwrap().1, Some(55_700));
    }

    #[test]
    fn a_machine_that_was_slower_while_the_series_were_timed_does_not_move_the_step() {
        assert_eq!(one(step(1.5), 2.9), one(step(1.5), 2.5));
    }

    #[test]
    fn a_predictor_that_still_knows_the_longest_has_no_upper_end() {
        let known = one(sweep(&[0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 1.5, 1.5]), 3.3);
        assert_eq!(known, Some((128_000, None)), "not even half");
        let in_part = one(sweep(&[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 2.0, 2.0]), 2.5);
        assert_eq!(in_part.unwrap().1, None);
    }

    #[test]
    fn an_odd_length_is_not_the_step() {
        let dip = one(sweep(&[0.5, 0.5, 0.5, 0.5, 0.5, 1.5, 2.5, 2.5, 0.5, 2.5, 2.5, 2.5]), 2.5);
        let spike = one(sweep(&[0.5, 0.5, 2.5, 0.5, 0.5, 1.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5]), 2.5);
        assert_eq!((dip.unwrap().0, spike.unwrap().0), (32_000, 32_000));
    }

    #[test]
    fn a_shortest_length_that_saves_less_than_a_fifth_was_not_learned() {
        let of = |learned: f64| one(sweep(&[learned, learned, learned, 3.3, 3.3, 3.3]), 3.3);
        assert_eq!(of(2.7), None);
        assert!(of(2.6).is_some());
    }

    #[test]
    fn nothing_is_said_where_nothing_was_learned_or_measured() {
        assert_eq!(one(sweep(&[3.0, 3.0, 3.0, 3.0, 3.0, 3.3]), 3.3), None);
        assert_eq!(one(Vec::new(), 3.3), None);
        assert_eq!(one(vec![(1000, vec![])], 3.3), None);
        assert_eq!(memory::<Vec<(u64, Vec<f64>)>>(&[], 3.3), None);
    }

    #[test]
    fn sweeps_that_agree_give_one_number() {
        // 40,300, 32,000 and 36,800 (a fifth of the octave above): the largest is 1.26 times the least.
        let sweeps = [step(1.0), step(1.5), step(1.25)];
        assert!(!is_settled(&sweeps[..2], 2.5) && !is_settled(&sweeps, 2.5));
        let ranged = memory(&sweeps, 2.5).unwrap();
        assert_eq!((ranged.lower, ranged.learned_outcomes, ranged.upper), (32_000, 36_800, 40_300));
        // With one more the newest three are within 15 %, and the first is forgotten.
        let sweeps = [step(1.0), step(1.5), step(1.25), step(1.5)];
        assert!(is_settled(&sweeps, 2.5));
        let agreed = memory(&sweeps, 2.5).unwrap();
        assert_eq!((agreed.lower, agreed.learned_outcomes, agreed.upper), (32_000, 32_000, 36_800));
        assert_eq!(
            (ranged.in_words(), agreed.in_words()),
            ("32,000 to 40,300".into(), "about 32,000".into())
        );
    }

    #[test]
    fn three_sweeps_without_a_step_agree_that_nothing_is_memorised() {
        let flat = sweep(&[3.3; 8]);
        assert!(is_settled(&[flat.clone(), flat.clone(), flat.clone()], 3.3));
        assert!(!is_settled(&[flat.clone(), flat, step(1.5)], 3.3), "one has a step");
        assert!(PredictorMemory::of(1000, None).is_agreed());
    }
}
