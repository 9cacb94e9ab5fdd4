//! Where functions lie in a linked binary, in which order they can be put, and whether two of them are the same
//! machine code.

pub mod identity;
pub mod layout;
pub mod optimised;
pub mod order;
pub mod sections;
pub mod shuffle;
