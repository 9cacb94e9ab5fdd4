//! Findings of `assay doctor` that an experiment shows on purpose: which check, where, and why that is meant.
//!
//! Limits: an entry silences nothing; what it covers is still reported, as accepted, with the reason. One that covers nothing
//! is told too.

use super::pattern;

/// The checks of an experiment, by their names in reports and files.
pub const CHECKS: [&str; 12] = [
    "dead-code",
    "hoisted-work",
    "sub-cycle",
    "unused-answers",
    "unequal-work",
    "setup-inside",
    "too-few-units",
    "first-touch",
    "memorised",
    "smaller-than-production",
    "all-in-l1",
    "unpaired-sizes",
];

/// Findings that are meant.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Acceptance {
    /// The check, one of [`CHECKS`].
    pub check: String,
    /// Globs of variants; none: all.
    pub variants: Vec<String>,
    /// Globs of inputs; none: all.
    pub inputs: Vec<String>,
    /// Why it is meant, in plain words.
    pub because: String,
}

impl Acceptance {
    /// Whether it covers a finding of a check. A finding of the whole experiment has neither variant nor input, and is
    /// covered by entries that name none.
    pub fn covers(&self, check: &str, variant: Option<&str>, inputs: &[&str]) -> bool {
        let fits = |globs: &[String], name: &str| globs.iter().any(|glob| pattern::matches(glob, name));
        self.check == check
            && (self.variants.is_empty() || variant.is_some_and(|variant| fits(&self.variants, variant)))
            && (self.inputs.is_empty()
                || !inputs.is_empty() && inputs.iter().all(|input| fits(&self.inputs, input)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(variants: &[&str], inputs: &[&str]) -> Acceptance {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let (variants, inputs) = (owned(variants), owned(inputs));
        Acceptance { check: "memorised".into(), variants, inputs, because: "it is the question".into() }
    }

    #[test]
    fn covers_what_it_names_and_everything_where_it_names_nothing() {
        assert!(entry(&[], &[]).covers("memorised", None, &[]));
        assert!(entry(&[], &[]).covers("memorised", Some("a"), &["x"]));
        assert!(!entry(&[], &[]).covers("dead-code", None, &[]));
        assert!(entry(&["lib*"], &[]).covers("memorised", Some("libc"), &["x"]));
        assert!(!entry(&["lib*"], &[]).covers("memorised", Some("own"), &["x"]));
        assert!(!entry(&["lib*"], &[]).covers("memorised", None, &["x"]));
    }

    #[test]
    fn a_finding_of_several_inputs_is_covered_only_if_all_of_them_are() {
        assert!(entry(&[], &["set_*"]).covers("memorised", None, &["set_1", "set_8"]));
        assert!(!entry(&[], &["set_*"]).covers("memorised", None, &["set_1", "mixed"]));
        assert!(!entry(&[], &["set_*"]).covers("memorised", None, &[]));
    }
}
