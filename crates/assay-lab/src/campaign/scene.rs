//! Where a campaign is led: what it adds to, how it measures, whom it tells.

use crate::store::{CampaignRow, FailureRow, Ledger};
use anyhow::Result;
use assay_pure::event::Event;
use std::time::Duration;

/// The scene of a campaign.
pub struct Scene<'a> {
    /// The ledger.
    pub ledger: &'a Ledger,
    /// The campaign's row.
    pub campaign: &'a CampaignRow,
    /// The processor that measures.
    pub cpu: usize,
    /// How long a measured program may take for one reply.
    pub patience: Duration,
    /// Who listens.
    pub on: &'a mut dyn FnMut(Event),
}

impl Scene<'_> {
    /// Tells of something.
    pub fn tell(&mut self, event: Event) {
        (self.on)(event);
    }

    /// Tells which phase begins.
    pub fn phase(&mut self, name: &str) {
        self.tell(Event::Phase { name: name.into() });
    }

    /// Tells what is done now within the phase.
    pub fn doing(&mut self, what: impl Into<String>) {
        self.tell(Event::Doing { what: what.into() });
    }

    /// Tells of what the reader may want to know.
    pub fn warn(&mut self, text: impl Into<String>) {
        self.tell(Event::Warning(text.into()));
    }

    /// Keeps a failure, and tells of it.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn fail(&mut self, failure: &FailureRow) -> Result<()> {
        let input = failure.input.as_ref().map(|input| format!(" on {input}")).unwrap_or_default();
        let variant = failure.variant.as_ref().map(|variant| format!("{variant}{input}"));
        let parts: Vec<&String> =
            [&variant, &failure.compiler, &failure.flags].into_iter().flatten().collect();
        let what = parts.iter().map(|part| part.as_str()).collect::<Vec<_>>().join(", ");
        self.tell(Event::Failed { what, reason: failure.reason.clone() });
        self.ledger.put_failure(self.campaign.id, failure)
    }
}
