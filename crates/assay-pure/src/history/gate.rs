//! Is the newest campaign slower than the earlier ones?
//!
//! Method: the newest value less the mean of the earlier ones at the accepted level ([`reference`]), with an interval from the
//! spread between campaigns. Which campaigns are earlier ones is never decided by the value that is tested: where runs are
//! left out for being slow, the others are record lows, and the next ordinary one fails.
//! It passes where its interval at 95 % is below the limit. It fails where its step is at the limit or beyond, and hardly any
//! unchanged campaign is so slow: [`LEVEL`] is shared by all checks of a gate (Bonferroni).
//! Where fewer than three campaigns show the spread, each campaign's own interval stands for it, with [`UNSEEN`] for
//! what differs between campaigns. One number without either is no evidence, and nothing is decided.
//! Checked by: simulation, `tests/calibration/gate.rs`.

use super::noise;
use super::scan::{Sensitivity, changes};
use crate::compare::Gate;
use crate::stats::margin::Margin;
use crate::stats::student;
use std::ops::Range;

/// Campaigns that the newest is compared with at most: they tell the noise well enough, and a bad one is forgotten.
const MOST: usize = 20;
/// The last campaigns, left out where there are many: a slowdown that began with them is no part of the measure.
const SETTLING: usize = 4;
/// Standard deviation between campaigns where too few show it, a difference of logarithms.
const UNSEEN: f64 = 0.01;
/// The two-sided level of all checks of a gate together.
const LEVEL: f64 = 0.005;
/// Degrees of freedom that a failure counts at most: campaigns have heavier tails than the normal distribution, and a level
/// that many checks share lies far out in them.
const TAILS: f64 = 8.0;

/// A campaign's figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelReading {
    /// A logarithm of a time or ratio.
    pub value: f64,
    /// Its own standard error; none where it is one number.
    pub error: Option<f64>,
    /// Standard deviation of what rounding took from it; 0 where nothing.
    pub rounding: f64,
}

/// The newest figure beside the earlier ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelChange {
    /// A difference of logarithms.
    pub step: f64,
    /// Its standard error and its degrees of freedom; none where nothing tells the noise.
    error: Option<(f64, f64)>,
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

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Which of the campaigns before the newest it is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Their places.
    pub runs: Range<usize>,
    /// Where a slowdown begins that nobody accepted, and that lasts.
    pub unaccepted: Option<usize>,
}

/// The campaigns since the last change, unless that was a slowdown by the limit or more: such a one stays forbidden until
/// somebody accepts it.
///
/// Input: finite logarithms in their order, without the newest. Returns: a range that is empty only of none.
/// Cost: as of [`changes`].
pub fn reference(values: &[f64], limit: f64, sensitivity: &Sensitivity) -> Reference {
    let found = changes(values, sensitivity);
    let ends: Vec<usize> = found.iter().map(|change| change.at).chain([values.len()]).collect();
    let (mut accepted, mut unaccepted) = (0..ends[0], None);
    for stretch in ends.windows(2).map(|pair| pair[0]..pair[1]) {
        if mean(&values[stretch.clone()]) - mean(&values[accepted.clone()]) < limit {
            (accepted, unaccepted) = (stretch, None);
        } else {
            unaccepted = unaccepted.or(Some(stretch.start));
        }
    }
    let settling = if unaccepted.is_none() { SETTLING.min(accepted.len() / 4) } else { 0 };
    let end = accepted.end - settling;
    Reference { runs: accepted.start.max(end.saturating_sub(MOST))..end, unaccepted }
}

/// The newest figure less the mean of the earlier ones.
///
/// Input: at least one earlier figure, in their order. Returns: see [`LevelChange`].
pub fn compare(earlier: &[LevelReading], newest: LevelReading) -> LevelChange {
    let values: Vec<f64> = earlier.iter().map(|reading| reading.value).collect();
    let own = |reading: &LevelReading| reading.error.map_or(0.0, |error| error * error);
    if let Some((variance, of_mean, degrees)) = between(earlier, &newest) {
        // A campaign that knows itself badly is not better known for its quiet predecessors.
        let error = (variance.max(own(&newest)) + of_mean).sqrt();
        return LevelChange {
            step: newest.value - mean(&values),
            error: Some((error, degrees)),
            spread_known: true,
        };
    }
    let last = earlier.last().copied().unwrap_or(newest);
    let known = newest.error.is_some() && last.error.is_some();
    let error = (own(&newest) + own(&last) + 2.0 * UNSEEN * UNSEEN).sqrt();
    LevelChange {
        step: newest.value - last.value,
        error: known.then_some((error, f64::from(u32::MAX))),
        spread_known: false,
    }
}

