//! The loops that show how fast a machine can be at all: moving bytes, following pointers, executing instructions, calling the
//! kernel. Each is written in assembly where an optimiser could turn it into something else.
//!
//! Here is only what is executed; how often, and what the figures mean, is the lab's business. What an architecture has no
//! loop for is absent, never made up.

pub mod buffer;
pub mod chase;
pub mod instructions;
pub mod stream;
pub mod system;
