//! Inputs: seeded generators, units and windows in bytes, and a description of what a predictor sees in them.

#[cfg(test)]
mod asked;
pub mod describe;
pub mod digest;
mod draw;
pub mod fit;
pub mod floor;
pub mod format;
mod format_error;
pub mod generate;
mod guess;
mod history;
pub mod keys;
pub mod kinds;
pub mod markov;
mod number;
mod period;
mod repeat;
mod sequence;
mod settings;
mod summary;
mod text_facts;
pub mod varint;
mod weights;

pub use describe::{ClassShare, Description, describe};
pub use digest::{digest, short_digest};
pub use floor::{branches_from_probabilities, floor_from_probabilities};
pub use format::{FORMATS, Format, LengthPrefix, Window};
pub use format_error::FormatError;
pub use generate::{Generator, GeneratorError};
pub use guess::{Guess, guess};
pub use history::OrderFacts;
pub use markov::{Markov, MarkovError};
pub use number::NumberType;
pub use repeat::repeated;
pub use settings::Settings;
pub use varint::decode_varints;
pub use weights::with_multi_byte;
