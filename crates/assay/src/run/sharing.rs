//! Was the core shared with somebody on its other hardware thread? What a round's pulses say of its samples.

use super::flag::RawSample;
use assay_pure::pulse::{self, Pulse};

/// What a core of one's own shows, learned from the pulses of a campaign.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sharing {
    own: Option<f64>,
}

impl Sharing {
    /// What was learned before, if anything was.
    pub fn knowing(own: Option<f64>) -> Self {
        Self { own }
    }

    /// The quotient of a core of one's own; none before enough pulses.
    pub fn own(&self) -> Option<f64> {
        self.own
    }

    /// Learns from a round. The lowest of all rounds stands: in one of them the core may have been shared throughout.
    pub fn learn<'a>(&mut self, samples: impl Iterator<Item = &'a RawSample>) {
        let quotients: Vec<f64> = samples
            .filter_map(|sample| sample.pulses)
            .flatten()
            .filter_map(|pulse| pulse.quotient())
            .collect();
        let found = pulse::own(quotients);
        self.own = match (self.own, found) {
            (Some(known), Some(found)) => Some(known.min(found)),
            (known, found) => known.or(found),
        };
    }

    /// Was the core shared beside this sample? False where nobody knows.
    pub fn is_shared(&self, pulses: Option<[Pulse; 2]>) -> bool {
        self.own.zip(pulses).is_some_and(|(own, pulses)| pulse::is_shared(&pulses, own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(wide_ns: u64) -> RawSample {
        let pulse = Pulse { chain_ns: 1000, wide_ns };
        let pulses = Some([pulse; 2]);
        RawSample { warmup: false, wall_ns: 1, cpu_ns: 1, units: 1, switches: 0, pulses }
    }

    #[test]
    fn knows_nothing_before_enough_pulses() {
        let mut sharing = Sharing::default();
        sharing.learn([sample(1600); 19].iter());
        assert_eq!(sharing.own(), None);
        assert!(!sharing.is_shared(sample(3000).pulses));
        sharing.learn([sample(1600); 20].iter());
        assert_eq!(sharing.own(), Some(1.6));
        assert!(sharing.is_shared(sample(3000).pulses) && !sharing.is_shared(None));
    }

    #[test]
    fn a_round_that_was_shared_throughout_teaches_nothing_after_one_that_was_not() {
        let mut sharing = Sharing::knowing(Some(2.4));
        sharing.learn([sample(1600); 30].iter());
        assert_eq!(sharing.own(), Some(1.6));
        sharing.learn([sample(2400); 30].iter());
        assert_eq!(sharing.own(), Some(1.6));
    }
}
