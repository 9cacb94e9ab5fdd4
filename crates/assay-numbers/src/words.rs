//! How numbers, times and names are written in a sentence or a table: one rule for each, for every page.
//!
//! Nothing here knows what is measured. Where a caller seems to need another number of digits, either its number carries more
//! than the rule thinks, and the rule is wrong, or the reader is told digits that mean nothing.

mod compact;
mod noun;
mod number;
mod time;

pub use compact::{compact, compact_span, part};
pub use noun::{capital, list, list_or, plural, plural_noun, sentence};
pub use number::{
    any_size, asked, bytes, change, change_span, change_with_interval, confidence, count, figure,
    fine_change, fine_span, fraction, rate, rate_span, short, size_span,
};
pub use time::{TimeUnit, duration, ns, ns_with_interval, signed_time, time, time_with_interval};
