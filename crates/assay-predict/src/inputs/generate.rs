//! Seeded generators: of LEB128 varint streams here, of all else in `kinds`. The same generator, units and seed give the same bytes for ever.
//!
//! All encodings are the shortest; within the length (or bit length) that a generator draws, values are uniform. How
//! random numbers become integers is laid down in `draw`; the order of the draws is part of the interface too and is
//! written at [`Generator::generate`]. What each generator does to a predictor follows from the exact probabilities
//! that [`Generator::expected_lengths`] derives, without sampling.
//!
//! Checked: golden digests from a separate implementation in Python; the shares of samples against the exact
//! probabilities; means and floors worked out by hand.

use super::draw::{Draw, Threshold, Weights};
use super::format::Format;
use super::kinds::InputRecipe;
use super::markov::{Markov, MarkovError};
use super::varint::{MAX_LENGTH, encoded_length, push_varint, values_of_length};

/// The longest encoding, as parameters say it.
const MAX_BYTES: u32 = MAX_LENGTH as u32;

/// A generator. Of varint streams, lengths are encoded bytes per value, 1 to 10.
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
    /// Lengths by the lengths before them, as fitted to recorded data.
    Markov(Markov),
    /// Anything but varints: see [`kinds`](super::kinds).
    #[serde(untagged)]
    Of(InputRecipe),
}

/// Why a generator's parameters make no stream.
#[derive(Clone, Debug, PartialEq)]
pub enum GeneratorError {
    /// There are no weights, more than ten, or none above 0.
    WeightCount {
        /// Weights given.
        have: usize,
        /// Of these, above 0.
        positive: usize,
    },
    /// A weight is negative or not finite, or their sum is beyond all bounds.
    Weight {
        /// Index of the weight with which it goes wrong.
        index: usize,
        /// That weight.
        weight: f64,
    },
    /// Bit lengths must rise from `min_bits` to `max_bits` and end at 64.
    Bits {
        /// Smallest bit length asked for.
        min_bits: u32,
        /// Largest bit length asked for.
        max_bits: u32,
    },
    /// The smallest value is above the largest.
    Values {
        /// Smallest value asked for.
        min: u64,
        /// Largest value asked for.
        max: u64,
    },
    /// Encoded lengths must rise from `min` to `max` within 1 to 10.
    Lengths {
        /// Shortest length asked for.
        min: u32,
        /// Longest length asked for.
        max: u32,
    },
    /// A burst must last at least one value on average.
    MeanLength {
        /// Mean asked for.
        mean_length: f64,
    },
    /// The table of a `markov` makes no stream.
    Markov(MarkovError),
}

