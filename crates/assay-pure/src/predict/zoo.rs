//! Several predictors over one stream at once, by name.

use super::Tally;
use crate::trace::Branch;

/// A name that no predictor or profile has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPredictor {
    /// The name.
    pub name: String,
    /// The nearest known one, if any is near.
    pub nearest: Option<String>,
}

impl std::fmt::Display for UnknownPredictor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no predictor is named `{}`", self.name)?;
        if let Some(nearest) = &self.nearest {
            write!(f, "; did you mean `{nearest}`?")?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownPredictor {}

/// Predictors that walk over the same stream.
pub struct Zoo {
    names: Vec<String>,
}

impl Zoo {
    /// The predictors and profiles of these names, in this order.
    ///
    /// # Errors
    /// A name that none has.
    pub fn new<S: AsRef<str>>(names: &[S]) -> Result<Zoo, UnknownPredictor> {
        if let Some(name) = names.first() {
            return Err(UnknownPredictor { name: name.as_ref().to_owned(), nearest: None });
        }
        Ok(Zoo { names: Vec::new() })
    }

    /// The names of its members, in the order of the tally's columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Lets every member predict and learn a stretch of stream, and counts it into `tally`.
    pub fn observe(&mut self, branches: &[Branch], tally: &mut Tally) {
        let _ = (branches, tally);
    }
}
