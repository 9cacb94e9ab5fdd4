//! Was the core shared while a sample was taken? Pulses beside it tell.
//!
//! A core with two hardware threads serves both at once. On a virtual machine the other one may belong to another guest:
//! then neither SMT nor stolen time is to be seen, and whatever needs the core's width takes up to twice as long, in
//! bursts of milliseconds to seconds. A pulse is two short timed loops: additions that wait for each other, which take a
//! cycle each whoever else is there, and additions that need not wait, which fill the width. Their quotient knows nothing
//! of the clock frequency. A third loop, of nothing but taken jumps, feels the front end, which siblings take in turns: it
//! takes twice as long beside one, also where the additions feel little.

use std::fmt;

/// A quotient this far above that on an unshared core is a shared core. On Zen 4 the quotient on an unshared core
/// varies by 3 %, the grain of a clock of 10 ns; a shared one's is 1.15 to 2 times as large.
pub const SHARED: f64 = 1.08;
/// The same where the clock's grain is allowed for besides: what is left is where the loops lie, and a percent or two of chance.
const BEYOND_GRAIN: f64 = 1.04;
/// The same of jumps over the chain: they take about as long alone each time, and twice as long beside a busy sibling. Wide
/// room, as code that has only just been fetched may lose some.
const JUMPS_SHARED: f64 = 1.25;
/// Additions of the two loops.
const CHAIN: f64 = 2048.0;
const WIDE: f64 = 12_800.0;
/// So many pulses, of which the lowest twentieth is not one alone, tell those of an unshared core.
const ENOUGH: usize = 40;

/// One pulse: loops timed one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pulse {
    /// 2048 additions, each on the last one's sum, nanoseconds.
    pub chain_ns: u64,
    /// 12800 additions to 8 sums, nanoseconds.
    pub wide_ns: u64,
    /// 1024 taken jumps, nanoseconds, where the program takes them.
    pub jumps_ns: Option<u64>,
}

impl Pulse {
    /// One of additions alone.
    #[must_use]
    pub fn of_additions(chain_ns: u64, wide_ns: u64) -> Pulse {
        Pulse { chain_ns, wide_ns, jumps_ns: None }
    }

    /// The jumps' time over the chain's: the more, the less of the front end was there. None where there are none, or a loop
    /// took no time.
    #[must_use]
    pub fn jumps_quotient(&self) -> Option<f64> {
        let jumps_ns = self.jumps_ns.filter(|jumps_ns| self.chain_ns > 0 && *jumps_ns > 0)?;
        Some(jumps_ns as f64 / self.chain_ns as f64)
    }

    /// The wide loop's time over the chain's: the more, the less of the core's width was there. None where a loop took no
    /// time, which says nothing.
    #[must_use]
    pub fn quotient(&self) -> Option<f64> {
        (self.chain_ns > 0 && self.wide_ns > 0).then(|| self.wide_ns as f64 / self.chain_ns as f64)
    }
}

impl fmt::Display for Pulse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.chain_ns, self.wide_ns)
    }
}

/// The quotient that an unshared core shows: the end of the lowest twentieth, so that a pulse whose chain was
/// interrupted does not make it. None of fewer than 40, or where there is none.
#[must_use]
pub fn own(mut quotients: Vec<f64>) -> Option<f64> {
    if quotients.len() < ENOUGH {
        return None;
    }
    let at = quotients.len() / 20;
    Some(*quotients.select_nth_unstable_by(at, f64::total_cmp).1)
}

/// Independent additions per cycle, of a quotient: on an unshared core a property of the processor's model.
#[must_use]
pub fn width(quotient: f64) -> f64 {
    WIDE / CHAIN / quotient
}

/// The part of a core's known width that was there at best, where it is less than an unshared core has: it was shared all
/// the time, which no pulse tells by itself. None where the width was there.
#[must_use]
pub fn narrowed(width: f64, known: f64) -> Option<f64> {
    (width * SHARED < known).then(|| width / known)
}

/// What the pulses on an unshared core show, learned on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OwnCore {
    own: Option<f64>,
    /// The same of jumps.
    jumps: Option<f64>,
    grain_ns: u64,
}

impl OwnCore {
    /// Learns from a stretch of measuring: the pulses on both sides of each of 20 samples or more. The lowest quotient of all
    /// stretches stands, as in one of them the core may have been shared throughout.
    pub fn learn(&mut self, pairs: impl Iterator<Item = [Pulse; 2]>) {
        let (mut quotients, mut jumps, mut chains) = (Vec::new(), Vec::new(), Vec::new());
        for pair in pairs {
            quotients.extend(pair.iter().filter_map(Pulse::quotient));
            jumps.extend(pair.iter().filter_map(Pulse::jumps_quotient));
            chains.push(pair.map(|pulse| pulse.chain_ns));
        }
        let found = own(quotients);
        self.own = least(self.own, found);
        self.jumps = least(self.jumps, own(jumps));
        if found.is_some() {
            self.grain_ns = self.grain_ns.max(grain_ns(&chains));
        }
    }