/// Variance of a campaign and of the mean of the earlier ones, and degrees of freedom; none where they do not tell.
///
/// Neighbours that are alike spread less than campaigns do, by (n − i)/(n − 1) with i the [`noise::inflation`].
fn between(earlier: &[LevelReading], newest: &LevelReading) -> Option<(f64, f64, f64)> {
    let values: Vec<f64> = earlier.iter().map(|reading| reading.value).collect();
    let (deviation, degrees) = noise::deviation(&values, &[]).filter(|(_, degrees)| *degrees >= 2.0)?;
    let count = values.len() as f64;
    let inflation = noise::inflation(noise::likeness(&values, &[]), values.len());
    // Rounded numbers that are equal are not known to the last digit.
    let rounding = earlier.iter().chain([newest]).map(|reading| reading.rounding).fold(0.0, f64::max);
    let seen = deviation * deviation * degrees / (count - inflation).max(1.0);
    let variance = seen.max(rounding * rounding);
    (variance > 0.0).then_some((variance, variance * inflation / count, degrees))
}

impl LevelChange {
    /// The interval of the step at 95 %; none where nothing tells the noise.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let (error, degrees) = self.error?;
        let half = error * student::two_sided_quantile(0.05, degrees).unwrap_or(2.0);
        Some((self.step - half, self.step + half))
    }

    /// What a gate says of it, as one of so many checks.
    pub fn read(&self, limit: f64, checks: usize) -> GateReading {
        let (Some((error, degrees)), Some((_, upper))) = (self.error, self.interval()) else {
            return GateReading::Undecided;
        };
        let tails = if self.spread_known { degrees.min(TAILS) } else { degrees };
        let by_chance = student::two_sided_p(self.step / error, tails);
        if upper < limit {
            GateReading::Passed
        } else if self.step >= limit && self.step > 0.0 && by_chance <= LEVEL / checks.max(1) as f64 {
            GateReading::Failed
        } else {
            GateReading::Undecided
        }
    }
}

/// The step from which on a gate fails, a logarithm, as is the least one that counts.
pub fn limit(gate: &Gate, minimum: f64) -> f64 {
    Margin::of(gate.allowed(minimum.exp_m1())).ln()
}

