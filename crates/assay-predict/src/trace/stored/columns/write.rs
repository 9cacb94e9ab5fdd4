//! Branches to columns, block by block.

use super::super::super::source::TraceFault;
use super::super::stream::StoredBranch;
use super::content::{self, Column};
use super::fields::ColumnsOut;
use super::places::Places;
use super::{Ending, LONG};

/// The counters' limits: how far a way that is expected may be ahead of others, and how far behind.
const AHEAD: i8 = 7;
const BEHIND: i8 = -6;

/// Codes one stream.
pub struct ColumnWriter {
    places: Places,
    /// By place: how far its expected way is ahead.
    trust: Vec<i8>,
    columns: ColumnsOut,
    run: u64,
}

impl ColumnWriter {
    pub fn new() -> ColumnWriter {
        ColumnWriter { places: Places::new(), trust: Vec::new(), columns: ColumnsOut::default(), run: 0 }
    }

    /// Where the stream is.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Bytes of the block so far, unpacked.
    pub fn bytes(&self) -> usize {
        self.columns.bytes()
    }

    /// Codes a branch; `site` is its number if it is known. Gives its number.
    pub fn code(&mut self, step: &StoredBranch, site: Option<u32>) -> Result<u32, TraceFault> {
        let turn = site.and_then(|site| Some((site, self.places.turn_to(&step.branch(site))?)));
        let place = self.places.place();
        if self.trust.len() <= place {
            self.trust.resize(place + 1, 0);
        }
        let trust = &mut self.trust[place];
        if let Some((site, 0)) = turn {
            *trust = (*trust + 1).min(AHEAD);
            self.run += 1;
            self.places.go(0)?;
            return Ok(site);
        }
        *trust -= 1;
        let is_expected = *trust < BEHIND || self.places.is_new();
        if is_expected {
            *trust = 0;
        }
        match turn {
            Some((site, _)) if is_expected => {
                self.end_run(Ending::Swap);
                self.places.swap();
                self.places.go(0)?;
                Ok(site)
            }
            Some((site, turn)) => {
                self.end_run(Ending::Turn);
                self.places.go(turn)?;
                Ok(site)
            }
            None => {
                self.end_run(Ending::Event);
                Ok(self.places.event(&mut self.columns, step, site, is_expected)?.site)
            }
        }
    }

    fn end_run(&mut self, ending: Ending) {
        let run = std::mem::take(&mut self.run);
        let short = run.min(LONG.into()) as u8;
        self.columns.column(Column::Tokens).push(short | (ending as u8) << 6);
        if short == LONG {
            content::append(self.columns.column(Column::Numbers), run - u64::from(LONG));
        }
    }

    /// The content of the block that ends here.
    pub fn finish(&mut self) -> Vec<u8> {
        if self.run > 0 {
            self.end_run(Ending::Stop);
        }
        let content = content::pack(&self.columns.0);
        self.columns.0.iter_mut().for_each(Vec::clear);
        content
    }
}