    /// Takes over what another campaign on the same core taught, where it had more of it; its clock's grain goes with it.
    pub fn join(&mut self, other: OwnCore) {
        if other.own.is_some_and(|found| self.own.is_none_or(|known| found < known)) {
            *self = other;
        }
    }

    /// Independent additions per cycle at best ([`width`]). None where it is not known yet.
    #[must_use]
    pub fn width(&self) -> Option<f64> {
        self.own.map(width)
    }

    /// What an unshared core shows at most, whatever the clock's grain made of it: the wide loop's time less the second figure
    /// over the chain's plus the second. None where it is not known yet.
    #[must_use]
    pub fn limit(&self) -> Option<(f64, u64)> {
        Some((self.own? * BEYOND_GRAIN, self.grain_ns))
    }

    /// Was the core shared just before a sample or just after it? False where it is unknown; a pulse that says nothing does not
    /// speak against the sample.
    #[must_use]
    pub fn is_shared(&self, pulses: Option<[Pulse; 2]>) -> bool {
        self.limit().zip(pulses).is_some_and(|((limit, grain_ns), pulses)| {
            let least = |pulse: &Pulse| Pulse {
                chain_ns: if pulse.chain_ns == 0 { 0 } else { pulse.chain_ns + grain_ns },
                wide_ns: pulse.wide_ns.saturating_sub(grain_ns),
                jumps_ns: pulse.jumps_ns.map(|jumps_ns| jumps_ns.saturating_sub(grain_ns)),
            };
            let is_above =
                |quotient: Option<f64>, limit: f64| quotient.is_some_and(|quotient| quotient > limit);
            let jumps = self.jumps.map_or(f64::INFINITY, |own| own * JUMPS_SHARED);
            pulses
                .iter()
                .map(least)
                .any(|pulse| is_above(pulse.quotient(), limit) || is_above(pulse.jumps_quotient(), jumps))
        })
    }
}

fn least(known: Option<f64>, found: Option<f64>) -> Option<f64> {
    match (known, found) {
        (Some(known), Some(found)) => Some(known.min(found)),
        (known, found) => known.or(found),
    }
}

