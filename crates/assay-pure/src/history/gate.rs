//! Is the newest campaign slower than the last good ones?
//!
//! Method: the newest value less the mean of the good ones since the last change, with an interval from the spread between campaigns.
//! Where fewer than three campaigns show that spread, each campaign's own interval stands for it; it holds nothing of what
//! differs between campaigns, which is told. One number without either is no evidence, and nothing is decided.

use super::noise;
use crate::compare::Gate;
use crate::stats::student;

/// A campaign's figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelReading {
    /// A logarithm of a time or ratio.
    pub value: f64,
    /// Its own standard error; none where it is one number.
    pub error: Option<f64>,
}

/// The newest figure beside the good ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared {
    /// A difference of logarithms.
    pub step: f64,
    /// Its interval at 95 %; none where nothing tells the noise.
    pub interval: Option<(f64, f64)>,
    /// Whether the spread between campaigns is known.
    pub spread_known: bool,
}

/// What a gate says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GateReading {
    /// Not slower by what the gate forbids.
    Passed,
    /// Slower, by at least so much.
    Failed,
    /// The interval holds both.
    Undecided,
}

/// The newest figure less the mean of the good ones.
///
/// Input: at least one good figure, in their order. Returns: see [`Compared`].
pub fn compare(good: &[LevelReading], newest: LevelReading) -> Compared {
    let values: Vec<f64> = good.iter().map(|reading| reading.value).collect();
    let count = values.len().max(1) as f64;
    let step = newest.value - values.iter().sum::<f64>() / count;
    let between = noise::deviation(&values, &[]).filter(|(_, degrees)| *degrees >= 2.0);
    let own = |reading: &LevelReading| reading.error.map_or(0.0, |error| error * error);
    let error_and_degrees = match between {
        Some((deviation, degrees)) => {
            let shared = noise::inflation(noise::likeness(&values, &[]), values.len()) / count;
            // A campaign that knows itself badly is not better known for its quiet predecessors.
            let newest = (deviation * deviation).max(own(&newest));
            Some(((newest + deviation * deviation * shared).sqrt(), degrees))
        }
        None => {
            let last = good.last().copied();
            let known = newest.error.is_some() && last.is_some_and(|last| last.error.is_some());
            known.then(|| ((own(&newest) + last.as_ref().map_or(0.0, own)).sqrt(), f64::from(u32::MAX)))
        }
    };
    let step =
        if between.is_none() { newest.value - values.last().copied().unwrap_or(newest.value) } else { step };
    let interval = error_and_degrees.map(|(error, degrees)| {
        let half = error * student::two_sided_quantile(0.05, degrees).unwrap_or(2.0);
        (step - half, step + half)
    });
    Compared { step, interval, spread_known: between.is_some() }
}

impl Compared {
    /// What a gate says of it; steps below `minimum` are equivalent.
    pub fn read(&self, gate: &Gate, minimum: f64) -> GateReading {
        let allowed = gate.slower.ln_1p();
        match self.interval {
            Some((_, upper)) if upper < allowed.max(minimum) => GateReading::Passed,
            Some((lower, _)) if lower > 0.0 && self.step >= allowed => GateReading::Failed,
            Some((lower, _)) if lower > 0.0 => GateReading::Passed,
            _ => GateReading::Undecided,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GATE: Gate = Gate { slower: 0.02 };

    fn readings(values: &[f64], error: Option<f64>) -> Vec<LevelReading> {
        values.iter().map(|&value| LevelReading { value, error }).collect()
    }

    fn said(good: &[f64], newest: f64, error: Option<f64>) -> GateReading {
        compare(&readings(good, error), LevelReading { value: newest, error }).read(&GATE, 0.01)
    }

    #[test]
    fn a_slowdown_beyond_the_noise_fails_and_one_within_it_is_open() {
        let quiet = [0.0, 0.001, -0.001, 0.0005, -0.0008, 0.0002];
        assert_eq!(said(&quiet, 0.03, None), GateReading::Failed);
        assert_eq!(said(&quiet, 0.001, None), GateReading::Passed);
        assert_eq!(said(&quiet, -0.2, None), GateReading::Passed);
        assert_eq!(said(&quiet, 0.015, None), GateReading::Passed, "slower, by less than the gate");
        let loud = [0.0, 0.03, -0.03, 0.02, -0.02, 0.01];
        assert_eq!(said(&loud, 0.03, None), GateReading::Undecided);
    }

    #[test]
    fn two_campaigns_are_compared_by_their_own_intervals_and_two_numbers_not_at_all() {
        assert_eq!(said(&[0.0], 0.05, Some(0.005)), GateReading::Failed);
        assert_eq!(said(&[0.0], 0.05, Some(0.05)), GateReading::Undecided);
        assert_eq!(said(&[0.0], 0.0, Some(0.005)), GateReading::Passed);
        assert_eq!(said(&[0.0], 0.5, None), GateReading::Undecided);
        assert_eq!(said(&[0.0, 0.0], 0.5, None), GateReading::Undecided);
    }

    #[test]
    fn a_campaign_that_knows_itself_badly_decides_nothing() {
        let good = readings(&[0.0, 0.001, -0.001, 0.0005], Some(0.001));
        let newest = LevelReading { value: 0.05, error: Some(0.04) };
        assert_eq!(compare(&good, newest).read(&GATE, 0.01), GateReading::Undecided);
    }
}
