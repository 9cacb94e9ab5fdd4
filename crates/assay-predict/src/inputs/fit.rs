//! A generator fitted to recorded data, so that an input can be shared without the data.
//!
//! What a decoder's branches notice of a varint stream is the order of the encoded lengths, so that is what is fitted: a
//! table of contexts of varying length (`tree`), grown as deep as the data support and pruned by the Bayesian information
//! criterion; beside it the weights of the values' bit lengths. Whether that is enough is not believed but tried:
//! `closeness` lets simulated predictors decode the recorded and the fitted stream side by side, and `refusal` says in
//! words why a fit is not to be used. Some data are refused beforehand, because a memory of some lengths cannot hold them:
//! too few, sorted, or a stretch repeated (`structure`).
//!
//! What a table reveals of the data: how many units there are, shares of encoded lengths, of bit lengths, and what followed
//! which sequence of lengths, each context and each bit length seen [`LEAST_SEEN`] times at least, all rounded to four
//! digits. No value is in it, nor where one stood. That some value has an unusual encoded length still shows.
//!
//! Checked: chains of known order, bursts and weights are recovered within sampling error; data that are planted with
//! long periods, sorted stretches, interleaved or changing streams are refused; the rates of both in the slow lane.

pub mod closeness;
pub mod deal;
pub mod kind;
pub mod numbers;
pub mod refusal;
pub mod simulate;
pub mod structure;
pub mod tree;

use super::markov::{Markov, bits_of_length, write_context};
use super::varint::{MAX_LENGTH, decode_varints, encoded_length, varint_lengths};
use super::{Format, FormatError, Generator};
pub use closeness::{BranchCondition, Closeness, Entropy, FitFigure, compare};
pub use deal::deal;
pub use kind::{RecordingKind, kind};
pub use refusal::{FigureComparison, FitRefusal};
pub use structure::{Runs, structure};
pub use tree::LEAST_SEEN;

/// Units that are looked at: the first so many of a longer file, in which all that a predictor remembers comes often.
pub const MOST_UNITS: usize = 1 << 20;

/// Contexts in a table: more are pruned until so many are left, for a table that a person can still look over.
pub const MOST_CONTEXTS: usize = 512;

/// A recorded stream as far as it is fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Encoded lengths of the units that are looked at, bytes.
    pub lengths: Vec<u8>,
    /// Values by bit length, of those in their shortest encoding.
    pub bits: [u64; 65],
    /// Values that are not in their shortest encoding.
    pub padded: u64,
    /// Units of the whole stream.
    pub units: u64,
}

impl Recorded {
    /// Reads a stream of varints.
    ///
    /// # Errors
    /// It is no such stream.
    pub fn read(bytes: &[u8]) -> Result<Recorded, FormatError> {
        let lengths = varint_lengths(bytes)?;
        let units = lengths.len() as u64;
        let looked_at = lengths.len().min(MOST_UNITS);
        let size: u64 = lengths[..looked_at].iter().sum();
        let values = decode_varints(&bytes[..size as usize])?;
        let mut recorded = Recorded { lengths: Vec::new(), bits: [0; 65], padded: 0, units };
        for (&length, value) in lengths[..looked_at].iter().zip(values) {
            recorded.lengths.push(length as u8);
            if encoded_length(value) == length as usize {
                recorded.bits[(64 - value.leading_zeros()) as usize] += 1;
            } else {
                recorded.padded += 1;
            }
        }
        Ok(recorded)
    }

    /// The lengths of a generated stream.
    ///
    /// Panics if it is no stream of varints.
    pub fn lengths_of(bytes: &[u8]) -> Vec<u8> {
        let lengths = Format::Varint.unit_lengths(bytes).expect("a generated stream is well formed");
        lengths.into_iter().map(|length| length as u8).collect()
    }
}

/// A fitted generator.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// The generator.
    pub markov: Markov,
    /// Bits per unit that the lengths take by the table before rounding, its own size not counted.
    pub bits_per_unit: f64,
    /// By how much the criterion's penalty had to be raised for the table to have its size; 1: it is the criterion's own.
    pub strictness: f64,
}

/// Fits a table of contexts to a recorded stream.
///
/// Input: at least one unit. `most_contexts`: the largest table, at least 1.
/// Cost: about 0.2 µs per unit and length of memory, and a few words of memory per context that is seen often.
pub fn fit(recorded: &Recorded, most_contexts: usize) -> Fitted {
    let pruned = tree::fit(&recorded.lengths, most_contexts);
    let contexts =
        pruned.contexts.iter().map(|(context, counts)| (write_context(context), rounded(counts))).collect();
    let seen: [bool; MAX_LENGTH] =
        std::array::from_fn(|at| recorded.lengths.iter().any(|&length| usize::from(length) == at + 1));
    let markov = Markov { contexts, bits: bits(recorded, seen) };
    Fitted { markov, bits_per_unit: pruned.bits_per_unit, strictness: pruned.strictness }
}

/// The lengths of the stream that a fit makes from a seed.
///
/// Panics if [`Markov::check`] fails.
pub fn stream(markov: &Markov, units: u64, seed: u64) -> Vec<u8> {
    Recorded::lengths_of(&Generator::Markov(markov.clone()).generate(units, seed))
}

/// Weights of bit lengths up to the largest. What was seen too rarely to be told is left out; where nothing is left of an
/// encoded length that comes, its bit lengths are alike.
fn bits(recorded: &Recorded, seen: [bool; MAX_LENGTH]) -> Vec<f64> {
    let mut counts = recorded.bits.map(|count| if count < LEAST_SEEN { 0 } else { count });
    for length in (1..=MAX_LENGTH).filter(|&length| seen[length - 1]) {
        if counts[bits_of_length(length)].iter().sum::<u64>() == 0 {
            counts[bits_of_length(length)].fill(1);
        }
    }
    let last = counts.iter().rposition(|&count| count > 0).map_or(0, |at| at + 1);
    rounded(&counts[..last])
}

/// Counts as percentages of four digits; what is there stays there, and trailing nothing is left out.
fn rounded(counts: &[u64]) -> Vec<f64> {
    let sum: u64 = counts.iter().sum();
    let last = counts.iter().rposition(|&count| count > 0).map_or(0, |at| at + 1);
    counts[..last].iter().map(|&count| four_digits(100.0 * count as f64 / sum.max(1) as f64)).collect()
}

/// A number with four significant digits.
pub(super) fn four_digits(number: f64) -> f64 {
    format!("{number:.3e}").parse().expect("a number that was just written")
}

#[cfg(test)]
mod tests;
