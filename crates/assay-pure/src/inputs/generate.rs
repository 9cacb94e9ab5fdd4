//! Seeded generators of LEB128 varint streams. The same generator, units and seed give the same bytes for ever.

/// A generator of a varint stream. Lengths are encoded bytes per value, 1 to 10.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "generator", rename_all = "snake_case")]
pub enum Generator {
    /// Independent lengths with these weights: `weights[k]` for k + 1 bytes; values uniform within their length.
    Lengths {
        /// Weights, at most 10, need not sum to 1.
        weights: Vec<f64>,
    },
    /// Log-uniform: bit length uniform from `min_bits` to `max_bits` (0 is the value 0), then uniform within it.
    LogUniform {
        /// Smallest bit length.
        min_bits: u32,
        /// Largest bit length, at most 64.
        max_bits: u32,
    },
    /// Values uniform over min..=max.
    UniformValue {
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// Lengths uniform over min..=max bytes.
    UniformLength {
        /// Shortest encoding.
        min: u32,
        /// Longest encoding.
        max: u32,
    },
    /// Every value has this many bytes: 1 is the best case, 5 the worst of 32-bit values, 10 of 64-bit values.
    Constant {
        /// Bytes per value.
        length: u32,
    },
    /// A Markov mix with bursts: a length is kept for a geometric number of values with this mean, then drawn anew
    /// by weight, so the marginals are those of `weights` and the sequence is predictable.
    Bursts {
        /// Weights as in `Lengths`.
        weights: Vec<f64>,
        /// Mean number of values between two draws.
        mean_length: f64,
    },
}
