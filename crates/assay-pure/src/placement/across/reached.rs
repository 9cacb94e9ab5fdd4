//! What a function reaches, in one word.

/// What became of a function together with all that it can reach: callees, their callees, named data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reached {
    /// Everything is the same.
    Same,
    /// Something is not, or the function itself.
    Changed {
        /// The function or object that changed, as near to this function as possible.
        through: String,
    },
    /// It cannot be told.
    Unknown {
        /// Why not.
        reason: String,
    },
}
