//! An axis of a plot, on a terminal or in a picture: where a value lies on it, and which values are written beside it.

/// A span of times from which on their axis is logarithmic.
pub const WIDE: f64 = 4.0;

/// An axis from 0 to 1.
pub struct PlotAxis {
    low: f64,
    high: f64,
    /// Equal ratios are equally far apart.
    pub logarithmic: bool,
}

impl PlotAxis {
    /// From one value to another; logarithmic only where both allow it.
    pub fn of(low: f64, high: f64, logarithmic: bool) -> PlotAxis {
        let logarithmic = logarithmic && low > 0.0;
        // A flat curve gets a stretch of its own around it.
        let (low, high) = if high > low { (low, high) } else { (low * 0.9, high * 1.1 + f64::MIN_POSITIVE) };
        PlotAxis { low, high, logarithmic }
    }

    fn scaled(&self, value: f64) -> f64 {
        if self.logarithmic { value.ln() } else { value }
    }

    /// Where a value lies, from 0 to 1.
    pub fn part(&self, value: f64) -> f64 {
        let (low, high) = (self.scaled(self.low), self.scaled(self.high));
        ((self.scaled(value) - low) / (high - low)).clamp(0.0, 1.0)
    }

    /// The value at a part.
    pub fn at(&self, part: f64) -> f64 {
        let (low, high) = (self.scaled(self.low), self.scaled(self.high));
        let scaled = low + part * (high - low);
        if self.logarithmic { scaled.exp() } else { scaled }
    }

    /// What stands behind the axis's name.
    pub fn note(&self) -> &'static str {
        if self.logarithmic { " (logarithmic)" } else { "" }
    }

    /// At most so many round values, rising: 1, 2 or 5 of a power of ten.
    ///
    /// Input: `most`, at least 2. A logarithmic axis on which there are fewer than three gets those of a linear one.
    pub fn ticks(&self, most: usize) -> Vec<f64> {
        let within = |value: &f64| (self.low..=self.high).contains(value);
        if self.logarithmic {
            let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
            for digits in [[1.0, 2.0, 5.0].as_slice(), &[1.0, 3.0], &[1.0]] {
                let of = |power: i32| digits.iter().map(move |digit| digit * 10f64.powi(power));
                let found: Vec<f64> = decades.clone().flat_map(of).filter(within).collect();
                match found.len() {
                    0..3 => break,
                    many if many <= most => return found,
                    _ => {}
                }
            }
            let powers: Vec<f64> = decades.map(|power| 10f64.powi(power)).filter(within).collect();
            if powers.len() > most {
                return powers.iter().copied().step_by(powers.len().div_ceil(most)).collect();
            }
        }
        let rough = (self.high - self.low) / most as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(10.0 * power);
        let (first, last) = ((self.low / step).ceil() as i64, (self.high / step).floor() as i64);
        (first..=last).map(|number| number as f64 * step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_no_more_than_wanted() {
        let near = |found: Vec<f64>, wanted: &[f64]| {
            assert_eq!(found.len(), wanted.len(), "{found:?}");
            assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
        };
        near(PlotAxis::of(0.0, 10.0, false).ticks(5), &[0.0, 2.0, 4.0, 6.0, 8.0, 10.0][..]);
        near(PlotAxis::of(-0.021, 0.013, false).ticks(5), &[-0.02, -0.01, 0.0, 0.01]);
        near(PlotAxis::of(0.3, 30.0, true).ticks(8), &[0.5, 1.0, 2.0, 5.0, 10.0, 20.0]);
        near(PlotAxis::of(0.3, 30.0, true).ticks(5), &[0.3, 1.0, 3.0, 10.0, 30.0]);
        near(PlotAxis::of(1.0, 1e9, true).ticks(4), &[1.0, 1e3, 1e6, 1e9]);
        near(PlotAxis::of(20.0, 25.0, true).ticks(5), &[20.0, 21.0, 22.0, 23.0, 24.0, 25.0]);
    }
}
