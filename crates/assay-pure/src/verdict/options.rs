//! What the judge must know besides the samples.

/// How strict a judgement is, and at which of several planned looks it is made.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The equivalence margin δ as a fraction: 0.01 calls two codes equivalent within 1 %.
    pub minimum_effect: f64,
    /// Confidence of the experiment as a whole, over all its contrasts and all looks.
    pub confidence: f64,
    /// Which look this is, from 1.
    pub look: u32,
    /// How many looks are planned at most; the error budget is shared out over them.
    pub looks: u32,
    /// What one more rotation of the whole experiment would take, where known.
    pub seconds_per_rotation: Option<f64>,
    /// Names of flag sets that compile without optimisation.
    pub unoptimised_flags: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            minimum_effect: 0.01,
            confidence: 0.95,
            look: 1,
            looks: 1,
            seconds_per_rotation: None,
            unoptimised_flags: Vec::new(),
        }
    }
}

impl Options {
    /// δ on the log scale: ln(1 + minimum_effect), so that the margin is the same in both directions.
    pub fn margin(&self) -> f64 {
        self.minimum_effect.max(0.0).ln_1p()
    }

    /// The planned number of looks, at least the one being taken: a look that nobody planned still spends.
    pub fn planned_looks(&self) -> u32 {
        self.looks.max(self.look).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_is_symmetric_in_ratios() {
        let options = Options { minimum_effect: 0.25, ..Options::default() };
        assert!((options.margin().exp() - 1.25).abs() < 1e-12);
        assert!(((-options.margin()).exp() - 0.8).abs() < 1e-12);
    }

    #[test]
    fn a_look_beyond_the_plan_still_counts() {
        let options = Options { look: 7, looks: 5, ..Options::default() };
        assert_eq!(options.planned_looks(), 7);
        assert_eq!(Options { look: 0, looks: 0, ..Options::default() }.planned_looks(), 1);
    }
}