/// The clock's grain, from the chain's times on both sides of samples, which nothing but the grain makes differ: the end of
/// the ninth tenth of the differences, and no more than a twelfth of the time.
fn grain_ns(chains: &[[u64; 2]]) -> u64 {
    let at = |mut values: Vec<u64>, place: usize| -> Option<u64> {
        (place < values.len()).then(|| *values.select_nth_unstable(place).1)
    };
    let differences = chains.iter().map(|[before, after]| before.abs_diff(*after)).collect();
    let grain = at(differences, chains.len() * 9 / 10);
    let chain = at(chains.iter().map(|[before, _]| *before).collect(), chains.len() / 2);
    grain.zip(chain).map_or(0, |(grain, chain)| grain.min(chain / 12))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Pulse = Pulse { chain_ns: 561, wide_ns: 911, jumps_ns: None };

    #[test]
    fn jumps_that_take_longer_are_a_shared_core_though_additions_do_not() {
        let of = |jumps_ns| Pulse { jumps_ns: Some(jumps_ns), ..OWN };
        let own_core = knowing(of(310));
        assert!(!own_core.is_shared(Some([of(310), of(380)])));
        assert!(own_core.is_shared(Some([of(310), of(620)])));
        assert!(own_core.is_shared(Some([of(620), of(310)])));
        // A program without such pulses, and a core of which none were seen, are judged by additions.
        assert!(!own_core.is_shared(Some([OWN, OWN])));
        assert!(!knowing(OWN).is_shared(Some([of(620), of(620)])));
        assert!(own_core.is_shared(Some([wider(60), OWN])));
        assert_eq!(of(0).jumps_quotient(), None, "no time says nothing");
    }

    #[test]
    fn half_the_clock_frequency_makes_no_jumps_shared() {
        let slow = Pulse { chain_ns: 1122, wide_ns: 1822, jumps_ns: Some(620) };
        assert!(!knowing(Pulse { jumps_ns: Some(310), ..OWN }).is_shared(Some([slow, slow])));
    }

    #[test]
    fn what_a_core_of_ones_own_shows_is_near_the_lowest_but_no_single_outlier() {
        let mut quotients = vec![2.5; 57];
        quotients.extend([0.3, 1.6, 1.61]);
        assert_eq!(own(quotients), Some(2.5), "three of sixty: the fourth lowest is a shared one");
        let mut quotients = vec![2.5; 56];
        quotients.extend([0.3, 1.6, 1.61, 1.62]);
        assert_eq!(own(quotients), Some(1.62));
        assert_eq!(own(vec![1.6; 39]), None);
        assert_eq!(own(vec![1.6; 40]), Some(1.6));
    }

    fn wider(percent: u64) -> Pulse {
        Pulse { wide_ns: OWN.wide_ns * (100 + percent) / 100, ..OWN }
    }

    fn knowing(pulse: Pulse) -> OwnCore {
        let mut own_core = OwnCore::default();
        own_core.learn([[pulse; 2]; 30].into_iter());
        own_core
    }

    #[test]
    fn a_sample_is_shared_when_either_side_of_it_was() {
        let own_core = knowing(OWN);
        assert!(!own_core.is_shared(Some([OWN, OWN])));
        assert!(!own_core.is_shared(Some([wider(3), wider(3)])));
        assert!(own_core.is_shared(Some([OWN, wider(5)])));
        assert!(own_core.is_shared(Some([wider(5), OWN])));
    }

    #[test]
    fn half_the_clock_frequency_is_no_sharing() {
        let slow = Pulse::of_additions(1122, 1822);
        assert!(!knowing(OWN).is_shared(Some([slow, slow])));
    }

    #[test]
    fn a_pulse_that_took_no_time_says_nothing() {
        let none = Pulse::of_additions(0, 0);
        assert_eq!(none.quotient(), None);
        assert!(!knowing(OWN).is_shared(Some([none, Pulse::of_additions(0, 9000)])));
        assert_eq!(Pulse::of_additions(561, 0).quotient(), None);
    }

    #[test]
    fn a_clock_of_40_ns_makes_no_sharing() {
        // 700 and 1070 ns are read as 680 or 720, and 1040 or 1080.
        let read = |at: u64| Pulse {
            chain_ns: if at.is_multiple_of(2) { 680 } else { 720 },
            wide_ns: if at.is_multiple_of(3) { 1080 } else { 1040 },
            jumps_ns: None,
        };
        let mut own_core = OwnCore::default();
        own_core.learn((0..60).map(|at| [read(at), read(at / 2 + 1)]));
        assert_eq!(own_core.limit(), Some((1040.0 / 720.0 * BEYOND_GRAIN, 40)));
        assert!((0..60).all(|at| !own_core.is_shared(Some([read(at), read(at)]))));
        let shared = Pulse::of_additions(720, 1400);
        assert!(own_core.is_shared(Some([read(0), shared])));
    }

    #[test]
    fn chains_that_were_interrupted_make_no_grain_of_more_than_a_twelfth() {
        let mut own_core = OwnCore::default();
        let interrupted = Pulse::of_additions(4000, 911);
        own_core.learn((0..30).map(|at| if at % 3 == 0 { [OWN, interrupted] } else { [OWN, OWN] }));
        assert_eq!(own_core.limit().map(|(_, grain)| grain), Some(561 / 12));
    }

    #[test]
    fn of_two_stretches_the_one_with_the_core_to_itself_stands() {
        let (mut shared, alone) = (knowing(wider(60)), knowing(OWN));
        assert!(!shared.is_shared(Some([wider(60), OWN])));
        shared.join(alone);
        assert_eq!(shared, alone);
        shared.join(OwnCore::default());
        assert_eq!(shared, alone);
        let mut none = OwnCore::default();
        none.join(alone);
        assert_eq!(none, alone);
    }

    #[test]
    fn nothing_is_known_before_enough_pulses() {
        let mut own_core = OwnCore::default();
        let wide = |wide_ns| [Pulse::of_additions(1000, wide_ns); 2];
        own_core.learn([wide(1600); 19].into_iter());
        assert_eq!(own_core.limit(), None);
        assert!(!own_core.is_shared(Some(wide(3000))));
        own_core.learn([wide(1600); 20].into_iter());
        assert_eq!(own_core.limit(), Some((1.6 * BEYOND_GRAIN, 0)));
        assert!(own_core.is_shared(Some(wide(3000))) && !own_core.is_shared(None));
    }

    #[test]
    fn a_core_that_shows_less_of_its_width_than_before_was_shared_all_the_time() {
        // 12800 additions in 911 ns, at 2048 in 561 ns of a cycle each: 3.849 a cycle.
        let own = knowing(OWN).width().expect("learned");
        assert!((own - 3.848_792).abs() < 1e-6, "{own}");
        let all_the_time = |percent| narrowed(knowing(wider(percent)).width().expect("learned"), own);
        assert_eq!((all_the_time(0), all_the_time(7)), (None, None));
        // 1002 ns instead of 911.
        assert!((all_the_time(10).expect("shared") - 911.0 / 1002.0).abs() < 1e-12);
        assert_eq!((narrowed(4.2, 4.0), OwnCore::default().width()), (None, None));
    }

    #[test]
    fn a_stretch_that_was_shared_throughout_teaches_nothing_after_one_that_was_not() {
        let mut own_core = OwnCore::default();
        let stretch = |wide_ns| [[Pulse::of_additions(1000, wide_ns); 2]; 30].into_iter();
        for (wide_ns, own) in [(2400, 2.4), (1600, 1.6), (2400, 1.6)] {
            own_core.learn(stretch(wide_ns));
            assert_eq!(own_core.limit(), Some((own * BEYOND_GRAIN, 0)));
        }
    }
}
