//! Numbers as a reader wants them: the rules of `assay_pure::words`, and an effect of the page.

use super::page::RatioInterval;

pub use assay_pure::words::{
    TimeUnit, asked, bytes, change, change_span, confidence, count, duration, fraction, ns, ns_with_interval,
    short, size_span, time, time_with_interval,
};

/// A ratio with its interval: "+8.9 % ± 0.5".
pub fn change_with_interval(effect: &RatioInterval) -> String {
    assay_pure::words::change_with_interval(effect.ratio, effect.lower, effect.upper)
}
