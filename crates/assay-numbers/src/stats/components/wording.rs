//! The split of a variance as one sentence, and its notes as sentences.

use super::{Note, SourceShare, VarianceComponents, VarianceSource};
use crate::words::fraction;

impl VarianceSource {
    /// As tables name it; `side` is what is compared, as `compiler`.
    pub fn name(self, side: &str) -> &str {
        match self {
            VarianceSource::Side => side,
            VarianceSource::Placement => "placement",
            VarianceSource::Round => "round",
            VarianceSource::Process => "process",
            VarianceSource::Rest => "rest",
        }
    }

    fn with_article(self, side: &str) -> String {
        match self {
            VarianceSource::Placement => "placement".to_owned(),
            other => format!("the {}", other.name(side)),
        }
    }
}

impl VarianceComponents {
    /// `placement explains 71 % of the variance of X, the compiler 3 %, ...`, largest first.
    ///
    /// Input: the benchmark's name; what is compared, as `compiler`.
    pub fn sentence(&self, benchmark: &str, side: &str) -> String {
        let mut order: Vec<&SourceShare> = self.shares.iter().collect();
        order.sort_by(|one, other| other.share.total_cmp(&one.share));
        let parts: Vec<String> = order
            .iter()
            .enumerate()
            .map(|(rank, share)| {
                let (name, percent) = (share.source.with_article(side), fraction(share.share));
                if rank == 0 {
                    format!("{name} explains {percent} of the variance of {benchmark}")
                } else {
                    format!("{name} {percent}")
                }
            })
            .collect();
        parts.join(", ")
    }
}

impl Note {
    /// A whole sentence; `side` is what is compared, as `compiler`.
    pub fn sentence(&self, side: &str) -> String {
        match self {
            Note::Truncated { source, variance } => format!(
                "The variance of the {} was estimated at {variance:.1e}, below 0, and counts as 0: it spreads no more than \
                 the levels below it explain.",
                source.name(side)
            ),
            Note::Within { source, other } => format!(
                "The {} cannot be separated from the {} here; the share includes both.",
                source.name(side),
                other.name(side)
            ),
        }
    }
}
