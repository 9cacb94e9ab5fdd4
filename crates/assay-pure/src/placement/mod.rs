//! Where functions lie in a linked binary, and whether two functions are the same machine code.

pub mod identity;
pub mod layout;
