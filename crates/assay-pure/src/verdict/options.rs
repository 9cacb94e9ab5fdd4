//! What the judge must know besides the samples.

use crate::stats::margin::Margin;

/// How strict a judgement is, and at which of several planned looks it is made.
#[derive(Clone, Debug, PartialEq)]
pub struct VerdictOptions {
    /// The equivalence margin: by how much two codes may differ and be equivalent.
    pub margin: Margin,
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
    /// Contrasts of one candidate differ in their input, so that one which answers otherwise explains another. The benchmarks of a
    /// build are no such inputs.
    pub over_inputs: bool,
}

impl Default for VerdictOptions {
    fn default() -> Self {
        VerdictOptions {
            margin: Margin::of(0.01),
            confidence: 0.95,
            look: 1,
            looks: 1,
            seconds_per_rotation: None,
            unoptimised_flags: Vec::new(),
            over_inputs: true,
        }
    }
}

impl VerdictOptions {
    /// The planned number of looks, at least the one being taken: a look that nobody planned still spends.
    pub fn planned_looks(&self) -> u32 {
        self.looks.max(self.look).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_beyond_the_plan_still_counts() {
        let options = VerdictOptions { look: 7, looks: 5, ..VerdictOptions::default() };
        assert_eq!(options.planned_looks(), 7);
        assert_eq!(VerdictOptions { look: 0, looks: 0, ..VerdictOptions::default() }.planned_looks(), 1);
    }
}
