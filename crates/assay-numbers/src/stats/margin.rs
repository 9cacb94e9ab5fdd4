//! How small a difference of two times is too small to matter: the equivalence margin δ, the `minimum_effect` of a file.
//!
//! Method: it is asked for as a fraction of the time ("1 %") and used as ln(1 + δ), so that it means the same in both
//! directions: 1 % slower is a ratio of 1.01, 1 % faster one of 1/1.01, not 0.99. This is the only place that turns the one
//! into the other. Checked: by hand, against logarithms from a table.

/// The equivalence margin.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Margin {
    relative: f64,
}

impl Margin {
    /// From the relative effect: 0.01 calls two times equivalent within 1 %. A negative one or no number is 0.
    pub const fn of(relative: f64) -> Self {
        Self { relative: relative.max(0.0) }
    }

    /// The relative effect, as it was asked for.
    pub const fn relative(self) -> f64 {
        self.relative
    }

    /// ln(1 + δ): what the logarithm of a ratio is compared with.
    pub fn ln(self) -> f64 {
        self.relative.ln_1p()
    }

    /// The ratios between which two times are equivalent.
    pub fn ratios(self) -> (f64, f64) {
        ((-self.ln()).exp(), self.ln().exp())
    }

    /// Whether a logarithm of a ratio lies beyond the margin, in either direction. What lies on it is within.
    pub fn is_exceeded_by_ln(self, log_ratio: f64) -> bool {
        log_ratio.abs() > self.ln()
    }

    /// Whether a ratio lies beyond the margin, in either direction.
    pub fn is_exceeded_by(self, ratio: f64) -> bool {
        self.is_exceeded_by_ln(ratio.ln())
    }

    /// Whether a ratio is 1 within the margin. A negative ratio or no number neither is nor lies beyond.
    pub fn covers(self, ratio: f64) -> bool {
        ratio.ln().abs() <= self.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_that_of_a_table() {
        // Abramowitz and Stegun, table 4.2: ln 1.01, ln 1.02, ln 1.25, ln 1.5.
        let table = [(0.01, 0.009_950_33), (0.02, 0.019_802_63), (0.25, 0.223_143_55), (0.5, 0.405_465_11)];
        for (relative, log) in table {
            assert!((Margin::of(relative).ln() - log).abs() < 5e-9, "{relative}");
        }
    }

    #[test]
    fn both_directions_are_alike() {
        // 1/1.25 is 0.8 exactly; a margin on the linear scale would have ended at 0.75.
        let margin = Margin::of(0.25);
        let (low, high) = margin.ratios();
        assert!((low - 0.8).abs() < 1e-15 && (high - 1.25).abs() < 1e-15);
        let within = [1.0, 1.2499, 0.8001];
        let beyond = [1.2501, 0.7999, 0.76];
        assert!(within.iter().all(|ratio| margin.covers(*ratio) && !margin.is_exceeded_by(*ratio)));
        assert!(beyond.iter().all(|ratio| margin.is_exceeded_by(*ratio) && !margin.covers(*ratio)));
    }

    #[test]
    fn what_lies_on_the_margin_is_within_it() {
        let margin = Margin::of(0.01);
        assert!(!margin.is_exceeded_by_ln(margin.ln()) && !margin.is_exceeded_by_ln(-margin.ln()));
        assert!(!Margin::of(0.0).is_exceeded_by(1.0) && Margin::of(0.0).is_exceeded_by(1.0 + 1e-15));
    }

    #[test]
    fn what_is_no_ratio_is_neither_within_nor_beyond() {
        let margin = Margin::of(0.01);
        let none = [-1.0, f64::NAN];
        assert!(none.iter().all(|ratio| !margin.is_exceeded_by(*ratio) && !margin.covers(*ratio)));
        let ends = [0.0, f64::INFINITY];
        assert!(ends.iter().all(|ratio| margin.is_exceeded_by(*ratio) && !margin.covers(*ratio)));
    }

    #[test]
    fn less_than_nothing_is_nothing() {
        assert_eq!(Margin::of(-0.01).relative(), 0.0);
        assert_eq!(Margin::of(f64::NAN).relative(), 0.0);
    }

    #[test]
    fn it_is_written_as_it_was_asked_for() {
        assert_eq!(serde_json::to_string(&Margin::of(0.01)).unwrap(), "0.01");
        assert_eq!(serde_json::from_str::<Margin>("0.02").unwrap(), Margin::of(0.02));
    }
}
