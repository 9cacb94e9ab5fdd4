//! Where the spread of times may come from.

/// Where variance comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VarianceSource {
    /// What is compared: compiler, revision.
    Side,
    /// Where the code lies.
    Placement,
    /// When it was measured.
    Round,
    /// One launch: stack, heap, pages.
    Process,
    /// What differs between repetitions within one process.
    Rest,
}
