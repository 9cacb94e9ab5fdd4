//! Columns to branches, a stretch at a time.

use super::super::super::Branch;
use super::super::super::source::{BATCH, TraceFault};
use super::super::stream::StoredBranch;
use super::content::{Column, wrong_length};
use super::fields::{ColumnsIn, Fields};
use super::places::Places;
use super::{Ending, LONG};

/// A block that is being read.
#[derive(Default)]
pub struct ColumnBlock {
    columns: ColumnsIn,
    /// Branches of the block that were not read.
    left: usize,
    /// How many of them take the expected way.
    run: usize,
    /// What comes behind these.
    ending: Option<Ending>,
}

impl ColumnBlock {
    /// Begins with another block.
    pub fn begin(&mut self, content: &[u8], branches: u32) -> Result<(), TraceFault> {
        (self.left, self.run, self.ending) = (branches as usize, 0, None);
        self.columns.unpack(content)
    }

    /// Whether all of it was read.
    pub fn is_read(&self) -> bool {
        self.left == 0
    }

    /// Appends the next branches, at most [`BATCH`].
    pub fn read(&mut self, places: &mut Places, branches: &mut Vec<Branch>) -> Result<(), TraceFault> {
        let mut turns = [0; BATCH];
        let mut room = self.left.min(BATCH);
        branches.reserve(room);
        while room > 0 {
            let (count, ending) = self.gather(&mut turns[..room])?;
            places.follow(&turns[..count], branches)?;
            turns[..count].fill(0);
            room -= count;
            self.left -= count;
            if let Some(ending) = ending {
                branches.push(self.exception(ending, places)?);
                room -= 1;
                self.left -= 1;
            }
        }
        if self.left == 0 && !(self.run == 0 && self.ending.is_none() && self.columns.is_read()) {
            return Err(wrong_length(self.columns.rest(Column::Tokens).len() as u64));
        }
        Ok(())
    }

    /// Marks the next branches that take the other way, up to one that must be looked at on its own or to the end of the
    /// room: how many branches that are, and what comes behind.
    #[inline]
    fn gather(&mut self, turns: &mut [u8]) -> Result<(usize, Option<Ending>), TraceFault> {
        let mut count = 0;
        loop {
            let step = self.run.min(turns.len() - count);
            count += step;
            self.run -= step;
            if count == turns.len() {
                return Ok((count, None));
            }
            match self.ending.take() {
                Some(Ending::Turn) => {
                    turns[count] = 1;
                    count += 1;
                    count = self.gather_short(turns, count);
                }
                None => self.next_run()?,
                Some(ending) => return Ok((count, Some(ending))),
            }
        }
    }

    /// The same for runs that a token says alone and that end with a turn, which nearly all do.
    #[inline]
    fn gather_short(&mut self, turns: &mut [u8], mut count: usize) -> usize {
        let tokens = self.columns.rest(Column::Tokens);
        let mut read = 0;
        for &token in tokens {
            let end = count + usize::from(token);
            if token >= LONG || end >= turns.len() {
                break;
            }
            turns[end] = 1;
            count = end + 1;
            read += 1;
        }
        self.columns.skip(Column::Tokens, read);
        count
    }

    fn next_run(&mut self) -> Result<(), TraceFault> {
        let token = self.columns.next_byte(Column::Tokens)?;
        let short = token & LONG;
        let more = if short == LONG { self.columns.number(0)? } else { 0 };
        let run = more.saturating_add(short.into());
        if run > self.left as u64 {
            return Err(TraceFault::Field { name: "the length of a run", value: run });
        }
        (self.run, self.ending) = (run as usize, Some(Ending::of(token)).filter(|it| *it != Ending::Stop));
        Ok(())
    }

    fn exception(&mut self, ending: Ending, places: &mut Places) -> Result<Branch, TraceFault> {
        if ending == Ending::Event {
            return places.event(&mut self.columns, &StoredBranch::UNKNOWN, None, false);
        }
        places.swap();
        places.go(0)
    }
}
