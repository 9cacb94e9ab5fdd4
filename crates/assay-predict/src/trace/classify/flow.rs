//! What an instruction does to the flow of control.

use crate::trace::{BranchClass, BranchKind};

/// What an instruction does to the flow of control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Goes on behind itself.
    Next,
    /// Branches.
    Branch {
        /// How.
        class: BranchClass,
        /// Where to, when the instruction says so itself.
        target: Option<u64>,
    },
    /// Calls the system.
    SystemCall,
    /// x86: a string instruction that repeats itself (`rep movs`, ...).
    Repeat,
    /// The bytes are no instruction that is known.
    Unknown,
}

impl Flow {
    pub(in crate::trace) const fn branch(kind: BranchKind, conditional: bool, target: Option<u64>) -> Flow {
        Flow::Branch { class: BranchClass::new(kind, conditional, target.is_none()), target }
    }
}
