//! Was the programmer right about which way a branch goes?
//!
//! Method, in three steps that know nothing of files or processes:
//! 1. [`scan`] reads source text and finds the hints with what they are about: the condition, what is done if it holds
//!    and what if not, as stretches of text.
//! 2. [`weigh`](judge::weigh) takes the branches whose debug information places them in such a condition, with the places of the code
//!    on both their sides, and counts how often the condition held. Compilers invert, split and copy conditions, so
//!    nothing is read from "taken": what counts is whose text the executed side was made from.
//! 3. [`judge`](judge::judge) says `right`, `wrong`, or why it can't be told.
//!
//! A wrong verdict is worse than none: whatever is ambiguous counts for either side, and only what holds both ways is said.
//!
//! Known limits: a hint inside a macro's definition is not seen where the macro is used; a condition whose sides were
//! merged or made branch-free gives no verdict. Checked by: programs of known truth in `fixtures/hints`, built by two
//! compilers, and by texts here.

mod controls;
pub mod judge;
mod lex;
mod parse;
mod spans;

pub use judge::{
    Balance, BranchSide, BranchSides, HintJudgement, HintVerdict, Unclear, held_when_taken, judge, weigh,
};
pub use parse::scan;
pub use spans::{Position, Span, TextPlace};

/// How a hint is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `__builtin_expect` or a macro around it, `likely()` and `unlikely()`.
    Expect,
    /// `[[likely]]` or `[[unlikely]]`.
    Attribute,
    /// `@branchHint`.
    BranchHint,
    /// `cold_path()`.
    ColdPath,
}

/// A hint in a source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Where it is written.
    pub at: Position,
    /// How.
    pub form: Form,
    /// As written, on one line.
    pub text: String,
    /// What it is about, or why that is not seen.
    pub about: Result<Split, Unclear>,
}

/// A condition and what depends on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// From the keyword to the end of the condition.
    pub condition: Span,
    /// What is done if it holds.
    pub yes: Span,
    /// What is done if not, where the text has something for that.
    pub no: Option<Span>,
    /// The hint says that the condition holds.
    pub expects_yes: bool,
    /// The condition is decided by one comparison: no `&&`, no `||`, no call in it.
    pub simple: bool,
}

/// A function that is marked as seldom called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColdFunction {
    /// Its name, without path or arguments.
    pub name: String,
    /// From the mark to the end of the function, or of the declaration.
    pub span: Span,
    /// This is its definition.
    pub is_definition: bool,
}

/// What a source text says about its branches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// The hints, in the order of the text.
    pub hints: Vec<Hint>,
    /// The functions marked cold.
    pub cold_functions: Vec<ColdFunction>,
}
