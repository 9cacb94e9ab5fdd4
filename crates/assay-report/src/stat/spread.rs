//! One figure over several executions: its mean, how much it varies, and whether it varies at all.

use assay_pure::stats::interval::{mean_and_variance, t_interval};
use serde::{Deserialize, Serialize};

/// Two-sided level of the intervals: 0.95 confidence.
const ALPHA: f64 = 0.05;

/// A number that is written as an integer where it is one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Number {
    /// A whole number.
    Whole(u64),
    /// Any other.
    Real(f64),
}

impl Number {
    /// As a float, exact below 2^53.
    pub fn value(self) -> f64 {
        match self {
            Number::Whole(value) => value as f64,
            Number::Real(value) => value,
        }
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Number {
        // 2^53: up to there every whole float is that number and no rounded neighbour.
        if value.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&value) {
            Number::Whole(value as u64)
        } else {
            Number::Real(value)
        }
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Number {
        Number::Whole(value)
    }
}

/// A figure over executions of the same command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Spread {
    /// The mean.
    pub mean: Number,
    /// The standard deviation of one execution; null after one.
    pub standard_deviation: Option<f64>,
    /// The lower end of the mean's interval, confidence 0.95; null after one execution.
    pub lower: Option<f64>,
    /// The upper end.
    pub upper: Option<f64>,
    /// The smallest.
    pub minimum: Number,
    /// The largest.
    pub maximum: Number,
    /// Whether all executions gave the same; null after one.
    pub identical: Option<bool>,
    /// One per execution, in order.
    pub values: Vec<Number>,
}

impl Spread {
    /// Of at least one value; None of none.
    pub fn of(values: &[Number]) -> Option<Spread> {
        let floats: Vec<f64> = values.iter().map(|value| value.value()).collect();
        let at = |pick: fn(f64, f64) -> f64| floats.iter().copied().reduce(pick).map(Number::from);
        let (minimum, maximum) = (at(f64::min)?, at(f64::max)?);
        let several = mean_and_variance(&floats);
        let interval = several.and_then(|(mean, variance)| {
            let error = (variance / floats.len() as f64).sqrt();
            t_interval(mean, error, (floats.len() - 1) as f64, ALPHA).ok()
        });
        Some(Spread {
            mean: several.map_or(values[0], |(mean, _)| Number::from(mean)),
            standard_deviation: several.map(|(_, variance)| variance.sqrt()),
            lower: interval.map(|interval| interval.lower),
            upper: interval.map(|interval| interval.upper),
            minimum,
            maximum,
            identical: several.map(|_| values.iter().all(|value| *value == values[0])),
            values: values.to_vec(),
        })
    }

    /// The standard error of the mean as a percentage of it, as perf prints it behind "+-"; None after one execution
    /// and where the mean is 0.
    pub fn relative_error(&self) -> Option<f64> {
        let error = self.standard_deviation? / (self.values.len() as f64).sqrt();
        let mean = self.mean.value();
        if error == 0.0 {
            return Some(0.0);
        }
        (mean != 0.0).then(|| 100.0 * error / mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(values: &[f64]) -> Spread {
        let values: Vec<Number> = values.iter().map(|&value| value.into()).collect();
        Spread::of(&values).unwrap()
    }

    #[test]
    fn one_execution_has_a_value_and_no_spread() {
        let one = spread(&[7.0]);
        assert_eq!((one.mean, one.minimum, one.maximum), (7u64.into(), 7u64.into(), 7u64.into()));
        assert_eq!((one.standard_deviation, one.lower, one.upper, one.identical), (None, None, None, None));
        assert_eq!(one.relative_error(), None);
        assert_eq!(Spread::of(&[]), None);
    }

    #[test]
    fn agrees_with_a_derivation_by_hand() {
        // 2, 4, 9: mean 5, deviations -3 -1 4, variance 26/2 = 13; t(0.975, 2) = 4.30265273; error sqrt(13/3).
        let found = spread(&[4.0, 9.0, 2.0]);
        assert_eq!((found.mean, found.minimum, found.maximum), (5u64.into(), 2u64.into(), 9u64.into()));
        assert!((found.standard_deviation.unwrap() - 13f64.sqrt()).abs() < 1e-12);
        let half = 4.302_652_73 * (13f64 / 3.0).sqrt();
        assert!((found.upper.unwrap() - (5.0 + half)).abs() < 1e-6);
        assert!((found.lower.unwrap() - (5.0 - half)).abs() < 1e-6);
        assert_eq!(found.identical, Some(false));
        assert!((found.relative_error().unwrap() - 100.0 * (13f64 / 3.0).sqrt() / 5.0).abs() < 1e-12);
        assert_eq!(found.values.len(), 3);
    }

    #[test]
    fn equal_values_are_identical_and_their_interval_has_no_width() {
        let same = spread(&[12.0, 12.0, 12.0]);
        assert_eq!(same.identical, Some(true));
        assert_eq!((same.standard_deviation, same.lower, same.upper), (Some(0.0), Some(12.0), Some(12.0)));
        assert_eq!(same.relative_error(), Some(0.0));
        assert_eq!(spread(&[0.0, 0.0]).relative_error(), Some(0.0));
        assert_eq!(spread(&[12.0, 12.0, 13.0]).identical, Some(false));
    }

    #[test]
    fn whole_numbers_are_written_without_a_point() {
        let text = |value: f64| serde_json::to_string(&Number::from(value)).unwrap();
        assert_eq!(text(256_402_113.0), "256402113");
        assert_eq!(text(0.5), "0.5");
        assert_eq!(text(-3.0), "-3.0");
        assert_eq!(text(9_007_199_254_740_992.0), "9007199254740992.0");
        assert_eq!(serde_json::from_str::<Number>("5").unwrap(), Number::Whole(5));
        assert_eq!(serde_json::from_str::<Number>("5.5").unwrap(), Number::Real(5.5));
    }
}
