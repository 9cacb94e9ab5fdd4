//! Lengths that depend on the lengths before them: the generator that a fit writes.
//!
//! A table has weights of the next length for some contexts, each a sequence of the last lengths. The longest context of
//! the table that the stream so far ends with decides: a chain whose memory is as long as it has to be and no longer
//! (Rissanen, "A universal data compression system", IEEE Trans. Inf. Theory 29(5), 1983, calls it a context tree). A
//! stretch of equal lengths is a context too, so runs that are not geometric are held as far as contexts reach.
//!
//! Checked: golden digests from a separate implementation in Python; shares and transitions of samples against the table.

use super::draw::{Draw, Weights};
use super::varint::{MAX_LENGTH, push_varint, values_of_length};
use std::collections::BTreeMap;

/// The longest context, lengths.
pub const LONGEST_CONTEXT: usize = 32;

/// The most bit lengths that values have: 0 to 64.
const BIT_LENGTHS: usize = 65;

/// The parameters of the generator `markov`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Markov {
    /// Weights of the next length, the first for one byte, by the lengths before, the latest last: `"1 2"` is after a
    /// value of one byte and then one of two. `""` must be there: it is for the start, and for all that nothing else fits.
    pub contexts: BTreeMap<String, Vec<f64>>,
    /// Weights of bit lengths, the first for the value 0: within an encoded length, bit lengths come by these, and values
    /// are uniform within theirs. Empty: values are uniform within their encoded length.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bits: Vec<f64>,
}

/// Why a table makes no stream.
#[derive(Clone, Debug, PartialEq)]
pub enum MarkovError {
    /// There is no context `""`.
    NoRoot,
    /// A context is no sequence of at most 32 lengths from 1 to 10 with single spaces between.
    Context {
        /// As it is written.
        context: String,
    },
    /// A context has no weights, more than ten, none above 0, or one that is negative or not finite.
    Weights {
        /// The context.
        context: String,
    },
    /// There are more than 65 weights of bit lengths, or one is negative or not finite.
    Bits {
        /// Weights given.
        have: usize,
    },
    /// Values of this encoded length come, but none of their bit lengths has a weight.
    BitsOfLength {
        /// The encoded length, bytes.
        length: usize,
    },
}

impl std::fmt::Display for MarkovError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MarkovError::NoRoot => {
                f.write_str("contexts has no \"\", the weights for the start of the stream")
            }
            MarkovError::Context { context } => {
                write!(
                    f,
                    "\"{context}\" is not a valid context: at most 32 lengths from 1 to 10 with single spaces between"
                )
            }
            MarkovError::Weights { context } => write!(
                f,
                "context \"{context}\" needs 1 to 10 weights (the first for values of one byte), none negative, not all 0"
            ),
            MarkovError::Bits { have } => {
                write!(
                    f,
                    "bits needs at most 65 weights (the first for the value 0), none negative; it has {have}"
                )
            }
            MarkovError::BitsOfLength { length } => {
                write!(f, "bits has no weight for any value of {length} bytes, but contexts makes some")
            }
        }
    }
}

impl std::error::Error for MarkovError {}

/// The lengths of a context as it is written; `None` if it is none.
pub fn parse_context(text: &str) -> Option<Vec<u8>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    let lengths: Option<Vec<u8>> = text.split(' ').map(length).collect();
    lengths.filter(|lengths| lengths.len() <= LONGEST_CONTEXT)
}

/// A length without sign or leading zero, so that each context is written in one way.
fn length(text: &str) -> Option<u8> {
    let length = text.parse().ok().filter(|length| (1..=MAX_LENGTH as u8).contains(length))?;
    (text.len() == if length < 10 { 1 } else { 2 }).then_some(length)
}

/// A context as it is written.
pub fn write_context(lengths: &[u8]) -> String {
    lengths.iter().map(u8::to_string).collect::<Vec<_>>().join(" ")
}

/// The bit lengths of values with this encoded length, 1 to 10.
pub(super) fn bits_of_length(length: usize) -> std::ops::RangeInclusive<usize> {
    let first = if length == 1 { 0 } else { 7 * (length - 1) + 1 };
    first..=(7 * length).min(64)
}