impl std::fmt::Display for GeneratorError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            GeneratorError::WeightCount { have, positive } => write!(
                f,
                "weights needs 1 to 10 numbers (the first for values of one byte), at least one above 0; \
                 it has {have}, {positive} above 0"
            ),
            GeneratorError::Weight { index, weight } => {
                write!(
                    f,
                    "weight {weight} (number {}) must be finite and not negative, as must the sum",
                    index + 1
                )
            }
            GeneratorError::Bits { min_bits, max_bits } => {
                write!(
                    f,
                    "bit lengths must rise from min_bits to max_bits, at most 64; they are {min_bits} and {max_bits}"
                )
            }
            GeneratorError::Values { min, max } => write!(f, "min = {min} is above max = {max}"),
            GeneratorError::Lengths { min, max } if min == max => {
                write!(f, "an encoded length must be 1 to 10 bytes; it is {min}")
            }
            GeneratorError::Lengths { min, max } => {
                write!(
                    f,
                    "encoded lengths must rise from min to max within 1 to 10 bytes; they are {min} and {max}"
                )
            }
            GeneratorError::MeanLength { mean_length } => {
                write!(f, "mean_length must be a number of values, at least 1; it is {mean_length}")
            }
            GeneratorError::Markov(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for GeneratorError {}

impl Generator {
    /// Whether the parameters are within their domains; the error carries those that are not.
    pub fn check(&self) -> Result<(), GeneratorError> {
        match *self {
            Generator::Lengths { ref weights } => check_weights(weights),
            Generator::LogUniform { min_bits, max_bits } if min_bits > max_bits || max_bits > 64 => {
                Err(GeneratorError::Bits { min_bits, max_bits })
            }
            Generator::UniformValue { min, max } if min > max => Err(GeneratorError::Values { min, max }),
            Generator::UniformLength { min, max } => check_lengths(min, max),
            Generator::Constant { length } => check_lengths(length, length),
            Generator::Bursts { ref weights, mean_length } => {
                check_weights(weights)?;
                // Also refuses NaN.
                let long_enough = mean_length >= 1.0 && mean_length.is_finite();
                if long_enough { Ok(()) } else { Err(GeneratorError::MeanLength { mean_length }) }
            }
            Generator::Markov(ref markov) => markov.check().map_err(GeneratorError::Markov),
            // It was checked when it was made; the rest depends on the units.
            Generator::Of(_) => Ok(()),
            Generator::LogUniform { .. } | Generator::UniformValue { .. } => Ok(()),
        }
    }

    /// How its units are found.
    pub fn format(&self) -> Format {
        match self {
            Generator::Of(recipe) => recipe.format(),
            _ => Format::Varint,
        }
    }

    /// The stream of `units` values that this generator makes from `seed`.
    ///
    /// Draws per value, in this order: of `lengths`, the length, the value; of `log_uniform`, the bit length, the bits
    /// below the top one (none for the value 0); of `uniform_value`, the value; of `uniform_length`, the length, the
    /// value; of `constant`, the value; of `bursts`, whether the burst ends (not for the first value), the length if it
    /// did, the value; of `markov`, see there. A value within a length, and each of the others, is one bounded draw of `draw`.
    ///
    /// Panics if [`Generator::check`] fails.
    /// Cost: about 10 ns per value.
    pub fn generate(&self, units: u64, seed: u64) -> Vec<u8> {
        if let Generator::Of(recipe) = self {
            return recipe.generate(units, seed);
        }
        self.check().expect("the caller has checked the generator");
        let mut draw = Draw::new(seed);
        let mut bytes = Vec::with_capacity(self.capacity(units));
        match *self {
            Generator::Of(_) => unreachable!("returned above"),
            Generator::Markov(ref markov) => return markov.generate(units, seed),
            Generator::Lengths { ref weights } => {
                let weights = Weights::new(weights);
                fill(&mut bytes, units, || {
                    let length = draw.weighted(&weights) + 1;
                    value_of_length(&mut draw, length)
                });
            }
            Generator::LogUniform { min_bits, max_bits } => {
                fill(&mut bytes, units, || match draw.between(u64::from(min_bits), u64::from(max_bits)) {
                    0 => 0,
                    bits => draw.between(1 << (bits - 1), u64::MAX >> (64 - bits)),
                })
            }
            Generator::UniformValue { min, max } => fill(&mut bytes, units, || draw.between(min, max)),
            Generator::UniformLength { min, max } => fill(&mut bytes, units, || {
                let length = draw.between(u64::from(min), u64::from(max)) as usize;
                value_of_length(&mut draw, length)
            }),
            Generator::Constant { length } => {
                fill(&mut bytes, units, || value_of_length(&mut draw, length as usize));
            }
            Generator::Bursts { ref weights, mean_length } => {
                let (weights, ends) = (Weights::new(weights), Threshold::new(1.0 / mean_length));
                let mut length = None;
                fill(&mut bytes, units, || {
                    let kept = length.filter(|_| !draw.happens(ends));
                    let now = kept.unwrap_or_else(|| draw.weighted(&weights) + 1);
                    length = Some(now);
                    value_of_length(&mut draw, now)
                });
            }
        }
        bytes
    }

    /// About how many bytes so many units have; rather too many.
    pub fn expected_bytes(&self, units: u64) -> u128 {
        let unit_bytes = match self {
            Generator::Of(recipe) => recipe.unit_bytes(),
            // Nobody needs more values than fit if each were the longest.
            Generator::Markov(_) => u64::from(MAX_BYTES),
            _ => return self.capacity(units) as u128,
        };
        u128::from(units) * u128::from(unit_bytes)
    }

    /// The exact probability of each encoded length: index 0 for one byte, up to the longest that can occur.
    ///
    /// Of `bursts` these are the shares in the long run; any one value has them too, but neighbours are not independent.
    /// `None` of `markov`: they follow from its whole table, and nobody needs them exactly. `None` of what makes no varints.
    ///
    /// Panics if [`Generator::check`] fails.
    /// Source: counting the values (or bit lengths) of each encoded length.
    /// Checked: against means and floors worked out by hand, and against samples.
    pub fn expected_lengths(&self) -> Option<Vec<f64>> {
        self.check().expect("the caller has checked the generator");
        let mut probabilities = match *self {
            Generator::Markov(_) | Generator::Of(_) => return None,
            Generator::Lengths { ref weights } | Generator::Bursts { ref weights, .. } => {
                Weights::new(weights).probabilities()
            }
            Generator::LogUniform { min_bits, max_bits } => {
                // Each bit length is as likely as any other, and all values of one have the same encoded length.
                let mut counts = [0.0; MAX_LENGTH];
                for bits in min_bits..=max_bits {
                    counts[bits.div_ceil(7).max(1) as usize - 1] += 1.0;
                }
                counts.map(|count| count / f64::from(max_bits - min_bits + 1)).to_vec()
            }
            Generator::UniformValue { min, max } => (1..=MAX_LENGTH)
                .map(|length| {
                    let (low, high) = values_of_length(length);
                    span(low.max(min), high.min(max)) / span(min, max)
                })
                .collect(),
            Generator::UniformLength { min, max } => (1..=max)
                .map(|length| if length < min { 0.0 } else { 1.0 / f64::from(max - min + 1) })
                .collect(),
            Generator::Constant { length } => {
                (1..=length).map(|k| if k == length { 1.0 } else { 0.0 }).collect()
            }
        };
        let longest =
            probabilities.iter().rposition(|&probability| probability > 0.0).expect("some length occurs");
        probabilities.truncate(longest + 1);
        Some(probabilities)
    }

    /// Whether the lengths are independent of each other, so that the floor of
    /// [`floor_from_probabilities`](super::floor_from_probabilities) holds for every predictor.
    pub fn independent(&self) -> bool {
        match self {
            // Bursts of one value on average end after each; and with one length there is nothing to tell apart.
            Generator::Bursts { weights, mean_length } => {
                *mean_length == 1.0 || weights.iter().filter(|&&weight| weight > 0.0).count() == 1
            }
            Generator::Markov(markov) => markov.independent(),
            // The floor is of varints.
            Generator::Of(_) => false,
            _ => true,
        }
    }

    /// Bytes to set aside: what is expected and a little more, since growing copies.
    fn capacity(&self, units: u64) -> usize {
        let shares = self.expected_lengths().unwrap_or_default();
        let mean: f64 = shares.iter().zip(1..).map(|(share, length)| share * f64::from(length)).sum();
        (units as f64 * mean * 1.01) as usize + 64
    }
}

/// Appends `units` values.
fn fill(bytes: &mut Vec<u8>, units: u64, mut value: impl FnMut() -> u64) {
    for _ in 0..units {
        push_varint(bytes, value());
    }
}

/// A value uniform over those whose shortest encoding has `length` bytes.
fn value_of_length(draw: &mut Draw, length: usize) -> u64 {
    let (min, max) = values_of_length(length);
    let value = draw.between(min, max);
    debug_assert_eq!(encoded_length(value), length);
    value
}

/// How many values lie in `min..=max`; 0 if they are out of order.
fn span(min: u64, max: u64) -> f64 {
    if min > max { 0.0 } else { (u128::from(max) - u128::from(min) + 1) as f64 }
}

fn check_weights(weights: &[f64]) -> Result<(), GeneratorError> {
    let mut sum = 0.0;
    for (index, &weight) in weights.iter().enumerate() {
        sum += weight;
        // Written so that NaN fails.
        let valid = weight >= 0.0 && f64::is_finite(sum);
        if !valid {
            return Err(GeneratorError::Weight { index, weight });
        }
    }
    let positive = weights.iter().filter(|&&weight| weight > 0.0).count();
    if weights.len() > MAX_LENGTH || positive == 0 {
        return Err(GeneratorError::WeightCount { have: weights.len(), positive });
    }
    Ok(())
}

fn check_lengths(min: u32, max: u32) -> Result<(), GeneratorError> {
    let valid = 1 <= min && min <= max && max <= MAX_BYTES;
    if valid { Ok(()) } else { Err(GeneratorError::Lengths { min, max }) }
}

#[cfg(test)]
mod tests;
