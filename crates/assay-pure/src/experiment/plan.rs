//! The order of execution as data: seeded, interleaved rounds, balanced for the predecessor.