/// What rounding took from a printed number, as the standard deviation of its logarithm: its last digit over √12.
///
/// Input: numbers of one source, greater than 0. Returns: a fraction; 0 of none.
pub fn rounding(values: &[f64]) -> f64 {
    let digits = |value: &f64| value.to_string().split_once('.').map_or(0, |(_, behind)| behind.len());
    let unit = 10.0_f64.powi(-(values.iter().map(digits).max().unwrap_or(0) as i32));
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    unit / least / 12.0_f64.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: f64 = 0.0198;

    fn readings(values: &[f64], error: Option<f64>) -> Vec<LevelReading> {
        values.iter().map(|&value| LevelReading { value, error, rounding: 0.0 }).collect()
    }

    fn against(earlier: &[f64], newest: f64, error: Option<f64>) -> LevelChange {
        compare(&readings(earlier, error), LevelReading { value: newest, error, rounding: 0.0 })
    }

    fn said(earlier: &[f64], newest: f64, error: Option<f64>) -> GateReading {
        against(earlier, newest, error).read(LIMIT, 1)
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
    fn what_may_be_beyond_the_gate_does_not_pass() {
        // +1.5 % with an interval from about 0 to 3 %.
        let noisy = [0.004, -0.006, 0.005, -0.004, 0.006, -0.005];
        let found = against(&noisy, 0.015, None);
        let (lower, upper) = found.interval().unwrap();
        assert!(lower < LIMIT && LIMIT < upper, "{lower} {upper}");
        assert_eq!(found.read(LIMIT, 1), GateReading::Undecided);
    }

    #[test]
    fn a_step_below_the_least_one_that_counts_is_none() {
        let gate = Gate { slower: 0.0 };
        let quiet = [0.0, 0.001, -0.001, 0.0005, -0.0008, 0.0002];
        let found = against(&quiet, 0.005, None);
        assert!(found.interval().unwrap().0 > 0.0);
        assert_eq!(found.read(limit(&gate, 0.01), 1), GateReading::Passed);
        assert_eq!(found.read(limit(&gate, 0.001), 1), GateReading::Failed);
    }

    #[test]
    fn many_checks_need_a_clearer_step() {
        let noisy = [0.004, -0.006, 0.005, -0.004, 0.006, -0.005];
        let found = against(&noisy, 0.04, None);
        assert_eq!(
            (found.read(LIMIT, 1), found.read(LIMIT, 50)),
            (GateReading::Failed, GateReading::Undecided)
        );
    }

    #[test]
    fn two_campaigns_are_compared_by_their_own_intervals_and_two_numbers_not_at_all() {
        assert_eq!(said(&[0.0], 0.05, Some(0.005)), GateReading::Failed);
        assert_eq!(said(&[0.0], 0.05, Some(0.05)), GateReading::Undecided);
        // What differs between campaigns is unknown yet: a gate of 2 % waits, one of 5 % does not.
        assert_eq!(said(&[0.0], 0.0, Some(0.005)), GateReading::Undecided);
        assert_eq!(against(&[0.0], 0.0, Some(0.005)).read(0.05, 1), GateReading::Passed);
        assert_eq!(said(&[0.0], 0.5, None), GateReading::Undecided);
        assert_eq!(said(&[0.0, 0.0], 0.5, None), GateReading::Undecided);
    }

    #[test]
    fn a_campaign_that_knows_itself_badly_decides_nothing() {
        let earlier = readings(&[0.0, 0.001, -0.001, 0.0005], Some(0.001));
        let newest = LevelReading { value: 0.05, error: Some(0.04), rounding: 0.0 };
        assert_eq!(compare(&earlier, newest).read(LIMIT, 1), GateReading::Undecided);
    }

    #[test]
    fn equal_numbers_are_known_to_their_last_digit_and_no_better() {
        let equal = |rounding: f64, newest: f64| {
            let reading = |value: f64| LevelReading { value, error: None, rounding };
            compare(&[reading(0.0); 6], reading(newest))
        };
        assert_eq!(equal(0.0, 0.03).interval(), None, "an interval of no width is none");
        assert_eq!(equal(0.0, 0.03).read(LIMIT, 1), GateReading::Undecided);
        // 80 ns/op: half a digit is 0.6 %.
        let of_80 = rounding(&[80.0, 80.0]);
        assert!((of_80 - 1.0 / 80.0 / 12.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(equal(of_80, 0.0).read(LIMIT, 1), GateReading::Passed);
        assert_eq!(equal(of_80, (81.0_f64 / 80.0).ln()).read(LIMIT, 1), GateReading::Undecided);
        assert_eq!(equal(of_80, (90.0_f64 / 80.0).ln()).read(LIMIT, 1), GateReading::Failed);
        assert!((rounding(&[80.0, 80.25]) - 0.01 / 80.0 / 12.0_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_lone_first_value_is_forgotten() {
        // Another tool's 100, then 80 for ever: no change point, as one value is no level.
        let numbers: Vec<f64> = [100.0].into_iter().chain([80.0; 25]).map(f64::ln).collect();
        let decided = (3..=25).find(|&at| {
            let range = reference(&numbers[..at], LIMIT, &Sensitivity::default()).runs;
            let reading = |&value: &f64| LevelReading { value, error: None, rounding: 0.0036 };
            let earlier: Vec<LevelReading> = numbers[range].iter().map(reading).collect();
            compare(&earlier, reading(&numbers[at])).read(LIMIT, 1) == GateReading::Passed
        });
        assert!(decided.is_some_and(|at| at <= 25), "{decided:?}");
    }

    /// Values that wobble by 0.3 %, without a generator.
    fn wobble(at: usize) -> f64 {
        [0.2, -0.3, 0.1, 0.3, -0.2, -0.3, 0.2, 0.0, -0.1, 0.3][at * 7 % 10] / 100.0
    }

    #[test]
    fn a_slowdown_fails_until_it_is_undone_and_a_gain_is_the_new_level() {
        let sensitivity = Sensitivity::default();
        let at_level = |level: fn(usize) -> f64, until: usize| -> Vec<f64> {
            (0..until).map(|at| wobble(at) + level(at)).collect()
        };
        let reading = |value: f64| LevelReading { value, error: None, rounding: 0.0 };
        let said = |values: &[f64]| {
            let (newest, before) = values.split_last().unwrap();
            let range = reference(before, LIMIT, &sensitivity).runs;
            let earlier: Vec<LevelReading> = before[range].iter().copied().map(reading).collect();
            compare(&earlier, reading(*newest)).read(LIMIT, 1)
        };
        let slower = |at: usize| if (20..40).contains(&at) { 0.04 } else { 0.0 };
        let faster = |at: usize| if at >= 20 { -0.06 } else { 0.0 };
        for until in 12..=60 {
            let wanted = if (21..=40).contains(&until) { GateReading::Failed } else { GateReading::Passed };
            assert_eq!(said(&at_level(slower, until)), wanted, "slower, {until}");
            assert_eq!(said(&at_level(faster, until)), GateReading::Passed, "faster, {until}");
        }
        // Back from the gain is a slowdown.
        let back = |at: usize| if (20..40).contains(&at) { -0.06 } else { 0.0 };
        assert_eq!(said(&at_level(back, 41)), GateReading::Failed);
    }
}
