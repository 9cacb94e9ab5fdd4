//! Which functions a page of layout shows, and what it knows of the processor they are timed on.

use super::measured::SymbolTimes;
use assay_trace::sites::names::demangle;
use wildmatch::WildMatch;

/// What the page is about.
#[derive(Default)]
pub struct LayoutSelection {
    /// Only functions that fit, by their symbol or their name in the source.
    pub functions: Option<String>,
    /// The processor's name.
    pub cpu: String,
    /// Its vendor, family and model, as "AuthenticAMD 25 17".
    pub cpu_id: String,
    /// What was measured.
    pub timed: SymbolTimes,
}

impl LayoutSelection {
    /// Whether a function is selected.
    pub fn wants(&self, symbol: &str) -> bool {
        let Some(glob) = &self.functions else { return true };
        let glob = WildMatch::new(glob);
        let name = demangle(symbol);
        // `decode` is `demo::decode(unsigned char const*)` too.
        let plain = name.split('(').next().unwrap_or_default();
        let last = plain.rsplit("::").next().unwrap_or_default();
        [symbol, &name, plain, last].into_iter().any(|name| glob.matches(name))
    }
}
