//! What does a misprediction cost on this machine?
//!
//! Method: the figures come from one loop over fair coin tosses (assay-linux, `branch_timing`). Fresh tosses are mispredicted
//! half the time whatever the predictor, learned ones never, so twice the difference in time is the penalty. Each series has
//! tosses of its own; its location is the median over its pairs of windows, and the interval is Student's over the series.
//! Known limits: a branch whose condition takes longer to be known costs more. Checked: by hand.

use super::StatsError;
use super::interval::{Interval, mean_and_variance, t_interval};
use super::quantile::median;

/// Mispredictions per fresh toss: no predictor does better or worse on independent fair ones.
const MISSES_PER_TOSS: f64 = 0.5;

/// The cost of one misprediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penalty {
    /// Nanoseconds, mean over the series.
    pub ns: f64,
    /// Its interval.
    pub interval: Interval,
    /// Nanoseconds per outcome of fresh tosses, median over the series.
    pub fresh_ns: f64,
    /// Nanoseconds per outcome of learned ones.
    pub learned_ns: f64,
    /// Series with usable pairs.
    pub series: usize,
}

/// The penalty with its interval at confidence 1 - `alpha`.
///
/// Input: per series the pairs (fresh, learned) of nanoseconds per outcome. Returns: nanoseconds. Errors: fewer than three
/// series that have a pair. Checked: by hand.
pub fn penalty(series: &[Vec<(f64, f64)>], alpha: f64) -> Result<Penalty, StatsError> {
    let of = |pick: fn(&(f64, f64)) -> f64| -> Vec<f64> {
        series.iter().filter_map(|pairs| median(&pairs.iter().map(pick).collect::<Vec<_>>())).collect()
    };
    let penalties = of(|(fresh, learned)| (fresh - learned) / MISSES_PER_TOSS);
    let too_few = StatsError::TooFewRotations { have: penalties.len(), need: 3 };
    let (mean, variance) = mean_and_variance(&penalties).filter(|_| penalties.len() >= 3).ok_or(too_few)?;
    let n = penalties.len() as f64;
    let locations = |pick| median(&of(pick)).unwrap_or_default();
    Ok(Penalty {
        ns: mean,
        interval: t_interval(mean, (variance / n).sqrt(), n - 1.0, alpha)?,
        fresh_ns: locations(|pair| pair.0),
        learned_ns: locations(|pair| pair.1),
        series: penalties.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_penalty_is_twice_the_difference_and_its_interval_students() {
        let series = [
            vec![(3.0, 0.5), (3.1, 0.6), (9.0, 0.5)],
            vec![(3.2, 0.6)],
            vec![],
            vec![(2.9, 0.5), (3.1, 0.5), (3.0, 0.5), (3.0, 0.5)],
        ];
        let found = penalty(&series, 0.05).unwrap();
        // Medians of the differences 2.5, 2.6, 2.5: penalties 5.0, 5.2, 5.0; mean 5.0667, deviation 0.11547, t(2) 4.30265.
        assert!((found.ns - 5.066_666_667).abs() < 1e-9);
        assert!((found.interval.upper - found.ns - 4.302_652_73 * 0.115_470_054 / 3f64.sqrt()).abs() < 1e-6);
        assert!((found.interval.lower + found.interval.upper - 2.0 * found.ns).abs() < 1e-12);
        // Medians of the series 3.1, 3.2, 3.0 and 0.5, 0.6, 0.5.
        assert_eq!((found.series, found.fresh_ns, found.learned_ns), (3, 3.1, 0.5));
    }

    #[test]
    fn two_series_are_too_few() {
        let series = [vec![(3.0, 0.5)], vec![], vec![(3.2, 0.6)]];
        assert_eq!(penalty(&series, 0.05), Err(StatsError::TooFewRotations { have: 2, need: 3 }));
    }
}
