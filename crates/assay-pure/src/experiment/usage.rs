//! How an input is used: what is cold when a call begins, and whether calls wait for each other.
//!
//! Usages are no axis of the plan. An input that is to be measured in several ways becomes several inputs of the same
//! bytes, so that cells, contrasts, claims, the ledger and pages know them by their names alone: `mixed` (hot, throughput),
//! `mixed@cold-data`, `mixed@rotating-64`, `mixed@latency`, `mixed@cold-data,latency`.

use std::fmt;

/// What is cold when a call begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CacheState {
    /// Nothing but what the input's own size makes so: one input again and again.
    #[default]
    Hot,
    /// Each call takes another copy of the bytes, in a pseudo-random order.
    Rotating,
    /// The bytes of a sample's calls are not in any cache.
    ColdData,
    /// The program's code is not in any cache, and the branch predictor has learned something else.
    ColdCode,
}

impl CacheState {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Hot, Self::Rotating, Self::ColdData, Self::ColdCode];

    /// Its word in experiment files, in the protocol and in JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Hot => "hot",
            Self::Rotating => "rotating",
            Self::ColdData => "cold_data",
            Self::ColdCode => "cold_code",
        }
    }
}

/// Whether calls wait for each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Calls are independent: the processor works on several at once.
    #[default]
    Throughput,
    /// Each call's address depends on the last call's answer.
    Latency,
}

impl Measure {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Throughput, Self::Latency];

    /// Its word in experiment files, in the protocol and in JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Latency => "latency",
        }
    }
}

impl fmt::Display for CacheState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// How an input is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Usage {
    /// What is cold when a call begins.
    #[serde(default)]
    pub state: CacheState,
    /// Whether calls wait for each other.
    #[serde(default)]
    pub measure: Measure,
    /// Copies that are rotated over; `None` leaves it to the lab, which knows the caches.
    #[serde(default)]
    pub copies: Option<u64>,
}

impl Usage {
    /// Hot and throughput: what is measured where nothing else is asked for.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.state == CacheState::Hot && self.measure == Measure::Throughput
    }

    /// What follows the input's name: empty for hot and throughput, else `@` and what differs from that.
    #[must_use]
    pub fn suffix(&self) -> String {
        let mut parts = Vec::new();
        match (self.state, self.copies) {
            (CacheState::Hot, _) => {}
            (CacheState::Rotating, Some(copies)) => parts.push(format!("rotating-{copies}")),
            (CacheState::Rotating, None) => parts.push("rotating".to_owned()),
            (CacheState::ColdData, _) => parts.push("cold-data".to_owned()),
            (CacheState::ColdCode, _) => parts.push("cold-code".to_owned()),
        }
        if self.measure == Measure::Latency {
            parts.push("latency".to_owned());
        }
        if parts.is_empty() { String::new() } else { format!("@{}", parts.join(",")) }
    }
}

/// All uses that states and measures span, in the order given.
///
/// Cold code is measured once whatever the measures are: its region holds one call, which has no last call to wait for.
/// `copies` belongs to the uses that rotate.
#[must_use]
pub fn usages(states: &[CacheState], measures: &[Measure], copies: Option<u64>) -> Vec<Usage> {
    let mut spanned = Vec::new();
    for &state in states {
        for &measure in measures {
            let measure = if state == CacheState::ColdCode { Measure::Throughput } else { measure };
            let copies = copies.filter(|_| state == CacheState::Rotating);
            let one = Usage { state, measure, copies };
            if !spanned.contains(&one) {
                spanned.push(one);
            }
        }
    }
    spanned
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suffixes(states: &[CacheState], measures: &[Measure], copies: Option<u64>) -> Vec<String> {
        usages(states, measures, copies).iter().map(Usage::suffix).collect()
    }

    #[test]
    fn names_what_differs_from_hot_and_throughput() {
        assert_eq!(
            suffixes(&CacheState::ALL, &Measure::ALL, Some(64)),
            [
                "",
                "@latency",
                "@rotating-64",
                "@rotating-64,latency",
                "@cold-data",
                "@cold-data,latency",
                "@cold-code"
            ]
        );
        assert_eq!(suffixes(&[CacheState::Rotating], &[Measure::Throughput], None), ["@rotating"]);
    }

    #[test]
    fn cold_code_is_measured_once_and_has_no_latency() {
        assert_eq!(suffixes(&[CacheState::ColdCode], &[Measure::Latency], Some(9)), ["@cold-code"]);
        let one = usages(&[CacheState::ColdCode], &[Measure::Latency], Some(9))[0];
        assert_eq!((one.measure, one.copies), (Measure::Throughput, None));
    }

    #[test]
    fn only_hot_and_throughput_is_plain() {
        let plain: Vec<bool> =
            usages(&CacheState::ALL, &Measure::ALL, None).iter().map(Usage::is_plain).collect();
        assert_eq!(plain, [true, false, false, false, false, false, false]);
    }

    #[test]
    fn a_spec_of_an_older_campaign_is_hot_and_throughput() {
        let none: Usage = serde_json::from_str("{}").expect("every key has a default");
        assert_eq!(none, Usage::default());
    }
}
