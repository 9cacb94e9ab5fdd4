//! Was the core shared while a sample was taken? Pulses beside it tell.
//!
//! A core with two hardware threads serves both at once. On a virtual machine the other one may belong to another guest:
//! then neither SMT nor stolen time is to be seen, and whatever needs the core's width takes up to twice as long, in
//! bursts of milliseconds to seconds. A pulse is two short timed loops: additions that wait for each other, which take a
//! cycle each whoever else is there, and additions that need not wait, which fill the width. Their quotient knows nothing
//! of the clock frequency.

use std::fmt;

/// A quotient this far above that of a core of one's own is a shared core. On Zen 4 the quotient of a core of one's own
/// varies by 3 %, the grain of a clock of 10 ns; a shared one's is 1.15 to 2 times as large.
pub const SHARED: f64 = 1.08;
/// So many pulses, of which the lowest twentieth is not one alone, tell what a core of one's own shows.
const ENOUGH: usize = 40;

/// One pulse: two loops timed one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pulse {
    /// 2048 additions, each on the last one's sum, nanoseconds.
    pub chain_ns: u64,
    /// 12800 additions to 8 sums, nanoseconds.
    pub wide_ns: u64,
}

impl Pulse {
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

/// The quotient that a core of one's own shows: the end of the lowest twentieth, so that a pulse whose chain was
/// interrupted does not make it. None of fewer than 40, or where there is none.
#[must_use]
pub fn own(mut quotients: Vec<f64>) -> Option<f64> {
    if quotients.len() < ENOUGH {
        return None;
    }
    quotients.sort_by(f64::total_cmp);
    quotients.get(quotients.len() / 20).copied()
}

/// What a core of one's own shows, learned on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sharing {
    own: Option<f64>,
}

impl Sharing {
    /// What was learned before, if anything was.
    #[must_use]
    pub fn knowing(own: Option<f64>) -> Self {
        Self { own }
    }

    /// The quotient of a core of one's own; none before enough pulses.
    #[must_use]
    pub fn own(&self) -> Option<f64> {
        self.own
    }

    /// Learns from a stretch of measuring, at least 40 pulses. The lowest of all stretches stands: in one of them the core
    /// may have been shared throughout.
    pub fn learn(&mut self, pulses: impl Iterator<Item = Pulse>) {
        let found = own(pulses.filter_map(|pulse| pulse.quotient()).collect());
        self.own = match (self.own, found) {
            (Some(known), Some(found)) => Some(known.min(found)),
            (known, found) => known.or(found),
        };
    }

    /// Was the core shared beside what these pulses stood around? False where nobody knows.
    #[must_use]
    pub fn is_shared(&self, pulses: Option<[Pulse; 2]>) -> bool {
        self.own.zip(pulses).is_some_and(|(own, pulses)| is_shared(&pulses, own))
    }
}

/// Was the core shared just before a sample or just after it? `own` is the quotient of a core of one's own. A pulse that
/// says nothing does not speak against the sample.
#[must_use]
pub fn is_shared(pulses: &[Pulse; 2], own: f64) -> bool {
    pulses.iter().any(|pulse| pulse.quotient().is_some_and(|quotient| quotient > own * SHARED))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Pulse = Pulse { chain_ns: 561, wide_ns: 911 };

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

    #[test]
    fn a_sample_is_shared_when_either_side_of_it_was() {
        let own = OWN.quotient().expect("it took time");
        let wider = |percent: u64| Pulse { wide_ns: 911 * (100 + percent) / 100, ..OWN };
        assert!(!is_shared(&[OWN, OWN], own));
        assert!(!is_shared(&[wider(7), wider(7)], own));
        assert!(is_shared(&[OWN, wider(10)], own));
        assert!(is_shared(&[wider(10), OWN], own));
    }

    #[test]
    fn half_the_clock_frequency_is_no_sharing() {
        let slow = Pulse { chain_ns: 1122, wide_ns: 1822 };
        assert!(!is_shared(&[slow, slow], OWN.quotient().expect("it took time")));
    }

    #[test]
    fn nothing_is_known_before_enough_pulses() {
        let mut sharing = Sharing::default();
        let wide = |wide_ns| Pulse { chain_ns: 1000, wide_ns };
        sharing.learn([wide(1600); 39].into_iter());
        assert_eq!(sharing.own(), None);
        assert!(!sharing.is_shared(Some([wide(3000); 2])));
        sharing.learn([wide(1600); 40].into_iter());
        assert_eq!(sharing.own(), Some(1.6));
        assert!(sharing.is_shared(Some([wide(3000); 2])) && !sharing.is_shared(None));
    }

    #[test]
    fn a_stretch_that_was_shared_throughout_teaches_nothing_after_one_that_was_not() {
        let mut sharing = Sharing::knowing(Some(2.4));
        let stretch = |wide_ns| [Pulse { chain_ns: 1000, wide_ns }; 60].into_iter();
        sharing.learn(stretch(1600));
        assert_eq!(sharing.own(), Some(1.6));
        sharing.learn(stretch(2400));
        assert_eq!(sharing.own(), Some(1.6));
    }

    #[test]
    fn a_pulse_that_took_no_time_says_nothing() {
        let none = Pulse { chain_ns: 0, wide_ns: 0 };
        assert_eq!(none.quotient(), None);
        assert!(!is_shared(&[none, none], 1.6));
        assert_eq!(Pulse { chain_ns: 561, wide_ns: 0 }.quotient(), None);
    }
}
