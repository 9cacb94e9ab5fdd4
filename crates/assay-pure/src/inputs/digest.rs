//! Content hashes, by which inputs and artifacts are named.
