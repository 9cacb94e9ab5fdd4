//! Where functions lie in a linked binary, in which order they can be put, and whether two of them are the same
//! machine code.

pub mod across;
pub mod facts;
pub mod front_end;
pub mod identity;
pub mod layout;
pub mod loaded;
pub mod optimised;
pub mod order;
pub mod pad;
pub mod same_execution;
pub mod same_loops;
pub mod sections;
pub mod shuffle;
pub mod tripwire;

pub use across::{CodeChange, ComparedFile, FunctionChange, Reached, compare, same_code_across};
