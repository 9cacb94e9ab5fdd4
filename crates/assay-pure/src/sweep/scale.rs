//! On which scale points lie equally far apart.

/// Which points lie equally far apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Equal differences.
    #[default]
    Linear,
    /// Equal ratios.
    Geometric,
}

impl Scale {
    /// Where a value lies on the scale: itself, or its natural logarithm.
    pub fn place(self, value: f64) -> f64 {
        match self {
            Scale::Linear => value,
            Scale::Geometric => value.ln(),
        }
    }

    /// The value at a place: the inverse of [`Scale::place`].
    pub fn value(self, place: f64) -> f64 {
        match self {
            Scale::Linear => place,
            Scale::Geometric => place.exp(),
        }
    }
}
