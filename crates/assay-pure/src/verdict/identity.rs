//! What is known of the machine code of a contrast's sides.

use crate::placement::same_loops::SharedLoop;
use crate::stats::margin::Margin;

/// What comparing the machine code of both sides found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeIdentity {
    /// Other instructions, or other data.
    Different,
    /// Other instructions, but all loops are the same.
    SameLoops(Vec<SharedLoop>),
    /// Other instructions, but what the loops execute was followed on the whole input, and is the same; hardly anything is executed
    /// around them.
    SameExecution(Vec<SharedLoop>, SameExecution),
    /// The same instructions; the data that they work on may differ, and make a difference.
    SameCode,
    /// The same instructions on the same data, judged by what was measured: a control.
    Copies,
    /// The same instructions on the same data, with all that they can reach.
    Proven,
}

/// What two functions with the same loops execute on an input: in the loops the same instructions in the same order, on the same
/// addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SameExecution {
    /// Instructions executed in loops and in what they call.
    pub looped: u64,
    /// Instructions executed around the loops, by the side that executes more.
    pub around: u64,
}

/// What is executed around the loops may be this part of a margin: each such instruction may then take ten times as long as one
/// of a loop does on average.
const AROUND: f64 = 0.1;

impl SameExecution {
    /// Whether what lies around the loops is too little to matter beside the margin.
    pub fn is_within(&self, margin: Margin) -> bool {
        self.share() <= AROUND * margin.relative()
    }

    /// What lies around the loops, as a part of what they execute.
    pub fn share(&self) -> f64 {
        self.around as f64 / self.looped.max(1) as f64
    }
}

impl CodeIdentity {
    /// Whether a difference can be nothing but placement or noise: what is executed is the same, on the same data.
    pub fn excludes_difference(&self) -> bool {
        matches!(self, CodeIdentity::Copies | CodeIdentity::Proven)
    }

    /// Whether both sides are equivalent whatever was measured.
    pub fn proves(&self) -> bool {
        matches!(self, CodeIdentity::Proven | CodeIdentity::SameExecution(..))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_small_beside_the_margin_may_lie_around_the_loops() {
        let executed = |looped, around| SameExecution { looped, around };
        let within = |one: SameExecution, margin| one.is_within(Margin::of(margin));
        assert!(within(executed(100_000, 100), 0.01) && !within(executed(100_000, 101), 0.01));
        assert!(within(executed(100_000, 25), 0.0025) && !within(executed(100_000, 26), 0.0025));
        assert!(!within(executed(0, 1), 0.01), "nothing was executed");
    }
}