impl Markov {
    /// Whether the table makes a stream; the error says where not.
    pub fn check(&self) -> Result<(), MarkovError> {
        for (context, weights) in &self.contexts {
            if parse_context(context).is_none() {
                return Err(MarkovError::Context { context: context.clone() });
            }
            if weights.len() > MAX_LENGTH || !usable(weights) || !weights.iter().any(|&weight| weight > 0.0) {
                return Err(MarkovError::Weights { context: context.clone() });
            }
        }
        if !self.contexts.contains_key("") {
            return Err(MarkovError::NoRoot);
        }
        if self.bits.len() > BIT_LENGTHS || !usable(&self.bits) {
            return Err(MarkovError::Bits { have: self.bits.len() });
        }
        let lacking = (1..=MAX_LENGTH).find(|&length| {
            let comes =
                self.contexts.values().any(|weights| weights.get(length - 1).is_some_and(|&w| w > 0.0));
            comes && !self.bits.is_empty() && self.weights_of_bits(length).iter().sum::<f64>() == 0.0
        });
        lacking.map_or(Ok(()), |length| Err(MarkovError::BitsOfLength { length }))
    }

    /// The longest context, lengths.
    pub fn order(&self) -> usize {
        self.contexts.keys().filter_map(|context| parse_context(context)).map(|c| c.len()).max().unwrap_or(0)
    }

    /// Whether no length depends on another.
    pub(super) fn independent(&self) -> bool {
        let mut rows = self.contexts.values().map(|weights| Weights::new(weights).probabilities());
        let first = rows.next();
        rows.all(|row| Some(&row) == first.as_ref())
    }

    /// The stream of `units` values from `seed`.
    ///
    /// Draws per value, in this order: the length by weight; where `bits` has weights, the bit length by weight; the value
    /// within its bit length (none for the value 0) or its length.
    ///
    /// Panics if [`Markov::check`] fails.
    pub(super) fn generate(&self, units: u64, seed: u64) -> Vec<u8> {
        self.check().expect("the caller has checked the generator");
        let tree = ContextTree::of(&self.contexts);
        let bits: Vec<Option<Weights>> = (1..=MAX_LENGTH)
            .map(|length| {
                let weights = self.weights_of_bits(length);
                (weights.iter().sum::<f64>() > 0.0).then(|| Weights::new(&weights))
            })
            .collect();
        let mut draw = Draw::new(seed);
        let mut bytes = Vec::with_capacity(units as usize * 2);
        let mut history = 0u128;
        for _ in 0..units {
            let length = draw.weighted(tree.weights(history)) + 1;
            history = history << 4 | length as u128;
            let value = match &bits[length - 1] {
                Some(weights) => match bits_of_length(length).start() + draw.weighted(weights) {
                    0 => 0,
                    bits => draw.between(1 << (bits - 1), u64::MAX >> (64 - bits)),
                },
                None => {
                    let (min, max) = values_of_length(length);
                    draw.between(min, max)
                }
            };
            push_varint(&mut bytes, value);
        }
        bytes
    }

    /// Weights of the bit lengths within an encoded length; nothing where values are uniform.
    fn weights_of_bits(&self, length: usize) -> Vec<f64> {
        if self.bits.is_empty() {
            return Vec::new();
        }
        bits_of_length(length).map(|bits| self.bits.get(bits).copied().unwrap_or(0.0)).collect()
    }
}

fn usable(weights: &[f64]) -> bool {
    let sum: f64 = weights.iter().sum();
    weights.iter().all(|&weight| weight >= 0.0) && sum.is_finite()
}

/// The contexts as a tree that is walked from the latest length backwards.
struct ContextTree {
    nodes: Vec<ContextNode>,
}

#[derive(Default)]
struct ContextNode {
    /// By the length before, from 1; 0 where there is none.
    before: [u32; MAX_LENGTH],
    weights: Option<Weights>,
}

impl ContextTree {
    fn of(contexts: &BTreeMap<String, Vec<f64>>) -> ContextTree {
        let mut nodes = vec![ContextNode::default()];
        for (context, weights) in contexts {
            let mut at = 0;
            for &length in parse_context(context).expect("checked").iter().rev() {
                let slot = usize::from(length) - 1;
                if nodes[at].before[slot] == 0 {
                    nodes[at].before[slot] = nodes.len() as u32;
                    nodes.push(ContextNode::default());
                }
                at = nodes[at].before[slot] as usize;
            }
            nodes[at].weights = Some(Weights::new(weights));
        }
        ContextTree { nodes }
    }

    /// The weights of the longest context that a history ends with: four bits per length, the latest lowest.
    fn weights(&self, mut history: u128) -> &Weights {
        let mut node = &self.nodes[0];
        let mut found = node.weights.as_ref().expect("the root was checked to be there");
        while history & 15 != 0 {
            let next = node.before[(history & 15) as usize - 1];
            if next == 0 {
                break;
            }
            node = &self.nodes[next as usize];
            found = node.weights.as_ref().unwrap_or(found);
            history >>= 4;
        }
        found
    }
}

#[cfg(test)]
mod tests;
