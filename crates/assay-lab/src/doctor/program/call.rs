//! A call that the program's own code made.

use assay_trace::sites::gather::SiteAddress;

/// A call of the program's own code.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramCall {
    /// The site that calls, by its place among the sites.
    pub site: usize,
    /// The function that was called.
    pub callee: String,
    /// Where it begins, if that is known.
    pub at: Option<SiteAddress>,
    /// It is in none of the program's own files.
    pub is_foreign: bool,
    /// Times.
    pub executed: u64,
    /// Branches from the call to its return, that included; of a jump those of the function itself.
    pub branches: u64,
    /// This call's part of the mispredictions of the function that was called, the mean over the predictors; not of what that
    /// called.
    pub misses: f64,
}
