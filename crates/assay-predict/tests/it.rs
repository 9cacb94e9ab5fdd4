//! The integration tests of this crate, one program: each one more would be linked and started on its own, and what they
//! share would be compiled and prepared again.

mod golden;
mod golden_ittage;
mod golden_streams;
mod golden_tage;
mod golden_tage_sc;
mod golden_tage_sc_l;
mod golden_textbook;
mod profiles;
mod trace_document;
mod trace_formats;
