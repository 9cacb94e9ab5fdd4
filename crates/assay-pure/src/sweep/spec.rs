//! A sweep as asked: which key of an input, over which range, how finely.

use super::grid;
use super::scale::Scale;

/// One key of one input, varied.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SweepSpec {
    /// Its name, as in `[sweeps.NAME]`.
    pub name: String,
    /// One line for the report.
    pub description: Option<String>,
    /// The key by its path: `inputs.mixed.units`, `inputs.mixed.weights.1`.
    pub key: String,
    /// Smallest value.
    pub from: f64,
    /// Largest value.
    pub to: f64,
    /// Points of the first step.
    pub points: u32,
    /// The points of the first step one by one, rising, instead of a range; empty where there is one.
    pub values: Vec<f64>,
    /// Which points lie equally far apart.
    pub scale: Scale,
    /// Most points beyond those of the first step.
    pub refine: u32,
    /// How narrow a crossover is wanted; `None`: see [`SweepSpec::wanted_width`].
    pub tolerance: Option<Tolerance>,
    /// Values are shares, shown in per cent.
    pub percent: bool,
    /// The key takes whole numbers only.
    pub whole: bool,
    /// Only these variants (globs) beside the baseline; empty: all.
    pub variants: Vec<String>,
}

/// How narrow the interval of a crossover is wanted.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tolerance {
    /// Its whole width in the key's unit.
    Absolute(f64),
    /// Its whole width as a part of where it lies.
    Relative(f64),
}

/// Points of the first step by default.
pub const POINTS: u32 = 9;
/// Further points by default.
pub const REFINE: u32 = 12;
/// Parts of a linear range, one of which is the wanted width by default.
const PARTS: f64 = 50.0;
/// The wanted width on a geometric scale by default.
const RELATIVE: f64 = 0.1;

impl SweepSpec {
    /// A linear sweep of a key over a range, with every default.
    pub fn over(key: &str, from: f64, to: f64) -> SweepSpec {
        SweepSpec {
            name: "sweep".into(),
            description: None,
            key: key.into(),
            from,
            to,
            points: POINTS,
            values: Vec::new(),
            scale: Scale::Linear,
            refine: REFINE,
            tolerance: None,
            percent: false,
            whole: false,
            variants: Vec::new(),
        }
    }

    /// The points of the first step, rising, each once; whole where the key takes whole numbers only.
    pub fn grid(&self) -> Vec<f64> {
        if self.values.is_empty() {
            grid::between(self.from, self.to, self.points, self.scale, self.whole)
        } else {
            grid::distinct(&self.values, self.whole)
        }
    }

    /// The wanted width of a crossover that lies at `value`, in the key's unit; at least 1 where values are whole.
    pub fn wanted_width(&self, value: f64) -> f64 {
        let width = match (self.tolerance, self.scale) {
            (Some(Tolerance::Absolute(width)), _) => width,
            (Some(Tolerance::Relative(part)), _) => part * value.abs(),
            (None, Scale::Geometric) => RELATIVE * value.abs(),
            (None, Scale::Linear) => (self.to - self.from) / PARTS,
        };
        if self.whole { width.max(1.0) } else { width }
    }

    /// A value as the key takes it.
    pub fn fitting(&self, value: f64) -> f64 {
        if self.whole { value.round() } else { value }
    }

    /// The input that the key belongs to.
    pub fn input(&self) -> &str {
        self.key.split('.').nth(1).unwrap_or_default()
    }

    /// The key without `inputs.NAME.`, as it stands in the input's table.
    pub fn label(&self) -> &str {
        self.key.splitn(3, '.').nth(2).unwrap_or(&self.key)
    }

    /// The name of the input at a point: `mixed[units=4096]`.
    pub fn point_name(&self, input: &str, value: f64) -> String {
        format!("{input}[{}={value}]", self.label())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::sample::spec;

    #[test]
    fn a_width_follows_the_scale_unless_somebody_says_so() {
        let linear = spec(0.0, 1.0, 5);
        assert!((linear.wanted_width(0.3) - 0.02).abs() < 1e-15);
        let geometric = SweepSpec { scale: Scale::Geometric, ..spec(10.0, 1000.0, 3) };
        assert!((geometric.wanted_width(200.0) - 20.0).abs() < 1e-12);
        let said = SweepSpec { tolerance: Some(Tolerance::Relative(0.5)), ..linear.clone() };
        assert!((said.wanted_width(0.4) - 0.2).abs() < 1e-15);
        let said = SweepSpec { tolerance: Some(Tolerance::Absolute(0.1)), whole: true, ..linear };
        assert_eq!(said.wanted_width(40.0), 1.0, "whole numbers lie no nearer");
    }

    #[test]
    fn a_point_is_named_after_its_key_and_value() {
        let sweep = SweepSpec { key: "inputs.mixed.settings.loss".into(), ..spec(0.0, 1.0, 5) };
        assert_eq!((sweep.input(), sweep.label()), ("mixed", "settings.loss"));
        assert_eq!(sweep.point_name("mixed@cold-data", 0.25), "mixed@cold-data[settings.loss=0.25]");
        assert_eq!(sweep.point_name("mixed", 4096.0), "mixed[settings.loss=4096]");
    }
}
