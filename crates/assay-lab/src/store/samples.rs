//! Reading a campaign's samples back. They are most of a ledger, and every look and every page reads them all, so a million of
//! them are to take a good half second.
//!
//! Method: rows lie in the order in which they were taken, so the file is read from the campaign's first row to its last, past
//! those of others. By the index, each row is sought; sorted by number, SQLite writes a temporary file of all of them
//! first, which took as long as everything else together. Where others' rows are most, the index is used, in its own
//! order: rounds are numbered in the order in which they are kept. Columns that nothing is judged by stay unread.

use super::Ledger;
use super::ledger::{counted, text, unsigned, word};
use super::rows::SampleRow;
use anyhow::{Context, Result};
use assay_pure::ledger::Flag;
use assay_pure::pulse::Pulse;
use rusqlite::Row;
use std::sync::Arc;
use std::thread;

/// So many rows at the most are read past for each of the campaign's: seeking one costs as much.
const OTHERS: i64 = 4;

/// The rows of a campaign from `?2` to `?3`, ascending.
const IN_FILE: &str = "FROM sample NOT INDEXED WHERE id BETWEEN ?2 AND ?3 AND campaign = ?1 ORDER BY id";
/// The same, where they are few among others'.
const BY_INDEX: &str = "FROM sample WHERE campaign = ?1 AND id BETWEEN ?2 AND ?3 ORDER BY round, id";

const COLUMNS: &str = "round, process, input, position, warmup, wall_ns, cpu_ns, units, flagged, chain_before_ns, wide_before_ns, \
                       jumps_before_ns, chain_after_ns, wide_after_ns, jumps_after_ns";
const PULSES: &str =
    "round, chain_before_ns, wide_before_ns, jumps_before_ns, chain_after_ns, wide_after_ns, jumps_after_ns";

/// So many rows are read by two threads.
const MANY: i64 = 100_000;
/// What could not be read.
const SAMPLES: &str = "reading the campaign's samples";

/// Where a campaign's samples lie.
#[derive(Clone, Copy)]
struct Extent {
    first: i64,
    last: i64,
    /// How they are found.
    source: &'static str,
}

impl Ledger {
    /// All samples of a campaign in the order in which they were taken.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn samples(&self, campaign: i64) -> Result<Vec<SampleRow>> {
        let Some(extent) = self.extent(campaign).context(SAMPLES)? else { return Ok(Vec::new()) };
        let Some(middle) = self.middle(campaign, &extent).context(SAMPLES)? else {
            return self.samples_of(campaign, &extent);
        };
        let (before, after) = (Extent { last: middle, ..extent }, Extent { first: middle + 1, ..extent });
        let path = self.path().to_owned();
        thread::scope(|scope| {
            // A connection serves one thread.
            let after = scope.spawn(move || Ledger::open_to_read(&path)?.samples_of(campaign, &after));
            let mut samples = self.samples_of(campaign, &before)?;
            samples.extend(after.join().expect("a reader that panics ends the program")?);
            Ok(samples)
        })
    }

    fn samples_of(&self, campaign: i64, extent: &Extent) -> Result<Vec<SampleRow>> {
        let mut input: Arc<str> = "".into();
        self.taken(campaign, COLUMNS, extent, |row| {
            let name = text(row, 2)?.unwrap_or_default();
            // Those of one visit follow each other, and share the name.
            if *input != *name {
                input = name.into();
            }
            Ok(SampleRow {
                round: row.get(0)?,
                process: row.get(1)?,
                input: Arc::clone(&input),
                position: row.get(3)?,
                warmup: row.get(4)?,
                wall_ns: unsigned(row, 5)?,
                cpu_ns: unsigned(row, 6)?,
                units: unsigned(row, 7)?,
                flagged: word(row, 8, Flag::of)?,
                pulses: pulses(row, 9)?,
            })
        })
    }

    /// The pulses on both sides of a campaign's samples in the order in which they were taken, each with its round.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn pulses(&self, campaign: i64) -> Result<Vec<(u32, [Pulse; 2])>> {
        let Some(extent) = self.extent(campaign).context(SAMPLES)? else { return Ok(Vec::new()) };
        let found = self.taken(campaign, PULSES, &extent, |row| {
            let round: u32 = row.get(0)?;
            Ok(pulses(row, 1)?.map(|pulses| (round, pulses)))
        })?;
        Ok(found.into_iter().flatten().collect())
    }

    /// These columns of a campaign's samples in the order in which they were taken.
    fn taken<T>(
        &self,
        campaign: i64,
        columns: &str,
        extent: &Extent,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let sql = format!("SELECT {columns} {}", extent.source);
        self.rows("the campaign's samples", &sql, [campaign, extent.first, extent.last], read)
    }

    /// Where the samples are cut in two for two threads: where there are many and their campaign has ended. One that is under
    /// way has a core that a second reader might be put on.
    fn middle(&self, campaign: i64, extent: &Extent) -> rusqlite::Result<Option<i64>> {
        if extent.source != IN_FILE || extent.last - extent.first < MANY {
            return Ok(None);
        }
        let sql = "SELECT finished_at IS NOT NULL FROM campaign WHERE id = ?";
        let ended: bool = self.connection.prepare_cached(sql)?.query_row([campaign], |row| row.get(0))?;
        Ok(ended.then_some(extent.first + (extent.last - extent.first) / 2))
    }

    fn extent(&self, campaign: i64) -> rusqlite::Result<Option<Extent>> {
        // Both ends of the index, each sought; a campaign's last round is that which was kept last.
        let end = |order: &str| {
            let sql = format!(
                "SELECT id FROM sample WHERE campaign = ? ORDER BY round {order}, id {order} LIMIT 1"
            );
            self.connection
                .prepare_cached(&sql)?
                .query_map([campaign], |row| row.get::<_, i64>(0))?
                .next()
                .transpose()
        };
        let (Some(first), Some(last)) = (end("ASC")?, end("DESC")?) else { return Ok(None) };
        let enough = (last - first) / OTHERS;
        let sql = "SELECT count(*) FROM (SELECT 1 FROM sample WHERE campaign = ? LIMIT ?)";
        let own: i64 =
            self.connection.prepare_cached(sql)?.query_row([campaign, enough], |row| row.get(0))?;
        Ok(Some(Extent { first, last, source: if own < enough { BY_INDEX } else { IN_FILE } }))
    }
}

