//! Other people's builds and benchmarks: taken as they are, without changing a file of theirs.

pub mod bench;
pub mod capture;
