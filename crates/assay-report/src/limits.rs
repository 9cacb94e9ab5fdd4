//! The speed of light of a machine on a terminal. Its JSON is [`assay_pure::limits::Limits`] as it is kept (schema
//! "assay.limits/1", `schema/limits-1.schema.json`, generated from the types).

#[cfg(any(test, feature = "samples"))]
pub mod sample;
pub(crate) mod terminal;
#[cfg(test)]
mod tests;

pub use terminal::{Told, render_limits};

use assay_pure::limits::{Limits, MemoryLevel, Rate};
use assay_pure::words;

/// One of the rates of a level of memory: of reading, of writing or of copying.
pub(crate) type LevelRate = fn(&MemoryLevel) -> &Option<Rate>;

/// What the limits answer, above a picture and a page.
pub(crate) const QUESTION: &str = "How fast can one core of this machine be at best?";

/// The answer, its clauses after the first as a sentence of their own: a title is one of them.
pub(crate) fn in_sentences(limits: &Limits) -> String {
    let answer = terminal::answer(limits);
    let Some((first, rest)) = answer.split_once("; ") else { return answer };
    format!("{first}. {}", words::capital(rest))
}