/// Two pulses of three columns each; the last of each may be absent.
#[inline(always)]
fn pulses(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<[Pulse; 2]>> {
    let pulse = |column: usize| -> rusqlite::Result<Option<Pulse>> {
        let (chain, wide) = (counted(row, column)?, counted(row, column + 1)?);
        let jumps_ns = counted(row, column + 2)?;
        Ok(chain.zip(wide).map(|(chain_ns, wide_ns)| Pulse { chain_ns, wide_ns, jumps_ns }))
    };
    Ok(pulse(column)?.zip(pulse(column + 3)?).map(|(before, after)| [before, after]))
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::store::{NewSample, Round};

    #[test]
    fn samples_come_in_the_order_in_which_they_were_taken_however_many_of_others_lie_between() {
        for others in [0_u32, 2, 40] {
            let folder = tempfile::tempdir().unwrap();
            let ledger = Ledger::open(&folder.path().join("ledger.db")).unwrap();
            let (own, other) = (sample::begin(&ledger), sample::begin(&ledger));
            ledger.put_artifacts(&[sample::artifact()]).unwrap();
            let mut process = sample::process("v", Some((0, 0)));
            ledger.put_processes(own, &mut [&mut process]).unwrap();
            let put = |campaign: i64, round: u32, inputs: &[&str]| {
                let one = |(position, input): (usize, &&str)| {
                    let flagged = (position == 1).then_some(Flag::Preempted);
                    let taken = sample::of(process.id, flagged);
                    sample::new(SampleRow {
                        round,
                        input: (*input).into(),
                        position: position as u32,
                        ..taken
                    })
                };
                let samples: Vec<NewSample> = inputs.iter().enumerate().map(one).collect();
                let round = Round { round, rotations: vec![0], started_at: 0.0, elapsed_ns: 1, waited_ns: 0 };
                ledger.put_round(campaign, &round, &samples).unwrap();
            };
            put(own, 0, &["b", "a", "a"]);
            (0..others).for_each(|round| put(other, round, &["c", "c", "c"]));
            put(own, 1, &["a", "b"]);
            let found = ledger.samples(own).unwrap();
            let told: Vec<_> =
                found.iter().map(|row| (row.round, row.position, &*row.input, row.flagged)).collect();
            let out = Some(Flag::Preempted);
            let expected =
                [(0, 0, "b", None), (0, 1, "a", out), (0, 2, "a", None), (1, 0, "a", None), (1, 1, "b", out)];
            assert_eq!(told, expected, "{others} rounds of another campaign between");
            assert_eq!(found[0].pulses, sample::of(0, None).pulses);
            assert_eq!(ledger.pulses(own).unwrap().len(), 5);
            let is_sparse = ledger.extent(own).unwrap().unwrap().source == BY_INDEX;
            assert_eq!(is_sparse, others == 40, "{others}");
        }
    }
}
