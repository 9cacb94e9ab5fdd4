//! Estimates and intervals.
