//! What does each part of a program execute? Exact branches summed over functions that are named together.
//!
//! Method: a component is a name and some globs for functions. Each branch and each instruction belongs to exactly one row:
//! to the component whose glob fits the innermost of its frames that any glob fits (inlined functions first, then the
//! functions they were inlined into); of several components that fit one frame, to the one named first. Code of a named
//! function that no glob fits is `other`, whoever called it. Code without a name is `unattributed`, unless a glob names its
//! file. So the rows add up to the total, which a test checks.
//!
//! A component is *called* when control enters it from outside by a call, or by a jump that arrives where a function begins
//! (a call in tail position, the stub of a dynamic link). Calls that were inlined have no branch and are not counted.
//!
//! Known limits: names of a stripped file are those it exports; its other code is `unattributed`, never given to the nearest
//! name.

mod attribute;
mod budget;
mod spec;

pub use attribute::{Attribution, Attributor, CodeOwner};
pub use budget::{BudgetRow, BudgetSums, ComponentBudget, FunctionPart, of_gathered, of_trace};
pub use spec::{BadSpec, ComponentSpec, ComponentSpecs, Glob};
