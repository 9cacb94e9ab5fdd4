//! The page of a thing, of whatever kind.

use super::diary_page;
use crate::store::{Kept, KeptRow, Ledger};
use crate::{campaign, compare, sweep};
use anyhow::Result;
use assay_report::list::Brief;
use assay_report::page::Page;
use assay_report::{ComparePage, DiaryPage, SweepPage};

/// A page.
#[derive(Clone, Debug)]
pub enum AnyPage {
    /// Of a campaign.
    Campaign(Box<Page>),
    /// Of a comparison.
    Comparison(Box<ComparePage>),
    /// Of a sweep.
    Sweep(Box<SweepPage>),
    /// Of a diary.
    Diary(Box<DiaryPage>),
}

impl AnyPage {
    /// Composes it from the ledger.
    ///
    /// # Errors
    /// It was kept by an incompatible version, or the ledger cannot be read.
    pub fn of(ledger: &Ledger, row: &KeptRow) -> Result<Self> {
        Ok(match row.kind {
            Kept::Campaign => Self::Campaign(Box::new(campaign::compose::page(ledger, row.id)?)),
            Kept::Comparison => {
                Self::Comparison(Box::new(compare::compose::page(ledger, Some(row.id), false)?))
            }
            Kept::Sweep => Self::Sweep(Box::new(sweep::compose::page(ledger, row.id)?)),
            Kept::Diary => Self::Diary(Box::new(diary_page(ledger, &row.name)?.0)),
        })
    }

    /// Its answer in a few words.
    pub fn brief(&self) -> Brief {
        match self {
            Self::Campaign(page) => Brief::of_campaign(page),
            Self::Comparison(page) => Brief::of_comparison(page),
            Self::Sweep(page) => Brief::of_sweep(page),
            Self::Diary(page) => Brief::of_diary(page),
        }
    }

    /// Its JSON.
    pub fn to_json(&self) -> String {
        match self {
            Self::Campaign(page) => page.to_json(),
            Self::Comparison(page) => page.to_json(),
            Self::Sweep(page) => page.to_json(),
            Self::Diary(page) => page.to_json(),
        }
    }
}
